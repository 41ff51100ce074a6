"""Rising maps whose slope is a broken line: the map, its penalty, and its best fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize
from scipy.special import log_softmax

from bayescal._base.arrays import Floats

__all__ = ["PULL", "best_slopes", "common_map", "rise_of", "roughness_of"]

PULL = 0.01


def common_map(
    logits: Floats,
    code: NDArray[np.intp],
    weights: Floats | None,
    n_knots: int,
    penalty: float,
    least: float = 0.0,
) -> tuple[Floats, Floats]:
    """Knots, and slopes of at least `least`, of the best map f in softmax(f(logits))."""
    table, row = np.unique(np.column_stack([logits, code]), axis=0, return_inverse=True)
    logits, label = table[:, :-1], table[:, -1].astype(np.intp)
    case = np.bincount(row.ravel(), weights).astype(np.float64)
    low, high = logits.min(), logits.max()
    knots = np.linspace(low, high if high > low else low + 1, n_knots)
    basis = rise_of(logits.ravel(), knots, np.eye(n_knots)).reshape(*logits.shape, n_knots)
    row = np.arange(label.size)

    def likelihood(slopes: Floats) -> tuple[float, Floats]:
        eta = log_softmax(basis @ slopes, axis=1)
        miss = -np.exp(eta)
        miss[row, label] += 1
        return float(case @ eta[row, label]), np.tensordot(case[:, None] * miss, basis)

    identity = np.ones(n_knots)
    total = float(case.sum())
    rough = roughness_of(n_knots, penalty)
    return knots, best_slopes(likelihood, rough, identity, total, n_knots, least)


def roughness_of(size: int, penalty: float) -> Floats:
    """Matrix of the penalty on slopes."""
    difference = np.diff(np.eye(size), axis=0)
    return penalty * difference.T @ difference + PULL / size * np.eye(size)


def best_slopes(
    likelihood: Callable[[Floats], tuple[float, Floats]],
    roughness: Floats,
    identity: Floats,
    cases: float,
    slopes: int,
    least: float = 0.0,
) -> Floats:
    """Coefficients, the last `slopes` of them `least` or more, of the penalised maximum."""

    def loss(coef: Floats) -> tuple[float, Floats]:
        value, gradient = likelihood(coef)
        away = roughness @ (coef - identity)
        return float((coef - identity) @ away / 2 - value) / cases, (away - gradient) / cases

    best = minimize(
        loss,
        identity,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * (identity.size - slopes) + [(least, None)] * slopes,
        options={"maxiter": 2000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9},
    )
    coef: Floats = best.x
    return coef


def rise_of(values: Floats, knots: Floats, slopes: Floats) -> Floats:
    """Integral, from the first knot, of broken lines with these slopes at the knots.

    `slopes` has shape (knots,), or (knots, d) for d lines at once.
    """
    integral = make_interp_spline(knots, slopes, k=1).antiderivative()
    rise: Floats = integral(np.clip(values, knots[0], knots[-1]))
    rise += np.multiply.outer(np.minimum(values - knots[0], 0), slopes[0])
    rise += np.multiply.outer(np.maximum(values - knots[-1], 0), slopes[-1])
    return rise
