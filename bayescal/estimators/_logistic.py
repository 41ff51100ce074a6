"""Logistic regressions of many sets of outcomes on the same basis, all at once.

Outcomes enter a logistic likelihood only through their sums with the basis. Given those, one damped
Newton iteration runs over all replicates, and over the cases a part at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats

__all__ = ["fit_logistic", "log_likelihood", "moments"]

PART = 1 << 14
STEPS = 200
TOLERANCE = 1e-10
LONGEST = 16.0
RIDGE, LEAST = 1e-14, 1e-200


def fit_logistic(
    basis: Floats,
    cases: Floats,
    totals: Floats,
    offset: Floats | None = None,
    start: Floats | float = 0.0,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Maximum likelihood of logit P = offset + coef @ basis, for every row of totals.

    Parameters
    ----------
    basis : ndarray of shape (k, rows)
    cases : ndarray of shape (rows,) or (replicates, rows)
    totals : ndarray of shape (replicates, k)
        Sums of outcome times basis over the cases.
    offset : ndarray of shape (rows,), optional
    start : ndarray of shape (k,) or float

    Returns
    -------
    coef : ndarray of shape (replicates, k)
        Where outcomes are separated there is no maximum, and this is far out, with a likelihood
        within rounding of the supremum.
    converged : ndarray of shape (replicates,)
    """
    reach = np.maximum(basis.max(axis=1), -basis.min(axis=1))
    coef, step = np.zeros((2, *totals.shape))
    step += start
    steepness = np.full(totals.shape[0], np.inf)
    converged = np.zeros(totals.shape[0], dtype=bool)
    active = np.arange(totals.shape[0])
    for _ in range(STEPS):
        if not active.size:
            break
        trial = coef[active] + step[active]
        own = cases if cases.ndim == 1 else cases[active]
        fitted, information = moments(trial, basis, own, offset)
        gradient = totals[active] - fitted
        steep = np.sqrt((gradient**2).sum(axis=1))
        better = steep < steepness[active]
        step[active[~better]] /= 2
        moved = active[better]
        coef[moved], steepness[moved] = trial[better], steep[better]
        step[moved], gain = _newton_step(gradient[better], information[better], reach)
        converged[moved] = gain < TOLERANCE
        active = active[~converged[active] & (np.abs(step[active]) @ reach > TOLERANCE)]
    coef[converged] += step[converged]
    return coef, converged


def log_likelihood(coef: Floats, basis: Floats, cases: Floats, totals: Floats) -> Floats:
    """Log likelihood of logit P = coef @ basis, of shape (replicates,)."""
    value: Floats = (totals * coef).sum(axis=1)
    for part in _parts(basis.shape[1], coef.shape[0]):
        eta = coef @ basis[:, part]
        value -= (np.maximum(eta, 0) + np.log1p(np.exp(-np.abs(eta)))) @ cases[part]
    return value


def moments(
    coef: Floats, basis: Floats, cases: Floats, offset: Floats | None = None
) -> tuple[Floats, Floats]:
    """Sums of the fitted probabilities with the basis, (replicates, k), and the information."""
    count, size = coef.shape
    fitted, information = np.zeros((count, size)), np.zeros((count, size, size))
    for part in _parts(basis.shape[1], count):
        columns = basis[:, part]
        eta = coef @ columns
        if offset is not None:
            eta += offset[part]
        small = np.exp(-np.abs(eta))
        weight = cases[..., part] / (1 + small)
        fitted += (np.where(eta > 0, 1, small) * weight) @ columns.T
        weight *= small / (1 + small)
        for k in range(size):
            information[:, k, k:] += weight @ (columns[k] * columns[k:]).T
    for k in range(size):
        information[:, k:, k] = information[:, k, k:]
    return fitted, information


def _newton_step(gradient: Floats, information: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Step that moves no log-odds by more than LONGEST, and twice the gain it promises."""
    ridge = np.maximum(RIDGE * np.trace(information, axis1=1, axis2=2), LEAST)
    lifted = information + ridge[:, None, None] * np.eye(reach.size)
    step = np.linalg.solve(lifted, gradient[:, :, None])[:, :, 0]
    gain = (gradient * step).sum(axis=1)
    farthest = np.abs(step) @ reach
    return step * (LONGEST / np.maximum(farthest, LONGEST))[:, None], gain


def _parts(rows: int, replicates: int) -> Iterator[slice]:
    """The rows, so few at a time that the work fits into the cache."""
    step = max(1, PART // max(replicates, 1))
    return (slice(start, start + step) for start in range(0, rows, step))
