"""Cox regression, fitted by statsmodels: coefficients, and the baseline hazard that they give."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.versions import needed

# Events for each column, below which there is no fit.
LEAST_EVENTS_OF_COX = 2
FLAT_OF_COX, STEEPEST_OF_COX = 1e-9, 1e-3


@dataclass(frozen=True)
class CoxFit:
    """A fitted Cox regression.

    `coefficients` and `centre`, the columns at which the baseline hazard is, have shape (k,).
    `hazard` (Breslow's cumulative estimate) and its `variance` if the coefficients were known have
    shape (steps + 1,); `mean`, of shape (steps + 1, k), sums the steps of the hazard times the mean
    column at risk.
    """

    coefficients: Floats
    covariance: Floats
    centre: Floats
    hazard: Floats
    variance: Floats
    mean: Floats

    def relative(self, columns: Floats) -> Floats:
        """Hazard of cases over that of the baseline, by columns of shape (n, k)."""
        return np.asarray(np.exp((columns - self.centre) @ self.coefficients))

    def risk(self, columns: Floats, step: int) -> Floats:
        """Risk of the event by a time."""
        return np.asarray(-np.expm1(-self.hazard[step] * self.relative(columns)))

    def standard_error(self, columns: Floats, step: int, weight: Floats | None = None) -> Floats:
        """Of the risk by a time of each case, or of a weighted sum of all of them.

        Shapes: `columns` (n, k); `weight` (n,); result (n,).
        """
        relative = self.relative(columns)
        total = relative * np.exp(-self.hazard[step] * relative)  # slope by the baseline hazard
        along = total[:, None] * (self.hazard[step] * (columns - self.centre) - self.mean[step])
        if weight is not None:
            total, along = weight[None] @ total, weight[None] @ along
        spread = np.einsum("ij,jk,ik->i", along, self.covariance, along)
        return np.asarray(np.sqrt(spread + total**2 * self.variance[step]))


def at_risk(entry: NDArray[np.intp], last: NDArray[np.intp], value: Floats, steps: int) -> Floats:
    """Sums of a value over the cases under observation in each step from 1 to `steps`.

    Shapes: `entry`, `last`, `value` (n,); result (steps + 1,).
    """
    # sums from the end: those of the last few cases keep their digits
    there, later = (
        np.cumsum(np.bincount(at, value, steps + 1)[::-1])[::-1] for at in (last, entry)
    )
    there[0], later[0] = 0, 0
    return np.asarray(there - later)


def fit_cox(
    entry: NDArray[np.intp],
    last: NDArray[np.intp],
    event: NDArray[np.bool_],
    columns: Floats,
    steps: int,
) -> CoxFit:
    """Cox regression by Efron's likelihood.

    Shapes: `entry`, `last`, `event` (n,); `columns` (n, k).
    """
    with needed("Cox regression", "bayescal[survival]"):
        from statsmodels.duration.hazard_regression import PHReg
    events, size = int(event.sum()), columns.shape[1]
    if events < LEAST_EVENTS_OF_COX * size:
        raise InputError(
            f"a Cox regression with {size} columns needs at least {LEAST_EVENTS_OF_COX * size} "
            f"ends of that kind, and there {'is' if events == 1 else 'are'} {events}."
        )
    centre = columns.mean(axis=0)
    away = columns - centre
    even, back = np.linalg.qr(away)  # columns of a spline are nearly collinear
    spread = np.abs(np.diag(back))
    if (np.ptp(columns, axis=0) == 0).any() or spread.min() < FLAT_OF_COX * spread.max():
        raise InputError(
            "y_prob has too few distinct values for a Cox regression on a spline of them."
        )
    unit = np.sqrt(len(columns))
    # statsmodels takes cases whose entry is not before their end, and does not say so
    counted = last > entry
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged is asked below
        model = PHReg(
            last[counted].astype(np.float64),
            even[counted] * unit,
            status=event[counted].astype(np.float64),
            entry=entry[counted].astype(np.float64) if entry.any() else None,
            ties="efron",
        )
        # its Newton steps are not damped, and leave for infinity from some starts
        fitted = model.fit(method="bfgs", maxiter=500, gtol=1e-8, disp=0)
        slope = np.abs(model.score(fitted.params)).max()
        turn = np.linalg.inv(back) * unit
        coefficients = turn @ np.asarray(fitted.params, np.float64)
        covariance = turn @ np.asarray(fitted.cov_params(), np.float64) @ turn.T
    finite = np.isfinite(coefficients).all() and np.isfinite(covariance).all()
    if not (finite and slope < STEEPEST_OF_COX * np.sqrt(events)):
        raise InputError(
            "the Cox regression on y_prob has no maximum: the scores separate those with the event "
            "from the others. A posterior does not need one: use bayescal.fit."
        )
    relative = np.exp(away @ coefficients)
    total = at_risk(entry, last, relative, steps)
    died = np.bincount(last[event], minlength=steps + 1).astype(np.float64)
    total[died == 0] = 1  # nobody may be at risk there, and nobody counts
    jump = died / total
    sums = np.stack([at_risk(entry, last, relative * each, steps) for each in away.T], axis=1)
    steps_of = (jump, jump / total, (jump / total)[:, None] * sums)
    return CoxFit(coefficients, covariance, centre, *(each.cumsum(axis=0) for each in steps_of))
