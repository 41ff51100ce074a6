"""Draws that are spread evenly over what they will be read for. Arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from bayescal._base.arrays import Floats

__all__ = ["EVEN_POINTS", "even_choice", "even_points", "even_uniforms"]

EVEN_POINTS = 4
"""Points that `even_points` spreads round one centre."""

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


def even_uniforms(order: NDArray[np.intp], rng: np.random.Generator, axis: int = 0) -> Floats:
    """Numbers in [0, 1), spread evenly in each group: each is uniform, together they leave no gaps.

    Neighbours of a group differ most, so that the numbers are also spread evenly over any run of
    neighbours in it.

    Parameters
    ----------
    order : ndarray of int of shape (n,)
        In which those of one group stand together: that of `by_group`.
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
    numbers = np.empty(order.size)
    position = np.arange(order.size) * GAPLESS_STEPS[axis] + rng.random()
    numbers[order] = position - np.floor(position)
    return numbers


def even_points(shape: tuple[int, int, int], degrees: float, rng: np.random.Generator) -> Floats:
    """Student-t points in one or two dimensions, spread evenly round zero.

    Each has the law by itself, and those of one set balance, so that the mean of a function over
    the set varies little: two are near and two far, each pair on opposite sides.

    Parameters
    ----------
    shape : tuple of int
        Of the sets: L, r and n.
    degrees : float
        Degrees of freedom; infinite for normal points.

    Returns
    -------
    ndarray of shape (L, r, n, 4)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.sampling.even import even_points
    >>> points = even_points((1, 2, 1000), np.inf, np.random.default_rng(0))
    >>> bool(np.allclose(points.mean(axis=-1), 0)), round(float(points.std()), 1)
    (True, 1.0)
    """
    size, r, n = shape
    points = np.empty((*shape, EVEN_POINTS))
    turn, share = rng.random((2, size, n))
    if r == 1:
        inner, outer = (1 + share / 2) / 2, (1 - share) / 4 + TINY
        near, far = _student_quantile(inner, degrees), -_student_quantile(outer, degrees)
        points[:, 0] = np.stack([near, -near, far, -far], axis=-1)
        return points
    near, far = (_radius(beyond, degrees) for beyond in (1 - share / 2, (1 - share) / 2 + TINY))
    x, y = np.cos(np.pi * turn), np.sin(np.pi * turn)
    points[:, 0] = np.stack([near * x, -near * x, -far * y, far * y], axis=-1)
    points[:, 1] = np.stack([near * y, -near * y, far * x, -far * x], axis=-1)
    return points


def _student_quantile(below: Floats, degrees: float) -> Floats:
    """Quantiles of a Student-t or of the normal law."""
    return np.asarray(ndtri(below) if np.isinf(degrees) else stdtrit(degrees, below))


def _radius(beyond: Floats, degrees: float) -> Floats:
    """Distances from zero in the plane beyond which the law has this probability."""
    if np.isinf(degrees):
        return np.asarray(np.sqrt(-2 * np.log(beyond)))
    return np.asarray(np.sqrt(degrees * np.expm1(-2 / degrees * np.log(beyond))))
