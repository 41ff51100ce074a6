"""Likelihoods of the curves of several sites, and their derivatives.

Sites of about as many nodes are evaluated together. The axes of an array are the sites, then the
coordinates or coefficients, and then the points, so that every operation runs over many points.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.inference.density import Adjustment, CurveDensity, Nodes
from bayescal.model.curve import expit_in_place
from bayescal.model.law import BINOMIAL, late_of
from bayescal.model.problem import Problem
from bayescal.model.rows import LikelihoodRows
from bayescal.model.times import RowsGivenSteps
from bayescal.multilevel.known import Summary

# Nodes in place of merged rows: the log evidence of 500 sites of 200 patients was 2 too large by
# those, and the fit took 3.9 times as long.
# The error is that four standard deviations off; where most of the posterior is, it is a hundredth
# of that.
SITE_NODES = Nodes(10, error=5e-3)
# Means of a curve nearer to 0 or 1 are of no posterior probability, and have no logarithm.
LEAST_CURVE_MEAN = 1e-15
MOST_UNSEEN = 0.9
# Coordinates beyond it have no posterior probability, and an exponential that may overflow.
MOST_OFF = 30.0
EVERY = slice(None)


class SiteLikelihood(ABC):
    """Likelihoods of the curves of S sites, of one family and prior: `numbers` of all."""

    def __init__(self, problem: Problem, columns: list[int], numbers: Sequence[int]) -> None:
        self.curve = problem.curve
        self.moved = slice(columns[0], columns[-1] + 1)
        self.numbers = np.array(numbers, dtype=np.intp)
        shape = (len(self.curve.positive), self.curve.size)
        self._combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self._positive = np.array(self.curve.positive, dtype=bool)
        self._is_plain = np.array_equal(self._combination, np.eye(self.curve.size))

    @property
    def size(self) -> int:
        """Number of sites."""
        return self.numbers.size

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers that a curve of one of the sites needs."""

    @abstractmethod
    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood (S, n) at working coordinates of shape (S, d, n)."""

    @abstractmethod
    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Gradient (S, k, n) and expected information (S, k * k, n) by the curve's coefficients.

        These are of shape (S, 1 + k, n), with the weight of the offset first.
        """

    def _coefficients(self, u: Floats) -> Floats:
        weights = np.empty((len(u), 1 + len(self._positive), u.shape[2]))
        weights[:, 0] = 1.0
        if self._is_plain:
            weights[:, 1:] = u
        else:
            np.matmul(self._combination, u, out=weights[:, 1:])
        for k in np.flatnonzero(self._positive) + 1:
            np.exp(weights[:, k], out=weights[:, k])
        return weights

    def derivatives(self, u: Floats, columns: slice = EVERY) -> tuple[Floats, Floats]:
        """Gradient (S, r, n) and expected information (S, r, r, n) by some coordinates of u."""
        coefficients = self._coefficients(u)
        gradient, information = self._by_coefficient(coefficients)
        slopes = np.where(self._positive[:, None], coefficients[:, 1:], 1.0)
        gradient *= slopes
        information *= (slopes[:, :, None] * slopes[:, None]).reshape(information.shape)
        if self._is_plain:
            square = information.reshape(len(u), *self._combination.shape, -1)
            return gradient[:, columns], square[:, columns, columns]
        by_column = self._combination[:, columns]
        k, r = by_column.shape
        pairs = (by_column[:, None, :, None] * by_column[None, :, None, :]).reshape(k * k, r * r)
        return by_column.T @ gradient, (pairs.T @ information).reshape(len(u), r, r, -1)


