"""The beta curve fitted again to every weighting of the same cases, all at once."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.data.table import CalibrationData
from bayescal.inference.density import CurveDensity
from bayescal.model.curve import expit_in_place
from bayescal.model.curves import CURVES
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare

__all__ = ["Refit"]

FAMILY = CURVES["beta"]
POSITIVE, COMBINATION = np.array(FAMILY.positive), np.array(FAMILY.combination)
REFIT_STEPS = 50
REFIT_CLOSE = 1e-4
REFIT_LONGEST = 1.0


class Refit:
    """A posterior mode for each weighting.

    Parameters
    ----------
    data : CalibrationData
        The cases; their own mode is where each search starts.

    Attributes
    ----------
    problem : Problem
        Its rows are those of the curves.
    """

    def __init__(self, data: CalibrationData, prior: Prior) -> None:
        problem = prepare(data, curve=FAMILY, prior=prior, random_state=0)
        self.prior, self.problem = prior, problem
        self.start = CurveDensity(problem).mode().point
        self.offset, self.basis = FAMILY.basis(problem.score, problem.frame)
        products = self.basis[:, :, None] * self.basis[:, None, :]
        self.products = products.reshape(problem.score.size, -1)

    def curves(self, trials: Floats, hits: Floats) -> Floats:
        """The curve at every score, for weightings of the rows, all of shape (replicates, rows).

        By a step of Fisher scoring, then Newton steps where the surface is concave.
        """
        u = np.tile(self.start, (trials.shape[0], 1))
        events, left = hits @ self.basis, np.arange(trials.shape[0])
        fitted = self._probability(u[:1])
        for turn in range(REFIT_STEPS):
            step = self._step(u[left], trials, events, fitted, newton=turn > 0)
            longest = np.abs(step).max(axis=1)
            u[left] += step * np.minimum(1.0, REFIT_LONGEST / np.maximum(longest, 1e-300))[:, None]
            far = longest > REFIT_CLOSE
            if not far.any():
                break
            if not far.all():
                left, trials, events = left[far], trials[far], events[far]
            fitted = self._probability(u[left])
        return self._probability(u)

    def _coefficients(self, u: Floats) -> Floats:
        return np.stack(FAMILY.coefficients(list(u.T)), axis=1)

    def _probability(self, u: Floats) -> Floats:
        log_odds: Floats = self._coefficients(u) @ self.basis.T
        log_odds += self.offset
        return expit_in_place(log_odds)

    def _step(
        self, u: Floats, trials: Floats, events: Floats, fitted: Floats, *, newton: bool
    ) -> Floats:
        size = self.basis.shape[1]
        expected = trials * fitted
        score = events - expected @ self.basis
        information = (BINOMIAL.spread(trials, fitted) @ self.products).reshape(-1, size, size)
        coefficients = self._coefficients(u)
        jacobian = np.where(POSITIVE, coefficients, 1.0)[:, :, None] * COMBINATION
        gradient = np.einsum("ikd,ik->id", jacobian, score)
        curvature = jacobian.transpose(0, 2, 1) @ information @ jacobian
        for index, name in enumerate(FAMILY.coordinates):
            slope, bend = self.prior.of(name).slope_and_curvature(u[:, index])
            gradient[:, index] += slope
            curvature[:, index, index] += np.abs(bend)
        if newton:
            bends = np.where(POSITIVE, score * coefficients, 0.0)
            exact = curvature - np.einsum("ik,kd,ke->ide", bends, COMBINATION, COMBINATION)
            concave = np.linalg.eigvalsh(exact)[:, :1, None] > 0
            curvature = np.where(concave, exact, curvature)
        step: Floats = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        return step
