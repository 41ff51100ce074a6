"""Gaussian kernel regression of outcomes on a line, with mirrors at 0 and 1 or without."""

from __future__ import annotations

import math

import numpy as np

from bayescal._base.arrays import Floats, blocks

__all__ = ["local_mean"]

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
    sigma : float
    mirrors : bool
        Whether mass is reflected at 0 and 1.

    Returns
    -------
    mean, density : ndarray of shape (points,)
    """
    sigma = min(sigma, LOCAL_FLAT) if mirrors else sigma
    centre, mass, hits = _gathered(position, outcomes, weights, sigma * TOGETHER)
    if mirrors:
        turns = range(-math.ceil(LOCAL_REACH * sigma), math.ceil(LOCAL_REACH * sigma) + 1)
        images = np.concatenate([2 * turn + side * centre for turn in turns for side in (1, -1)])
        near = np.flatnonzero(
            (images >= -LOCAL_REACH * sigma) & (images <= 1 + LOCAL_REACH * sigma)
        )
        row = near % centre.size
        centre, mass, hits = images[near], mass[row], hits[row]
    mean, density = np.empty(at.size), np.empty(at.size)
    for part in blocks(at.size, centre.size, LOCAL_BLOCK):
        exponent = -0.5 * ((at[part, None] - centre) / sigma) ** 2
        largest = exponent.max(axis=1)
        kernel = np.exp(exponent - largest[:, None])
        total = kernel @ mass
        mean[part] = kernel @ hits / total
        density[part] = total * np.exp(largest) / (sigma * math.sqrt(2 * math.pi))
    return mean, density


def _gathered(
    position: Floats, outcomes: Floats, weights: Floats, width: float
) -> tuple[Floats, Floats, Floats]:
    """Mean position, weight and weighted outcome of the events, and of the others, in each cell."""
    counted = weights > 0
    position, outcomes, weights = position[counted], outcomes[counted], weights[counted]
    cell = 2 * np.floor(position / width) + outcomes
    _, row = np.unique(cell, return_inverse=True)
    mass, hits, moment = (
        np.bincount(row, weights * each).astype(np.float64) for each in (1.0, outcomes, position)
    )
    return moment / mass, mass, hits
