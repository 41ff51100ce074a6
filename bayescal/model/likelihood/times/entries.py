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
from bayescal.model.likelihood.gauss import gauss_of_groups
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.model.partition.cells import cell_edges, cell_of
from bayescal.model.problem import Problem

__all__ = [
    "Entries",
    "Partial",
    "entries_of",
    "grid_of",
    "in_order",
    "joined",
    "law_of",
    "mean_of_nodes",
    "once",
    "panels_of",
]


# Of time, in an interval.
BINS_OF_INTERVAL = 4


@dataclass(frozen=True)
class Partial:
    """Cases of which it is known that they had no event of any kind by some time.

    `weight` (entries,): effective cases; below zero where a case came under observation at that
    time, and so is one of those without an event by then.
    """

    row: NDArray[np.intp]  # (entries,): of the table
    x: Floats  # (entries,): log-odds of the scores
    step: Floats  # (entries,): that time, as steps of the grid of `FollowUp`; need not be whole
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
    """All followed cases of a table, by row.

    `events` and `free` (rows,): cases with the event by the horizon, and those known to have none.
    `in_interval` (rows, classes): the events by interval; with competing events also the free cases
    by the interval of theirs, those without any last.
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

    `what`: its name.
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


# Entries past which those of neighbouring scores and times are put on two times.
MOST_ENTRIES = 1500
TIMES_OF_INTERVAL = 3
# In log-odds.
WIDEST_ROW, WIDEST_PANEL = 0.025, 0.15


def grid_of(problem: Problem) -> Partial:
    """The entries of a problem that are known in part, or fewer in their place.

    Those of a narrow range of scores and one interval are put on three times, which keep their
    first six moments of time; each time has the mean log-odds that keeps what scores have to do
    with time. Q is linear in time within an interval, whatever its steps.
    """
    return once(problem, "grid", lambda: _gridded(problem))


def _gridded(problem: Problem) -> Partial:
    partial = entries_of(problem).partial
    if partial.size <= MOST_ENTRIES:
        return partial
    law = law_of(problem)
    key = cell_of(partial.x, _cut(_ends(problem), WIDEST_ROW)) * law.size
    order, start = in_order(key + law.located(partial.step)[0], partial.weight)
    weight, row = partial.weight[order], partial.row[order]
    step, total, split = gauss_of_groups(
        partial.step[order], np.abs(weight), start, TIMES_OF_INTERVAL
    )
    shared = np.abs(weight)[:, None] * split
    x = mean_of_nodes(partial.x[order], shared, total, start)
    some = np.flatnonzero(total)
    total *= np.sign(weight[start])[:, None]
    of = row[start][some // TIMES_OF_INTERVAL]
    return Partial(of, x.ravel()[some], step.ravel()[some], total.ravel()[some])


def mean_of_nodes(values: Floats, shared: Floats, total: Floats, start: NDArray[np.intp]) -> Floats:
    """Means of a value over what nodes stand for, no farther out than those of the entries.

    `values` (entries,): in groups that begin at `start`; `shared` (entries, count): weight that
    each entry gives to the nodes of its group; may be below zero; `total` (groups, count): weight
    of the nodes.
    """
    low, high = (edge.reduceat(values, start)[:, None] for edge in (np.minimum, np.maximum))
    sums = np.add.reduceat(shared * values[:, None], start)
    return np.clip(sums / np.where(total > 0, total, 1), low, high)


def panels_of(problem: Problem) -> Floats:
    """Log-odds between panels of the scores, each a cell or, of a wide one, a part of it."""
    return once(problem, "panels", lambda: _panels(problem))


def _panels(problem: Problem) -> Floats:
    return _cut(_ends(problem), WIDEST_PANEL)


def _ends(problem: Problem) -> Floats:
    """Where cells of the scores begin and end."""
    score, trials = problem.table.score, problem.table.trials
    x = np.asarray(logit(score[[0, -1]]))
    return np.concatenate([x[:1], cell_edges(score, trials), x[1:]])


def _cut(ends: Floats, widest: float) -> Floats:
    """Inner ends of cells, with more of them in wide ones."""
    parts = np.maximum(np.ceil(np.diff(ends) / widest), 1).astype(int)
    each = zip(ends, ends[1:], parts, strict=False)
    return np.concatenate([np.linspace(low, high, n + 1)[1:] for low, high, n in each])[:-1]


def in_order(key: NDArray[np.intp], weight: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Entries in the order of a key and of the sign of their weight, and where groups begin."""
    signed = key * 2 + (weight < 0)
    order = np.argsort(signed, kind="stable")
    return order, np.flatnonzero(np.diff(signed[order], prepend=-1))
