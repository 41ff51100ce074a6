"""Likelihoods of groups that have something in common: the steps of Q, or clusters of cases.

As for one curve, the likelihood of independent cases is contracted by the sandwich. How alike the
cases of a cluster are is estimated from the clusters of all groups, round the curve of each, and
the more from its own, the more a group has. A group whose outcomes have one class has no curve of
highest likelihood: the contraction is round its most probable curve, and a linear term keeps the
slope there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.data.clusters import COUNTED, Clusters
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.data.times import FollowUp
from bayescal.inference.density import Adjustment, CurveDensity, prior_covariance
from bayescal.model.clusters import degrees_of, flattened, information_of_times, share_alike
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem
from bayescal.model.rows import every_row
from bayescal.model.times import (
    Partial,
    Steps,
    entries_of,
    joined,
    law_of,
    likeliest_steps,
    told_by_cases,
)
from bayescal.model.times_rows import partial_of_group, rows_given_steps


class SharedSteps(NamedTuple):
    """The likeliest steps of Q, which all groups have in common.

    Of each group with patients `partial` has the entries that are known in part, or nodes in their
    place, and `coarse` fewer nodes, by which draws are proposed.
    """

    steps: Steps
    partial: dict[int, Partial]
    coarse: dict[int, Partial]


def steps_in_common(
    pooled: Problem, labels: Sequence[str], tables: Mapping[str, Problem]
) -> SharedSteps:
    """Those of the problems of groups, of which `pooled` is one table; computed once."""
    law, table = law_of(pooled), pooled.table
    key = "groups", tuple(labels), pooled.edges, float(table.score @ table.trials)
    if key not in law.kept:
        law.kept[key] = _made(pooled, {labels.index(label): tables[label] for label in tables})
    known: SharedSteps = law.kept[key]
    return known


def _made(pooled: Problem, each: Mapping[int, Problem]) -> SharedSteps:
    partial = {k: partial_of_group(group) for k, group in each.items()}
    entries = joined([entries_of(group) for group in each.values()])
    nodes = joined([replace(entries_of(each[k]), partial=nodes) for k, nodes in partial.items()])
    score = np.concatenate([group.table.score for group in each.values()])
    steps = likeliest_steps(law_of(pooled), score, entries, nodes.partial).steps
    coarse = {k: partial_of_group(group, coarse=True) for k, group in each.items()}
    return SharedSteps(steps, partial, coarse)


def given_steps(group: Problem, number: int, shared: SharedSteps) -> CurveDensity:
    """The density of the curve of independent cases of one group, given the steps of Q."""
    return CurveDensity(group, rows=rows_given_steps(group, shared.coarse[number], shared.steps))


# Degrees of freedom of a group's own clusters at which they count as much as those of all.
DEGREES_OF_OTHERS = 100.0
# Share of the information of a group past which a cluster has its curve pass through it.
MOST_LEVERAGE = 0.5


def adjustments_of(
    data: CalibrationData,
    groups: Mapping[int, Problem],
    prior: Prior,
    shared: SharedSteps | None = None,
) -> dict[int, Adjustment]:
    """By the index of a group with patients, how the clusters of all adjust its likelihood.

    A cluster may have cases in several groups. What these share is then counted half in each of
    two groups, so that the average is as uncertain as the clusters say, and differences of groups
    are at least as uncertain. The prior keeps the curve of a group with few outcomes.
    """
    alone = {k: replace(group.of_single_cases(), prior=prior) for k, group in groups.items()}
    curves: Sequence[_FittedGroup]
    if shared is not None:
        curves = [_FollowedGroup(group, k, shared) for k, group in alone.items()]
    else:
        curves = [_FittedGroup(group, CurveDensity(group)) for group in alone.values()]
    between = _BetweenGroups(data, curves)
    extra = map(between.extra, range(len(curves)))
    return {
        k: curve.adjustment(*more) for k, curve, more in zip(groups, curves, extra, strict=True)
    }


class _FittedGroup:
    """A group of independent cases, and its most probable curve."""

    def __init__(self, problem: Problem, density: CurveDensity) -> None:
        self.problem, self.density = problem, density
        self.rows = every_row(problem)
        at = self.density.near_mode().point
        self.top = self.density.curve.with_offset(at[None])[0, 1:]
        covariance = prior_covariance(self.density, at)
        self.precision = np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)
        self.fitted = BINOMIAL.mean(self.rows.offset + self.rows.basis @ self.top)
        self.information = self._information()

    def _information(self) -> Floats:
        """Of independent cases, on the coefficients."""
        spread = BINOMIAL.spread(self.rows.trials, self.fitted)
        return np.asarray((self.rows.basis.T * spread) @ self.rows.basis)

    def _slope(self) -> Floats:
        """Of the log likelihood of independent cases."""
        return self.rows.derivatives(self.top)[1]

    def told(self, clusters: Clusters) -> _Told:
        """What cases of each cluster in each row tell."""
        p, row = self.fitted[clusters.row], clusters.row
        own = clusters.square_hits * (1 - p) ** 2
        own += (clusters.square_trials - clusters.square_hits) * p**2
        spread = BINOMIAL.spread(np.ones_like(p), p)
        return _Told(clusters.hits - clusters.trials * p, own, spread, self.rows.basis[row])

    def adjustment(self, extra: Floats, degrees: float) -> Adjustment:
        """That of a score with this more of covariance than independent cases have."""
        about = flattened(self.information, extra, self.precision, degrees)
        by = about.contraction.T
        slope = self._slope()
        linear = by @ (by @ slope) - by @ slope
        return Adjustment(self.top, about.contraction, linear).calibrated_as(self.density)


class _FollowedGroup(_FittedGroup):
    """A group of cases with times to an event, given the steps of Q that all groups share."""

    def __init__(self, problem: Problem, number: int, shared: SharedSteps) -> None:
        self.steps = shared.steps
        super().__init__(problem, given_steps(problem, number, shared))

    @property
    def _followed(self) -> FollowUp:
        followed = self.problem.data.follow_up
        assert followed is not None
        return followed

    def _information(self) -> Floats:
        row, basis = self._followed.row, self.rows.basis
        return information_of_times(self.problem, row, basis, self.fitted, self.steps)

    def _slope(self) -> Floats:
        return self.density.by_coefficients(self.top)[1]

    def told(self, clusters: Clusters) -> _Told:
        """What cases of each cluster in each entry of the follow-up tell."""
        row, entry = self._followed.row, clusters.row
        each = told_by_cases(self.problem, self.fitted[row], self.steps)
        slope = each.slope[entry]
        residual, own = clusters.trials * slope, clusters.square_trials * slope**2
        return _Told(residual, own, each.spread[entry], self.rows.basis[row[entry]])


class _BetweenGroups:
    """Products of different cases of one cluster, of all groups and of each."""

    def __init__(self, data: CalibrationData, groups: Sequence[_FittedGroup]) -> None:
        clusters = data.clusters if data.follow_up is None else data.followed_clusters
        assert clusters is not None
        self.clusters, self.groups = clusters, len(groups)
        each = clusters_by_group(clusters, data, (one.problem.data for one in groups))
        cluster, trials, square_trials = (
            np.concatenate([getattr(one, name) for one in each])
            for name in ("cluster", "trials", "square_trials")
        )
        of_group = np.repeat(np.arange(len(each)), [one.row.size for one in each])
        of_cases = [group.told(one) for group, one in zip(groups, each, strict=True)]
        residual, own, spread, basis = (
            np.concatenate(values) for values in zip(*of_cases, strict=True)
        )
        parts, part = np.unique(cluster * len(groups) + of_group, return_inverse=True)
        self.cluster, self.group = np.divmod(parts, len(groups))
        from scipy import sparse

        member = sparse.csr_array(
            (np.ones(part.size), (part, np.arange(part.size))), shape=(parts.size, part.size)
        )
        informed = trials * spread
        information = member @ informed
        leverage = information / np.maximum(add_up(self.group, information), 1e-300)[self.group]
        told = leverage <= MOST_LEVERAGE
        if clusters.strata > 1:
            leverage = 0.0 * leverage
        grow = np.where(told, 1 / np.sqrt(1 - np.minimum(leverage, MOST_LEVERAGE)), 0.0)
        self.score = (member @ (residual[:, None] * basis)) * grow[:, None]
        total = clusters.centred(self._of_clusters((member @ residual) * grow))
        own = own * told[part]
        self.of_shift = member @ (informed[:, None] * basis)
        self.of_told = self.of_shift * told[:, None]
        own_of_shift = square_trials * spread**2
        self.information = information
        self.single, squares = member @ (square_trials * spread), member @ own_of_shift
        self.pairs = information**2 - squares
        both = self._of_clusters(information * told)
        pairs = both**2 - self._of_clusters(squares * told)
        every = max(float(pairs.sum()), 1e-300)
        self.variance = max(float(total @ total - own.sum()) / every, 0.0)
        self.degrees = degrees_of(
            self._of_clusters(self.single * told) + self.variance * pairs,
            *(pairs, both**2, clusters.strata / clusters.size),
        )
        paired = information * self._of_clusters(information)[self.cluster] - squares
        self.share = add_up(self.group, paired, len(groups)) / every
        self.own = _by_group(len(groups), of_group, basis, own)
        self.own_of_shift = _by_group(len(groups), of_group, basis, own_of_shift)
        self.own_of_told = _by_group(len(groups), of_group, basis, own_of_shift * told[part])

    @cached_property
    def _scores(self) -> Floats:
        """Scores of all cases of each cluster."""
        return self._of_clusters(self.score)

    @cached_property
    def _apart(self) -> Floats:
        """How far the covariance of all groups is from that of equal correlations."""
        numbers, of_told = range(self.groups), self._of_clusters(self.of_told)
        seen = sum(self._observed(k) for k in numbers)
        alike = of_told.T @ of_told - np.sum(self.own_of_told, axis=0)
        total = seen - self.variance * alike
        return np.asarray((1 - share_alike(len(total), self.degrees)) * total)

    def extra(self, group: int) -> tuple[Floats, float]:
        """Covariance of the score of a group beyond that of independent cases, and its degrees."""
        here = self._parts(group)
        layers = np.unique(self.clusters.stratum[self.cluster[here]]).size / here.size
        part = self.single[here] + self.variance * self.pairs[here]
        degrees = degrees_of(part, self.pairs[here], self.information[here] ** 2, layers)
        own = 1 / (1 + DEGREES_OF_OTHERS / degrees)
        shared = self._alike(group) + self.share[group] * self._apart
        noise = own**2 / degrees + (1 - own**2) / self.degrees
        seen = self._observed(group)
        return own * seen + (1 - own) * shared, 1 / noise if noise > 0 else np.inf

    def _parts(self, group: int) -> NDArray[np.intp]:
        return np.flatnonzero(self.group == group)

    def _alike(self, group: int) -> Floats:
        """As of a shift of each cluster's log-odds that varies with one variance."""
        here = self._parts(group)
        product = self.of_shift[here].T @ self._of_clusters(self.of_shift)[self.cluster[here]]
        return np.asarray(self.variance * ((product + product.T) / 2 - self.own_of_shift[group]))

    def _observed(self, group: int) -> Floats:
        """As observed."""
        here = self._parts(group)
        return self._covariance(self.score[here], self.cluster[here]) - self.own[group]

    def _covariance(self, score: Floats, of: NDArray[np.intp]) -> Floats:
        """Covariance of the total score of a group, by cluster, with that of all groups."""
        clusters, scores = self.clusters, self._scores
        if clusters.strata == 1:
            product = score.T @ scores[of]
        else:
            apart = np.zeros_like(scores)
            apart[of] = score
            product = clusters.centred(apart).T @ clusters.centred(scores)
        return np.asarray((product + product.T) / 2)

    def _of_clusters(self, values: Floats) -> Floats:
        """Sums over the groups of each cluster, of shape (clusters, ...)."""
        total = np.zeros((self.clusters.size, *values.shape[1:]))
        np.add.at(total, self.cluster, values)
        return total


