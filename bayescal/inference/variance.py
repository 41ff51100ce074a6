"""Errors of predicted means are normal, y - mean ~ N(0, w v + b), with v the predicted variance.

Beside the binomial likelihood of calibration curves this is the one of predicted variances. Minus
twice its logarithm is the Dawid-Sebastiani score of the variances w v + b, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.optimise import Mode, maximise
from bayescal.core.sampling import importance_sample
from bayescal.model.priors import StudentT

VARIANCE_CELLS = 1024
LEAST_SHARE = 1e-10
_SHARES = expit(np.linspace(-23, 23, 93))


@dataclass(frozen=True)
class ErrorRows:
    """Cases of nearly one predicted variance together, over the mean predicted variance, `unit`.

    With it as the unit, w v + b is scale (share v + 1 - share). Rows have a predicted variance, a
    mean squared error, and a number of cases.
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
    from scipy.optimize import minimize_scalar

    refined = float(minimize_scalar(loss, bounds=near, options={"xatol": 1e-12}).x)
    share = refined if loss(refined) <= losses[at] else float(tried[at])
    slope, intercept = rows.line(scale(share), share)
    return float(slope), float(intercept)


# Of the log of the factor from the mean predicted variance to that of the errors.
PRIOR_OF_SCALE = StudentT(4, 0, 1)

LONGEST_STEP = 2.0
_STARTS = (-3.0, 0.0, 3.0)


@dataclass(frozen=True)
class VarianceLine:
    """Draws (draws,) of w and of b, in the squared unit of the outcomes, and their k-hat."""

    slope: Floats
    intercept: Floats
    pareto_k: float


def variance_line(rows: ErrorRows, draws: int, rng: np.random.Generator) -> VarianceLine:
    """Draws from the posterior of w and b in y - mean ~ N(0, w v + b).

    The coordinates are log scale, with a Student-t prior, and the log-odds of the share of the
    scale that follows v, which is uniform. No outcome enters the prior: only the mean of v.
    """
    modes = [
        maximise(lambda x: _objective(rows, x), np.array([0.0, at]), longest=LONGEST_STEP)
        for at in _STARTS
    ]
    best: Mode = max(modes, key=lambda mode: mode.value)
    sample = importance_sample(lambda points: _log_density(rows, points), best, draws, rng)
    slope, intercept = rows.line(np.exp(sample.draws[:, 0]), expit(sample.draws[:, 1]))
    return VarianceLine(slope, intercept, sample.pareto_k)


def _log_density(rows: ErrorRows, points: Floats) -> Floats:
    """Log posterior, up to a constant, at points of shape (n, 2)."""
    values = np.empty(len(points))
    for part in blocks(len(points), rows.weight.size):
        log_scale, log_odds = np.clip(points[part], -600, 600).T
        shape = rows.shape(expit(log_odds))
        fit = np.log(shape) @ rows.weight
        fit += np.exp(-log_scale) * ((1 / shape) @ (rows.weight * rows.squared_error))
        values[part] = -(fit + log_scale * rows.weight.sum()) / 2
    prior = log_expit(points[:, 1]) + log_expit(-points[:, 1])
    density: Floats = values + prior + PRIOR_OF_SCALE.logpdf(points[:, 0])
    return density


def _objective(rows: ErrorRows, point: Floats) -> tuple[float, Floats, Floats]:
    """The same with its gradient and Hessian, at one point."""
    value = float(_log_density(rows, point[None])[0])
    point = np.clip(point, -600, 600)
    share = float(expit(point[1]))
    shape, bend = rows.shape(share), share * (1 - share) * (rows.variance - 1)
    ratio = rows.squared_error * np.exp(-point[0]) / shape
    turn = bend / shape
    prior, prior_bend = PRIOR_OF_SCALE.slope_and_curvature(point[0])
    half = rows.weight / 2
    across = -half @ (ratio * turn)
    gradient = [half @ (ratio - 1) + prior, half @ ((ratio - 1) * turn) + 1 - 2 * share]
    curve = (ratio - 1) * turn * (1 - 2 * share) - (2 * ratio - 1) * turn**2
    hessian = [
        [-half @ ratio + prior_bend, across],
        [across, half @ curve - 2 * share * (1 - share)],
    ]
    return value, np.array(gradient), np.array(hessian)
