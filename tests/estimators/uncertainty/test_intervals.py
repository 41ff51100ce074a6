"""Intervals: against SciPy's bootstrap, the definitions written out, and their coverage."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from bayescal import estimators, simulate
from bayescal.errors import InputError
from bayescal.estimators import ece, estimator_interval

BOOTSTRAPS = ("percentile", "basic", "bca")
RESAMPLED = (*BOOTSTRAPS, "consistency")


def mean_gap(y_true, y_prob, sample_weight=None):
    return float(np.average(np.asarray(y_true) - y_prob, weights=sample_weight))


def mean_gap_of_rows(y_true, y_prob):
    return float(np.mean(np.asarray(y_true) - y_prob))


def overconfident(n, seed, decimals=12):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    return y_true, y_prob.round(decimals)


# What the seed settles


@pytest.mark.parametrize("name", ["ece", "calibration_slope", mean_gap_of_rows])
@pytest.mark.parametrize("method", RESAMPLED)
def test_equal_seeds_and_cases_give_equal_intervals(name, method):
    y_true, y_prob = overconfident(120, 9, 1)
    weight = np.random.default_rng(1).integers(0, 4, 120)
    order = np.random.default_rng(2).permutation(int(weight.sum()))
    rows = np.repeat(y_true, weight)[order], np.repeat(y_prob, weight)[order]
    options = {"method": method, "n_resamples": 100}
    first = estimator_interval(*rows, name, random_state=3, **options)
    again = estimator_interval(*rows, name, random_state=np.random.default_rng(3), **options)
    weighted = estimator_interval(
        y_true, y_prob, name, random_state=3, sample_weight=weight, **options
    )
    other = estimator_interval(*rows, name, random_state=4, **options)
    assert first == again
    assert weighted[1:3] == pytest.approx(first[1:3], rel=1e-9)
    assert other[1:3] != first[1:3]


@pytest.mark.parametrize("method", RESAMPLED)
def test_blocks_do_not_show(method, monkeypatch):
    y_true, y_prob = overconfident(90, 10)
    full = estimator_interval(y_true, y_prob, method=method, random_state=1)
    monkeypatch.setattr("bayescal.estimators.uncertainty.RESAMPLES_BLOCK", 700)
    monkeypatch.setattr("bayescal.estimators.uncertainty.SIMULATED_BLOCK", 700)
    parts = estimator_interval(y_true, y_prob, method=method, random_state=1)
    assert parts[:3] == pytest.approx(full[:3], rel=1e-12)


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_memory_is_bounded(binning):
    y_true, y_prob = overconfident(100_000, 11)
    tracemalloc.start()
    try:
        estimator_interval(y_true, y_prob, binning=binning, n_resamples=100, random_state=1)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


# Coverage


@pytest.mark.slow
@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_coverage_of_a_smooth_statistic(method):
    rng = np.random.default_rng(13)
    inside = 0
    for _ in range(400):
        y_prob = rng.beta(2, 3, 200)
        y_true = rng.random(200) < y_prob
        actual = estimator_interval(
            y_true, y_prob, "observed_expected", method=method, n_resamples=400, random_state=rng
        )
        inside += actual.lower <= 1 <= actual.upper
    assert 0.95 - 3 * 0.011 - 0.01 < inside / 400 < 0.95 + 3 * 0.011


@pytest.mark.parametrize(
    ("shift", "slope", "least", "most"),
    [(0, 1, 0.97, 1), (0, 0.8, 0.97, 1), (0.3, 0.7, 0.93, 1), (1, 1, 0.91, 0.98)],
)
def test_coverage_of_the_analytic_interval(shift, slope, least, most):
    def curve(scores):
        return expit(shift + slope * logit(scores))

    grid = (np.arange(1_500_000) + 0.5) / 1_500_000
    gap = (curve(grid) - grid).reshape(15, -1).mean(axis=1)
    truth = np.sqrt(np.mean(gap**2))
    rng = np.random.default_rng(14)
    inside = []
    for _ in range(400):
        y_prob = rng.random(1000)
        y_true = rng.random(1000) < curve(y_prob)
        actual = estimator_interval(
            y_true, y_prob, "debiased_ece", method="analytic", binning="width"
        )
        inside.append(actual.lower <= truth <= actual.upper)
    assert least <= np.mean(inside) <= most


# Closed forms


def sun_interval(y_true, y_prob, edges, level):
    """Sun et al. written out case by case, with the three cases of its lower end."""
    n, square, moment, second, null = y_true.size, 0.0, 0.0, 0.0, 0.0
    for low, high in pairwise(edges):
        inside = (y_prob > low) & (y_prob <= high)
        y, s, size = y_true[inside], y_prob[inside], int(inside.sum())
        if size < 2:
            continue
        gap = np.mean(y - s)
        square += size / n * (gap**2 - y.mean() * (1 - y.mean()) / (size - 1))
        moment += size / n * (4 * gap**2 * np.mean((y - s) ** 2) - 3 * gap**4)
        second += size / n * gap**2
        v = s * (1 - s)
        null += sum(2 * v[j] * v[k] for j in range(size) for k in range(size) if j != k) / (
            (size - 1) ** 2 * n**2
        )
    sd = np.sqrt((moment - second**2) / n)
    z_one, z_two = stats.norm.ppf(level), stats.norm.ppf((1 + level) / 2)
    actual = max(square, 0)
    if square < z_one * np.sqrt(null):
        lower = 0
    elif actual >= 2 * z_two * sd:
        lower = actual - z_two * sd
    elif actual >= 2 * z_one * sd:
        lower = actual / 2
    else:
        lower = max(actual - z_one * sd, 0)
    return lower, actual + z_two * sd


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("shift", [0.0, 0.4, 0.6, 0.8, 1.0, 2.0])
def test_the_analytic_interval_is_the_one_of_its_paper(shift, level):
    rng = np.random.default_rng(int(10 * shift))
    y_prob = rng.random(120)
    y_true = (rng.random(120) < expit(logit(y_prob) + shift)).astype(float)
    known = sun_interval(y_true, y_prob, np.arange(9) / 8, level)
    options = {"n_bins": 8, "binning": "width", "ci_prob": level}
    for signed, power in ((True, 1), (False, 0.5)):
        actual = estimator_interval(
            y_true, y_prob, "debiased_ece", method="analytic", signed=signed, **options
        )
        assert (actual.lower, actual.upper) == pytest.approx((known[0] ** power, known[1] ** power))


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_analytic_weights_are_repeats(binning):
    y_true, y_prob = overconfident(200, 15, 2)
    weight = np.random.default_rng(1).integers(0, 4, 200)
    options = {"method": "analytic", "binning": binning, "n_bins": 10}
    weighted = estimator_interval(y_true, y_prob, "debiased_ece", sample_weight=weight, **options)
    repeated = estimator_interval(
        np.repeat(y_true, weight), np.repeat(y_prob, weight), "debiased_ece", **options
    )
    assert weighted[:3] == pytest.approx(repeated[:3])
    halves = estimator_interval(
        y_true, y_prob, "debiased_ece", sample_weight=np.full(200, 0.5), **options
    )
    alone = estimator_interval(y_true, y_prob, "debiased_ece", **options)
    assert halves[:3] == pytest.approx(alone[:3])


@pytest.mark.parametrize(
    "name",
    [
        "calibration_in_the_large",
        "calibration_intercept",
        "calibration_slope",
        "observed_expected",
    ],
)
def test_analytic_intervals_of_clinical_measures(name):
    y_true, y_prob = overconfident(300, 16)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    options = {"ci_prob": 0.8, "sample_weight": weight}
    actual = estimator_interval(y_true, y_prob, name, method="analytic", **options)
    known = getattr(estimators, f"{name}_interval")(y_true, y_prob, **options)
    assert (actual.lower, actual.upper) == pytest.approx(known)
    assert actual.lower < actual.estimate < actual.upper


# Consistency resampling


@pytest.mark.parametrize("most_cases", [0, 20_000])
@pytest.mark.parametrize("kind", ["none", "counts", "sampling"])
@pytest.mark.parametrize("name", ["observed_expected", mean_gap])
def test_consistency_is_the_range_under_calibration(name, kind, most_cases, monkeypatch):
    """Sums of independent outcomes are close to normal, about what the scores say."""
    monkeypatch.setattr("bayescal.estimators.uncertainty.MOST_RESAMPLED", most_cases)
    y_true, y_prob = overconfident(400, 17, 2)
    rng = np.random.default_rng(18)
    weight = {"none": np.ones(400), "counts": rng.integers(1, 4, 400), "sampling": rng.random(400)}
    cases = weight[kind].astype(float)
    actual = estimator_interval(
        y_true,
        y_prob,
        name,
        method="consistency",
        n_resamples=4000,
        sample_weight=None if kind == "none" else cases,
        random_state=19,
    )
    square = cases**2 if kind == "sampling" else cases
    sd = np.sqrt(np.sum(square * y_prob * (1 - y_prob)))
    centre, unit = (0, cases.sum()) if name is mean_gap else (1, cases @ y_prob)
    expected = centre - 1.96 * sd / unit, centre + 1.96 * sd / unit
    # Four standard errors of a quantile; a count of events has steps.
    error = (4 * 0.0432 + 1 / sd) * sd / unit
    assert (actual.lower, actual.upper) == pytest.approx(expected, abs=error)


def test_consistency_sees_a_calibrated_model_as_one():
    rng = np.random.default_rng(20)
    inside = 0
    for _ in range(300):
        y_true, y_prob = simulate.sample("calibrated", 100, random_state=rng)
        actual = estimator_interval(
            y_true, y_prob, method="consistency", n_resamples=200, random_state=rng
        )
        inside += actual.lower <= actual.estimate <= actual.upper
    assert 0.90 < inside / 300 < 0.99


# Ends


def test_intervals_stay_within_the_span():
    y_true, y_prob = overconfident(500, 2)
    clipped = estimator_interval(y_true, y_prob, "ece", method="basic", random_state=1)
    assert clipped.lower == 0
    free = estimator_interval(
        y_true, y_prob, lambda *data: ece(*data), method="basic", random_state=1
    )
    assert free.lower < 0
    assert free.upper == pytest.approx(clipped.upper)


def test_an_estimate_that_cannot_vary():
    for method in RESAMPLED:
        actual = estimator_interval([1, 1, 1], [1, 1, 1], method=method, random_state=1)
        assert actual[:3] == (0, 0, 0)


def test_prints_a_line():
    y_true, y_prob = overconfident(100, 23)
    actual = estimator_interval(y_true, y_prob, random_state=1, ci_prob=0.9)
    assert str(actual).startswith(f"{actual.estimate:.2f} (90 % percentile interval: ")
    band = estimator_interval(y_true, y_prob, method="consistency", random_state=1)
    assert "if calibrated, 95 % of estimates: " in str(band)
    assert repr(actual).startswith("Interval(estimate=0.")


# Undefined replicates


def event_rate(y_true, y_prob):
    """Undefined without events."""
    if not np.any(y_true):
        raise InputError("no events")
    return float(np.mean(y_true))


def test_a_few_undefined_replicates_do_not_count():
    y_true = np.repeat([1, 0], [5, 45])
    actual = estimator_interval(y_true, np.full(50, 0.1), event_rate, random_state=1)
    assert (actual.lower, actual.upper) == pytest.approx((0.04, 0.18), abs=0.021)


@pytest.mark.parametrize(
    ("events", "method", "message"),
    [
        (2, "percentile", r"'event_rate' is undefined on \d+ of 1000 resamples"),
        (1, "consistency", r"'event_rate' is undefined on \d+ of 1000 resamples"),
    ],
)
def test_many_undefined_replicates_hide_the_tail(events, method, message):
    y_true = np.repeat([1, 0], [events, 30 - events])
    with pytest.raises(InputError, match=message):
        estimator_interval(y_true, np.full(30, 0.05), event_rate, method=method, random_state=1)


def test_bca_must_be_able_to_leave_a_case_out():
    def gap_of_all(y_true, y_prob):
        if len(y_true) < 50:
            raise InputError("too few")
        return mean_gap_of_rows(y_true, y_prob)

    with pytest.raises(InputError, match="undefined when one of the cases is left out"):
        estimator_interval(*overconfident(50, 24), gap_of_all, method="bca", random_state=1)


def test_bca_refuses_a_bias_beyond_every_resample():
    y_true, y_prob = simulate.sample("calibrated", 2000, random_state=25)
    with pytest.raises(InputError, match="every resample of 'ece' lies above the estimate"):
        estimator_interval(y_true, y_prob, method="bca", n_bins=200, random_state=1)


# Hostile input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "bootstrap"}, "method must be one of 'analytic', 'basic', 'bca'"),
        ({"ci_prob": 95}, "If you meant a percentage"),
        ({"n_resamples": 99}, "n_resamples must be a whole number from 100 to"),
        ({"estimator": "ECE"}, "estimator must be one of 'ace'"),
        ({"estimator": "fit_bpm_curve"}, "estimator must be one of"),
        ({"n_bins": 0}, "n_bins must be a whole number"),
        ({"y_true": [1], "y_prob": [0.5]}, "y_true holds one case"),
        ({"sample_weight": [0.5, 1, 1, 1], "method": "bca"}, "leaves out one case at a time"),
        (
            {"sample_weight": [0.5, 1, 1, 1], "estimator": mean_gap_of_rows},
            "'mean_gap_of_rows' takes no sample_weight",
        ),
        ({"estimator": lambda y, s: [1, 2]}, "returned list, not one number"),
        ({"estimator": lambda y, s: np.nan}, "is nan on the data"),
        ({"method": "analytic"}, "'ece' has no analytic interval; these have: calibration_in"),
        ({"method": "analytic", "estimator": mean_gap}, "'mean_gap' has no analytic interval"),
        ({"method": "analytic", "estimator": "debiased_ece", "p": 1}, "for p=2 only"),
    ],
)
def test_refuses(arguments, message):
    data = {"y_true": [0, 1, 1, 0], "y_prob": [0.2, 0.7, 0.9, 0.4]}
    with pytest.raises(InputError, match=message):
        estimator_interval(**data | arguments)
