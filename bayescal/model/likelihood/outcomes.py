"""Nodes of the events and of the non-events, for curves whose likelihood the events bend."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.model.curve import expit_in_place
from bayescal.model.lapse import bounded_probability
from bayescal.model.likelihood.rows import basis_at
from bayescal.model.problem import Problem

__all__ = ["OutcomeNodes", "outcome_nodes"]


@dataclass(frozen=True)
class OutcomeNodes:
    """Log likelihood of g = guess + (1 - guess - lapse) h, h linear in k coefficients in log-odds.

    The sum of log g over the events and of log(1 - g) over the non-events, each over nodes of their
    own: 1 - g is the same function as g, of -logit h, with the rates in each other's place.

    Attributes
    ----------
    columns : tuple of 2 ndarrays of shape (1 + k, nodes)
        Offset and basis at the nodes of the events, and those of the non-events with their signs
        turned.
    weight : tuple of 2 ndarrays of shape (nodes,)
        The events and the non-events that each node stands for.
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

        Parameters
        ----------
        coefficients : ndarray of shape (n, 1 + k)
            The weight of the offset, and the coefficients of h.
        rates : ndarray of shape (n, 2)
            Guess and lapse.
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
        """Value, gradient and Hessian by the k coefficients and the two rates, of one curve."""
        k = coefficients.size
        value, gradient, hessian = self.constant, np.zeros(k + 2), np.zeros((k + 2, k + 2))
        for kind in range(2):
            columns = self.columns[kind]
            low, high = rates[kind], rates[1 - kind]
            h = expit(columns[0] + coefficients @ columns[1:])
            bend = h * (1 - h)
            g = bounded_probability(h, low, high)
            slope = np.empty((k + 2, h.size))
            slope[:k] = (1 - low - high) * bend * columns[1:]
            slope[k + kind], slope[k + 1 - kind] = 1 - h, -h
            curvature = (1 - low - high) * bend * (1 - 2 * h) * self.weight[kind] / g
            beside = columns[1:] @ (bend * self.weight[kind] / g)
            relative = slope / g
            value += float(np.log(g) @ self.weight[kind])
            gradient += relative @ self.weight[kind]
            hessian -= (relative * self.weight[kind]) @ relative.T
            hessian[:k, :k] += (columns[1:] * curvature) @ columns[1:].T
            hessian[:k, k:] -= beside[:, None]
            hessian[k:, :k] -= beside
        return value, gradient, hessian

    def tempered(self, effect: float, log_diagonal: float) -> OutcomeNodes:
        """The same with every case counted as one over the effect.

        Parameters
        ----------
        log_diagonal : float
            Log likelihood of exact calibration, which stays as it is.
        """
        first, second = self.weight
        return replace(
            self,
            weight=(first / effect, second / effect),
            constant=self.constant / effect + (1 - 1 / effect) * log_diagonal,
        )


def outcome_nodes(problem: Problem, count: int | None = None) -> OutcomeNodes:
    """Nodes of Gauss rules, of the events' log-odds and of the non-events'.

    Parameters
    ----------
    problem : Problem
        Of a family with a floor and a ceiling.
    count : int, optional
        Most nodes of each; every row of the table by default.
    """
    sides = [_side(problem, "hits", 1, count), _side(problem, "misses", -1, count)]
    columns, weight = zip(*sides, strict=True)
    return OutcomeNodes((columns[0], columns[1]), (weight[0], weight[1]))


def _side(
    problem: Problem, of: Literal["hits", "misses"], sign: int, count: int | None
) -> tuple[Floats, Floats]:
    """Columns and weights of the cases of one outcome."""
    table = problem.table
    cases = table.hits if of == "hits" else table.trials - table.hits
    some = cases > 0
    if count is not None and np.count_nonzero(some) > count:
        x, weight = problem.rule(of, count)
    else:
        x, weight = logit(table.score[some]), cases[some]
    offset, basis = basis_at(problem, x)
    return sign * np.vstack([offset, basis.T]), weight
