"""A curve read off the risks of cases, as a trace of any model has them.

Cases with one score may have several risks, by a covariate or a hospital. The calibration curve is
their mean at each score. Where scores repeat it is taken as it is; else risks are smoothed.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.curve import Curve, Frame
from bayescal.model.saturated.family import SATURATED
from bayescal.model.spline import deviation_columns, spline_frame

__all__ = ["TRACED", "mean_errors"]

FEW_SCORES = 40
"""Up to so many distinct scores have a mean risk each."""
MOST_POINTS = 128
"""Scores at which a smooth curve is kept; between two of them it is straight."""
MOST_BENDS = 8

TRACED = Curve(
    name="event_prob",
    formula="the log-odds of s + error, errors read off the risks of a model",
    coordinates=(),
    basis=SATURATED.basis,
    combination=(),
    positive=(),
    per_score=True,
    has_prior=False,
    meaning="the mean risk of cases with a score, in a model of the user's",
)
"""The curve of `from_pymc`, where the model has more than the curve of a family."""


def mean_errors(score: Floats, risk: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Mean of risk - score at each of a few scores, or at points between which it is smooth.

    Of a smooth curve, sums over the cases of risks, and of risks times log-odds, stay as they are;
    so observed over expected and the calibration slope are those of the risks themselves.

    Parameters
    ----------
    score, trials : ndarray of shape (n,)
        Scores inside (0, 1).
    risk : ndarray of shape (draws, n)

    Returns
    -------
    points : ndarray of shape (k,)
        Ascending scores.
    errors : ndarray of shape (draws, k)
    """
    error = risk - score
    points, at = np.unique(score, return_inverse=True)
    if points.size <= FEW_SCORES:
        sums = np.zeros((points.size, score.size))
        sums[at, np.arange(score.size)] = trials
        return points, error @ (sums / sums.sum(axis=1, keepdims=True)).T
    if points.size > MOST_POINTS:
        points = np.unique(np.quantile(points, np.linspace(0, 1, MOST_POINTS)))
    order = np.argsort(score, kind="stable")
    frame = spline_frame(score[order], trials[order], 0.5)
    bends = min(MOST_BENDS, round(score.size ** (1 / 3)) - 2)
    columns, shown = (_columns(each, frame, bends) for each in (score, points))
    root = np.sqrt(trials)
    solved = np.linalg.pinv(root[:, None] * columns) * root
    return points, error @ (shown @ solved).T


def _columns(score: Floats, frame: Frame, bends: int) -> Floats:
    """What errors are sums of: two for the sums that stay, and curves that end at 0 and 1."""
    x = logit(score)
    line = np.column_stack([np.ones_like(x), x])
    curves = np.hstack([line, deviation_columns(score, frame)[:, :bends]])
    return np.hstack([line, (score * (1 - score))[:, None] * curves])