class _Clustered(NamedTuple):
    """The adjustments of the likelihoods of S sites, whose cases come in clusters.

    Top and linear term (S, k, 1), contraction (S, k, k), and constant (S, 1).
    """

    top: Floats
    linear: Floats
    contraction: Floats
    constant: Floats

    @classmethod
    def of(cls, adjustments: Sequence[Adjustment | None]) -> Self | None:
        """Those of all sites; None without clusters."""
        each = [adjustment for adjustment in adjustments if adjustment is not None]
        if not each:
            return None
        return cls(
            np.stack([one.top for one in each])[..., None],
            np.stack([np.broadcast_to(one.linear, one.top.shape) for one in each])[..., None],
            np.stack([one.contraction for one in each]),
            np.array([[one.constant] for one in each]),
        )

    def read_at(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Where likelihoods are read, of shape (S, 1 + k, n), and what is added, (S, n)."""
        away, read = coefficients[:, 1:] - self.top, coefficients.copy()
        read[:, 1:] = self.top + self.contraction @ away
        return read, (self.linear * away).sum(axis=1) + self.constant

    def by(self, gradient: Floats, information: Floats) -> tuple[Floats, Floats]:
        """Gradient and information by the coefficients, from those where they are read."""
        across, k = self.contraction.transpose(0, 2, 1), gradient.shape[1]
        pairs = np.einsum("sai,sbj->sijab", self.contraction, self.contraction)
        return across @ gradient + self.linear, pairs.reshape(-1, k * k, k * k) @ information


class TableLikelihood(SiteLikelihood):
    """Of the patients of several sites; those with fewer rows have rows without patients.

    Of times to an event it is given when events come, with entries that are known in part.
    """

    def __init__(
        self,
        problem: Problem,
        columns: list[int],
        numbers: Sequence[int],
        densities: Sequence[CurveDensity],
    ) -> None:
        rows = [each.rows for each in densities if isinstance(each.rows, LikelihoodRows)]
        size, most, k = len(rows), max(each.size for each in rows), rows[0].events.size
        self._basis, self._trials = np.zeros((size, 1 + k, most)), np.zeros((size, most))
        for number, each in enumerate(rows):
            self._basis[number, :, : each.size] = each.columns
            self._trials[number, : each.size] = each.trials
        self._events = np.array([[each.constant, *each.events] for each in rows])
        self._weighted = self._trials[:, None] * self._basis[:, 1:]
        both = self._basis[:, 1:, None] * self._weighted[:, None]
        self._products = both.reshape(size, k * k, most)
        self._clustered = _Clustered.of([each.adjustment for each in densities])
        followed = [each for each in rows if isinstance(each, RowsGivenSteps)]
        most = max((each.weight.size for each in followed), default=0)
        self._late, self._partial = np.zeros((size, 1 + k, most)), np.zeros((3, size, most))
        for number, each in enumerate(followed):
            own = slice(each.weight.size)
            self._late[number, :, own] = each.late
            self._partial[:, number, own] = each.weight, each.share, each.other
        super().__init__(problem, columns, numbers)

    @property
    def width(self) -> int:
        """Nodes of each site, and entries that are known in part."""
        return self._trials.shape[1] + self._late.shape[2]

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the single outcomes, without binomial coefficients."""
        coefficients, beside = self._coefficients(u), None
        if self._clustered is not None:
            coefficients, beside = self._clustered.read_at(coefficients)
        value = self._log_likelihood_read_at(coefficients)
        if beside is not None:
            value += beside
        return value

    def _log_likelihood_read_at(self, coefficients: Floats) -> Floats:
        """Of independent cases, by coefficients of shape (S, 1 + k, n)."""
        value: Floats = (self._events[:, None] @ coefficients)[:, 0]
        log_odds = self._basis.transpose(0, 2, 1) @ coefficients
        value -= (self._trials[:, None] @ BINOMIAL.cost_near(log_odds))[:, 0]
        if self._late.size:
            weight, share, other = self._partial
            without = expit_in_place(self._late.transpose(0, 2, 1) @ coefficients)
            without *= (other - share)[..., None]
            without += (1 - other)[..., None]
            value += (weight[:, None] @ np.log(without, out=without))[:, 0]
        return value

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        clustered = self._clustered
        if clustered is None:
            return self._slopes_read_at(coefficients)
        return clustered.by(*self._slopes_read_at(clustered.read_at(coefficients)[0]))

    def _slopes_read_at(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Gradient and information of independent cases, by the coefficients."""
        fitted = expit_in_place(self._basis.transpose(0, 2, 1) @ coefficients)
        gradient = self._events[:, 1:, None] - self._weighted @ fitted
        fitted *= 1 - fitted
        information = self._products @ fitted
        if not self._late.size:
            return gradient, information
        weight, share, other = self._partial[..., None]
        basis = self._late[:, 1:]
        g = expit_in_place(self._late.transpose(0, 2, 1) @ coefficients)
        late, bend = late_of(g, share, other)
        gradient -= basis @ (late * weight)
        k, most = basis.shape[1:]
        both = (basis[:, :, None] * basis[:, None]).reshape(len(basis), k * k, most)
        bend = np.maximum(bend, 0) * weight
        information += both @ np.maximum(bend, 0)
        if (weight < 0).any():
            information *= 1 - self._unseen(fitted, bend)[:, None]
        return gradient, information

    def _unseen(self, spread: Floats, bend: Floats) -> Floats:
        """Share of the information (S, n) that is lost as cases came under observation late.

        Of all coefficients the same, so that what is left is positive.
        """
        seen = (self._trials[..., None] * spread).sum(axis=1) + np.maximum(bend, 0).sum(axis=1)
        lost = -np.minimum(bend, 0).sum(axis=1)
        return np.asarray(np.minimum(lost / np.maximum(seen, lost), MOST_UNSEEN))


def of_tables(
    problem: Problem, columns: list[int], densities: Mapping[int, CurveDensity]
) -> list[SiteLikelihood]:
    """Likelihoods of the tables of sites, by number, those of about as many nodes together."""
    sizes: dict[int, list[int]] = {}
    for k, density in densities.items():
        doublings = math.ceil(math.log2(max(density.rows.size / SITE_NODES.first, 1)))
        sizes.setdefault(doublings, []).append(k)
    return [
        TableLikelihood(problem, columns, same, [densities[k] for k in same])
        for same in sizes.values()
    ]


class SummaryLikelihood(SiteLikelihood):
    """Of what is known of one site without its patients: see `Summary`."""

    def __init__(self, summary: Summary, columns: list[int], number: int) -> None:
        self.summary = summary
        super().__init__(summary.problem, columns, [number])

    @property
    def width(self) -> int:
        """Scores over which a curve has its mean."""
        return self.summary.weight.size

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the summaries, without constants."""
        coefficients = self._coefficients(u)
        mean = self._inside(self.summary.weight @ self._fitted(coefficients))
        slope = self.summary.line @ coefficients
        return np.asarray(self.summary.log_likelihood(mean, slope, np.log, np.log1p))

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        summary, fitted = self.summary, self._fitted(coefficients)[0]
        mean = self._inside(summary.weight @ fitted)
        fitted *= 1 - fitted
        fitted *= summary.weight[:, None]
        by_mean, by_slope = summary.columns[1:] @ fitted, summary.line[1:, None]
        gradient, information = summary.derivatives(mean, summary.line @ coefficients[0])
        total = gradient[0] * by_mean + gradient[1] * by_slope
        both = information[0] * by_mean[:, None] * by_mean
        both += information[1] * by_slope[:, None] * by_slope
        return total[None], both.reshape(1, -1, mean.size)

    def _fitted(self, coefficients: Floats) -> Floats:
        return expit_in_place(self.summary.columns.T @ coefficients)

    def _inside(self, mean: Floats) -> Floats:
        return np.clip(mean, LEAST_CURVE_MEAN, 1 - LEAST_CURVE_MEAN)
