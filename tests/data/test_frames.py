"""Data frames and series of other libraries, which are read as NumPy arrays are."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError

Y, P = [0, 1, 1, 0, 1], [0.25, 0.75, 0.75, 0.125, 1.0]
WEIGHT, SITE = [1, 2, 1, 3, 1], ["b", "a", "a", "b", "b"]
COLUMNS = {"x": list("vwxyz"), "y": Y, "p": P, "w": WEIGHT, "site": SITE}
NAMES = {"outcome": "y", "prob": "p", "sample_weight": "w", "site": "site"}


def of_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def of_lazy_polars(columns):
    return of_polars(columns).lazy()


def of_arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def of_duckdb(columns):
    connection = pytest.importorskip("duckdb").connect()
    connection.register("cases", of_arrow(columns))
    return connection.sql("select * from cases")


FRAMES = [pd.DataFrame, of_polars, of_lazy_polars, of_arrow, of_duckdb]


@pytest.mark.parametrize("frame_of", FRAMES)
def test_a_frame_of_any_library_gives_the_same_table(frame_of):
    table = bc.CalibrationData.from_frame(frame_of(COLUMNS), **NAMES)
    assert table == bc.CalibrationData(Y, P, WEIGHT, site=SITE)
    named = {"outcome": "y", "prob": "p", "ignore": "site"}
    plain = bc.CalibrationData.from_frame(frame_of(COLUMNS), **named)
    assert plain == bc.CalibrationData(Y, P)


@pytest.mark.parametrize("frame_of", FRAMES)
def test_a_missing_column_is_named_with_those_there_are(frame_of):
    with pytest.raises(InputError, match=r"no column 'q'. There are 'x', 'y', 'p'"):
        bc.CalibrationData.from_frame(frame_of(COLUMNS), outcome="y", prob="q")


@pytest.mark.parametrize("frame_of", FRAMES)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"p": [0.5, None, 0.5, 0.5, 0.5]}, r"column 'p'.*\[1\].* is missing"),
        ({"site": ["a", "b", None, "a", "b"]}, r"column 'site'.*\[2\].* is missing"),
        ({"p": [0.5, 0.5, 1.2, 0.5, 0.5]}, r"column 'p'\[2\] = 1.2 is outside \[0, 1\]"),
        ({"y": [0, 1, 2, 0, 1]}, r"column 'y'\[2\] = 2 is neither 0 nor 1"),
        ({"p": ["a", "b", "c", "d", "e"]}, r"column 'p'\[0\] is 'a', which is not a number"),
        ({"w": [1, 1, 1, -1, 1]}, r"column 'w'\[3\] = -1 is not a finite, non-negative"),
    ],
)
def test_a_value_that_is_not_valid_is_named_with_its_column(frame_of, change, reason):
    with pytest.raises(InputError, match=reason):
        bc.CalibrationData.from_frame(frame_of(COLUMNS | change), **NAMES)


@pytest.mark.parametrize("value", [Y, None, 3, np.ones((3, 2)), "table"])
def test_what_is_no_frame_is_refused(value):
    with pytest.raises(InputError, match="which is no data frame"):
        bc.CalibrationData.from_frame(value, outcome="y", prob="p")


def test_only_the_named_columns_of_a_query_are_computed():
    polars = pytest.importorskip("polars")

    def fail(_):
        raise AssertionError("a column that was not asked for is computed")

    lazy = polars.DataFrame(COLUMNS).lazy()
    bad = polars.col("x").map_batches(fail, return_dtype=polars.String)
    cases = lazy.with_columns(x=bad)
    table = bc.CalibrationData.from_frame(cases, outcome="y", prob="p", ignore="site")
    assert table == bc.CalibrationData(Y, P)


# Series where arrays are taken


def polars_series(values, **options):
    return pytest.importorskip("polars").Series(values, **options)


def arrow_array(values):
    return pytest.importorskip("pyarrow").array(values)


def arrow_chunks(values):
    values = arrow_array(values)
    return pytest.importorskip("pyarrow").chunked_array([values[:2], values[2:]])


SERIES = [polars_series, arrow_array, arrow_chunks]


@pytest.mark.parametrize("series_of", SERIES)
def test_series_are_taken_where_arrays_are(series_of):
    expected = bc.CalibrationData(Y, P, WEIGHT, site=SITE)
    columns = [series_of(values) for values in (Y, P, WEIGHT)]
    site = series_of(SITE)
    assert bc.CalibrationData(*columns, site=site) == expected
    assert bc.estimators.ece(*columns[:2]) == bc.estimators.ece(Y, P)
    assert bc.scores.brier_score(*columns[:2]) == bc.scores.brier_score(Y, P)
    booleans = series_of([bool(value) for value in Y])
    decimals = series_of([Decimal(value) for value in P])
    assert bc.CalibrationData(booleans, decimals, columns[2], site=site) == expected
    assert bc.CalibrationData(series_of([Decimal(v) for v in Y]), P) == bc.CalibrationData(Y, P)
    labels = series_of(["yes" if value else "no" for value in Y])
    assert bc.CalibrationData(labels, *columns[1:], site=site, pos_label="yes") == expected


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars_are_their_labels(kind):
    polars = pytest.importorskip("polars")
    dtype = polars.Categorical if kind == "Categorical" else polars.Enum(["no", "yes"])
    labels = polars.Series(["yes" if value else "no" for value in Y], dtype=dtype)
    assert bc.CalibrationData(labels, P, pos_label="yes") == bc.CalibrationData(Y, P)
    grouped = bc.CalibrationData(Y, P, site=labels)
    assert grouped == bc.CalibrationData(Y, P, site=labels.to_list())


def test_categories_of_arrow_are_their_labels():
    pa = pytest.importorskip("pyarrow")
    labels = pa.array(SITE).dictionary_encode()
    assert bc.CalibrationData(Y, P, site=labels) == bc.CalibrationData(Y, P, site=SITE)


@pytest.mark.parametrize("series_of", SERIES)
@pytest.mark.parametrize(
    "values",
    [[0, 1, None, 0, 1], [False, True, None, True, True], ["n", "y", None, "n", "y"]],
)
def test_a_missing_outcome_is_unknown(series_of, values):
    label = "y" if "y" in values else None
    data = bc.CalibrationData(series_of(values), P, pos_label=label)
    known = [value for value in values if value is not None]
    assert data.rows is not None
    assert data.unknown.n == 1
    assert (data.n, data.events) == (4, sum(value in (1, "y") for value in known))


@pytest.mark.parametrize("series_of", SERIES)
def test_a_missing_score_is_named(series_of):
    with pytest.raises(InputError, match=r"y_prob\[3\] is missing"):
        bc.CalibrationData(Y, series_of([0.5, 0.5, 0.5, None, 0.5]))
    with pytest.raises(InputError, match=r"y_prob\[3\] = nan is missing"):
        bc.CalibrationData(Y, series_of([0.5, 0.5, 0.5, float("nan"), 0.5]))


@pytest.mark.parametrize("frame_of", [of_polars, of_arrow])
def test_class_probabilities_of_a_frame(frame_of):
    proba = {"a": [0.75, 0.25], "b": [0.25, 0.75]}
    expected = bc.CalibrationData([0, 1], np.column_stack([*proba.values()]), mode="top-label")
    assert bc.CalibrationData([0, 1], frame_of(proba), mode="top-label") == expected


@pytest.mark.parametrize("frame_of", [of_lazy_polars, of_duckdb])
def test_a_query_is_no_series_and_the_error_says_what_to_do(frame_of):
    with pytest.raises(InputError, match=r"y_prob is a lazy table.* CalibrationData.from_frame"):
        bc.CalibrationData(Y, frame_of({"p": P}))
