"""Rows of like pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import BLOCK, Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.data.clusters import Clusters
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.gain.paired import PairedPredictions
from bayescal.model.problem import Problem
from bayescal.posterior.population import ClusterBootstrap

__all__ = ["Alike", "of_equal_cells", "of_neighbours"]

# A row for each case; 32 bits unless there are too many rows.
Rows: TypeAlias = NDArray[np.signedinteger[Any]]
# A number for each case of a block.
Numbers: TypeAlias = Callable[[slice], NDArray[np.intp]]

# Cases up to which each is a row of its own in `of_neighbours`.
MOST_SINGLE = 1 << 14
# Bits that tell moves apart, below those of the row; a move is from -1 to 1.
MOVE_BITS = 36


class Alike(NamedTuple):
    """Cases sorted into rows.

    The `row` of each case, `one` of the cases of each row, the `weight` of each case, and its sum
    in each row, `trials`.
    """

    row: Rows
    one: NDArray[np.intp]
    weight: Floats
    trials: Floats

    @classmethod
    def of(cls, row: Rows, weight: Floats, rows: int | None = None) -> Alike:
        """So many rows, by their numbers 0, 1, ...; by default as many as have cases."""
        rows = int(row.max()) + 1 if rows is None else rows
        one = np.zeros(rows, np.intp)
        for part in blocks(row.size):
            one[row[part]] = np.arange(part.start, part.stop)
        return cls(row, one, weight, _sums(row, rows, lambda part: weight[part]))

    def means(self, values: Floats) -> Floats:
        """Weighted mean in each row of values of the cases; exact where they are equal."""
        base = values[self.one]

        def beyond(part: slice) -> Floats:
            return self.weight[part] * (values[part] - base[self.row[part]])

        return base + _sums(self.row, base.size, beyond) / np.where(self.trials > 0, self.trials, 1)

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
    row: Rows = np.zeros(pairs.outcome.size, np.int32)
    for score, problem in sides:
        row = _crossed(row, _rows_of(problem, score), problem.score.size)
    if thresholds:
        for score, _ in sides:
            row = _crossed(row, *_reached(score, thresholds))
    return Alike.of(row, pairs.weight)


def of_neighbours(pairs: PairedPredictions, thresholds: Sequence[float]) -> Alike:
    """Single cases; beyond 16 384 of them, each row takes an equal number of neighbours.

    Neighbours have the same outcome, share a row of the table before and the side of every
    threshold, and follow each other by how far the recalibration moves them.
    """
    n = pairs.outcome.size
    if n <= MOST_SINGLE:
        return Alike.of(np.arange(n), pairs.weight)
    table = pairs.table_before
    first: Rows = np.zeros(n, np.int32)
    first = _crossed(first, _rows_of(table, pairs.before), table.score.size)
    first = _crossed(first, lambda part: pairs.outcome[part].astype(np.intp), 2)
    if thresholds:
        first = _crossed(first, *_reached(pairs.before, thresholds))
        first = _crossed(first, *_reached(pairs.after, thresholds))
    key = first.astype(np.int64)
    moved = pairs.after.mean(axis=0) - pairs.before
    order = np.argsort((key << MOVE_BITS) + ((moved + 1) * 2 ** (MOVE_BITS - 1)).astype(np.int64))
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    since = np.arange(n) - np.repeat(begins, np.diff(begins, append=n))
    row = np.empty(n, np.intp)
    row[order] = np.cumsum(since % -(-n // MOST_SINGLE) == 0) - 1
    return Alike.of(row, pairs.weight)


def _rows_of(table: CalibrationData | Problem, score: Floats) -> Numbers:
    """The row of each case of a block."""
    return lambda part: table.rows_of(score[part])


def _reached(score: Floats, thresholds: Sequence[float]) -> tuple[Numbers, int]:
    """How many of the thresholds each case reaches, summed over repeats, and one more than most."""
    least = least_treated(np.sort(thresholds))
    repeats = np.atleast_2d(score)

    def reached(part: slice) -> NDArray[np.intp]:
        number: NDArray[np.intp] = np.searchsorted(least, repeats[:, part], side="right").sum(
            axis=0
        )
        return number

    return reached, len(repeats) * least.size + 1


def _crossed(first: Rows, second: Numbers, size: int) -> Rows:
    """Number of each pair of numbers, in the order of those that occur; `first` is overwritten.

    The second are made a block of cases at a time, and are below `size`.
    """
    pairs = (int(first.max()) + 1) * size
    if pairs > np.iinfo(first.dtype).max:
        first = first.astype(np.intp)
    occurs = np.zeros(pairs, dtype=bool)
    for part in blocks(first.size):
        pair = first[part] * np.intp(size)
        pair += second(part)
        occurs[pair] = True
        first[part] = pair
    if occurs.all():
        return first
    number = np.cumsum(occurs) - 1
    for part in blocks(first.size):
        first[part] = number[first[part]]
    return first


def _sums(row: Rows, rows: int, values: Callable[[slice], Floats]) -> Floats:
    """Sum in each row of values that are made a block of cases at a time."""
    total = np.zeros(rows)
    for part in blocks(row.size, room=max(BLOCK, 4 * rows)):
        total += add_up(row[part], values(part), rows)
    return total
