"""The posterior of the line w v + b between predicted variances and those of the errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_expit

from bayescal._base.arrays import Floats, blocks
from bayescal._base.newton import Mode, maximise
from bayescal._base.sampling.importance import importance_sample
from bayescal.inference.variance.likelihood import ErrorRows
from bayescal.model.priors import StudentT

__all__ = ["PRIOR_OF_SCALE", "VarianceLine", "variance_line"]

PRIOR_OF_SCALE = StudentT(4, 0, 1)
"""Of the log of the factor from the mean predicted variance to that of the errors."""

LONGEST_STEP = 2.0
_STARTS = (-3.0, 0.0, 3.0)


@dataclass(frozen=True)
class VarianceLine:
    """Draws of w and b, and how far to trust them.

    Attributes
    ----------
    slope, intercept : ndarray of shape (draws,)
        w, and b in the squared unit of the outcomes.
    pareto_k : float
        Above 0.7 the draws should not be trusted.
    """

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
