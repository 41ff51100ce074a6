"""The engine of several curves: density and likelihood."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logsumexp

import bayescal as bc
from bayescal.inference.density import CurveDensity
from bayescal.model.rows import every_row
from bayescal.multilevel import problem as problems
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.layout import covariance_factor, products
from bayescal.multilevel.problem import prepare_terms
from integrated import grid_of, log_integral, on_grid, standard_of


def sites(sizes, mean=-1.0, seed=3, events=None):
    """Cases of several sites; in one of `events` every outcome is that number."""
    rng = np.random.default_rng(seed)
    label = np.repeat([f"site {k}" for k in range(len(sizes))], sizes)
    x = rng.normal(mean, 1.2, label.size)
    y = (rng.random(label.size) < expit(0.9 * x + 0.3)).astype(int)
    for name, value in (events or {}).items():
        y[label == name] = value
    return bc.CalibrationData(y, expit(x), site=label)


def by_brute_force(problem, *population):
    """Log likelihood of the sites at one population, on a grid of every site's shift and slope."""
    (grid, prior), frame = grid_of(*population), problem.pooled.frame
    centre = np.log(frame.centre / (1 - frame.centre))
    each = [on_grid(site.table, centre, grid) for site in problem.groups.values()]
    return sum(logsumexp(values + prior) for values in each)


@pytest.mark.parametrize("population", [(0.1, -0.1, 0.3, 0.15, 0.4), (-0.5, 0.3, 0.8, 0.5, -0.6)])
@pytest.mark.parametrize(
    "data",
    [
        sites([40, 25, 60]),
        sites([30, 20, 50], events={"site 1": 0}),
        sites([10, 12, 30], events={"site 0": 1, "site 1": 0}),
        sites([1] * 12),
    ],
    ids=["usual", "no event", "one class", "one patient"],
)
def test_the_curves_of_sites_are_integrated_out(data, population):
    vary, options = bc.by("site", robust=False), {"curve": "logistic", "random_state": 1}
    problem = prepare_terms(data, vary, prior="neutral", **options)
    density = EffectsDensity(problem)
    mean, wanted, correlation = np.array([population[:2]]), population[2:4], population[4]
    point = np.array([standard_of(problem, wanted, correlation)])
    (scales,), (correlation,) = (each[..., 0, :] if each.ndim > 1 else each
                                 for each in density.heterogeneity(point))  # fmt: skip
    np.testing.assert_allclose([*scales, correlation], population[2:], rtol=1e-3)
    expected = by_brute_force(problem, mean[0], scales, correlation)
    assert log_integral(density, point, mean) == pytest.approx(expected, abs=0.008)


def test_scales_follow_the_half_t_law():
    from scipy.stats import t

    prior = bc.priors.Heterogeneity(shift=0.4, nu=5)
    drawn = prior.scales(np.random.default_rng(1).standard_normal((200_000, 1)), ["shift"])[:, 0]
    for share in (0.1, 0.5, 0.9):
        expected = 0.4 * t(5).ppf((1 + share) / 2)
        assert np.mean(drawn < expected) == pytest.approx(share, abs=0.004)


def test_correlations_follow_their_law():
    """Of eta = 2 the density is 3/4 (1 - r^2), and P(r < x) = 1/2 + 3/4 x - x^3 / 4."""
    prior = bc.priors.Heterogeneity()
    drawn = prior.correlations(np.random.default_rng(1).standard_normal(200_000))
    for x in (-0.5, 0.0, 0.6):
        assert np.mean(drawn < x) == pytest.approx(0.5 + 0.75 * x - x**3 / 4, abs=0.004)


def test_far_points_have_finite_scales():
    prior = bc.priors.Heterogeneity()
    far = np.array([[-40.0, 40.0], [8.3, 9.0]])
    assert np.isfinite(prior.scales(far, ("shift", "log_slope"))).all()
    assert np.isfinite(prior.correlations(far[:, 1])).all()


