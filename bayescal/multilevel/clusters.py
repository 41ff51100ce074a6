"""Clusters of cases inside groups: how much flatter they make the likelihood of each group.

As for one curve, the likelihood of independent cases is contracted by the sandwich. How alike the
cases of a cluster are is estimated from the clusters of all groups, round the curve of each, and
the more from its own, the more a group has. A group whose outcomes have one class has no curve of
highest likelihood: the contraction is round its most probable curve, and a linear term keeps the
slope there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayescal._base.arrays import Floats
from bayescal.data.clusters import Clusters
from bayescal.data.data import CalibrationData
from bayescal.data.table import add_up
from bayescal.inference.clusters import Adjustment
from bayescal.inference.density import CurveDensity
from bayescal.inference.scales import prior_covariance
from bayescal.model.clusters.sandwich import degrees_of, flattened, share_alike
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.rows import every_row
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem

__all__ = ["adjustments_of"]

DEGREES_OF_OTHERS = 100.0
"""Degrees of freedom of a group's own clusters at which they count as much as those of all."""
MOST_LEVERAGE = 0.5
"""Share of the information of a group past which a cluster has its curve pass through it."""


def adjustments_of(
    data: CalibrationData, groups: Sequence[Problem], prior: Prior
) -> list[Adjustment]:
    """The adjustment of the likelihood of each group for the clusters of all of them.

    A cluster may have cases in several groups. What these share is then counted half in each of
    two groups, so that the average is as uncertain as the clusters say, and differences of groups
    are at least as uncertain.

    Parameters
    ----------
    data : CalibrationData
        With clusters, and the groups.
    groups : sequence of Problem
        The problem of each, in the order of the table.
    prior : Prior
        Of the coordinates of a curve, which keeps the curve of a group with few outcomes where it
        may be.
    """
    curves = [_FittedGroup(group, prior) for group in groups]
    between = _BetweenGroups(data, curves)
    return [curve.adjustment(*between.extra(number)) for number, curve in enumerate(curves)]


class _FittedGroup:
    """A group of independent cases, and its most probable curve."""

    def __init__(self, problem: Problem, prior: Prior) -> None:
        self.data = problem.data
        alone = replace(problem.of_single_cases(), prior=prior)
        self.rows = every_row(alone)
        self.density = CurveDensity(alone)
        at = self.density.near_mode().point
        self.top = self.density.curve.with_offset(at[None])[0, 1:]
        covariance = prior_covariance(self.density, at)
        self.precision = np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)
        self.fitted = BINOMIAL.mean(self.rows.offset + self.rows.basis @ self.top)
        spread = BINOMIAL.spread(self.rows.trials, self.fitted)
        self.information = (self.rows.basis.T * spread) @ self.rows.basis

    def adjustment(self, extra: Floats, degrees: float) -> Adjustment:
        """That of a score with this more of covariance than independent cases have."""
        about = flattened(self.information, extra, self.precision, degrees)
        by, curve = about.contraction.T, self.density.curve
        slope = self.rows.derivatives(self.top)[1]
        linear = by @ (by @ slope) - by @ slope
        calibrated = curve.with_offset(np.zeros((1, curve.size)))[0, 1:]
        made = Adjustment(self.top, about.contraction, 0.0, linear)
        return made.as_at(calibrated, self.density)


class _BetweenGroups:
    """Products of different cases of one cluster, of all groups and of each."""

    def __init__(self, data: CalibrationData, groups: list[_FittedGroup]) -> None:
        clusters = data.clusters
        assert clusters is not None
        self.clusters, self.groups = clusters, len(groups)
        entries = _Entries.of(clusters, data, groups)
        parts, part = np.unique(entries.cluster * len(groups) + entries.group, return_inverse=True)
        self.cluster, self.group = np.divmod(parts, len(groups))
        member = sparse.csr_array(
            (np.ones(part.size), (part, np.arange(part.size))), shape=(parts.size, part.size)
        )
        spread = BINOMIAL.spread(np.ones_like(entries.fitted), entries.fitted)
        informed = entries.trials * spread
        information = member @ informed
        leverage = information / np.maximum(add_up(self.group, information), 1e-300)[self.group]
        told = leverage <= MOST_LEVERAGE
        if clusters.strata > 1:
            leverage = 0.0 * leverage
        grow = np.where(told, 1 / np.sqrt(1 - np.minimum(leverage, MOST_LEVERAGE)), 0.0)
        residual = entries.hits - entries.trials * entries.fitted
        self.score = (member @ (residual[:, None] * entries.basis)) * grow[:, None]
        total = clusters.centred(self._of_clusters((member @ residual) * grow))
        square_hits, square_trials = entries.square_hits, entries.square_trials
        own = square_hits * (1 - entries.fitted) ** 2
        own += (square_trials - square_hits) * entries.fitted**2
        own *= told[part]
        self.of_shift = member @ (informed[:, None] * entries.basis)
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
        self.own = self._of_groups(entries, own)
        self.own_of_shift = self._of_groups(entries, own_of_shift)
        self.own_of_told = self._of_groups(entries, own_of_shift * told[part])

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

    def _of_groups(self, entries: _Entries, weight: Floats) -> list[Floats]:
        """Weighted sums of squares of the basis, of each group."""
        order = np.argsort(entries.group, kind="stable")
        ends = np.searchsorted(entries.group[order], np.arange(self.groups + 1))
        own = [order[start:end] for start, end in pairwise(ends)]
        return [(entries.basis[k].T * weight[k]) @ entries.basis[k] for k in own]


@dataclass(frozen=True)
class _Entries:
    """Cases of each cluster in each row of the groups, on the scale of each group.

    Sampling weights are those of effective cases in their own group.
    """

    cluster: NDArray[np.intp]
    group: NDArray[np.intp]
    trials: Floats
    hits: Floats
    square_trials: Floats
    square_hits: Floats
    fitted: Floats
    basis: Floats

    @classmethod
    def of(cls, clusters: Clusters, data: CalibrationData, groups: list[_FittedGroup]) -> _Entries:
        """Those of clusters whose rows are of all groups, one after the other."""
        sizes = [each.rows.size for each in groups]
        group = np.repeat(np.arange(len(groups)), sizes)[clusters.row]
        scale = np.array([each.data.weight_scale for each in groups])[group] / data.weight_scale
        square = scale**2 if data.is_pseudo else scale
        fitted, basis = (
            np.concatenate([each.fitted for each in groups]),
            np.concatenate([each.rows.basis for each in groups]),
        )
        return cls(
            *(clusters.cluster, group, clusters.trials * scale, clusters.hits * scale),
            *(clusters.square_trials * square, clusters.square_hits * square),
            *(fitted[clusters.row], basis[clusters.row]),
        )
