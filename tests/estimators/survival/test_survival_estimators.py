"""Second opinions on times to an event: other packages' answers, closed forms, and refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal import estimators
from bayescal.errors import InputError

HORIZON = 40.0
CURVES = ("cox", "pseudo", "ipcw", "ipcw-score")


def study(apart=0.0):
    """Whole weeks, on the grid of times; high risks leave early. `apart` leaves no ties."""
    i = np.arange(300)
    z = ((i * 53) % 300 + 0.5) / 300
    score = np.round(0.02 + 0.7 * z**2, 4)
    u, v = ((i * 7919) % 1009 + 0.5) / 1009, ((i * 1733) % 1013 + 0.5) / 1013
    event = np.ceil(HORIZON * np.log(u) / np.log1p(-0.03 - 0.6 * z**1.5)) - 2.5 * apart
    left = np.ceil(90 * v * (1.2 - z)) + apart
    return np.minimum(event, left), event <= left, score


@pytest.fixture(scope="module")
def followed():
    time, event, score = study()
    return bc.Survival(time, event), score


@pytest.fixture(scope="module")
def complete():
    """Everybody is followed to the horizon."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.02, 0.7, 400)
    event = rng.random(400) < 0.1 + 0.6 * score
    time = np.where(event, rng.uniform(0, HORIZON, 400), 50)
    return bc.Survival(time, event), score, event.astype(int)


@pytest.mark.oracle("survival_indices", "survival_observed_expected", "survival_curve")
def test_cox_on_a_spline_is_that_of_lifelines(followed):
    """CoxPHFitter of lifelines 0.30.3, Breslow's baseline, knots at .1, .5 and .9."""
    outcome, score = followed
    told = estimators.survival_indices(outcome, score, horizon=HORIZON)
    theirs = (0.05908690, 0.05652851, 0.11024106, 0.11297786)
    np.testing.assert_allclose(told, theirs, atol=2e-8)
    ratio = estimators.survival_observed_expected(outcome, score, horizon=HORIZON, method="cox")
    assert ratio.estimate == pytest.approx(1.21096658, abs=1e-7)
    curve = estimators.survival_curve(outcome, score, horizon=HORIZON)
    np.testing.assert_array_equal(curve.score, np.sort(score))
    assert np.abs(curve.risk - curve.score).mean() == pytest.approx(told.ici)


def test_kaplan_meier_is_that_of_lifelines(followed):
    """KaplanMeierFitter: risk .2424773768, standard error .0321962743."""
    outcome, score = followed
    told = estimators.survival_observed_expected(outcome, score, horizon=HORIZON)
    assert told.estimate * score.mean() == pytest.approx(0.2424773768264361)
    half = np.log(told.upper / told.lower) / 2 / 1.959963985
    assert half * 0.2424773768264361 == pytest.approx(0.032196274262253174)


def test_pseudo_values_are_the_jackknife(followed):
    """By leaving out every 37th case in lifelines' KaplanMeierFitter."""
    from bayescal.estimators.survival import pseudo_values, read_followed

    outcome, score = followed
    theirs = [
        0.2322405846, 0.1087365638, -0.1694504153, -0.1694504153, 0.1087365638, 1.0754628010,
        -0.1694504153, 0.2208302831, -0.0516222835,
    ]  # fmt: skip
    values = pseudo_values(read_followed(outcome, score, HORIZON))
    mine = np.empty(score.size)
    mine[np.argsort(score, kind="stable")] = values
    np.testing.assert_allclose(mine[::37], theirs, atol=1e-9)


@pytest.mark.oracle("ipcw_brier_score")
def test_the_brier_score_is_that_of_scikit_survival():
    """`brier_score` of 0.28, of times without ties."""
    time, event, score = study(apart=0.2)
    outcome = bc.Survival(time, event)
    brier = estimators.ipcw_brier_score(outcome, score, horizon=HORIZON, method="ipcw")
    assert brier.estimate == pytest.approx(0.13659792, abs=1e-8)


