"""Expected log predictive density by PSIS, with one case or one cluster left out; stacking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats, blocks, log_sum
from bayescal.core.optimise import clipped, logarithms, maximise
from bayescal.core.sampling import smooth_rows
from bayescal.data.clusters import Clusters
from bayescal.data.rows import add_up
from bayescal.inference.averaging import FamilySamples
from bayescal.inference.density import Adjustment, CurveDensity
from bayescal.inference.pieces import variance_factor
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curves import CURVES
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import LikelihoodRows, every_row
from bayescal.model.likelihood.times.steps import Steps
from bayescal.model.likelihood.times.told import cases_of_times, log_density_by_entry, told_by_cases
from bayescal.model.problem import Problem

if TYPE_CHECKING:
    from scipy import sparse


DRAWS = 1000
# Draws that say how the cases of a row differ from their mean score.
THINNED = 64
COLUMNS_AT_ONCE = 512


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out densities of the distinct cases, and how many there are of each.

    Cases are distinct by row of the problem and outcome. Where whole clusters are left out, each
    cluster stands for one case.

    Attributes
    ----------
    elpd : float
        Sum over patients.
    pointwise : ndarray of shape (distinct,)
        Log predictive density of one patient left out, or the sum over the patients of a cluster.
    count : ndarray of shape (distinct,)
    pareto_k : float
        Largest over what is left out; above 0.7 the estimate is shaky.
    """

    elpd: float
    pointwise: Floats
    count: Floats
    pareto_k: float

    @property
    def error(self) -> float:
        """Standard error of `elpd`, by how the patients, or clusters, differ."""
        total = self.count.sum()
        return float(np.sqrt(self.count @ (self.pointwise - self.elpd / total) ** 2))


class LeftOut(Mapping[str, LeaveOneOut]):
    """Leave-one-out of families by name, each computed when it is first asked for and kept.

    Parameters
    ----------
    samples : FamilySamples
        Draws of each family.
    method : callable
        Takes the problem of a family and its draws.
    """

    def __init__(
        self, samples: FamilySamples, method: Callable[[Problem, Floats], LeaveOneOut]
    ) -> None:
        self._samples, self._method = samples, method
        self._known: dict[str, LeaveOneOut] = {}

    def __getitem__(self, name: str) -> LeaveOneOut:
        if name not in self._known:
            draws = self._samples[name].draws
            family = self._samples.problem.of_family(CURVES[name])
            self._known[name] = self._method(family, draws)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)


