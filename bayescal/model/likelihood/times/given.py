"""The log likelihood of times to an event of one of several groups, given the steps of Q."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.model.curve import expit_in_place
from bayescal.model.likelihood.gauss import gauss_rule
from bayescal.model.likelihood.rows import LikelihoodRows
from bayescal.model.likelihood.times.entries import Partial, entries_of, law_of
from bayescal.model.likelihood.times.rows import (
    FEW_ENTRIES,
    KNOWN_NODES,
    NODES_OF_BIN,
    at_nodes_of_times,
    columns_at,
)
from bayescal.model.likelihood.times.shared import late_of, log_without
from bayescal.model.likelihood.times.steps import Steps
from bayescal.model.problem import Problem

__all__ = ["RowsGivenSteps", "partial_of_group", "rows_given_steps"]

COARSE_ENTRIES, COARSE_NODES = 48, 4


@dataclass(frozen=True)
class RowsGivenSteps(LikelihoodRows):
    """Cases whose outcome is known, as of known outcomes, and those that are known in part.

    Attributes
    ----------
    late : ndarray of shape (1 + k, entries)
        Offset and basis at the entries that are known in part.
    weight : ndarray of shape (entries,)
        Of these entries.
    share, other : ndarray of shape (entries,)
        Q and V at them.
    """

    late: Floats
    weight: Floats
    share: Floats
    other: Floats

    def log_likelihood(self, coefficients: Floats) -> Floats:
        """As `LikelihoodRows.log_likelihood`."""
        value = super().log_likelihood(coefficients)
        for part in blocks(len(value), self.weight.size):
            g = expit_in_place(coefficients[part] @ self.late)
            value[part] += log_without(g, self.share, self.other) @ self.weight
        return value

    def derivatives(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        """As `LikelihoodRows.derivatives`."""
        value, gradient, information = super().derivatives(coefficients)
        basis = self.late[1:]
        g = expit(self.late[0] + coefficients @ basis)
        value += float(log_without(g, self.share, self.other) @ self.weight)
        late, bend = late_of(g, self.share, self.other)
        gradient -= basis @ (late * self.weight)
        information += (basis * (bend * self.weight)) @ basis.T
        return value, gradient, information


def partial_of_group(problem: Problem, *, coarse: bool = False) -> Partial:
    """The entries of a group that are known in part, or nodes in their place.

    Parameters
    ----------
    coarse : bool
        Whether to take few nodes: draws that are made with them are weighted by more.
    """
    partial = entries_of(problem).partial
    few, count = (COARSE_ENTRIES, COARSE_NODES) if coarse else (FEW_ENTRIES, NODES_OF_BIN)
    if partial.size > few:
        partial = at_nodes_of_times(partial, partial.bins(law_of(problem)), count)
    return partial


def rows_given_steps(problem: Problem, partial: Partial, steps: Steps) -> RowsGivenSteps:
    """Rows of a group, given the steps of Q.

    Parameters
    ----------
    partial : Partial
        As `partial_of_group` has them.
    """
    entries = entries_of(problem)
    x, known = np.asarray(logit(problem.table.score)), entries.events + entries.free
    columns = columns_at(problem, x)
    constant, *events = columns @ entries.events
    x, trials = x[known > 0], known[known > 0]
    if trials.size > KNOWN_NODES:
        x, trials = gauss_rule(x, trials, KNOWN_NODES)
    at, shares = columns_at(problem, x), steps.shares(partial)
    return RowsGivenSteps(
        at[0],
        at[1:].T,
        trials,
        np.array(events),
        float(constant),
        late=columns_at(problem, partial.x),
        weight=partial.weight,
        share=shares.value,
        other=shares.other,
    )
