"""Distances to calibration against other programmes for them, closed forms, and each other."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog

from bayescal import simulate
from bayescal.estimators import (
    distance_bounds,
    lower_distance_to_calibration,
    weak_calibration_error,
)

EVERY = [lower_distance_to_calibration, weak_calibration_error]
ODD = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.77, 1.0]


def data(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    scores = rng.choice(ODD, n) if seed % 2 else rng.random(n)
    return rng.integers(0, 2, n), scores


def least_transport(outcomes, scores, u):
    """The paper's programme: a joint law of score, outcome and new score, entry by entry."""
    kept = [(s, y) for s in np.unique(scores) for y in (0, 1)]
    law = np.array([(s, y, new) for s, y in kept for new in u])
    rows = [((law[:, 0] == s) & (law[:, 1] == y)).astype(float) for s, y in kept]
    shares = [np.mean((scores == s) & (outcomes == y)) for s, y in kept]
    rows += [(law[:, 2] == new) * (law[:, 1] - new) for new in u]
    cost = np.abs(law[:, 0] - law[:, 2])
    return float(linprog(cost, A_eq=np.array(rows), b_eq=[*shares, *[0] * len(u)]).fun)


def largest_weighted_residual(outcomes, scores):
    """The definition of the smooth calibration error, with every pair of cases held to slope 1."""
    n = scores.size
    pairs = list(itertools.permutations(range(n), 2))
    differences = np.zeros((len(pairs), n))
    for row, (i, j) in enumerate(pairs):
        differences[row, i], differences[row, j] = 1, -1
    reach = [abs(scores[i] - scores[j]) for i, j in pairs]
    options = {"A_ub": differences, "b_ub": reach} if pairs else {}
    return -float(linprog((scores - outcomes) / n, bounds=(-1, 1), **options).fun)


# Other programmes


@pytest.mark.slow
@pytest.mark.oracle("lower_distance_to_calibration")
@pytest.mark.parametrize("seed", range(24))
def test_lower_distance_is_the_least_transport(seed):
    outcomes, scores = data(seed)
    u = np.union1d(np.linspace(0, 1, 17), scores)
    coarse = lower_distance_to_calibration(outcomes, scores, resolution=16)
    assert coarse == pytest.approx(least_transport(outcomes, scores, u), abs=1e-8)
    fine = lower_distance_to_calibration(outcomes, scores)
    assert -1e-8 <= coarse - fine <= 1 / (2 * 16**2) + 1e-8


@pytest.mark.oracle("weak_calibration_error")
@pytest.mark.parametrize("seed", range(40))
def test_smooth_error_is_the_largest_weighted_residual(seed):
    outcomes, scores = data(seed)
    actual = weak_calibration_error(outcomes, scores)
    assert actual == pytest.approx(largest_weighted_residual(outcomes, scores), abs=1e-9)


