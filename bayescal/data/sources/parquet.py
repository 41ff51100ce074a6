"""Parquet files, and folders of them, read some rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import unquote

from bayescal.core.errors import InputError, as_items
from bayescal.core.files import as_path
from bayescal.core.versions import needed
from bayescal.data.sources.columns import Columns
from bayescal.data.sources.repeats import RowGroup, check_different, warn_of_repeats

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BATCH_ROWS", "SUFFIXES", "Batch", "ParquetFiles", "parquet_files"]

SUFFIXES = (".parquet", ".pq", ".parq")
BATCH_ROWS = 1 << 20
"""Rows that are read at a time."""
READ_AHEAD = 1 << 20
"""Bytes of a column that are read at a time, since a row group can be of any size."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Batch:
    """Some rows of a row group.

    Attributes
    ----------
    table : pyarrow.Table
        The columns that were asked for.
    row_group : int
        Counted from 0.
    first : int
        Index of the first of the rows in the row group.
    """

    table: pa.Table
    file: Path
    row_group: int
    first: int

    @property
    def where(self) -> str:
        """Where the rows stand, for messages; their indices count from there."""
        later = f", from row {self.first} on" if self.first else ""
        return f"{self.file}, row group {self.row_group}{later}"


@dataclass(frozen=True)
class ParquetFiles:
    """Files with the same columns, in any order, each looked at before any is read.

    Attributes
    ----------
    root : Path or None
        The folder below which names like `site=north` are values of columns; None without one.
    sizes : tuple of int
        Rows of each file.
    names : tuple of str
        Columns of the first file that has rows, those that folders are named after included.
    """

    root: Path | None
    files: tuple[Path, ...]
    sizes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows of all files together."""
        return sum(self.sizes)

    @classmethod
    def of(cls, path: Any) -> Self:
        """Look at a file, at all files below a folder, or at a list of files."""
        root, files = parquet_files(path)
        check_different(files)
        sizes: list[int] = []
        names: tuple[str, ...] = ()
        for file in files:
            opened = _opened(file)
            sizes.append(opened.metadata.num_rows)
            if not names and sizes[-1]:
                names = (*opened.schema_arrow.names, *_values_in_name(file, root))
        if not sum(sizes):
            raise InputError(f"{_shown(path)} holds no rows.")
        return cls(root, tuple(files), tuple(sizes), tuple(dict.fromkeys(names)))

    def warn_of_repeats(self) -> None:
        """Warn the caller of the caller of rows that are copies of others."""
        warn_of_repeats(
            [
                RowGroup(file, index, described.row_group(index))
                for file in self.files
                for described in (_opened(file).metadata,)
                for index in range(described.num_row_groups)
            ]
        )

    def check(self, columns: Columns) -> None:
        """Refuse files that lack a column, before the first row is read."""
        for file, size in zip(self.files, self.sizes, strict=True):
            if size:
                inside = _opened(file).schema_arrow.names
                in_name = [key for key in _values_in_name(file, self.root) if key not in inside]
                columns.check([*inside, *in_name], str(file))

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Batch]:
        """The rows of all files, in order.

        Parameters
        ----------
        rows : int
            Most rows at a time.
        """
        for file, size in zip(self.files, self.sizes, strict=True):
            if size:
                yield from self._batches_of(file, columns, rows)

    def _batches_of(self, file: Path, columns: Sequence[str], rows: int) -> Iterator[Batch]:
        arrow = _pyarrow()
        schema = _opened(file).schema_arrow
        inside = [name for name in columns if name in schema.names]
        opened = _opened(file, _flat(schema, inside, file))
        fixed = _values_in_name(file, self.root)
        for group in range(opened.num_row_groups):
            first = 0
            try:
                for batch in opened.iter_batches(rows, [group], inside):
                    table = arrow.Table.from_batches([batch])
                    for name in columns:
                        if name not in inside:
                            values = arrow.array([fixed[name]] * len(table))
                            table = table.append_column(name, values)
                    yield Batch(table, file, group, first)
                    first += len(table)
            except (OSError, arrow.ArrowException) as error:
                raise InputError(
                    f"{file}, row group {group}, cannot be read: {_reason(error)}. The file may be "
                    "damaged: write or copy it again."
                ) from error


def _flat(schema: pa.Schema, columns: Sequence[str], file: Path) -> Sequence[str]:
    """The columns, each of which must have one value a row."""
    from pyarrow.types import is_nested

    for name in columns:
        if is_nested(schema.field(name).type):
            raise InputError(
                f"{file}: column {name!r} is of type {schema.field(name).type}, and one value a "
                "row is needed. Write a column of plain numbers or labels."
            )
    return columns


def parquet_files(path: Any) -> tuple[Path | None, list[Path]]:
    """The folder that a path names, if it does, and the Parquet files behind it, by name.

    Names that begin with a dot or an underscore, like `_SUCCESS`, are passed over, and so are
    other files in a folder.

    Parameters
    ----------
    path : path-like, or iterable of them
        A file, a folder, which is searched to any depth, or a list of files.
    """
    if not isinstance(path, str | os.PathLike):
        names = as_items(path, "path")
        files = [as_path(one, f"path[{at}]") for at, one in enumerate(names)]
        for file in files:
            if not file.is_file():
                raise InputError(f"there is no file {file}. Name files that exist in path=.")
        if not files:
            raise InputError("the list of Parquet files is empty. Name one at least in path=.")
        return None, files
    root = as_path(path)
    if root.is_file():
        return None, [root]
    if not root.is_dir():
        raise InputError(f"there is no file or folder {root}. Name one that exists in path=.")
    files = sorted(file for file in root.rglob("*") if _is_data(file, root))
    if not files:
        raise InputError(
            f"{root} is a folder without a Parquet file (one whose name ends in .parquet). Name a "
            "file, or a folder of Parquet files."
        )
    return root, files


def _is_data(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    return not hidden and file.name.lower().endswith(SUFFIXES) and file.is_file()


def _values_in_name(file: Path, root: Path | None) -> dict[str, str | int | None]:
    """Values of columns that folders are named after: site=north/part.parquet."""
    if root is None:
        return {}
    pairs = (part.split("=", 1) for part in file.relative_to(root).parts[:-1] if "=" in part)
    return {unquote(key): _value(unquote(text)) for key, text in pairs}


def _value(text: str) -> str | int | None:
    is_integer = text.removeprefix("-").isdecimal() and text == str(int(text))
    return None if text == NO_VALUE else int(text) if is_integer else text


def _opened(file: Path, texts: Sequence[str] = ()) -> Any:
    """A Parquet file whose end, where the columns are described, could be read.

    Texts in columns of `texts` are read as numbers of distinct values.
    """
    _pyarrow()
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(
            file,
            read_dictionary=list(texts),
            buffer_size=READ_AHEAD,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"path {file} cannot be read as Parquet: {_reason(error)}. It may be cut short, or of "
            "another kind."
        ) from error


def _pyarrow() -> ModuleType:
    with needed("reading Parquet", "bayescal[parquet]"):
        import pyarrow as pa
        import pyarrow.parquet
    module: ModuleType = pa
    return module


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _shown(path: Any) -> str:
    return str(path) if isinstance(path, str | os.PathLike) else "the list of files"
