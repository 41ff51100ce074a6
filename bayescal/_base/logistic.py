"""Damped Newton steps, and the maximum-likelihood fits built on them. Arrays only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit, log_expit, logit

from bayescal._base.arrays import Floats
from bayescal._base.errors import SeparationError

__all__ = [
    "Mode",
    "beta_mle",
    "binomial_mle",
    "logistic_gain",
    "logistic_mle",
    "maximise",
    "softplus",
]

EDGE = 1e-12
LARGEST_LOG_ODDS = 40.0
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
        try:
            factor = cho_factor(information + ridge * np.eye(gradient.size))
            step: Floats = cho_solve(factor, gradient)
            return step
        except LinAlgError:
            ridge = 1e-6 * unit if ridge == 0 else 10 * ridge


def binomial_mle(
    basis: Floats, trials: Floats, hits: Floats, offset: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Unpenalised binomial regression: logit P = offset + basis @ coef.

    Parameters
    ----------
    basis : ndarray of shape (rows, k)
    trials, hits : ndarray of shape (rows,)
    offset : ndarray of shape (rows,) or float

    Returns
    -------
    coef : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        Inverse of the observed information.

    Raises
    ------
    SeparationError
        When the likelihood has no maximum: one class only, or outcomes that the basis separates.
    """
    scale = np.maximum(np.abs(basis).max(axis=0), 1e-300)
    scaled = basis / scale

    def log_likelihood(coef: Floats) -> tuple[float, Floats, Floats]:
        return _binomial(coef, scaled, trials, hits, offset)

    mode = maximise(log_likelihood, np.zeros(basis.shape[1]), tolerance=1e-22)
    eta = offset + scaled @ mode.point
    curvature = np.linalg.eigvalsh(mode.information) if mode.point.size else np.ones(1)
    drifted = np.abs(eta - offset).max(initial=0.0) > LARGEST_LOG_ODDS and -mode.value < 1e-6
    if not mode.converged or curvature[0] <= 1e-12 * curvature[-1] or drifted or mode.value > -1e-9:
        raise SeparationError(
            "y_true is perfectly separated by the scores, holds one class only, or has too few "
            "distinct scores, so the maximum-likelihood estimate does not exist. "
            "A posterior does: use bayescal.fit, or bayescal.recalibrate.BayesianRecalibrator."
        )
    covariance = np.linalg.inv(mode.information) / np.outer(scale, scale)
    return mode.point / scale, covariance


def _binomial(
    coef: Floats, basis: Floats, trials: Floats, hits: Floats, offset: Floats | float
) -> tuple[float, Floats, Floats]:
    """Log likelihood of single outcomes, its gradient and its Hessian."""
    eta = offset + basis @ coef
    fitted = expit(eta)
    value = hits @ log_expit(eta) + (trials - hits) @ log_expit(-eta)
    weight = trials * fitted * (1 - fitted)
    return float(value), basis.T @ (hits - trials * fitted), -(basis.T * weight) @ basis


def logistic_mle(score: Floats, trials: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Logistic recalibration: (intercept, slope) on the log-odds, and their covariance.

    Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away.
    """
    log_odds = logit(np.clip(score, EDGE, 1 - EDGE))
    return binomial_mle(np.column_stack([np.ones_like(log_odds), log_odds]), trials, hits)


def logistic_gain(score: Floats, trials: Floats, hits: Floats) -> float:
    """Half the likelihood-ratio statistic of logistic recalibration against perfect calibration.

    Defined for separated outcomes too, where the likelihood approaches its supremum.
    """
    log_odds = logit(np.clip(score, EDGE, 1 - EDGE))
    basis = np.column_stack([np.ones_like(log_odds), log_odds])

    def log_likelihood(coef: Floats) -> tuple[float, Floats, Floats]:
        return _binomial(coef, basis, trials, hits, 0.0)

    start = np.array([0.0, 1.0])
    return maximise(log_likelihood, start).value - log_likelihood(start)[0]


def beta_mle(score: Floats, trials: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Beta calibration, unconstrained: (a, b, c) of logit g = a log s - b log(1 - s) + c.

    Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away. `a` or `b` may be negative.
    """
    inside = np.clip(score, EDGE, 1 - EDGE)
    basis = np.column_stack([np.log(inside), -np.log1p(-inside), np.ones_like(inside)])
    return binomial_mle(basis, trials, hits)


def softplus(x: Floats) -> Floats:
    """log(1 + exp(x)) without overflow; `x` is used as working memory."""
    tail = np.abs(x)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    tail += np.maximum(x, 0, out=x)
    return tail