def leave_one_out(problem: Problem, draws: Floats, steps: Steps | None = None) -> LeaveOneOut:
    """PSIS-LOO of one family, run once per row of the problem and outcome.

    Where cases of several scores share a row, the mean of their own log densities stands in for
    that at their mean score. Of a likelihood whose cases are not independent, rows of the table
    are left out.

    Parameters
    ----------
    problem : Problem
        Of that family.
    draws : ndarray of shape (draws, d)
        Working coordinates in random order, of which the first 1000 are used.
    steps : Steps, optional
        Of times to an event of one of several groups: the steps of Q that these have in common.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27.
    """
    table, thin = problem.table, draws[:: max(len(draws) // THINNED, 1)]
    parts, counts, within = [], [], []
    if problem.of_times:
        density, count = cases_of_times(problem, draws[:DRAWS], steps)
        return _summed(density, count, draws.shape[1])
    each_case = problem.curves_at(problem.data.score).log_odds(thin) if problem.is_merged else None
    for event, cases in ((True, table.hits), (False, table.trials - table.hits)):
        number = problem.sum_of_rows(cases)
        if not number.any():
            continue  # outcomes of one class
        score = problem.mean_of_rows(table.score, cases)[number > 0]
        stated = problem.mean_of_rows(clipped(problem.data.score), cases)[number > 0]
        curves = problem.curve.at_scores(score, problem.frame, stated)
        parts.append(BINOMIAL.log_case(event, curves.log_odds(draws[:DRAWS])))
        counts.append(number[number > 0])
        if each_case is not None:
            at_row, at_case = (
                BINOMIAL.log_case(event, log_odds)
                for log_odds in (curves.log_odds(thin), each_case)
            )
            mean = problem.mean_of_rows(at_case.mean(axis=0), cases)[number > 0]
            within.append(mean - at_row.mean(axis=0))
    left_out = _summed(np.hstack(parts), np.concatenate(counts), draws.shape[1])
    if not within:
        return left_out
    pointwise = left_out.pointwise + np.concatenate(within)
    elpd = float(left_out.count @ pointwise)
    return replace(left_out, elpd=elpd, pointwise=pointwise)


def risks_left_out(problem: Problem, draws: Floats) -> tuple[Floats, Floats]:
    """The risk of one case of each entry of the follow-up, by all cases and by all but this one.

    Parameters
    ----------
    problem : Problem
        Of one family, of times to an event.
    draws : ndarray of shape (draws, d)
        As `leave_one_out` takes them.

    Returns
    -------
    risk, left_out : ndarray of shape (entries,)
        Means of the curve over the draws, and over the draws weighted by PSIS.
    """
    followed = problem.data.follow_up
    assert followed is not None
    log_odds = problem.curves_at(problem.data.score).log_odds(draws[:DRAWS])
    risk = expit(log_odds).mean(axis=0)[followed.row]
    left_out = np.empty_like(risk)
    for some in blocks(risk.size, room=COLUMNS_AT_ONCE):
        weight, _ = smooth_rows(-log_density_by_entry(problem, log_odds, some).T)
        share, g = np.exp(weight), expit(log_odds[:, followed.row[some]]).T
        left_out[some] = np.vecdot(share, g) / share.sum(axis=1)
    return risk, left_out


def _summed(likelihood: Floats, count: Floats, size: int) -> LeaveOneOut:
    """Of log densities by draw and what is left out; draws without coordinates are all equal."""
    if not size:
        pointwise, worst = likelihood[0], -np.inf
    else:
        left_out = [
            _left_out(likelihood[:, part].T) for part in blocks(count.size, room=COLUMNS_AT_ONCE)
        ]
        pointwise = np.concatenate([part for part, _ in left_out])
        worst = max(pareto_k for _, pareto_k in left_out)
    return LeaveOneOut(float(count @ pointwise), pointwise, count, worst)


def _left_out(likelihood: Floats) -> tuple[Floats, float]:
    """Log density of each row of cases when it is left out, and the largest k-hat."""
    weight, pareto_k = smooth_rows(-likelihood)
    pointwise = log_sum(weight + likelihood, axis=1) - log_sum(weight, axis=1)
    return pointwise, float(pareto_k.max())


def elpd_difference(part: LeaveOneOut, reference: LeaveOneOut) -> tuple[float, float]:
    """How much better a family predicts than another, and the standard error of that.

    Parameters
    ----------
    part, reference : LeaveOneOut
        Of the same cases.

    Returns
    -------
    difference, error : float
        Sum over patients of the differences in log predictive density, positive where `part`
        predicts better; and the square root of the number of patients times their variance.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), section 5.
    """
    difference = part.pointwise - reference.pointwise
    total = part.count.sum()
    spread = part.count @ (difference - part.count @ difference / total) ** 2
    return float(part.count @ difference), float(np.sqrt(spread))


def stacking_weights(parts: Sequence[LeaveOneOut]) -> Floats:
    """Weights of the mixture of predictions with the best leave-one-out density.

    Parameters
    ----------
    parts : sequence of LeaveOneOut
        One a family, of the same cases.

    Returns
    -------
    ndarray of shape (families,)
        Non-negative, summing to 1.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13.
    """
    densities = np.stack([part.pointwise for part in parts], axis=1)
    peak = densities.max(axis=1, keepdims=True)
    relative, share = np.exp(densities - peak), parts[0].count / parts[0].count.sum()

    def objective(root: Floats) -> tuple[float, Floats, Floats]:
        # Weights are squares, less their sum: at the maximum it is 1, and none is negative.
        weights = root**2
        mixed = relative @ weights
        each = relative / mixed[:, None]
        slope = share @ each - 1
        bend = np.outer(root, root) * ((each.T * share) @ each)
        value = float(share @ np.log(mixed) - weights.sum())
        return value, 2 * root * slope, 2 * np.diag(slope) - 4 * bend

    best = maximise(objective, np.full(len(parts), len(parts) ** -0.5)).point ** 2
    return np.asarray(best / best.sum())


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
        change = CurveDensity(problem).adjustment
        assert change is not None
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
