"""Excel workbooks: one sheet, read as the text that it would be saved as."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from bayescal.cli._read import Source, TableFile, check_file, types_of
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.core.versions import needed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["WorkbookSource", "open_workbook"]

Row = tuple[int, tuple[Any, ...]]
"""A row's number on its sheet, and its cells."""


@dataclass(frozen=True)
class WorkbookSource(Source):
    """A sheet of a workbook."""

    rows: tuple[Row, ...] = ()

    def load(self, *, verbatim: bool = False, labels: Collection[str] = ()) -> pd.DataFrame:
        """The table, as `Source.load` gives it; numbers and missing values as in CSV."""
        texts = [at for at, name in enumerate(self.names) if name in labels]
        import pandas as pd

        if not self.rows:
            raise InputError(f"{self.path} names columns but has no rows.")
        text = StringIO()
        csv.writer(text, quoting=csv.QUOTE_MINIMAL).writerows(
            map(_as_shown, cells) for _, cells in self.rows
        )
        text.seek(0)
        return pd.read_csv(
            text,
            header=None,
            names=list(range(len(self.names))),
            index_col=False,
            low_memory=False,
            dtype=types_of(texts, verbatim=verbatim),
            keep_default_na=not verbatim,
            skip_blank_lines=False,
        ).set_axis(list(self.names), axis="columns")

    def where(self, row: int) -> str:
        """Where a row of the table stands on its sheet: "row 12", as Excel counts."""
        return f"row {self.rows[row][0]}"


def open_workbook(path: TableFile, sheet: str | None = None) -> WorkbookSource:
    """Read a sheet of a workbook.

    Parameters
    ----------
    sheet : str, optional
        By default the only one that is not empty.
    """
    check_file(path)
    otherwise = "Or save the sheet as CSV UTF-8 in Excel (File, Save As)."
    with needed("reading Excel workbooks", "bayescal[excel]", otherwise):
        import openpyxl
    with path.open("rb") as file:
        with _understood(path):
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        try:
            with _understood(path):
                sheets = {table.title: list(_filled(table)) for table in book.worksheets}
        finally:
            book.close()
    rows = _chosen(path, sheets, sheet)
    (number, header), *records = rows
    width = max(k for k, name in enumerate(header, 1) if name is not None)
    names = tuple("" if name is None else str(name).strip() for name in header[:width])
    if all(isinstance(name, int | float) for name in header[:width]):
        raise InputError(f"row {number} of {path} holds numbers, where column names are needed.")
    for number, cells in records:
        if any(cell is not None for cell in cells[width:]):
            raise InputError(
                f"row {number} of {path} has values in columns without a name. Name every column "
                f"in row {rows[0][0]}, and leave the rest of the sheet empty."
            )
    table = ((at, (*cells[:width], *[None] * (width - len(cells)))) for at, cells in records)
    return WorkbookSource(path, names, None, rows=tuple(table))


def _as_shown(cell: Any) -> Any:
    """A cell as Excel shows it: hospital 7 is no 7.0."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _filled(table: Any) -> Iterator[Row]:
    """Rows of a sheet with anything in them."""
    for number, cells in enumerate(table.iter_rows(values_only=True), 1):
        if any(cell is not None for cell in cells):
            yield number, cells


def _chosen(path: TableFile, sheets: dict[str, list[Row]], sheet: str | None) -> list[Row]:
    """The rows of the sheet that was named, or of the only one that has any."""
    filled = [name for name, rows in sheets.items() if rows]
    shown = ", ".join(repr(shortened(name)) for name in filled)
    if sheet is not None and sheet not in sheets:
        raise InputError(f"--sheet: {path} has no sheet {sheet!r}. There are {shown or 'none'}.")
    if not filled or (sheet is not None and sheet not in filled):
        raise InputError(f"{path} is empty{'' if sheet is None else f' on sheet {sheet!r}'}.")
    if sheet is None and len(filled) > 1:
        raise InputError(f"{path} has several sheets: {shown}. Say which with --sheet.")
    return sheets[filled[0] if sheet is None else sheet]


@contextmanager
def _understood(path: TableFile) -> Iterator[None]:
    """Say which file is broken, rather than how a library stumbled over it."""
    try:
        yield
    except (ValueError, KeyError, EOFError, SyntaxError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{path} cannot be read as an Excel workbook: {reason}.") from error
