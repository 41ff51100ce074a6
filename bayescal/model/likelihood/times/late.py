"""Cases that left before the horizon, for curves that are made of stretches."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.model.likelihood.times.entries import (
    MOST_ENTRIES,
    Partial,
    entries_of,
    law_of,
    merged,
)
from bayescal.model.likelihood.times.rows import Correction
from bayescal.model.likelihood.times.steps import steps_of
from bayescal.model.partition.cells import cell_of
from bayescal.model.partition.stretches import Late
from bayescal.model.problem import Problem

__all__ = ["LateRows", "late_of_cells", "late_rows"]

INTERVALS_OF_BIN = 2
"""Enough to draw by: draws are weighted by what every case tells."""


class LateRows:
    """Cases that are known in part, with the steps of Q integrated out.

    Attributes
    ----------
    x : ndarray of shape (entries,)
        Log-odds of their scores.
    """

    def __init__(self, problem: Problem, partial: Partial) -> None:
        self.x, self._steps, self._partial = partial.x, steps_of(problem), partial

    def log_likelihood(self, g: Floats) -> Floats:
        """Of curves by their values at the entries, of shape (n, entries).

        The steps are expanded at the mean of these curves.
        """
        mean, weight = g.mean(axis=0), self._partial.weight
        steps = self._steps.likeliest(self._partial, mean) if weight.size else self._steps
        correction = Correction(steps, self._partial, mean)
        return np.asarray(correction.log_without(g) @ weight + correction(g))


def late_of_cells(problem: Problem) -> tuple[Floats, Late]:
    """Known outcomes by row, and the others merged by cell and time at the likeliest steps.

    Returns
    -------
    known : ndarray of shape (2, rows)
        Events, and cases that were followed to the horizon without.
    late : Late
    """
    entries = entries_of(problem)
    partial = entries.partial
    if partial.size:
        interval = law_of(problem).located(partial.step)[0]
        bins = interval // INTERVALS_OF_BIN * 2 + (partial.weight < 0)
        cell = cell_of(partial.x, np.array(problem.frame.cells[1:-1]))
        partial = merged(partial, cell * (int(bins.max()) + 1) + bins)
    shares = steps_of(problem).shares(partial)
    order = np.argsort(partial.x, kind="stable")
    late = Late(
        *(partial.x[order], partial.weight[order], shares.value[order], shares.other[order])
    )
    return np.stack([entries.events, entries.free]), late


def late_rows(problem: Problem) -> LateRows:
    """The same cases one by one; those of neighbouring scores and times merged if they are many."""
    partial = entries_of(problem).partial
    if partial.size > MOST_ENTRIES:
        bins = partial.bins(law_of(problem))
        partial = merged(partial, problem.merged(partial.row) * (int(bins.max()) + 1) + bins)
    return LateRows(problem, partial)
