"""A curve read off the risks of cases, as a trace of any model has them.

Cases with one score may have several risks, by a covariate or a hospital. The calibration curve is
their mean at each score. Where scores repeat it is taken as it is; else risks are smoothed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped
from bayescal.model.curve import Curve, CurveAtScores, Frame, between
from bayescal.model.families import IDENTITY
from bayescal.model.spline import deviation_columns, spline_frame

__all__ = ["TRACED", "mean_errors"]

# Up to so many distinct scores have a mean risk each.
FEW_SCORES = 40
# Scores at which a smooth curve is kept; between two of them it is straight.
MOST_POINTS = 128
MOST_BENDS = 8


@dataclass(frozen=True, eq=False)
class TracedCurve(Curve):
    """Curves that are their score and an error, which is straight between the frame's knots."""

    def at_scores(self, score: Floats, frame: Frame, stated: Floats | None = None) -> CurveAtScores:
        """The curves at fixed scores, for many draws."""
        return _TracedAtScores(self, score, frame, stated)


class _TracedAtScores(CurveAtScores):
    """Traced curves at scores, of shape (rows,) or (draws, rows)."""

    def __init__(
        self, curve: TracedCurve, score: Floats, frame: Frame, stated: Floats | None = None
    ) -> None:
        self.stated = score if stated is None else stated
        self._neighbours, self._share = between(score, expit(np.array(frame.knots)))

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, knots)."""
        return np.asarray(logit(self.probability(u)))

    def probability(self, u: Floats) -> Floats:
        """The curves, of shape (draws, rows), for draws `u` of shape (draws, knots)."""
        if self.stated.ndim == 1:
            low, high = (u[:, side] for side in self._neighbours)
        else:
            low, high = (np.take_along_axis(u, side, 1) for side in self._neighbours)
        return clipped(self.stated + low + self._share * (high - low))


def _with_errors(curve: Curve, frame: Frame) -> Curve:
    return replace(curve, coordinates=tuple(f"error_{k + 1}" for k in range(len(frame.knots))))


# The curve of `from_pymc`, where the model has more than the curve of a family.
TRACED = TracedCurve(
    name="event_prob",
    formula="s + error, errors read off the risks of a model",
    coordinates=(),
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    sized=_with_errors,
    has_prior=False,
    meaning="the mean risk of cases with a score, in a model of the user's",
)


def mean_errors(score: Floats, risk: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Points, and mean of risk - score there: at each of a few scores, or smooth between points.

    Of a smooth curve, sums over the cases of risks, and of risks times log-odds, stay as they are;
    so observed over expected and the calibration slope are those of the risks themselves.
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
