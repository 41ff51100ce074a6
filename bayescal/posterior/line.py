"""The line in log-odds nearest to a curve: intercept and slope, and the shift at slope one.

Every draw of a curve has its own weights of the scores. All draws are solved at once by Newton's
method, started from the line of the mean curve.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.newton import maximise
from bayescal.model.curve import expit_in_place

__all__ = ["nearest_line", "nearest_shift"]

FLOOR = 1e-15
WEIGHT_FLOOR = 1e-12  # keeps a line defined in a draw that gives all its weight to one score
LINE_CLOSE = 1e-7  # a Newton step this short leaves an error of the order of its square
LINE_STEPS = 25
LINE_LONGEST = 3.0


def nearest_line(curve: Floats, weight: Floats, score: Floats) -> tuple[Floats, Floats]:
    """(a, b) minimising E_w KL(g || expit(a + b logit s)), one pair a draw.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    weight, score : ndarray of shape (rows,) or (draws, rows)
        Weights sum to 1 over the rows.

    Returns
    -------
    intercept, slope : ndarray of shape (draws,)

    Raises
    ------
    InputError
        If all scores are the same.
    """
    x = np.asarray(logit(score))
    if np.ptp(x, axis=-1).min() == 0:
        raise InputError(
            "intercept and slope need at least two distinct scores; every score here is the same. "
            "calibration_in_the_large is still defined."
        )
    centre, scale = x.mean(axis=-1, keepdims=True), x.std(axis=-1, keepdims=True)
    z = (x - centre) / scale
    weights = np.broadcast_to(np.maximum(weight, WEIGHT_FLOOR), curve.shape)
    start = np.broadcast_to(np.stack([centre[..., 0], scale[..., 0]], axis=-1), (len(curve), 2))
    if score.ndim == 1 and len(curve) > 1:
        middle = np.mean(weights * curve, axis=0) / weights.mean(axis=0)
        start = _newton(z, middle[None], weights.mean(axis=0)[None], start[:1])[0]
    line, settled = _newton(z, curve, weights, start)
    for row in np.flatnonzero(~settled):
        line[row] = _one_line(np.broadcast_to(z, curve.shape)[row], curve[row], weights[row])
    b = line[:, 1] / scale[..., 0]
    return line[:, 0] - b * centre[..., 0], b


def _newton(
    z: Floats, curve: Floats, weight: Floats, start: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Lines in z, of shape (draws, 2), and which of them have settled."""
    target = _sums(weight * curve, [np.ones_like(z), z])
    line = np.array(np.broadcast_to(start, (len(curve), 2)))
    unsettled = np.arange(len(curve))
    if len(start) == 1 and z.ndim == 1:  # the first step has one line for all draws
        fitted = expit(start[0, 0] + start[0, 1] * z)
        line += _step(target, *_moments(z, weight, fitted, fitted * (1 - fitted)))
    for _ in range(LINE_STEPS):
        own = z if z.ndim == 1 else z[unsettled]
        fitted = _expit_of_line(line[unsettled], own)
        mass = fitted * weight[unsettled]
        np.subtract(1, fitted, out=fitted)
        residual = target[unsettled] - _sums(mass, [np.ones_like(own), own])
        information = _sums(mass * fitted, [np.ones_like(own), own, own**2])
        step = _solved(residual, information)
        line[unsettled] += step
        unsettled = unsettled[~(np.abs(step).max(axis=1) < LINE_CLOSE)]
        if not unsettled.size:
            break
    settled = np.asarray(np.isfinite(line).all(axis=1))
    settled[unsettled] = False
    return line, settled


def _expit_of_line(line: Floats, z: Floats) -> Floats:
    log_odds = line[:, 1:] * z
    log_odds += line[:, :1]
    return expit_in_place(log_odds)


def _moments(z: Floats, weight: Floats, fitted: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Sums of the fitted values and of the information, where both are common to all draws."""
    return _sums(weight, [fitted, fitted * z]), _sums(weight, [spread, spread * z, spread * z**2])


def _sums(values: Floats, columns: Sequence[Floats]) -> Floats:
    """Sums over the rows of the values times each column, of shape (draws, columns)."""
    if columns[0].ndim == 1:
        return np.asarray(values @ np.stack(columns, axis=1))
    return np.stack([np.einsum("ij,ij->i", values, column) for column in columns], axis=1)


def _step(target: Floats, mean: Floats, information: Floats) -> Floats:
    return _solved(target - mean, information)


def _solved(residual: Floats, information: Floats) -> Floats:
    """Newton step of a two-parameter regression for every draw at once."""
    (r0, r1), (i0, i1, i2) = residual.T, information.T
    determinant = np.maximum(i0 * i2 - i1**2, 1e-300)
    step = np.stack([i2 * r0 - i1 * r1, i0 * r1 - i1 * r0], axis=1) / determinant[:, None]
    return np.asarray(np.clip(step, -LINE_LONGEST, LINE_LONGEST))


def _one_line(z: Floats, g: Floats, weight: Floats) -> Floats:
    basis = np.column_stack([np.ones_like(z), z])

    def negative_divergence(line: Floats) -> tuple[float, Floats, Floats]:
        eta = basis @ line
        fitted = expit(eta)
        value = weight @ (g * eta - np.logaddexp(0, eta))
        hessian = -(basis.T * (weight * fitted * (1 - fitted))) @ basis
        return float(value), basis.T @ (weight * (g - fitted)), hessian

    return maximise(negative_divergence, np.zeros(2), tolerance=1e-20).point


def nearest_shift(curve: Floats, weight: Floats, score: Floats) -> Floats:
    """The shift a that makes E_w expit(logit s + a) = E_w g, one number a draw.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
    weight, score : ndarray of shape (rows,) or (draws, rows)

    Returns
    -------
    ndarray of shape (draws,)
    """
    weights = np.broadcast_to(weight, curve.shape)
    target = np.clip(np.einsum("ij,ij->i", weights, curve), FLOOR, 1 - FLOOR)
    odds = 1 / score - 1  # against the event
    if score.ndim == 1 and len(curve) > 1:
        middle = weights.mean(axis=0)
        start = _shift(odds, target.mean()[None], middle[None], np.zeros(1))
    else:
        start = np.zeros(1)
    return _shift(odds, target, weights, np.broadcast_to(start, target.shape))


def _shift(odds: Floats, target: Floats, weight: Floats, start: Floats) -> Floats:
    """By Newton's method on the log-odds of the mean."""
    shift = np.array(start)
    unsettled = np.arange(shift.size)
    for _ in range(4 * LINE_STEPS):
        with np.errstate(over="ignore"):
            against = np.exp(-shift[unsettled, None]) * (
                odds if odds.ndim == 1 else odds[unsettled]
            )
        against += 1
        predicted = np.reciprocal(against, out=against)
        mass = predicted * weight[unsettled]
        mean = np.clip(mass.sum(axis=1), FLOOR, 1 - FLOOR)
        np.subtract(1, predicted, out=predicted)
        slope = np.maximum(np.einsum("ij,ij->i", mass, predicted), 1e-300)
        step = (logit(target[unsettled]) - logit(mean)) * mean * (1 - mean) / slope
        shift[unsettled] += np.clip(step, -5, 5)
        unsettled = unsettled[~(np.abs(step) < LINE_CLOSE)]
        if not unsettled.size:
            break
    return shift
