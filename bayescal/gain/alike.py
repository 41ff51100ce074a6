"""Rows of like pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.decision import least_treated
from bayescal.gain.paired import PairedPredictions
from bayescal.model.problem import Problem

__all__ = ["Alike", "of_equal_cells", "of_neighbours"]

MOST_SINGLE = 1 << 14
"""Cases up to which each is a row of its own in `of_neighbours`."""


class Alike(NamedTuple):
    """Cases sorted into rows.

    Attributes
    ----------
    order : ndarray of int of shape (n,)
        The cases, row after row.
    start : ndarray of int of shape (rows,)
        Where each row begins in that order.
    weight : ndarray of shape (n,)
        Of the cases, in that order.
    trials : ndarray of shape (rows,)
        Sum of the weights in each row.
    """

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    weight: Floats
    trials: Floats

    def means(self, values: Floats) -> Floats:
        """Weighted mean in each row of values of the cases; exact where they are equal."""
        ordered = values[self.order]
        if self.start.size == ordered.size:
            return ordered
        mean = np.add.reduceat(ordered * self.weight, self.start) / self.trials
        least = np.minimum.reduceat(ordered, self.start)
        return np.clip(mean, least, np.maximum.reduceat(ordered, self.start))

    @property
    def row(self) -> NDArray[np.intp]:
        """The row of each case, of shape (n,)."""
        row = np.empty(self.order.size, np.intp)
        row[self.order] = np.repeat(
            np.arange(self.start.size), np.diff(self.start, append=self.order.size)
        )
        return row

    @property
    def first(self) -> NDArray[np.intp]:
        """One of the cases in each row."""
        return self.order[self.start]


def of_equal_cells(
    pairs: PairedPredictions, before: Problem, after: Problem, thresholds: Sequence[float]
) -> Alike:
    """Rows of the cases that share a row of the problem before, and one of that after.

    Nobody shares a row with a case on another side of a threshold. Few distinct scores are rows of
    their own, and so are 0 and 1, the first and the last row of a problem.

    Parameters
    ----------
    pairs : PairedPredictions
        With one row in `after`.
    before, after : Problem
        Of either prediction.

    Returns
    -------
    Alike
        In ascending order of the score before.
    """
    sides = ((pairs.before, before), (pairs.after[0], after))
    key = np.zeros(pairs.outcome.size, dtype=np.int64)
    for score, problem in sides:
        key = key * problem.score.size + problem.rows_of(score)
    for score, _ in sides:
        key = key * (len(thresholds) + 1) + _reached(score, thresholds)
    order = np.argsort(key, kind="stable")
    return _rows(pairs, order, np.flatnonzero(np.diff(key[order], prepend=-1)))


def of_neighbours(pairs: PairedPredictions, thresholds: Sequence[float]) -> Alike:
    """Single cases; beyond 16 384 of them, each row takes an equal number of neighbours.

    Neighbours have the same outcome, share a row of the table before and the side of every
    threshold, and follow each other by how far the recalibration moves them.
    """
    n = pairs.outcome.size
    if n <= MOST_SINGLE:
        return _rows(pairs, np.arange(n), np.arange(n))
    repeats, most = pairs.after.shape[0], len(thresholds)
    key = pairs.table_before.rows_of(pairs.before)
    key = key * (most + 1) + _reached(pairs.before, thresholds)
    key = key * (most * repeats + 1) + _reached(pairs.after, thresholds).sum(axis=0)
    key = 2 * key + (pairs.outcome > 0)
    order = np.lexsort((pairs.after.mean(axis=0) - pairs.before, key))
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    since = np.arange(n) - np.repeat(begins, np.diff(begins, append=n))
    return _rows(pairs, order, np.flatnonzero(since % -(-n // MOST_SINGLE) == 0))


def _reached(score: Floats, thresholds: Sequence[float]) -> NDArray[np.intp]:
    """How many of the thresholds each score reaches."""
    return np.searchsorted(least_treated(np.sort(thresholds)), score, side="right")


def _rows(pairs: PairedPredictions, order: NDArray[np.intp], start: NDArray[np.intp]) -> Alike:
    weight = pairs.weight[order]
    return Alike(order, start, weight, np.add.reduceat(weight, start))
