"""Log-odds, damped Newton steps and the likelihood of logistic regressions. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import SeparationError

# No logarithm reads a probability nearer to 0 or 1 than this.
EDGE = 1e-12


def clipped(probability: NDArray[Any]) -> Floats:
    """Probabilities, those nearer than `EDGE` to 0 or 1 moved to that distance.

    They may have 32 bits, in which there is nothing between 1 - 1e-8 and 1; clipped ones have 64.
    """
    return np.asarray(np.clip(probability, EDGE, 1 - EDGE, dtype=np.float64))


def logarithms(probability: NDArray[Any]) -> tuple[Floats, Floats]:
    """Log p and log(1 - p) of the clipped probabilities."""
    inside = clipped(probability)
    return np.log(inside), np.log1p(-inside)


def log_odds_of(probability: NDArray[Any]) -> Floats:
    """Log p / (1 - p) of the clipped probabilities, between -27.6 and 27.6."""
    odds = clipped(probability)
    odds /= 1 - odds
    return np.log(odds, out=odds)


UNSEEN = 1e-14
FINITE_DIFFERENCE = 0.01
MOST_STEPS = 200

Objective = Callable[[Floats], tuple[float, Floats, Floats]]


@dataclass(frozen=True)
class Mode:
    """Where a smooth function peaks, and its negative Hessian there, of shape (d, d)."""

    point: Floats
    value: float
    information: Floats
    converged: bool


def maximise(
    objective: Objective,
    start: Floats,
    *,
    tolerance: float = 1e-12,
    longest: float = np.inf,
) -> Mode:
    """Climb to a local maximum by Newton steps, damped where the surface is not concave.

    The objective maps a point of shape (d,) to its value, gradient (d,) and Hessian (d, d). The
    search ends where the next step promises less than `tolerance`; `longest` is the farthest that
    one step moves a coordinate. SciPy has it with less damping, and importing `scipy.optimize`
    takes longer than an ordinary search.
    """
    point = np.array(start, dtype=np.float64)
    value, gradient, hessian = objective(point)
    converged = point.size == 0
    for _ in range(0 if converged else MOST_STEPS):
        step = _ascent_step(gradient, -hessian)
        if gradient @ step < tolerance:
            converged = True
            break
        if gradient @ step < UNSEEN * (1 + abs(value)):  # the value cannot show it; step and stop
            point = point + step
            value, gradient, hessian = objective(point)
            converged = True
            break
        step *= min(1.0, longest / float(np.abs(step).max()))
        scale, moved = 1.0, False
        while scale > 1e-10:
            candidate = objective(point + scale * step)
            if candidate[0] > value:
                point, moved = point + scale * step, True
                value, gradient, hessian = candidate
                break
            scale /= 2
        if not moved:
            converged = bool(gradient @ step < np.sqrt(tolerance))
            break
    return Mode(point, float(value), -hessian, converged)


def zero_of(
    function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12
) -> float:
    """Where a function is 0 that has other signs at two ends, by inverse quadratics or halves.

    Chandrupatla (1997), A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives, Advances in Engineering Software 28. It is in
    SciPy, too, in `scipy.optimize`, which takes longer to import than to find many zeros.
    """
    b, a, share = low, high, 0.5
    at_b, at_a = function(b), function(a)
    while at_a:
        x = a + share * (b - a)
        at_x = function(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at_x
        best = a if abs(at_a) < abs(at_b) else b
        least = (4e-16 * abs(best) + tolerance / 2) / abs(b - a)
        if least > 0.5:
            return best
        ratio, value = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if 1 - np.sqrt(1 - ratio) < value < np.sqrt(ratio):
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        share = min(max(share, least), 1 - least)
    return a


def by_differences(function: Callable[[Floats], Floats]) -> Objective:
    """A smooth function with its gradient and Hessian by central differences, for `maximise`.

    It maps points of shape (n, d) to values (n,), with coordinates on the scale of one: the step is
    0.01.
    """

    def derivatives(point: Floats) -> tuple[float, Floats, Floats]:
        d = point.size
        steps = FINITE_DIFFERENCE * np.eye(d)
        pairs = [(i, j) for i in range(d) for j in range(i)]
        both = np.array([steps[i] + steps[j] for i, j in pairs]).reshape(-1, d)
        around = np.concatenate([np.zeros((1, d)), steps, -steps, both, -both])
        values = function(point + around)
        value, up, down = values[0], values[1 : d + 1], values[d + 1 : 2 * d + 1]
        joint = values[2 * d + 1 :].reshape(2, -1).sum(axis=0)
        hessian = np.diag(up + down - 2 * value)
        for (i, j), total in zip(pairs, joint, strict=True):
            alone = up[i] + down[i] + up[j] + down[j]
            hessian[i, j] = hessian[j, i] = (total + 2 * value - alone) / 2
        return float(value), (up - down) / (2 * FINITE_DIFFERENCE), hessian / FINITE_DIFFERENCE**2

    return derivatives


def _ascent_step(gradient: Floats, information: Floats) -> Floats:
    """Solve for the Newton step, adding just enough ridge to make it point uphill."""
    ridge, lifted = 0.0, information
    while True:
        try:
            np.linalg.cholesky(lifted)  # only a positive definite matrix has one
            return np.asarray(np.linalg.solve(lifted, gradient), np.float64)
        except np.linalg.LinAlgError:
            unit = max(float(np.abs(np.diag(information)).max()), 1e-8)
            ridge = 1e-6 * unit if ridge == 0 else 10 * ridge
            lifted = information + ridge * np.eye(gradient.size)


# Log-odds beyond which outcomes that are fitted without error are separated.
FARTHEST = 40.0
# Numbers beyond it have no exponential.
LARGEST_EXPONENT, LARGEST_IN_SINGLE = 700.0, 80.0
# Relative curvature below which a direction has no maximum.
FLAT = 1e-12
# Numbers in a block: 64 kB, since from 128 kB on each array is new memory of the system, whose
# pages take several times as long as the sums.
LOGISTIC_ROOM = 1 << 13
# Smallest share of the squares of columns in any direction at which their products show them all.
FAR_APART = 1e-6
# From so many rows on the search begins at the maximum of a table of so many cells.
MANY_ROWS, START_CELLS = 1 << 11, 1 << 8
LOGISTIC_STEPS = 200
LOGISTIC_TOLERANCE = 1e-10
LOGISTIC_LONGEST = 1e6
RIDGE, LEAST = 1e-14, 1e-200
LOGISTIC_ROUNDING = 1e-13

NO_MAXIMUM = (
    "y_true is perfectly separated by the scores, holds one class only, or has too few distinct "
    "scores, so the maximum-likelihood estimate does not exist. A posterior does: use "
    "bayescal.fit, or bayescal.recalibrate.BayesianRecalibrator."
)


def fit_logistic(
    basis: Floats,
    cases: Floats,
    totals: Floats,
    offset: Floats | None = None,
    start: Floats | float = 0.0,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Maximum likelihood of logit P = offset + coef @ basis, for every row of totals.

    `basis` (k, rows); `cases`, those that each row stands for, (rows,) or (replicates, rows);
    `totals` (replicates, k), the sums of outcome times basis, where outcomes may be probabilities.
    Gives `coef` (replicates, k) and whether it converged; of separated outcomes it is far out, with
    a likelihood within rounding of the supremum.
    """
    columns, back, forth = _orthogonal(basis)
    first = forth @ np.broadcast_to(np.asarray(start, dtype=np.float64), basis.shape[0])
    sums = totals @ back
    if cases.ndim == 1 and cases.size > MANY_ROWS and offset is None:
        first = _start(columns, cases, sums, first)
    coefficients, converged = _climb(columns, cases, sums, offset, first)
    return coefficients @ back.T, converged


