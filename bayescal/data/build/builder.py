"""The one engine that makes tables: cases and tables in, in any parts and order; rows out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import BLOCK, Floats, blocks
from bayescal.data.build.batches import Batch, Codes, sorting, starts
from bayescal.data.build.digits import (
    Digits,
    Totals,
    add_digits,
    as_integers,
    carried,
    digits_of,
    map_digits,
)
from bayescal.data.table import GRID, LIMIT, Rows, add_up, from_cells, locate

__all__ = ["TableBuilder", "collapse", "merge", "sum_rows"]

SINGLE_BLOCK = 1 << 15
"""Cases without weights and groups that are put on the grid at a time."""
GROUPED_BLOCK = 1 << 20
"""Cases of groups that are sorted at a time."""
MOST_DENSE = 1 << 18
"""Cells up to which a block adds to all of them, rather than to those of its cases."""
CASE_BIT = 36
"""A case counts 2**36 beside its position: more than all positions of a block, and so little that
the sum over a block is an exact double."""
MOST_UNCARRIED = 1 << 26
"""Cases whose digits, each times 2**20 parts, add up without reaching 2**63."""


class TableBuilder:
    """Sums over cases by group and score, exact, whatever the parts and their order.

    A group keeps its distinct scores while there are at most `LIMIT`, then the cells of the grid.
    Groups go by codes from 0; a table without groups is the group 0.
    """

    def __init__(self) -> None:
        self._code: Codes = np.empty(0, dtype=np.int64)
        self._score = np.empty(0)
        self._exact: Digits = {}  # trials and hits of the rows of these groups and scores
        self._slot: Codes = np.empty(0, dtype=np.int64)  # of each group on the grid, else -1
        self._grid: Digits = {}  # trials, hits and positions of the cells of each slot
        self._squares: Digits = {}  # of the weights of each group
        self._waiting: list[Batch] = []
        self._uncarried = 0
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
            The group of each case; always given, or never.
        """
        self.weighted |= weight is not None
        for part in blocks(score.size) if code is None else blocks(score.size, room=GROUPED_BLOCK):
            batch = Batch.of(
                None if code is None else code[part],
                outcome[part],
                score[part],
                None if weight is None else weight[part],
            )
            if not batch.score.size:
                continue
            if batch.code is None:
                self._sort_in(batch)
                continue
            self._waiting.append(batch)
            if sum(each.score.size for each in self._waiting) >= max(
                GROUPED_BLOCK, self._score.size
            ):
                self._flush()

    def add_tables(self, tables: Iterable[tuple[int, Rows]]) -> None:
        """Add the cases of tables, each to the group of this code."""
        self._flush()
        parts = [(code, rows) for code, rows in tables if rows.score.size]
        for on_grid in (False, True):
            same = [(code, rows) for code, rows in parts if (rows.cell is not None) == on_grid]
            if same:
                self._add_tables(*zip(*same, strict=True), on_grid=on_grid)

    def _add_tables(
        self, codes: tuple[int, ...], tables: tuple[Rows, ...], *, on_grid: bool
    ) -> None:
        """Add tables that are all exact, or all on the grid."""
        self._make_room(max(codes))
        self.weighted |= any(rows.squares is not None for rows in tables)
        most = max(1 if rows.terms is None else len(rows.terms) for rows in tables)
        digits: Digits = {}
        for term in np.concatenate([rows.padded_terms(most) for rows in tables], axis=2):
            add_digits(digits, as_integers(digits_of(term)))
        code = np.repeat(np.array(codes), [rows.score.size for rows in tables])
        self._count(code.size)
        if on_grid:
            self._leave_exact(np.array(codes))
            cells = [np.asarray(rows.cell) for rows in tables]
            self._add_cells(self._slot[code] * GRID + np.concatenate(cells), digits)
        else:
            score = np.concatenate([rows.score for rows in tables])
            self._merge_exact(code, score, map_digits(digits, lambda digit: digit[:2]))
        for own, rows in zip(codes, tables, strict=True):
            terms = np.array(rows.squares or (rows.trials.sum(),))
            self._add_squares(as_integers(digits_of(terms)), np.full(terms.size, own))

    def rows(self) -> Iterator[tuple[int, Rows]]:
        """The rows of each group that has cases, in the order of their codes."""
        self._flush()
        exact = Totals.of(self._exact, (2, 0))
        grid = Totals.of(self._grid, (3, 0))
        squares = Totals.of(self._squares, (0,))
        ends = np.searchsorted(self._code, np.arange(self._slot.size + 1)).tolist()
        for code, slot in enumerate(self._slot.tolist()):
            squared = None
            if self.weighted:
                total, terms = squares.part(slice(code, code + 1))
                squared = tuple((total if terms is None else terms[:, 0]).tolist())
            if slot >= 0:
                sums, terms = grid.part(slice(slot * GRID, (slot + 1) * GRID))
                yield code, from_cells(sums, terms, squared)
            elif ends[code] < ends[code + 1]:
                these = slice(ends[code], ends[code + 1])
                (trials, hits), terms = exact.part(these)
                yield code, Rows(self._score[these], trials, hits, None, None, terms, squared)

    def _flush(self) -> None:
        """Take in the batches that wait."""
        if self._waiting:
            batch = Batch.joined(self._waiting)
            self._waiting = []
            self._sort_in(batch)

    def _sort_in(self, batch: Batch) -> None:
        self._count(batch.score.size)
        self._make_room(0 if batch.code is None else int(batch.code.max()))
        self._square(batch)
        if batch.code is None:
            (self._to_exact if self._slot[0] < 0 else self._to_grid)(batch)
            return
        on_grid = self._slot[batch.code] >= 0
        for chosen, take_in in ((on_grid, self._to_grid), (~on_grid, self._to_exact)):
            if chosen.any():
                take_in(batch if chosen.all() else batch.part(chosen))

    def _to_exact(self, batch: Batch) -> None:
        self._merge_exact(*batch.rows(), is_sorted=True)

    def _merge_exact(
        self, code: Codes, score: Floats, digits: Digits, *, is_sorted: bool = False
    ) -> None:
        """Add rows, and move groups past the limit to the grid."""
        if is_sorted and not self._score.size:
            self._code, self._score, self._exact = code, score, digits
        else:
            size = self._score.size
            code, score = np.append(self._code, code), np.append(self._score, score)
            order = sorting(code, score)
            start = starts(code[order], score[order])
            first = order[start]
            sums: Digits = {}
            for power in {*self._exact, *digits}:
                both = np.zeros((2, score.size), dtype=np.int64)
                both[:, :size] = self._exact.get(power, 0)
                both[:, size:] = digits.get(power, 0)
                sums[power] = np.add.reduceat(both[:, order], start, axis=1)
            self._code, self._score, self._exact = code[first], score[first], sums
        cases = np.bincount(self._code, minlength=self._slot.size)
        leaving = np.flatnonzero((cases > LIMIT) | ((cases > 0) & (self._slot >= 0)))
        if leaving.size:
            self._leave_exact(leaving)

    def _leave_exact(self, codes: Codes) -> None:
        """Move the rows of these groups to the grid."""
        self._give_slots(codes)
        leaving = self._slot[self._code] >= 0
        cell, fraction = locate(self._score[leaving])
        position = fraction.astype(np.int64)
        digits: Digits = {}
        for power, (trials, hits) in carried_or_small(self._exact).items():
            columns = (trials[leaving], hits[leaving], trials[leaving] * position)
            digits[power] = np.stack(columns)
        self._add_cells(self._slot[self._code[leaving]] * GRID + cell, digits)
        self._code, self._score = self._code[~leaving], self._score[~leaving]
        self._exact = map_digits(self._exact, lambda digit: digit[:, ~leaving])

    def _to_grid(self, batch: Batch) -> None:
        single = batch.code is None and batch.weight is None
        for part in blocks(batch.score.size, room=SINGLE_BLOCK if single else BLOCK):
            block = batch.part(part)
            cell, position = locate(block.score)
            if single:
                self._count_block(cell, position, block.outcome)
            else:
                slot = 0 if block.code is None else self._slot[block.code]
                self._add_block(slot * GRID + cell, position, block)

    def _add_block(self, row: NDArray[np.intp], position: Floats, batch: Batch) -> None:
        """Add a block of cases, few enough that their sums are exact doubles."""
        size = (int(self._slot.max()) + 1) * GRID
        pair = 2 * row + batch.outcome.astype(np.intp)
        digits: dict[int, Any] = {0: None}
        if batch.weight is not None:
            digits = digits_of(batch.weight, width=1)
        for power, digit in digits.items():
            positions = position if digit is None else digit * position
            if size > MOST_DENSE:
                each = np.ones(row.size) if digit is None else digit
                columns = np.stack([each, each * batch.outcome, positions])
                self._add_cells(row, {power: columns.astype(np.int64)})
                continue
            others, events = np.bincount(pair, digit, 2 * size).reshape(size, 2).T
            sums = np.stack([others + events, events, np.bincount(row, positions, size)])
            add_digits(self._grid, {power: sums.astype(np.int64)})

    def _count_block(self, cell: NDArray[np.intp], position: Floats, outcome: NDArray[Any]) -> None:
        """Add cases that count once, without groups; `cell` and `position` are overwritten.

        One sum holds the number of cases and their positions.
        """
        cell *= 2
        cell += outcome.astype(np.intp)
        position += 2.0**CASE_BIT
        sums = add_up(cell, position, 2 * GRID).astype(np.int64).reshape(GRID, 2)
        both = sums[:, 0] + sums[:, 1]
        columns = np.stack([both >> CASE_BIT, sums[:, 1] >> CASE_BIT, both & ((1 << CASE_BIT) - 1)])
        add_digits(self._grid, {0: columns})

    def _add_cells(self, row: NDArray[np.intp], digits: Digits) -> None:
        size = (int(self._slot.max()) + 1) * GRID
        for power, columns in digits.items():
            if power not in self._grid:
                self._grid[power] = np.zeros((3, size), dtype=np.int64)
            for total, column in zip(self._grid[power], columns, strict=True):
                np.add.at(total, row, column)

    def _square(self, batch: Batch) -> None:
        codes = batch.code
        if batch.weight is None:
            cases = np.bincount(codes) if codes is not None else np.array([batch.score.size])
            self._add_squares({0: cases.astype(np.int64)}, np.arange(cases.size))
            return
        codes = np.zeros(batch.score.size, dtype=np.int64) if codes is None else codes
        self._add_squares(as_integers(digits_of(batch.weight**2)), codes)

    def _add_squares(self, digits: Digits, codes: Codes) -> None:
        for power, digit in digits.items():
            if power not in self._squares:
                self._squares[power] = np.zeros(self._slot.size, dtype=np.int64)
            np.add.at(self._squares[power], codes, digit)

    def _make_room(self, code: int) -> None:
        """Know the groups up to this code."""
        more = code + 1 - self._slot.size
        if more > 0:
            self._slot = np.append(self._slot, np.full(more, -1))
            room = np.zeros(more, dtype=np.int64)
            self._squares = map_digits(self._squares, lambda digit: np.append(digit, room))

    def _give_slots(self, codes: Codes) -> None:
        """Give these groups a part of the grid."""
        new = codes[self._slot[codes] < 0]
        if not new.size:
            return
        first = int(self._slot.max()) + 1
        self._slot[new] = first + np.arange(new.size)
        room = np.zeros((3, new.size * GRID), dtype=np.int64)
        self._grid = map_digits(self._grid, lambda digit: np.append(digit, room, axis=1))

    def _count(self, cases: int) -> None:
        """Carry digits over before any can overflow."""
        self._uncarried += cases
        if self._uncarried > MOST_UNCARRIED:
            self._uncarried = cases
            self._exact, self._grid, self._squares = map(
                carried_or_small, (self._exact, self._grid, self._squares)
            )


def carried_or_small(digits: Digits) -> Digits:
    """Digits carried over, unless all are whole weights, whose sums stay small."""
    return digits if set(digits) <= {0} else carried(digits)


def collapse(score: Floats, outcome: Floats, weight: Floats | None = None) -> Rows:
    """Collapse single cases to rows, exact or on the grid, in one pass."""
    builder = TableBuilder()
    builder.add(outcome, score, weight)
    return _only(builder)


def merge(first: Rows, second: Rows) -> Rows:
    """Add two tables; the result does not depend on which came first."""
    return sum_rows([first, second])


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
