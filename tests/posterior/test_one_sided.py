"""Errors counted by how sure their side is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.model.pieces import OFTEN_CALIBRATED
from bayescal.model.problem import prepare
from bayescal.posterior.functionals import CurveDraws, e50, e90, emax, tce
from bayescal.posterior.one_sided import one_sided, side_shares, sureness
from bayescal.posterior.population import Population

DISTANCES = {
    "tce": tce,
    "tce2": lambda draws: tce(draws, p=2),
    "e50": e50,
    "e90": e90,
    "emax": emax,
}


def drawn(seed, shift=0.05, rows=30, draws=200):
    rng = np.random.default_rng(seed)
    score = np.sort(rng.uniform(0.2, 0.8, rows))
    off = shift * (score > 0.5)
    curve = score + off + rng.normal(0, 0.03, (draws, 1)) + rng.normal(0, 0.02, (draws, rows))
    weight = rng.dirichlet(np.ones(rows), draws)
    return CurveDraws(curve, Population(score, weight, None))


def sides(draws):
    return sureness((draws.error > 0).mean(axis=0), (draws.error < 0).mean(axis=0))


def counted(draws, side):
    score = draws.population.score
    return CurveDraws(one_sided(draws.curve, score, side), draws.population)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_ramp_is_that_of_its_definition(above, rest):
    below = (1 - above) * rest
    larger = max(above, below)
    size = 0 if larger < 0.6 else 1 if larger > 0.95 else (larger - 0.6) / 0.35
    expected = size if above >= below else -size
    actual = sureness(np.array([above]), np.array([below]))[0]
    assert actual == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 1000), shift=st.floats(-0.15, 0.15))
def test_each_error_counts_as_much_as_its_side_is_sure(seed, shift):
    draws = drawn(seed, shift, rows=8, draws=40)
    side = sides(draws)
    actual = counted(draws, side).curve
    for i, j in np.ndindex(actual.shape):
        s, g, phi = draws.population.score[j], draws.curve[i, j], side[j]
        sign = 1 if phi > 0 else -1
        expected = s + sign * abs(phi) * max(0, sign * (g - s))
        assert actual[i, j] == pytest.approx(expected, abs=1e-12)


@given(seed=st.integers(0, 1000), shift=st.floats(-0.15, 0.15))
def test_never_above_the_distance_and_ordered_as_it_is(seed, shift):
    draws = drawn(seed, shift)
    less = {name: d(counted(draws, sides(draws))) for name, d in DISTANCES.items()}
    for name, distance in DISTANCES.items():
        assert (less[name] <= distance(draws) + 1e-12).all()
        assert (less[name] >= 0).all()
    for smaller, larger in (("tce", "tce2"), ("tce2", "emax"), ("e50", "e90"), ("e90", "emax")):
        assert (less[smaller] <= less[larger] + 1e-12).all()


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_it_is_the_distance_where_every_side_is_sure_and_zero_where_none_is(distance):
    draws = drawn(0)
    above = CurveDraws(draws.population.score + 0.05 + 0 * draws.curve, draws.population)
    np.testing.assert_allclose(distance(counted(above, sides(above))), distance(above))
    assert not distance(counted(draws, np.zeros(30))).any()


def test_relabelling_turns_the_side():
    draws = drawn(1)
    above, below = ((draws.error > 0).mean(axis=0), (draws.error < 0).mean(axis=0))
    side = sureness(above, below)
    np.testing.assert_array_equal(sureness(below, above), -side)
    score = draws.population.score
    np.testing.assert_allclose(
        one_sided(1 - draws.curve, 1 - score, -side), 1 - one_sided(draws.curve, score, side)
    )


def test_the_sides_of_a_wrong_tail_are_sure_and_those_of_the_bulk_are_not():
    from bayescal.inference.pieces import sample_pieces

    rng = np.random.default_rng(0)
    score = np.round(rng.beta(2, 3, 4000), 2).clip(0.01, 0.99)
    truth = np.where(score > 0.6, score - 0.15, score)
    problem = prepare(rng.random(4000) < truth, score, curve="pieces", random_state=0)
    u = sample_pieces(problem, 1000, (OFTEN_CALIBRATED,))[0].draws
    above, below = side_shares(problem, u)
    error = problem.probability(u) - problem.score
    np.testing.assert_array_equal(above, (error > 0).mean(axis=0))
    np.testing.assert_array_equal(below, (error < 0).mean(axis=0))
    side = sureness(above, below)
    assert (side[problem.score > 0.7] == -1).all()
    assert np.abs(side[problem.score < 0.4]).max() < 0.5
    draws = CurveDraws(error + problem.score, Population(problem.score, problem.trials / 4000))
    exact = np.abs(truth - score).mean()
    assert tce(counted(draws, side)).mean() < tce(draws).mean()
    assert np.quantile(tce(counted(draws, side)), 0.025) < exact


def test_draws_that_are_not_sided_are_left_as_they_are():
    """In an average only the often-calibrated stretches count errors by side."""
    y, s = bc.simulate.sample("clinical-middle-calibrated", 200, random_state=3)
    post = bc.compare(y, s, draws=400, random_state=1).posterior
    distances = post._distances
    plain = post.problem.probability(distances.u)
    side = sureness(*distances.sides)
    score = post.problem.score
    expected = np.where(distances.sided[:, None], one_sided(plain, score, side), plain)
    np.testing.assert_array_equal(distances.observed, expected)
    assert (distances.observed != plain).any()
    assert 0 < distances.sided.mean() < 1
