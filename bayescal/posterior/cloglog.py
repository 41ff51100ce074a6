"""The line in complementary log-log nearest to a curve: intercept and slope.

Under proportional hazards this is the line that the log cumulative hazard by the horizon follows.
"""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import maximise

__all__ = ["nearest_cloglog_line"]

WEIGHT_ADDED = 1e-12  # keeps a line defined in a draw that gives all its weight to one score
STEPS, CLOSE, LONGEST = 25, 1e-6, 2.0
FARTHEST_HAZARD = 30.0  # hazards are taken from exp(-30) to 30, where nothing overflows


def nearest_cloglog_line(curve: Floats, weight: Floats, score: Floats) -> tuple[Floats, Floats]:
    """(a, b) minimising E_w KL(g || 1 - exp(-exp(a + b log(-log(1 - s))))), one pair a draw.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    weight, score : ndarray of shape (rows,) or (draws, rows)
        Weights sum to 1 over the rows; scores lie strictly between 0 and 1.

    Returns
    -------
    intercept, slope : ndarray of shape (draws,)
    """
    if np.ptp(score, axis=-1).min() == 0:
        raise InputError(
            "intercept and slope need at least two distinct scores; every score here is the same."
        )
    x = np.log(-np.log1p(-score))
    centre, scale = x.mean(axis=-1), x.std(axis=-1)
    z = np.broadcast_to((x - centre[..., None]) / scale[..., None], curve.shape)
    weights = np.broadcast_to(weight, curve.shape) + WEIGHT_ADDED
    line = np.empty((len(curve), 2))
    line[:, 0], line[:, 1] = centre, scale
    unsettled = np.arange(len(line))
    for _ in range(STEPS):
        g, own = curve[unsettled], z[unsettled]
        _, first, second = _terms(line[unsettled], g, own)
        first *= weights[unsettled]
        second *= weights[unsettled]
        step = _step(first, second, own)
        line[unsettled] += step
        unsettled = unsettled[~(np.abs(step).max(axis=1) < CLOSE)]
        if not unsettled.size:
            break
    for row in unsettled:
        line[row] = _one(curve[row], z[row], weights[row])
    slope = line[:, 1] / scale
    return line[:, 0] - slope * centre, slope


def _terms(line: Floats, g: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Log likelihood of each row's g, and its derivatives by the line there.

    It is concave, so that Newton steps climb.
    """
    x = np.clip(line[..., :1] + line[..., 1:] * z, -FARTHEST_HAZARD, np.log(FARTHEST_HAZARD))
    hazard = np.exp(x)
    p = -np.expm1(-hazard)
    first = hazard * (g - p) / p
    second = first - g * hazard**2 * (1 - p) / p**2
    return g * np.log(p) - (1 - g) * hazard, first, second


def _step(first: Floats, second: Floats, z: Floats) -> Floats:
    """A Newton step of every line."""
    r0, r1 = first.sum(axis=1), np.vecdot(first, z)
    i0, i1, i2 = -second.sum(axis=1), -np.vecdot(second, z), -np.vecdot(second * z, z)
    determinant = np.maximum(i0 * i2 - i1**2, 1e-300)
    step = np.stack([i2 * r0 - i1 * r1, i0 * r1 - i1 * r0], axis=1) / determinant[:, None]
    return np.asarray(np.clip(step, -LONGEST, LONGEST))


def _one(g: Floats, z: Floats, weight: Floats) -> Floats:
    """One line, by steps that are cut while they do not climb."""
    basis = np.column_stack([np.ones_like(z), z])

    def objective(line: Floats) -> tuple[float, Floats, Floats]:
        value, first, second = _terms(line, g, z)
        hessian = (basis.T * (weight * second)) @ basis
        return float(weight @ value), basis.T @ (weight * first), hessian

    return maximise(objective, np.zeros(2), tolerance=1e-20).point
