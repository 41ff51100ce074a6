"""Cumulative differences against other packages, their definitions, and Brownian motion."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import chdtrc, ndtr

from bayescal.errors import InputError
from bayescal.estimators import (
    averaged_two_bin_error,
    cumulative_difference_test,
    ks_error,
    ks_test,
    kuiper_error,
    kuiper_test,
)
from bayescal.estimators.cumulative import _fisher, _log_kolmogorov

ERRORS = [ks_error, kuiper_error]
PARTS = ["mean", "bridge", "both"]
TESTS = [
    (ks_test, {}),
    (kuiper_test, {}),
    *[(cumulative_difference_test, {"part": part}) for part in PARTS],
]
NAMES = [error.__name__ for error in ERRORS] + [
    "-".join([test.__name__, *options.values()]) for test, options in TESTS
]
each_test = pytest.mark.parametrize(("test", "options"), TESTS, ids=NAMES[2:])


def walk(outcomes, scores):
    """Cumulative differences and variances up to each distinct score, by its definition."""
    outcomes, scores = np.asarray(outcomes, dtype=float), np.asarray(scores)
    below = [scores <= score for score in np.unique(scores)]
    sums = [(outcomes - scores)[these].sum() for these in below]
    return np.array(sums), np.array([(scores * (1 - scores))[these].sum() for these in below])


def data(n=60, decimals=1, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n).round(decimals)
    return rng.integers(0, 2, n), scores


# Other packages


@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize("key", ["spline.KS_error", "spline.KS_error(stable sort)"])
@pytest.mark.oracle("ks_error")
def test_gives_the_known_answer(known, name, key):
    outcomes, scores, answers = known(name)
    assert ks_error(outcomes, scores) == pytest.approx(answers[key], rel=1e-9)


def test_p_values_are_those_that_cumulcalib_prints():
    """The example of its README: S_n, B*, and the three p-values."""
    mean, bridge = np.array([0.489295496431201]), np.array([0.904915434767163])
    assert 2 * ndtr(-mean) == pytest.approx(0.624632509005787, rel=1e-12)
    assert np.exp(_log_kolmogorov(bridge)) == pytest.approx(0.385979705481866, rel=1e-12)
    assert chdtrc(4, _fisher(mean, bridge)) == pytest.approx(0.584068794836004, rel=1e-12)


# Definitions


@pytest.mark.oracle("ks_error", "kuiper_error")
@pytest.mark.parametrize("decimals", [1, 8])
def test_errors_are_their_definitions(decimals):
    outcomes, scores = data(decimals=decimals)
    sums = np.concatenate([[0], walk(outcomes, scores)[0]]) / scores.size
    assert ks_error(outcomes, scores) == pytest.approx(np.abs(sums).max())
    between = max(abs(sums[j] - sums[i]) for i in range(sums.size) for j in range(i, sums.size))
    assert kuiper_error(outcomes, scores) == pytest.approx(between)


@pytest.mark.oracle("averaged_two_bin_error")
@pytest.mark.parametrize("decimals", [1, 8])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_bins_are_the_integral_over_thresholds(decimals, weighted):
    """Of the squared sums of either side, at the middles of 20 000 intervals of thresholds."""
    outcomes, scores = data(40, decimals=decimals, seed=5)
    weight = np.random.default_rng(5).integers(1, 4, 40) if weighted else np.ones(40)
    at = (np.arange(20_000) + 0.5) / 20_000
    error = weight * (scores - outcomes) / weight.sum()
    below = (error * (scores < at[:, None])).sum(axis=1)
    expected = np.mean(below**2 + (error.sum() - below) ** 2)
    actual = averaged_two_bin_error(outcomes, scores, sample_weight=weight)
    assert actual == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_by_predicted_class_it_is_definition_c2_of_gruber_and_buettner(weighted):
    """sum_c P(C = c) max_t |E[(f_c - 1[Y = c]) 1[f_c <= t] | C = c]|, term by term."""
    rng = np.random.default_rng(4)
    proba = rng.dirichlet(np.full(4, 0.5), size=300).round(2)
    predicted = proba.argmax(axis=1)
    labels = np.where(rng.random(300) < 0.9 - 0.2 * predicted, predicted, (predicted + 1) % 4)
    weight = rng.integers(0, 3, 300) if weighted else np.ones(300)
    expected = 0.0
    for c in range(4):
        mine = predicted == c
        gap = weight * (proba[:, c] - (labels == c))
        share = weight[mine].sum()
        largest = max(abs(gap[mine & (proba[:, c] <= t)].sum()) for t in proba[mine, c])
        expected += share / weight.sum() * largest / share
    hit, confidence = labels == predicted, proba.max(axis=1)
    by_class = ks_error(hit, confidence, cells=predicted, sample_weight=weight)
    assert by_class == pytest.approx(expected)
    assert by_class > ks_error(hit, confidence, sample_weight=weight) + 0.01
    names = np.array(["cat", "dog", "bird", "ant"])[predicted]
    assert ks_error(hit, confidence, cells=names, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("decimals", [1, 8])
def test_tests_are_their_definitions(decimals):
    outcomes, scores = data(decimals=decimals, seed=1)
    sums, variances = walk(outcomes, scores)
    standard = sums / np.sqrt(variances[-1])
    bridge = np.abs(standard - variances / variances[-1] * standard[-1]).max()
    normal, kolmogorov = 2 * stats.norm.sf(abs(standard[-1])), stats.kstwobign.sf(bridge)
    fisher = -2 * math.log(normal * kolmogorov)
    expected = [(standard[-1], normal), (bridge, kolmogorov), (fisher, stats.chi2.sf(fisher, 4))]
    for part, (statistic, pvalue) in zip(PARTS, expected, strict=True):
        test = cumulative_difference_test(outcomes, scores, part=part)
        assert test[:2] == pytest.approx((statistic, pvalue))
        assert math.isnan(test.df) != (part == "both")
    for test, error in ((ks_test, ks_error), (kuiper_test, kuiper_error)):
        scale = scores.size / np.sqrt(variances[-1])
        assert test(outcomes, scores).statistic == pytest.approx(scale * error(outcomes, scores))


# Laws


@each_test
def test_p_values_are_nearly_uniform_under_calibration(test, options):
    rng = np.random.default_rng(2)
    scores = rng.beta(1, 3, 2000)
    pvalue = test(rng.random((3000, 2000)) < scores, scores, **options).pvalue
    for level in (0.05, 0.2, 0.5):
        share = np.mean(pvalue <= level)
        spread = 4 * math.sqrt(level * (1 - level) / pvalue.size)
        assert level - 0.05 - spread < share < level + spread


def test_a_p_value_of_no_size_is_0_and_its_statistic_finite():
    scores = np.full(100_000, 0.01)
    scores[::2] = 0.02
    test = cumulative_difference_test(np.ones(100_000), scores)
    assert np.isfinite(test.statistic)
    assert test.pvalue == 0
    x = np.array([2.9, 3.0, 3.0001, 6.0])
    assert _log_kolmogorov(x) == pytest.approx(stats.kstwobign.logsf(x), rel=1e-10)


# Limits


def test_outcomes_that_contradict_certain_scores():
    outcomes, scores = [1, 0, 1, 0, 1], [0.0, 1.0, 0.5, 0.25, 0.75]
    assert ks_error(outcomes, scores) == pytest.approx(0.3)
    for test, options in TESTS:
        actual = test(outcomes, scores, **options)
        assert np.isfinite(actual.statistic)
        assert 0 < actual.pvalue < 1


# Hostile input


@each_test
def test_certain_scores_leave_nothing_to_test(test, options):
    with pytest.raises(InputError, match="0 or 1 for every case"):
        test([0, 1, 1], [0.0, 1.0, 0.0], **options)
