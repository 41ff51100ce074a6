"""Distances of what surely lies off the diagonal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.posterior.functionals import CurveDraws, e50, e90, emax, tce
from bayescal.posterior.one_sided import lower_distance, one_sided, sure_side
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


@given(seed=st.integers(0, 1000), shift=st.floats(-0.15, 0.15))
def test_never_above_the_distance_and_ordered_as_it_is(seed, shift):
    draws = drawn(seed, shift)
    side = sure_side(draws.error)
    lower = {name: lower_distance(distance, draws, side) for name, distance in DISTANCES.items()}
    for name, distance in DISTANCES.items():
        assert (lower[name] <= distance(draws) + 1e-12).all()
        assert (lower[name] >= 0).all()
    assert (lower["tce"] <= lower["tce2"] + 1e-12).all()
    assert (lower["tce2"] <= lower["emax"] + 1e-12).all()
    assert (lower["e50"] <= lower["e90"] + 1e-12).all()
    stricter = sure_side(draws.error, 0.95)
    assert (np.abs(stricter) <= np.abs(side)).all()
    assert (lower_distance(tce, draws, stricter) <= lower["tce"] + 1e-12).all()


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_it_is_the_distance_where_every_side_is_sure(distance):
    draws = drawn(0)
    above = CurveDraws(draws.population.score + 0.05 + 0 * draws.curve, draws.population)
    np.testing.assert_allclose(
        lower_distance(distance, above, sure_side(above.error)), distance(above)
    )


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_it_is_zero_where_no_side_is(distance):
    draws = drawn(0)
    assert not lower_distance(distance, draws, np.zeros(30)).any()


def test_relabelling_turns_the_side():
    draws = drawn(1)
    np.testing.assert_array_equal(sure_side(-draws.error), -sure_side(draws.error))
    score, side = draws.population.score, sure_side(draws.error)
    np.testing.assert_allclose(
        one_sided(1 - draws.curve, 1 - score, -side), 1 - one_sided(draws.curve, score, side)
    )


def test_chance_on_the_diagonal_adds_nothing():
    """A wrong tail beside a calibrated bulk: the distance is too large, its sure part is not."""
    rng = np.random.default_rng(0)
    score = np.round(rng.beta(2, 3, 4000), 2).clip(0.01, 0.99)
    truth = np.where(score > 0.6, score - 0.15, score)
    post = bc.fit(rng.random(4000) < truth, score, curve="pieces", random_state=0)
    curve = post.curve().to_numpy().reshape(-1, post.data.score.size)
    weight = post.data.trials / post.data.n
    draws = CurveDraws(curve, Population(post.data.score, weight, post.data.trials))
    side = sure_side(draws.error)
    assert (side[post.data.score > 0.7] == -1).all()
    assert not side[post.data.score < 0.4].any()
    exact = np.abs(truth - score).mean()
    assert np.mean(lower_distance(tce, draws, side)) < np.mean(tce(draws))
    assert np.quantile(lower_distance(tce, draws, side), 0.025) < exact
