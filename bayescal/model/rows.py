"""Rows of a likelihood: exact sums of the events, and the trials at rows or at nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.model.curve import bounded_probability, expit_in_place
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem

# Log-odds over which a basis is taken to be straight, to correct for the rounding of a score.
BESIDE = 1e-3

# Of curves without a floor and a ceiling.
NO_RATES = np.empty((1, 0))


@dataclass(frozen=True)
class LikelihoodRows:
    """The log likelihood of curves that are linear in k coefficients on the log-odds scale.

    It is constant + coefficients @ events - sum of trials * log(1 + odds), where the odds are those
    of the curve at each row. The events enter it linearly, so that their sums are exact; rows are
    those of a table, or stand for them in the last sum. All rows answer to the same three calls;
    these curves have no `rates`.
    """

    columns: Floats  # (1 + k, rows): offset and basis
    trials: Floats  # (rows,)
    events: Floats  # (k,): sums of the events times the basis, over every row of the table
    constant: float  # sum of the events times the offset

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.trials.size

    @property
    def offset(self) -> Floats:
        """Log-odds of a curve without coefficients, of shape (rows,)."""
        return np.asarray(self.columns[0])

    @property
    def basis(self) -> Floats:
        """What each coefficient adds to the log-odds, of shape (rows, k)."""
        return self.columns[1:].T

    def log_likelihood(self, coefficients: Floats, rates: Floats = NO_RATES) -> Floats:
        """Of n curves, by the weight of the offset and their coefficients, of shape (n, 1 + k)."""
        value: Floats = self.constant + coefficients[:, 1:] @ self.events
        for part in blocks(len(value), self.trials.size):
            value[part] -= BINOMIAL.cost_near(coefficients[part] @ self.columns) @ self.trials
        return value

    def derivatives(
        self, coefficients: Floats, rates: Floats = NO_RATES[0]
    ) -> tuple[float, Floats, Floats]:
        """Value, gradient and information at the coefficients (k,), and the rates, of one curve."""
        basis, log_odds = self.columns[1:], self.columns[0] + coefficients @ self.columns[1:]
        fitted = BINOMIAL.mean(log_odds)
        value = self.constant + coefficients @ self.events - self.trials @ BINOMIAL.cost(log_odds)
        expected = self.trials * fitted
        information = (basis * (expected * (1 - fitted))) @ basis.T
        return float(value), self.events - basis @ expected, information

    def tempered(self, effect: float, log_diagonal: float) -> LikelihoodRows:
        """The same with every case counted as one over the effect.

        `log_diagonal`: log likelihood of exact calibration, which stays as it is.
        """
        return replace(
            self,
            trials=self.trials / effect,
            events=self.events / effect,
            constant=self.constant / effect + (1 - 1 / effect) * log_diagonal,
        )


def every_row(problem: Problem) -> LikelihoodRows:
    """Every row of a problem's table."""
    table = problem.table
    offset, basis = problem.curve.basis(table.score, problem.frame)
    columns = np.vstack([offset, basis.T])
    return LikelihoodRows(columns, table.trials, table.hits @ basis, float(table.hits @ offset))


def merged_rows(problem: Problem, every: LikelihoodRows) -> LikelihoodRows:
    """The problem's rows, neighbours of which are merged, with the diagonal's exact likelihood.

    For curves that bend at knots, between which rows may not be few.
    """
    if not problem.is_merged:
        return every
    x = np.asarray(logit(problem.table.score))
    trials, of = problem.sum_of_rows(every.trials), every.trials
    merged = BINOMIAL.cost(problem.mean_of_rows(x, of))
    change = float(trials @ merged - of @ BINOMIAL.cost(x))
    columns = np.ascontiguousarray(problem.mean_of_rows(every.columns.T, of).T)
    return LikelihoodRows(columns, trials, every.events, every.constant + change)


def at_nodes(problem: Problem, every: LikelihoodRows, count: int) -> LikelihoodRows:
    """At most `count` nodes of a Gauss rule in place of every row of the table, or few rows."""
    some = every.trials > 0
    if np.count_nonzero(some) <= count:
        if some.all():
            return every
        return replace(every, columns=every.columns[:, some], trials=every.trials[some])
    nodes, trials = problem.rule("trials", count)
    return replace(every, columns=columns_at(problem, nodes), trials=trials)


def columns_at(problem: Problem, x: Floats) -> Floats:
    """Offset and basis at log-odds, of shape (1 + k, entries).

    Also near a score of 1, which has few digits of 1 - score.
    """
    if not x.size:
        return np.empty((1 + len(problem.curve.positive), 0))
    both = expit(np.concatenate([x, x + BESIDE]))
    offset, basis = problem.curve.basis(both, problem.frame)
    columns = np.vstack([offset, basis.T])
    there, off = np.split(logit(both), 2)
    step = (x - there) / (off - there)
    return np.asarray((1 - step) * columns[:, : x.size] + step * columns[:, x.size :])


