"""From a file to a table of cases, saying what was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from bayescal._base.text import count, shortened
from bayescal.cli._batches import in_batches, read_batches
from bayescal.cli._cases import (
    Cases,
    about_counts,
    about_sampling_weights,
    as_probabilities,
    read_cases,
    with_weight_type,
)
from bayescal.cli._columns import choose_columns
from bayescal.cli._progress import working
from bayescal.cli._read import Source, TableFile
from bayescal.cli._roles import RoleColumns
from bayescal.cli._terminal import say
from bayescal.cli.form import AS_IS, PROBABILITY, Form
from bayescal.data.data import CalibrationData

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.assessment.val_prob import RawCases
    from bayescal.data.sources.columns import Columns

__all__ = ["Predictions", "read_predictions"]

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
            f"{what} of {shortened(self.columns.score)} as the probability that "
            f"{shortened(self.columns.outcome)} is {shortened(self.event)} "
            f"({shortened(self.path.name)})",
            "bold",
        )
        if self.dropped:
            say(console, f"{self.dropped} of {self.rows} rows left out: a value is missing.")
        if self.form.scale is not PROBABILITY:
            say(console, self.form.describe(self.data))
        if self.columns.weight is not None:
            say(console, self._about_weights())
        m = len(self.data.imputations)
        if m:
            of = shortened(str(self.columns.imputation))
            say(console, f"{m} imputations of {count(round(self.data.n), 'case')} (column {of}).")
        if self.original:
            say(
                console,
                f"{count(self.original, 'row')} of imputation {ORIGINAL} left out: scores are "
                "missing there, as in the data before imputation.",
            )

    def _about_weights(self) -> str:
        if self.data.weight_type == "counts":
            return about_counts(self.data.n)
        rows = (self.rows - self.dropped) // max(1, len(self.data.imputations))
        return about_sampling_weights(rows, self.data.sampling_size)

    @property
    def source(self) -> dict[str, Any]:
        """Where the data came from, for the record."""
        told = {
            "file": str(self.path),
            "event": self.event,
            "rows_dropped": self.dropped,
            **self.columns.told,
            "weight_type": None if self.columns.weight is None else self.data.weight_type,
        }
        if self.data.imputations:
            told["imputations"] = len(self.data.imputations)
        return told | self.form.source


@dataclass(frozen=True)
class _Selected(Source):
    """Some rows of a file, which remember where they stand in it."""

    rows: NDArray[np.intp] | None = None

    def where(self, row: int) -> str:
        assert self.rows is not None
        return super().where(int(self.rows[row]))


def read_predictions(
    path: TableFile,
    *,
    outcome: str | None,
    score: str | None,
    event: str | None,
    weight: str | None,
    weight_type: str | None = None,
    drop_missing: bool,
    form: Form = AS_IS,
    roles: RoleColumns | None = None,
) -> Predictions:
    """Read a file of one row per case, or a folder of such Parquet files.

    Parameters
    ----------
    outcome, score, event, weight : str, optional
        Columns, and the label of the event; guessed where there is only one way to read them.
    weight_type : {"counts", "sampling"}, optional
        Asked for when the weights can be either.
    form : Form
        How the file is to be read.
    roles : RoleColumns, optional
        None where a command has none, and then ids that repeat are nobody's question.
    """
    named = roles or RoleColumns(independent=True)
    if in_batches(path) and named.imputation is None:
        batches = read_batches(
            path,
            outcome=outcome,
            score=score,
            event=event,
            weight=weight,
            weight_type=weight_type,
            drop_missing=drop_missing,
            roles=named,
            scale=form.scale,
        )
        return Predictions(*batches, path, form)
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        columns = choose_columns(frame, outcome, score, weight, named, form.scale)
        named.ask(frame, columns.needed)
        rows, original = len(frame), 0
        if columns.imputation is not None:
            kept = _without_original(frame, columns, source, form)
            original = rows - int(kept.sum())
            at = np.flatnonzero(kept)
            source = _Selected(source.path, source.names, source.separator, source.encoding, at)
            frame = frame[kept]
        options: dict[str, Any] = {"scale": form.scale, "event": event}
        cases = read_cases(frame, columns, source, drop_missing=drop_missing, **options)
        cases = with_weight_type(cases, weight, weight_type)
        data = CalibrationData(**cases.chunk, weight_type=cases.weight_type)
        raw = _raw(cases, data)
    read = (cases.event, cases.dropped, rows - original, path, form, original, raw)
    return Predictions(data, columns, *read)


def _without_original(
    frame: pd.DataFrame, columns: Columns, source: Source, form: Form
) -> NDArray[np.bool_]:
    """All rows but those of imputation 0 when scores are missing there."""
    scores = as_probabilities(frame[columns.score], columns.score, source, form.scale)
    text = frame[columns.imputation].astype("string").str.strip()
    original = text.isin([str(ORIGINAL), f"{ORIGINAL}.0"]).to_numpy(dtype=bool)
    leave_out = not original.all() and bool(np.isnan(scores)[original].any())
    return ~original if leave_out else np.ones(len(frame), dtype=bool)


def _raw(cases: Cases, data: CalibrationData) -> tuple[RawCases, ...]:
    """The cases, of each imputation, where their table is on a grid."""
    table = data.pooled() if data.groups else data
    if not table.is_compressed:
        return ()
    from bayescal.assessment.val_prob import raw_cases

    each: list[Any] = [slice(None)]
    if data.imputations:
        labels = cases.roles["imputation"]
        each = [labels == label for label in data.levels["imputation"]]
    return tuple(
        raw
        for own in each
        for raw in raw_cases(
            cases.outcome[own],
            [cases.score[own]],
            table,
            sample_weight=None if cases.weight is None else cases.weight[own],
        )
    )
