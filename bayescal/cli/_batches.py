"""Parquet files and folders of them, read some rows at a time into one table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from bayescal._base.errors import InputError, WeightWarning
from bayescal.cli._cases import Cases, check_weight_type, read_cases, with_weight_type
from bayescal.cli._columns import choose_columns
from bayescal.cli._notes import noted
from bayescal.cli._progress import counting
from bayescal.cli._read import PARQUET, Source, TableFile
from bayescal.cli._roles import RoleColumns
from bayescal.cli._terminal import note, output
from bayescal.cli.form import PROBABILITY, Scale
from bayescal.data.data import CalibrationData

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.sources.columns import Columns
    from bayescal.data.sources.parquet import Batch, ParquetFiles
    from bayescal.data.weights import WeightType

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


def read_batches(
    path: Path,
    *,
    outcome: str | None,
    score: str | None,
    event: str | None,
    weight: str | None,
    weight_type: str | None,
    drop_missing: bool,
    roles: RoleColumns,
    scale: Scale = PROBABILITY,
) -> Batches:
    """Read a Parquet file, or all below a folder, in constant memory.

    Parameters
    ----------
    outcome, score, event, weight : str, optional
        Columns, and the label of the event; guessed from the first rows where there is only one
        way to read them.
    weight_type : {"counts", "sampling"}, optional
        Asked for when the weights can be either.
    scale : Scale
        What the scores are written as.
    """
    from bayescal.data.sources.parquet import ParquetFiles

    told = check_weight_type(weight, weight_type)
    files = ParquetFiles.of(path)
    columns = choose_columns(_head(files, outcome, score), outcome, score, weight, roles, scale)
    files.check(columns)
    with noted(lambda text: note(output(), text)):
        files.warn_of_repeats()
    reading = Reading(path, files, columns, scale, event, told, drop_missing)
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightWarning)
        try:
            data = CalibrationData.from_chunks(reading.chunks(), weight_type=told)
        except WeightWarning:
            raise InputError(
                f"column {weight!r} can be counts of cases, or sampling weights. Add --weight-type "
                "counts or --weight-type sampling."
            ) from None
    return Batches(data, columns, event or "1", reading.dropped, files.rows)


@dataclass
class Reading:
    """Files that are read, and what is known so far: the labels of outcomes, and rows left out."""

    path: Path
    files: ParquetFiles
    columns: Columns
    scale: Scale
    event: str | None
    weight_type: WeightType | None
    drop_missing: bool
    labels: dict[object, None] = field(default_factory=dict)
    dropped: int = 0

    def chunks(self) -> Iterator[dict[str, Any]]:
        """Outcomes, scores, weights and roles of each batch, checked."""
        from bayescal.data.sources.ahead import ahead

        done = kept = 0
        with counting(f"Reading {self.path}") as progress:
            for batch in ahead(self.files.batches(self.columns.needed)):
                cases = self._cases(batch)
                self.dropped += cases.dropped
                kept += cases.score.size
                yield cases.chunk
                done += len(batch.table)
                progress(done, self.files.rows)
        if not kept:
            raise InputError(f"every row of {self.path} lacks a value that is needed.")

    def _cases(self, batch: Batch) -> Cases:
        cases = read_cases(
            _frame(batch),
            self.columns,
            BatchSource(batch.file, self.files.names, None, "", batch.row_group, batch.first),
            scale=self.scale,
            event=self.event,
            drop_missing=self.drop_missing,
            labels=self.labels,
        )
        if not cases.score.size:
            return cases
        return with_weight_type(cases, self.columns.weight, self.weight_type)


def _head(files: ParquetFiles, outcome: str | None, score: str | None) -> pd.DataFrame:
    """The first rows, to guess columns from; no rows where none is guessed."""
    import pandas as pd

    if outcome is not None and score is not None:
        return pd.DataFrame(columns=list(files.names))
    return _frame(next(files.batches(files.names, HEAD)))


def _frame(batch: Batch) -> pd.DataFrame:
    frame: pd.DataFrame = batch.table.to_pandas(ignore_metadata=True)
    return frame
