"""Followed cases as the law of times reads them: with known outcomes, and known in part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.data.rows import add_up
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.model.problem import Problem

__all__ = ["Entries", "Partial", "entries_of", "joined", "law_of", "once"]

BINS_OF_INTERVAL = 4
"""Of time, in an interval."""


@dataclass(frozen=True)
class Partial:
    """Cases of which it is known that they had no event of any kind by some time.

    Attributes
    ----------
    row : ndarray of int of shape (entries,)
        Of the table.
    x : ndarray of shape (entries,)
        Log-odds of the scores.
    step : ndarray of shape (entries,)
        That time, as steps of the grid of `FollowUp`; need not be whole.
    weight : ndarray of shape (entries,)
        Effective cases; below zero where a case came under observation at that time, and so is one
        of those without an event by then.
    """

    row: NDArray[np.intp]
    x: Floats
    step: Floats
    weight: Floats

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.weight.size

    def bins(self, law: TimeToEvent) -> NDArray[np.intp]:
        """Bin of each entry, by its time and the sign of its weight."""
        interval, fraction = law.located(self.step)
        within = np.minimum((fraction * BINS_OF_INTERVAL).astype(np.intp), BINS_OF_INTERVAL - 1)
        return np.asarray((interval * BINS_OF_INTERVAL + within) * 2 + (self.weight < 0))


@dataclass(frozen=True)
class Entries:
    """All followed cases of a table.

    Attributes
    ----------
    events, free : ndarray of shape (rows,)
        Cases with the event by the horizon, and those known to have none by then, by row.
    in_interval : tuple of ndarray of shape (rows, classes)
        The events by the interval in which they came. With competing events, also the free cases by
        the interval in which theirs came; those without any are last.
    partial : Partial
    """

    events: Floats
    free: Floats
    in_interval: tuple[Floats, ...]
    partial: Partial


def law_of(problem: Problem) -> TimeToEvent:
    """The likelihood of a problem of times to an event."""
    assert isinstance(problem.likelihood, TimeToEvent)
    return problem.likelihood


Made = TypeVar("Made")


def once(problem: Problem, what: str, make: Callable[[], Made]) -> Made:
    """What depends on the table of a problem alone, and on how it is read: made once, and kept.

    Parameters
    ----------
    what : str
        Its name.
    make : callable
    """
    followed, kept = problem.data.follow_up, law_of(problem).kept
    assert followed is not None
    of_table, rows = (followed.row, followed.weight), problem.table
    numbers = problem.most_rows, problem.data.weight_scale, float(rows.score @ rows.trials)
    key = what, *map(id, of_table), problem.edges, numbers
    known = kept.get(key)
    if known is None or any(a is not b for a, b in zip(known[0], of_table, strict=True)):
        kept[key] = known = of_table, make()
    made: Made = known[1]
    return made


def entries_of(problem: Problem) -> Entries:
    """The followed cases of a problem's table, on the scale of effective cases."""
    return once(problem, "entries", lambda: _entries(problem))


def _entries(problem: Problem) -> Entries:
    followed, law = problem.data.follow_up, law_of(problem)
    assert followed is not None
    weight, rows = followed.weight * problem.data.weight_scale, problem.table.score.size
    event, early = followed.event, followed.left_early & (followed.exit > 0)
    free = ~event & ~followed.left_early
    interval = law.located(np.maximum(followed.exit, 1))[0]
    counted = [(event, interval, law.size)]
    if law.competes:
        none = np.where(followed.other, interval, law.size)
        counted.append((free, none, law.size + 1))
    late = followed.entry > 0
    row = np.concatenate([followed.row[early], followed.row[late]])
    step = np.concatenate([followed.exit[early], followed.entry[late]]).astype(np.float64)
    signed = np.concatenate([weight[early], -weight[late]])
    return Entries(
        add_up(followed.row[event], weight[event], rows),
        add_up(followed.row[free], weight[free], rows),
        tuple(
            add_up(followed.row[some] * size + at[some], weight[some], rows * size).reshape(
                rows, size
            )
            for some, at, size in counted
        ),
        Partial(row, np.asarray(logit(problem.table.score))[row], step, signed),
    )


def joined(each: Sequence[Entries]) -> Entries:
    """The followed cases of several tables, whose rows stand one after the other."""
    starts = np.cumsum([0, *(one.events.size for one in each)])
    parts = [one.partial for one in each]
    row = [part.row + start for part, start in zip(parts, starts, strict=False)]
    partial = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "step", "weight")
    ]
    return Entries(
        np.concatenate([one.events for one in each]),
        np.concatenate([one.free for one in each]),
        tuple(map(np.concatenate, zip(*(one.in_interval for one in each), strict=True))),
        Partial(np.concatenate(row), *partial),
    )