def _start(basis: Floats, cases: Floats, totals: Floats, near: Floats) -> Floats:
    """Coefficients close to the maximum, from cells of rows whose log-odds at `near` are alike."""
    eta = near @ basis
    low, across = eta.min(), np.ptp(eta)
    if not across:
        return near
    table = np.zeros((len(basis) + 1, START_CELLS))
    for part in blocks(eta.size, room=LOGISTIC_ROOM):
        cell = ((eta[part] - low) * ((START_CELLS - 1) / across)).astype(np.intp)
        for sums, column in zip(table, (1.0, *basis[:, part]), strict=True):
            sums += np.bincount(cell, cases[part] * column, START_CELLS)
    own, *rows = table[:, table[0] > 0]
    coef, converged = _climb(rows / own, own, totals, None, near)
    usable = converged & (np.abs(coef) @ _largest(basis) < FARTHEST)
    return np.where(usable[:, None], coef, near)


def _orthogonal(basis: Floats) -> tuple[Floats, Floats, Floats]:
    """Columns without correlation and of mean square 1 that span the basis.

    Directions in which it does not vary are left out.

    Shapes: `columns` (rank, rows); `back` (k, rank); `forth` (rank, k).
    """
    scale, unit = np.maximum(_largest(basis), 1e-300), np.sqrt(basis.shape[1])
    square, turn = np.linalg.eigh(basis @ basis.T / scale / scale[:, None])
    if square[0] > FAR_APART * square[-1]:  # else they lose too many digits, squared
        spread = np.sqrt(square) / unit
        back = turn / spread / scale[:, None]
        return back.T @ basis, back, (turn * spread).T * scale
    orthonormal, triangle = np.linalg.qr((basis / scale[:, None]).T)
    left, spread, right = np.linalg.svd(triangle, full_matrices=False)
    kept = spread > FLAT * spread[0]
    left, spread, right = unit * left[:, kept], spread[kept] / unit, right[kept]
    return (
        (orthonormal @ left).T,
        (right / spread[:, None]).T / scale[:, None],
        (right * spread[:, None] * scale),
    )


