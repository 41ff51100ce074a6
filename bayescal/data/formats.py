"""What a file is, by its name."""

from __future__ import annotations

from pathlib import Path

from bayescal.core.errors import InputError
from bayescal.data.columns import PYTHON, Door
from bayescal.data.files import (
    JSON_LINES,
    OTHER_WORKBOOKS,
    PARQUET,
    STATISTICAL,
    Source,
    Statistical,
    TableFile,
    check_width,
    is_text,
    is_workbook,
    open_lines,
    open_text,
    open_workbook,
    read_statistical,
)
from bayescal.data.parquet import open_parquet

__all__ = ["open_table"]

READ = (
    "CSV (.csv, .tsv or .txt, also with .gz), Parquet (.parquet), Excel (.xlsx), SPSS (.sav), "
    "Stata (.dta), SAS (.sas7bdat, .xpt) or JSON lines (.jsonl)"
)


def open_table(
    path: TableFile, encoding: str | None = None, sheet: str | None = None, door: Door = PYTHON
) -> Source:
    """Look at a file: what it is, and which columns it has.

    Parameters
    ----------
    path : Path
        A file, or a folder of Parquet files.
    encoding : str, optional
        Of text. By default UTF-8, or UTF-16 if the file begins with its mark, as Excel's
        "Unicode text" does.
    sheet : str, optional
        Of a workbook. By default the only one that is not empty.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}.")
    name = path.name.lower()
    if name.endswith(PARQUET) or (path.is_dir() and isinstance(path, Path)):
        parquet = open_parquet(path)
        check_width(path, len(parquet.names))
        return parquet
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or a device, and a table is read more than once. Save it to a file."
        )
    if is_text(path):
        return open_text(path, encoding, door)
    if is_workbook(path):
        return open_workbook(path, sheet, door)
    if name.endswith(JSON_LINES):
        return open_lines(path, door)
    if path.suffix.lower() in STATISTICAL:
        frame, _ = read_statistical(path, metadataonly=True)
        check_width(path, len(frame.columns))
        return Statistical(path, tuple(map(str, frame.columns)))
    if name.endswith(OTHER_WORKBOOKS):
        raise InputError(
            f"{path} is a workbook in a format that is not read. Save it as .xlsx, or its sheet as "
            "CSV UTF-8 (File, Save As), and name that file."
        )
    raise InputError(
        f"{path} is not {READ} by its name. Save the table as one of these, or name another path."
    )
