"""SmoothECE against exact quadrature, relplot, its own definition, and hostile data."""

import numpy as np
import pytest
from scipy.special import logit

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import logit_smooth_ece, smooth_ece, smooth_ece_curve
from known_sets import area

BOTH = [smooth_ece, logit_smooth_ece]


# Other people's answers

EXACT = [("smECE exact value at sigma*", None)] + [
    (f"smECE_sigma exact({sigma})", sigma) for sigma in (0.02, 0.05, 0.1, 0.2)
]
RELPLOT = [("relplot.smECE", None)] + [
    (f"relplot.smECE_sigma({sigma})", sigma) for sigma in (0.02, 0.05, 0.1, 0.2)
]


@pytest.mark.oracle("smooth_ece")
@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize(("key", "sigma"), EXACT)
def test_gives_the_exact_integral(known, name, key, sigma):
    outcomes, scores, answers = known(name)
    assert smooth_ece(outcomes, scores, bandwidth=sigma) == pytest.approx(answers[key], rel=1e-7)


@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize(("key", "sigma"), RELPLOT)
def test_relplot_differs_by_its_grid_and_half_the_mass_at_the_ends(
    known, name, key, sigma, request
):
    if name != "A":
        request.getfixturevalue("shared_data")  # how far it is off depends on the very scores
    outcomes, scores, answers = known(name)
    cells_from_end = 1000 * np.minimum(scores, 1 - scores)
    halved = np.where(cells_from_end < 1, 0.5 + cells_from_end / 2, 1)
    actual = smooth_ece(outcomes, scores, bandwidth=sigma, sample_weight=halved)
    assert actual == pytest.approx(answers[key], rel=5e-3 if name in "AB" else 0.025)
    ours = smooth_ece(outcomes, scores, bandwidth=sigma)
    if name == "C":
        assert answers[key] > 1.5 * ours
    else:
        assert answers[key] == pytest.approx(ours, rel=5e-3 if sigma else 2e-3)


@pytest.mark.oracle("smooth_ece", "logit_smooth_ece")
@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.4, None])
@pytest.mark.parametrize("seed", range(4))
def test_is_the_area_between_roots(sigma, seed):
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.8, 0.8, 60).round(3)
    outcomes = rng.random(60) < scores**1.3
    for function, places, mirrors in (
        (smooth_ece, scores, True),
        (logit_smooth_ece, logit(scores.clip(1e-5, 1 - 1e-5)), False),
    ):
        shown = scores if mirrors else scores.clip(1e-5, 1 - 1e-5)
        actual = function(outcomes, shown, bandwidth=sigma)
        expected = area(places, (outcomes - shown) / 60, sigma or actual, mirrors)
        assert actual == pytest.approx(expected, abs=2e-9)


# Closed forms


@pytest.mark.parametrize("function", BOTH)
def test_one_score_and_one_sign(function):
    """Where residuals have one sign nothing cancels, at any bandwidth."""
    assert function([0, 1, 1, 1], [0.4] * 4) == pytest.approx(0.35, rel=1e-9)
    scores = np.linspace(0, 1, 11)
    for sigma in (None, 0.01, 3.0):
        assert function(np.ones(11), scores, bandwidth=sigma) == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("function", BOTH)
def test_bandwidths_at_the_extremes(function):
    """A narrow kernel cancels nothing between different scores, a wide one all that it can."""
    outcomes, scores = [0, 1, 0, 0, 1], [0.1, 0.3, 0.3, 0.8, 1.0]
    narrow = (0.1 + 0.4 + 0.8 + 0.0) / 5
    assert function(outcomes, scores, bandwidth=0.01) == pytest.approx(narrow, rel=1e-9)
    wide = abs(np.sum(outcomes) - np.sum(scores)) / 5
    assert function(outcomes, scores, bandwidth=1e4) == pytest.approx(wide, rel=1e-3)
    assert smooth_ece(outcomes, scores, bandwidth=1e300) == pytest.approx(wide, rel=1e-12)


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize(
    ("score", "expected"), [(2 / 3, 0), (0.6666667, 1e-7 / 3), (0.66666666667, 1e-11 / 3)]
)
def test_small_errors_are_their_own_bandwidth(function, score, expected):
    """Far apart, two scores with errors smaller than the gap between them do not cancel."""
    assert function([0, 1, 1], [score] * 3) == pytest.approx(expected, rel=1e-4, abs=1e-16)
    both = function([0, 1, 1, 0, 0, 1], [score] * 3 + [1 - score] * 3)
    assert both == pytest.approx(expected, rel=1e-4, abs=1e-16)


