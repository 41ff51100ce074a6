"""Binomial rows: exact up to a limit, then on a fixed log-odds grid. Arrays only.

A table of `(score, trials, hits)` rows is exact while it has at most `LIMIT` distinct scores. Past
that its scores fall into fixed cells, equally wide in log-odds, and each cell keeps the mean of its
scores. Positions inside a cell are whole multiples of 2**-20 of its width, so their sums are exact
integers and do not depend on the order in which the scores arrive. `build/` makes the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.optimise import EDGE

__all__ = [
    "CELL_PARTS",
    "GRID",
    "LIMIT",
    "Levels",
    "Rows",
    "Table",
    "Tables",
    "add_up",
    "ascending",
    "cell_of",
    "from_cells",
    "levels_of",
    "locate",
    "row_of",
    "share_reaching",
    "tabulate",
]

LIMIT = 2048
MANY_VALUES = 1000
"""Values from which on `numpy.add.at` is the fastest sum."""

_CELLS = LIMIT - 2  # scores of exactly 0 and 1 keep rows of their own
_GRID_REACH = float(np.log1p(-EDGE) - np.log(EDGE))  # log-odds of the outermost cell edge
_EDGES = expit(np.linspace(-_GRID_REACH, _GRID_REACH, _CELLS + 1))
_LOWER = np.concatenate([[0.0], _EDGES[:-1], [1.0]])
_WIDTH = np.concatenate([[1.0], np.diff(_EDGES), [1.0]])
CELL_PARTS = 2.0**20
"""Parts of the width of a cell in which positions are counted."""
_PARTS = CELL_PARTS / _WIDTH
GRID = _LOWER.size
"""Rows of a full grid, those of the scores 0 and 1 included."""

Order: TypeAlias = NDArray[np.intp] | slice
"""Indices of cases; a slice where they stay as they are."""


@dataclass(frozen=True)
class Rows:
    """Binomial rows in ascending order of score.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
    cell : ndarray of shape (rows,) or None
        Index of the grid cell of each row; None while the scores are exact.
    position : ndarray of shape (rows,) or None
        Sum over the row's cases of the position in the cell, in 2**-20 of its width.
    squares : float or None
        Sum of the squared weights; None when every weight is 1.
    """

    score: Floats
    trials: Floats
    hits: Floats
    cell: NDArray[np.intp] | None = None
    position: Floats | None = None
    squares: float | None = None

    @property
    def square_sum(self) -> float:
        """Sum of the squared weights."""
        return float(self.trials.sum()) if self.squares is None else self.squares


Tables: TypeAlias = dict[str | None, Rows]
"""The rows of each group, by its name; None where there are no groups."""


class Levels(NamedTuple):
    """The distinct scores of some cases, ascending.

    Attributes
    ----------
    score : ndarray of shape (levels,)
    order : ndarray of int of shape (n,), or slice
        Cases by ascending score; all of them in their own order if that is ascending.
    start : ndarray of int of shape (levels,)
        Where each distinct score begins in that order.
    size : int
        Number of cases.
    """

    score: Floats
    order: Order
    start: NDArray[np.intp]
    size: int

    @property
    def row(self) -> NDArray[np.intp]:
        """Index of the distinct score of each case, of shape (n,)."""
        row = np.empty(self.size, dtype=np.intp)
        row[self.order] = np.repeat(np.arange(self.score.size), self.cases())
        return row

    @property
    def first(self) -> NDArray[np.intp]:
        """One of the cases at each score."""
        return self.start if isinstance(self.order, slice) else self.order[self.start]

    def cases(self) -> NDArray[np.intp]:
        """Number of cases at each score."""
        return np.diff(self.start, append=self.size)

    def totals(self, values: NDArray[Any]) -> Floats:
        """Sums over the cases at each score, along the last axis of (..., n)."""
        ranked = values[..., self.order]
        if self.start.size == self.size:
            return ranked.astype(np.float64, copy=False)
        total: Floats = np.add.reduceat(ranked, self.start, axis=-1, dtype=np.float64)
        return total


def levels_of(score: Floats) -> Levels:
    """Take cases of equal scores together, by sorting unless they ascend."""
    order, ranked = ascending(score)
    start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])[: ranked.size])
    return Levels(ranked[start], order, start, score.size)


def ascending(score: Floats) -> tuple[Order, Floats]:
    """The order in which scores ascend, and the scores in it."""
    if (score[1:] >= score[:-1]).all():
        return slice(None), score
    order = np.argsort(score)
    return order, score[order]


class Table(NamedTuple):
    """Distinct scores of the cases that count, and how many cases have each.

    Attributes
    ----------
    order : ndarray of int of shape (cases,), or slice
        The cases that count, sorted by score.
    weight : ndarray of shape (cases,) or None
        Weight of each of them; None when all count once.
    starts : ndarray of int of shape (rows,) or None
        Where each distinct score begins among them; None when no two are equal.
    score, trials : ndarray of shape (rows,)
        Not to be written to.
    total : float
        Sum of the trials.
    """

    order: Order
    weight: Floats | None
    starts: NDArray[np.intp] | None
    score: Floats
    trials: Floats
    total: float

    def hits(self, outcomes: NDArray[Any]) -> Floats:
        """Events at each distinct score, (replicates, rows), of outcomes (replicates, n)."""
        events = outcomes[:, self.order]
        if self.weight is not None:
            events = events * self.weight
        if self.starts is None:
            return events.astype(np.float64, copy=False)
        hits: Floats = np.add.reduceat(events, self.starts, axis=1, dtype=np.float64)
        return hits


def tabulate(scores: Floats, weights: Floats | None) -> Table:
    """Collapse equal scores, exactly, for outcomes that come later.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
        Numbers of cases.
    """
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        table = tabulate(scores[counted], weights[counted])
        return table._replace(order=counted[table.order])
    order, ranked = ascending(scores)
    new = ranked[1:] != ranked[:-1]
    starts = None if new.all() else np.flatnonzero(np.append(True, new))
    weight = None if weights is None else weights[order]
    score = ranked if starts is None else ranked[starts]
    if weight is not None:
        trials = weight if starts is None else np.add.reduceat(weight, starts)
    elif starts is not None:
        trials = np.diff(starts, append=ranked.size).astype(np.float64)
    else:
        trials = np.broadcast_to(np.float64(1), ranked.size)
    return Table(order, weight, starts, score, trials, float(trials.sum()))


def row_of(rows: Rows, score: Floats) -> NDArray[np.intp]:
    """Index of the row that holds each of these scores, which are among the table's."""
    if rows.cell is None:
        return np.searchsorted(rows.score, score)
    row_at = np.searchsorted(rows.cell, np.arange(GRID))
    row = np.empty(score.size, dtype=np.intp)
    for part in blocks(score.size):
        row_at.take(cell_of(score[part]), out=row[part], mode="clip")
    return row


