"""Errors of predicted means are normal, y - mean ~ N(0, w v + b), with v the predicted variance.

Beside the binomial likelihood of calibration curves this is the one of predicted variances. Minus
twice its logarithm is the Dawid-Sebastiani score of the variances w v + b, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError

__all__ = ["ErrorRows", "best_line", "rows_of"]

VARIANCE_CELLS = 1024
LEAST_SHARE = 1e-10
_SHARES = expit(np.linspace(-23, 23, 93))


@dataclass(frozen=True)
class ErrorRows:
    """Cases of nearly one predicted variance together, in units of the mean predicted variance.

    With the mean predicted variance as the unit, w v + b is scale (share v + 1 - share).

    Attributes
    ----------
    unit : float
        The mean predicted variance.
    variance : ndarray of shape (rows,)
        Predicted variance, over the unit.
    squared_error : ndarray of shape (rows,)
        Mean squared error, over the unit.
    weight : ndarray of shape (rows,)
        Number of cases.
    """

    unit: float
    variance: Floats
    squared_error: Floats
    weight: Floats

    def shape(self, share: Floats | float) -> Floats:
        """Factor share v + 1 - share of each row: (..., rows) for shares of shape (...)."""
        column = np.asarray(share)[..., None]
        factor: Floats = column * self.variance + (1 - column)
        return factor

    def line(self, scale: Floats | float, share: Floats | float) -> tuple[Floats, Floats]:
        """The w and b of a scale and share, in the user's units."""
        return np.asarray(scale * share), np.asarray(self.unit * scale * (1 - np.asarray(share)))


def rows_of(squared_error: Floats, variance: Floats, weight: Floats) -> ErrorRows:
    """Cases put together in 1024 cells of equal width in log variance, where they are more."""
    if not squared_error.any():
        raise InputError(
            "y_true equals mean in every case, so that the best variance is 0. Pass predictions of "
            "cases that the model was not fitted to."
        )
    unit = float(weight @ variance / weight.sum())
    columns = [weight * variance, weight * squared_error]
    if weight.size > VARIANCE_CELLS:
        log = np.log(variance)
        low, width = log.min(), max(float(np.ptp(log)), 1e-300)
        cell = np.minimum((log - low) / width * VARIANCE_CELLS, VARIANCE_CELLS - 1).astype(np.intp)
        sums = np.stack([np.bincount(cell, part) for part in (weight, *columns)])
        weight, *columns = sums[:, sums[0] > 0]
    predicted, squared = (column / weight / unit for column in columns)
    return ErrorRows(unit, predicted, squared, weight)


def best_line(rows: ErrorRows) -> tuple[float, float]:
    """The positive w and b of greatest likelihood, that is of least Dawid-Sebastiani score.

    Given the share, the best scale is a mean; the share is searched between 1e-10 and 1 - 1e-10.
    """
    total = rows.weight.sum()

    def scale(share: float) -> float:
        return float(rows.weight @ (rows.squared_error / rows.shape(share)) / total)

    def loss(share: float) -> float:
        return float(rows.weight @ np.log(rows.shape(share)) / total + np.log(scale(share)))

    tried = np.clip(_SHARES, LEAST_SHARE, 1 - LEAST_SHARE)
    losses = [loss(share) for share in tried]
    at = int(np.argmin(losses))
    near = tried[max(at - 1, 0)], tried[min(at + 1, tried.size - 1)]
    refined = float(minimize_scalar(loss, bounds=near, options={"xatol": 1e-12}).x)
    share = refined if loss(refined) <= losses[at] else float(tried[at])
    slope, intercept = rows.line(scale(share), share)
    return float(slope), float(intercept)