@pytest.mark.parametrize("power", [1, 1.2, 2])
def test_smooth_error_by_levels(power):
    """The misfit of rising paths, level by level: at each, the best place to cross it."""
    rng = np.random.default_rng(5)
    scores = np.sort(rng.random(80))
    residual = ((rng.random(80) < scores**power) - scores) / 80
    path, gap = np.cumsum(residual)[:-1], np.diff(scores)
    total = residual.sum()
    if total < 0:
        path, total = -path, -total

    def misfit(level):
        over = np.concatenate([[0], np.cumsum(gap * (path > level))])
        under = np.concatenate([[0], np.cumsum(gap * (path <= level))])
        return float(np.min(over + under[-1] - under))

    levels = np.unique(np.clip(np.concatenate([path, [0, total]]), 0, total))
    inside = sum(
        quad(misfit, low, high, points=[(low + high) / 2])[0]
        for low, high in itertools.pairwise(levels)
    )
    outside = gap @ np.abs(path - np.clip(path, 0, total))
    outcomes = np.round(residual * 80 + scores)
    actual = weak_calibration_error(outcomes, scores)
    assert actual == pytest.approx(total + outside + inside, rel=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_upper_bound_is_the_best_of_all_partitions(seed):
    outcomes, scores = data(seed)
    order = np.argsort(scores)
    outcomes, scores = outcomes[order], scores[order]
    places = np.flatnonzero(np.diff(scores)) + 1
    costs = []
    for number in range(places.size + 1):
        for cuts in itertools.combinations(places, number):
            bins = [slice(a, b) for a, b in itertools.pairwise([0, *cuts, scores.size])]
            costs.append(sum(np.abs(scores[b] - outcomes[b].mean()).sum() for b in bins))
    upper = distance_bounds(outcomes, scores).upper
    assert upper == pytest.approx(min(costs) / scores.size, abs=1e-12)


# Closed forms


@pytest.mark.oracle("lower_distance_to_calibration", "weak_calibration_error")
@pytest.mark.parametrize(("score", "events"), [(0.0, 3), (0.3, 0), (0.5, 3), (0.8, 3), (1.0, 1)])
def test_of_one_score(score, events):
    """All must move to the mean outcome."""
    outcomes, scores = np.arange(4) < events, np.full(4, score)
    gap = abs(events / 4 - score)
    assert lower_distance_to_calibration(outcomes, scores) == pytest.approx(gap, abs=1e-9)
    assert weak_calibration_error(outcomes, scores) == pytest.approx(gap)
    assert distance_bounds(outcomes, scores).upper == pytest.approx(gap)


@pytest.mark.oracle("lower_distance_to_calibration", "weak_calibration_error")
@pytest.mark.parametrize("e", [1e-3, 0.05, 0.25, 0.4])
def test_of_two_scores_beside_one_half(e):
    """Perfect order, but calibrated at 1/2: the paper's example of what ECE makes too much of."""
    outcomes, scores = [0, 1], [0.5 - e, 0.5 + e]
    assert weak_calibration_error(outcomes, scores) == pytest.approx(e * (0.5 - e))
    lower, upper = distance_bounds(outcomes, scores)
    assert lower == pytest.approx(e * (1 - 2 * e), abs=1e-6)
    assert upper == pytest.approx(min(e, 0.5 - e))


@pytest.mark.parametrize("estimator", EVERY)
def test_calibrated_in_the_sample(estimator):
    scores = np.repeat([0.0, 0.2, 0.5, 1.0], 10)
    outcomes = np.concatenate([np.arange(10) < events for events in (0, 2, 5, 10)])
    assert estimator(outcomes, scores) == pytest.approx(0, abs=1e-9)
    assert distance_bounds(outcomes, scores) == pytest.approx((0, 0), abs=1e-9)


# Each other


def test_many_scores_are_put_together():
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1200, random_state=2)
    exact = lower_distance_to_calibration(y_true, y_prob, resolution=1200)
    for resolution in (64, 256, 1000):
        actual = lower_distance_to_calibration(y_true, y_prob, resolution=resolution)
        assert abs(actual - exact) <= 1 / (2 * resolution)
        assert actual == pytest.approx(exact, rel=0.02)


def test_a_million_scores_are_put_together(monkeypatch):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 3000, random_state=2)
    exact, upper = weak_calibration_error(y_true, y_prob), distance_bounds(y_true, y_prob).upper
    monkeypatch.setattr("bayescal.estimators.distance.FINEST", 1000)
    assert weak_calibration_error(y_true, y_prob) == pytest.approx(exact, abs=1e-3)
    assert distance_bounds(y_true, y_prob).upper == pytest.approx(upper, abs=1e-3)


@pytest.mark.parametrize("estimator", EVERY)
def test_scores_that_all_but_touch(estimator):
    close = [0.5, np.nextafter(0.5, 1), 0.5 + 1e-12, 1e-300, 0.0, 1 - 1e-16, 1.0]
    apart = [0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0]
    outcomes = [1, 0, 1, 1, 0, 1, 0]
    assert estimator(outcomes, close) == pytest.approx(estimator(outcomes, apart), abs=1e-6)
