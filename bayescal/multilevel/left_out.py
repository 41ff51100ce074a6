"""Leave-one-out of several curves: of single cases, or of whole clusters.

Given the draws of all curves, what is left out enters the curves of its own groups alone, so that
the weights of the draws without it follow from these. What it says of the average and of the other
groups goes with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.sampling import smooth_rows
from bayescal.data.clusters import Clusters
from bayescal.inference.loo import (
    COLUMNS_AT_ONCE,
    DRAWS,
    FollowedCases,
    LeaveOneOut,
    leave_one_out,
    moves_the_top,
    parts_under,
    predicted,
)
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import LikelihoodRows, every_row
from bayescal.model.problem import Problem
from bayescal.multilevel.clusters import clusters_by_group
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.followed import shared_steps


def left_out(drawn: MultilevelDraws) -> LeaveOneOut:
    """PSIS-LOO of a fit of several curves.

    Parameters
    ----------
    drawn : MultilevelDraws
        Of which 1000 are used.

    Returns
    -------
    LeaveOneOut
        Of the distinct cases of one group after the other; where cases come in clusters, of every
        cluster with all of its cases, in whatever groups they are.
    """
    problem = drawn.problem
    if not problem.has_outcomes:
        raise InputError(
            "loo leaves out cases, and all sites are known by their summaries alone. Fit the cases "
            "of one site at least."
        )
    taken = np.linspace(0, drawn.size - 1, min(drawn.size, DRAWS)).astype(np.intp)
    if problem.adjustments and problem.pooled.of_times:
        return _followed_clusters_left_out(drawn, taken)
    if problem.adjustments:
        return _clusters_left_out(drawn, taken)
    steps = shared_steps(problem).steps if problem.pooled.of_times else None
    groups = [
        leave_one_out(table, drawn.groups[problem.labels.index(label)][taken], steps)
        for label, table in problem.tables.items()
    ]
    return LeaveOneOut(
        sum(one.elpd for one in groups),
        np.concatenate([one.pointwise for one in groups]),
        np.concatenate([one.count for one in groups]),
        max(one.pareto_k for one in groups),
    )


def _clusters_left_out(drawn: MultilevelDraws, taken: NDArray[np.intp]) -> LeaveOneOut:
    """Of whole clusters."""
    problem = drawn.problem
    data, clusters, tables = problem.data, problem.data.clusters, problem.tables
    assert clusters is not None
    scale = [
        np.full(table.data.score.size, table.data.weight_scale / data.weight_scale)
        for table in tables.values()
    ]
    ends = np.cumsum([0, *(each.size for each in scale)])
    factor = np.concatenate(scale)[clusters.row]
    trials, hits = (
        clusters.matrix(each * factor, clusters.row, int(ends[-1]))
        for each in (clusters.trials, clusters.hits)
    )
    at = [problem.labels.index(label) for label in tables]
    curve = problem.pooled.curve
    groups = [
        (problem.adjustments[k], every_row(table), curve.with_offset(drawn.groups[k][taken]), start)
        for k, table, start in zip(at, tables.values(), ends[:-1], strict=True)
    ]
    pointwise, worst = np.zeros(clusters.size), -np.inf
    for some in blocks(clusters.size, room=COLUMNS_AT_ONCE):
        here, log_density = (trials[some], hits[some]), np.zeros((some.stop - some.start, 1))
        rows = np.unique(here[0].indices)
        parts = []
        for change, every, coefficients, start in groups:
            mine = rows[(start <= rows) & (rows < start + every.size)]
            if not mine.size:
                continue
            counted = [each[:, mine] for each in here]
            read = _some_rows(every, mine - start)
            log_density = log_density + parts_under(change, read, coefficients, *counted)
            parts.append((BINOMIAL.mean(coefficients @ read.columns), *counted))
        weight, pareto_k = smooth_rows(-log_density)
        pointwise[some] = sum(predicted(np.exp(weight), *part) for part in parts)
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(clusters.size), worst)


def _followed_clusters_left_out(drawn: MultilevelDraws, taken: NDArray[np.intp]) -> LeaveOneOut:
    """Of whole clusters with times to an event."""
    data = drawn.problem.data
    clusters, tables = data.followed_clusters, drawn.problem.tables
    assert clusters is not None
    sizes = [(table.data, _entries(table)) for table in tables.values()]
    parts = clusters_by_group(clusters, data, sizes)
    groups = [
        _FollowedGroup(drawn, label, own, taken) for label, own in zip(tables, parts, strict=True)
    ]
    pointwise, worst = np.zeros(clusters.size), -np.inf
    for some in blocks(clusters.size, room=COLUMNS_AT_ONCE):
        weight, pareto_k = smooth_rows(-np.sum([group.part(some) for group in groups], axis=0))
        share = np.exp(weight)
        share /= share.sum(axis=1, keepdims=True)
        pointwise[some] = sum(group.curves.predicted(some, share) for group in groups)
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(clusters.size), worst)


class _FollowedGroup:
    """Cases with times of one group, by cluster, and what they tell of its drawn curves."""

    def __init__(
        self, drawn: MultilevelDraws, label: str, clusters: Clusters, taken: NDArray[np.intp]
    ) -> None:
        problem = drawn.problem
        at, table = problem.labels.index(label), problem.tables[label]
        change, every = problem.adjustments[at], every_row(table)
        coefficients = problem.pooled.curve.with_offset(drawn.groups[at][taken])
        read, self._away = coefficients.copy(), coefficients[:, 1:] - change.top
        read[:, 1:] = change.read_at(coefficients[:, 1:])
        cases = FollowedCases(table, clusters, shared_steps(problem).steps)
        fitted = BINOMIAL.mean(every.offset + every.basis @ change.top)
        self._slope = moves_the_top(change, cases.residuals(fitted) @ every.basis)
        self._read = cases.told(read @ every.columns)
        self.curves = cases.told(coefficients @ every.columns)

    def part(self, some: slice) -> Floats:
        """Of some clusters in the likelihood of this group, of shape (clusters, draws)."""
        return self._read.of(some) + self._slope[some] @ self._away.T


def _entries(table: Problem) -> int:
    """Of the follow-up of a group."""
    followed = table.data.follow_up
    assert followed is not None
    return followed.row.size


def _some_rows(every: LikelihoodRows, rows: NDArray[np.intp]) -> LikelihoodRows:
    """Offset and basis of some rows."""
    trials: Floats = every.trials[rows]
    return replace(every, offset=every.offset[rows], basis=every.basis[rows], trials=trials)
