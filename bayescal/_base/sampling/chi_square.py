"""How far a Student-t draw is stretched: the chi-square of its scale, from a table."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr

from bayescal._base.arrays import Floats

__all__ = ["FARTHEST_NORMAL", "student_stretch"]

FARTHEST_NORMAL = 7.2
STEPS_OF_ONE = 200


def student_stretch(normal: Floats, degrees: int) -> Floats:
    """What turns standard normal draws into Student-t draws: 1 / sqrt(chi-square / degrees).

    The chi-square has the probability level of `normal`. Its logarithm is interpolated in a table,
    with a relative error below 1e-6.

    Parameters
    ----------
    normal : ndarray of shape (n,)
        Standard normal draws, independent of those that are stretched; read as 7.2 beyond it.
    degrees : int
        Degrees of freedom, at least 4.

    Returns
    -------
    ndarray of shape (n,)
        Decreasing in `normal`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.sampling.chi_square import student_stretch
    >>> student_stretch(np.array([-1.0, 0.0, 1.0]), 4).round(4)
    array([1.6805, 1.0916, 0.7786])
    """
    log_stretch = _table(degrees)
    position = np.clip((normal + FARTHEST_NORMAL) * STEPS_OF_ONE, 0, log_stretch.size - 1)
    below = np.minimum(position.astype(np.intp), log_stretch.size - 2)
    share = position - below
    return np.asarray(np.exp(log_stretch[below] * (1 - share) + log_stretch[below + 1] * share))


@cache
def _table(degrees: int) -> Floats:
    """Logarithm of the stretch at evenly spaced normal draws, from -7.2 to 7.2."""
    ends = int(FARTHEST_NORMAL * STEPS_OF_ONE)
    at = np.arange(-ends, ends + 1) / STEPS_OF_ONE
    half = degrees / 2
    below, above = gammaincinv(half, ndtr(at[at < 0])), gammainccinv(half, ndtr(-at[at >= 0]))
    return -np.log(np.concatenate([below, above]) / half) / 2
