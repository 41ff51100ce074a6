"""Rows that a set of Parquet files holds twice: one file under two names, or a copy of its rows."""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayescal.core.errors import InputError, RepeatWarning

__all__ = ["RowGroup", "check_different", "repeated", "warn_of_repeats"]

FEWEST_ROWS = 10
"""Smaller row groups can be equal by chance."""
FIRST_BYTES = 1 << 12
"""Bytes of a column that are compared before all of them are."""
COPY_BLOCK = 1 << 20
"""Bytes that are read at a time."""


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file.

    Attributes
    ----------
    index : int
        Counted from 0.
    described : object
        What the end of the file says of it: pyarrow's metadata of a row group.
    """

    file: Path
    index: int
    described: Any

    def __str__(self) -> str:
        return f"{self.file}, row group {self.index}"

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.described.num_rows)

    def size(self) -> Hashable:
        """Its rows and bytes: the cheapest to compare."""
        return self.rows, self.described.total_byte_size

    def columns(self) -> Hashable:
        """Bytes of each column, and its least and largest value where the file says them."""
        return tuple(
            (
                column.path_in_schema,
                column.total_compressed_size,
                column.num_values,
                str(column.statistics.to_dict()) if column.is_stats_set else "",
            )
            for column in map(self.described.column, range(self.described.num_columns))
        )

    def start(self) -> Hashable:
        """A checksum of the first bytes of each column."""
        return self._checksum(FIRST_BYTES)

    def content(self) -> Hashable:
        """A checksum of all bytes of each column."""
        return self._checksum()

    def _checksum(self, most: int | None = None) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        with self.file.open("rb") as opened:
            for column in map(self.described.column, range(self.described.num_columns)):
                dictionary = column.dictionary_page_offset
                first = column.data_page_offset
                opened.seek(first if dictionary is None else min(dictionary, first))
                left = column.total_compressed_size
                left = left if most is None else min(left, most)
                while left > 0:
                    block = opened.read(min(left, COPY_BLOCK))
                    if not block:
                        break
                    digest.update(block)
                    left -= len(block)
        return digest.digest()


def check_different(files: Sequence[Path]) -> None:
    """Refuse a file that is named twice, or by a link to it.

    Parameters
    ----------
    files : sequence of Path
        That exist.
    """
    names: dict[Hashable, Path] = {}
    for file in files:
        status = file.stat()
        same = names.setdefault((status.st_dev, status.st_ino), file)
        if same is not file:
            how = "is named twice" if same == file else f"and {same} are one file"
            raise InputError(
                f"{file} {how}, so that its cases would count twice. Name it once, and remove "
                "links to it."
            )


def repeated(groups: Sequence[RowGroup]) -> list[list[RowGroup]]:
    """Row groups whose bytes are equal, in sets of two or more.

    Sizes and what the files say of their columns come first. Bytes are read of those alone that
    are still alike, so that of files without repeats next to nothing is read.

    Returns
    -------
    list of list of RowGroup
        In the order given. Row groups of fewer than 10 rows are left out.
    """
    alike = [[group for group in groups if group.rows >= FEWEST_ROWS]]
    for compared in (RowGroup.size, RowGroup.columns, RowGroup.start, RowGroup.content):
        alike = [part for each in alike for part in _equal(each, compared)]
    return alike


def warn_of_repeats(groups: Sequence[RowGroup]) -> None:
    """Warn the caller of the caller of the caller of rows that are copies of others."""
    alike = repeated(groups)
    if not alike:
        return
    copies = [copy for _, *others in alike for copy in others]
    rows = sum(copy.rows for copy in copies)
    count = f"{len(copies):,} row groups are copies" if len(copies) > 1 else "a row group is a copy"
    warnings.warn(
        f"{count} of others, byte by byte, so that {rows:,} rows count twice: {alike[0][1]}, is "
        f"the same as {alike[0][0]}. If it is a copy of the file, remove it.",
        RepeatWarning,
        stacklevel=4,
    )


def _equal(
    groups: list[RowGroup], compared: Callable[[RowGroup], Hashable]
) -> list[list[RowGroup]]:
    """Those that are equal in what is compared, in sets of two or more."""
    sets: dict[Hashable, list[RowGroup]] = defaultdict(list)
    for group in groups:
        sets[compared(group)].append(group)
    return [each for each in sets.values() if len(each) > 1]
