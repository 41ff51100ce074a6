"""Expected log predictive density by PSIS, with one case or one cluster left out; stacking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats, blocks, log_sum
from bayescal.core.optimise import clipped, logarithms, maximise
from bayescal.core.sampling import smooth_rows
from bayescal.data.clusters import Clusters
from bayescal.data.rows import add_up
from bayescal.inference.averaging import FamilySamples
from bayescal.inference.density import Adjustment, CurveDensity, variance_factor
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curves import CURVES
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.rows import LikelihoodRows, every_row
from bayescal.model.times import Steps, cases_of_times, log_density_by_entry, told_by_cases

if TYPE_CHECKING:
    from scipy import sparse


DRAWS = 1000
# Draws that say how the cases of a row differ from their mean score.
THINNED = 64
COLUMNS_AT_ONCE = 512

Told: TypeAlias = Callable[[NDArray[np.intp]], Floats]


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
    """Leave-one-out of families by name, each computed when it is first asked for and kept."""

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
    that at their mean score. Of `draws` in random order the first 1000 are used; `steps` of Q are
    those that several groups have in common (Vehtari, Gelman & Gabry, 2017).
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

    The root of the number of patients times the variance of their differences (Vehtari, Gelman &
    Gabry, 2017, section 5).
    """
    difference = part.pointwise - reference.pointwise
    total = part.count.sum()
    spread = part.count @ (difference - part.count @ difference / total) ** 2
    return float(part.count @ difference), float(np.sqrt(spread))


