"""Likelihoods of the curves of several sites, and their derivatives.

Sites of about as many nodes are evaluated together. The axes of an array are the sites, then the
coordinates or coefficients, and then the points, so that every operation runs over many points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import LARGEST_EXPONENT, softplus
from bayescal.inference.density import LEAST_PRECISION, NEAR, Adjustment, CurveDensity, Nodes
from bayescal.model.cells import gauss_of_groups
from bayescal.model.curve import expit_in_place
from bayescal.model.law import BINOMIAL, late_of
from bayescal.model.prior import JointPrior
from bayescal.model.problem import Problem
from bayescal.model.rows import LikelihoodRows, columns_at, every_row
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


class Told(NamedTuple):
    """What the data of S sites say at their coordinates, at n points.

    Log likelihood (S, n), its gradient (S, r, n) and expected information (S, r, r, n).
    """

    value: Floats
    gradient: Floats
    information: Floats


class SiteLikelihood(ABC):
    """Likelihoods of the curves of S sites, of one family and prior: `numbers` of all.

    A curve of one of them needs `width` numbers, and none has more than `most_cases`.
    """

    def __init__(
        self,
        problem: Problem,
        columns: list[int],
        numbers: Any,
        width: int,
        most_cases: float,
    ) -> None:
        self.curve, self.size = problem.curve, len(numbers)
        self.width, self.most_cases = width, most_cases
        self.moved = slice(columns[0], columns[-1] + 1)
        self.numbers = np.array(numbers, dtype=np.intp)
        shape = (len(self.curve.positive), self.curve.size)
        self._combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self._positive = np.array(self.curve.positive, dtype=bool)
        self._is_plain = np.array_equal(self._combination, np.eye(self.curve.size))

    @abstractmethod
    def log_likelihood(self, u: Any) -> Any:
        """Log likelihood (S, n) at working coordinates of shape (S, d, n)."""

    @abstractmethod
    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats, Floats]:
        """Log likelihood (S, n), gradient (S, k, n) and information (S, k * k, n).

        By the curve's coefficients, of shape (S, 1 + k, n) with the weight of the offset first.
        """

    def _coefficients(self, u: Any) -> Any:
        weights = np.empty((len(u), 1 + len(self._positive), u.shape[2]), u.dtype)
        weights[:, 0] = 1.0
        if self._is_plain:
            weights[:, 1:] = u
        else:
            np.matmul(self._combination.astype(u.dtype), u, out=weights[:, 1:])
        for k in np.flatnonzero(self._positive) + 1:
            np.exp(weights[:, k], out=weights[:, k])
        return weights

    def told(self, u: Floats, columns: slice = EVERY) -> Told:
        """Log likelihood, and its derivatives by some of the coordinates u (S, d, n)."""
        coefficients = self._coefficients(u)
        value, gradient, information = self._by_coefficient(coefficients)
        slopes = np.where(self._positive[:, None], coefficients[:, 1:], 1.0)
        gradient *= slopes
        information *= (slopes[:, :, None] * slopes[:, None]).reshape(information.shape)
        if self._is_plain:
            square = information.reshape(len(u), *self._combination.shape, -1)
            return Told(value, gradient[:, columns], square[:, columns, columns])
        by_column = self._combination[:, columns]
        k, r = by_column.shape
        pairs = (by_column[:, None, :, None] * by_column[None, :, None, :]).reshape(k * k, r * r)
        square = (pairs.T @ information).reshape(len(u), r, r, -1)
        return Told(value, by_column.T @ gradient, square)


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


class _Nodes(NamedTuple):
    """The nodes of S sites; those with fewer have nodes without patients.

    Derivatives of log-odds (S, nodes, 1 + k), cases (S, nodes), and sums over events (S, 1 + k).
    Of entries that are known in part, derivatives, and weight, share and other (3, S, entries, 1).
    """

    basis: Any
    trials: Any
    events: Any
    late: Any
    partial: Any

    @classmethod
    def of(cls, each: Sequence[LikelihoodRows]) -> Self:
        """Those of the rows of each site."""
        size, most, parts, k = len(each), 0, 0, len(each[0].columns)
        for one in each:
            most = max(most, one.size)
            parts = max(parts, one.weight.size if isinstance(one, RowsGivenSteps) else 0)
        shapes = (size, most, k), (size, most), (size, k), (size, parts, k), (3, size, parts, 1)
        made = cls(*map(np.zeros, shapes))
        for number, one in enumerate(each):
            made.basis[number, : one.size] = one.columns.T
            made.trials[number, : one.size] = one.trials
            made.events[number] = one.constant, *one.events
            if isinstance(one, RowsGivenSteps):
                own = slice(one.weight.size)
                made.late[number, own] = one.late.T
                made.partial[:, number, own, 0] = one.weight, one.share, one.other
        return made


class TableLikelihood(SiteLikelihood):
    """Of the patients of several sites.

    Of times to an event it is given when events come, with entries that are known in part.
    """

    def __init__(
        self,
        problem: Problem,
        columns: list[int],
        numbers: Any,
        rows: Sequence[Any],
        adjustments: Sequence[Adjustment | None] = (),
    ) -> None:
        nodes = self._nodes = _Nodes.of(rows)
        self._single = _Nodes(*map(np.float32, nodes))
        slopes = nodes.basis[..., 1:].transpose(0, 2, 1)
        self._weighted = nodes.trials[:, None] * slopes
        self._products = _pairs(slopes, self._weighted)
        self._clustered = _Clustered.of(adjustments)
        width = nodes.trials.shape[1] + nodes.late.shape[1]
        super().__init__(problem, columns, numbers, width, nodes.trials.sum(axis=1).max())

    def log_likelihood(self, u: Any) -> Any:
        """Log likelihood of the single outcomes, without binomial coefficients.

        In the precision of the coordinates.
        """
        coefficients, beside = self._coefficients(u), None
        if self._clustered is not None:
            coefficients, beside = self._clustered.read_at(coefficients)
        nodes = self._single if coefficients.dtype == np.float32 else self._nodes
        value = (nodes.events[:, None] @ coefficients)[:, 0]
        for some in self._blocks(coefficients):
            cost = BINOMIAL.cost_near(nodes.basis[some] @ coefficients[some])
            value[some] -= (nodes.trials[some, None] @ cost)[:, 0]
            if nodes.late.size:
                g = expit_in_place(nodes.late[some] @ coefficients[some])
                value[some] += _log_without(g, *nodes.partial[:, some])
        return value if beside is None else value + beside

    def _blocks(self, coefficients: Floats) -> Iterator[slice]:
        """Sites whose nodes fit into the cache, at all points."""
        return blocks(self.size, self.width * coefficients.shape[2])

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats, Floats]:
        nodes, n, clustered, beside = self._nodes, coefficients.shape[2], self._clustered, None
        if clustered is not None:
            coefficients, beside = clustered.read_at(coefficients)
        value = (nodes.events[:, None] @ coefficients)[:, 0]
        gradient = np.repeat(nodes.events[:, 1:, None], n, axis=2)
        information = np.empty((self.size, self._products.shape[1], n))
        for some in self._blocks(coefficients):
            cost, fitted = _cost_and_mean(nodes.basis[some] @ coefficients[some])
            value[some] -= (nodes.trials[some, None] @ cost)[:, 0]
            gradient[some] -= self._weighted[some] @ fitted
            np.subtract(1, fitted, out=cost)
            fitted *= cost
            information[some] = self._products[some] @ fitted
            if nodes.late.size:
                g = expit_in_place(nodes.late[some] @ coefficients[some])
                seen = (nodes.trials[some, None] @ fitted)[:, 0]
                value[some] += _log_without(g.copy(), *nodes.partial[:, some])
                self._add_late(some, g, seen, gradient[some], information[some])
        if clustered is not None:
            gradient, information = clustered.by(gradient, information)
        return value if beside is None else value + beside, gradient, information

    def _add_late(
        self, some: slice, g: Floats, seen: Floats, gradient: Floats, information: Floats
    ) -> None:
        """Add what entries that are known in part tell, by their curves; `seen`: all others.

        As cases came under observation late, information is lost, of all coefficients the same
        share, so that what is left is positive.
        """
        weight, share, other = self._nodes.partial[:, some]
        basis = self._nodes.late[some, :, 1:].transpose(0, 2, 1)
        late, bend = late_of(g, share, other)
        gradient -= basis @ (late * weight)
        bend = np.maximum(bend, 0) * weight
        told = np.maximum(bend, 0)
        information += _pairs(basis, basis) @ told
        if (weight < 0).any():
            lost, seen = -np.minimum(bend, 0).sum(axis=1), seen + told.sum(axis=1)
            unseen = np.minimum(lost / np.maximum(seen, lost), MOST_UNSEEN)
            information *= 1 - unseen[:, None]


def _pairs(left: Floats, right: Floats) -> Floats:
    """Products (S, k * k, nodes) of every two rows of arrays (S, k, nodes)."""
    size, k, nodes = left.shape
    return (left[:, :, None] * right[:, None]).reshape(size, k * k, nodes)


def _cost_and_mean(log_odds: Floats) -> tuple[Floats, Floats]:
    """log(1 + odds), and the risk, by one exponential; log-odds are used as working memory."""
    if log_odds.max(initial=0) > LARGEST_EXPONENT:
        return softplus(log_odds.copy()), expit_in_place(log_odds)
    odds = np.exp(log_odds, out=log_odds)
    cost = odds + 1
    odds /= cost
    return np.log(cost, out=cost), odds


def _log_without(g: Any, weight: Any, share: Any, other: Any) -> Any:
    """Log likelihood (S, n) of entries that are known in part, by their curves (S, entries, n)."""
    g *= other - share
    g += 1 - other
    return (weight.transpose(0, 2, 1) @ np.log(g, out=g))[:, 0]


def of_tables(
    problem: Problem, columns: list[int], densities: Mapping[int, CurveDensity]
) -> list[SiteLikelihood]:
    """Likelihoods of the tables of sites, by number, those of about as many nodes together."""
    numbers, rows, adjustments = np.array(list(densities)), [], []
    for each in densities.values():
        rows.append(each.rows)
        adjustments.append(each.adjustment)
    made: list[SiteLikelihood] = []
    for same in _of_one_size(rows):
        own = [rows[k] for k in same]
        changes = [adjustments[k] for k in same]
        made.append(TableLikelihood(problem, columns, numbers[same], own, changes))
    return made


def _of_one_size(rows: Sequence[Any]) -> list[NDArray[np.intp]]:
    """Numbers of the tables of about as many rows, together."""
    sizes = np.array(list(map(attrgetter("size"), rows)))
    doubled = np.ceil(np.log2(np.maximum(sizes / SITE_NODES.first, 1)))
    return list(map(np.flatnonzero, np.unique(doubled)[:, None] == doubled))


# Steps to the modes of all sites, of which a site needs three.
STEPS_TO_MODES = 50


def rows_of_sites(groups: Sequence[Problem]) -> list[LikelihoodRows]:
    """Of the table of each group as few nodes as agree with its rows, or all of these.

    As `CurveDensity` chooses them for one table, and of all tables at once: a thousand cells take
    the time of ten.
    """
    rows, curve = list(map(every_row, groups)), groups[0].curve
    prior, at = JointPrior(groups[0].prior, curve.coordinates), np.zeros((len(rows), curve.size))
    for left in _of_one_size(rows):
        count = SITE_NODES.first
        while count <= SITE_NODES.most:
            left = np.array([k for k in left if rows[k].size > count], np.intp)
            if not left.size:
                break
            every = [rows[k] for k in left]
            few = _at_nodes([groups[k] for k in left], every, count)
            of_few, of_every = (
                TableLikelihood(groups[0], [0], left, some) for some in (few, every)
            )
            mode, information, converged = _modes(of_few, prior, at[left])
            around = mode[..., None] + _round_modes(information)
            error = np.abs(of_few.log_likelihood(around) - of_every.log_likelihood(around))
            agree = converged & (error.max(axis=1) <= SITE_NODES.error)
            for k in np.flatnonzero(agree):
                rows[left[k]] = few[k]
            at[left] = np.where(converged[:, None], mode, 0.0)
            left, count = left[~agree], 2 * count
    return rows


def _at_nodes(
    groups: Sequence[Problem], every: Sequence[LikelihoodRows], count: int
) -> list[LikelihoodRows]:
    """The nodes of the Gauss rules of several tables, in place of all of their rows."""
    trials = np.concatenate([each.trials for each in every])
    x = logit(np.concatenate([group.table.score for group in groups]))
    start = np.cumsum([0, *(each.size for each in every[:-1])])
    nodes, weight, _ = gauss_of_groups(x, trials, start, count)
    columns = columns_at(groups[0], nodes.ravel()).reshape(-1, *nodes.shape).swapaxes(0, 1)
    return [
        replace(each, columns=own, trials=cases)
        for each, own, cases in zip(every, columns, weight, strict=True)
    ]


def _modes(
    part: SiteLikelihood, prior: JointPrior, at: Floats
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Modes (S, d) of the curves of all sites, the information there, and which converged."""
    scale, still = np.ones((len(at), 1)), np.zeros(len(at), dtype=bool)
    value, slope, information = _told_with_prior(part, prior, at)
    for _ in range(STEPS_TO_MODES):
        step = np.linalg.solve(information, slope[..., None])[..., 0]
        still = np.vecdot(slope, step) < NEAR
        if still.all():
            break
        near = at + scale * np.clip(step, -SITE_NODES.longest, SITE_NODES.longest)
        told = _told_with_prior(part, prior, near)
        better = ~still & (told.value > value)
        at, value = np.where(better[:, None], near, at), np.where(better, told.value, value)
        slope = np.where(better[:, None], told.gradient, slope)
        information = np.where(better[:, None, None], told.information, information)
        scale = np.where(better[:, None], 1.0, scale / 2)
    return at, information, still