def problem_of(sizes, curve="logistic", known=None, seed=3):
    rng = np.random.default_rng(seed)
    site = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(-1, 1.2, site.size)
    shift, slope = rng.normal(0.2, 0.4, len(sizes)), np.exp(rng.normal(-0.1, 0.2, len(sizes)))
    y = rng.random(site.size) < expit(shift[site] + slope[site] * x)
    data = bc.CalibrationData(y, expit(x), site=np.array([f"site {k:03d}" for k in site]))
    return prepare_terms(data, prior="neutral", curve=curve, known=known, random_state=1)


def points_near(density, n=12):
    return 0.3 * np.random.default_rng(5).standard_normal((n, density.size))


def all_rows(monkeypatch, problem):
    """The same density, summed over every row of every site."""

    with monkeypatch.context() as patch:
        patch.setattr(problems, "rows_of_sites", lambda groups: list(map(every_row, groups)))
        return EffectsDensity(replace(problem))


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_the_evidence_is_that_of_every_row(monkeypatch, curve):
    problem = problem_of([150, 30, 700, 8, 300, 90], curve)
    density, exact = EffectsDensity(problem), all_rows(monkeypatch, problem)
    at = points_near(density)
    assert max(part.width for part in density.parts) < max(part.width for part in exact.parts) / 4
    np.testing.assert_allclose(density(at), exact(at), atol=1e-5)


def test_sites_are_what_they_are_alone():
    """A batch of sites, of several numbers of nodes and known by summaries, in any blocks."""
    known = pd.DataFrame({"site": ["other"], "observed": [30], "expected": [25.0], "n": [200]})
    problem = problem_of([150, 30, 700, 8, 300], known=known)
    density = EffectsDensity(problem)
    numbers = np.concatenate([part.numbers for part in density.parts])
    assert sorted(numbers) == list(range(6))
    u = 0.3 * np.random.default_rng(2).standard_normal((6, len(density.names), 7))
    together = density.told(u)
    for part in density.parts:
        _, gradient, information = part.told(u[part.numbers], density.moved)
        np.testing.assert_array_equal(together.gradient[part.numbers], gradient)
        np.testing.assert_array_equal(together.information[part.numbers], information)
    for label, site in problem.tables.items():
        number = problem.labels.index(label)
        alone = CurveDensity(site, rows=every_row(site)).log_likelihood(u[number].T)
        np.testing.assert_allclose(together.value[number], alone, atol=5e-3, err_msg=label)


@pytest.mark.parametrize("curve", ["temperature", "beta"])
def test_derivatives_of_sites(curve):
    (part, *_) = EffectsDensity(problem_of([60, 90], curve)).parts
    u = 0.2 * np.random.default_rng(1).standard_normal((part.size, part.curve.size, 3))
    _, gradient, information = part.told(u)
    assert information.shape == (part.size, u.shape[1], u.shape[1], 3)
    for k in range(u.shape[1]):
        step = np.zeros(u.shape)
        step[:, k] = 1e-5
        slope = (part.log_likelihood(u + step) - part.log_likelihood(u - step)) / 2e-5
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(information, information.swapaxes(1, 2))


@pytest.mark.parametrize("r", [1, 2])
def test_small_matrices_in_closed_form(r):
    rng = np.random.default_rng(1)
    half = rng.standard_normal((5, r, r, 3))
    last = np.moveaxis(half, -1, 1)
    matrices = last @ last.swapaxes(-1, -2) + 0.1 * np.eye(r)
    vectors = rng.standard_normal((5, 3, r))
    m, v = np.moveaxis(matrices, 1, -1), np.moveaxis(vectors, 1, -1)
    times = (matrices @ vectors[..., None])[..., 0]
    np.testing.assert_allclose(np.moveaxis(products(m, v), -1, 1), times)
    factor = np.linalg.cholesky(np.linalg.inv(matrices))
    np.testing.assert_allclose(np.moveaxis(covariance_factor(m), -1, 1), factor, rtol=1e-9)