@pytest.fixture(scope="module")
def competing():
    """A third has a competing event first, and some leave, whatever their score."""
    i = np.arange(200)
    score = np.round(0.03 + 0.6 * (((i * 53) % 200 + 0.5) / 200) ** 2, 4)
    u, v = ((i * 7919) % 1009 + 0.5) / 1009, ((i * 1733) % 1013 + 0.5) / 1013
    event = np.ceil(-HORIZON * np.log(u) / (0.3 + 2.5 * score))
    other = np.ceil(-HORIZON * np.log(v) / (2 * np.exp(-5 * score)))
    left = np.ceil(70 * ((i * 577) % 991 + 0.5) / 991) + 0.5
    first = np.minimum(np.minimum(event, other), left)
    code = np.where(event == first, 1, np.where(other == first, 2, 0))
    return bc.Survival(first, code, cause=1), score


@pytest.mark.oracle("survival_observed_expected", "ipcw_brier_score")
def test_with_competing_events_they_are_those_of_r(competing):
    """Aalen-Johansen with its standard error by `survfit` of survival 3.5-3; Brier by its weights.

    Taking competing events to have left would give a risk of .544.
    """
    outcome, score = competing
    told = estimators.survival_observed_expected(outcome, score, horizon=HORIZON)
    assert told.estimate * score.mean() == pytest.approx(0.4080051193, abs=1e-9)
    half = np.log(told.upper / told.lower) / 2 / 1.959963985
    assert half * 0.4080051193 == pytest.approx(0.04013288145, abs=1e-9)
    brier = estimators.ipcw_brier_score(outcome, score, horizon=HORIZON, method="ipcw")
    assert brier.estimate == pytest.approx(0.2264213046, abs=1e-9)


def test_pseudo_values_with_competing_events_are_the_jackknife(competing):
    from bayescal.estimators.survival import Followed, pseudo_values, read_followed

    cases = read_followed(*competing, HORIZON)
    columns = (cases.score, cases.entry, cases.last, cases.event, cases.other)
    size = cases.score.size
    without = [Followed(*(np.delete(each, k) for each in columns)).risk()[0] for k in range(size)]
    jackknife = size * cases.risk()[0] - (size - 1) * np.array(without)
    np.testing.assert_allclose(pseudo_values(cases), jackknife, atol=1e-11)


def test_curves_know_competing_events(competing):
    """Their mean risk is that of Aalen and Johansen; Cox, which has no such risk, is refused."""
    outcome, score = competing
    for method in ("pseudo", "ipcw", "ipcw-score"):
        ratio = estimators.survival_observed_expected(
            outcome, score, horizon=HORIZON, method=method
        )
        assert ratio.estimate * score.mean() == pytest.approx(0.408, abs=0.005)
    chosen = estimators.survival_indices(outcome, score, horizon=HORIZON)
    assert chosen == estimators.survival_indices(outcome, score, horizon=HORIZON, method="pseudo")
    with pytest.raises(InputError, match=r"cases had a competing event .* method='pseudo'"):
        estimators.survival_indices(outcome, score, horizon=HORIZON, method="cox")


def test_competing_events_are_not_leaving(competing):
    """Low risks have more competing events; who leaves does not depend on the score."""
    outcome, score = competing
    assert estimators.censoring_depends_on_score(outcome, score, horizon=HORIZON).pvalue > 0.2
    as_left = bc.Survival(outcome.time, np.asarray(outcome.event))
    assert estimators.censoring_depends_on_score(as_left, score, horizon=HORIZON).pvalue < 0.01


@pytest.mark.oracle("martingale_observed_expected")
def test_the_martingale_ratio_is_the_published_one():
    """PBC to the trial of UDCA: 16 deaths, 23.852 expected; .671, .411 to 1.095."""
    risk = -np.expm1(-np.full(169, 23.852 / 169))
    told = estimators.martingale_observed_expected(np.arange(169) < 16, risk)
    assert told[:3] == pytest.approx((0.671, 0.411, 1.095), abs=5e-4)


@pytest.mark.oracle("censoring_depends_on_score")
def test_leaving_by_score_is_the_score_test_of_cox():
    """Of statsmodels' likelihood at 0, whose ties are Breslow's: of times without any."""
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(2)
    score, steps = rng.uniform(0.05, 0.6, 200), rng.permutation(1000)[:200] + 1
    left = rng.random(200) < 0.6
    outcome = bc.Survival(steps / 1200, ~left)
    outcome.time[:20], outcome.event[:20], left[:20] = 1, False, False
    x = np.log(score / (1 - score))
    model = PHReg(outcome.time, x[:, None], status=left.astype(float), ties="breslow")
    zero = np.zeros(1)
    theirs = model.score(zero)[0] / np.sqrt(-model.hessian(zero)[0, 0])
    told = estimators.censoring_depends_on_score(outcome, score, horizon=1)
    assert told.statistic == pytest.approx(theirs)