def _told_with_prior(part: SiteLikelihood, prior: JointPrior, at: Floats) -> Told:
    """Log posterior density (S,), its gradient (S, d) and information (S, d, d), of all sites."""
    value, slope, information = part.told(at[..., None])
    slope, information = slope[..., 0].copy(), information[..., 0].copy()
    for k, law in prior.laws[0]:
        of_prior, curvature = law.slope_and_curvature(at[:, k])
        slope[:, k] += of_prior
        information[:, k, k] += np.maximum(-curvature, LEAST_PRECISION)
    return Told(value[:, 0] + prior.logpdf(at), slope, information)


def _round_modes(information: Floats) -> Floats:
    """Where nodes are checked, (S, d, 1 + 2 d): at the mode, and far off in every direction."""
    curvature, directions = np.linalg.eigh(information)
    steps = SITE_NODES.deviations / np.sqrt(np.maximum(curvature, SITE_NODES.least))
    far = np.clip(steps[:, None] * directions, -SITE_NODES.longest, SITE_NODES.longest)
    return np.concatenate([np.zeros_like(far[..., :1]), far, -far], axis=2)


class SummaryLikelihood(SiteLikelihood):
    """Of what is known of one site without its patients: see `Summary`."""

    def __init__(self, summary: Summary, columns: list[int], number: int) -> None:
        self.summary = summary
        super().__init__(summary.problem, columns, [number], summary.weight.size, np.inf)

    def log_likelihood(self, u: Any) -> Any:
        """Log likelihood of the summaries, without constants."""
        coefficients = self._coefficients(u)[0]
        return self._value(*self._mean_and_slope(coefficients, self._fitted(coefficients)))

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats, Floats]:
        summary, fitted = self.summary, self._fitted(coefficients[0])
        mean, slope = self._mean_and_slope(coefficients[0], fitted)
        fitted *= 1 - fitted
        fitted *= summary.weight[:, None]
        by_mean, by_slope = summary.columns[1:] @ fitted, summary.line[1:, None]
        gradient, information = summary.derivatives(mean, slope)
        total = gradient[0] * by_mean + gradient[1] * by_slope
        both = information[0] * by_mean[:, None] * by_mean
        both += information[1] * by_slope[:, None] * by_slope
        return self._value(mean, slope), total[None], both.reshape(1, -1, mean.size)

    def _fitted(self, coefficients: Floats) -> Floats:
        return expit_in_place(self.summary.columns.T @ coefficients)

    def _mean_and_slope(self, coefficients: Floats, fitted: Floats) -> tuple[Floats, Floats]:
        mean = self.summary.weight @ fitted
        inside = np.clip(mean, LEAST_CURVE_MEAN, 1 - LEAST_CURVE_MEAN)
        return inside, self.summary.line @ coefficients

    def _value(self, mean: Floats, slope: Floats) -> Floats:
        return np.asarray(self.summary.log_likelihood(mean, slope, np.log, np.log1p))[None]
