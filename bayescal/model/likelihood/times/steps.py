"""When events come: the steps of Q, their likeliest values, and what they tell of a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, softmax

from bayescal._base.arrays import Floats
from bayescal._base.newton import maximise
from bayescal.model.likelihood.gauss import gauss_rule
from bayescal.model.likelihood.times.entries import (
    MOST_ENTRIES,
    Entries,
    Partial,
    entries_of,
    law_of,
    merged,
)
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.model.problem import Problem

__all__ = ["Steps", "steps_of"]

STEPS_ROUNDS, NEAR_STEPS, NEAR_CURVE = 4, 1e-10, 1e-2
LONGEST_OF_STEPS = 3.0
Z_NODES = 24


@dataclass(frozen=True)
class Shares:
    """Q at entries, and its derivatives by a and c.

    Attributes
    ----------
    value : ndarray of shape (entries,)
    z : ndarray of shape (entries,)
    steps, by_score : ndarray of shape (entries, intervals)
        The steps of Q, and the derivatives of Q by their scores a + c z.
    """

    value: Floats
    z: Floats
    steps: Floats
    by_score: Floats

    @property
    def slope(self) -> Floats:
        """First derivatives, of shape (entries, 2 intervals)."""
        return np.hstack([self.by_score, self.z[:, None] * self.by_score])

    def summed_bend(self, weight: Floats) -> Floats:
        """Weighted sum of the second derivatives, of shape (2 intervals, 2 intervals)."""
        blocks = []
        for power in range(3):
            scaled = (weight * self.z**power)[:, None] * self.by_score
            cross = self.steps.T @ scaled
            blocks.append(np.diag(scaled.sum(axis=0)) - cross - cross.T)
        return np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])

    @property
    def bend(self) -> Floats:
        """Second derivatives, of shape (entries, 2 intervals, 2 intervals)."""
        k = self.steps.shape[1]
        cross = self.steps[:, :, None] * self.by_score[:, None, :]
        bend = -cross - cross.transpose(0, 2, 1)
        bend[:, np.arange(k), np.arange(k)] += self.by_score
        square = np.empty((len(bend), 2 * k, 2 * k))
        for i in range(2):
            for j in range(2):
                scale = (self.z ** (i + j))[:, None, None]
                square[:, i * k : (i + 1) * k, j * k : (j + 1) * k] = scale * bend
        return square


class EventSums(NamedTuple):
    """What the likelihood of the steps needs of the events.

    Attributes
    ----------
    sums : ndarray of shape (2 intervals,)
        Events by interval, and the sums of their z.
    z, total : ndarray of shape (nodes,)
        Nodes of a Gauss rule of the z of all events.
    """

    sums: Floats
    z: Floats
    total: Floats


class Steps:
    """The likelihood of the steps: a and c, given the curve, and values to expand it at.

    Of events it is that of the interval in which they came, whatever the curve. Of cases that are
    known in part it depends on both.

    Attributes
    ----------
    at : ndarray of shape (2 intervals,)
    slope, information : ndarray of shape (2 intervals,) and (2 intervals, 2 intervals)
        Of prior and events, there: the gradient of the log density and its negative Hessian.
    constant : float
        Log density of the intervals of the events, and of a and c but for the constant of the
        normal law, there.
    """

    def __init__(self, law: TimeToEvent, events: EventSums, at: Floats) -> None:
        self.law, self._of = law, events
        self.at = at
        self.constant, self.slope, self.information = self.of_events(at)

    def of_events(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Log density of prior and events, its gradient and its negative Hessian."""
        k, (events, z, total) = self.law.size, self._of
        q = at[:k] + z[:, None] * at[k:]
        highest = q.max(axis=1)
        q = np.exp(q - highest[:, None])
        sums = q.sum(axis=1)
        q /= sums[:, None]
        log_sum = np.log(sums) + highest
        value = float(events @ at - total @ log_sum) - float(at @ at) / 2
        fitted = total[:, None] * q
        slope = events - np.concatenate([fitted.sum(axis=0), z @ fitted]) - at
        blocks = []
        for power in range(3):
            weight = total * z**power
            blocks.append(np.diag(weight @ q) - (q * weight[:, None]).T @ q)
        information = np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])
        return value, slope, information + np.eye(2 * k)

    def shares(self, partial: Partial, at: Floats | None = None) -> Shares:
        """Q of entries, at these or other values."""
        k, at = self.law.size, self.at if at is None else at
        z = self.law.standardised(partial.x)
        interval, fraction = self.law.located(partial.step)
        passed = (np.arange(k) < interval[:, None]).astype(np.float64)
        passed[np.arange(z.size), interval] = fraction
        steps = softmax(at[:k] + z[:, None] * at[k:], axis=1)
        value = np.vecdot(passed, steps)
        return Shares(value, z, steps, steps * (passed - value[:, None]))

    def likeliest(self, partial: Partial, g: Floats) -> Steps:
        """The same, at the likeliest values given a curve by its values at the entries."""

        def objective(at: Floats) -> tuple[float, Floats, Floats]:
            value, slope, information = self.of_events(at)
            shares = self.shares(partial, at)
            rate = g / (1 - g * shares.value)
            by = shares.slope
            value += float(np.log1p(-g * shares.value) @ partial.weight)
            slope = slope - (rate * partial.weight) @ by
            hessian = -information - shares.summed_bend(rate * partial.weight)
            hessian -= (by.T * (rate**2 * partial.weight)) @ by
            return value, slope, hessian

        best = maximise(objective, self.at, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS)
        return Steps(self.law, self._of, best.point)


