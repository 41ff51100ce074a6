"""Points that fill the unit cube evenly: a randomly shifted lattice, folded at its middle."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from bayescal._base.arrays import Floats

__all__ = ["lattice_points", "normal_points"]

# fmt: off
GENERATORS = (
    1, 18123, 34733, 31311, 14157, 18537, 18783, 33959, 58927, 16005, 50395, 35389, 27991,
    30775, 59713, 15631, 23677, 61765, 45905, 21323, 32905, 37747, 55417, 64139, 38553, 9689,
    29149, 21033, 32669, 33799, 1213, 10469, 11375, 54693, 54239, 24315, 4243, 13815, 2071,
    49173,
)
# fmt: on
"""Steps of the lattice along each axis.

Chosen one after the other, each from 200 random odd numbers, to be good for 2^7 to 2^17 points at
once: the largest ratio of its worst-case error to the best one of that size is the smallest, in the
Korobov space of smoothness 2 with weight 0.03 for every axis.
"""

KEPT_AXES = 64
"""Axes of normal points that are kept: those of the families of one average."""

NEAREST_TO_ENDS = 1e-12
"""Of the probabilities at which normal points are read."""


def lattice_points(power: int, d: int, rng: np.random.Generator) -> Floats:
    """Evenly spread points in the unit cube, of shape (2^power, d).

    A lattice of rank 1 with a random shift, folded by x -> 1 - |2x - 1|. Every point is uniform by
    itself, so averages over the points are unbiased; together they leave no gaps, so averages of
    smooth functions have far smaller errors than those over independent points. Axes beyond the
    fortieth are spread evenly, and paired with the others at random.

    Returns
    -------
    ndarray of shape (2^power, d)
        In [0, 1].

    References
    ----------
    Cools, Kuo & Nuyens (2006), Constructing embedded lattice rules for multivariate integration,
    SIAM Journal on Scientific Computing 28. Hickernell (2002), Obtaining O(N^-2+e) convergence for
    lattice quadrature rules: the fold.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.sampling.points import lattice_points
    >>> points = lattice_points(12, 3, np.random.default_rng(0))
    >>> bool(abs((points**2).mean() - 1 / 3) < 1e-6)
    True
    """
    size = 1 << power
    points = np.empty((size, d))
    for axis in range(d):
        of_lattice = axis < len(GENERATORS)
        points[:, axis] = _lattice(power, axis) if of_lattice else rng.permutation(size) / size
    points += rng.random(d)
    points -= np.floor(points)
    return np.asarray(1 - np.abs(2 * points - 1))


def normal_points(power: int, d: int, rng: np.random.Generator) -> Floats:
    """Standard normal quantiles of `lattice_points`, of shape (2^power, d).

    Families of curves that are drawn from one stream of random numbers have equal axes, each of
    which is worked out once.
    """
    if d > len(GENERATORS):
        return _normal(lattice_points(power, d, rng))
    shifts = rng.random(d).tolist()
    return np.stack([_normal_axis(power, *each) for each in enumerate(shifts)]).T


@lru_cache(KEPT_AXES)
def _normal_axis(power: int, axis: int, shift: float) -> Floats:
    """One axis of normal points, of shape (2^power,), which is not to be written to."""
    points = _lattice(power, axis) + shift
    points -= np.floor(points)
    return _normal(1 - np.abs(2 * points - 1))


@lru_cache(KEPT_AXES)
def _lattice(power: int, axis: int) -> Floats:
    """An axis of the lattice before its shift, which is not to be written to."""
    size = 1 << power
    return np.asarray((np.arange(size) * GENERATORS[axis] & (size - 1)) / size)  # the remainder


def _normal(uniform: Floats) -> Floats:
    return np.asarray(ndtri(np.clip(uniform, NEAREST_TO_ENDS, 1 - NEAREST_TO_ENDS)))
