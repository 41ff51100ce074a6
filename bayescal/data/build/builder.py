"""The one engine that makes tables: cases and tables in, in any parts and order; rows out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal.data.build.digits import (
    Digits,
    add_digits,
    carried,
    digits_of,
    map_digits,
    rounded,
    terms_of,
)
from bayescal.data.table import GRID, LIMIT, PARTS, Rows, from_cells, locate

__all__ = ["TableBuilder", "collapse", "merge", "sum_rows"]

Codes = NDArray[np.int64]

GROUPED_BLOCK = 1 << 20
"""Cases of groups that are sorted at a time."""
MOST_UNCARRIED = 1 << 26
"""Cases whose digits, each times 2**20 parts, add up without reaching 2**63."""


class _Batch(NamedTuple):
    """Cases of positive weight: group (None if there is one), outcome, score, weight (None: 1)."""

    code: Codes | None
    outcome: NDArray[Any]
    score: Floats
    weight: Floats | None


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
        self._waiting: list[_Batch] = []
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
            batch = _batch(
                outcome[part],
                score[part],
                None if weight is None else weight[part],
                None if code is None else code[part],
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

    def add_rows(self, rows: Rows, code: int = 0) -> None:
        """Add the cases of a table to the group `code`."""
        self.weighted |= rows.squares is not None
        self._flush()
        self._make_room(code)
        codes = np.full(rows.score.size, code, dtype=np.int64)
        digits = _digits_of_rows(rows)
        self._count(rows.score.size)
        if rows.cell is None:
            self._merge_exact(codes, rows.score, digits)
        if rows.cell is not None or self._slot[code] >= 0:
            self._leave_exact(np.array([code]))
        if rows.cell is not None:
            self._add_cells(self._slot[code] * GRID + rows.cell, digits)
        terms = np.array(rows.squares or (rows.trials.sum(),))
        for term in terms:
            self._add_squares(_whole(digits_of(np.array([term]))), np.array([code]))

    def rows(self) -> Iterator[tuple[int, Rows]]:
        """The rows of each group, in the order of their codes; groups without cases are left out.

        Yields
        ------
        code : int
        rows : Rows
        """
        self._flush()
        exact = terms_of(self._exact) if self._exact else np.zeros((1, 2, 0))
        grid = terms_of(self._grid) if self._grid else np.zeros((1, 3, 0))
        squares = terms_of(self._squares) if self._squares else np.zeros((1, 0))
        ends = np.searchsorted(self._code, np.arange(self._slot.size + 1))
        for code, slot in enumerate(self._slot.tolist()):
            squared = _terms(squares[:, code]) if self.weighted else None
            if slot >= 0:
                cells = slice(slot * GRID, (slot + 1) * GRID)
                yield code, from_cells(*rounded(grid[..., cells]), squared)
            elif ends[code] < ends[code + 1]:
                these = slice(ends[code], ends[code + 1])
                (trials, hits), rest = rounded(exact[..., these])
                score = self._score[these]
                yield code, Rows(score, trials, hits, None, None, rest, squared)

    def _flush(self) -> None:
        """Take in the batches that wait."""
        if self._waiting:
            columns = zip(*self._waiting, strict=True)
            self._waiting = []
            code, outcome, score, weight = (_joined(column) for column in columns)
            self._sort_in(_Batch(code, outcome, score, weight))

    def _sort_in(self, batch: _Batch) -> None:
        self._count(batch.score.size)
        self._make_room(0 if batch.code is None else int(batch.code.max()))
        self._square(batch)
        if batch.code is None:
            (self._to_exact if self._slot[0] < 0 else self._to_grid)(batch)
            return
        on_grid = self._slot[batch.code] >= 0
        for chosen, take_in in ((on_grid, self._to_grid), (~on_grid, self._to_exact)):
            if chosen.any():
                take_in(_chosen(batch, chosen))

    def _to_exact(self, batch: _Batch) -> None:
        code, score = batch.code, batch.score
        order = np.argsort(score)
        if code is not None:
            order = order[np.argsort(_narrow(code[order]), kind="stable")]
            code = code[order]
        score = score[order]
        start = _starts(code, score)
        events = batch.outcome[order].astype(np.int64)
        digits: Digits = {}
        if batch.weight is None:
            trials = np.diff(start, append=score.size)
            digits[0] = np.stack([trials, np.add.reduceat(events, start)])
        else:
            for power, digit in digits_of(batch.weight[order]).items():
                whole = digit.astype(np.int64)
                columns = (np.add.reduceat(each, start) for each in (whole, whole * events))
                digits[power] = np.stack(list(columns))
        codes = np.zeros(start.size, dtype=np.int64) if code is None else code[start]
        self._merge_exact(codes, score[start], digits)

    def _merge_exact(self, code: Codes, score: Floats, digits: Digits) -> None:
        """Add rows, sorted by group and score or not, and move groups past the limit to the grid."""
        if not self._score.size and ((np.diff(code) > 0) | (np.diff(score) > 0)).all():
            self._code, self._score, self._exact = code, score, digits
        else:
            size = self._score.size
            code, score = np.append(self._code, code), np.append(self._score, score)
            order = np.argsort(score)
            order = order[np.argsort(_narrow(code[order]), kind="stable")]
            start = _starts(code[order], score[order])
            first = order[start]
            sums: Digits = {}
            for power in {*self._exact, *digits}:
                both = np.zeros((2, score.size), dtype=np.int64)
                both[:, :size] = self._exact.get(power, 0)
                both[:, size:] = digits.get(power, 0)
                sums[power] = np.add.reduceat(both[:, order], start, axis=1)
            self._code, self._score, self._exact = code[first], score[first], sums
        many = np.flatnonzero(np.bincount(self._code) > LIMIT)
        if many.size:
            self._leave_exact(many)

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

    def _to_grid(self, batch: _Batch) -> None:
        cell, fraction = locate(batch.score)
        if batch.code is None:
            self._add_block(cell, fraction, batch)
            return
        row = self._slot[batch.code] * GRID + cell
        digits = {0: np.ones(cell.size)} if batch.weight is None else digits_of(batch.weight)
        sums: Digits = {}
        for power, digit in digits.items():
            columns = (digit, digit * batch.outcome, digit * fraction)
            sums[power] = np.stack(columns).astype(np.int64)
        self._add_cells(row, sums)

    def _add_block(self, cell: NDArray[np.intp], fraction: Floats, batch: _Batch) -> None:
        """Add a block of cases without groups, few enough that their sums are exact doubles."""
        pair = 2 * cell + batch.outcome.astype(np.intp)
        if batch.weight is None:
            digits: dict[int, Any] = {0: None}
        else:
            digits = digits_of(batch.weight)
        for power, digit in digits.items():
            others, events = np.bincount(pair, digit, 2 * GRID).reshape(GRID, 2).T
            part = fraction if digit is None else digit * fraction
            position = np.bincount(cell, part, GRID)
            sums = np.stack([others + events, events, position]).astype(np.int64)
            add_digits(self._grid, {power: sums})

    def _add_cells(self, row: NDArray[np.intp], digits: Digits) -> None:
        size = (int(self._slot.max()) + 1) * GRID
        for power, columns in digits.items():
            if power not in self._grid:
                self._grid[power] = np.zeros((3, size), dtype=np.int64)
            for total, column in zip(self._grid[power], columns, strict=True):
                np.add.at(total, row, column)

    def _square(self, batch: _Batch) -> None:
        codes = batch.code
        if batch.weight is None:
            cases = np.bincount(codes) if codes is not None else np.array([batch.score.size])
            self._add_squares({0: cases.astype(np.int64)}, np.arange(cases.size))
            return
        codes = np.zeros(batch.score.size, dtype=np.int64) if codes is None else codes
        self._add_squares(_whole(digits_of(batch.weight**2)), codes)

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


def sum_rows(parts: Any) -> Rows:
    """One table of all the cases."""
    builder = TableBuilder()
    for rows in parts:
        builder.add_rows(rows)
    return _only(builder)


def _only(builder: TableBuilder) -> Rows:
    """The rows of a table without groups, which may be empty."""
    for _, rows in builder.rows():
        return rows
    return Rows(np.empty(0), np.empty(0), np.empty(0))


def _batch(
    outcome: NDArray[Any], score: NDArray[Any], weight: Floats | None, code: Codes | None
) -> _Batch:
    """Cases in memory of their own, without those of weight 0."""
    score = np.add(score, 0.0, dtype=np.float64)  # also turns -0.0 into 0.0
    if code is not None:
        outcome, code = outcome.copy(), code.astype(np.int64)
        weight = None if weight is None else weight.copy()
    batch = _Batch(code, outcome, score, weight)
    return batch if weight is None or weight.all() else _chosen(batch, weight > 0)


def _chosen(batch: _Batch, which: NDArray[np.bool_]) -> _Batch:
    if which.all():
        return batch
    code, outcome, score, weight = batch
    code = None if code is None else code[which]
    weight = None if weight is None else weight[which]
    return _Batch(code, outcome[which], score[which], weight)


def _joined(columns: tuple[Any, ...]) -> Any:
    if columns[0] is None or len(columns) == 1:
        return columns[0]
    return np.concatenate(columns)


def _narrow(code: Codes) -> NDArray[Any]:
    """Codes in two bytes where they fit, which NumPy sorts in one pass."""
    return code.astype(np.uint16) if code.size and code.max() < 1 << 16 else code


def _starts(code: Codes | None, score: Floats) -> NDArray[np.intp]:
    """Where each distinct pair of group and score begins, both sorted."""
    new = np.append(True, score[1:] != score[:-1])[: score.size]
    if code is not None:
        new[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(new)


def _terms(squares: Floats) -> tuple[float, ...]:
    total, terms = rounded(squares[:, None])
    return tuple((total if terms is None else terms[:, 0]).tolist())


def _whole(digits: dict[int, Floats]) -> Digits:
    return {power: digit.astype(np.int64) for power, digit in digits.items()}


def _digits_of_rows(rows: Rows) -> Digits:
    """Trials and hits, and on the grid positions, as digits."""
    columns = [rows.trials, rows.hits] + ([] if rows.position is None else [rows.position])
    digits: Digits = {}
    for term in np.stack(columns)[None] if rows.terms is None else rows.terms:
        add_digits(digits, _whole(digits_of(term)))
    return digits
