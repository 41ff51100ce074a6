"""Logistic recalibration of the scores: logit P = intercept + slope * logit score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import SeparationError
from bayescal._base.log_odds import log_odds_of
from bayescal._base.logistic import NO_MAXIMUM, fit_logistic, log_likelihood

__all__ = ["Recalibration", "as_cases", "defined"]

Converged = NDArray[np.bool_]


SAME_LOG_ODDS = 1e-6
"""About the rounding of 32-bit floats, also once they were printed and read again."""
ROUNDINGS = 4
RECALIBRATION_LONG = 1 << 12
"""Log-odds beyond which it pays to put them together first."""
RECALIBRATION_CELLS = 1 << 14
RECALIBRATION_TOGETHER = 8
"""Log-odds to a cell, on average, unless the cells are most."""
RECALIBRATION_STEPS = 5
RECALIBRATION_GAIN = 1e-13
"""Likelihood that a step gains, to the case, after which the next gains nothing."""


@dataclass(frozen=True)
class Recalibration:
    """Log-odds of the scores of cases, for logistic regressions of many sets of outcomes.

    Attributes
    ----------
    log_odds : ndarray of shape (n_samples,)
        Of the scores.
    cases : ndarray of shape (n_samples,) or (replicates, n_samples)
        How many cases each row stands for.
    rounding : float
        Relative rounding of the scores.
    """

    log_odds: Floats
    cases: Floats
    rounding: float = float(np.finfo(np.float64).eps)

    @classmethod
    def of(cls, scores: NDArray[Any], weights: Floats | None) -> Recalibration:
        """From scores, of 64 or 32 bits, and numbers of cases."""
        return cls(log_odds_of(scores), as_cases(weights, scores.size), _rounding_of(scores))

    @property
    def basis(self) -> Floats:
        """Constant and log-odds, of shape (2, n_samples)."""
        return np.stack([np.ones_like(self.log_odds), self.log_odds])

    def totals(self, outcomes: NDArray[Any]) -> Floats:
        """Number of events and the sum of their log-odds, of shape (replicates, 2)."""
        events = outcomes * self.cases
        return np.stack([events.sum(axis=-1), events @ self.log_odds], axis=-1)

    def fit_shift(self, totals: Floats) -> tuple[Floats, Converged]:
        """Best intercept with a slope of 1; far out where one class is missing."""
        if self._is_long:
            coef, converged = self._by_cells(totals, free=1)
            if converged.all():
                return coef[:, 0], converged
        constant = np.ones((1, self.log_odds.size))
        coef, converged = fit_logistic(constant, self.cases, totals[:, :1], self.log_odds)
        return coef[:, 0], converged

    def fit_line(self, totals: Floats) -> tuple[Floats, Converged]:
        """Best intercept and slope, (replicates, 2); far out where outcomes are separated.

        The search begins at the scores as they are.
        """
        if self._is_long:
            coef, converged = self._by_cells(totals, free=2)
            if converged.all():
                return coef, converged
        centre, scale = self.log_odds.mean(), self.log_odds.std() or 1.0
        basis = self.basis
        basis[1] -= centre
        basis[1] /= scale
        events, sums = totals.T
        centred = np.stack([events, (sums - centre * events) / scale], axis=1)
        coef, converged = fit_logistic(basis, self.cases, centred, start=np.array([centre, scale]))
        slope = coef[:, 1] / scale
        return np.stack([coef[:, 0] - centre * slope, slope], axis=1), converged

    @property
    def _is_long(self) -> bool:
        """Whether log-odds are so many that it pays to put them together first."""
        return self.cases.ndim == 1 and self.log_odds.size > RECALIBRATION_LONG

    def _by_cells(self, totals: Floats, free: int) -> tuple[Floats, Converged]:
        """Intercept and slope by Newton steps of all cases, from the best of cases in cells.

        The slope is 1 where only one coefficient is free.
        """
        low, high = self.log_odds.min(), self.log_odds.max()
        number = min(RECALIBRATION_CELLS, self.log_odds.size // RECALIBRATION_TOGETHER)
        scale = (number - 1) / max(high - low, SAME_LOG_ODDS)
        sums = np.zeros((2, number))
        for part in blocks(self.log_odds.size):
            x, cases = self.log_odds[part], self.cases[part]
            cell = ((x - low) * scale).astype(np.intp)
            sums[0] += np.bincount(cell, cases, number)
            sums[1] += np.bincount(cell, cases * x, number)
        cases, sums = sums[:, sums[0] > 0]
        cells = Recalibration(sums / cases, cases)
        coef = np.ones_like(totals)
        if free == 1:
            coef[:, 0], converged = cells.fit_shift(totals)
        else:
            coef, converged = cells.fit_line(totals)
        for _ in range(RECALIBRATION_STEPS):
            if not converged.all():
                break
            gradient, information = self._slopes(coef, totals)
            step = np.linalg.solve(information[:, :free, :free], gradient[:, :free, None])[..., 0]
            coef[:, :free] += step
            gain = (gradient[:, :free] * step).sum(axis=1)
            if (gain < RECALIBRATION_GAIN * self.log_odds.size).all():
                return coef, converged
        return coef, np.zeros_like(converged)

    def _slopes(self, coef: Floats, totals: Floats) -> tuple[Floats, Floats]:
        """Gradient of the log likelihood in intercept and slope, and the information."""
        gradient, information = totals.copy(), np.zeros((len(totals), 2, 2))
        for part in blocks(self.log_odds.size, len(totals)):
            x, cases = self.log_odds[part], self.cases[part]
            fitted = expit(coef[:, :1] + coef[:, 1:] * x)
            weight = cases * fitted
            gradient -= np.stack([weight.sum(axis=1), weight @ x], axis=1)
            weight *= 1 - fitted
            first = weight @ x
            information += np.moveaxis(
                np.array([[weight.sum(axis=1), first], [first, weight @ (x * x)]]), 2, 0
            )
        return gradient, information

    def log_likelihood(self, coef: Floats, totals: Floats) -> Floats:
        """Log likelihood of intercept and slope, (replicates, 2), for every replicate."""
        return log_likelihood(coef, self.basis, self.cases, totals)

    def standard_errors(self, coef: Floats) -> Floats:
        """Of intercept and slope, and of the intercept alone, from the information at `coef`.

        Moments about the mean, so that log-odds that hardly differ leave no negative variance;
        infinite where the fitted probabilities leave no information.
        """
        fitted = expit(coef[0] + coef[1] * self.log_odds)
        weight = self.cases * fitted * (1 - fitted)
        total = weight.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = weight @ self.log_odds / total
            spread = weight @ (self.log_odds - mean) ** 2
            variances = np.array([1 / total + mean**2 / spread, 1 / spread, 1 / total])
        return np.sqrt(np.where(np.isnan(variances), np.inf, variances))

    @property
    def varies(self) -> bool:
        """Whether cases that count have more than one score."""
        counted = self.log_odds[self.cases > 0]
        return bool(counted.min() < counted.max())

    def has_both(self, totals: Floats) -> NDArray[np.bool_]:
        """Whether there are events and others, so that the best intercept exists."""
        both: NDArray[np.bool_] = (totals[:, 0] > 0) & (totals[:, 0] < self.cases.sum(axis=-1))
        return both

    def overlaps(self, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether events and others overlap in their scores, so that the best slope exists.

        An overlap within rounding is a tie.
        """
        first_event, last_event = self._ends((outcomes != 0) & (self.cases > 0))
        first_other, last_other = self._ends((outcomes == 0) & (self.cases > 0))
        below = first_event + self._resolution(first_event)
        above = first_other + self._resolution(first_other)
        return (below < last_other) & (above < last_event)

    def _resolution(self, log_odds: Floats) -> Floats:
        """Difference in log-odds up to which scores are one score: 1e-6, or their rounding."""
        return np.maximum(SAME_LOG_ODDS, ROUNDINGS * self.rounding * (1 + np.exp(log_odds)))

    def _ends(self, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        lowest = np.where(chosen, self.log_odds, np.inf).min(axis=-1)
        return lowest, np.where(chosen, self.log_odds, -np.inf).max(axis=-1)


def _rounding_of(scores: NDArray[Any]) -> float:
    """That of 32-bit floats if all scores are such, which 64-bit ones hold without a change."""
    parts = (scores[part] for part in blocks(scores.size))
    are_single = all(bool((part == part.astype(np.float32)).all()) for part in parts)
    return float(np.finfo(np.float32 if are_single else np.float64).eps)


def as_cases(weights: Floats | None, size: int) -> Floats:
    """Numbers of cases; None stands for one each."""
    return np.broadcast_to(np.float64(1), size) if weights is None else weights


def defined(value: float | Floats) -> float | Floats:
    """The value, or values; SeparationError for a single one that is NaN."""
    if isinstance(value, float) and np.isnan(value):
        raise SeparationError(NO_MAXIMUM)
    return value
