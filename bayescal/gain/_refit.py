"""The beta curve fitted again to every weighting of the same cases, all at once."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.data.data import CalibrationData
from bayescal.data.weights import read_type
from bayescal.inference.density import CurveDensity
from bayescal.model.curves import CURVES
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare

__all__ = ["Refit"]

FAMILY = CURVES["beta"]
POSITIVE, COMBINATION = np.array(FAMILY.positive), np.array(FAMILY.combination)
REFIT_STEPS = 50
REFIT_CLOSE = 1e-6
REFIT_LONGEST = 1.0


class Refit:
    """A posterior mode for each weighting.

    Parameters
    ----------
    outcome, score, weight : ndarray of shape (n,)
        The cases; their own mode is where each search starts.
    prior : Prior
    """

    def __init__(self, outcome: Floats, score: Floats, weight: Floats, prior: Prior) -> None:
        data = CalibrationData(outcome, score, weight, weight_type=read_type(weight))
        problem = prepare(data, curve=FAMILY, prior=prior, random_state=0)
        density = CurveDensity(problem)
        self.outcome, self.prior = outcome, prior
        self.start = density.mode().point
        self.offset, self.basis = FAMILY.basis(problem.inside(score), problem.frame)
        products = self.basis[:, :, None] * self.basis[:, None, :]
        self.products = products.reshape(score.size, -1)

    def curves(self, cases: Floats) -> Floats:
        """The curve at every case, for weightings of shape (replicates, n), by Fisher scoring."""
        u = np.tile(self.start, (cases.shape[0], 1))
        for _ in range(REFIT_STEPS):
            fitted = self._probability(u)
            step = self._step(u, cases, fitted)
            longest = np.abs(step).max(axis=1, keepdims=True)
            u += step * np.minimum(1.0, REFIT_LONGEST / np.maximum(longest, 1e-300))
            if longest.max() < REFIT_CLOSE:
                break
        return self._probability(u)

    def _probability(self, u: Floats) -> Floats:
        coefficients = np.stack(FAMILY.coefficients(list(u.T)), axis=1)
        fitted: Floats = expit(self.offset + coefficients @ self.basis.T)
        return fitted

    def _step(self, u: Floats, cases: Floats, fitted: Floats) -> Floats:
        size = self.basis.shape[1]
        score = (cases * (self.outcome - fitted)) @ self.basis
        information = ((cases * fitted * (1 - fitted)) @ self.products).reshape(-1, size, size)
        coefficients = np.stack(FAMILY.coefficients(list(u.T)), axis=1)
        jacobian = np.where(POSITIVE, coefficients, 1.0)[:, :, None] * COMBINATION
        gradient = np.einsum("ikd,ik->id", jacobian, score)
        curvature = np.einsum("ikd,ikl,ile->ide", jacobian, information, jacobian)
        for index, name in enumerate(FAMILY.coordinates):
            slope, bend = self.prior.of(name).slope_and_curvature(u[:, index])
            gradient[:, index] += slope
            curvature[:, index, index] += np.abs(bend)
        step: Floats = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        return step
