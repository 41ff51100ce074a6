"""Distances, weak calibration and SmoothECE in other metrics, against linear programmes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import logit

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import (
    estimator_interval,
    logit_smooth_ece,
    lower_distance_to_calibration,
    smooth_ece,
    smooth_ece_curve,
    weak_calibration_error,
)


def arcsine(score):
    return 2 * np.arcsin(np.sqrt(score))


def same(score):
    return score


METRICS = {"logit": logit, "arcsine": arcsine, "wide": lambda s: 30 * s}
GIVEN = METRICS | {"logit": "logit"}


def drawn(seed=0, n=12, decimals=2):
    rng = np.random.default_rng(seed)
    scores = (0.02 + 0.96 * rng.random(n)).round(decimals)
    return rng.integers(0, 2, n), scores


def weak_by_programme(y, s, h):
    """Definition 14, over the values of w at each case, by every pair."""
    n = len(s)
    first, second = np.triu_indices(n, 1)
    rows = np.arange(first.size)
    differ = np.zeros((first.size, n))
    differ[rows, first], differ[rows, second] = 1, -1
    gap = np.abs(h(s)[first] - h(s)[second])
    solved = linprog(
        -(s - y) / n,
        A_ub=np.concatenate([differ, -differ]),
        b_ub=np.concatenate([gap, gap]),
        bounds=(-1, 1),
    )
    return -solved.fun


def distance_by_programme(y, s, h, cost, resolution):
    """Definition 1 as it stands: the least transport of each case to (u, v), u on a grid.

    Masses m[i, u, v] leave each case its share; at each u a share u of what arrives has v = 1.
    """
    u = np.union1d(np.linspace(0, 1, resolution + 1)[1:-1], s)
    n = len(s)
    move = np.abs(h(s)[:, None] - h(u)[None])
    change = np.where(np.equal.outer(y, [0, 1]), 0, cost)
    price = move[:, :, None] + change[:, None]
    leaves = np.zeros((n, n, u.size, 2))
    leaves[np.arange(n), np.arange(n)] = 1
    arrives = np.zeros((u.size, n, u.size, 2))
    for at, probability in enumerate(u):
        arrives[at, :, at] = -probability, 1 - probability
    solved = linprog(
        price.ravel(),
        A_eq=np.concatenate([leaves.reshape(n, -1), arrives.reshape(u.size, -1)]),
        b_eq=np.concatenate([np.full(n, 1 / n), np.zeros(u.size)]),
    )
    assert solved.status == 0
    return float(solved.fun)


# Weak calibration


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_weak_error_is_the_largest_mean_of_the_definition(name, seed):
    y, s = drawn(seed, 25)
    known = weak_by_programme(y, s, METRICS[name])
    assert weak_calibration_error(y, s, metric=GIVEN[name]) == pytest.approx(known, abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 5))
def test_of_the_scores_themselves_both_ways_agree(seed, n, decimals):
    y, s = drawn(seed, n, decimals)
    expected = weak_calibration_error(y, s)
    assert weak_calibration_error(y, s, metric=same) == pytest.approx(expected, abs=1e-12)


def test_in_a_metric_where_scores_are_far_apart_it_is_the_calibration_error():
    """Each score has a weight of its own: the mean of |residual| over distinct scores."""
    y, s = drawn(1, 200, 1)
    known = sum(abs((y - s)[s == value].sum()) for value in np.unique(s)) / 200
    assert weak_calibration_error(y, s, metric=lambda t: 1e6 * t) == pytest.approx(known)


def test_many_scores_are_put_together_by_the_metric():
    y, s = simulate.sample("clinical-low-calibrated", 200_000, random_state=1)
    some = weak_calibration_error(y, s, metric="logit")
    rounded = 1 / (1 + np.exp(-logit(s).round(4)))
    assert some == pytest.approx(weak_calibration_error(y, rounded, metric="logit"), abs=2e-4)


# Distance to calibration


@pytest.mark.parametrize("cost", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("name", METRICS)
def test_distance_is_the_least_transport_of_definition_1(name, cost):
    y, s = drawn(3)
    known = distance_by_programme(y, s, METRICS[name], cost, 256)
    actual = lower_distance_to_calibration(
        y, s, resolution=256, metric=GIVEN[name], outcome_cost=cost
    )
    assert actual <= known + 1e-9
    assert actual == pytest.approx(known, abs=2e-4)


def test_distance_in_a_metric_without_changed_outcomes():
    y, s = drawn(4)
    y[0], y[1] = 0, 1
    for name, h in METRICS.items():
        known = distance_by_programme(y, s, h, 1e3, 256)
        actual = lower_distance_to_calibration(y, s, resolution=256, metric=GIVEN[name])
        assert actual == pytest.approx(known, rel=2e-3)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(2, 20), st.floats(1, 5))
def test_where_moves_cost_their_length_outcomes_are_never_changed(seed, n, cost):
    """Definitions 1 and 6 are one number."""
    y, s = drawn(seed, n)
    expected = lower_distance_to_calibration(y, s, resolution=64)
    for metric in ("identity", same):
        actual = lower_distance_to_calibration(
            y, s, resolution=64, metric=metric, outcome_cost=cost
        )
        assert actual == pytest.approx(expected, abs=1e-7)


def test_cheap_outcomes_are_changed_instead():
    """All at one score, all with the event: either move the score, or change some outcomes."""
    for cost, known in ((0.1, 0.04), (0.5, 0.2), (1.0, 0.4), (np.inf, 0.4)):
        actual = lower_distance_to_calibration([1] * 5, [0.6] * 5, outcome_cost=cost)
        assert actual == pytest.approx(known, abs=1e-6)


# SmoothECE


@pytest.mark.parametrize("bandwidth", [None, 0.3])
def test_smooth_ece_in_log_odds_is_the_one_of_that_name(bandwidth):
    y, s = drawn(5, 80)
    known = logit_smooth_ece(y, s, bandwidth=bandwidth)
    for metric in ("logit", logit):
        actual = smooth_ece(y, s, bandwidth=bandwidth, metric=metric)
        assert actual == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_smooth_ece_in_a_metric_is_the_integral_over_the_line(sigma):
    y, s = drawn(6, 40)
    t = np.linspace(-6, 9, 40_001)
    kernel = np.exp(-0.5 * ((t[:, None] - arcsine(s)) / sigma) ** 2) / sigma / np.sqrt(2 * np.pi)
    known = np.trapezoid(np.abs(kernel @ (y - s)) / 40, t)
    assert smooth_ece(y, s, bandwidth=sigma, metric=arcsine) == pytest.approx(known, abs=1e-6)


def test_curve_in_a_metric():
    y, s = drawn(8, 40)
    curve = smooth_ece_curve(y, s, bandwidth=0.3, grid=[0.2, 0.7], metric=arcsine)
    kernel = np.exp(-0.5 * ((arcsine(np.array([0.2, 0.7]))[:, None] - arcsine(s)) / 0.3) ** 2)
    np.testing.assert_allclose(curve.outcome, kernel @ y / kernel.sum(axis=1), rtol=1e-4)
    known = smooth_ece_curve(y, s, bandwidth=0.3, grid=[0.2, 0.7], metric="logit")
    again = smooth_ece_curve(y, s, bandwidth=0.3, grid=[0.2, 0.7], metric=logit)
    np.testing.assert_allclose(again.outcome, known.outcome)


def test_an_interval_in_a_metric_is_not_cut_at_one():
    interval = estimator_interval(
        [0, 1, 1, 1],
        [0.001, 0.002, 0.003, 0.004],
        "lower_distance_to_calibration",
        metric="logit",
        resolution=16,
        n_resamples=100,
        random_state=1,
    )
    assert interval.upper > 1


# Refusals


@pytest.mark.parametrize(
    "function",
    [lower_distance_to_calibration, smooth_ece, smooth_ece_curve, weak_calibration_error],
)
@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("log", "metric must be one of"),
        (3, "metric must be one of"),
        (lambda s: -s, "must increase"),
        (lambda s: 1.0, "for each score"),
        (lambda s: s / 0, "for each score"),
        (lambda: 1, "array of scores"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_no_metric(function, metric, message):
    with pytest.raises(InputError, match=message):
        function(*drawn(), metric=metric)


@pytest.mark.parametrize("cost", [0, -1, float("nan"), "one", True, None])
def test_what_is_no_cost(cost):
    with pytest.raises(InputError, match="outcome_cost"):
        lower_distance_to_calibration(*drawn(), outcome_cost=cost)
