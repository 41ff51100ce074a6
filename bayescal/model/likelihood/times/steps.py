"""When events come: the steps of Q, their likeliest values, and what they tell of a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax

from bayescal.core.arrays import Floats
from bayescal.core.optimise import maximise
from bayescal.model.likelihood.gauss import gauss_rule
from bayescal.model.likelihood.times.entries import (
    Entries,
    Partial,
    entries_of,
    grid_of,
    law_of,
    once,
)
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.model.likelihood.times.shared import late_of, log_without
from bayescal.model.problem import Problem

__all__ = ["Steps", "Timing", "likeliest_steps", "steps_of", "timing_of"]

STEPS_ROUNDS, NEAR_STEPS, NEAR_CURVE = 4, 1e-10, 1e-2
LONGEST_OF_STEPS = 3.0
Z_NODES = 24
# Bumps of the smooth curve: where, and how wide, in z; and the prior of their heights.
BUMPS, BUMP_SD, SD_OF_BUMPS = np.arange(-2.25, 2.5, 0.75), 0.75, 0.5


@dataclass(frozen=True)
class Share:
    """Q of one kind of event at entries, and its derivatives by a and c.

    `steps`, `by_score` (entries, classes): the steps of Q, and the derivatives of Q by their scores
    a + c z.
    """

    value: Floats  # (entries,)
    z: Floats  # (entries,)
    steps: Floats
    by_score: Floats

    @property
    def slope(self) -> Floats:
        """First derivatives, of shape (entries, 2 classes)."""
        return np.hstack([self.by_score, self.z[:, None] * self.by_score])

    def summed_bend(self, weight: Floats) -> Floats:
        """Weighted sum of the second derivatives, of shape (2 classes, 2 classes)."""
        blocks = []
        for power in range(3):
            scaled = (weight * self.z**power)[:, None] * self.by_score
            cross = self.steps.T @ scaled
            blocks.append(np.diag(scaled.sum(axis=0)) - cross - cross.T)
        return np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])

    def bend_along(self, matrix: Floats) -> Floats:
        """Trace of the second derivatives of each entry times a symmetric matrix."""
        k, total = self.steps.shape[1], np.zeros(self.z.size)
        first, beside, second = matrix[:k, :k], matrix[:k, k:], matrix[k:, k:]
        for power, block in enumerate((first, beside + beside.T, second)):
            along = self.by_score @ np.diag(block) - 2 * np.vecdot(
                self.steps @ block, self.by_score
            )
            total += self.z**power * along
        return total


@dataclass(frozen=True)
class Shares:
    """Q at entries, and V with competing events: see `TimeToEvent`."""

    each: tuple[Share, ...]

    @property
    def value(self) -> Floats:
        """Q: the share of those with the event by the horizon who had it by then."""
        return self.each[0].value

    @property
    def other(self) -> Floats:
        """V: the share of the others who had a competing event by then."""
        return self.each[1].value if len(self.each) > 1 else np.zeros_like(self.value)

    @property
    def slope(self) -> list[Floats]:
        """First derivatives of each, by its own coordinates."""
        return [each.slope for each in self.each]

    def rates(self, g: Floats) -> list[Floats]:
        """How much Q and V take off the log probability of an entry, of curves by g there."""
        without = 1 - (self.other + g * (self.value - self.other))
        return [rate / without for rate in (g, 1 - g)[: len(self.each)]]

    def late(self, g: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
        """Log probability of the entries, its gradient and Hessian by all a and c."""
        rates = self.rates(g)
        by = np.hstack(
            [rate[:, None] * slope for rate, slope in zip(rates, self.slope, strict=True)]
        )
        bends = [each.summed_bend(r * weight) for each, r in zip(self.each, rates, strict=True)]
        value = float(log_without(g, self.value, self.other) @ weight)
        return value, -weight @ by, -_block_diagonal(bends) - (by.T * weight) @ by


class EventSums(NamedTuple):
    """What the likelihood of the steps needs of one kind of event, and the prior of its a and c."""

    sums: Floats  # (2 classes,): cases by class, and the sums of their z
    z: Floats  # (nodes,): nodes of a Gauss rule of the z of all these cases
    total: Floats  # (nodes,)
    centre: Floats  # (2 classes,): of the normal prior
    precision: Floats  # (2 classes,)

    def log_density(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Of prior and events, with its gradient and its negative Hessian."""
        k, (events, z, total, centre, precision) = at.size // 2, self
        q, away = at[:k] + z[:, None] * at[k:], at - centre
        highest = q.max(axis=1)
        q = np.exp(q - highest[:, None])
        sums = q.sum(axis=1)
        q /= sums[:, None]
        log_sum = np.log(sums) + highest
        value = float(events @ at - total @ log_sum) - float(precision @ away**2) / 2
        fitted = total[:, None] * q
        slope = events - np.concatenate([fitted.sum(axis=0), z @ fitted]) - precision * away
        blocks = []
        for power in range(3):
            weight = total * z**power
            blocks.append(np.diag(weight @ q) - (q * weight[:, None]).T @ q)
        information = np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])
        return value, slope, information + np.diag(precision)


