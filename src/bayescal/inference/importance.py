"""The fast engine: importance sampling of a curve's coordinates round the posterior mode."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._importance import Sample, importance_sample
from bayescal._newton import Mode, maximise
from bayescal._validate import Floats
from bayescal.data import CalibrationData
from bayescal.settings import Settings

__all__ = ["CurveDensity", "sample_importance"]

BLOCK = 1 << 16


class CurveDensity:
    """Log posterior density of a curve's working coordinates, unnormalised.

    The likelihood is of the single outcomes, without binomial coefficients.

    Parameters
    ----------
    settings : Settings
    data : CalibrationData
    """

    def __init__(self, settings: Settings, data: CalibrationData) -> None:
        self.curve, self.prior = settings.curve, settings.prior
        self.trials = data.trials * data.weight_scale
        self.hits = data.hits * data.weight_scale
        score = settings.edges.inside(data.score)
        self.offset, self.basis = self.curve.basis(score, settings.frame)
        shape = (self.basis.shape[1], self.curve.size)
        self._combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self._positive = np.array(self.curve.positive, dtype=bool)

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the outcomes at points `u` of shape (n, d)."""
        coefficients = np.empty((u.shape[0], self.basis.shape[1]))
        for column, values in enumerate(self.curve.coefficients(list(u.T))):
            coefficients[:, column] = values
        linear = self.hits @ self.offset + coefficients @ (self.hits @ self.basis)
        block = max(1, BLOCK // self.trials.size)
        for start in range(0, u.shape[0], block):
            part = slice(start, start + block)
            log_odds = coefficients[part] @ self.basis.T
            log_odds += self.offset
            linear[part] -= _softplus(log_odds) @ self.trials
        return linear

    def __call__(self, u: Floats) -> Floats:
        """Log density at points `u` of shape (n, d)."""
        return self.log_likelihood(u) + self.prior.logpdf(self.curve.coordinates, u)

    def derivatives(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and exact Hessian at one point `u` of shape (d,)."""
        coefficients = np.array(self.curve.coefficients(list(u)), dtype=np.float64)
        log_odds = self.offset + self.basis @ coefficients
        fitted = expit(log_odds)
        by_coefficient = self.basis.T @ (self.hits - self.trials * fitted)
        weight = self.trials * fitted * (1 - fitted)
        information = (self.basis.T * weight) @ self.basis
        scale = np.where(self._positive, coefficients, 1.0)
        jacobian = scale[:, None] * self._combination
        bend = np.where(self._positive, by_coefficient * coefficients, 0.0)
        gradient = jacobian.T @ by_coefficient
        hessian = (self._combination.T * bend) @ self._combination
        hessian -= jacobian.T @ information @ jacobian
        value = float(self(u[None])[0])
        for index, name in enumerate(self.curve.coordinates):
            slope, curvature = self.prior.of(name).slope_and_curvature(u[index])
            gradient[index] += slope
            hessian[index, index] += curvature
        return value, gradient, hessian

    def mode(self) -> Mode:
        """The posterior mode, climbed to from perfect calibration."""
        return maximise(self.derivatives, np.zeros(self.curve.size))


def sample_importance(settings: Settings, data: CalibrationData, draws: int) -> Sample:
    """Equal-weight posterior draws of the working coordinates.

    Parameters
    ----------
    settings : Settings
    data : CalibrationData
    draws : int

    Returns
    -------
    Sample
        With the evidence, its Monte Carlo error, and Pareto k-hat.
    """
    density = CurveDensity(settings, data)
    return importance_sample(density, density.mode(), draws, settings.rng("curve"))


def _softplus(x: Floats) -> Floats:
    """log(1 + exp(x)) without overflow, reusing memory."""
    tail = np.abs(x)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    tail += np.maximum(x, 0, out=x)
    return tail
