"""Draws of a calibration curve at the scores of a population, for functionals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.posterior.line import CLOGLOG, nearest_line, nearest_shift
from bayescal.posterior.population import Population

__all__ = ["CurveDraws"]

ERROR_LEVELS = (0.5, 0.9)  # of E50 and E90


@dataclass(frozen=True)
class CurveDraws:
    """Draws of a calibration curve at the scores of a population.

    What several functionals need is worked out once and kept.

    Attributes
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    population : Population
        The scores and their weights.
    """

    curve: Floats
    population: Population

    @cached_property
    def error(self) -> Floats:
        """The curve minus the score, of shape (draws, rows)."""
        return self.curve - self.population.score

    @cached_property
    def distance(self) -> Floats:
        """Absolute errors, of shape (draws, rows), or (1, rows) where all draws are one curve."""
        one_curve = self.curve.strides[0] == 0 and self.population.score.ndim == 1
        error = (self.curve[:1] if one_curve else self.curve) - self.population.score
        return np.abs(error, out=error)

    @cached_property
    def ranked(self) -> tuple[Any, Floats]:
        """Absolute errors in ascending order, of shape (draws, rows) or (1, rows), and beneath.

        That is the weight, or cases where they are whole, up to each, itself included.
        """
        error, population = self.distance, self.population
        counted = population.weight if population.trials is None else population.trials
        if len(error) > 1 and counted.ndim > 1:
            # Sorted as doubles, the error above and its weight below: a third of the time of an
            # order and of what it picks.
            pairs = np.stack([counted, error], axis=-1, dtype=np.float32, casting="same_kind")
            pairs.view(np.float64).sort(axis=1)
            return pairs[..., 1], np.cumsum(pairs[..., 0], axis=1, dtype=np.float64)
        order = np.argsort(error, axis=1)
        ranked = np.take(counted, order[0], axis=1) if counted.ndim > 1 else counted[order]
        return np.take_along_axis(error, order, axis=1), np.cumsum(ranked, axis=1)

    @cached_property
    def error_quantiles(self) -> Floats:
        """The quantiles `ERROR_LEVELS` of the absolute error, of shape (levels, draws).

        Of type 7 over patients for a sample, else the weighted inverse CDF. Where the cases of a
        row differ they are interpolated between rows.
        """
        total, share = self.ranked[1][:, -1], np.array(ERROR_LEVELS)[:, None]
        if self.population.merged:
            quantiles = self._interpolated(share * total)
        elif self.population.trials is None:
            quantiles = self._error_at(self._reaching(share * total))
        else:
            position = (total - 1) * share
            floor = np.floor(position)
            lower, upper = (self._error_at(self._reaching(floor + k)) for k in (1, 2))
            quantiles = lower + (position - floor) * (upper - lower)
        # Single precision may have rounded them up.
        quantiles = np.minimum(quantiles, self.distance.max(axis=1))
        return np.array(np.broadcast_to(quantiles, (len(share), len(self.curve))))

    def _interpolated(self, level: Floats) -> Floats:
        """The errors at which the weight below is `level`, half the weight of a row below its own.

        Beyond the middles of the outer rows it is the least or the largest.
        """
        below = self.ranked[1]
        draw = np.arange(len(below))

        def middle(row: NDArray[np.intp]) -> Floats:
            before = np.where(row > 0, below[draw, row - 1], 0)
            return np.asarray(before + below[draw, row]) / 2

        row = self._reaching(level)
        row += middle(row) < level
        lower, upper = np.maximum(row - 1, 0), np.minimum(row, below.shape[1] - 1)
        start = middle(lower)
        gap = middle(upper) - start
        share = np.clip((level - start) / np.where(gap > 0, gap, 1), 0, 1)
        first, last = self._error_at(lower), self._error_at(upper)
        return np.asarray(first + share * (last - first))

    def _reaching(self, level: Floats) -> NDArray[np.intp]:
        """The first of the ordered rows with which the weight reaches each level."""
        return np.stack([(self.ranked[1] >= each[:, None]).argmax(axis=1) for each in level])

    def _error_at(self, row: NDArray[np.intp]) -> Floats:
        """The absolute errors at ordered rows, of shape (levels, draws)."""
        error, _ = self.ranked
        return np.asarray(error[np.arange(row.shape[1]) if len(error) > 1 else 0, row], np.float64)

    @cached_property
    def events(self) -> Floats:
        """Expected events a case, E_w g, of shape (draws,)."""
        return self.mean(self.curve)

    @cached_property
    def predicted(self) -> Floats:
        """Predicted events a case, E_w s, of shape (draws,)."""
        return self.mean(self.population.score)

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        return nearest_line(self.curve, self.population.weight, self._inside)

    @cached_property
    def cloglog_line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in complementary log-log nearest to each draw."""
        return nearest_line(self.curve, self.population.weight, self._inside, CLOGLOG)

    @property
    def _inside(self) -> Floats:
        """The scores, strictly between 0 and 1."""
        population = self.population
        return population.score if population.inside is None else population.inside

    @cached_property
    def shift(self) -> Floats:
        """The shift in log-odds that gives each draw its expected events."""
        return nearest_shift(self.events, self.population.weight, self.population.score)

    def mean(self, values: Floats) -> Floats:
        """Average over the population, one number a draw."""
        weight = self.population.weight
        if values.ndim == 1:
            return self.each(weight @ values)
        if weight.ndim == 1:
            return np.asarray(np.broadcast_to(values, self.curve.shape) @ weight)
        return np.asarray(np.vecdot(np.broadcast_to(values, self.curve.shape), weight))

    def each(self, values: Floats) -> Floats:
        """One number a draw, of numbers that may be the same for all."""
        return np.array(np.broadcast_to(values, self.curve.shape[:1]))
