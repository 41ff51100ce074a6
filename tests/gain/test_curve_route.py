"""The gain of a map: a function of the draws of one fit."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc


def mapped(score):
    return expit(0.3 + 0.7 * logit(score))


def flat(values):
    return values.to_numpy().ravel()


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 400, random_state=3)


def test_it_is_read_from_the_draws_of_the_fit(cases):
    """The same curves and weights as those of the averaged posterior, by hand.

    Of a map that is far off, so that no curve near the predictions after explains the outcomes.
    """
    y, s = cases
    after = expit(3 + logit(s))
    gain = bc.recalibration_gain(y, s, after, thresholds=[0.3], draws=400, random_state=1)
    post = bc.compare(y, s, draws=400, random_state=1).posterior
    (curves,) = post.tables
    at = post.data.score
    g = post.problem.curves_at(at).probability(curves.distances.u)
    exact = flat(post.exact)
    np.testing.assert_allclose(g[exact], np.broadcast_to(at, g[exact].shape))
    drawn = {name: flat(gain.draws[name]) for name in ("tce", "brier")}
    weight, moved = post.data.trials / post.data.n, expit(3 + logit(at))
    brier = ((g - at) ** 2 - (g - moved) ** 2) @ weight
    tce = (np.abs(g - at) - np.abs(g - moved)) @ weight
    for name, by_hand in (("brier", brier), ("tce", tce)):
        assert np.corrcoef(drawn[name], by_hand)[0, 1] > 0.8  # patients are resampled beside it
        assert drawn[name].mean() == pytest.approx(by_hand.mean(), abs=3e-3)


def test_predictions_before_and_after_are_hypotheses_alike(cases):
    """Exchanged they lose what they gained; and a map that is right leaves no error."""
    y, s = cases
    after = expit(-0.4 + 0.6 * logit(s))
    there = bc.recalibration_gain(y, s, after, draws=2000, random_state=1)
    back = bc.recalibration_gain(y, after, s, draws=2000, random_state=2)
    for name in ("tce", "brier"):
        ends = np.array([gain.interval(name) for gain in (there, back)])
        np.testing.assert_allclose(ends[0], -ends[1, ::-1], atol=0.1 * np.ptp(ends[0]))
    assert there.interval("tce")[1] > 0.95 * np.mean(np.abs(s - after))


def test_the_identity_map_gains_exactly_nothing(cases):
    y, s = cases
    for after in (s, s.copy(), lambda p: p, lambda p: p * 1.0):
        gain = bc.recalibration_gain(y, s, after, thresholds=[0.2], draws=400, random_state=1)
        assert not any(flat(values).any() for values in gain.draws.values())


@pytest.mark.parametrize("slope", [-0.5, 0.1])
def test_a_map_that_turns_a_reversed_or_shallow_model_round_gains_what_it_gains(slope):
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1.3, 1000)
    y = (rng.random(1000) < expit(slope * x)).astype(int)
    gain = bc.recalibration_gain(
        y, expit(x), lambda s: expit(slope * logit(s)), draws=1000, random_state=1
    )
    many = rng.normal(0, 1.3, 200_000)
    truth = np.mean((expit(slope * many) - expit(many)) ** 2)
    lower, upper = gain.interval("brier")
    assert lower <= truth <= upper
    assert gain.summary().loc["brier", "estimate"] == pytest.approx(truth, rel=0.25)


def test_levels_are_nested_and_are_the_quantiles(cases):
    gain = bc.recalibration_gain(*cases, mapped(cases[1]), draws=400, random_state=1)
    draws = flat(gain.draws["tce"])
    for level in (0.99, 0.8, 0.1):
        ends = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
        assert gain.interval("tce", level) == tuple(ends)


def test_both_names_of_an_event_have_one_fall(cases):
    y, s = cases
    one = bc.recalibration_gain(y, s, mapped(s), random_state=1)
    other = bc.recalibration_gain(1 - y, 1 - s, 1 - mapped(s), random_state=1)
    np.testing.assert_allclose(one.interval("tce"), other.interval("tce"), atol=0.01)


def test_two_patients_of_twelve_do_not_decide():
    y = np.array([1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0])
    before = np.linspace(0.2, 0.8, 12)
    after = before.copy()
    after[0], after[1] = 0.9, 0.95  # no map: it turns round, and both patients gain
    after[[2, 3]] = before[[3, 2]]
    gain = bc.recalibration_gain(y, before, after, route="paired", random_state=1)
    only = before.copy()
    only[:2] = 0.9, 0.95
    two = bc.recalibration_gain(y, before, only, route="paired", random_state=1)
    assert 0.8 < two.prob_improved < 0.97
    assert gain.prob_improved < 0.99


def test_many_who_differ_decide_as_the_bootstrap_does(cases):
    y, s = cases
    gain = bc.recalibration_gain(y, s, mapped(s), route="paired", draws=2000, random_state=1)
    worth = (s - y) ** 2 - (mapped(s) - y) ** 2
    drawn = np.random.default_rng(0).dirichlet(np.ones(y.size), 4000) @ worth
    assert gain.prob_improved == pytest.approx((drawn > 0).mean(), abs=0.03)
    ends = np.quantile(drawn, [0.025, 0.975])
    np.testing.assert_allclose(gain.interval("brier"), ends, atol=0.08 * np.ptp(ends))
