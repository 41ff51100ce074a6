"""The levels of a term integrated out by the engine at given scales and a given average."""

import numpy as np
from scipy.special import log_expit, logsumexp
from scipy.stats import multivariate_normal

from bayescal.multilevel.density import Peak
from bayescal.multilevel.layout import times
from bayescal.multilevel.sample import levels_given_rest


def standard_of(problem, scales, correlation=None):
    """The point of the engine at these scales of one term."""
    standard, prior = np.linspace(-8, 8, 160_001), problem.heterogeneity
    both = prior.scales(np.column_stack([standard] * len(scales)), problem.varying)
    curves = [*both.T] + ([] if correlation is None else [prior.correlations(standard)])
    wanted = [*scales] + ([] if correlation is None else [correlation])
    return [standard[np.searchsorted(curve, x)] for curve, x in zip(curves, wanted, strict=True)]


def log_integral(density, point, rest, repeats=20_000):
    """Log likelihood of all groups, levels integrated out: the mean of unbiased estimates.

    `point` and `rest` have one row.
    """
    given = density.given(point)
    levels = np.zeros((density.layout.levels, len(density.varying), density.laws))
    for _ in range(20):
        at = density.expansion(given, levels, rest, density.told)
        levels = levels + np.clip(times(at.factor, at.slope[0]), -1, 1)
    peak = Peak(at, levels, rest, np.zeros(1))
    none, every = np.zeros(repeats, np.intp), np.repeat(rest, repeats, axis=0)
    total = levels_given_rest(density, peak, none, every, np.random.default_rng(1))[1]
    prior = density.log_prior_of_rest(given, rest)[0]
    return logsumexp(total) - np.log(repeats) - prior


def grid_of(mean, scales, correlation):
    """Shifts and log slopes, and the logarithm of their probabilities under a spread of sites."""
    off = scales[0] * scales[1] * correlation
    law = multivariate_normal(mean, [[scales[0] ** 2, off], [off, scales[1] ** 2]])
    axes = [np.linspace(m - 8 * sd, m + 8 * sd, 241) for m, sd in zip(mean, scales, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    cell = np.log(axes[0][1] - axes[0][0]) + np.log(axes[1][1] - axes[1][0])
    return grid, law.logpdf(grid) + cell


def on_grid(site, centre, grid):
    """Log likelihood of a site's table at each shift and log slope."""
    value = np.zeros(len(grid))
    for score, trials, hits in zip(site.score, site.trials, site.hits, strict=True):
        at = np.log(score / (1 - score)) - centre
        eta = centre + grid[:, 0] + np.exp(grid[:, 1]) * at
        value += hits * log_expit(eta) + (trials - hits) * log_expit(-eta)
    return value
