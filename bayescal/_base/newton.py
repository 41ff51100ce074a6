"""Damped Newton steps to a local maximum. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["Mode", "maximise"]

NOISE = 1e-14

Objective = Callable[[Floats], tuple[float, Floats, Floats]]


@dataclass(frozen=True)
class Mode:
    """Where a smooth function peaks, and how sharply.

    Attributes
    ----------
    point : ndarray of shape (d,)
    value : float
    information : ndarray of shape (d, d)
        The negative Hessian at `point`.
    converged : bool
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

    Returns
    -------
    Mode
    """
    point = np.array(start, dtype=np.float64)
    value, gradient, hessian = objective(point)
    converged = point.size == 0
    for _ in range(0 if converged else steps):
        step = _ascent_step(gradient, -hessian)
        if gradient @ step < tolerance:
            converged = True
            break
        if gradient @ step < NOISE * (1 + abs(value)):  # the value cannot show it; step and stop
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


def _ascent_step(gradient: Floats, information: Floats) -> Floats:
    """Solve for the Newton step, adding just enough ridge to make it point uphill."""
    ridge = 0.0
    unit = max(float(np.abs(np.diag(information)).max()), 1e-8)
    while True:
        lifted = information + ridge * np.eye(gradient.size)
        try:
            np.linalg.cholesky(lifted)  # only a positive definite matrix has one
            return np.asarray(np.linalg.solve(lifted, gradient), np.float64)
        except np.linalg.LinAlgError:
            ridge = 1e-6 * unit if ridge == 0 else 10 * ridge