def test_leaving_whatever_the_score_is_rarely_called_by_score(followed):
    outcome, score = followed
    assert estimators.censoring_depends_on_score(outcome, score, horizon=HORIZON).statistic > 7
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(200):
        score, time = rng.uniform(0.05, 0.6, 60), rng.uniform(0, 2, 60)
        test = estimators.censoring_depends_on_score(
            bc.Survival(time, np.zeros(60)), score, horizon=1
        )
        rejected += test.pvalue < 0.05
    assert 2 <= rejected <= 22


@pytest.mark.parametrize("method", ["pseudo", "ipcw", "ipcw-score"])
def test_without_censoring_the_curve_is_that_of_known_outcomes(complete, method):
    outcome, score, event = complete
    at = np.array([0.1, 0.3, 0.6])
    told = estimators.survival_curve(outcome, score, horizon=HORIZON, method=method, at=at)
    known = estimators.flexible_curve(event, score, at, smoother="rcs", n_knots=3)
    np.testing.assert_allclose(told.risk, known, atol=1e-6)
    ratio = estimators.survival_observed_expected(outcome, score, horizon=HORIZON, method=method)
    assert ratio.estimate == pytest.approx(event.mean() / score.mean())


@pytest.mark.slow
def test_given_the_score_weights_repair_what_leaving_by_score_breaks():
    rng = np.random.default_rng(7)
    x = rng.normal(-1, 1.1, 4000)
    score = 1 / (1 + np.exp(-x))
    event = -rng.exponential(1, 4000) / np.log1p(-score)
    left = rng.exponential(1, 4000) / np.exp(0.8 * (x + 1))
    outcome = bc.Survival(np.minimum(event, left), event <= left)

    def ratio(method):
        return estimators.survival_observed_expected(outcome, score, horizon=1, method=method)

    for method in ("kaplan-meier", "pseudo"):
        assert ratio(method).upper < 0.95
    assert ratio("ipcw").lower > 1.05
    for method in ("cox", "ipcw-score"):
        assert ratio(method).lower < 1 < ratio(method).upper


@pytest.mark.slow
@pytest.mark.parametrize("method", CURVES)
def test_standard_errors_are_those_of_repeated_studies(method):
    """Of the curve at one score and of O/E, against the spread over 60 studies."""
    rng = np.random.default_rng(11)
    told, ratios = [], []
    for _ in range(60 if method in ("pseudo", "ipcw") else 25):
        score = rng.uniform(0.05, 0.6, 150)
        event, left = -rng.exponential(1, 150) / np.log1p(-score), rng.uniform(0, 3, 150)
        outcome = bc.Survival(np.minimum(event, left), event <= left)
        asked = {"horizon": 1, "method": method}
        curve = estimators.survival_curve(outcome, score, at=[0.3], **asked)
        told.append([curve.risk[0], (curve.upper[0] - curve.lower[0]) / 3.92])
        ratio = estimators.survival_observed_expected(outcome, score, **asked)
        ratios.append([np.log(ratio.estimate), np.log(ratio.upper / ratio.lower) / 3.92])
    for each in (np.array(told), np.array(ratios)):
        assert 0.6 < each[:, 1].mean() / each[:, 0].std() < 1.7


def test_late_entry_is_counted_by_cox_and_refused_by_others(complete):
    outcome, score, _ = complete
    entry = np.where(np.arange(400) % 2, 0, outcome.time / 2)
    late = bc.Survival(outcome.time, outcome.event, entry)
    told = estimators.survival_observed_expected(late, score, horizon=HORIZON, method="cox")
    assert told.estimate > 0.5
    for method in ("pseudo", "ipcw"):
        with pytest.raises(InputError, match=r"200 cases came under observation after time 0"):
            estimators.survival_observed_expected(late, score, horizon=HORIZON, method=method)