@pytest.mark.parametrize("function", BOTH)
def test_outcomes_equal_to_the_scores_have_no_error(function):
    assert function([0, 1, 1], [0.0, 1.0, 1.0]) == 0
    assert function([1, 0], [1.0, 0.5], sample_weight=[1, 0]) == 0
    assert function([0], [1.0]) == pytest.approx(1, rel=1e-9)


# The fixed point


def hostile():
    rng = np.random.default_rng(0)
    levels = np.repeat(rng.random(40).round(3), 500)
    spread, bent = rng.beta(0.02, 0.02, 2000), rng.beta(2, 1, 3000)
    rare, few = rng.random(20_000) * 1e-3, rng.random(500).round(1)
    return {
        "miscalibrated": (rng.random(3000) < bent**2, bent),
        "calibrated": (rng.random(3000) < bent, bent),
        "levels": (rng.random(levels.size) < levels, levels),
        "u-shaped": (rng.random(2000) < spread, spread),
        "certain": (rng.random(500) < 0.4, (rng.random(500) < 0.4) * 1.0),
        "rare": (rng.random(20_000) < rare, rare),
        "one in many": (np.arange(20_000) == 7, np.zeros(20_000)),
        "rounded": (rng.random(500) < few, few),
        "opposite": ([1, 0], [0.0, 1.0]),
    }


HOSTILE = hostile()


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("name", HOSTILE)
def test_area_at_the_fixed_point_is_the_fixed_point(function, name):
    outcomes, scores = HOSTILE[name]
    actual = function(outcomes, scores)
    assert 0 < actual <= 1 + 1e-9
    if actual > 1e-4:
        assert function(outcomes, scores, bandwidth=actual) == pytest.approx(actual, abs=1e-9)
        assert function(outcomes, scores, bandwidth=2 * actual) <= actual + 1e-9
        assert function(outcomes, scores, bandwidth=actual / 2) >= actual - 1e-9


def test_fixed_point_below_every_gap_is_the_sum_of_errors():
    """In-sample recalibrated scores, rounded: errors of 1e-7 at scores .01 apart."""
    rng = np.random.default_rng(1)
    level = np.repeat(np.arange(50), 300)
    outcomes = rng.random(level.size) < (level + 0.5) / 50
    rate = np.bincount(level, outcomes) / 300
    scores = rate.round(6)[level]
    errors = np.abs(np.bincount(level, outcomes - scores)).sum() / level.size
    for function in BOTH:
        assert function(outcomes, scores) == pytest.approx(errors, rel=1e-6)
        assert function(outcomes, rate[level]) < 1e-15


# Batches, weights, order


@pytest.mark.parametrize("function", BOTH)
def test_symmetries(function):
    rng = np.random.default_rng(5)
    scores = rng.random(500).round(2)
    outcomes = rng.random(500) < scores**2
    actual, order = function(outcomes, scores), rng.permutation(500)
    assert function(outcomes[order], scores[order]) == pytest.approx(actual, rel=1e-9)
    assert function(~outcomes, 1 - scores) == pytest.approx(actual, rel=1e-8)


def test_many_cases_are_gathered_in_chunks(monkeypatch):
    y_true, y_prob = simulate.sample("calibrated", 20_000, random_state=1)
    full = smooth_ece(y_true, y_prob)
    monkeypatch.setattr("bayescal.estimators.smooth.CHUNK", 10**6)
    assert smooth_ece(y_true, y_prob) == pytest.approx(full, rel=1e-12)


# The curve


def kernel_regression(outcomes, places, at, sigma, turns):
    kernel = sum(
        np.exp(-0.5 * ((at[:, None] - 2 * turn - side * places) / sigma) ** 2)
        for turn in turns
        for side in ((1, -1) if len(turns) > 1 else (1,))
    ) / (sigma * np.sqrt(2 * np.pi))
    return kernel @ outcomes / np.maximum(kernel.sum(axis=1), 1e-99), kernel.mean(axis=1)


