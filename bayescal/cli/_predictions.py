"""From a file to a table of cases, saying what was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from bayescal.cli._calendar import by_calendar
from bayescal.cli._cases import Cases, about_weights, as_numbers, in_file, read_cases
from bayescal.cli._columns import ask_about_ids, choose_columns
from bayescal.cli._progress import working
from bayescal.cli._read import Source, TableFile
from bayescal.cli._terminal import say
from bayescal.cli.form import PROBABILITY, Form
from bayescal.cli.reading import Reading
from bayescal.core.text import count, shortened
from bayescal.data.table import CalibrationData

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.assessment.val_prob import RawCases
    from bayescal.data.sources.columns import Columns

__all__ = ["Predictions", "Selected", "read_predictions", "without_original"]

ORIGINAL = 0
"""The number under which mice keeps the data as they were before imputation."""


class Predictions(NamedTuple):
    """Predictions and outcomes, read from a file.

    Attributes
    ----------
    event : str
        The label that counts as the event.
    dropped, rows : int
        Rows left out, and rows in all.
    form : Form
        How the file was read.
    original : int
        Rows of the data before imputation, which are left out.
    raw : tuple of RawCases
        As of `Findings`.
    """

    data: CalibrationData
    columns: Columns
    event: str
    dropped: int
    rows: int
    path: TableFile
    form: Form
    original: int = 0
    raw: tuple[RawCases, ...] = ()

    def introduce(self, console: Console, what: str) -> None:
        """Say what is assessed, and what was left out."""
        say(
            console,
            f"{what} of {shortened(self.columns.prob)} as the probability that "
            f"{shortened(self.columns.outcome)} is {shortened(self.event)} "
            f"({shortened(self.path.name)})",
            "bold",
        )
        if self.dropped:
            say(console, f"{self.dropped} of {self.rows} rows left out: a value is missing.")
        if self.form.scale is not PROBABILITY:
            say(console, self.form.describe(self.data))
        if self.columns.sample_weight is not None:
            rows = (self.rows - self.dropped) // max(1, len(self.data.imputations))
            say(console, about_weights(self.data, rows))
        m = len(self.data.imputations)
        if m:
            of = shortened(str(self.columns.imputation))
            say(console, f"{m} imputations of {count(round(self.data.n), 'case')} (column {of}).")
        if self.original:
            say(
                console,
                f"{count(self.original, 'row')} of imputation {ORIGINAL} left out: values are "
                "missing there, as in the data before imputation.",
            )

    @property
    def source(self) -> dict[str, Any]:
        """Where the data came from, for the record."""
        told = {
            "file": str(self.path),
            "event": self.event,
            "rows_read": self.rows,
            "rows_dropped": self.dropped,
            **self.columns.told,
            "weight_type": self.columns.sample_weight and self.data.weight_type,
        }
        if self.data.imputations:
            told["imputations"] = len(self.data.imputations)
        if self.data.follow_up is not None:
            told["horizon"] = self.data.follow_up.horizon
        return told | self.form.source


@dataclass(frozen=True)
class Selected(Source):
    """Some rows of a file, which remember where they stand in it."""

    rows: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, source: Source, rows: NDArray[np.intp]) -> Selected:
        """Rows of a file, by their positions."""
        return cls(
            source.path,
            source.names,
            source.separator,
            source.encoding,
            rows=rows,
            tells_separator=source.tells_separator,
        )

    def where(self, row: int) -> str:
        assert self.rows is not None
        return super().where(int(self.rows[row]))


def read_predictions(reading: Reading) -> Predictions:
    """Read a file of one row per case.

    Columns, and how weights are meant, are guessed where there is only one way to read them.
    """
    path: TableFile = reading.file
    form = reading.form()
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load(labels=reading.labels)
        columns = choose_columns(frame, reading, form.scale)
        ask_about_ids(frame, reading, columns.needed)
        frame = by_calendar(frame, columns, reading, source)
        rows, original = len(frame), 0
        if columns.imputation is not None:
            kept = without_original(frame, columns, source, form)
            original = rows - int(kept.sum())
            at = np.flatnonzero(kept)
            source = Selected.of(source, at)
            frame = frame[kept]
        event, drop = reading.positive, reading.drop_missing
        cases = read_cases(frame, columns, source, form.scale, event=event, drop_missing=drop)
        with in_file(columns, cases.location(source), form.scale):
            data = CalibrationData(**cases.given, **reading.of_outcomes)
        raw = _raw(cases, data, event)
    read = (event or "1", cases.dropped, rows - original, path, form, original, raw)
    return Predictions(data, columns, *read)


def without_original(
    frame: pd.DataFrame, columns: Columns, source: Source, form: Form
) -> NDArray[np.bool_]:
    """All rows but those of imputation 0 when scores or outcomes are missing there."""
    import pandas as pd

    missing = pd.isna(as_numbers(frame[columns.prob], source, form.scale))
    missing |= frame[str(columns.outcome)].isna().to_numpy(dtype=bool)
    text = frame[columns.imputation].astype("string").str.strip()
    original = text.isin([str(ORIGINAL), f"{ORIGINAL}.0"]).to_numpy(dtype=bool)
    leave_out = not original.all() and bool(missing[original].any())
    return ~original if leave_out else np.ones(len(frame), dtype=bool)


def _weights(weight: Any, own: Any) -> dict[str, Any]:
    return {} if weight is None else {"sample_weight": weight[own]}


def _raw(cases: Cases, data: CalibrationData, event: str | None) -> tuple[RawCases, ...]:
    """The cases, of each imputation, where their table is on a grid."""
    table = data.pooled() if data.groups else data
    if not table.is_compressed:
        return ()
    from bayescal.assessment.val_prob import raw_cases
    from bayescal.data.cases import check_cases
    from bayescal.data.doors import Given

    given = cases.given
    outcome, score, weight = check_cases(
        given["y_true"], given["y_prob"], given.get("sample_weight"), pos_label=event
    )
    each: list[Any] = [slice(None)]
    if data.imputations:
        each = [given["imputation"] == label for label in data.levels["imputation"]]
    return tuple(
        raw
        for own in each
        for raw in raw_cases(Given(outcome[own], score[own], _weights(weight, own)), table)
    )
