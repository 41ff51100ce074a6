"""Draws that are spread evenly over what they will be read for. Arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats

__all__ = ["even_choice", "even_uniforms"]

FINENESS = (0.45, 0.85, 1.0)
"""Of the strips after each feature: their number is this power of the number of draws."""
TINY = 1e-300

GAPLESS_STEPS = (0.6180339887498949, 0.7548776662466927, 0.5698402909980532)
"""Steps of sequences that leave no gaps: the golden ratio, and a pair for two at once."""


def even_choice(
    features: Floats, weights: Floats, draws: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Indices of draws of equal weight, which keep the joint distribution of a few features.

    Systematic resampling along an order in which neighbours are alike: by the first feature in
    strips of equal weight, in each strip by the second, and so on. Strips are walked through by
    turns, up and down.

    Parameters
    ----------
    features : ndarray of shape (up to 3, points)
        The distribution of the first is kept best.
    weights : ndarray of shape (points,)
        Of each point; need not sum to 1.

    Returns
    -------
    ndarray of shape (draws,)
        In random order.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.sampling.even import even_choice
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(1, 4000))
    >>> chosen = even_choice(points, np.ones(4000), 400, rng)
    >>> bool(abs(points[0, chosen].mean() - points.mean()) < 0.01)
    True
    """
    position, share = np.zeros(weights.size), weights / weights.sum()
    for power, feature in zip(FINENESS, features, strict=False):
        strip = position.astype(np.intp)
        side = (feature - feature.min()) / (2 * max(np.ptp(feature), TINY))
        order = np.argsort(strip + np.where(strip & 1, 0.5 - side, side))
        strips = np.ceil(draws**power)
        position[order] = (np.cumsum(share[order]) - share[order] / 2) * strips
    cumulative = np.cumsum(share[order])
    steps = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    chosen = order[np.minimum(np.searchsorted(cumulative, steps), order.size - 1)]
    return rng.permutation(chosen)


def even_uniforms(group: NDArray[np.intp], rng: np.random.Generator, axis: int = 0) -> Floats:
    """Numbers in [0, 1), spread evenly in each group: each is uniform, together they leave no gaps.

    Neighbours of a group differ most, so that the numbers are also spread evenly over any run of
    neighbours in it.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
    axis : int
        Another for each number that the same draw takes.

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    Kuipers & Niederreiter (1974), Uniform distribution of sequences: multiples of irrational
    numbers, modulo 1.
    """
    numbers = np.empty(group.size)
    position = np.arange(group.size) * GAPLESS_STEPS[axis] + rng.random()
    numbers[np.argsort(group, kind="stable")] = position - np.floor(position)
    return numbers
