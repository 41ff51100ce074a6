"""The log likelihood of any law, summed over rows or nodes, for curves linear in their link."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats, blocks
from bayescal.model.lapse.bounds import bounded_log_odds
from bayescal.model.likelihood.gauss import gauss_rule
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.likelihood.rows import basis_at
from bayescal.model.problem import Problem

__all__ = ["LawRows", "law_rows"]

NEAR_A_BOUND = 1e-300


@dataclass(frozen=True)
class LawRows:
    """Sums over rows of a law's log density, and their derivatives.

    Attributes
    ----------
    bounds : int
        2 for curves with a floor and a ceiling, which stand before the nuisance coordinates among
        the numbers that are not coefficients; else 0.
    columns : ndarray of shape (1 + k, rows)
        Offset and basis.
    trials, hits : ndarray of shape (rows,)
    """

    law: Likelihood
    bounds: int
    columns: Floats
    trials: Floats
    hits: Floats

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.trials.size

    def log_likelihood(self, coefficients: Floats, others: Floats) -> Floats:
        """Of n curves.

        Parameters
        ----------
        coefficients : ndarray of shape (n, 1 + k)
            The weight of the offset, and the coefficients.
        others : ndarray of shape (n, bounds + nuisance coordinates)
        """
        value = np.empty(len(coefficients))
        for part in blocks(len(value), self.size):
            log_odds = coefficients[part] @ self.columns
            rates, nuisance = others[part, : self.bounds], others[part, self.bounds :]
            if self.bounds:
                log_odds = bounded_log_odds(log_odds, rates[:, :1], rates[:, 1:])
            each = self.law.log_density(log_odds, self.trials, self.hits, nuisance)
            value[part] = each.sum(axis=1)
        return value

    def derivatives(self, coefficients: Floats, others: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and Hessian by the k coefficients and the others, of one curve."""
        k, m = coefficients.size, others.size
        columns, log_odds = self.columns[1:], self.columns[0] + coefficients @ self.columns[1:]
        slope, bend = np.zeros((k + self.bounds, self.size)), None
        if self.bounds:
            log_odds, slope, bend = _bounded(log_odds, columns, *others[: self.bounds])
        else:
            slope = columns
        value, by_law, of_law = self.law.derivatives(
            log_odds, self.trials, self.hits, others[self.bounds :]
        )
        own = k + self.bounds
        gradient, hessian = np.empty(k + m), np.empty((k + m, k + m))
        gradient[:own], gradient[own:] = slope @ by_law[0], by_law[1:].sum(axis=1)
        hessian[:own, :own] = (slope * of_law[0, 0]) @ slope.T
        if bend is not None:
            hessian[:own, :own] += bend @ by_law[0]
        hessian[:own, own:] = slope @ of_law[0, 1:].T
        hessian[own:, :own] = hessian[:own, own:].T
        hessian[own:, own:] = of_law[1:, 1:].sum(axis=-1)
        return float(value.sum()), gradient, hessian


def _bounded(
    log_odds: Floats, columns: Floats, guess: float, lapse: float
) -> tuple[Floats, Floats, Floats]:
    """Log-odds of guess + (1 - guess - lapse) h, with first and second derivatives.

    By the coefficients of h, then by guess and lapse; of shape (k + 2, rows) and
    (k + 2, k + 2, rows).
    """
    k, h, rest = len(columns), expit(log_odds), expit(-log_odds)
    rise, height = h * rest, 1 - guess - lapse
    event, other = guess + height * h, lapse + height * rest
    by = np.concatenate([height * rise * columns, rest[None], -h[None]])
    twice = np.zeros((k + 2, k + 2, h.size))
    twice[:k, :k] = height * rise * (rest - h) * columns[:, None] * columns
    twice[:k, k:] = -(rise * columns)[:, None]
    twice[k:, :k] = -rise * columns
    spread = np.maximum(event * other, NEAR_A_BOUND)
    bent = twice / spread - by[:, None] * by * (other - event) / spread**2
    moved = bounded_log_odds(log_odds, np.asarray(guess), np.asarray(lapse))
    return moved, by / spread, bent


def law_rows(problem: Problem, count: int | None = None) -> LawRows:
    """Every row of a problem's table, or nodes in their place.

    Parameters
    ----------
    count : int, optional
        Most nodes of the events, and of the non-events: those of Gauss rules, or of a curve that
        bends at knots the problem's rows. Without it, and for a law whose cases depend on each
        other, every row.
    """
    table, law = problem.table, problem.likelihood
    bounds = 2 * problem.curve.is_bounded
    if count is None or not law.of_cases or 2 * count >= table.score.size:
        offset, basis = problem.curve.basis(table.score, problem.frame)
        columns = np.vstack([offset, basis.T])
        return LawRows(law, bounds, columns, table.trials, table.hits)
    sides = [_side(problem, cases, count) for cases in (table.hits, table.trials - table.hits)]
    (events, hits), (others, misses) = sides
    trials = np.concatenate([hits, misses])
    hits = np.concatenate([hits, np.zeros_like(misses)])
    return LawRows(law, bounds, np.hstack([events, others]), trials, hits)


def _side(problem: Problem, cases: Floats, count: int) -> tuple[Floats, Floats]:
    """Columns and weights of the cases of one outcome."""
    table = problem.table
    if problem.curve.is_rough:
        offset, basis = problem.curve.basis(table.score, problem.frame)
        number = problem.sum_of_rows(cases)
        columns = problem.mean_of_rows(np.column_stack([offset, basis]), cases)
        return columns[number > 0].T, number[number > 0]
    x, weight = logit(table.score[cases > 0]), cases[cases > 0]
    if weight.size > count:
        x, weight = gauss_rule(x, weight, count)
    offset, basis = basis_at(problem, x)
    return np.vstack([offset, basis.T]), weight
