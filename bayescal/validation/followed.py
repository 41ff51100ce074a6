"""Times to an event simulated at the scores of a fit, with those who left leaving as they did.

A case has the event by the horizon with the probability of a curve. When, given that, is drawn from
Q at its likeliest steps. Who left early leaves at the same time again, unless the event comes
before. When a case with an event would have left is not known but for being later: it is drawn from
the cases of the same fifth of the scores that were still under observation, by Kaplan and Meier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, softmax

from bayescal.core.arrays import Floats
from bayescal.data.times import OTHER_EVENT, OWN_EVENT, TIME_STEPS
from bayescal.estimators.survival import Followed, read_followed
from bayescal.model.law import TimeToEvent
from bayescal.model.problem import Problem
from bayescal.model.times import law_of, steps_of

__all__ = ["SimulatedTimes"]

# Parts of the scores within which leaving is taken not to depend on the score.
PARTS_OF_SCORES = 5


class SimulatedTimes:
    """Replicates of the follow-up of a problem's cases, without sampling weights or clusters."""

    def __init__(self, problem: Problem) -> None:
        self.observed = read_followed(problem.data)
        followed = problem.data.follow_up
        assert followed is not None
        order = np.argsort(problem.data.score[followed.row], kind="stable")
        order = np.repeat(order, followed.weight.astype(np.intp)[order])
        self.row = followed.row[order]
        kind, last = followed.kind[order], followed.exit[order]
        self._events = np.flatnonzero((kind == OWN_EVENT) | (kind == OTHER_EVENT))
        self._last = last
        self._leaving = _Leaving.of(self.observed.entry, last, kind)
        # Replicates with the likeliest steps. To draw the steps as well made the check weaker: p of
        # the ICI of a miscalibrated model was then at most .2 in .14 of 71 sets, not in .24.
        law, steps = law_of(problem), steps_of(problem)
        z = law.standardised(np.asarray(logit(problem.inside(self.observed.score))))
        ends = [2 * law.size] if law.competes else []
        each = [_Times.of(law, own, z, self.observed.entry) for own in np.split(steps.at, ends)]
        self._own, self._other = each[0], each[1] if law.competes else None

    def replicates(self, probability: Floats, rng: np.random.Generator) -> Iterator[Followed]:
        """Cases as they might have been seen.

        Shapes: `probability` (replicates, n).
        """
        for g in probability:
            step, event, other = self._drawn(g, rng)
            left = self._last.copy()
            left[self._events] = self._leaving.later(self._events, self._last, rng)
            seen = step <= left
            last = np.where(seen, step, left)
            yield Followed(
                self.observed.score, self.observed.entry, last, event & seen, other & seen
            )

    def _drawn(
        self, g: Floats, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
        """The step of the first event of any kind, past the last without one, and which it is."""
        own = g * (1 - self._own.before)
        competes = np.zeros_like(g)
        if self._other is not None:
            competes = (1 - g) * (self._other.total - self._other.before)
        without = 1 - g * self._own.before
        if self._other is not None:
            without = without - (1 - g) * self._other.before
        u = rng.random(g.size) * without
        event, other = u < own, (u >= own) & (u < own + competes)
        step = np.full(g.size, TIME_STEPS + 1)
        step[event] = self._own.steps(rng)[event]
        if self._other is not None:
            step[other] = self._other.steps(rng)[other]
        return step, event, other


class _Times(NamedTuple):
    """When events of one kind come, of each case, given that they come.

    `cuts` are steps of the grid, `reached` (n, intervals + 1) the share of the events that have
    come by each, and `before` (n,) that which comes before the case is under observation.
    """

    cuts: NDArray[np.intp]
    reached: Floats
    before: Floats

    @classmethod
    def of(cls, law: TimeToEvent, at: Floats, z: Floats, entry: NDArray[np.intp]) -> _Times:
        """By the a and c of this kind of event."""
        k = at.size // 2
        share = softmax(at[:k] + z[:, None] * at[k:], axis=1)[:, : law.size]
        reached = np.concatenate([np.zeros((z.size, 1)), np.cumsum(share, axis=1)], axis=1)
        cuts, before = np.array(law.cuts), np.zeros(z.size)
        late = entry > 0
        if late.any():
            interval, fraction = law.located(entry[late])
            start, end = reached[late, interval], reached[late, interval + 1]
            before[late] = start + fraction * (end - start)
        return cls(cuts, reached, before)

    @property
    def total(self) -> Floats:
        """Share that comes by the horizon: 1, but of competing events."""
        return self.reached[:, -1]

    def steps(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """The step in which each event comes, after the entry."""
        u = self.before + rng.random(self.before.size) * (self.total - self.before)
        interval = (self.reached[:, 1:-1] <= u[:, None]).sum(axis=1)
        case = np.arange(u.size)
        start, end = self.reached[case, interval], self.reached[case, interval + 1]
        within = (u - start) / np.maximum(end - start, np.finfo(float).tiny)
        low, high = self.cuts[interval], self.cuts[interval + 1]
        step = np.ceil(low + within * (high - low))
        return np.asarray(np.clip(step, 1, TIME_STEPS), np.intp)


class _Leaving(NamedTuple):
    """The probability of not having left by each step, by Kaplan and Meier in parts of the scores.

    `part` (n,) is that of each case, and `staying` has shape (parts, steps + 1).
    """

    part: NDArray[np.intp]
    staying: Floats

    @classmethod
    def of(
        cls, entry: NDArray[np.intp], last: NDArray[np.intp], kind: NDArray[np.int8]
    ) -> _Leaving:
        """Of cases by ascending score; events of a step come before leaving."""
        size = last.size
        part = np.arange(size) * PARTS_OF_SCORES // size
        had = (kind == OWN_EVENT) | (kind == OTHER_EVENT)
        left = ~had & (last < TIME_STEPS)
        staying = np.ones((PARTS_OF_SCORES, TIME_STEPS + 1))
        for k in range(PARTS_OF_SCORES):
            mine = part == k
            went = np.bincount(last[mine & left], minlength=TIME_STEPS + 1)
            gone = np.bincount(last[mine & had], minlength=TIME_STEPS + 1)
            came = np.bincount(entry[mine], minlength=TIME_STEPS + 1)
            there = np.cumsum(came) - np.cumsum(gone) - (np.cumsum(went) - went)
            staying[k] = np.cumprod(1 - went / np.maximum(there, 1))
        return cls(part, staying)

    def later(
        self, cases: NDArray[np.intp], last: NDArray[np.intp], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """When some cases leave, given that they did not before they had an event."""
        left = np.full(cases.size, TIME_STEPS)
        for k in range(PARTS_OF_SCORES):
            mine = self.part[cases] == k
            staying = self.staying[k]
            since = staying[np.maximum(last[cases[mine]] - 1, 0)]
            u = since * rng.random(int(mine.sum()))
            # the first step by which the share that stays has fallen to u or below
            falls = np.searchsorted(-staying, -u, side="left")
            left[mine] = np.minimum(np.maximum(falls, last[cases[mine]]), TIME_STEPS)
        return left