def share_reaching(rows: Rows, thresholds: Floats) -> Floats:
    """Share of each row's cases whose score is at least t, of shape (rows, thresholds).

    Exact scores reach a threshold or do not. In the cell that holds t the cases are taken as evenly
    spread over it.
    """
    least = least_treated(thresholds)
    if rows.cell is None:
        return (rows.score[:, None] >= least).astype(np.float64)
    lower, width = _LOWER[rows.cell][:, None], _WIDTH[rows.cell][:, None]
    shared: Floats = np.clip((lower + width - thresholds) / width, 0.0, 1.0)
    exact = np.isin(rows.cell, (0, GRID - 1))  # scores of 0 and 1
    shared[exact] = rows.score[exact, None] >= least
    return shared


def add_up(row: NDArray[Any], values: NDArray[Any], size: int = 0) -> Floats:
    """Sum of the values that fall in each row; `size` is the number of rows.

    Without it there are as many as occur. Of many values `numpy.add.at` gives the same sums as
    `numpy.bincount` in two thirds of the time.
    """
    if not size or row.size < MANY_VALUES:
        return np.asarray(np.bincount(row, values, minlength=size), dtype=np.float64)
    total = np.zeros(size)
    np.add.at(total, row.astype(np.intp, copy=False), values.astype(np.float64, copy=False))
    return total


def cell_of(score: Floats) -> NDArray[np.intp]:
    """Grid cell of each score."""
    with np.errstate(divide="ignore"):
        scaled = 1 - score
        np.divide(score, scaled, out=scaled)
        np.log(scaled, out=scaled)
    scaled += _GRID_REACH
    scaled *= _CELLS / (2 * _GRID_REACH)
    cell = np.clip(scaled, 0, _CELLS - 1, out=scaled).astype(np.intp)
    cell += 1
    if score.min(initial=1) == 0:
        cell[score == 0] = 0
    if score.max(initial=0) == 1:
        cell[score == 1] = GRID - 1
    return cell


def locate(score: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Grid cell of each score, and its position in the cell as a whole number of parts."""
    cell = cell_of(score)
    position = np.subtract(score, _LOWER.take(cell))
    position *= _PARTS.take(cell)
    np.clip(position, 0, CELL_PARTS, out=position)
    return cell, np.rint(position, out=position)


def from_cells(columns: Floats, squares: float | None = None) -> Rows:
    """Rows from the trials, hits and positions of every cell of the grid; empty cells fall away."""
    cell = np.flatnonzero(columns[0] > 0)
    trials, hits, position = columns[:, cell]
    score = _LOWER[cell] + _WIDTH[cell] * (position / (trials * CELL_PARTS))
    return Rows(score, trials, hits, cell, position, squares)
