"""Levels that may be unlike the others, alone and beside other terms."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, logit, logsumexp
from scipy.stats import beta, multivariate_normal, norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.draws import effects_of_prior, levels_round
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import prepare_terms
from bayescal.multilevel.sample import draw_effects
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
    with pytest.raises(InputError, match="are normal, so that no level"):
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


CELLS = list(product("FM", ["old", "young"]))
TERMS = ["sex", "age", bc.by("sex", "age", robust=True)]


def factors_of(cell):
    levels = np.array(CELLS)[cell]
    return {"sex": levels[:, 0], "age": levels[:, 1]}


def simulated_cells(shifts=(1.5, 0.0, 0.1, -0.1), n=60, seed=1, slope=1.0):
    """Four cells, of which the first has a slope of its own."""
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(4), n)
    x = rng.normal(-1.0, 1.0, cell.size)
    y = (
        rng.random(cell.size) < expit(np.where(cell == 0, slope, 1) * x + np.array(shifts)[cell])
    ).astype(int)
    return bc.CalibrationData(y, expit(x), subgroup=factors_of(cell)), y, x, cell


def prepared(data, vary=TERMS, curve="intercept", **options):
    return prepare_terms(data, vary, prior="neutral", curve=curve, random_state=1, **options)


@pytest.fixture(scope="module")
def one_bad():
    data, *_ = simulated_cells((1.7, 0.0, 0.1, -0.1), n=250)
    return bc.fit(data, vary=TERMS, curve="logistic", draws=1000, random_state=1)


def points_of(scale, finest):
    """Points of a half-t scale of 3 degrees, and the prior mass that each stands for.

    The first is so wide that grids resolve it, and has the mass of all that is narrower.
    """
    points = np.geomspace(finest, 4, 16)
    edges = np.concatenate([[0], np.sqrt(points[1:] * points[:-1]), [np.inf]])
    return points, 2 * np.diff(student.cdf(edges / scale, 3))


def joint_prior(z, step, spread, scale):
    """Mass at (z, z) of the average, of sd `spread`, plus the effects of both ages."""
    one, two, mass = z[:, None], z, 0.0
    for tau, weight in zip(*points_of(scale, 0.6 * step), strict=True):
        covariance = spread**2 + tau**2 * np.eye(2)
        each = np.stack(np.broadcast_arrays(one, two), axis=-1)
        mass = mass + weight * multivariate_normal([0, 0], covariance).pdf(each) * step**2
    return mass


def exact(y, x, cell, centre):
    """P(unlike) of each cell, log evidence, and mean and sd of the first cell's O/E, on grids.

    Curves have a shift and a slope, moved by the age and by the cell. Given the scales and z, the
    average plus the effect of an age, the cells are independent.
    """
    width, of_z, usual = (0.04, 0.04), (0.15, 0.12), (0.3, 0.15)
    shift, log_slope = np.arange(-5, 5, width[0]), np.arange(-2.5, 1.6, width[1])
    risk = [
        expit(centre + shift[:, None, None] + np.exp(log_slope)[:, None] * (x[cell == k] - centre))
        for k in range(4)
    ]
    log_likelihood = [
        np.log(np.where(y[cell == k] == 1, risk[k], 1 - risk[k])).sum(-1) for k in range(4)
    ]
    top = [each.max() for each in log_likelihood]
    likelihood = [np.exp(each - each.max()) for each in log_likelihood]
    ratio = risk[0].sum(-1) / expit(x[cell == 0]).sum()
    tables = np.array([*likelihood, likelihood[0] * ratio, likelihood[0] * ratio**2])
    z = np.arange(-2.5, 3, of_z[0]), np.arange(-1.8, 1.4, of_z[1])
    prior = [joint_prior(z[k], of_z[k], sd, usual[k]) for k, sd in enumerate((1.0, 0.5))]
    scales = [points_of(usual[k] * 0.5 * 0.6, 0.6 * width[k]) for k in range(2)]

    def smoothed(sd_shift, sd_slope):
        along = norm.pdf(shift, z[0][:, None], sd_shift) * width[0]
        across = norm.pdf(log_slope[:, None], z[1], sd_slope) * width[1]
        return along @ tables @ across

    sets = list(product([False, True], repeat=4))  # which of the cells are unlike
    total = np.zeros((3, len(sets)))  # sums of 1, the ratio and its square, for each of them
    for (one, of_one), (two, of_two) in product(*(zip(*each, strict=True) for each in scales)):
        like = smoothed(one, two)
        far = smoothed(np.hypot(1, 2 * one), np.hypot(0.5, 2 * two))
        for at, unlike in enumerate(sets):
            own = [far[k] if unlike[k] else like[k] for k in range(4)]
            young = prior[0] @ (own[1] * own[3]) @ prior[1].T
            first = (far if unlike[0] else like)[[0, 4, 5]]
            chance = 0.1 ** sum(unlike) * 0.9 ** (4 - sum(unlike))
            total[:, at] += of_one * of_two * chance * (first * own[2] * young).sum(axis=(1, 2))
    evidence, mean, square = total.sum(axis=1)
    mean, square = mean / evidence, square / evidence
    prob = total[0] @ np.array(sets) / evidence
    return prob, np.log(evidence) + sum(top), mean, np.sqrt(square - mean**2)


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "slope", "seed"), [(1.0, 0.8, 7), (0.8, 1.0, 6)])
def test_probabilities_evidence_and_the_cell_agree_with_exact_sums(shift, slope, seed):
    data, y, x, cell = simulated_cells((shift, 0.0, 0.0, -0.3), n=80, seed=seed, slope=slope)
    problem = prepared(data, ["age", bc.by("sex", "age", robust=True)], "logistic")
    centre = logit(problem.pooled.frame.centre)
    unlike, log_evidence, mean, sd = exact(y, x, cell, centre)
    drawn = draw_effects(problem, 32_000)
    assert list(problem.axes) == ["sex", "age"]
    order = [problem.cells.index(each) for each in CELLS]
    np.testing.assert_allclose(drawn.unlike[order].mean(axis=1), unlike, atol=0.01)
    assert drawn.stats["log_evidence"] == pytest.approx(log_evidence, abs=0.025)
    own, scores = drawn.groups[order[0]], x[cell == 0]
    curve = expit(centre + own[:, :1] + np.exp(own[:, 1:]) * (scores - centre))
    ratio = curve.sum(axis=1) / expit(scores).sum()
    assert ratio.mean() == pytest.approx(mean, abs=0.05 * sd)
    assert ratio.std() == pytest.approx(sd, rel=0.03)
    assert drawn.stats["pareto_k"] < 0.7
    assert drawn.stats["ess"] > 0.3 * drawn.size
    assert 0.2 < unlike[0] < 0.98  # neither is certain


def test_a_level_has_one_of_two_laws():
    data, *_ = simulated_cells()
    density = EffectsDensity(prepared(data))
    given = density.given(np.array([[0.2, 0.1, 0.4]]))
    (like,) = given.scales[2, :, 0]
    sd = given.precision[0, 0] ** -0.5
    np.testing.assert_allclose(sd, [like, np.hypot(1, 2 * like)])
    np.testing.assert_allclose(given.log_det, -2 * np.log(sd))


@pytest.mark.slow
def test_a_bad_cell_is_named_and_its_interval_is_its_own(one_bad):
    data, y, x, cell = simulated_cells((1.7, 0.0, 0.1, -0.1), n=250)
    normal = bc.fit(data, vary=["sex", "age", bc.by("sex", "age")], curve="logistic",
                    draws=1000, random_state=1)  # fmt: skip
    prob = one_bad.prob_unlike()
    assert prob.idxmax() == "F, old"
    assert prob["F, old"] > 0.6
    assert "unlike the others" not in repr(normal)
    bad = {"sex": "F", "age": "old"}
    raw = y[cell == 0].sum() / expit(x[cell == 0]).sum()
    off = [abs(post.at(bad).estimate("observed_expected") - raw) for post in (one_bad, normal)]
    assert off[0] < off[1]
    table = one_bad.table()["prob_unlike"]
    assert table.loc["sex x age", "F, old"] == prob["F, old"]
    assert table.loc["sex"].isna().all()
    assert "prob_unlike" not in normal.table()


@pytest.mark.slow
def test_the_pymc_model_has_the_sum_over_all_sets_of_unlike_cells():
    import pymc as pm

    data, *_ = simulated_cells(n=20)
    model = model_of_terms(prepared(data, curve="logistic"))
    log_ratio, told = pm.draw([model["log_ratio_unlike"], model["robust"]], 20, random_seed=1)
    assert log_ratio.shape == (20, 4)
    np.testing.assert_allclose(told, np.log(0.9 + 0.1 * np.exp(log_ratio)).sum(axis=1), rtol=1e-9)


def test_robust_effects_are_normal_by_default_and_can_be_of_one_factor():
    data, *_ = simulated_cells()
    assert not any(term.robust for term in prepared(data, ["sex", "age"]).terms)
    problem = prepared(data, [bc.by("sex", robust=True), "age"])
    assert [term.robust for term in problem.terms] == [True, False]
    assert problem.terms[0].prior.shift == pytest.approx(0.3 * 0.6)
    post = bc.fit(
        data, vary=[bc.by("sex", robust=True), "age"], curve="intercept", draws=400, random_state=1
    )
    assert list(post.prob_unlike().index) == ["F", "M"]


@pytest.mark.slow
def test_the_order_of_terms_and_labels_of_outcomes_do_not_matter():
    data, y, x, cell = simulated_cells(n=80)
    one = draw_effects(prepared(data), 8000)
    turned = draw_effects(prepared(data, TERMS[::-1]), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), turned.unlike.mean(axis=1), atol=0.03)
    other = bc.CalibrationData(1 - y, expit(-x), subgroup=factors_of(cell))
    mirrored = draw_effects(prepared(other), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), mirrored.unlike.mean(axis=1), atol=0.03)


def test_cells_of_prior_draws_are_unlike_independently():
    data, *_ = simulated_cells(n=5)
    drawn = effects_of_prior(prepared(data), 40_000, 4)
    np.testing.assert_allclose(drawn.unlike.mean(axis=1), 0.1, atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.unlike), 0.09 * np.eye(4), atol=0.005)
    far = drawn.effects[2][..., 0][drawn.unlike]
    like = np.broadcast_to(drawn.scales[2][:, 0], (4, 40_000))[drawn.unlike]
    assert np.mean(far**2) == pytest.approx(np.mean(1 + 4 * like**2), rel=0.1)
    near = drawn.effects[2][..., 0][~drawn.unlike]
    assert np.quantile(near, 0.9) < 0.5 * np.quantile(far, 0.9)


def test_a_next_level_is_drawn_from_both():
    data, *_ = simulated_cells(n=30)
    problem = prepared(data, ["sex", bc.by("age", robust=True)])
    drawn = effects_of_prior(problem, 40_000, 4)
    still = replace(drawn, average=0 * drawn.average, scales=1e-9 * drawn.scales)
    new = still.of_new_level("age")[:, 0]
    far = np.abs(new) > 1e-6
    assert far.mean() == pytest.approx(0.1, abs=0.01)
    assert new[far].std() == pytest.approx(1, rel=0.05)
    exact = replace(still, scales=0 * drawn.scales)
    assert not exact.of_new_level("age").any()


def test_robust_terms_that_no_engine_has_are_refused():
    data, *_ = simulated_cells(n=20)
    with pytest.raises(InputError, match="one term only"):
        prepared(data, [bc.by("sex", robust=True), bc.by("age", robust=True)])
    with pytest.raises(InputError, match="are normal, so that no level"):
        bc.fit(data, curve="intercept", draws=400, random_state=1).prob_unlike()
