"""Parquet files and folders of them, read some rows at a time into one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from bayescal._base.errors import InputError
from bayescal.cli._calendar import by_calendar
from bayescal.cli._cases import in_file, read_cases
from bayescal.cli._columns import choose_columns
from bayescal.cli._notes import noted
from bayescal.cli._progress import counting
from bayescal.cli._questions import ask_about_columns
from bayescal.cli._read import PARQUET, Source, TableFile
from bayescal.cli._terminal import STDOUT, note, output
from bayescal.cli.form import Scale
from bayescal.cli.reading import Reading
from bayescal.data.data import CalibrationData
from bayescal.data.sources.columns import may_be_groups

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.sources.columns import Columns
    from bayescal.data.sources.parquet import Batch, ParquetFiles

__all__ = ["Batches", "in_batches", "read_batches"]

HEAD = 1 << 16
"""Rows that columns are guessed from."""


class Batches(NamedTuple):
    """What was read.

    Attributes
    ----------
    event : str
        The label that counts as the event.
    dropped, rows : int
        Rows left out, and rows in all.
    """

    data: CalibrationData
    columns: Columns
    event: str
    dropped: int
    rows: int


@dataclass(frozen=True)
class BatchSource(Source):
    """Some rows of a Parquet file, for messages."""

    row_group: int = 0
    first: int = 0

    def where(self, row: int) -> str:
        """Where a row stands in the file."""
        return f"row {self.first + row + 1} of row group {self.row_group}"


def in_batches(path: TableFile) -> TypeGuard[Path]:
    """Whether a table is read in batches: a folder, or a Parquet file, on disk."""
    if not isinstance(path, Path):
        return False
    return path.is_dir() or (path.is_file() and path.name.lower().endswith(PARQUET))


def read_batches(reading: Reading, scale: Scale) -> Batches:
    """Read a Parquet file, or all below a folder, in constant memory."""
    from bayescal.data.sources.parquet import ParquetFiles

    files = ParquetFiles.of(reading.file)
    columns = choose_columns(_head(files, reading), reading, scale)
    files.check(columns)
    _ask_about_groups(files, reading, columns)
    with noted(lambda text: note(output(STDOUT), text)):
        files.warn_of_repeats()
    batches = _Batches(reading, files, columns, scale)
    with in_file(columns, lambda case: batches.location(case), scale):
        data = CalibrationData.from_chunks(batches.chunks(), **reading.of_outcomes)
    return Batches(data, columns, reading.event or "1", batches.dropped, files.rows)


@dataclass
class _Batches:
    """Files that are read: how many rows were left out so far, and where cases stand."""

    reading: Reading
    files: ParquetFiles
    columns: Columns
    scale: Scale
    dropped: int = 0
    location: Callable[[int], str] = str

    def chunks(self) -> Iterator[dict[str, Any]]:
        """Outcomes, scores, weights and roles of each batch."""
        from bayescal.data.sources.ahead import ahead

        path, done, kept = self.reading.file, 0, 0
        with counting(f"Reading {path}") as progress:
            for batch in ahead(self.files.batches(self.columns.needed)):
                source = BatchSource(
                    batch.file,
                    self.files.names,
                    None,
                    row_group=batch.row_group,
                    first=batch.first,
                )
                cases = read_cases(
                    by_calendar(_frame(batch), self.columns, self.reading, source),
                    self.columns,
                    source,
                    self.scale,
                    event=self.reading.event,
                    drop_missing=self.reading.drop_missing,
                    part=True,
                )
                self.location = cases.location(source)
                self.dropped += cases.dropped
                kept += len(cases.rows)
                yield cases.given
                done += len(batch.table)
                progress(done, self.files.rows)
        if not kept:
            raise InputError(f"every row of {path} lacks a value that is needed.")


def _ask_about_groups(files: ParquetFiles, reading: Reading, columns: Columns) -> None:
    """Ask what columns of hospitals or dates mean, of which alone all rows are read.

    Some rows at a time, until a column has two values and fewer of them than rows.
    """
    import pandas as pd

    options = reading.asks_about_groups
    taken = {*columns.needed, *reading.ignored}
    for name in may_be_groups(files.names, taken) if options else ():
        seen = pd.DataFrame({name: []})
        for batch in files.batches([name], HEAD):
            seen = pd.concat([seen, _frame(batch)]) if len(seen) else _frame(batch)
            ask_about_columns(seen, (), options=options, part=True)
            seen = seen.drop_duplicates(name)


def _head(files: ParquetFiles, reading: Reading) -> pd.DataFrame:
    """The first rows, to guess columns from; no rows where none is guessed."""
    import pandas as pd

    if reading.outcome is not None and reading.score is not None:
        return pd.DataFrame(columns=list(files.names))
    return _frame(next(files.batches(files.names, HEAD)))


def _frame(batch: Batch) -> pd.DataFrame:
    # a column by itself is not copied
    frame: pd.DataFrame = batch.table.to_pandas(ignore_metadata=True, split_blocks=True)
    return frame
