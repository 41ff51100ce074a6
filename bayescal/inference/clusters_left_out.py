"""Leave-one-out with clusters: whole clusters are left out.

The likelihood of clusters is that of independent cases, made flatter round its top. Taking a
cluster's part of it away would move the top too far, by the inverse of what flattens it. So each
cluster's part has a linear term, with which the top moves as in a fit without the cluster; these
terms sum over the clusters to the linear term of the likelihood, which is zero of one curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats, blocks
from bayescal._base.log_odds import logarithms
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.inference.clusters import Adjustment
from bayescal.inference.density import CurveDensity
from bayescal.inference.loo import COLUMNS_AT_ONCE, DRAWS, LeaveOneOut
from bayescal.inference.pieces import variance_factor
from bayescal.model.clusters.design import cluster_design, is_separated
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import LikelihoodRows, every_row
from bayescal.model.problem import Problem

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["LikelihoodParts", "leave_cluster_out", "parts_under", "predicted"]


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
        pointwise[some] = predicted(np.exp(weight), curve, parts.trials[some], parts.hits[some])
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(clusters.size), worst)


def predicted(
    weight: Floats, curve: Floats, trials: sparse.csr_array, hits: sparse.csr_array
) -> Floats:
    """Log densities of single outcomes, summed over the cases of each cluster.

    Parameters
    ----------
    weight : ndarray of shape (clusters, draws)
        Of the draws, without each cluster.
    curve : ndarray of shape (draws, rows)
    trials, hits : sparse array of shape (clusters, rows)
    """
    event, none = logarithms((weight @ curve) / weight.sum(axis=1, keepdims=True))
    density = hits.multiply(event) + (trials - hits).multiply(none)
    return np.asarray(density.sum(axis=1)).ravel()


def parts_under(
    change: Adjustment,
    rows: LikelihoodRows,
    coefficients: Floats,
    trials: sparse.csr_array,
    hits: sparse.csr_array,
) -> Floats:
    """The part of each cluster in a likelihood that clusters flatten, but for a constant of each.

    Parameters
    ----------
    change : Adjustment
    rows : LikelihoodRows
        Of which offset and basis are read.
    coefficients : ndarray of shape (draws, 1 + k)
        Of each draw, by the weight of the offset.
    trials, hits : sparse array of shape (clusters, rows)

    Returns
    -------
    ndarray of shape (clusters, draws)
        By these the log likelihood would fall without the cluster.
    """
    away, read = coefficients[:, 1:] - change.top, coefficients.copy()
    read[:, 1:] = change.read_at(coefficients[:, 1:])
    fitted = BINOMIAL.mean(rows.offset + rows.basis @ change.top)
    score = hits @ rows.basis - trials @ (fitted[:, None] * rows.basis)
    flattened = score @ change.contraction
    slope = flattened @ change.contraction - flattened
    return np.asarray(_of_cases(read @ rows.columns, trials, hits) + slope @ away.T)


def _of_cases(log_odds: Floats, trials: sparse.csr_array, hits: sparse.csr_array) -> Floats:
    """Log likelihood of the cases of each cluster, by log-odds of shape (draws, rows)."""
    by_row = np.ascontiguousarray(log_odds.T)
    return np.asarray(hits @ by_row - trials @ BINOMIAL.cost(by_row))


class LikelihoodParts:
    """The part of each cluster in the likelihood that draws are from.

    Parameters
    ----------
    problem : Problem
        With clusters of several cases.
    u : ndarray of shape (draws, d)
        Working coordinates.

    Attributes
    ----------
    trials, hits : sparse array of shape (clusters, rows)
        Cases and events of each cluster.
    """

    def __init__(self, problem: Problem, u: Floats) -> None:
        clusters = problem.clusters
        assert clusters is not None
        counted = (clusters.trials, clusters.hits)
        rows = problem.table.score.size
        self.trials, self.hits = (clusters.matrix(each, clusters.row, rows) for each in counted)
        self._effect = _effect(problem)
        if self._effect is not None:
            self._log_odds = problem.curves_at(problem.data.score).log_odds(u)
            return
        change = CurveDensity(problem).adjustment
        assert change is not None
        self._under = change, every_row(problem), problem.curve.with_offset(u)

    def of(self, some: slice) -> Floats:
        """Of some clusters, but for a constant of each, of shape (clusters, draws).

        By these the log likelihood would fall without the cluster.
        """
        counted = self.trials[some], self.hits[some]
        if self._effect is None:
            return parts_under(*self._under, *counted)
        return np.asarray(_of_cases(self._log_odds, *counted) / self._effect)


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
