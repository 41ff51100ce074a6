"""A spline through the cumulative difference between outcomes and scores."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from bayescal._base.arrays import Floats
from bayescal.data.build.builder import collapse
from bayescal.data.table import Rows
from bayescal.recalibrate._base import Recalibrator
from bayescal.recalibrate._input import as_knots

__all__ = ["SplineRecalibrator"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class SplineRecalibrator(Recalibrator):
    """Spline calibration: the slope of a spline fitted to the cumulative calibration error.

    Let h(t) be the sum of outcome minus score over the t N lowest scores, divided by N (its
    largest absolute value is the Kolmogorov-Smirnov calibration error). A natural cubic spline
    with evenly spaced knots is fitted to h by least squares, and a score at quantile t becomes
    score + h'(t), cut off at 0 and 1.

    Parameters
    ----------
    n_knots : int
        Number of knots, both ends included, from 3 to 1000.

    Attributes
    ----------
    scores_ : ndarray of shape (n_rows,)
        Distinct scores, or means of neighbouring ones when there are more than 2048.
    levels_ : ndarray of shape (n_rows,)
        Recalibrated probability at these, interpolated between them and constant beyond.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of SplineRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    The least squares are over all t in (0, 1), with h a straight line between distinct scores, so
    that equal scores share their mean outcome and the order of the cases does not matter. The
    authors' code takes them over the N cases in the order in which they were sorted, and counts
    the first as quantile 0; with distinct scores the two differ by about 1 / N. The map may fall.

    References
    ----------
    Gupta et al., "Calibration of Neural Networks using Splines", ICLR 2021.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.SplineRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.3 , 0.41])
    """

    reaches_zero = True
    scores_: Floats
    levels_: Floats

    def __init__(self, n_knots: int = 6) -> None:
        self.n_knots = n_knots

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        knots = np.linspace(0, 1, as_knots(self.n_knots, 3))
        rows = collapse(scores, outcomes, weights)
        quantile, error = _cumulative(rows)
        basis = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
        t, root_weight = _quadrature(np.union1d(quantile, knots))
        design = basis(t) * root_weight[:, None]
        coef = np.linalg.lstsq(design, np.interp(t, quantile, error) * root_weight)[0]
        slope = basis.derivative()((quantile[1:] + quantile[:-1]) / 2) @ coef
        self.scores_ = rows.score
        self.levels_ = np.clip(rows.score + slope, 0, 1)

    def _map(self, scores: Floats) -> Floats:
        return np.interp(scores, self.scores_, self.levels_)


def _cumulative(rows: Rows) -> tuple[Floats, Floats]:
    """Corners of h: quantiles, and the cumulative difference there."""
    total = rows.trials.sum()
    quantile = np.concatenate([[0.0], np.cumsum(rows.trials) / total])
    quantile[-1] = 1
    difference = np.cumsum(rows.hits - rows.trials * rows.score) / total
    return quantile, np.concatenate([[0.0], difference])


def _quadrature(corners: Floats) -> tuple[Floats, Floats]:
    """Nodes and roots of weights that integrate squares of cubics between corners exactly."""
    half = np.diff(corners)[:, None] / 2
    nodes = (corners[:-1, None] + half) + half * _NODES
    return nodes.ravel(), np.sqrt(half * _WEIGHTS).ravel()
