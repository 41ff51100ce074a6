"""Intervals of observed proportions."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from bayescal._base.arrays import Floats

__all__ = ["jeffreys"]


def jeffreys(trials: Floats, hits: Floats, ci_prob: float) -> tuple[Floats, Floats]:
    """Jeffreys interval of a binomial proportion.

    Parameters
    ----------
    trials, hits : ndarray of shape (bins,)
        Cases and events.

    Returns
    -------
    lower, upper : ndarray of shape (bins,)
        0, or 1, where no case, or every case, had the event; so 0 to 1 where there is no case.

    References
    ----------
    Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical
    Science 16, section 4.3.
    """
    tail = (1 - ci_prob) / 2
    a, b = hits + 0.5, trials - hits + 0.5
    lower = np.where(hits > 0, betaincinv(a, b, tail), 0.0)
    upper = np.where(hits < trials, betaincinv(a, b, 1 - tail), 1.0)
    return lower, upper