class Steps:
    """The likelihood of the steps: a and c, given the curve, and values `at` which it is expanded.

    Of events it is that of the interval in which they came, whatever the curve. Of cases that are
    known in part it depends on both. `at` has the a and c of the events, then those of competing
    ones; `constant`, `slope` and `information` are of prior and events there.
    """

    def __init__(
        self, law: TimeToEvent, events: Sequence[EventSums], at: Floats | None = None
    ) -> None:
        self.law, self._of = law, events
        self._ends = np.cumsum([each.centre.size for each in events])[:-1]
        self.at = np.concatenate([each.centre for each in events]) if at is None else at
        self.constant, self.slope, self.information = self.of_events(self.at)

    def of_events(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Log density of prior and events, its gradient and its negative Hessian."""
        own = zip(self._of, np.split(at, self._ends), strict=True)
        value, slope, information = zip(
            *(each.log_density(mine) for each, mine in own), strict=True
        )
        return sum(value), np.concatenate(slope), _block_diagonal(information)

    def shares(self, partial: Partial, at: Floats | None = None) -> Shares:
        """Q and V of entries, at these or other values."""
        z, each = self.law.standardised(partial.x), []
        for own in np.split(self.at if at is None else at, self._ends):
            k = own.size // 2
            passed = self.law.passed(partial.step, k)
            steps = softmax(own[:k] + z[:, None] * own[k:], axis=1)
            value = np.vecdot(passed, steps)
            each.append(Share(value, z, steps, steps * (passed - value[:, None])))
        return Shares(tuple(each))

    def likeliest(self, partial: Partial, g: Floats) -> Steps:
        """The same, at the likeliest values given a curve by its values at the entries."""

        def objective(at: Floats) -> tuple[float, Floats, Floats]:
            value, slope, information = self.of_events(at)
            late, by, bend = self.shares(partial, at).late(g, partial.weight)
            return value + late, slope + by, bend - information

        best = maximise(objective, self.at, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS)
        return Steps(self.law, self._of, best.point)


class Timing(NamedTuple):
    """Likeliest steps beside a smooth curve, and that curve at the entries known in part."""

    steps: Steps
    curve: Floats


def timing_of(problem: Problem) -> Timing:
    """The steps of a problem, at their likeliest values with those of a smooth curve.

    They depend on the table and on how scores of 0 and 1 are read, not on the family or the prior,
    and are computed once. The entries are those of `grid_of`.
    """
    return once(problem, "timing", lambda: _fitted(problem))


def steps_of(problem: Problem) -> Steps:
    """The steps of `timing_of`."""
    return timing_of(problem).steps


def _fitted(problem: Problem) -> Timing:
    entries, score = entries_of(problem), problem.table.score
    return likeliest_steps(law_of(problem), score, entries, grid_of(problem))


def likeliest_steps(law: TimeToEvent, score: Floats, entries: Entries, partial: Partial) -> Timing:
    """The steps at their likeliest values with those of a smooth curve of all cases.

    `score` (rows,); `entries`: of these rows; `partial`: those of the entries that are known in
    part, or nodes in their place.
    """
    z = law.standardised(np.asarray(logit(score)))
    steps = Steps(law, [_event_sums(each, z, law) for each in entries.in_interval])
    reference = _Reference(law, score, entries, partial)
    curve = reference.diagonal
    for _ in range(STEPS_ROUNDS):
        steps = steps.likeliest(partial, expit(reference.log_odds(curve)))
        if not partial.size:
            break
        before, curve = curve, reference.mode(curve, steps.shares(partial))
        if np.abs(before - curve).max() < NEAR_CURVE:
            break
    return Timing(steps, np.asarray(expit(reference.log_odds(curve))))


def _event_sums(in_interval: Floats, z: Floats, law: TimeToEvent) -> EventSums:
    centre, precision = law.prior_of_steps(in_interval.shape[1])
    total = in_interval.sum(axis=1)
    some = total > 0
    nodes, weight = z[some], total[some]
    if weight.size > Z_NODES:
        nodes, weight = gauss_rule(nodes, weight, Z_NODES)
    sums = np.concatenate([in_interval.sum(axis=0), z @ in_interval])
    return EventSums(sums, nodes, weight, centre, precision)


class _Reference:
    """A smooth curve, linear in log s, log(1 - s) and bumps, under a wide prior.

    `diagonal` (k,): the prior mean: exact calibration.
    """

    def __init__(self, law: TimeToEvent, score: Floats, entries: Entries, partial: Partial) -> None:
        self.entries, self.partial = entries, partial
        self.basis, self.of_partial = (
            _smooth_basis(law, x) for x in (np.asarray(logit(score)), partial.x)
        )
        self.diagonal = np.zeros(self.basis.shape[1])
        self.diagonal[1:3] = 1
        self.precision = np.ones(self.diagonal.size)
        self.precision[3:] = SD_OF_BUMPS**-2

    def log_odds(self, curve: Floats) -> Floats:
        """At the entries that are known in part."""
        return np.asarray(self.of_partial @ curve)

    def mode(self, start: Floats, shares: Shares) -> Floats:
        """The likeliest curve, given Q and V at these entries."""
        events, free, weight = self.entries.events, self.entries.free, self.partial.weight

        def objective(curve: Floats) -> tuple[float, Floats, Floats]:
            x, away = self.basis @ curve, curve - self.diagonal
            g = expit(x)
            value = (
                float(events @ x - (events + free) @ np.logaddexp(0, x))
                - float(away @ (self.precision * away)) / 2
            )
            slope = self.basis.T @ (events - (events + free) * g) - self.precision * away
            hessian = -(self.basis.T * ((events + free) * g * (1 - g))) @ self.basis
            hessian -= np.diag(self.precision)
            g = expit(self.of_partial @ curve)
            late, bend = late_of(g, shares.value, shares.other)
            value += float(log_without(g, shares.value, shares.other) @ weight)
            slope -= self.of_partial.T @ (late * weight)
            hessian -= (self.of_partial.T * (bend * weight)) @ self.of_partial
            return value, slope, hessian

        return maximise(objective, start, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS).point


def _smooth_basis(law: TimeToEvent, x: Floats) -> Floats:
    """Basis of a smooth curve at log-odds, of shape (entries, k)."""
    z = law.standardised(x)[:, None]
    line = np.ones(x.size), -np.logaddexp(0, -x), np.logaddexp(0, x)
    return np.hstack([np.column_stack(line), np.exp(-(((z - BUMPS) / BUMP_SD) ** 2) / 2)])


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Square matrices along the diagonal of one."""
    ends = np.cumsum([len(each) for each in blocks])
    matrix = np.zeros((ends[-1], ends[-1]))
    for end, each in zip(ends, blocks, strict=True):
        matrix[end - len(each) : end, end - len(each) : end] = each
    return matrix
