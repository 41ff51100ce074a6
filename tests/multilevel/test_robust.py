"""Robust effects: levels that are like the others or unlike them, against exact sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import beta, norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.draws import levels_round
from bayescal.multilevel.problem import prepare_terms
from bayescal.multilevel.term import LIKE_SHARE
from free import given_free
from integrated import grid_of, log_integral, on_grid

SHAPES = 0.3, 2.7
"""Of the beta law of the share of unlike levels."""


def simulated(shifts, n, seed=1):
    rng = np.random.default_rng(seed)
    site = np.repeat([f"{k:02}" for k in range(len(shifts))], n)
    x = rng.normal(-1.3, 1.2, site.size)
    y = (rng.random(site.size) < expit(x + np.repeat(shifts, n))).astype(int)
    return y, expit(x), site


def fitted(y, s, site, vary="site", **options):
    data = bc.CalibrationData(y, s, site=site)
    return bc.fit(data, vary=vary, **{"curve": "logistic", "random_state": 1, **options})


@pytest.fixture(scope="module")
def one_unlike():
    return fitted(*simulated([1.6] + [0.0] * 11, 300), draws=1000)


def by_grid(site, centre, *population):
    """Log likelihood of a site, its shift and log slope integrated out on a grid."""
    grid, prior = grid_of(*population)
    return logsumexp(on_grid(site, centre, grid) + prior)


def test_the_density_sums_over_which_sites_are_unlike_and_over_their_share():
    y, s, site = simulated([1.5, 0.0, 0.2], 30)
    data = bc.CalibrationData(y, s, site=site)
    problem = prepare_terms(data, prior="neutral", curve="logistic", random_state=1)
    density, point, mean = EffectsDensity(problem), np.array([[0.2, 0.4, 0.3]]), [0.1, -0.1]
    ((scales,),), (correlation,) = density.heterogeneity(point)
    unlike = np.sqrt(np.array([1.0, 0.5]) ** 2 + 4 * scales**2)
    frame = problem.pooled.frame.centre
    centre = np.log(frame / (1 - frame))
    like, far = (
        np.array([by_grid(each.table, centre, mean, *law) for each in problem.groups.values()])
        for law in ((scales, correlation), (unlike, 0.0))
    )
    ratio = np.exp(far - like)
    shares = beta(*SHAPES)
    # in terms of the law's own quantiles, so that the pole at zero is no difficulty
    mixed, _ = quad(lambda q: np.prod(1 + shares.ppf(q) * (ratio - 1)), 0, 1, limit=200)
    expected = like.sum() + np.log(mixed)
    got = log_integral(density, point, np.array([mean]), repeats=100_000)
    assert got == pytest.approx(expected, abs=0.004)


@pytest.mark.slow
def test_probabilities_agree_with_exact_sums_of_a_tiny_case():
    """Three sites with curves that only shift: the average and the scale on a grid."""
    y, s, site = simulated([1.6, 0.0, -0.1], 60)
    post = given_free(fitted(y, s, site, curve="intercept", draws=8000))
    shift = np.linspace(-5, 5, 801)
    x = np.log(s / (1 - s))
    log_likelihood = []
    for label in post.labels:
        mine = site == label
        eta = x[mine] + shift[:, None]
        log_likelihood.append((y[mine] * log_expit(eta) + (1 - y[mine]) * log_expit(-eta)).sum(1))
    likelihood = [np.exp(each - each.max()) for each in log_likelihood]
    averages, scales = np.linspace(-2.5, 2.5, 81), np.geomspace(0.003, 3, 70)
    weights = norm.pdf(averages) * norm.pdf(0)
    of_scale = 2 * student.pdf(scales / 0.18, 3) / 0.18 * scales  # by the logarithm of the scale
    shares, total = beta(*SHAPES), 0.0
    grid = shares.ppf((np.arange(400) + 0.5) / 400)
    unlike, mean = np.zeros(3), 0.0
    for average, weight in zip(averages, weights, strict=True):
        for scale, law in zip(scales, of_scale, strict=True):
            like, far = (
                np.array([each @ norm.pdf(shift, average, sd) for each in likelihood])
                for sd in (max(scale, 0.0125), np.hypot(1, 2 * scale))
            )
            own = grid[:, None] * far / ((1 - grid[:, None]) * like + grid[:, None] * far)
            each = ((1 - grid[:, None]) * like + grid[:, None] * far).prod(axis=1) * weight * law
            total += each.sum()
            unlike += each @ own
            mean += each.sum() * average
    np.testing.assert_allclose(post.prob_unlike(), unlike / total, atol=0.02)
    assert post._drawn.average[:, 0].mean() == pytest.approx(mean / total, abs=0.02)


def test_an_outlying_site_is_named_and_does_not_move_the_others(one_unlike):
    prob = one_unlike.prob_unlike()
    assert prob["00"] > 0.9
    assert prob.drop("00").max() < 0.3
    assert list(one_unlike.unlike()) == ["00"]
    assert "unlike the others: 00 (" in repr(one_unlike)
    assert "before the data 0.1" in repr(one_unlike)
    np.testing.assert_array_equal(one_unlike.table()["prob_unlike"], prob)
    y, s, site = simulated([1.6] + [0.0] * 11, 300)
    normal = fitted(y, s, site, bc.by("site", robust=False), draws=1000)
    clear = one_unlike.new().prob_below(0.05)
    assert clear > normal.new().prob_below(0.05) + 0.15
    spread = one_unlike.heterogeneity.loc["shift", "median"]
    assert spread < 0.5 * normal.heterogeneity.loc["shift", "median"]
    assert "prob_unlike" not in normal.table()
    with pytest.raises(InputError, match="effects are normal"):
        normal.prob_unlike()


def test_of_few_sites_none_is_named():
    post = fitted(*simulated([1.5, 0.0, 0.1, 0.0], 300), draws=400)
    assert post.unlike() == {}
    assert "unlike" not in repr(post)


def test_other_labels_of_outcomes_and_another_order_of_sites_change_nothing(one_unlike):
    y, s, site = simulated([1.6] + [0.0] * 11, 300)
    swapped = fitted(1 - y, 1 - s, site, draws=1000)
    reverse = np.array([f"{11 - int(label):02}" for label in site])
    back = fitted(y, s, reverse, draws=1000)
    for prob in (swapped.prob_unlike(), back.prob_unlike().iloc[::-1]):
        np.testing.assert_allclose(prob.to_numpy(), one_unlike.prob_unlike(), atol=0.05)


def test_a_new_level_is_drawn_from_both(one_unlike):
    drawn = one_unlike._drawn
    size = 40_000
    at = np.zeros((size, 2))
    population = replace(
        drawn,
        average=at,
        scales=np.full((1, size, 2), 0.1),
        correlation=np.full(size, 0.5),
        share_unlike=np.full(size, 0.25),
    )
    levels, unlike = levels_round(population, "a new level")
    assert unlike.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_allclose(levels[~unlike].std(axis=0), 0.1, rtol=0.02)
    far = np.hypot([1.0, 0.5], 0.2)
    np.testing.assert_allclose(levels[unlike].std(axis=0), far, rtol=0.03)
    assert np.corrcoef(levels[unlike].T)[0, 1] == pytest.approx(0, abs=0.03)
    assert np.corrcoef(levels[~unlike].T)[0, 1] == pytest.approx(0.5, abs=0.02)


def test_effects_are_robust_where_a_term_stands_alone():
    y, s, site = simulated([0.0] * 3, 40)
    factors = {
        "sex": np.resize(["F", "M"], y.size),
        "age": np.resize(["old", "new", "old"], y.size),
    }
    options = {"curve": "logistic", "prior": "neutral", "random_state": 1}
    one = prepare_terms(bc.CalibrationData(y, s, site=site), "site", **options)
    two = prepare_terms(bc.CalibrationData(y, s, subgroup=factors), ["sex", "age"], **options)
    assert [term.robust for term in one.terms] == [True]
    assert [term.robust for term in two.terms] == [False, False]
    usual = bc.priors.Heterogeneity()
    assert one.heterogeneity == usual.scaled(LIKE_SHARE)
    given = prepare_terms(
        bc.CalibrationData(y, s, site=site), bc.by("site", prior={"shift": 0.4}), **options
    )
    assert given.heterogeneity == replace(usual.scaled(LIKE_SHARE), shift=0.4)


@pytest.mark.parametrize("robust", [0, 1, "yes"])
def test_robust_is_true_or_false(robust):
    with pytest.raises(InputError, match="robust must be True"):
        bc.by("site", robust=robust)


def test_a_site_twice_is_refused_whatever_its_effects():
    y, s, site = simulated([0.0] * 3, 40)
    with pytest.raises(InputError, match="twice"):
        fitted(y, s, site, [bc.by("site"), bc.by("site", robust=False)])
