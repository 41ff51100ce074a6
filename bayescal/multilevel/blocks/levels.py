"""All effects drawn round a peak: the smaller terms, then the largest level by level given them.

The integral over the effects of each level of the largest term is estimated without bias by a few
proposals, spread evenly round its mode, and one of them is its draw. The product of the estimates
weights the draw of all levels together, as in a random-weight particle filter (Fearnhead,
Papaspiliopoulos & Roberts, 2008), and its variance grows slowly with the number of levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayescal.core.arrays import Floats
from bayescal.core.sampling import even_points, student_stretch
from bayescal.multilevel.blocks.density import (
    EffectsDensity,
    Eliminated,
    Given,
    Peaks,
)
from bayescal.multilevel.blocks.layout import sums_of
from bayescal.multilevel.blocks.triangular import solve_upper

__all__ = ["LEVEL_SETS", "draw_effects_at", "integrals_of_levels"]

LEVEL_SETS = 4
"""Sets of so many proposals, where the integral over the effects of a level is a number we need."""
DEGREES = 4
"""Degrees of freedom of the proposals of the rest, for each of its dimensions."""
LEAST_DEGREES = 5
"""Least degrees of freedom of the proposals of levels, of which many levels need more."""


def draw_effects_at(
    density: EffectsDensity, peaks: Peaks, chosen: NDArray[np.intp], rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """One draw of all effects round each of the chosen peaks.

    Returns
    -------
    levels : ndarray of shape (L, n, r)
        Effects of the largest term.
    rest : ndarray of shape (n, R)
    log_weight : ndarray of shape (n,)
        Log of an unbiased estimate of the density of the rest, the levels integrated out, over that
        of its proposal and over Laplace's integral.
    """
    given = peaks.given.at(chosen)
    off, log_proposed = _proposed_rest(peaks.information.root[chosen], rng)
    rest = peaks.rest[chosen] + off
    log_weight = density.log_prior_of_rest(given, rest) - log_proposed - peaks.log_integral[chosen]
    if density.layout.inner is None:
        log_weight += density.log_likelihood(given, peaks.levels[..., chosen], rest).sum(axis=0)
        return np.zeros((0, len(chosen), len(density.varying))), rest, log_weight
    levels, log_proposed = _proposed_levels(peaks, chosen, off, rng)
    log_ratio = _log_density_of_levels(density, given, levels, rest) - log_proposed
    log_integral, drawn = _one_of(levels, log_ratio, rng)
    return drawn, rest, log_weight + log_integral.sum(axis=0)


def integrals_of_levels(
    density: EffectsDensity, given: Given, start: Floats, rest: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Log integral (L, n) over the effects of each level given the rest, and a draw (L, n, r).

    Parameters
    ----------
    start : ndarray of shape (L, n, r)
        Effects from which the modes are looked for.
    """
    centre, factor = density.peaks_of_levels(given, start.transpose(0, 2, 1), rest)
    shape, degrees = centre.shape, max(LEAST_DEGREES, len(centre))
    sets = [even_points(shape, degrees, rng) for _ in range(LEVEL_SETS)]
    levels, log_density = _spread_round(centre, factor, np.concatenate(sets, axis=-1), degrees)
    log_ratio = _log_density_of_levels(density, given, levels, rest) - log_density
    return _one_of(levels, log_ratio, rng)


def _one_of(levels: Floats, log_ratio: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Log mean of the ratios (L, n, K) of each level, and one of its proposals (L, r, n, K)."""
    largest = log_ratio.max(axis=-1, keepdims=True)
    ladder = np.exp(log_ratio - largest).cumsum(axis=-1)
    log_mean = np.log(ladder[..., -1] / log_ratio.shape[-1]) + largest[..., 0]
    limit = rng.random(ladder.shape[:2]) * ladder[..., -1]
    kept = (ladder < limit[..., None]).sum(axis=-1)
    drawn = np.take_along_axis(levels, kept[:, None, :, None], axis=-1)[..., 0]
    return log_mean, drawn.transpose(0, 2, 1)


def _proposed_rest(root: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Student-t proposals (n, R) off their peaks, and their log density (n,)."""
    n, size = root.shape[:2]
    degrees = DEGREES * size
    standard = rng.standard_normal((n, size))
    standard *= student_stretch(np.asarray(rng.standard_normal(n)), degrees)[:, None]
    off = solve_upper(root, standard)
    log_density = log_student(np.vecdot(standard, standard), size, degrees)
    return off, log_density + np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)


def _proposed_levels(
    peaks: Peaks, chosen: NDArray[np.intp], off: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Proposals (L, r, n, K) of the levels round their modes given the rest, and log densities.

    The modes are those of the quadratic at the peak, where the rest is `off` it.
    """
    assert isinstance(peaks.information, Eliminated)  # a walk alone has no levels to draw
    information = peaks.information.at(chosen)
    factor = information.factor
    size, r, n = len(factor), factor.shape[1], len(chosen)
    degrees = max(LEAST_DEGREES, size)
    standard = even_points((size, r, n), degrees, rng)
    pulled = information.pulled(off)
    return _spread_round(peaks.levels[..., chosen], factor, standard, degrees, pulled)


def _spread_round(
    centre: Floats,
    factor: Floats,
    standard: Floats,
    degrees: int,
    pulled: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Student-t points (L, r, n, K) round centres (L, r, n) less F times `pulled`, and log density.

    Parameters
    ----------
    factor : ndarray of shape (L, r, r, n)
        Lower factors F of the points' covariances.
    standard : ndarray of shape (L, r, n, K)
        Points at a scale of one.
    """
    r = standard.shape[1]
    log_density = log_student((standard**2).sum(axis=1), r, degrees)
    log_density -= np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=-1)[..., None]
    if pulled is not None:
        standard = standard - pulled[..., None]
    levels = np.repeat(centre[..., None], standard.shape[-1], axis=-1)
    for i in range(r):
        for k in range(i + 1):
            levels[:, i] += factor[:, i, k, :, None] * standard[:, k]
    return levels, log_density


def log_student(squared: Floats, size: int, degrees: int) -> Floats:
    """Log density of a Student-t law in `size` dimensions at squared distances from its centre."""
    half = (degrees + size) / 2
    constant = gammaln(half) - gammaln(degrees / 2) - size / 2 * np.log(degrees * np.pi)
    return np.asarray(constant - half * np.log1p(squared / degrees))


def _log_density_of_levels(
    density: EffectsDensity, given: Given, levels: Floats, rest: Floats
) -> Floats:
    """Log of prior times likelihood of each level, (L, n, K), at effects (L, r, n, K)."""
    size, r, n, count = levels.shape
    repeated = np.repeat(np.arange(n), count)
    given, flat = given.at(repeated), levels.reshape(size, r, n * count)
    value = sums_of(density.layout.of_level, density.log_likelihood(given, flat, rest[repeated]))
    return (value + density.log_prior_of_levels(given, flat)).reshape(size, n, count)
