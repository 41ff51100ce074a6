"""Leave-one-out with clusters: whole clusters are left out.

The likelihood of clusters is that of independent cases, made flatter round its top. Taking a
cluster's part of it away would move the top too far, by the inverse of what flattens it. So each
cluster's part has a linear term, with which the top moves as in a fit without the cluster; these
terms sum over the clusters to the linear term of the likelihood, which is zero of one curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import logarithms
from bayescal.core.sampling import smooth_rows
from bayescal.data.clusters import Clusters
from bayescal.data.rows import add_up
from bayescal.inference.clusters import Adjustment, FlattenedTimes
from bayescal.inference.density import CurveDensity, density_of
from bayescal.inference.general import GeneralDensity
from bayescal.inference.loo import COLUMNS_AT_ONCE, DRAWS, LeaveOneOut
from bayescal.inference.pieces import variance_factor
from bayescal.model.clusters.design import cluster_design, is_separated
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import LikelihoodRows, every_row
from bayescal.model.likelihood.times.steps import Steps
from bayescal.model.likelihood.times.told import log_density_by_entry, told_by_cases
from bayescal.model.problem import Problem

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "FollowedCases",
    "LikelihoodParts",
    "leave_cluster_out",
    "moves_the_top",
    "parts_under",
    "predicted",
]


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
    u, worst = draws[:DRAWS], -np.inf
    parts, cases = LikelihoodParts(problem, u), _cases_of(problem)
    told = cases.told(problem.curves_at(problem.data.score).log_odds(u))
    pointwise = np.empty(cases.clusters.size)
    for some in blocks(pointwise.size, room=COLUMNS_AT_ONCE):
        weight, pareto_k = smooth_rows(-parts.of(some))
        share = np.exp(weight)
        pointwise[some] = told.predicted(some, share / share.sum(axis=1, keepdims=True))
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(pointwise.size), worst)


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
    slope = moves_the_top(change, score)
    return np.asarray(_of_cases(read @ rows.columns, trials, hits) + slope @ away.T)


def moves_the_top(change: Adjustment, score: Floats) -> Floats:
    """The linear term with which the top moves as without each cluster, by its score."""
    flattened = score @ change.contraction
    return np.asarray(flattened @ change.contraction - flattened)


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
    """

    def __init__(self, problem: Problem, u: Floats) -> None:
        cases = _cases_of(problem)
        self._away, self._slope = np.empty((len(u), 0)), np.empty((cases.clusters.size, 0))
        effect = _effect(problem)
        self._effect = 1.0 if effect is None else effect
        if effect is not None:
            self._told = cases.told(problem.curves_at(problem.data.score).log_odds(u))
            return
        change = _adjustment_of(problem)
        table, coefficients = every_row(problem), problem.curve.with_offset(u)
        self._away = coefficients[:, 1:] - change.top
        coefficients[:, 1:] = change.read_at(coefficients[:, 1:])
        self._told = cases.told(coefficients @ table.columns)
        fitted = BINOMIAL.mean(table.offset + table.basis @ change.top)
        self._slope = moves_the_top(change, cases.residuals(fitted) @ table.basis)

    def of(self, some: slice) -> Floats:
        """Of some clusters, but for a constant of each, of shape (clusters, draws).

        By these the log likelihood would fall without the cluster.
        """
        return np.asarray(self._told.of(some) / self._effect + self._slope[some] @ self._away.T)


class _KnownCases:
    """Cases with known outcomes, by cluster and row."""

    def __init__(self, problem: Problem) -> None:
        assert problem.clusters is not None
        self.clusters, self._rows = problem.clusters, problem.table.score.size

    def residuals(self, fitted: Floats) -> sparse.csr_array:
        """Observed less expected of each cluster in each row, (clusters, rows)."""
        clusters = self.clusters
        residual = clusters.hits - clusters.trials * fitted[clusters.row]
        return clusters.matrix(residual, clusters.row, self._rows)

    def told(self, log_odds: Floats) -> _KnownTold:
        """What they tell of curves by log-odds of shape (draws, rows)."""
        return _KnownTold(self.clusters, log_odds)


class _KnownTold:
    def __init__(self, clusters: Clusters, log_odds: Floats) -> None:
        rows = log_odds.shape[1]
        counted = (clusters.trials, clusters.hits)
        self._trials, self._hits = (clusters.matrix(each, clusters.row, rows) for each in counted)
        self._log_odds, self._curve = log_odds, expit(log_odds)

    def of(self, some: slice) -> Floats:
        """Log density of some clusters, of shape (clusters, draws)."""
        return _of_cases(self._log_odds, self._trials[some], self._hits[some])

    def predicted(self, some: slice, share: Floats) -> Floats:
        """Sum of the log densities of the cases of clusters, by the draws' shares for each."""
        return predicted(share, self._curve, self._trials[some], self._hits[some])


class FollowedCases:
    """Cases with times to an event, by cluster and entry of the follow-up.

    Parameters
    ----------
    problem : Problem
    clusters : Clusters
        By entry of its follow-up.
    steps : Steps, optional
        Of one of several groups: the steps of Q that these have in common.
    """

    def __init__(self, problem: Problem, clusters: Clusters, steps: Steps | None = None) -> None:
        self.clusters, self._problem, self._steps = clusters, problem, steps

    def residuals(self, fitted: Floats) -> sparse.csr_array:
        """Slopes of the log density of each cluster in each row, (clusters, rows)."""
        clusters, followed = self.clusters, self._problem.data.follow_up
        assert followed is not None
        each = told_by_cases(self._problem, fitted[followed.row], self._steps)
        slope, row = each.slope[clusters.row], followed.row[clusters.row]
        return clusters.matrix(clusters.trials * slope, row, fitted.size)

    def told(self, log_odds: Floats) -> _FollowedTold:
        """What they tell of curves by log-odds of shape (draws, rows)."""
        density = log_density_by_entry(self._problem, log_odds, steps=self._steps)
        return _FollowedTold(self.clusters, density.T)


class _FollowedTold:
    def __init__(self, clusters: Clusters, density: Floats) -> None:
        self._clusters, self._density = clusters, density
        self._trials = clusters.matrix(clusters.trials, clusters.row, len(density))

    def of(self, some: slice) -> Floats:
        """Log density of some clusters, of shape (clusters, draws)."""
        return np.asarray(self._trials[some] @ self._density)

    def predicted(self, some: slice, share: Floats) -> Floats:
        """Sum of the log densities of the cases of clusters, by the draws' shares for each."""
        clusters = self._clusters
        here = slice(*np.searchsorted(clusters.cluster, (some.start, some.stop)))
        number = clusters.cluster[here] - some.start
        mean = np.vecdot(share[number], np.exp(self._density[clusters.row[here]]))
        return np.asarray(add_up(number, clusters.trials[here] * np.log(mean), len(share)))


def _cases_of(problem: Problem) -> _KnownCases | FollowedCases:
    if not problem.of_times:
        return _KnownCases(problem)
    assert problem.data.followed_clusters is not None
    return FollowedCases(problem, problem.data.followed_clusters)


def _adjustment_of(problem: Problem) -> Adjustment:
    """How the likelihood of a family with a contraction is made flatter."""
    density = density_of(problem)
    flattened = density.nodes if isinstance(density, GeneralDensity) else density
    assert isinstance(flattened, FlattenedTimes | CurveDensity)
    assert flattened.adjustment is not None
    return flattened.adjustment


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
