"""Mixtures of curves by the cases that each is of."""

import numpy as np
import pytest
from scipy.special import logit

import bayescal as bc
from bayescal.model.curves import as_curve
from bayescal.model.problem import prepare
from bayescal.multilevel.mixture import Shares, mixture_of, shares_of

RNG = np.random.default_rng(3)
SCORE = RNG.uniform(0.05, 0.95, 900)
PART = RNG.integers(0, 3, 900)


def tables():
    every = prepare((SCORE > 0.5).astype(int), SCORE, curve="logistic", random_state=0)
    parts = [
        prepare((SCORE > 0.5).astype(int)[k == PART], SCORE[k == PART], random_state=0).table
        for k in range(3)
    ]
    return every, parts


def test_shares_sum_to_one_and_keep_the_sizes_of_the_parts():
    every, parts = tables()
    shares = shares_of(every.table, parts)
    at = shares.at(np.array([[0.01, 0.3], [0.6, 0.99]]))
    assert at.shape == (3, 2, 2)
    np.testing.assert_allclose(at.sum(axis=0), 1)
    total = shares.at(every.table.score) @ every.table.trials
    sizes = np.bincount(PART)
    np.testing.assert_allclose(total, sizes, rtol=0.02)


def test_shares_of_few_scores_are_those_of_each_score():
    score, part = np.repeat([0.2, 0.5, 0.8], 100), np.tile([0, 1], 150)
    part[:100] = 0
    y = np.zeros(300)
    every = prepare(y, score, random_state=0)
    parts = [prepare(y[part == k], score[part == k], random_state=0).table for k in (0, 1)]
    at = shares_of(every.table, parts).at(np.array([0.2, 0.5, 0.8]))
    np.testing.assert_allclose(at, [[1, 0.5, 0.5], [0, 0.5, 0.5]], atol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "beta", "intercept", "temperature"])
def test_a_mixture_of_equal_curves_is_that_curve(name):
    every, parts = tables()
    curve = as_curve(name)
    u = RNG.normal(0, 0.3, (20, curve.size))
    mixed = mixture_of(curve, shares_of(every.table, parts))
    assert mixed.size == 3 * curve.size
    for score in (SCORE[:50], RNG.uniform(0.1, 0.9, (20, 7))):
        expected = curve.probability(u, score, every.frame)
        np.testing.assert_allclose(
            mixed.probability(np.tile(u, 3), score, every.frame), expected, rtol=1e-12
        )
        np.testing.assert_allclose(
            mixed.log_odds(np.tile(u, 3), score, every.frame), logit(expected), rtol=1e-9, atol=1e-9
        )


def test_a_mixture_is_the_mean_of_its_curves_weighted_by_shares():
    frame = prepare([0, 1], [0.2, 0.7], curve="logistic", random_state=0).frame
    curve, shares = as_curve("logistic"), Shares(np.array([0.0]), np.array([[0.25, 0.75]]))
    u = RNG.normal(0, 0.5, (5, 4))
    score = np.array([0.1, 0.5, 0.8])
    parts = [curve.probability(u[:, k : k + 2], score, frame) for k in (0, 2)]
    mixed = mixture_of(curve, shares).probability(u, score, frame)
    np.testing.assert_allclose(mixed, 0.25 * parts[0] + 0.75 * parts[1], rtol=1e-12)


def test_the_view_of_a_mixture_is_consistent():
    """O/E of a mixture is the mean over cases of their own cells' curves, whatever the scores."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", 800, random_state=3)
    factors = {"a": np.resize(["x", "y"], 800), "b": (s > np.median(s)).astype(int)}
    post = bc.fit(y, s, subgroup=factors, curve="logistic", draws=400, random_state=3)
    view = post.at(a="x")
    total = expected = 0.0
    for level in ("0", "1"):
        cell = post.at(a="x", b=level)
        curve = cell.curve(cell.problem.score).to_numpy()
        total = total + (curve * cell.problem.trials).sum(axis=-1)
        expected += cell.problem.trials @ cell.problem.score
    ratio = view.functional("observed_expected", "sample").to_numpy()
    np.testing.assert_allclose(ratio, total / expected, rtol=0.02)
