"""Damped Newton steps to a local maximum. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["Mode", "by_differences", "maximise"]

UNSEEN = 1e-14
FINITE_DIFFERENCE = 0.01

Objective = Callable[[Floats], tuple[float, Floats, Floats]]


@dataclass(frozen=True)
class Mode:
    """Where a smooth function peaks, and how sharply.

    Attributes
    ----------
    point : ndarray of shape (d,)
    information : ndarray of shape (d, d)
        The negative Hessian at `point`.
    """

    point: Floats
    value: float
    information: Floats
    converged: bool


def maximise(
    objective: Objective,
    start: Floats,
    *,
    tolerance: float = 1e-12,
    steps: int = 200,
    longest: float = np.inf,
) -> Mode:
    """Climb to a local maximum by Newton steps, damped where the surface is not concave.

    Parameters
    ----------
    objective : callable
        Maps a point of shape (d,) to its value, gradient (d,) and Hessian (d, d).
    start : ndarray of shape (d,)
    tolerance : float
        Stop when the predicted gain of the next step falls below this.
    steps : int
        Most steps to take.
    longest : float
        Farthest that one step may move a coordinate.
    """
    point = np.array(start, dtype=np.float64)
    value, gradient, hessian = objective(point)
    converged = point.size == 0
    for _ in range(0 if converged else steps):
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


def by_differences(function: Callable[[Floats], Floats]) -> Objective:
    """A smooth function with its gradient and Hessian by central differences, for `maximise`.

    Parameters
    ----------
    function : callable
        Maps points of shape (n, d) to values of shape (n,). Its coordinates are on the scale of
        one: the step is 0.01.

    Returns
    -------
    callable
        Maps a point of shape (d,) to its value, gradient (d,) and Hessian (d, d).
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
