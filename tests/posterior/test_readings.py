"""The two readings of distances: they cannot contradict each other, nor the interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import (
    equal_tailed,
    lower_end,
    share_above,
    share_below,
    upper_end,
)

DISTANCES = tuple(name for name, functional in FUNCTIONALS.items() if functional.is_distance)
TRUTHS = (("clinical-middle-calibrated", 400), ("clinical-middle-overconfident", 600), ("D4", 150))


@pytest.fixture(scope="module", params=TRUTHS, ids=lambda case: case[0])
def cmp(request):
    name, n = request.param
    return bc.compare(*bc.simulate.sample(name, n, random_state=4), draws=2000, random_state=1)


# Ends and probabilities of the same draws

draws = st.lists(st.sampled_from([0.0, 0.01, 0.02, 0.05, 0.3]), min_size=1, max_size=60)


@given(draws, st.sampled_from([0.5, 0.8, 0.9, 0.95]), st.floats(0, 0.4))
def test_an_end_passes_a_limit_when_enough_draws_do(values, ci_prob, limit) -> None:
    values, enough = np.array(values), (1 + ci_prob) / 2 - 1e-9
    assert (upper_end(values, ci_prob) < limit) == (share_below(values, limit) >= enough)
    assert (lower_end(values, ci_prob) > limit) == (share_above(values, limit) >= enough)
    assert lower_end(values, ci_prob) <= upper_end(values, ci_prob)


# What they must be to each other


def test_only_distances_have_two_readings(cmp) -> None:
    assert set(DISTANCES) == {"tce", "ici", "e50", "e90", "emax"}
    with pytest.raises(InputError, match="reading='lower' is for the posterior of distances"):
        cmp.posterior.functional("calibration_slope", reading="lower")
    with pytest.raises(InputError, match="no lower reading"):
        bc.fit(cmp.data, random_state=0).tce(reading="lower")
    assert cmp.posterior.interval("calibration_slope") == equal_tailed(
        cmp.posterior.functional("calibration_slope").to_numpy(), 0.95
    )


@pytest.mark.parametrize("name", DISTANCES)
def test_verdicts_agree_with_the_interval_at_any_limit(cmp, name) -> None:
    post = cmp.posterior
    for ci_prob in (0.8, 0.95):
        lower, upper = post.interval(name, ci_prob)
        assert 0 <= lower <= upper
        for limit in (0.001, 0.01, 0.03, 0.06, 0.1, lower, upper):
            below, above = post.prob_below(limit, name), post.prob_above(limit, name)
            assert below + above <= 1
            assert (below >= (1 + ci_prob) / 2 - 1e-9) == (upper < limit)
            assert (above >= (1 + ci_prob) / 2 - 1e-9) == (lower > limit)


def test_ends_rise_with_p_and_levels_are_nested(cmp) -> None:
    post = cmp.posterior
    by_p = np.array([post.interval("tce", p=p) for p in (1, 1.5, 2, 4, np.inf)])
    assert (np.diff(by_p, axis=0) >= -1e-12).all()
    by_level = np.array([post.interval("tce", level) for level in (0.5, 0.8, 0.95, 0.99)])
    assert (np.diff(by_level, axis=0) * [-1, 1] >= 0).all()
    e50, e90, largest = (post.interval(name) for name in ("e50", "e90", "emax"))
    assert e50[0] <= e90[0] <= largest[0]


@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_the_lower_reading_is_zero_where_every_draw_is_calibrated(cmp, population) -> None:
    post = cmp.posterior
    lower = post.tce(population=population, reading="lower").to_numpy().ravel()
    by_cell = post.tree["lower_reading"]["cell_shift"].to_numpy().reshape(lower.size, -1)
    slopes = post.tree["lower_reading"]["cell_slope"].to_numpy().reshape(lower.size, -1)
    calibrated = ~(by_cell.any(axis=1) | slopes.any(axis=1))
    assert (lower[calibrated] == 0).all()
    odds = (1 - cmp.prior_prob["identity"]) / cmp.prior_prob["identity"]
    factor = np.exp(cmp._samples.often_calibrated.log_evidence - cmp.log_evidence["identity"])
    assert calibrated.mean() == pytest.approx(1 / (1 + odds * factor), abs=1e-3)


def test_prob_on_diagonal_is_that_of_the_lower_reading(cmp) -> None:
    prob = cmp.posterior.prob_on_diagonal([0.2, 0.5]).to_numpy()
    assert ((prob >= 0) & (prob <= 1)).all()
    u = cmp.posterior._lower
    on = (u.curve(np.array([0.2, 0.5])) == [0.2, 0.5]).mean(axis=0)
    np.testing.assert_allclose(prob, on)


# What they are for


def test_a_calibrated_bulk_is_not_counted_as_error() -> None:
    """Chance off the diagonal adds to |g - s| there; the lower reading does not count it."""
    rng = np.random.default_rng(5)
    x = rng.normal(-0.5, 1.3, 6000)
    y = rng.random(6000) < expit(np.where(x > 1.2, x - 1.2, x))
    post = bc.compare(y, expit(x), draws=2000, random_state=1).posterior
    truth = np.mean(np.abs(expit(np.where(x > 1.2, x - 1.2, x)) - expit(x)))
    lower, upper = post.interval("tce")
    assert lower <= truth <= upper
    assert lower > truth / 3
    assert post.prob_above(1.25 * truth) < 0.975
    on = post.prob_on_diagonal([0.3, 0.9]).to_numpy()
    assert on[0] > 0.5
    assert on[1] < 0.05


def test_the_estimate_lies_in_the_interval_and_is_that_of_the_mean_curve(cmp) -> None:
    post = cmp.posterior
    score, weight = cmp.problem.score, cmp.problem.trials / cmp.problem.n
    mean = post.curve(score).mean(("chain", "draw")).to_numpy()
    lower, upper = post.interval("tce", population="sample")
    expected = np.clip(weight @ np.abs(mean - score), lower, upper)
    assert post.estimate("tce", population="sample") == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_a_saved_average_gives_the_same_ends(cmp, tmp_path) -> None:
    cmp.posterior.to_netcdf(tmp_path / "average.nc")
    back = bc.load(tmp_path / "average.nc")
    for name in DISTANCES:
        assert back.interval(name) == cmp.posterior.interval(name)
    assert back.prob_above(0.02) == cmp.posterior.prob_above(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_another_seed_moves_the_ends_by_little(cmp, seed) -> None:
    one = np.array(bc.compare(cmp.data, random_state=1).posterior.interval("tce"))
    other = np.array(bc.compare(cmp.data, random_state=seed).posterior.interval("tce"))
    assert np.abs(one - other).max() < 0.05 * np.ptp(one)


def test_what_curves_were_asked_for_does_not_move_the_lower_end(cmp) -> None:
    few = bc.compare(cmp.data, curves=("logistic",), draws=2000, random_state=1).posterior
    assert few.interval("tce")[0] == cmp.posterior.interval("tce")[0]
