"""The one engine that makes tables: cases and tables in, in any parts and order; rows out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import BLOCK, Floats, blocks, by_group
from bayescal.data.table import GRID, LIMIT, Rows, from_cells, locate

Codes = NDArray[np.int64]

MOST_WAITING = 4
"""Cases that wait for each row that is sorted in already: a case is sorted once or twice."""


class TableBuilder:
    """Sums over cases by group and score.

    A group keeps its distinct scores while there are at most `LIMIT`, then the cells of the grid.
    Groups go by codes from 0; a table without groups is the group 0. Sums of counts and of their
    positions are whole numbers below 2**53, so that no order of the cases changes them; sums of
    other weights depend on it in their last bits.
    """

    def __init__(self) -> None:
        self._slot: Codes = np.empty(0, dtype=np.int64)  # of each group on the grid, else -1
        self._grid = np.empty((3, 0))  # trials, hits and positions of the cells of each slot
        self._squares = np.empty(0)  # of the weights of each group
        # groups, scores, and trials and hits: of rows in order, then of what is not sorted in yet
        self._exact: list[tuple[Codes, Floats, Floats]] = []
        self._sorted = self._waiting = 0
        self.weighted = False

    def add(
        self,
        outcome: NDArray[Any],
        score: NDArray[Any],
        weight: Floats | None = None,
        code: Codes | None = None,
    ) -> None:
        """Add cases.

        Parameters
        ----------
        outcome : ndarray of shape (n,)
            0 or 1, of any type.
        score : ndarray of shape (n,)
            Probabilities, of any floating type.
        weight : ndarray of shape (n,), optional
            At least 0; with whole numbers, at most 1e9 in all.
        code : ndarray of int of shape (n,), optional
            The group of each case.
        """
        self.weighted |= weight is not None
        for part in blocks(score.size):
            own = np.add(score[part], 0.0, dtype=np.float64)  # turns -0.0 into 0.0
            trials = np.ones(own.size) if weight is None else weight[part]
            group = np.zeros(own.size, np.int64) if code is None else code[part].astype(np.int64)
            sums = np.stack([trials, trials * outcome[part]])
            if not trials.all():
                kept = trials > 0
                group, own, sums = group[kept], own[kept], sums[:, kept]
            if own.size:
                self._make_room(int(group.max()))
                self._squares += np.bincount(group, sums[0] ** 2, self._squares.size)
                self._take_in(group, own, sums)

    def add_tables(self, tables: Iterable[tuple[int, Rows]]) -> None:
        """Add the cases of tables, each to the group of this code."""
        given = [(code, rows) for code, rows in tables if rows.score.size]
        self._make_room(max((code for code, _ in given), default=-1))
        self._to_grid(np.array([code for code, rows in given if rows.cell is not None], np.intp))
        for code, rows in given:
            self.weighted |= rows.squares is not None
            self._squares[code] += rows.square_sum
            if rows.cell is None or rows.position is None:
                group = np.full(rows.score.size, code)
                self._take_in(group, rows.score, np.stack([rows.trials, rows.hits]))
            else:
                columns = (rows.trials, rows.hits, rows.position)
                self._add_cells(self._slot[code] * GRID + rows.cell, columns)

    def rows(self) -> Iterator[tuple[int, Rows]]:
        """The rows of each group that has cases, in the order of their codes."""
        self._sort_in()
        code, score, sums = self._joined()
        ends = np.searchsorted(code, np.arange(self._slot.size + 1)).tolist()
        for group, slot in enumerate(self._slot.tolist()):
            squares = float(self._squares[group]) if self.weighted else None
            own = slice(ends[group], ends[group + 1])
            if slot >= 0:
                yield group, from_cells(self._grid[:, slot * GRID : (slot + 1) * GRID], squares)
            elif score[own].size:
                yield group, Rows(score[own], sums[0, own], sums[1, own], squares=squares)

    def _take_in(self, code: Codes, score: Floats, sums: Floats) -> None:
        on_grid = self._slot[code] >= 0
        if on_grid.all():
            self._locate(code, score, sums)
            return
        if on_grid.any():
            self._locate(code[on_grid], score[on_grid], sums[:, on_grid])
            code, score, sums = code[~on_grid], score[~on_grid], sums[:, ~on_grid]
        self._exact.append((code, score, sums))
        self._waiting += score.size
        if self._waiting >= max(BLOCK, MOST_WAITING * self._sorted):
            self._sort_in()

    def _sort_in(self) -> None:
        """Sum up equal scores of a group, and move groups past the limit to the grid."""
        code, score, sums = self._joined()
        order = np.argsort(score)
        if code.any():
            order = order[by_group(code[order])]
        code, score = code[order], score[order]
        new = np.append(True, (score[1:] != score[:-1]) | (code[1:] != code[:-1]))
        start = np.flatnonzero(new[: score.size])
        code, score = code[start], score[start]
        sums = np.add.reduceat(sums[:, order], start, axis=1)
        self._to_grid(np.flatnonzero(np.bincount(code) > LIMIT))
        stays = self._slot[code] < 0
        if not stays.all():
            self._locate(code[~stays], score[~stays], sums[:, ~stays])
            code, score, sums = code[stays], score[stays], sums[:, stays]
        self._exact, self._sorted, self._waiting = [(code, score, sums)], score.size, 0

    def _joined(self) -> tuple[Codes, Floats, Floats]:
        """Groups, scores and sums of all that is not on the grid."""
        empty = (np.empty(0, np.int64), np.empty(0), np.empty((2, 0)))
        code, score, sums = zip(*(self._exact or [empty]), strict=True)
        return np.concatenate(code), np.concatenate(score), np.concatenate(sums, axis=1)

    def _locate(self, code: Codes, score: Floats, sums: Floats) -> None:
        cell, position = locate(score)
        self._add_cells(self._slot[code] * GRID + cell, (*sums, sums[0] * position))

    def _add_cells(self, row: NDArray[np.integer], columns: Iterable[Floats]) -> None:
        for total, column in zip(self._grid, columns, strict=True):
            np.add.at(total, row, column)

    def _make_room(self, code: int) -> None:
        """Know the groups up to this code."""
        more = max(code + 1 - self._slot.size, 0)
        self._slot = np.append(self._slot, np.full(more, -1))
        self._squares = np.append(self._squares, np.zeros(more))

    def _to_grid(self, codes: NDArray[np.intp]) -> None:
        """Give these groups a part of the grid, to which their rows go when they are sorted in."""
        new = np.unique(codes[self._slot[codes] < 0])
        self._slot[new] = self._grid.shape[1] // GRID + np.arange(new.size)
        self._grid = np.append(self._grid, np.zeros((3, new.size * GRID)), axis=1)


def collapse(score: Floats, outcome: Floats, weight: Floats | None = None) -> Rows:
    """Collapse single cases to rows, exact or on the grid, in one pass."""
    builder = TableBuilder()
    builder.add(outcome, score, weight)
    return _only(builder)


def sum_rows(parts: Iterable[Rows]) -> Rows:
    """One table of all the cases."""
    builder = TableBuilder()
    builder.add_tables((0, rows) for rows in parts)
    return _only(builder)


def _only(builder: TableBuilder) -> Rows:
    """The rows of a table without groups, which may be empty."""
    for _, rows in builder.rows():
        return rows
    return Rows(np.empty(0), np.empty(0), np.empty(0))
