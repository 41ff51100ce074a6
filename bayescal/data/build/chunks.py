"""A table from chunks of cases, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bayescal._base.errors import InputError, check_callable
from bayescal._base.text import shortened
from bayescal.data.build.builder import TableBuilder
from bayescal.data.build.cases import CheckedCases, check_cases
from bayescal.data.build.labels import GroupNames, in_order
from bayescal.data.sources.alignment import aligned
from bayescal.data.stored import Tables
from bayescal.data.table import Rows
from bayescal.data.validate import as_vector, as_weights, warn_of_absent
from bayescal.data.weights import (
    WeightType,
    as_weight_type,
    both_readings,
    is_collapsed,
    warn_of_readings,
)

__all__ = ["ChunkReader", "named", "read_chunks"]


class ChunkReader:
    """Takes in chunks one by one, and makes the table of all.

    Parameters
    ----------
    weight_type : {"counts", "sampling"}, optional
        What the weights are; by default counts if all are whole numbers, else sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.

    Attributes
    ----------
    cases : int
        Number of cases so far.
    other_label : object or None
        With `pos_label`, the label beside the event, once there was one.
    has_event : bool
        Whether some case so far had the event.
    """

    def __init__(self, *, weight_type: WeightType | None = None, pos_label: Any = None) -> None:
        self.cases = 0
        self._weight_type = weight_type
        self._pos_label = pos_label
        self._builder = TableBuilder()
        self._unweighted = TableBuilder()
        self._groups = GroupNames()
        self._columns: tuple[bool, bool] | None = None
        self.other_label: Any = None
        self.has_event = False
        self._sampling = False
        self._largest = 0.0

    def add(self, chunk: Any, name: str) -> None:
        """Take in one chunk, which errors call by this name.

        Raises
        ------
        InputError
            If it is no chunk, a value in it is not valid, or it has other columns than the first.
        """
        y_true, y_prob, weight, groups = _columns(chunk, name)
        try:
            y_true, y_prob, weight, groups = aligned(
                y_true=y_true, y_prob=y_prob, sample_weight=weight, groups=groups
            )
            if all(np.size(column) == 0 for column in (y_true, y_prob)):
                return
            self._check_columns(weight is not None, groups is not None)
            cases = check_cases(y_true, y_prob, weight, pos_label=self._pos_label, part=True)
            codes = None if groups is None else self._groups.codes(groups, cases.outcome.size)
            self._check_labels(y_true, cases)
            self._check_weights(cases)
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        self.has_event |= bool(cases.outcome.any())
        self.cases += cases.outcome.size
        self._builder.add(*cases, codes)
        if self._is_unclear and cases.weight is not None:
            counted = np.flatnonzero(cases.weight)
            groups = None if codes is None else codes[counted]
            self._unweighted.add(cases.outcome[counted], cases.score[counted], code=groups)

    @property
    def _is_unclear(self) -> bool:
        """Whether nothing so far says what the weights are."""
        return self._weight_type is None and not self._sampling

    def finished(self) -> tuple[Tables, WeightType | None]:
        """As `tables`, with a warning when whole-number weights can be either type, or no event is.

        Rows that are exact show whether they were collapsed; on the grid nothing does.
        """
        tables, weight_type = self.tables()
        if self._pos_label is not None and not self.has_event:
            warn_of_absent(self._pos_label, self.other_label)
        if self._is_unclear and self._largest > 0:
            rows = named(self._unweighted, None if None in tables else self._groups)
            total = sum(float(table.trials.sum()) for table in tables.values())
            squares = sum(table.square_sum for table in tables.values())
            number = int(sum(table.trials.sum() for table in rows.values()))
            readings = both_readings(number, total, squares)
            if readings is not None and not _look_collapsed([*tables.values()], [*rows.values()]):
                warn_of_readings(readings, total, squares)
        return tables, weight_type

    @property
    def is_empty(self) -> bool:
        """Whether no case so far counts."""
        return self._columns is None or (self._columns[0] and self._largest == 0)

    def tables(self) -> tuple[Tables, WeightType | None]:
        """The table of all chunks, and what its weights are.

        Raises
        ------
        InputError
            If there were no cases, or no case has a weight.
        """
        if self._columns is None:
            raise InputError("the chunks hold no cases: at least one observation is needed.")
        weighted, grouped = self._columns
        if weighted:
            as_weights([self._largest], 1)
        elif self._weight_type is not None:
            as_weight_type(self._weight_type, None)
        sampling: WeightType | None = "sampling" if self._sampling else None
        return named(
            self._builder, self._groups if grouped else None
        ), self._weight_type or sampling

    def _check_columns(self, weighted: bool, grouped: bool) -> None:
        if self._columns is None:
            self._columns = weighted, grouped
        for now, before, what in zip(
            (weighted, grouped), self._columns, ("weights", "groups"), strict=True
        ):
            if now != before:
                has, had = ("has", "had none") if now else ("has no", "had some")
                raise InputError(
                    f"this chunk {has} {what}, and those before {had}. Give every chunk {what}, "
                    "or none."
                )

    def _check_labels(self, y_true: Any, cases: CheckedCases) -> None:
        """With `pos_label` there are two labels in all, and not two others in different chunks."""
        if self._pos_label is None or cases.outcome.all():
            return
        first = int(cases.outcome.argmin())
        (label,) = as_vector(y_true, "y_true")[first : first + 1].tolist()
        if self.other_label is None:
            self.other_label = label
        elif label != self.other_label:
            raise InputError(
                f"y_true holds {shortened(repr(label))}, and chunks before hold "
                f"{shortened(repr(self.other_label))}, beside the "
                f"event pos_label={self._pos_label!r}. Pass two classes, one of them the event."
            )

    def _check_weights(self, cases: CheckedCases) -> None:
        if cases.weight is None:
            return
        self._sampling |= as_weight_type(self._weight_type, cases.weight) == "sampling"
        self._largest = max(self._largest, float(cases.weight.max()))


def _columns(chunk: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(chunk, (tuple, list)) or not 2 <= len(chunk) <= 4:
        raise InputError(
            f"{name} is no tuple (y_true, y_prob), (y_true, y_prob, weight) or "
            f"(y_true, y_prob, weight or None, group), but {type(chunk).__name__}"
            + (f" of length {len(chunk)}." if isinstance(chunk, (tuple, list)) else ".")
        )
    return (*chunk, None, None)[:4]


def _look_collapsed(weighted: list[Rows], rows: list[Rows]) -> bool:
    """Whether no score has two rows of one outcome, and most of the weight one of each."""
    if any(table.cell is not None for table in rows):
        return False
    hits = np.concatenate([table.hits for table in rows])
    trials = np.concatenate([table.trials for table in rows])
    if (np.maximum(hits, trials - hits) > 1).any():
        return False
    return is_collapsed(np.concatenate([table.trials for table in weighted]), trials == 2)


def read_chunks(
    chunks: Iterable[Any],
    reader: ChunkReader,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Take in chunks, each called by its position."""
    if not isinstance(chunks, Iterable) or getattr(chunks, "shape", None) == ():
        raise InputError(f"chunks must be a list or a generator, got {shortened(repr(chunks))}.")
    check_callable(progress, "progress", "the number of cases")
    for position, chunk in enumerate(chunks):
        reader.add(chunk, f"chunk {position}")
        if progress is not None:
            progress(reader.cases)


def named(builder: TableBuilder, groups: GroupNames | None) -> Tables:
    """The rows of each group by its name, in order; by None without groups."""
    rows = dict(builder.rows())
    if groups is None:
        return {None: rows[0]}
    code_of = {name: code for code, name in enumerate(groups.names)}
    return {name: rows[code_of[name]] for name in in_order(code_of) if code_of[name] in rows}
