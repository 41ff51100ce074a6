"""Two readings of the fall in calibration error, one for each end of its interval.

Where a prediction is calibrated its distance |curve - score| is still above zero in every draw,
since no draw is exactly on the diagonal. Each end of the interval therefore reads one of the two
distances in a way that chance does not inflate: signed, and only where the side is known.

This is not the rule of `posterior.one_sided`, which takes a side as sure from .8 and leaves out,
score by score, what a draw has on the other side. Its draws are of curves that lie exactly on the
diagonal where the data allow it; those of a gain are of smooth families, which never do, so that
some are left on a wrong side. With that rule 95 % intervals covered .88 instead of .93 of known
gains by the curve (80 data sets of 200 patients, maps that calibrate exactly), and .85 instead of
.93 by pairs (40 data sets).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["Readings", "known_side", "signed_distance"]

GAIN_SURE = 0.9


class Readings(NamedTuple):
    """Draws for the ends of the interval, and the point estimate.

    Attributes
    ----------
    low : ndarray of shape (draws,)
        Signed distance before, less the distance after.
    high : ndarray of shape (draws,)
        Distance before, less the signed distance after.
    least, most : ndarray of shape (draws,)
        No map changes the error by more than it moves the scores: -E_w|before - after| and
        E_w|before - after|. Infinite where that does not follow.
    estimate : float
        The fall in the distance of the posterior mean curve.
    """

    low: Floats
    high: Floats
    least: Floats
    most: Floats
    estimate: float

    def interval(self, ci_prob: float) -> tuple[float, float]:
        """Lower and upper end; contains the equal-tailed interval of the draws of the fall."""
        tail = (1 - ci_prob) / 2
        lower = np.quantile(self.low, tail, method="lower")
        upper = np.quantile(self.high, 1 - tail, method="higher")
        least = np.quantile(self.least, tail / 2, method="lower")
        most = np.quantile(self.most, 1 - tail / 2, method="higher")
        return float(max(lower, least)), float(min(upper, most))


def known_side(share_above: Floats) -> Floats:
    """1 where the curve is above the score with probability 0.9, -1 where below, else 0."""
    return np.where(share_above > GAIN_SURE, 1.0, np.where(share_above < 1 - GAIN_SURE, -1.0, 0.0))


def signed_distance(weight: Floats, side: Floats, deviation: Floats) -> Floats:
    """E_w[side (curve - score)], or 0 if that is negative; at most E_w|curve - score|.

    Parameters
    ----------
    weight : ndarray of shape (draws, rows)
    side : ndarray of shape (rows,)
        From `known_side`.
    deviation : ndarray of shape (draws, rows)
        Curve less score.

    Returns
    -------
    ndarray of shape (draws,)
    """
    signed: Floats = np.einsum("ij,ij,j->i", weight, deviation, side)
    return np.maximum(0.0, signed)