def test_counts_are_repeated_cases(followed):
    outcome, score = followed
    often = np.arange(300) % 3 + 1
    data = bc.CalibrationData(
        outcome, score, sample_weight=often, weight_type="counts", horizon=HORIZON
    )
    again = bc.Survival(np.repeat(outcome.time, often), np.repeat(outcome.event, often))
    told = estimators.survival_curve(data, method="pseudo", at=[0.2])
    same = estimators.survival_curve(
        again, np.repeat(score, often), horizon=HORIZON, method="pseudo", at=[0.2]
    )
    np.testing.assert_allclose(np.array(told), np.array(same))


def test_what_cannot_be_estimated_is_refused(followed):
    outcome, score = followed
    ratio = estimators.survival_observed_expected
    with pytest.raises(InputError, match="y_true is a list, and this is an estimator of times"):
        ratio([0, 1], [0.2, 0.8], horizon=1)
    with pytest.raises(InputError, match="y_true holds outcomes without times"):
        ratio(bc.CalibrationData([0, 1], [0.2, 0.8]))
    with pytest.raises(InputError, match="y_true has no event by the horizon"):
        ratio(bc.Survival(outcome.time, np.zeros(300)), score, horizon=HORIZON)
    with pytest.raises(InputError, match="method must be one of"):
        ratio(outcome, score, horizon=HORIZON, method="km")
    sampled = bc.CalibrationData(
        outcome, score, sample_weight=np.arange(300) + 0.5, weight_type="sampling", horizon=HORIZON
    )
    with pytest.raises(InputError, match="y_true has sampling weights"):
        ratio(sampled)
    with pytest.raises(InputError, match="needs at least 4 ends of that kind, and there is 1"):
        estimators.survival_curve(
            bc.Survival(outcome.time, np.arange(300) == 0), score, horizon=HORIZON
        )
    with pytest.raises(InputError, match="too few distinct values"):
        estimators.survival_curve(outcome, np.full(300, 0.2), horizon=HORIZON)
    with pytest.raises(InputError, match=r"y_prob\[1\] is 1"):
        estimators.martingale_observed_expected([1, 0], [0.3, 1.0])
    with pytest.raises(InputError, match="no case left before the horizon"):
        estimators.censoring_depends_on_score(
            bc.Survival([2, 2, 0.5], [0, 0, 1]), [0.1, 0.3, 0.5], horizon=1
        )


def test_cox_without_statsmodels_says_how_to_install_it(followed, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "statsmodels.duration.hazard_regression", None)
    with pytest.raises(InputError, match=r"Cox regression needs .*bayescal\[survival\]"):
        estimators.survival_curve(*followed, horizon=HORIZON)


@pytest.mark.parametrize(
    "name",
    [
        "censoring_depends_on_score",
        "ipcw_brier_score",
        "survival_curve",
        "survival_indices",
        "survival_observed_expected",
    ],
)
def test_labels_that_differ_are_seen(followed, name):
    outcome, score = followed
    labelled = bc.Survival(pd.Series(outcome.time), outcome.event)
    with pytest.raises(InputError, match="label"):
        getattr(estimators, name)(
            labelled, pd.Series(score, index=np.arange(300) + 1), horizon=HORIZON
        )


def test_the_rows_of_a_table_count_as_many_cases_as_they_stand_for():
    estimator = estimators.martingale_observed_expected
    rng = np.random.default_rng(1)
    risk = rng.beta(1, 2, 120).round(1) * 0.9
    event = (rng.random(120) < risk).astype(int)
    told = estimator(event, risk)
    of_table = estimator(bc.CalibrationData(event, risk))
    np.testing.assert_allclose(
        [value for value in told if isinstance(value, float)],
        [value for value in of_table if isinstance(value, float)],
        rtol=1e-9,
    )


def test_sampling_weights_cannot_be_taken_apart_into_times():
    table = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.7, 0.4, 0.4], sample_weight=[1, 0.5, 2, 0.7])
    with pytest.raises(InputError, match="sampling weights"):
        estimators.martingale_observed_expected(table)


def test_a_standard_error_that_rounding_takes_below_zero_is_none():
    rng = np.random.default_rng(11)
    score, time = rng.uniform(0.2, 0.9, 10).round(2), rng.exponential(1, 10).round(3) + 0.01
    table = bc.CalibrationData(bc.Survival(time, np.ones(10, int)), score, horizon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(bc.estimators.survival_indices(table, method="pseudo").ici)
