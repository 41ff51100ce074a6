"""A bounded number of entries in the place of all cases that are known in part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.likelihood.gauss import gauss_of_groups
from bayescal.model.likelihood.times.entries import Partial, entries_of, law_of, once
from bayescal.model.partition.cells import cell_edges, cell_of
from bayescal.model.problem import Problem

__all__ = ["grid_of", "in_order", "mean_of_nodes", "panels_of"]

MOST_ENTRIES = 1500
"""Entries past which those of neighbouring scores and times are put on two times."""
TIMES_OF_INTERVAL = 3
WIDEST_ROW, WIDEST_PANEL = 0.025, 0.15
"""In log-odds."""


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

    Parameters
    ----------
    values : ndarray of shape (entries,)
        In groups that begin at `start`.
    shared : ndarray of shape (entries, count)
        Weight that each entry gives to the nodes of its group; may be below zero.
    total : ndarray of shape (groups, count)
        Weight of the nodes.
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
