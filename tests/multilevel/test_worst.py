"""The worst of several curves is the one furthest from calibration: sites, periods, subgroups."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.compared import off_by, shares_of_worst

RATIOS = {"A": 0.47, "B": 1.14, "C": 0.95}
"""Raw O/E of three hospitals."""


@pytest.fixture(scope="module")
def cases():
    """Hospitals of 600 patients with these raw O/E, half of them women."""
    score = np.tile(np.linspace(0.1, 0.6, 600), 3)
    hospital, outcome = np.repeat(list(RATIOS), 600), np.zeros(score.size, dtype=int)
    rng, share = np.random.default_rng(0), score[:600] / score[:600].sum()
    for at, ratio in enumerate(RATIOS.values()):
        events = round(ratio * score[:600].sum())
        outcome[600 * at + rng.choice(600, events, replace=False, p=share)] = 1
    return outcome, score, hospital, np.tile(["F", "M"], 900)


@pytest.fixture(scope="module")
def posteriors(cases):
    outcome, score, hospital, sex = cases
    options = {"curve": "logistic", "draws": 1000, "random_state": 0}
    sites = bc.fit(outcome, score, site=hospital, **options)
    crossed = bc.fit(outcome, score, subgroup={"hospital": hospital, "sex": sex}, **options)
    periods = bc.fit(outcome, score, period=pd.Categorical(hospital, ordered=True), **options)
    return sites, crossed, periods


def worst_of(post, name, side):
    of = ("hospital",) if len(post.levels) > 1 else ()
    return post.prob_worst(*of, name=name, side=side)


def test_sites_periods_and_subgroups_name_the_same_worst(posteriors):
    for post, least in zip(posteriors, (0.7, 0.7, 0.5), strict=True):
        for side, worst in (("both", "A"), ("above", "B"), ("below", "A")):
            shares = worst_of(post, "observed_expected", side)
            assert shares.sum() == pytest.approx(1)
            assert shares.idxmax() == worst
            assert shares[worst] > least  # one change cannot explain three periods like these
        assert worst_of(post, "observed_expected", "both")["A"] > 0.99
    sites, crossed, periods = posteriors
    names = [worst_of(post, "tce", "both").index.name for post in (sites, periods, crossed)]
    assert names == ["site", "period", "hospital"]


def test_any_above_counts_the_distance_from_the_ideal_value(posteriors):
    for post in posteriors:
        ratio = "observed_expected"
        assert post.prob_any_above(0.3, ratio) > 0.99  # hospital A is .5 below 1
        assert post.prob_any_above(0.3, ratio, side="below") > 0.99
        assert post.prob_any_above(0.3, ratio, side="above") < 0.05
        assert post.prob_any_above(0.9, ratio) < 0.01
        assert post.prob_any_above(0.05, side="above") == post.prob_any_above(0.05)
    for post in (posteriors[0], posteriors[2]):
        drawn = post.functional(ratio).to_numpy().reshape(-1, 3)
        assert post.prob_any_above(0.1, ratio) == (np.abs(drawn - 1) > 0.1).any(axis=1).mean()
        assert post.prob_any_above(0.1, ratio, side="above") == (drawn > 1.1).any(axis=1).mean()


def test_a_side_that_makes_no_sense_is_refused(posteriors):
    for post in posteriors:
        with pytest.raises(InputError, match="side='below' was given for 'tce', which is a dist"):
            post.prob_any_above(0.1, side="below")
        with pytest.raises(InputError, match="side must be one of 'above', 'below', 'both'"):
            worst_of(post, "observed_expected", "left")
        with pytest.raises(InputError, match="name must be one of"):
            post.prob_any_above(0.1, "mae")


def test_the_distance_the_shares_and_the_limit():
    values = np.array([[0.4, 1.1], [1.3, 0.9], [1.6, 1.1]])
    off = off_by(values, "observed_expected")
    np.testing.assert_allclose(off, [[0.6, 0.1], [0.3, 0.1], [0.6, 0.1]])
    np.testing.assert_allclose(off_by(values, "observed_expected", "below"), 1 - values)
    np.testing.assert_allclose(off_by(values, "observed_expected", "above"), values - 1)
    equal = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 3.0], [0.0, 1.0, 3.0]])
    np.testing.assert_allclose(shares_of_worst(equal), [4 / 9, 5 / 18, 5 / 18])
