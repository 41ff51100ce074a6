"""A table that the browser sent: kept in memory, read like a file, and small when unpacked."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from io import BytesIO

from bayescal.core.errors import InputError
from bayescal.data.files import PARQUET, is_workbook

__all__ = ["LARGEST_UNPACKED", "MOST_UPLOADED_CELLS", "Upload"]

LARGEST_UNPACKED = 1024**3
"""Bytes of text, or of a workbook's parts."""
MOST_UPLOADED_CELLS = 400_000_000
"""Of Parquet, which packs a column of one value to a few bytes."""
UNPACKED_BLOCK = 1024**2


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
        self._content = content
        lower = name.lower()
        if lower.endswith(".gz"):
            self._check_gzip()
        elif is_workbook(self):
            self._check_workbook()
        elif lower.endswith(PARQUET):
            self._check_parquet()

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """The end of its name, with the point."""
        _, point, end = self.name.rpartition(".")
        return point + end if point else ""

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

    def _check_gzip(self) -> None:
        total = 0
        try:
            with gzip.open(self.open()) as file:
                while block := file.read(UNPACKED_BLOCK):
                    total += len(block)
                    if total > LARGEST_UNPACKED:
                        raise self._too_large()
        except (EOFError, OSError, zlib.error):
            return  # the reader says what is wrong with it

    def _check_workbook(self) -> None:
        try:
            with zipfile.ZipFile(self.open()) as parts:
                total = sum(part.file_size for part in parts.infolist())
        except zipfile.BadZipFile:
            return
        if total > LARGEST_UNPACKED:
            raise self._too_large()

    def _check_parquet(self) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            return
        try:
            described = parquet.ParquetFile(self.open()).metadata
        except (pa.ArrowException, OSError):
            return
        if described.num_rows * described.num_columns > MOST_UPLOADED_CELLS:
            raise self._too_large()

    def _too_large(self) -> InputError:
        return InputError(
            f"{self.name} is too large to be read here when it is unpacked. Use the command "
            "`bayescal assess` for it."
        )
