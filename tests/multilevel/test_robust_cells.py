"""Cells that are unlike the others, beside the effects of their factors: against exact sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.draws import effects_of_prior
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import prepare_terms
from bayescal.multilevel.sample import draw_effects

CELLS = list(product("FM", ["old", "young"]))
TERMS = ["sex", "age", bc.by("sex", "age", robust=True)]


def factors_of(cell):
    levels = np.array(CELLS)[cell]
    return {"sex": levels[:, 0], "age": levels[:, 1]}


def simulated(shifts=(1.5, 0.0, 0.1, -0.1), n=60, seed=1, slope=1.0):
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
    data, *_ = simulated((1.7, 0.0, 0.1, -0.1), n=250)
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
    data, y, x, cell = simulated((shift, 0.0, 0.0, -0.3), n=80, seed=seed, slope=slope)
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
    data, *_ = simulated()
    density = EffectsDensity(prepared(data))
    given = density.given(np.array([[0.2, 0.1, 0.4]]))
    (like,) = given.scales[2, :, 0]
    sd = given.precision[0, 0] ** -0.5
    np.testing.assert_allclose(sd, [like, np.hypot(1, 2 * like)])
    np.testing.assert_allclose(given.log_det, -2 * np.log(sd))


@pytest.mark.slow
def test_a_bad_cell_is_named_and_its_interval_is_its_own(one_bad):
    data, y, x, cell = simulated((1.7, 0.0, 0.1, -0.1), n=250)
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

    data, *_ = simulated(n=20)
    model = model_of_terms(prepared(data, curve="logistic"))
    log_ratio, told = pm.draw([model["log_ratio_unlike"], model["robust"]], 20, random_seed=1)
    assert log_ratio.shape == (20, 4)
    np.testing.assert_allclose(told, np.log(0.9 + 0.1 * np.exp(log_ratio)).sum(axis=1), rtol=1e-9)


def test_robust_effects_are_normal_by_default_and_can_be_of_one_factor():
    data, *_ = simulated()
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
    data, y, x, cell = simulated(n=80)
    one = draw_effects(prepared(data), 8000)
    turned = draw_effects(prepared(data, TERMS[::-1]), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), turned.unlike.mean(axis=1), atol=0.03)
    other = bc.CalibrationData(1 - y, expit(-x), subgroup=factors_of(cell))
    mirrored = draw_effects(prepared(other), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), mirrored.unlike.mean(axis=1), atol=0.03)


def test_cells_of_prior_draws_are_unlike_independently():
    data, *_ = simulated(n=5)
    drawn = effects_of_prior(prepared(data), 40_000, 4)
    np.testing.assert_allclose(drawn.unlike.mean(axis=1), 0.1, atol=0.01)
    np.testing.assert_allclose(np.cov(drawn.unlike), 0.09 * np.eye(4), atol=0.005)
    far = drawn.effects[2][..., 0][drawn.unlike]
    like = np.broadcast_to(drawn.scales[2][:, 0], (4, 40_000))[drawn.unlike]
    assert np.mean(far**2) == pytest.approx(np.mean(1 + 4 * like**2), rel=0.1)
    near = drawn.effects[2][..., 0][~drawn.unlike]
    assert np.quantile(near, 0.9) < 0.5 * np.quantile(far, 0.9)


def test_a_next_level_is_drawn_from_both():
    data, *_ = simulated(n=30)
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
    data, *_ = simulated(n=20)
    with pytest.raises(InputError, match="one term only"):
        prepared(data, [bc.by("sex", robust=True), bc.by("age", robust=True)])
    with pytest.raises(InputError, match="effects are normal"):
        bc.fit(data, curve="intercept", draws=400, random_state=1).prob_unlike()
