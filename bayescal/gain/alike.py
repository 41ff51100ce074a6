"""Rows of like pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.decision import least_treated
from bayescal.data.clusters import Clusters
from bayescal.data.rows import add_up
from bayescal.gain.paired import PairedPredictions
from bayescal.model.problem import Problem
from bayescal.posterior.population import ClusterBootstrap

__all__ = ["Alike", "of_equal_cells", "of_neighbours"]

# Cases up to which each is a row of its own in `of_neighbours`.
MOST_SINGLE = 1 << 14
# Bits that tell moves apart, below those of the row; a move is from -1 to 1.
MOVE_BITS = 36


class Alike(NamedTuple):
    """Cases sorted into rows.

    The `row` of each case, `one` of the cases of each row, the `weight` of each case, and its sum
    in each row, `trials`.
    """

    row: NDArray[np.intp]
    one: NDArray[np.intp]
    weight: Floats
    trials: Floats

    @classmethod
    def of(cls, row: NDArray[np.intp], weight: Floats, rows: int | None = None) -> Alike:
        """So many rows, by their numbers 0, 1, ...; by default as many as have cases."""
        rows = int(row.max()) + 1 if rows is None else rows
        one = np.zeros(rows, np.intp)
        one[row] = np.arange(row.size)
        return cls(row, one, weight, add_up(row, weight, rows))

    def means(self, values: Floats) -> Floats:
        """Weighted mean in each row of values of the cases; exact where they are equal."""
        base = values[self.one]
        beyond = add_up(self.row, self.weight * (values - base[self.row]), base.size)
        return np.asarray(base + beyond / np.where(self.trials > 0, self.trials, 1))

    def of_clusters(self, clusters: Clusters | None) -> ClusterBootstrap | None:
        """The law of the weights of the rows, where cases come in clusters."""
        if clusters is None:
            return None
        row = self.row[clusters.row].astype(np.intp, copy=False)
        return ClusterBootstrap.of(clusters, row, self.trials.size)


def of_equal_cells(
    pairs: PairedPredictions, before: Problem, after: Problem, thresholds: Sequence[float]
) -> Alike:
    """Rows of the cases that share a row of the problem before, and one of that after.

    Nobody shares a row with a case on another side of a threshold. Few distinct scores are rows of
    their own, and so are 0 and 1, the first and the last row of a problem.
    """
    sides = ((pairs.before, before), (pairs.after[0], after))
    row = np.zeros(pairs.outcome.size, np.intp)
    for score, problem in sides:
        row = _crossed(row, problem.rows_of(score))
        if thresholds:
            row = _crossed(row, _reached(score, thresholds))
    return Alike.of(row, pairs.weight)


def of_neighbours(pairs: PairedPredictions, thresholds: Sequence[float]) -> Alike:
    """Single cases; beyond 16 384 of them, each row takes an equal number of neighbours.

    Neighbours have the same outcome, share a row of the table before and the side of every
    threshold, and follow each other by how far the recalibration moves them.
    """
    n = pairs.outcome.size
    if n <= MOST_SINGLE:
        return Alike.of(np.arange(n), pairs.weight)
    key = _crossed(pairs.table_before.rows_of(pairs.before), pairs.outcome.astype(np.intp))
    if thresholds:
        key = _crossed(key, _reached(pairs.before, thresholds))
        key = _crossed(key, _reached(pairs.after, thresholds))
    moved = pairs.after.mean(axis=0) - pairs.before
    order = np.argsort((key << MOVE_BITS) + ((moved + 1) * 2 ** (MOVE_BITS - 1)).astype(np.int64))
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    since = np.arange(n) - np.repeat(begins, np.diff(begins, append=n))
    row = np.empty(n, np.intp)
    row[order] = np.cumsum(since % -(-n // MOST_SINGLE) == 0) - 1
    return Alike.of(row, pairs.weight)


def _reached(score: Floats, thresholds: Sequence[float]) -> NDArray[np.intp]:
    """How many of the thresholds each case reaches, summed over repeats."""
    least = least_treated(np.sort(thresholds))
    reached = np.searchsorted(least, np.atleast_2d(score), side="right")
    return np.asarray(reached.sum(axis=0))


def _crossed(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number of each pair of numbers, in the order of those that occur."""
    pair = first * (int(second.max()) + 1) + second
    occurs = np.zeros(int(pair.max()) + 1, dtype=bool)
    occurs[pair] = True
    return np.asarray((np.cumsum(occurs) - 1)[pair])
