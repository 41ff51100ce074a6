"""Sites integrated out given the scales and the average, against brute force; laws of scales."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logsumexp

import bayescal as bc
from bayescal.multilevel.density import EffectsDensity
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
