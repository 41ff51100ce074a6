"""Arrays that do not line up, and values that are not there."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayescal as bc
from bayescal.data.cases import aligned, columns_in_order
from bayescal.errors import InputError

N = 40
RNG = np.random.default_rng(0)
SCORE = pd.Series(RNG.random(N))
EVENT = (RNG.random(N) < SCORE).astype(int)
SHUFFLED = pd.Series(RNG.integers(1, 4, N)).sample(frac=1, random_state=1)
MASKED = np.ma.masked_array(np.ones(N), mask=[False] * 7 + [True] + [False] * (N - 8))

WEIGHTED = {
    "fit": lambda w: bc.fit(EVENT, SCORE, sample_weight=w),
    "compare": lambda w: bc.compare(EVENT, SCORE, sample_weight=w),
    "ece": lambda w: bc.estimators.ece(EVENT, SCORE, sample_weight=w),
    "brier_score": lambda w: bc.scores.brier_score(EVENT, SCORE, sample_weight=w),
    "recalibrator": lambda w: bc.recalibrate.LogisticRecalibrator().fit(SCORE, EVENT, w),
    "gain": lambda w: bc.recalibration_gain(EVENT, SCORE, SCORE**1.2, sample_weight=w),
    "cross_fit": lambda w: bc.cross_fit(
        EVENT, SCORE, bc.recalibrate.LogisticRecalibrator(), sample_weight=w
    ),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_masked_weights_are_refused(name):
    with pytest.raises(InputError, match=r"sample_weight\[7\] is masked"):
        WEIGHTED[name](MASKED)


def test_labels_of_mixed_types_are_compared():
    mixed = EVENT.set_axis([1, "a"] * (N // 2))
    assert bc.fit(mixed, SCORE, random_state=0).data.n == N
    assert bc.fit(mixed, SCORE.set_axis(mixed.index), random_state=0).data.n == N
    with pytest.raises(InputError, match="different orders"):
        bc.fit(mixed, SCORE.set_axis(["a", 1] * (N // 2)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (SHUFFLED, "y_true and site have the same index labels"),
        ([np.nan, *["a"] * (N - 1)], r"site\[0\] is missing"),
        (["a", None, *["a"] * (N - 2)], r"site\[1\] is missing"),
        (pd.Series([pd.NA, *["a"] * (N - 1)], dtype="string"), r"site\[0\] is missing"),
        (pd.Series([pd.NaT] * N), r"site\[0\] is missing"),
        (MASKED, r"site\[7\] is masked"),
    ],
)
def test_groups_without_a_name_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        bc.CalibrationData(EVENT, SCORE, site=groups)


def test_a_group_may_be_called_nan():
    assert bc.CalibrationData(EVENT, SCORE, site=["nan", *["a"] * (N - 1)]).groups == ("a", "nan")


@pytest.mark.parametrize("scores", [np.ma.masked_array(SCORE, mask=SCORE > 0.9), [10**400] * N])
def test_scores_that_are_no_numbers_are_refused_in_a_line(scores):
    with pytest.raises(InputError, match="y_prob") as error:
        bc.fit(EVENT, scores)
    assert len(str(error.value)) < 250


# The rule

VALUES = np.array([0.1, 0.2, 0.3])
NAMES = ["a", "b", "c"]


def series(*labels):
    return pd.Series(VALUES[: len(labels)], index=list(labels))


def array(*labels):
    return xr.DataArray(VALUES, dims="patient", coords={"patient": list(labels)})


PLAIN = [VALUES, VALUES.tolist(), tuple(VALUES), memoryview(VALUES), pl.Series(VALUES), None]
PLAIN += [xr.DataArray(VALUES, dims="patient")]


@pytest.mark.parametrize("plain", PLAIN, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("labels", [NAMES, [5, 3, 4], [0, 1, 2]], ids=str)
def test_what_has_no_labels_pairs_by_position(plain, labels):
    given, labelled = aligned(y_true=plain, y_prob=series(*labels))
    assert given is plain
    assert type(labelled) is np.ndarray


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (series(*NAMES), series(*NAMES)),
        (series("a", "a", "b"), series("a", "a", "b")),
        (series(5, 3, 4), series(5, 3, 4)),
        (series(0, 1, 2), series(0.0, 1.0, 2.0)),
        (series(0, 1, 2), series(*NAMES)),
        (series(*NAMES), series(0, 1, 2)),
        (series(*NAMES), array(*NAMES)),
        (array(7, 8, 9), array(7, 8, 9)),
        (series(*NAMES), series(*NAMES).to_frame()),
        (series("a", None, "c"), series("a", None, "c")),
        (series(*NAMES), pd.Series(VALUES, index=pd.CategoricalIndex(NAMES))),
        (
            pd.Series(VALUES, index=pd.date_range("2024", periods=3).as_unit("s")),
            pd.Series(VALUES, index=pd.date_range("2024", periods=3).as_unit("ns")),
        ),
        (
            pd.Series(VALUES, index=pd.MultiIndex.from_tuples([(1, 2), (1, 3), (2, 2)])),
            pd.Series(VALUES),
        ),
    ],
)
def test_cases_that_belong_together_pass(one, other):
    assert len(aligned(y_true=one, y_prob=other)) == 2


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (series(*NAMES), series("a", "c", "b"), "in different orders, the first at position 1"),
        (series("a", "a", "b"), series("a", "b", "a"), "since some are repeated"),
        (series(0, 1, 2), series(5, 3, 4), "3 of the 3 index labels of y_prob are not among"),
        (series(5, 3, 2), series(0, 1, 2), "2 of the 3 index labels"),
        (series(0, 1, 2), series(1, 2, 3), "1 of the 3 index labels of y_prob are not among"),
        (series(0, 1, 2), series(2, 1, 0), "in different orders, the first at position 0"),
        (series(0, 1, 2), series(1.5, 2.5, 3.5), "3 of the 3 index labels"),
        (series(*NAMES), series("x", "y", "z"), "3 of the 3 index labels"),
        (series("a", "a", "b"), series("a", "b", "b"), "1 of the 3 index labels"),
        (series(*NAMES), series("a", "b"), "has 3 observations but y_prob has 2"),
        (series(*NAMES), array("c", "b", "a"), "in different orders"),
        (array(*NAMES), array("b", "c", "a"), "in different orders"),
        (series("a", None, "c"), series(None, "a", "c"), "in different orders"),
        (series(*NAMES), series("a", "c", "b").to_frame(), "in different orders"),
    ],
)
def test_cases_that_do_not_are_refused(one, other, message):
    with pytest.raises(InputError, match=message) as error:
        aligned(y_true=one, y_prob=other)
    assert str(error.value).startswith("y_true ")
    assert "y_true.to_numpy() and y_prob.to_numpy()" in str(error.value)
    assert len(str(error.value)) < 450


def test_every_two_arguments_are_compared():
    """Labels of the third and the fourth differ, and the first has the default labels."""
    with pytest.raises(InputError, match="sample_weight and site have the same"):
        aligned(
            y_true=series(0, 1, 2),
            y_prob=VALUES,
            sample_weight=series(*NAMES),
            site=series("a", "c", "b"),
        )


def test_what_a_column_says_of_itself_is_kept():
    ordered = pd.Series(["low", "high", "low"], dtype=pd.CategoricalDtype(["low", "high"], True))
    frame = pd.DataFrame({"age": VALUES, "sex": VALUES})
    outcome, groups, matrix = aligned(y_true=pd.Series([0, 1, 1]), site=ordered, X=frame)
    assert type(outcome) is np.ndarray
    assert (groups is ordered, matrix is frame) == (True, True)


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_go_by_name_where_they_are_the_names(as_frame):
    frame = as_frame({"c": [0.3], "a": [0.1], "b": [0.2]})
    assert np.array_equal(columns_in_order(frame, NAMES).to_numpy(), [[0.1, 0.2, 0.3]])
    assert columns_in_order(frame, ["x", "y", "z"]) is frame
    assert columns_in_order(frame, None) is frame


def test_classes_of_an_array_of_xarray_go_by_name():
    matrix = xr.DataArray(
        [[0.3, 0.7], [0.9, 0.1]], dims=("patient", "class"), coords={"class": [1, 0]}
    )
    for function in (bc.scores.brier_score, bc.estimators.class_wise_ece):
        assert function([1, 1], matrix) == function([1, 1], matrix.to_numpy()[:, ::-1])
    table = bc.CalibrationData([1, 1], matrix, mode="top-label")
    assert table == bc.CalibrationData([1, 1], matrix.to_numpy()[:, ::-1], mode="top-label")


# What was silently wrong

PATIENTS = 200
RISK = pd.Series(np.round(np.random.default_rng(0).uniform(0.05, 0.95, PATIENTS), 3))
DRAWN = np.random.default_rng(1).uniform(size=PATIENTS)
DIED = pd.Series((RISK.to_numpy() > DRAWN).astype(float))


def test_columns_that_were_cleaned_separately_are_refused():
    y, p = DIED.copy(), RISK.copy()
    y[3] = np.nan
    p[150] = np.nan
    with pytest.raises(InputError, match="1 of the 199 index labels of y_prob are not among"):
        bc.assess(y.dropna(), p.dropna(), random_state=0)
    both = pd.DataFrame({"y": y, "p": p}).dropna()
    assert bc.assess(both["y"], both["p"], draws=400, random_state=0).data.n == 198


def test_imputations_in_another_order_are_refused():
    named = [RISK, RISK.iloc[::-1]]
    with pytest.raises(InputError, match=r"imputation\[0\] and imputation\[1\] have the same"):
        bc.fit(DIED.to_numpy(), imputation=named)
    with pytest.raises(InputError, match=r"y_true and imputation\[1\] have the same"):
        bc.recalibration_gain(DIED, after=np.sqrt, imputation=named)
    columns = pd.DataFrame([RISK, RISK**0.9])
    fitted = bc.fit(DIED, imputation=columns, draws=400, random_state=0)
    assert len(fitted.imputations) == 2
    with pytest.raises(InputError, match="y_true and imputation have the same"):
        bc.fit(DIED, imputation=columns.iloc[:, ::-1])


def test_columns_swapped_between_fit_and_predict_go_by_name():
    frame = pd.DataFrame({"alive": 1 - RISK, "dead": RISK})
    fitted = bc.recalibrate.BetaRecalibrator().fit(frame, DIED)
    expected = fitted.predict_proba(frame)
    assert np.array_equal(fitted.predict_proba(frame[["dead", "alive"]]), expected)
    with pytest.raises(InputError, match="X has the column 'x', and this was fitted to"):
        fitted.predict_proba(frame.set_axis(["x", "dead"], axis=1))
    assert np.array_equal(fitted.predict_proba(frame.to_numpy()), expected)


def test_means_and_variances_go_by_name():
    frame = pd.DataFrame({"mean": RISK, "variance": RISK * (1 - RISK)})
    fitted = bc.recalibrate.VarianceRecalibrator().fit(frame, DIED)
    swapped = frame[["variance", "mean"]]
    other = bc.recalibrate.VarianceRecalibrator().fit(swapped, DIED)
    assert (other.slope_, other.intercept_) == (fitted.slope_, fitted.intercept_)
    assert np.array_equal(fitted.transform(swapped), fitted.transform(frame))


def test_features_of_a_tree_go_by_name():
    features = pd.DataFrame({"age": np.arange(PATIENTS) % 7, "sex": np.arange(PATIENTS) % 2})
    tree = bc.recalibrate.ProbabilityCalibrationTreeRecalibrator().fit(
        RISK, DIED, features=features
    )
    swapped = features[["sex", "age"]]
    assert np.array_equal(
        tree.transform(RISK, features=swapped), tree.transform(RISK, features=features)
    )
    with pytest.raises(InputError, match="features has the column 'height'"):
        tree.transform(RISK, features=features.set_axis(["height", "sex"], axis=1))


# Labels of the event, and numbers that rounding would make valid


@pytest.mark.parametrize(
    "make",
    [
        lambda y, p: bc.CalibrationData(y, p, pos_label="dead"),
        lambda y, p: bc.CalibrationData.from_chunks(
            [(y[:2], p[:2]), (y[2:], p[2:])], pos_label="dead"
        ),
        lambda y, p: bc.CalibrationData.from_frame(
            pd.DataFrame({"y": y, "p": p}), outcome="y", prob="p", pos_label="dead"
        ),
    ],
    ids=["arrays", "chunks", "frame"],
)
def test_a_label_of_the_event_that_does_not_occur_is_told(make):
    p = [0.1, 0.2, 0.3, 0.4]
    with pytest.warns(bc.errors.LabelWarning, match="'dead' does not occur in y_true"):
        assert make(["Dead"] * 4, p).events == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(["alive", "alive", "alive", "dead"], p).events == 1


def test_a_number_just_outside_is_shown_whole():
    above, outcome = np.nextafter(1, 2), np.array([0, 1])
    with pytest.raises(InputError, match=r"y_prob\[1\] = 1\.0000011 is outside \[0, 1\]"):
        bc.fit(outcome, [0.5, 1.0000011])
    with pytest.raises(InputError, match=r"y_true\[1\] = 1\.0000000000000002 is neither 0 nor 1"):
        bc.fit([0, above], [0.5, 0.5])
    with pytest.raises(InputError, match=r"y_true\[0, 1\] = 1\.0000000000000002 is neither"):
        bc.estimators.ece([[0, above], [0, 1]], [0.5, 0.5])
    with pytest.raises(InputError, match=r"hits\[0\] = 2\.0000000000000004 is not a whole"):
        bc.CalibrationData.from_counts([0.5], [3], [np.nextafter(2, 3)])
    with pytest.raises(InputError, match=r"the largest, 1000000000\.0000001, must"):
        bc.fit(outcome, [0.5, 0.5], sample_weight=[1, np.nextafter(1e9, 2e9)])
    with pytest.raises(InputError, match=r"y_prob\[1\] = 1\.5 is outside"):
        bc.fit(outcome, [0.5, 1.5])


def test_outcomes_of_training_with_scores_of_a_test_are_refused():
    with pytest.raises(InputError, match="100 of the 100 index labels"):
        bc.fit(DIED.iloc[:100], RISK.iloc[100:])


def test_predictions_after_that_are_shifted_are_refused():
    after = RISK**1.2
    with pytest.raises(InputError, match=r"y_true and after are not of the same cases"):
        bc.recalibration_gain(DIED, RISK, after.set_axis(after.index + 1))
