"""Leave-one-out with clusters: whole clusters are left out.

The likelihood of clusters is that of independent cases, made flatter round its top. Taking a
cluster's part of it away would move the top too far, by the inverse of what flattens it. So each
cluster's part has a linear term, with which the top moves as in a fit without the cluster; these
terms sum to zero over the clusters.
"""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats, blocks
from bayescal._base.log_odds import logarithms
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.data.table import add_up
from bayescal.inference.density import CurveDensity
from bayescal.inference.loo import COLUMNS_AT_ONCE, DRAWS, LeaveOneOut
from bayescal.inference.pieces import variance_factor
from bayescal.model.clusters.design import cluster_design, is_separated
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import every_row
from bayescal.model.problem import Problem

__all__ = ["LikelihoodParts", "leave_cluster_out"]


def leave_cluster_out(problem: Problem, draws: Floats) -> LeaveOneOut:
    """PSIS-LOO of one family, of whole clusters.

    Each outcome is predicted by the posterior without its cluster, and log densities are summed
    over the cases of a cluster. They are of single outcomes, whatever else happened in the cluster,
    so that cases told several times give as many times the differences of the cases once.

    Parameters
    ----------
    problem : Problem
        Of that family, with clusters of several cases.
    draws : ndarray of shape (draws, d)
        Working coordinates in random order, of which the first 1000 are used.
    """
    clusters, u = problem.clusters, draws[:DRAWS]
    assert clusters is not None
    parts, curve = LikelihoodParts(problem, u), problem.probability(u, problem.data.score)
    pointwise, worst = np.empty(clusters.size), -np.inf
    for some in blocks(clusters.size, room=COLUMNS_AT_ONCE):
        weight, pareto_k = smooth_rows(-parts.of(some))
        share = np.exp(weight)
        event, none = logarithms((share @ curve) / share.sum(axis=1, keepdims=True))
        here = slice(*np.searchsorted(clusters.cluster, (some.start, some.stop)))
        number, row = clusters.cluster[here] - some.start, clusters.row[here]
        hits, others = clusters.hits[here], (clusters.trials - clusters.hits)[here]
        density = hits * event[number, row] + others * none[number, row]
        pointwise[some] = add_up(number, density, len(share))
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(clusters.size), worst)


class LikelihoodParts:
    """The part of each cluster in the likelihood that draws are from.

    Parameters
    ----------
    problem : Problem
        With clusters of several cases.
    u : ndarray of shape (draws, d)
        Working coordinates.
    """

    def __init__(self, problem: Problem, u: Floats) -> None:
        clusters = problem.clusters
        assert clusters is not None
        counted = (clusters.trials, clusters.hits)
        rows = problem.table.score.size
        self._trials, self._hits = (clusters.matrix(each, clusters.row, rows) for each in counted)
        self._away, self._slope = np.empty((len(u), 0)), np.empty((clusters.size, 0))
        self._effect = _effect(problem)
        if self._effect is not None:
            self._read(problem.curves_at(problem.data.score).log_odds(u))
            return
        change = CurveDensity(problem).adjustment
        assert change is not None
        table, coefficients = every_row(problem), problem.curve.with_offset(u)
        self._away = coefficients[:, 1:] - change.top
        coefficients[:, 1:] = change.read_at(coefficients[:, 1:])
        self._read(coefficients @ table.columns)
        fitted = BINOMIAL.mean(table.offset + table.basis @ change.top)
        residual = clusters.hits - clusters.trials * fitted[clusters.row]
        score = clusters.matrix(residual, clusters.row, rows) @ table.basis
        flattened = score @ change.contraction
        self._slope = flattened @ change.contraction - flattened
        self._effect = 1.0

    def _read(self, log_odds: Floats) -> None:
        """Keep log-odds of shape (draws, rows)."""
        self._log_odds, self._cost = log_odds.T, BINOMIAL.cost(log_odds.T.copy())

    def of(self, some: slice) -> Floats:
        """Of some clusters, but for a constant of each, of shape (clusters, draws).

        By these the log likelihood would fall without the cluster.
        """
        part = self._hits[some] @ self._log_odds - self._trials[some] @ self._cost
        return np.asarray(part / self._effect + self._slope[some] @ self._away.T)


def _effect(problem: Problem) -> float | None:
    """As how much less than one each case was counted, where the likelihood has no contraction."""
    curve = problem.curve
    if not curve.size:
        return 1.0
    if curve.in_cells or curve.per_score:
        return variance_factor(problem)
    design = cluster_design(problem)
    if curve.is_bounded:
        return max(design.effect, design.slope_effect) * design.inflation
    return design.effect if is_separated(problem.table) else None