def stacking_weights(parts: Sequence[LeaveOneOut]) -> Floats:
    """Weights (families,) of the mixture of predictions with the best leave-one-out density.

    Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis 13.
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
    """PSIS-LOO of one family, of whole clusters; of `draws` in random order the first 1000."""
    return clusters_left_out([LikelihoodParts.of_curve(problem, draws[:DRAWS])])


def clusters_left_out(groups: Sequence[LikelihoodParts]) -> LeaveOneOut:
    """PSIS-LOO of whole clusters, whose cases are in one group or in several.

    Each outcome is predicted by the posterior without its cluster, and log densities are summed
    over the cases of a cluster. They are of single outcomes, whatever else happened in the cluster,
    so that cases told several times give as many times the differences of the cases once.
    """
    size, worst = groups[0].cases.clusters.size, -np.inf
    pointwise = np.zeros(size)
    for some in blocks(size, room=COLUMNS_AT_ONCE):
        here = [group for group in groups if group.cases.entries(some).size]
        weight, pareto_k = smooth_rows(-reduce(np.add, (group.of(some) for group in here)))
        share = np.exp(weight)
        share /= share.sum(axis=1, keepdims=True)
        pointwise[some] = sum(group.cases.predicted(group.curves, some, share) for group in here)
        worst = max(worst, float(pareto_k.max()))
    return LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(size), worst)


@dataclass(frozen=True)
class LikelihoodParts:
    """The part of each cluster in the likelihood that draws are from: that of a group, or of all.

    `read` are the curves at which the likelihood of independent cases is read, and `away` their
    coefficients (draws, k) from its top, which moves by `slope` (clusters, k) without a cluster.
    Or each case was counted as one over the `effect`.
    """

    cases: CasesOfClusters
    curves: Told
    read: Told
    away: Floats
    slope: Floats
    effect: float = 1.0

    @classmethod
    def of_curve(cls, problem: Problem, u: Floats) -> LikelihoodParts:
        """Those of one curve, by working coordinates (draws, d)."""
        if problem.of_times:
            assert problem.data.followed_clusters is not None
            cases: CasesOfClusters = FollowedCases(problem, problem.data.followed_clusters)
        else:
            assert problem.clusters is not None
            cases = CasesOfClusters(problem.clusters)
        log_odds, effect = problem.curves_at(problem.data.score).log_odds(u), _effect(problem)
        curves = cases.told(lambda rows: log_odds[:, rows])
        if effect is not None:
            none = np.empty((len(u), 0)), np.empty((cases.clusters.size, 0))
            return cls(cases, curves, curves, *none, effect)
        change = CurveDensity(problem).adjustment
        assert change is not None
        coefficients = problem.curve.with_offset(u)
        return cls.flattened(cases, every_row(problem), coefficients, change, curves)

    @classmethod
    def flattened(
        cls,
        cases: CasesOfClusters,
        every: LikelihoodRows,
        coefficients: Floats,
        change: Adjustment,
        curves: Told | None = None,
    ) -> LikelihoodParts:
        """Those of a likelihood that clusters flatten, by coefficients (draws, 1 + k) of curves."""
        away, read = coefficients[:, 1:] - change.top, coefficients.copy()
        read[:, 1:] = change.read_at(coefficients[:, 1:])
        fitted = BINOMIAL.mean(every.offset + every.basis @ change.top)
        flat = cases.residuals(fitted) @ every.basis @ change.contraction

        def of(at: Floats) -> Told:
            return cases.told(lambda rows: at @ every.columns[:, rows])

        slope = np.asarray(flat @ change.contraction - flat)
        return cls(cases, of(coefficients) if curves is None else curves, of(read), away, slope)

    def of(self, some: slice) -> Floats:
        """Of some clusters, but for a constant of each, of shape (clusters, draws).

        By these the log likelihood would fall without the cluster.
        """
        told = self.cases.log_density(self.read, some)
        return np.asarray(told / self.effect + self.slope[some] @ self.away.T)


class CasesOfClusters:
    """Cases with known outcomes, by cluster and row."""

    def __init__(self, clusters: Clusters) -> None:
        self.clusters = clusters

    def entries(self, some: slice) -> NDArray[np.intp]:
        """Where the cases of some clusters are."""
        first, last, _ = some.indices(self.clusters.size)
        return np.arange(*np.searchsorted(self.clusters.cluster, (first, last)))

    def residuals(self, fitted: Floats) -> sparse.csr_array:
        """Observed less expected of each cluster in each row, (clusters, rows)."""
        clusters = self.clusters
        residual = clusters.hits - clusters.trials * fitted[clusters.row]
        return clusters.matrix(residual, clusters.row, fitted.size)

    def told(self, log_odds: Told) -> Told:
        """What is asked of curves: their log-odds (draws, rows) at some rows."""
        return log_odds

    def log_density(self, told: Told, some: slice) -> Floats:
        """Of the cases of each of some clusters, of shape (clusters, draws)."""
        rows, trials, hits = self._counted(some)
        by_row = np.ascontiguousarray(told(rows).T)
        return np.asarray(hits @ by_row - trials @ BINOMIAL.cost(by_row))

    def predicted(self, told: Told, some: slice, share: Floats) -> Floats:
        """Sums of the log densities of single cases, by the share of each draw for each cluster."""
        rows, trials, hits = self._counted(some)
        event, none = logarithms(share @ expit(told(rows)))
        return np.asarray((hits.multiply(event) + (trials - hits).multiply(none)).sum(axis=1))

    def _counted(self, some: slice) -> tuple[NDArray[np.intp], sparse.csr_array, sparse.csr_array]:
        """The rows of some clusters, and cases and events there, (clusters, rows)."""
        clusters, here = self.clusters, self.entries(some)
        rows = np.unique(clusters.row[here])
        at = np.minimum(np.searchsorted(rows, clusters.row), rows.size - 1)
        trials, hits = (
            clusters.matrix(each, at, rows.size)[some] for each in (clusters.trials, clusters.hits)
        )
        return rows, trials, hits


class FollowedCases(CasesOfClusters):
    """Cases with times to an event, by cluster and entry, at the steps of Q of several groups."""

    def __init__(self, problem: Problem, clusters: Clusters, steps: Steps | None = None) -> None:
        super().__init__(clusters)
        self._problem, self._steps = problem, steps

    def residuals(self, fitted: Floats) -> sparse.csr_array:
        """Slopes of the log density of each cluster in each row, (clusters, rows)."""
        clusters, followed = self.clusters, self._problem.data.follow_up
        assert followed is not None
        each = told_by_cases(self._problem, fitted[followed.row], self._steps)
        slope, row = each.slope[clusters.row], followed.row[clusters.row]
        return clusters.matrix(clusters.trials * slope, row, fitted.size)

    def told(self, log_odds: Told) -> Told:
        """Log densities (draws, entries) of single cases at some entries."""
        every = log_odds(np.arange(self._problem.data.score.size))
        density = log_density_by_entry(self._problem, every, steps=self._steps)
        return lambda entries: density[:, entries]

    def log_density(self, told: Told, some: slice) -> Floats:
        """Of the cases of each of some clusters, of shape (clusters, draws)."""
        entries, trials, _ = self._counted(some)
        return np.asarray(trials @ told(entries).T)

    def predicted(self, told: Told, some: slice, share: Floats) -> Floats:
        """Sums of the log densities of single cases, by the share of each draw for each cluster."""
        clusters, here = self.clusters, self.entries(some)
        number = clusters.cluster[here] - some.start
        mean = np.vecdot(share[number], np.exp(told(clusters.row[here]).T))
        return np.asarray(add_up(number, clusters.trials[here] * np.log(mean), len(share)))


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
