"""A family of curves fitted to many tables at once: weightings of cases, or simulated studies."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.model.curve import Curve, expit_in_place
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import Prior

__all__ = ["Refit"]

REFIT_STEPS = 50
REFIT_CLOSE = 1e-4
REFIT_LONGEST = 1.0

Tables: TypeAlias = NDArray[np.intp] | slice


class Refit:
    """Posterior modes of the coordinates of a curve in many tables.

    `offset` and `basis` are those of the scores of each table, of shape (tables, rows) and (tables,
    rows, terms), or (1, ...) where all tables have the same scores. Each search starts at `start`.
    """

    def __init__(
        self, curve: Curve, prior: Prior, offset: Floats, basis: Floats, start: Floats
    ) -> None:
        self.offset, self.basis, self.start = offset, basis, start
        products = basis[..., :, None] * basis[..., None, :]
        self._products = products.reshape(*offset.shape, -1)
        self._positive = np.array(curve.positive, dtype=bool)
        self._combination = np.array(curve.combination, dtype=np.float64).reshape(-1, curve.size)
        self._priors = [prior.of(name) for name in curve.coordinates]

    def modes(self, trials: Floats, hits: Floats) -> Floats:
        """Coordinates of shape (tables, d) for counts of shape (tables, rows).

        By a step of Fisher scoring, then Newton steps where the surface is concave.
        """
        u, left = np.tile(self.start, (len(trials), 1)), np.arange(len(trials))
        fitted = self._curves(u[:1], slice(None))
        for turn in range(REFIT_STEPS):
            gradient, expected, exact = self._derivatives(u[left], left, trials, hits, fitted)
            information = expected if turn == 0 else exact
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
            longest = np.abs(step).max(axis=1)
            u[left] += step * np.minimum(1.0, REFIT_LONGEST / np.maximum(longest, 1e-300))[:, None]
            far = longest > REFIT_CLOSE
            if not far.any():
                break
            if not far.all():
                left, trials, hits = left[far], trials[far], hits[far]
            fitted = self._curves(u[left], left)
        return u

    def curves(self, u: Floats) -> Floats:
        """The curve of each table at its scores, of shape (tables, rows)."""
        return self._curves(u, slice(None))

    def slopes(self, u: Floats) -> Floats:
        """Derivatives of its log-odds by the coordinates, of shape (tables, rows, d)."""
        return np.asarray(np.matmul(self.basis, self._jacobian(self._coefficients(u))))

    def information(self, u: Floats, trials: Floats, hits: Floats) -> Floats:
        """The negative Hessian at `u`, of shape (tables, d, d); expected where not concave."""
        return self._derivatives(u, slice(None), trials, hits, self.curves(u))[2]

    def _of(self, terms: Floats, tables: Tables) -> Floats:
        """Terms of some of the tables."""
        return terms if len(self.basis) == 1 else terms[tables]

    def _coefficients(self, u: Floats) -> Floats:
        linear = u @ self._combination.T
        return np.where(self._positive, np.exp(linear), linear)

    def _jacobian(self, coefficients: Floats) -> Floats:
        """Derivatives of the coefficients by the coordinates, of shape (tables, terms, d)."""
        return np.where(self._positive, coefficients, 1.0)[:, :, None] * self._combination

    def _curves(self, u: Floats, tables: Tables) -> Floats:
        coefficients = self._coefficients(u)
        offset, basis = self._of(self.offset, tables), self._of(self.basis, tables)
        if len(basis) == 1:
            return expit_in_place(coefficients @ basis[0].T + offset)
        return expit_in_place(np.matmul(basis, coefficients[..., None])[..., 0] + offset)

    def _derivatives(
        self, u: Floats, tables: Tables, trials: Floats, hits: Floats, fitted: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Gradient, expected information, and negative Hessian, or the former if not concave."""
        basis, products = self._of(self.basis, tables), self._of(self._products, tables)
        coefficients = self._coefficients(u)
        jacobian = self._jacobian(coefficients)
        score = _summed(hits - trials * fitted, basis)
        spread = _summed(BINOMIAL.spread(trials, fitted), products)
        information = spread.reshape(len(u), *2 * basis.shape[-1:])
        gradient = np.einsum("ikd,ik->id", jacobian, score)
        expected = jacobian.transpose(0, 2, 1) @ information @ jacobian
        for k, prior in enumerate(self._priors):
            slope, bend = prior.slope_and_curvature(u[:, k])
            gradient[:, k] += slope
            expected[:, k, k] += np.abs(bend)
        bends = np.where(self._positive, score * coefficients, 0.0)
        exact = expected - np.einsum("ik,kd,ke->ide", bends, self._combination, self._combination)
        concave = np.linalg.eigvalsh(exact)[:, :1, None] > 0
        return gradient, expected, np.where(concave, exact, expected)


def _summed(values: Floats, by: Floats) -> Floats:
    """Sums over the rows of each table, of terms that are the same in all if there is one."""
    return np.asarray(values @ by[0] if len(by) == 1 else np.matmul(values[:, None], by)[:, 0])
