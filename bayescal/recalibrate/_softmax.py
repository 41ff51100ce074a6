"""Maps of the log-probabilities of all classes at once, of least log score or Brier score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import SeparationError
from bayescal._base.log_odds import EDGE
from bayescal._base.newton import maximise

__all__ = [
    "LOSSES",
    "best_scales",
    "best_slope",
    "case_counts",
    "least_squares_slope",
    "log_probabilities",
]

LOSSES = ("log", "brier")

_TOLERANCE = 1e-22
_FLAT = 1e-12
_CERTAIN = 1e-9
_TRIED_SLOPES = np.geomspace(0.01, 100, 41)
_NO_MAXIMUM = (
    "The maximum-likelihood estimate does not exist: a class has no cases, or the probabilities "
    "separate the classes. A posterior does: use bayescal.recalibrate.BayesianRecalibrator."
)


def log_probabilities(proba: Floats) -> Floats:
    """Log p, with p read as no less than 1e-12."""
    logs: Floats = np.log(np.maximum(proba, EDGE))
    return logs


def case_counts(size: int, weights: Floats | None) -> Floats:
    """Weight of each case; 1 where none is given."""
    return np.ones(size) if weights is None else weights


def best_slope(logs: Floats, code: NDArray[np.intp], weights: Floats | None) -> float:
    """The b that maximises the likelihood of softmax(b log p)."""
    case = case_counts(code.size, weights)
    own = _of_class(logs, code)
    if not ((own < logs.max(axis=1)).any() and (own > logs.min(axis=1)).any()):
        raise SeparationError(_NO_MAXIMUM)

    def log_likelihood(slope: Floats) -> tuple[float, Floats, Floats]:
        value = gradient = information = 0.0
        for part in blocks(*logs.shape):
            eta = slope[0] * logs[part]
            fitted = softmax(eta, axis=1)
            mean = np.sum(fitted * logs[part], axis=1)
            spread = np.sum(fitted * (logs[part] - mean[:, None]) ** 2, axis=1)
            value += float(case[part] @ (slope[0] * own[part] - logsumexp(eta, axis=1)))
            gradient += float(case[part] @ (own[part] - mean))
            information += float(case[part] @ spread)
        return value, np.array([gradient]), np.array([[-information]])

    return float(maximise(log_likelihood, np.ones(1), tolerance=_TOLERANCE).point[0])


def least_squares_slope(logs: Floats, code: NDArray[np.intp], weights: Floats | None) -> float:
    """The b from 0.01 to 100 with the least Brier score of softmax(b log p).

    The Brier score is not convex in b: the best of slopes spread over the range is refined.
    """
    case = case_counts(code.size, weights)

    def brier(log_slope: float) -> float:
        total = 0.0
        for part in blocks(*logs.shape):
            fitted = softmax(np.exp(log_slope) * logs[part], axis=1)
            own = _of_class(fitted, code[part])
            total += float(case[part] @ (np.vecdot(fitted, fitted) - 2 * own))
        return total

    tried = np.log(_TRIED_SLOPES)
    at = int(np.argmin([brier(each) for each in tried]))
    near = tried[max(at - 1, 0)], tried[min(at + 1, tried.size - 1)]
    return float(np.exp(minimize_scalar(brier, bounds=near, options={"xatol": 1e-10}).x))


def best_scales(
    logs: Floats, code: NDArray[np.intp], weights: Floats | None
) -> tuple[Floats, Floats]:
    """The a and b that maximise the likelihood of softmax(a_j log p_j + b_j), sum of b zero."""
    case = case_counts(code.size, weights)
    size = logs.shape[1]
    unit = np.abs(logs).max(axis=0)
    scaled = logs / np.where(unit > 0, unit, 1)
    free = np.arange(2 * size - 1)

    def log_likelihood(coef: Floats) -> tuple[float, Floats, Floats]:
        slopes, biases = coef[:size], np.append(coef[size:], 0)
        value, gradient, information = 0.0, np.zeros(2 * size), np.zeros((2 * size, 2 * size))
        for part in blocks(*logs.shape):
            z, count = scaled[part], case[part]
            eta = slopes * z + biases
            fitted = softmax(eta, axis=1)
            miss = -fitted
            miss[np.arange(z.shape[0]), code[part]] += 1
            value += float(count @ (_of_class(eta, code[part]) - logsumexp(eta, axis=1)))
            gradient += np.concatenate([count @ (miss * z), count @ miss])
            pulled = np.hstack([fitted * z, fitted])
            information -= (pulled.T * count) @ pulled
            for i, j, power in ((0, 0, z * z), (0, size, z), (size, size, np.ones_like(z))):
                own = count @ (fitted * power)
                information[i + np.arange(size), j + np.arange(size)] += own
                if i != j:
                    information[j + np.arange(size), i + np.arange(size)] += own
        return value, gradient[free], -information[np.ix_(free, free)]

    start = np.concatenate([unit, np.zeros(size - 1)])
    mode = maximise(log_likelihood, start, tolerance=_TOLERANCE)
    curvature = np.linalg.eigvalsh(mode.information)
    flat = curvature[0] <= _FLAT * curvature[-1]
    if not mode.converged or flat or mode.value > -_CERTAIN:
        raise SeparationError(_NO_MAXIMUM)
    biases = np.append(mode.point[size:], 0)
    return mode.point[:size] / np.where(unit > 0, unit, 1), biases - biases.mean()


def _of_class(values: Floats, code: NDArray[np.intp]) -> Floats:
    """The entry of each row that belongs to its class."""
    entries: Floats = values[np.arange(code.size), code]
    return entries
