"""Gaussian kernel regression of outcomes on a line, with mirrors at 0 and 1 or without."""

from __future__ import annotations

import math

import numpy as np

from bayescal._base.arrays import Floats, blocks

__all__ = ["local_mean", "local_means"]

TOGETHER = 1 / 128
"""Bandwidths within which cases are put together."""
LOCAL_REACH = 8.0
LOCAL_FLAT = 3.0
"""Bandwidth at which a kernel between mirrors at 0 and 1 is constant, to rounding."""
LOCAL_BLOCK = 1 << 20


def local_mean(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, *, mirrors: bool
) -> tuple[Floats, Floats]:
    """Mean outcome around each point, and the density there.

    Weights sum to one. Kernels are compared with the largest of each point, so that the mean is
    defined however far away the cases are.

    Parameters
    ----------
    position, outcomes, weights : ndarray of shape (n_samples,)
    at : ndarray of shape (points,)
    mirrors : bool
        Whether mass is reflected at 0 and 1.

    Returns
    -------
    mean, density : ndarray of shape (points,)
    """
    mean, density = _sums(position, outcomes, weights[None], at, sigma, mirrors)
    return mean[0], density[0]


def local_means(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, *, mirrors: bool
) -> Floats:
    """Mean outcome around each point for many weightings of the cases.

    Parameters
    ----------
    position, outcomes : ndarray of shape (n_samples,)
    weights : ndarray of shape (replicates, n_samples)
        Each row has a positive weight.

    Returns
    -------
    ndarray of shape (replicates, points)
    """
    mean, _ = _sums(position, outcomes, weights, at, sigma, mirrors)
    for row in np.flatnonzero(np.isnan(mean).any(axis=1)):  # its nearest cases have no weight
        mean[row] = local_mean(position, outcomes, weights[row], at, sigma, mirrors=mirrors)[0]
    return mean


def _sums(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, mirrors: bool
) -> tuple[Floats, Floats]:
    """Mean and density, of shape (replicates, points); NaN where no weight is in reach."""
    sigma = min(sigma, LOCAL_FLAT) if mirrors else sigma
    centre, mass, hits = _gathered(position, outcomes, weights, sigma * TOGETHER)
    if mirrors:
        turns = range(-math.ceil(LOCAL_REACH * sigma), math.ceil(LOCAL_REACH * sigma) + 1)
        images = np.concatenate([2 * turn + side * centre for turn in turns for side in (1, -1)])
        near = np.flatnonzero(
            (images >= -LOCAL_REACH * sigma) & (images <= 1 + LOCAL_REACH * sigma)
        )
        row = near % centre.size
        centre, mass, hits = images[near], mass[:, row], hits[:, row]
    mean, density = np.empty((2, len(weights), at.size))
    for part in blocks(at.size, centre.size, LOCAL_BLOCK):
        exponent = -0.5 * ((at[part, None] - centre) / sigma) ** 2
        largest = exponent.max(axis=1)
        kernel = np.exp(exponent - largest[:, None])
        total = mass @ kernel.T
        mean[:, part] = hits @ kernel.T / np.where(total > 0, total, np.nan)
        density[:, part] = total * np.exp(largest) / (sigma * math.sqrt(2 * math.pi))
    return mean, density


def _gathered(
    position: Floats, outcomes: Floats, weights: Floats, width: float
) -> tuple[Floats, Floats, Floats]:
    """Mean position, and weight and weighted outcome of each replicate, in cells.

    Events and the others are in cells of their own.
    """
    counted = weights.any(axis=0)
    position, outcomes, weights = position[counted], outcomes[counted], weights[:, counted]
    cell = 2 * np.floor(position / width) + outcomes
    _, row = np.unique(cell, return_inverse=True)
    mass, hits, moment = (
        np.array([np.bincount(row, weight * each) for weight in weights], dtype=np.float64)
        for each in (1.0, outcomes, position)
    )
    return moment.sum(axis=0) / mass.sum(axis=0), mass, hits
