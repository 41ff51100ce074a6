"""Labels in order of time, and what is refused because its order is not plain."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from bayescal.errors import InputError
from bayescal.multilevel.periods import MOST_PERIODS, Periods, periods_of_labels, read_periods

MONTHS = ["2024-04", "2024-01", "2024-02", "2024-01"]
ORDERED = pd.Categorical(
    ["late", "early", "late"], categories=["early", "middle", "late"], ordered=True
)


@pytest.mark.parametrize(
    ("values", "labels", "elapsed"),
    [
        ([3, 1, 2, 10], ("1", "2", "3", "10"), [1, 1, 7]),
        (np.array([0.5, 0.25, 2.0]), ("0.25", "0.5", "2"), [1, 6]),
        (["10", "9", "-1"], ("-1", "9", "10"), [10, 1]),
        (MONTHS, ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (pd.PeriodIndex(MONTHS, freq="M"), ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (np.array(MONTHS, "datetime64[M]"), ("2024-01", "2024-02", "2024-04"), [1, 2]),
        (np.array(["2024", "2021", "2022"], "datetime64[Y]"), ("2021", "2022", "2024"), [1, 2]),
        (["2024-Q1", "2023-Q3"], ("2023-Q3", "2024-Q1"), [1]),
        (["2024Q1", "2023Q3", "2024Q2"], ("2023Q3", "2024Q1", "2024Q2"), [2, 1]),
        (["2024-W02", "2023-W52", "2024-W01"], ("2023-W52", "2024-W01", "2024-W02"), [1, 1]),
        (["2024-03-01", "2024-02-28"], ("2024-02-28", "2024-03-01"), [1]),
        ([datetime.date(2024, 3, 3), datetime.date(2024, 3, 1)], ("2024-03-01", "2024-03-03"), [1]),
        (pd.to_datetime(["2024-03-03", "2024-03-01"]), ("2024-03-01", "2024-03-03"), [1]),
        (ORDERED, ("early", "late"), [1]),
        (pd.Series(ORDERED), ("early", "late"), [1]),
    ],
)  # fmt: skip
def test_periods_stand_in_order_of_time(values, labels, elapsed):
    of_case, periods = read_periods(values)
    assert periods.labels == labels
    np.testing.assert_allclose(periods.elapsed, np.array(elapsed) / sum(elapsed))
    assert of_case.shape == (len(values),)
    assert set(of_case) == set(labels)


@pytest.mark.parametrize(
    ("texts", "unit"),
    [(["2024-03", "2023-12"], "M"), (["2024-03-01", "2023-12-31"], "D"), (["2024", "2021"], "Y")],
)
def test_texts_and_dates_are_one_kind(texts, unit):
    assert read_periods(texts)[1] == read_periods(np.array(texts, f"datetime64[{unit}]"))[1]


def test_each_case_keeps_its_period():
    of_case, _ = read_periods(MONTHS)
    assert of_case.tolist() == MONTHS


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["March", "April"], "order is not plain"),
        (["2024-03", "2024-04-01"], "order is not plain"),
        (["2024-13", "2024-01"], "order is not plain"),
        ([1, "2024-03"], "order is not plain"),
        ([True, False], "order is not plain"),
        (pd.Categorical(["b", "a"]), "order is not plain"),
        ([np.inf, 1.0], "order is not plain"),
        ([1.0, np.nan], r"periods\[1\] is missing"),
        (["2024-03", None], r"periods\[1\] is missing"),
        (np.array(["2024-03", "NaT"], "datetime64[M]"), r"periods\[1\] is missing"),
        (pd.Categorical(["a", None], categories=["a"], ordered=True), r"periods\[1\] is missing"),
        (pd.to_datetime(["2024-03-01", "2024-03-02"]).tz_localize("UTC").to_list(), "time zone"),
    ],
)
def test_what_has_no_order_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        read_periods(values)


def test_too_few_and_too_many_periods_are_refused():
    with pytest.raises(InputError, match="one period only"):
        read_periods([1, 1])[1].checked()
    with pytest.raises(InputError, match="at most 60"):
        read_periods(np.arange(MOST_PERIODS + 1))[1].checked()
    assert len(read_periods(np.arange(MOST_PERIODS))[1].checked().labels) == MOST_PERIODS


def test_more_periods_are_joined_in_order():
    first, more = read_periods(MONTHS)[1], read_periods(["2024-05", "2024-03"])[1]
    assert first.joined(more).labels == ("2024-01", "2024-02", "2024-03", "2024-04", "2024-05")


def test_periods_of_another_kind_are_not_joined():
    with pytest.raises(InputError, match="months"):
        read_periods(MONTHS)[1].joined(read_periods([1, 2])[1])
    longer = pd.Categorical(["early"], categories=["first", "early"], ordered=True)
    with pytest.raises(InputError, match="'early' as category 2"):
        read_periods(ORDERED)[1].joined(read_periods(longer)[1])


def test_names_of_a_table_have_the_order_of_their_values():
    assert periods_of_labels(("10", "9")) == Periods("numbers", {"9": 9.0, "10": 10.0})
    with pytest.raises(InputError, match="order is not plain"):
        periods_of_labels(("a", "b"))
