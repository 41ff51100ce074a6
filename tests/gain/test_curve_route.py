"""The interval of the fall in TCE where one side may be exactly calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.gain._curve_route import Posterior, exact_sides


def mapped(score):
    return expit(0.3 + 0.7 * logit(score))


def test_it_holds_the_interval_of_each_case_that_is_more_probable_than_a_tail():
    rng = np.random.default_rng(1)
    exact = np.repeat([0, 1, 2], [850, 100, 50])
    fall = rng.normal([0.0, -1.0, 1.0], 0.01, (1000, 3))[np.arange(1000), exact]
    posterior = Posterior({"tce": fall, "brier": fall}, exact=exact)
    ends = [np.quantile(fall[exact == which], [0.025, 0.975]) for which in (1, 2)]
    assert posterior.interval("tce", 0.025) == (ends[0][0], ends[1][1])
    assert posterior.interval("brier", 0.025) == tuple(np.quantile(fall, [0.025, 0.975]))
    wide = posterior.interval("tce", 0.06)
    assert wide[0] < -0.9
    assert wide[1] < 0.1


def test_draws_without_an_exact_side_have_the_quantiles():
    fall = np.random.default_rng(1).normal(size=1000)
    for exact in (None, np.zeros(1000, dtype=int)):
        posterior = Posterior({"tce": fall}, exact=exact)
        assert posterior.interval("tce", 0.1) == tuple(np.quantile(fall, [0.1, 0.9]))


def test_levels_are_nested_and_hold_the_quantiles():
    y, s = bc.simulate.sample("calibrated", 150, random_state=3)
    gain = bc.recalibration_gain(y, s, mapped(s), random_state=1)
    draws = gain.draws["tce"].to_numpy().ravel()
    before = (-np.inf, np.inf)
    for level in (0.99, 0.95, 0.8, 0.5, 0.1):
        lower, upper = gain.interval("tce", level)
        assert before[0] <= lower <= np.quantile(draws, (1 - level) / 2)
        assert before[1] >= upper >= np.quantile(draws, (1 + level) / 2)
        before = lower, upper


def test_both_names_of_an_event_have_one_fall():
    y, s = bc.simulate.sample("calibrated", 150, random_state=3)
    one = bc.recalibration_gain(y, s, mapped(s), random_state=1)
    other = bc.recalibration_gain(1 - y, 1 - s, 1 - mapped(s), random_state=1)
    np.testing.assert_allclose(one.interval("tce"), other.interval("tce"), atol=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["before", "after"])
def test_it_covers_the_fall_where_a_side_is_exactly_calibrated(side):
    rng = np.random.default_rng(5)
    of_many = expit(rng.normal(-1, 1.2, 200_000))
    moved = np.abs(of_many - mapped(of_many)).mean()
    fall, covered = moved if side == "after" else -moved, []
    for seed in range(40):
        s = expit(rng.normal(-1, 1.2, 100))
        y = rng.random(100) < (mapped(s) if side == "after" else s)
        gain = bc.recalibration_gain(y.astype(int), s, mapped, draws=1000, random_state=seed)
        lower, upper = gain.interval("tce")
        covered.append(lower <= fall <= upper)
    assert np.mean(covered) >= 0.95 - 2 * (0.95 * 0.05 / 40) ** 0.5


def test_the_side_is_that_of_the_draw():
    class Side:
        def __init__(self, *exact: bool) -> None:
            self.exact = np.array(exact)

    assert exact_sides((Side(0, 1, 0, 1), Side(0, 0, 1, 1))).tolist() == [0, 1, 2, 1]
