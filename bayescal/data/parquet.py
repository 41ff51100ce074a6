"""Parquet files, and folders of them, read some rows at a time."""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from bayescal.core.errors import InputError, RepeatWarning
from bayescal.core.versions import needed
from bayescal.data.files import PARQUET, Source, TableFile

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["open_parquet"]

BATCH_ROWS = 1 << 20
"""Rows that are read at a time."""
READ_AHEAD = 1 << 20
"""Bytes of a column that are read at a time, since a row group can be of any size."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder of rows whose value is missing."""
FEWEST_ROWS = 10
"""Smaller row groups can be equal by chance."""


@dataclass(frozen=True)
class Part:
    """One of the files.

    Attributes
    ----------
    in_name : dict of str to str or int or None
        Values of columns that its folders are named after: site=north/part.parquet.
    """

    path: TableFile
    in_name: dict[str, str | int | None]

    def opened(self, texts: Sequence[str] = ()) -> Any:
        """As pyarrow opens it; texts in some columns are read as numbers of distinct values."""
        with needed("reading Parquet", "bayescal[parquet]", "Or save the table as CSV."):
            from pyarrow.parquet import ParquetFile
        try:
            return ParquetFile(
                self.path if isinstance(self.path, Path) else self.path.open("rb"),
                read_dictionary=list(texts),
                buffer_size=READ_AHEAD,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.path} cannot be read as Parquet: {_reason(error)}. It may be cut short, or "
                "of another kind."
            ) from error

    @cached_property
    def schema(self) -> Any:
        """Its columns with their types."""
        return self.opened().schema_arrow

    @cached_property
    def rows(self) -> int:
        """Number of its rows."""
        return int(self.opened().metadata.num_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns, those that folders are named after included."""
        inside = tuple(self.schema.names)
        return (*inside, *(name for name in self.in_name if name not in inside))


@dataclass(frozen=True)
class Parquet(Source):
    """Files with the same columns, in any order; `load` gives the first rows, `parts` all."""

    files: tuple[Part, ...] = ()

    def parts(
        self, columns: Sequence[str], labels: Collection[str], first: pd.DataFrame
    ) -> Iterator[pd.DataFrame]:
        """All rows of some columns, at most 2^20 at a time."""
        for file in self.files:
            for name in columns:
                if name not in file.names:
                    raise InputError(f"{file.path} has no column {name!r}, which other files have.")
        return chain.from_iterable(_batches(file, columns) for file in self.files)

    def located(self, row: int) -> str:
        """The row of a file, counted from 1."""
        ends = [*accumulate(file.rows for file in self.files)]
        at = next(at for at, end in enumerate(ends) if row < end)
        return f"row {row - ends[at] + self.files[at].rows + 1} of {self.files[at].path}"

    def _frame(self, labels: Collection[str], verbatim: bool) -> pd.DataFrame:
        flat = [name for name in self.names if self._is_flat(name)]
        batches = chain.from_iterable(_batches(file, flat) for file in self.files)
        if verbatim:
            import pandas as pd

            frame = pd.concat([*batches], ignore_index=True)
        else:
            frame = next(batches)
        return frame.reindex(columns=list(self.names))

    def _is_flat(self, name: str) -> bool:
        """Whether a column has one value a row in the first file, and not a list or a structure."""
        from pyarrow.types import is_nested

        schema = self.files[0].schema
        return name not in schema.names or not is_nested(schema.field(name).type)


def open_parquet(path: TableFile) -> Parquet:
    """Look at a file, or at all files below a folder, each before any is read.

    Names that begin with a dot or an underscore, like `_SUCCESS`, are passed over, and so are other
    files in a folder.
    """
    if not path.is_dir():
        files = [Part(path, {})]
    else:
        root = Path(str(path))
        inside = sorted(file for file in root.rglob("*") if _is_data(file, root))
        if not inside:
            raise InputError(
                f"path {root} is a folder without a Parquet file (one whose name ends in "
                ".parquet). Name a file, or a folder of Parquet files."
            )
        _check_different(inside)
        files = [Part(file, _values_in_name(file, root)) for file in inside]
    files = [file for file in files if file.rows]
    if not files:
        raise InputError(f"{path} holds no rows.")
    _warn_of_copies(files)
    return Parquet(path, files[0].names, files=tuple(files))


def _batches(file: Part, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The rows of a file, in order."""
    import pandas as pd
    import pyarrow as pa

    inside = [name for name in columns if name in file.schema.names]
    for name in inside:
        if pa.types.is_nested(file.schema.field(name).type):
            raise InputError(
                f"{file.path}: column {name!r} is of type {file.schema.field(name).type}, and one "
                "value a row is needed. Write a column of plain numbers or labels."
            )
    opened = file.opened(inside)
    for group in range(opened.num_row_groups):
        try:
            for batch in opened.iter_batches(BATCH_ROWS, [group], inside):
                table = pa.Table.from_batches([batch])
                for at, field in enumerate(table.schema):
                    if pa.types.is_decimal(field.type):
                        table = table.set_column(at, field.name, table[at].cast(pa.float64()))
                frame = table.to_pandas(
                    ignore_metadata=True, integer_object_nulls=True, date_as_object=False
                )
                for name in columns:
                    if name not in inside:
                        value = file.in_name[name]
                        values = [pd.NA if value is None else value] * len(frame)
                        frame[name] = pd.Categorical(values) if isinstance(value, str) else values
                yield frame[list(columns)]
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"{file.path}, row group {group}, cannot be read: {_reason(error)}. The file may "
                "be damaged: write or copy it again."
            ) from error


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return not hidden and file.name.lower().endswith(PARQUET) and file.is_file()


