"""Resamples of the cases, by cell."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from bayescal import CalibrationData, scores, simulate
from bayescal.errors import InputError
from bayescal.estimators import ece, estimator_interval
from bayescal.estimators.bins import cells_of
from bayescal.estimators.registry import ESTIMATORS, read
from bayescal.estimators.uncertainty import Applied, Resamples, applied_of, draw, leave_one_out
from bayescal.scores.proper import WEIGHTED as SCORES

BOOTSTRAPS = ("percentile", "basic", "bca")


def mean_gap(y_true, y_prob, sample_weight=None):
    return float(np.average(np.asarray(y_true) - y_prob, weights=sample_weight))


def mean_gap_of_rows(y_true, y_prob):
    return float(np.mean(np.asarray(y_true) - y_prob))


def overconfident(n, seed, decimals=12):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    return y_true, y_prob.round(decimals)


def to_cells(applied, cells, weights):
    return applied.to_weights(cells.scores, cells.outcomes, weights)


WEIGHTED = [
    *[(name, {}) for name, entry in ESTIMATORS.items() if entry.weighted is not None],
    *[
        ("ece", {"binning": binning, "ties": ties, "p": p, "n_bins": n_bins})
        for binning, ties in (("width", "together"), ("mass", "together"), ("mass", "split"))
        for p, n_bins in ((1, 4), (3, 7), (2, 200))
    ],
    *[
        ("debiased_ece", {"binning": binning, "ties": ties, "p": p, "signed": True, "n_bins": 6})
        for binning, ties in (("width", "together"), ("mass", "together"), ("mass", "split"))
        for p in (1, 2)
    ],
    ("mce", {"binning": "mass", "ties": "split"}),
    *[
        ("sweep_ece", {"binning": binning, "ties": ties, "p": p})
        for binning, ties in (("rank", "split"), ("width", "together"))
        for p in (1, 2)
    ],
    ("smooth_ece", {"bandwidth": 0.1}),
]


@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize(("name", "options"), WEIGHTED)
def test_weightings_are_repeated_rows(name, options, decimals):
    y_true, y_prob = overconfident(60, 1, decimals)
    y_prob[:3] = 0, 1, 1
    cells = cells_of(y_true.astype(float), y_prob, None)
    entry = ESTIMATORS[name]
    applied = Applied(name, entry.function, options, entry)
    rng = np.random.default_rng(2)
    weights = np.concatenate([*draw(cells, 20, rng), rng.integers(0, 3, (5, cells.counts.size))])
    weights[-1] *= cells.outcomes == 1
    for row, actual in zip(weights, to_cells(applied, cells, weights), strict=True):
        cases = row.astype(int)
        try:
            known = entry.function(
                np.repeat(cells.outcomes, cases), np.repeat(cells.scores, cases), **options
            )
        except InputError:
            known = np.nan
        # Rounding of 1e-17 under a floored square root becomes 1e-8.
        assert actual == pytest.approx(known, rel=1e-8, abs=2e-8, nan_ok=True)


@pytest.mark.parametrize("function", [mean_gap, mean_gap_of_rows])
def test_an_estimator_without_a_fast_path_is_looped(function):
    cells = cells_of(np.array([0.0, 1, 1, 0]), np.array([0.2, 0.2, 0.7, 0.7]), None)
    weights = np.array([[0.0, 2, 1, 1], [4, 0, 0, 0]])
    actual = to_cells(Applied("gap", function, {}), cells, weights)
    assert actual == pytest.approx([0.75 - 0.45, -0.2])


@pytest.mark.parametrize("counts", [np.ones(6), [1, 2, 1, 3, 1, 1], [500, 20, 7, 900, 3, 70]])
def test_resamples_are_multinomial(counts):
    """With as many cases as cells they are drawn one by one, with many more by the cell."""
    weights = np.asarray(counts, dtype=float)
    cells = cells_of(np.tile([0.0, 1.0], 3), np.repeat([0.1, 0.5, 0.9], 2), weights)
    drawn = np.concatenate(list(draw(cells, 20_000, np.random.default_rng(1))))
    total, share = weights.sum(), weights / weights.sum()
    assert (drawn.sum(axis=1) == total).all()
    covariance = total * (np.diag(share) - np.outer(share, share))
    np.testing.assert_allclose(drawn.mean(axis=0), weights, rtol=0.03)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.05 * covariance.max())


def test_a_resample_of_sampling_weights_has_the_effective_number_of_cases():
    weights = np.array([0.5, 1.5, 2.5, 0.5])
    size = 5**2 / (0.25 + 2.25 + 6.25 + 0.25)
    cases = read([0, 1, 1, 1], [0.2, 0.4, 0.7, 0.7], weights)
    cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
    assert cells.size == round(size)
    np.testing.assert_allclose(cells.counts, np.array([0.5, 1.5, 3.0]) * size / 5)
    drawn = np.concatenate(list(draw(cells, 5000, np.random.default_rng(1))))
    np.testing.assert_allclose(drawn.mean(axis=0), cells.size * cells.counts / size, rtol=0.05)


def test_leaving_out_one_case_of_each_cell():
    cells = cells_of(np.array([0.0, 1, 1]), np.array([0.2, 0.4, 0.4]), np.array([2.0, 1, 1]))
    rows, shares = leave_one_out(cells, 10, np.random.default_rng(1))
    np.testing.assert_array_equal(np.concatenate(list(rows)), [[1, 2], [2, 1]])
    np.testing.assert_array_equal(shares, [0.5, 0.5])


def ece_at(*arrays):
    """`ece` along the last axis, as SciPy calls a statistic."""
    y_true, y_prob = np.broadcast_arrays(*arrays[:2])
    return np.apply_along_axis(lambda row: ece(*np.split(row, 2)), -1, np.block([y_true, y_prob]))


@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("method", BOOTSTRAPS)
def test_from_the_same_replicates_as_scipy(method, decimals):
    y_true, y_prob = overconfident(150, 3, decimals)
    actual = estimator_interval(y_true, y_prob, method=method, random_state=4, ci_prob=0.9)
    cells = cells_of(y_true.astype(float), y_prob, None)
    applied = Applied("ece", ece, {})
    replicates = np.concatenate(
        [to_cells(applied, cells, block) for block in draw(cells, 1000, np.random.default_rng(4))]
    )
    tied = np.abs(replicates - actual.estimate) < 1e-12  # but for rounding, which SciPy counts
    replicates[tied] = actual.estimate
    known = stats.bootstrap(
        (y_true, y_prob),
        lambda *arrays, axis: ece_at(*arrays),
        n_resamples=0,
        paired=True,
        vectorized=True,
        confidence_level=0.9,
        method=method,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=replicates),
    ).confidence_interval
    assert actual.estimate == ece(y_true, y_prob)
    assert (actual.lower, actual.upper) == pytest.approx((known.low, known.high), rel=1e-9)


def test_the_jackknife_over_random_cases_has_the_acceleration_of_the_whole():
    """For a mean it is the skewness over 6 root n."""
    rng = np.random.default_rng(8)
    scores = rng.beta(0.5, 6, 5000)
    outcomes = (rng.random(5000) < scores).astype(float)
    cells = cells_of(outcomes, scores, None)
    rows, shares = leave_one_out(cells, 2000, rng)
    left = np.concatenate([to_cells(Applied("gap", mean_gap, {}), cells, row) for row in rows])
    influence = shares @ left - left
    skewness = shares @ influence**3 / (shares @ influence**2) ** 1.5
    assert skewness == pytest.approx(stats.skew(outcomes - scores), rel=0.1)


# Scores, which are no estimators, have cores too


@pytest.mark.parametrize("name", SCORES)
def test_the_core_of_a_score_gives_what_the_score_gives(name):
    y_true, y_prob = overconfident(60, 21, 1)
    cells = cells_of(y_true, y_prob, None)
    weights = np.random.default_rng(1).integers(0, 3, (25, cells.counts.size)).astype(float)
    weights[0] *= cells.outcomes
    weights[1] *= 1 - cells.outcomes
    score = getattr(scores, name)
    one_by_one = to_cells(Applied(name, score, {}), cells, weights)
    at_once = to_cells(Applied(name, score, {}, core=SCORES[name]), cells, weights)
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", ["percentile", "basic"])
def test_shared_resamples_give_the_intervals_of_each_estimator_alone(method):
    data = CalibrationData(*overconfident(150, 23, 2))
    resamples = Resamples(data, 120, 7)
    for estimator in ("ece", "ks_error", scores.c_statistic):
        alone = estimator_interval(
            data, estimator=estimator, method=method, n_resamples=120, random_state=7
        )
        assert resamples.interval(applied_of(estimator, {}), method, 0.95) == alone
