"""A table that the browser sent: kept in memory, read like a file, and small when unpacked."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from io import BytesIO
from pathlib import PurePath

from bayescal.core.errors import InputError
from bayescal.data.files import PARQUET, STATISTICAL, is_workbook, read_statistical

__all__ = ["LARGEST_UNPACKED", "Upload"]

# Bytes: of text, of a workbook's parts, or of cells where columns are packed.
LARGEST_UNPACKED = 1024**3
UNPACKED_BLOCK = 1024**2
# Bytes of a number.
CELL_BYTES = 8


class Upload:
    """What the browser sent; it never becomes a file on disk.

    Parameters
    ----------
    name : str
        That the file has on the user's disk, without its folder.
    content : bytes
        What is in it.

    Raises
    ------
    InputError
        If the content is much larger when it is unpacked.
    """

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.suffix = PurePath(name).suffix
        self._content = content
        if self._unpacked() > LARGEST_UNPACKED:
            raise InputError(
                f"{name} is too large to be read here when it is unpacked. Read it in Python, with "
                "bayescal.read."
            )

    def __str__(self) -> str:
        return self.name

    def exists(self) -> bool:
        """Whether there is such a file."""
        return True

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return False

    def is_file(self) -> bool:
        """Whether it is a file."""
        return True

    def open(self, mode: str = "rb") -> BytesIO:
        """Its content, from the beginning."""
        return BytesIO(self._content)

    def _unpacked(self) -> int:
        """Bytes that it becomes, as far as that must be known; 0 of a broken file.

        The reader says what is wrong with that one.
        """
        lower = self.name.lower()
        try:
            if lower.endswith(".gz"):
                return self._of_gzip()
            if is_workbook(self):
                with zipfile.ZipFile(self.open()) as parts:
                    return sum(part.file_size for part in parts.infolist())
            if lower.endswith(PARQUET):
                return self._of_parquet()
            if self.suffix.lower() in STATISTICAL:
                return self._of_statistics()
        except (EOFError, ImportError, OSError, ValueError, zlib.error, zipfile.BadZipFile):
            pass
        return 0

    def _of_gzip(self) -> int:
        total = 0
        with gzip.open(self.open()) as file:
            while total <= LARGEST_UNPACKED and (block := file.read(UNPACKED_BLOCK)):
                total += len(block)
        return total

    def _of_parquet(self) -> int:
        """Rows by columns: a column of one value is packed to a few bytes."""
        import pyarrow.parquet as parquet

        told = parquet.ParquetFile(self.open()).metadata
        return int(told.num_rows) * int(told.num_columns) * CELL_BYTES

    def _of_statistics(self) -> int:
        """Rows by the width of a row, which SPSS and SAS pack."""
        _, told = read_statistical(self, metadataonly=True)
        rows = told.number_rows
        if rows is None or rows < 0:  # not said: what packs is taken to be an attack
            return LARGEST_UNPACKED + 1 if self.suffix.lower() == ".zsav" else 0
        return int(rows) * sum(
            max(int(each), CELL_BYTES) for each in told.variable_storage_width.values()
        )
