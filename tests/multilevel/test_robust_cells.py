"""One cell that is unlike the others, beside the effects of its factors: against exact sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.sample import draw_effects
from bayescal.multilevel.draws import effects_of_prior
from bayescal.multilevel.problem import prepare_terms

CELLS = list(product("FM", ["old", "young"]))
TERMS = ["sex", "age", bc.by("sex", "age", robust=True)]
ODDS = 1 / 9


def factors_of(cell):
    levels = np.array(CELLS)[cell]
    return {"sex": levels[:, 0], "age": levels[:, 1]}


def simulated(shifts=(1.5, 0.0, 0.1, -0.1), n=60, seed=1):
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(4), n)
    x = rng.normal(-1.0, 1.0, cell.size)
    y = (rng.random(cell.size) < expit(x + np.array(shifts)[cell])).astype(int)
    return bc.CalibrationData(y, expit(x), factors=factors_of(cell)), y, x, cell


def prepared(data, vary=TERMS, curve="intercept", **options):
    return prepare_terms(data, vary, prior="neutral", curve=curve, random_state=1, **options)


@pytest.fixture(scope="module")
def one_bad():
    data, *_ = simulated((1.7, 0.0, 0.1, -0.1), n=250)
    return bc.fit(data, vary=TERMS, curve="logistic", draws=1000, random_state=1)


def over(each):
    """Product over cells: the first age is along the first axis."""
    return (each[0] * each[2])[:, None] * (each[1] * each[3])[None]


def exact(y, x, cell):
    """P(unlike) of each cell, means of both ages, and the log evidence, on a grid.

    Curves only shift, by an effect of age and one of the cell. Given both scales and z, the average
    plus the effect of an age, the cells are independent.
    """
    shift = np.linspace(-7, 7, 1401)
    width = shift[1] - shift[0]
    log_likelihood = np.array(
        [
            log_expit(np.where(y[cell == k] == 1, 1, -1) * (x[cell == k] + shift[:, None])).sum(1)
            for k in range(4)
        ]
    )
    top = log_likelihood.max(axis=1)
    likelihood = np.exp(log_likelihood - top[:, None])
    z = np.linspace(-2.5, 2.5, 51)
    scales = np.geomspace(0.004, 4, 45)
    step, of_z = np.log(scales[1] / scales[0]), z[1] - z[0]

    def half_t(scale):
        return 2 * student.pdf(scales / scale, 3) / scale * scales * step

    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1)
    of_ages = sum(
        weight * multivariate_normal([0, 0], 1 + tau**2 * np.eye(2)).pdf(grid)
        for tau, weight in zip(scales, half_t(0.3), strict=True)
    )
    total, unlike, mean = 0.0, np.zeros(4), np.zeros(2)
    for tau, weight in zip(scales, half_t(0.3 * 0.5 * 0.6), strict=True):
        like, far = (
            likelihood @ norm.pdf(shift[:, None], z, sd) * width
            for sd in (max(tau, 0.012), np.hypot(1, 2 * tau))
        )
        one = [np.where(np.arange(4)[:, None] == k, far, like) for k in range(4)]
        configurations = [over(like), *(ODDS * over(each) for each in one)]
        each = np.array(configurations) * of_ages * weight * of_z**2 / (1 + 4 * ODDS)
        total += each.sum()
        unlike += each[1:].sum(axis=(1, 2))
        mean += [(each.sum(axis=0) * grid[..., k]).sum() for k in range(2)]
    return unlike / total, mean / total, np.log(total) + top.sum()


def test_probabilities_and_evidence_agree_with_exact_sums():
    data, y, x, cell = simulated()
    problem = prepared(data, ["age", bc.by("sex", "age", robust=True)])
    drawn = draw_effects(problem, 8000)
    unlike, mean, log_evidence = exact(y, x, cell)
    assert list(problem.axes) == ["sex", "age"]
    order = [problem.cells.index(each) for each in CELLS]
    np.testing.assert_allclose(drawn.unlike[order].mean(axis=1), unlike, atol=0.02)
    ages = drawn.average[:, 0] + drawn.effects[0][:, :, 0]
    np.testing.assert_allclose(ages.mean(axis=1), mean, atol=0.03)
    assert drawn.stats["log_evidence"] == pytest.approx(log_evidence, abs=0.1)
    assert drawn.stats["pareto_k"] < 0.7
    assert 0.2 < unlike[0] < 0.98  # neither is certain


def test_with_one_unlike_the_density_is_that_of_its_own_scale():
    """Where the robust scale equals the like one, nothing changes."""
    data, *_ = simulated()
    problem = prepared(data)
    point = np.array([[0.2, 0.1, 60.0]])  # the scale of cells is the largest there is
    density = EffectsDensity(problem)
    given = density.given(point)
    spread = density.with_unlike(2).spread(given)[:, 0, 0]
    (like,) = given.scales[2, :, 0]
    np.testing.assert_allclose(spread[[0, 1, 3]], like)
    assert spread[2] == pytest.approx(np.hypot(1, 2 * like))
    assert density.with_unlike(2)(point)[0] != pytest.approx(density(point)[0], abs=1e-3)


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
    table = one_bad.subgroups["prob_unlike"]
    assert table.loc["sex x age", "F, old"] == prob["F, old"]
    assert table.loc["sex"].isna().all()
    assert "prob_unlike" not in normal.subgroups


def test_stored_and_read_back(one_bad, tmp_path):
    one_bad.to_netcdf(tmp_path / "post.nc")
    again = bc.load(tmp_path / "post.nc")
    assert again.vary == one_bad.vary == (bc.by("sex"), bc.by("age"), TERMS[2])
    np.testing.assert_array_equal(again.prob_unlike(), one_bad.prob_unlike())


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


def test_the_order_of_terms_and_labels_of_outcomes_do_not_matter():
    data, y, x, cell = simulated(n=80)
    one = draw_effects(prepared(data), 8000)
    turned = draw_effects(prepared(data, TERMS[::-1]), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), turned.unlike.mean(axis=1), atol=0.03)
    other = bc.CalibrationData(1 - y, expit(-x), factors=factors_of(cell))
    mirrored = draw_effects(prepared(other), 8000)
    np.testing.assert_allclose(one.unlike.mean(axis=1), mirrored.unlike.mean(axis=1), atol=0.03)


def test_prior_draws_have_at_most_one_unlike_cell():
    data, *_ = simulated(n=5)
    drawn = effects_of_prior(prepared(data), 20_000, 4)
    assert drawn.unlike.sum(axis=0).max() == 1
    np.testing.assert_allclose(drawn.unlike.mean(axis=1), ODDS / (1 + 4 * ODDS), atol=0.01)
    far = drawn.effects[2][..., 0][drawn.unlike]
    like = drawn.scales[2][np.flatnonzero(drawn.unlike.any(axis=0)), 0]
    assert np.mean(far**2) == pytest.approx(np.mean(1 + 4 * like**2), rel=0.1)


def test_a_next_level_is_drawn_from_both():
    data, *_ = simulated(n=30)
    problem = prepared(data, ["sex", bc.by("age", robust=True)])
    drawn = effects_of_prior(problem, 40_000, 4)
    still = replace(drawn, average=0 * drawn.average, scales=0 * drawn.scales)
    new = still.of_new_level("age")[:, 0]
    share = ODDS / (1 + 2 * ODDS)
    assert np.mean(new != 0) == pytest.approx(share, abs=0.01)
    assert new[new != 0].std() == pytest.approx(1, rel=0.05)


def test_robust_terms_that_no_engine_has_are_refused():
    data, *_ = simulated(n=20)
    with pytest.raises(InputError, match="one term only"):
        prepared(data, [bc.by("sex", robust=True), bc.by("age", robust=True)])
    with pytest.raises(InputError, match="effects are normal"):
        bc.fit(data, curve="intercept", draws=400, random_state=1).prob_unlike()
    rng = np.random.default_rng(1)
    s = rng.random(1200)
    many = bc.CalibrationData(
        (rng.random(1200) < s).astype(int), s,
        factors={"sex": np.resize(["F", "M"], 1200), "ward": np.repeat(np.arange(120), 10)},
    )  # fmt: skip
    with pytest.raises(InputError, match="at most 100"):
        prepared(many, ["sex", bc.by("ward", robust=True)])