def _values_in_name(file: Path, root: Path) -> dict[str, str | int | None]:
    pairs = (part.split("=", 1) for part in file.relative_to(root).parts[:-1] if "=" in part)
    return {unquote(key): _value(unquote(text)) for key, text in pairs}


def _value(text: str) -> str | int | None:
    is_integer = text.removeprefix("-").isdecimal() and text == str(int(text))
    return None if text == NO_VALUE else int(text) if is_integer else text


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


# Rows that are there twice


def _check_different(files: Sequence[Path]) -> None:
    """Refuse a file that is there by a link, too."""
    names: dict[Hashable, Path] = {}
    for file in files:
        status = file.stat()
        same = names.setdefault((status.st_dev, status.st_ino), file)
        if same is not file:
            raise InputError(
                f"{file} and {same} are one file, so that its cases would count twice. Remove "
                "links to it."
            )


def _warn_of_copies(files: Sequence[Part]) -> None:
    """Warn of row groups that are copies of others, byte by byte.

    What files say of their columns comes first. Bytes are read of those alone that are still
    alike, so that of files without copies next to nothing is read.
    """
    groups = [
        (file, k, described.row_group(k))
        for file in files
        for described in (file.opened().metadata,)
        for k in range(described.num_row_groups)
        if described.row_group(k).num_rows >= FEWEST_ROWS
    ]
    alike = [same for each in _equal(groups, _described) for same in _equal(each, _checksum)]
    if not alike:
        return
    copies = [copy for _, *others in alike for copy in others]
    rows = sum(described.num_rows for _, _, described in copies)
    count = f"{len(copies):,} row groups are copies" if len(copies) > 1 else "a row group is a copy"
    (one, k, _), (other, j, _) = alike[0][:2]
    warnings.warn(
        f"{count} of others, byte by byte, so that {rows:,} rows count twice: {other.path}, row "
        f"group {j}, is the same as {one.path}, row group {k}. If it is a copy of the file, remove "
        "it.",
        RepeatWarning,
        stacklevel=2,
    )


def _described(group: tuple[Part, int, Any]) -> Hashable:
    """What the end of a file says of a row group: rows, bytes, least and largest values."""
    columns = [group[2].column(at) for at in range(group[2].num_columns)]
    return group[2].num_rows, tuple(
        (
            column.path_in_schema,
            column.total_compressed_size,
            str(column.statistics.to_dict()) if column.is_stats_set else "",
        )
        for column in columns
    )


def _checksum(group: tuple[Part, int, Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    with group[0].path.open("rb") as file:
        for column in map(group[2].column, range(group[2].num_columns)):
            starts = (column.dictionary_page_offset, column.data_page_offset)
            file.seek(min(at for at in starts if at is not None))
            left = column.total_compressed_size
            while left > 0 and (block := file.read(min(left, READ_AHEAD))):
                digest.update(block)
                left -= len(block)
    return digest.digest()


def _equal(
    groups: list[tuple[Part, int, Any]], compared: Callable[[tuple[Part, int, Any]], Hashable]
) -> list[list[tuple[Part, int, Any]]]:
    """Those that are equal in what is compared, in sets of two or more."""
    sets: dict[Hashable, list[tuple[Part, int, Any]]] = defaultdict(list)
    if len(groups) > 1:
        for group in groups:
            sets[compared(group)].append(group)
    return [each for each in sets.values() if len(each) > 1]
