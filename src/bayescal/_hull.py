"""The interval of a distance from calibration when calibration itself has some probability."""

from __future__ import annotations

from functools import partial

import numpy as np

from bayescal._validate import Floats

__all__ = ["hull"]


def hull(
    values: Floats, reflected: Floats, atom: float, ci_prob: float, weight: Floats | None = None
) -> tuple[float, float]:
    """Interval of a distance whose posterior has an atom at zero.

    Its upper end is the quantile of the draws away from the atom. Its lower end is zero when the
    atom holds at least the lower tail; otherwise the lower quantile of the whole mixture, or that
    of the reflected mixture where it is lower.

    Parameters
    ----------
    values : ndarray of shape (draws,)
        The distance in the draws away from the atom.
    reflected : ndarray of shape (draws,)
        The same draws reflected about the distance of the posterior mean curve.
    atom : float in [0, 1]
        Probability of the atom.
    ci_prob : float in (0, 1)
    weight : ndarray of shape (draws,), optional
        Of each draw; equal by default.

    Returns
    -------
    lower, upper : float
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
    below = (tail - atom) / (1 - atom)
    lower = min(quantile(values, below), quantile(reflected, below))
    return max(0.0, float(lower)), upper