def _largest(basis: Floats) -> Floats:
    """Largest absolute value of each row."""
    return np.asarray(np.maximum(basis.max(axis=1), -basis.min(axis=1)))


def _climb(
    basis: Floats, cases: Floats, totals: Floats, offset: Floats | None, start: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Newton steps of all replicates, each halved until the likelihood is no less."""
    reach = _largest(basis)
    coef, step = np.zeros((2, *totals.shape))
    step += start
    best = np.full(totals.shape[0], -np.inf)
    converged = np.zeros(totals.shape[0], dtype=bool)
    active = np.arange(totals.shape[0])
    for _ in range(LOGISTIC_STEPS):
        if not active.size:
            break
        trial = coef[active] + step[active]
        own = cases if cases.ndim == 1 else cases[active]
        cost, fitted, information = _sums(trial, basis, own, offset)
        value = (totals[active] * trial).sum(axis=1) - cost
        better = value >= best[active] - LOGISTIC_ROUNDING * np.abs(best[active])
        step[active[~better]] /= 2
        moved = active[better]
        coef[moved], best[moved] = trial[better], value[better]
        gradient = totals[moved] - fitted[better]
        step[moved], gain = _newton_step(gradient, information[better], reach)
        converged[moved] = gain < LOGISTIC_TOLERANCE
        active = active[~converged[active] & (np.abs(step[active]) @ reach > LOGISTIC_TOLERANCE)]
    coef[converged] += step[converged]
    return coef, converged


def log_likelihood(
    coef: Floats, basis: Floats, cases: Floats, totals: Floats, offset: Floats | None = None
) -> Floats:
    """Log likelihood of logit P = offset + coef @ basis, of shape (replicates,).

    With an offset it lacks the sum of outcome times offset, which no coefficient changes.
    """
    value: Floats = (totals * coef).sum(axis=1)
    for part in blocks(basis.shape[1], coef.shape[0], LOGISTIC_ROOM):
        eta = coef @ basis[:, part]
        if offset is not None:
            eta += offset[part]
        value -= np.vecdot(softplus(eta), cases[..., part])
    return value


def _sums(
    coef: Floats, basis: Floats, cases: Floats, offset: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Sums of log(1 + odds), and of the fitted probabilities with the basis; the information.

    Shapes: `cost` (replicates,); `fitted` (replicates, k); `information` (replicates, k, k).
    """
    count, size = coef.shape
    shapes = ((count,), (count, size), (count, size, size))
    cost, fitted, information = map(np.zeros, shapes)
    for part in blocks(basis.shape[1], count, LOGISTIC_ROOM):
        columns = basis[:, part]
        eta = coef @ columns
        if offset is not None:
            eta += offset[part]
        small = np.exp(-np.abs(eta))
        own = cases[..., part]
        more = 1 + small
        cost += np.vecdot(np.maximum(eta, 0) + np.log(more), own)
        weight = own / more
        fitted += (np.where(eta > 0, 1, small) * weight) @ columns.T
        weight *= small / more
        for k in range(size):
            information[:, k, k:] += weight @ (columns[k] * columns[k:]).T
    for k in range(size):
        information[:, k:, k] = information[:, k, k:]
    return cost, fitted, information


def _newton_step(gradient: Floats, information: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Step that moves no log-odds by more than LONGEST, and twice the gain it promises."""
    ridge = np.maximum(RIDGE * np.trace(information, axis1=1, axis2=2), LEAST)
    lifted = information + ridge[:, None, None] * np.eye(reach.size)
    step = np.linalg.solve(lifted, gradient[:, :, None])[:, :, 0]
    gain = (gradient * step).sum(axis=1)
    farthest = np.abs(step) @ reach
    return step * (LOGISTIC_LONGEST / np.maximum(farthest, LOGISTIC_LONGEST))[:, None], gain


def binomial_mle(
    basis: Floats,
    trials: Floats,
    hits: Floats,
    offset: Floats | float = 0.0,
    start: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Unpenalised binomial regression of one data set: logit P = offset + basis @ coef.

    Shapes: `basis` (rows, k); `trials`, `hits`, `offset` (rows,); `coef` (k,);
    `covariance` (k, k).
    """
    if not basis.shape[1]:
        return np.empty(0), np.empty((0, 0))
    scale = np.maximum(_largest(basis.T), 1e-300)
    columns = np.ascontiguousarray((basis / scale).T)
    shift = np.broadcast_to(np.asarray(offset, dtype=np.float64), trials.shape)
    totals = columns @ hits
    moved = shift if shift.any() else None
    coef, converged = fit_logistic(columns, trials, totals[None], moved, start * scale)
    _, (fitted,), (information,) = _sums(coef, columns, trials, shift)
    linear = coef[0] @ columns
    value = _binomial(shift + linear, trials, hits)
    curvature = np.linalg.eigvalsh(information)
    drifted = np.abs(linear).max() > FARTHEST and -value < 1e-6
    if not converged[0] or curvature[0] <= FLAT * curvature[-1] or drifted or value > -1e-9:
        raise SeparationError(NO_MAXIMUM)
    covariance = np.linalg.inv(information)
    return (coef[0] + covariance @ (totals - fitted)) / scale, covariance / np.outer(scale, scale)


def _binomial(eta: Floats, trials: Floats, hits: Floats) -> float:
    """Log likelihood of single outcomes, a sum of terms of one sign."""
    size = np.abs(eta)
    surprising = np.where(eta > 0, trials - hits, hits)
    return -float(surprising @ size + trials @ np.log1p(np.exp(-size)))


def logistic_mle(score: Floats, trials: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Logistic recalibration: (intercept, slope) on the log-odds, and their covariance.

    Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away.
    """
    x = log_odds_of(score)
    return binomial_mle(np.column_stack([np.ones_like(x), x]), trials, hits)


def logistic_gain(score: Floats, trials: Floats, hits: Floats) -> float:
    """Half the likelihood-ratio statistic of logistic recalibration against perfect calibration.

    Defined for separated outcomes too, where the likelihood approaches its supremum.
    """
    x = log_odds_of(score)
    basis = np.stack([np.ones_like(x), x])
    identity = np.array([0.0, 1.0])
    coef, _ = fit_logistic(basis, trials, (basis @ hits)[None], start=identity)
    return _binomial(coef[0] @ basis, trials, hits) - _binomial(x, trials, hits)


def softplus_near(x: Floats) -> Floats:
    """log(1 + exp(x)) in a third of the time of `softplus`; `x` is used as working memory.

    It is right to 1e-16, not to a relative 1e-16.
    """
    if x.max(initial=0) > (LARGEST_EXPONENT if x.itemsize == 8 else LARGEST_IN_SINGLE):
        return softplus(x)
    np.exp(x, out=x)
    x += 1
    return np.log(x, out=x)


def softplus(x: Floats) -> Floats:
    """log(1 + exp(x)) without overflow; `x` is used as working memory."""
    tail = np.abs(x)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    tail += np.maximum(x, 0, out=x)
    return tail
