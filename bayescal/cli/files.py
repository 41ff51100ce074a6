"""Files that a command is to write: whether it can, before it works, and tables as CSV."""

from __future__ import annotations

import csv
import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayescal.cli.terminal import STDOUT
from bayescal.core.errors import InputError
from bayescal.core.files import check_page, replacing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MARK", "check_targets", "mark_of", "write_table"]

MARK = ".bayescal.json"

# The error of Windows for a link that leads to itself.
LOOP_ON_WINDOWS = 1921
# Ends of names that promise what is not written; also of text that is packed.
BINARY = (".gz", ".ods", ".parquet", ".pq", ".xls", ".xlsb", ".xlsm", ".xlsx")


def check_targets(targets: Mapping[str, Path | None], inputs: Sequence[Path | None]) -> None:
    """Refuse, before anything is computed, outputs that cannot be written or replace a file in use.

    They come by the options that name them.
    """
    written = {name: path for name, path in targets.items() if path is not None and path != STDOUT}
    for path in written.values():
        if not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}.")
        if path.is_dir():
            raise InputError(f"cannot write {path}: it is a folder.")
        if _leads_to_itself(path):
            raise InputError(f"cannot write {path}: it is a link that leads to itself.")
        _check_permission(path)
    _check_distinct([*written.values()], [path for path in inputs if path is not None])
    if "plot" in written:
        from matplotlib.backend_bases import FigureCanvasBase

        formats = sorted(FigureCanvasBase.get_supported_filetypes())
        if written["plot"].suffix.lower().removeprefix(".") not in formats:
            plot = written["plot"]
            raise InputError(f"cannot draw {plot}: its name must end in {', '.join(formats)}.")
    if "html" in written:
        check_page(written["html"], "--html")
    if "word" in written:
        from bayescal.report.word import check_document

        check_document(written["word"], "--word")
    if "output" in written and written["output"].suffix.lower() in BINARY:
        raise InputError(
            f"cannot write {written['output']}: a table is written as CSV. End its name in .csv."
        )


def _leads_to_itself(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP or getattr(error, "winerror", None) == LOOP_ON_WINDOWS
    return False


def _check_permission(path: Path) -> None:
    """Refuse a file that may not be written, or whose folder takes no new file to replace it."""
    needed = [path] if path.exists() else []
    if path.is_file() or not path.exists():
        needed.append(path.resolve().parent)
    for one in needed:
        if not os.access(one, os.W_OK):
            raise InputError(f"cannot write {path}: there is no permission to write to {one}.")
    if path.is_file():
        try:
            path.open("r+b").close()
        except OSError as error:
            raise InputError(
                f"cannot write {path}: it cannot be opened for writing. Close it in other programs."
            ) from error


def _check_distinct(targets: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Refuse an output that is an input or another output; devices can be written to twice."""
    files = [path for path in targets if path.is_file() or not path.exists()]
    for index, path in enumerate(files):
        for other in inputs:
            if _is_same(path, other):
                raise InputError(
                    f"cannot write {path}: it is the input {other}. Name another file to write."
                )
        for other in files[:index]:
            if _is_same(path, other):
                raise InputError(
                    f"cannot write {path} twice: two outputs are this file. Name one each."
                )


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def mark_of(output: Path) -> Path:
    """The mark of a recalibrated file, which says what cases its map was fitted to."""
    return output.with_name(output.name + MARK)


def write_table(
    path: Path, table: pd.DataFrame, *, separator: str = ",", decimal: str = "."
) -> None:
    """Write a table as CSV: UTF-8, quotes only where a field needs them.

    A carriage return in a field would be read back as the end of a row, and is not quoted by
    itself; then every field is quoted.
    """
    texts = (column.astype(str) for _, column in table.items() if column.dtype.kind not in "biuf")
    returns = any(text.str.contains("\r", regex=False).any() for text in texts)
    with replacing(path) as file:
        table.to_csv(
            file,
            sep=separator,
            decimal=decimal,
            index=False,
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