def steps_of(problem: Problem) -> Steps:
    """The steps of a problem, at their likeliest values with those of a smooth curve.

    They depend on the table and on how scores of 0 and 1 are read, not on the family or the prior,
    and are computed once.
    """
    law = law_of(problem)
    key = problem.edges, problem.table.score.size, float(problem.table.score @ problem.table.trials)
    if key not in law._kept:
        law._kept[key] = _fitted(problem, law)
    known: Steps = law._kept[key]
    return known


def _fitted(problem: Problem, law: TimeToEvent) -> Steps:
    entries, score = entries_of(problem), problem.table.score
    partial = entries.partial
    if partial.size > MOST_ENTRIES:
        bins = partial.bins(law)
        partial = merged(partial, problem.merged(partial.row) * (int(bins.max()) + 1) + bins)
    events = _event_sums(entries.in_interval, law.standardised(np.asarray(logit(score))))
    steps = Steps(law, events, np.zeros(2 * law.size))
    reference, curve = _Reference(score, entries, partial), np.array([0.0, 1.0, 1.0])
    for _ in range(STEPS_ROUNDS):
        steps = steps.likeliest(partial, expit(reference.log_odds(curve)))
        if not partial.size:
            break
        before, curve = curve, reference.mode(curve, steps.shares(partial).value)
        if np.abs(before - curve).max() < NEAR_CURVE:
            break
    return steps


def _event_sums(in_interval: Floats, z: Floats) -> EventSums:
    total = in_interval.sum(axis=1)
    some = total > 0
    nodes, weight = z[some], total[some]
    if weight.size > Z_NODES:
        nodes, weight = gauss_rule(nodes, weight, Z_NODES)
    return EventSums(np.concatenate([in_interval.sum(axis=0), z @ in_interval]), nodes, weight)


class _Reference:
    """A smooth curve, linear in log s and log(1 - s), under a wide prior round the diagonal."""

    def __init__(self, score: Floats, entries: Entries, partial: Partial) -> None:
        self.basis = np.column_stack([np.ones(score.size), np.log(score), -np.log1p(-score)])
        self.entries, self.partial = entries, partial
        at = expit(partial.x)
        self.of_partial = np.column_stack([np.ones(at.size), np.log(at), -np.log1p(-at)])

    def log_odds(self, curve: Floats) -> Floats:
        """At the entries that are known in part."""
        return np.asarray(self.of_partial @ curve)

    def mode(self, start: Floats, share: Floats) -> Floats:
        """The likeliest curve, given Q at these entries."""
        events, free, weight = self.entries.events, self.entries.free, self.partial.weight

        def objective(curve: Floats) -> tuple[float, Floats, Floats]:
            x, away = self.basis @ curve, curve - np.array([0.0, 1.0, 1.0])
            g = expit(x)
            value = (
                float(events @ x - (events + free) @ np.logaddexp(0, x)) - float(away @ away) / 2
            )
            slope = self.basis.T @ (events - (events + free) * g) - away
            hessian = -(self.basis.T * ((events + free) * g * (1 - g))) @ self.basis - np.eye(3)
            g = expit(self.of_partial @ curve)
            late = g * (1 - g) * share / (1 - g * share)
            value += float(np.log1p(-g * share) @ weight)
            slope -= self.of_partial.T @ (late * weight)
            bend = late * ((1 - 2 * g) + g * (1 - g) * share / (1 - g * share))
            hessian -= (self.of_partial.T * (bend * weight)) @ self.of_partial
            return value, slope, hessian

        return maximise(objective, start, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS).point
