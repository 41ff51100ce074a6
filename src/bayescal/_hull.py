"""The interval of a distance from calibration when calibration itself has some probability."""

from __future__ import annotations

from functools import partial

import numpy as np

from bayescal._validate import Floats

__all__ = ["hull"]


EXCESS = 2**0.5 / (2**0.5 - 1)


def hull(
    values: Floats, of_mean: Floats, atom: float, ci_prob: float, weight: Floats | None = None
) -> tuple[float, float]:
    """Interval of a distance whose posterior has an atom at zero.

    Its upper end is the quantile of the draws away from the atom. Its lower end is zero when the
    atom holds at least the lower tail; otherwise the lower quantile of the whole mixture, less
    the excess of the draws, and no lower than half of it.

    Parameters
    ----------
    values : ndarray of shape (draws,)
        The distance f(g) in the draws away from the atom.
    of_mean : ndarray of shape (draws,)
        The distance f(h) of their mean curve h, over the same draws of the population.
    atom : float in [0, 1]
        Probability of the atom.
    ci_prob : float in (0, 1)
    weight : ndarray of shape (draws,), optional
        Of each draw; equal by default.

    Returns
    -------
    lower, upper : float

    Notes
    -----
    Where the truth is on the diagonal, h is off it by chance, and g is off h by as much again.
    With normal errors of one size f(g) is on average sqrt(2) times f(h), so its excess over the
    truth is sqrt(2) / (sqrt(2) - 1) = 3.4 times its excess over f(h). Where the curve is far from
    the diagonal f(g) and f(h) agree, and nothing is taken off.
    """
    tail = (1 - ci_prob) / 2
    if values.size == 0:
        return 0.0, 0.0
    if weight is None:
        quantile = np.quantile
    else:
        quantile = partial(np.quantile, weights=weight, method="inverted_cdf")
    upper = float(quantile(values, 1 - tail))
    if atom >= tail:
        return 0.0, upper
    lower = float(quantile(values, (tail - atom) / (1 - atom)))
    excess = EXCESS * max(0.0, float(np.average(values - of_mean, weights=weight)))
    return max(lower - excess, lower / 2), upper
