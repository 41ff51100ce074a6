"""From a file to cases with a prediction before, and mostly one after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bayescal._base.errors import InputError
from bayescal.cli._cases import Cases, in_file, read_cases
from bayescal.cli._columns import check_column, choose_columns
from bayescal.cli._progress import working
from bayescal.cli._read import Source
from bayescal.cli.reading import Reading
from bayescal.data.sources.columns import Columns

__all__ = ["Pairs", "read_pairs"]


@dataclass(frozen=True)
class Pairs:
    """Predictions before and after a recalibration, read from a file.

    Attributes
    ----------
    cases : Cases
        With the predictions before, and mostly those after.
    after : str or None
        The column of the predictions after.
    rows : int
        Rows in all, those left out among them.
    """

    cases: Cases
    columns: Columns
    after: str | None
    rows: int
    source: Source
    reading: Reading

    def checked(self) -> Any:
        """Faults in the cases are told in words of the file."""
        columns, location = self.columns, self.cases.location(self.source)
        others = {"before": columns.score, "after": self.after}
        return in_file(columns, location, self.reading.form().scale, **others)


def read_pairs(reading: Reading, before: str | None, after: str | None) -> Pairs:
    """Read a file of one row per case, with one or two columns of predictions.

    Parameters
    ----------
    before, after : str or None
        Columns of predictions. That before is guessed when only one fits; without `after` there
        is only that one.
    """
    if before is not None and before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    path, form = reading.file, reading.form()
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        named = {"score": before} if after is None else {"before": before, "after": after}
        for option, name in named.items():
            if name is not None:
                check_column(name, [str(column) for column in frame.columns], option)
        columns = choose_columns(frame, replace(reading, score=before), form.scale)
        cases = read_cases(
            frame,
            columns,
            source,
            form.scale,
            event=reading.event,
            drop_missing=reading.drop_missing,
            after=after,
        )
    return Pairs(cases, columns, after, len(frame), source, reading)