@pytest.mark.parametrize("sigma", [0.03, 0.4])
def test_curve_is_kernel_regression(sigma):
    rng = np.random.default_rng(6)
    scores = np.concatenate([[0, 0, 1, 1], rng.beta(2, 3, 400).round(3)]).clip(1e-3, 1 - 1e-3)
    outcomes, grid = rng.random(404) < scores, np.linspace(0.01, 0.99, 23)
    for metric, places, at, turns in (
        ("identity", scores, grid, range(-3, 4)),
        ("logit", logit(scores), logit(grid), range(1)),
    ):
        actual = smooth_ece_curve(outcomes, scores, bandwidth=sigma, grid=grid, metric=metric)
        outcome, density = kernel_regression(outcomes, places, at, sigma, turns)
        seen = density > 1e-3
        assert seen.sum() > 10
        np.testing.assert_allclose(actual.outcome[seen], outcome[seen], atol=1e-6)
        np.testing.assert_allclose(actual.density[seen], density[seen], rtol=1e-5)
        np.testing.assert_array_equal(actual.score, grid)
        assert actual.bandwidth == sigma


def test_curve_agrees_with_relplot(known):
    outcomes, scores, answers = known("A")
    theirs = answers["relplot.reldiag_noboot"]
    curve = smooth_ece_curve(outcomes, scores, grid=theirs["t"], bandwidth=theirs["sigma"])
    np.testing.assert_allclose(curve.outcome, theirs["mu"], rtol=1e-4)
    np.testing.assert_allclose(curve.density, theirs["density"], rtol=1e-4)


def test_curve_by_default():
    outcomes, scores = HOSTILE["miscalibrated"]
    curve = smooth_ece_curve(outcomes, scores)
    assert curve.score.shape == curve.outcome.shape == curve.density.shape == (201,)
    assert curve.bandwidth == pytest.approx(smooth_ece(outcomes, scores), rel=1e-9)
    assert np.trapezoid(curve.density, curve.score) == pytest.approx(1, rel=1e-6)
    logit_curve = smooth_ece_curve(outcomes, scores, metric="logit")
    assert logit_curve.bandwidth == pytest.approx(logit_smooth_ece(outcomes, scores), rel=1e-9)
    assert smooth_ece_curve([0, 1], [0, 1]).bandwidth == 0.001


@pytest.mark.parametrize("metric", ["identity", "logit"])
def test_curve_far_from_all_scores_is_that_of_the_nearest(metric):
    curve = smooth_ece_curve(
        [0, 1, 0, 1], [0.2, 0.2, 0.6, 0.6], bandwidth=1e-6, grid=[0, 0.3, 0.5, 1], metric=metric,
        sample_weight=[3, 1, 0, 2],
    )  # fmt: skip
    np.testing.assert_allclose(curve.outcome, [0.25, 0.25, 1, 1])
    np.testing.assert_array_equal(curve.density, 0)


def test_curve_weights_are_repeats():
    rng = np.random.default_rng(7)
    scores, outcomes = rng.random(50).round(1), rng.integers(0, 2, 50)
    weights = rng.integers(0, 4, 50)
    actual = smooth_ece_curve(outcomes, scores, sample_weight=weights)
    repeated = smooth_ece_curve(np.repeat(outcomes, weights), np.repeat(scores, weights))
    np.testing.assert_allclose(actual.outcome, repeated.outcome, rtol=1e-7)
    np.testing.assert_allclose(actual.density, repeated.density, rtol=1e-7)


# Hostile input


def test_the_least_bandwidth_it_names_is_enough():
    rng = np.random.default_rng(8)
    scores = rng.random(20_000)
    outcomes = rng.random(20_000) < scores
    for function in (*BOTH, smooth_ece_curve):
        with pytest.raises(
            InputError, match="bandwidth = 1e-07 is too small to resolve"
        ) as refused:
            function(outcomes, scores, bandwidth=1e-7)
        least = float(str(refused.value).rsplit(" ", 1)[1].rstrip("."))
        function(outcomes, scores, bandwidth=least)


def test_few_scores_can_be_smoothed_by_next_to_nothing():
    for function in BOTH:
        assert function([0, 1], [0.2, 0.4], bandwidth=1e-9) == pytest.approx(0.4, rel=1e-9)