@dataclass(frozen=True)
class OutcomeNodes:
    """Log likelihood of g = guess + (1 - guess - lapse) h, h linear in k coefficients in log-odds.

    The sum of log g over the events and of log(1 - g) over the non-events, each over nodes of their
    own: 1 - g is the same function as g, of -logit h, with the rates in each other's place. So the
    columns of the non-events, (1 + k, nodes) with offset and basis, have their signs turned.
    """

    columns: tuple[Floats, Floats]
    weight: tuple[Floats, Floats]
    constant: float = 0.0

    @property
    def size(self) -> int:
        """Number of nodes, of both kinds."""
        return self.weight[0].size + self.weight[1].size

    def log_likelihood(self, coefficients: Floats, rates: Floats) -> Floats:
        """Of n curves.

        `coefficients` (n, 1 + k): the weight of the offset, and the coefficients of h; `rates` (n,
        2): guess and lapse.
        """
        value = np.full(len(coefficients), self.constant)
        for part in blocks(len(value), self.size):
            for kind in range(2):
                low, high = rates[part, kind, None], rates[part, 1 - kind, None]
                g = expit_in_place(coefficients[part] @ self.columns[kind])
                g *= 1 - low - high
                g += low
                with np.errstate(divide="ignore"):
                    value[part] += np.log(g, out=g) @ self.weight[kind]
        return value

    def derivatives(self, coefficients: Floats, rates: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and information by the k coefficients and the two rates, of one curve."""
        k = coefficients.size
        value, gradient, information = self.constant, np.zeros(k + 2), np.zeros((k + 2, k + 2))
        for kind in range(2):
            sums = sums_of_bounded(
                self.columns[kind], self.weight[kind], coefficients, rates[kind], rates[1 - kind]
            )
            order = [*range(k), k + kind, k + 1 - kind]
            value += sums[0]
            gradient[order] += sums[1]
            information[np.ix_(order, order)] -= sums[2]
        return value, gradient, information

    def tempered(self, effect: float, log_diagonal: float) -> OutcomeNodes:
        """The same with every case counted as one over the effect.

        `log_diagonal`: log likelihood of exact calibration, which stays as it is.
        """
        first, second = self.weight
        return replace(
            self,
            weight=(first / effect, second / effect),
            constant=self.constant / effect + (1 - 1 / effect) * log_diagonal,
        )


def sums_of_bounded(
    columns: Floats,
    weight: Floats,
    coefficients: Floats,
    low: float,
    high: float,
    ratio: Floats | None = None,
) -> tuple[float, Floats, Floats]:
    """The sum of log g over nodes, or of log(1 - ratio g), with gradient and Hessian.

    By the coefficients of h, then by low and high, where g = low + (1 - low - high) h.
    """
    k, height = coefficients.size, 1 - low - high
    h = expit(columns[0] + coefficients @ columns[1:])
    bend, g = h * (1 - h), bounded_probability(h, np.asarray(low), np.asarray(high))
    slope = np.empty((k + 2, h.size))
    slope[:k], slope[k], slope[k + 1] = height * bend * columns[1:], 1 - h, -h
    inside = g if ratio is None else 1 - ratio * g
    relative = 1 / inside if ratio is None else -ratio / inside
    by_g = weight * relative
    hessian = -(slope * (by_g * relative)) @ slope.T
    hessian[:k, :k] += (columns[1:] * (height * bend * (1 - 2 * h) * by_g)) @ columns[1:].T
    beside = columns[1:] @ (bend * by_g)
    hessian[:k, k:] -= beside[:, None]
    hessian[k:, :k] -= beside
    return float(np.log(inside) @ weight), slope @ by_g, hessian


def outcome_nodes(problem: Problem, count: int | None = None) -> OutcomeNodes:
    """Nodes of Gauss rules, at most `count` each, of the events' log-odds and of the non-events'.

    Of a family with a floor and a ceiling; every row by default.
    """
    first, second = _side(problem, "hits", 1, count), _side(problem, "misses", -1, count)
    return OutcomeNodes((first[0], second[0]), (first[1], second[1]))


def few_outcomes(problem: Problem, every: OutcomeNodes, count: int) -> OutcomeNodes:
    """Nodes in place of every row, where they are half as many as the rows or fewer."""
    return every if 2 * count >= every.size else outcome_nodes(problem, count)


def _side(
    problem: Problem, of: Literal["hits", "misses"], sign: int, count: int | None
) -> tuple[Floats, Floats]:
    """Columns and weights of the cases of one outcome."""
    table = problem.table
    cases = table.hits if of == "hits" else table.trials - table.hits
    some = cases > 0
    x, weight = np.asarray(logit(table.score[some])), cases[some]
    if count is not None and weight.size > count:
        x, weight = problem.rule(of, count)
    return sign * columns_at(problem, x), weight