def _by_group(groups: int, group: NDArray[np.intp], basis: Floats, weight: Floats) -> list[Floats]:
    """Weighted sums of squares of the basis, of each group."""
    ends = np.searchsorted(group, np.arange(groups + 1))
    each = [slice(start, end) for start, end in pairwise(ends)]
    return [(basis[k].T * weight[k]) @ basis[k] for k in each]


class _Told(NamedTuple):
    """What the cases of each cluster tell of the log-odds of a curve, by entry.

    Sums of the slopes of these cases, and of their squares; the expected square of the slope of one
    case; and derivatives (entries, k) of the log-odds by the coefficients.
    """

    residual: Floats
    own: Floats
    spread: Floats
    basis: Floats


def clusters_by_group(
    clusters: Clusters, data: CalibrationData, tables: Iterable[CalibrationData]
) -> list[Clusters]:
    """The entries of each group, under the numbers of all clusters, on the scale of the group.

    Rows of the clusters are those of all groups, or their entries of the follow-up, one group after
    the other.
    """
    parts, start = [], 0
    for table in tables:
        rows = table.score.size if table.follow_up is None else table.follow_up.row.size
        scale = table.weight_scale / data.weight_scale
        square = scale**2 if data.is_pseudo else scale
        here = (start <= clusters.row) & (clusters.row < start + rows)
        factors = dict(zip(COUNTED, (scale, scale, square, square), strict=True))
        counted = {name: getattr(clusters, name)[here] * by for name, by in factors.items()}
        part = replace(clusters, cluster=clusters.cluster[here], row=clusters.row[here] - start)
        parts.append(replace(part, **counted))
        start += rows
    return parts
