"""The mark of a recalibration: a small file beside its output that says what it was fitted to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayescal.cli._write import write_record

if TYPE_CHECKING:
    from bayescal.data.table import CalibrationData

__all__ = ["MARK", "find_mark", "mark_of", "write_mark"]

MARK = ".bayescal.json"
DIGITS = 12


def mark_of(output: Path) -> Path:
    """The path of the mark that goes with a recalibrated file."""
    return output.with_name(output.name + MARK)


def write_mark(
    output: Path, source: Path, data: CalibrationData, *, method: str, columns: list[str]
) -> Path:
    """Note down which patients a map was fitted to, and which columns it made.

    Parameters
    ----------
    output : Path
        The recalibrated file.
    source : Path
        The file with the patients that the map was fitted to.
    data : CalibrationData
        Those patients.
    columns : list of str
        The new columns of `output`.

    Returns
    -------
    Path
        The mark: `output` with ".bayescal.json" behind its name.
    """
    from bayescal.core.versions import library_versions

    path = mark_of(output)
    fitted_to = {"file": str(source), "cases": data.n, "sha256": _fingerprint(data)}
    record = {"method": method, "columns": columns, "fitted_to": fitted_to}
    write_record(path, record | {"versions": library_versions("bayescal")})
    return path


def find_mark(file: Path, data: CalibrationData, column: str) -> Path | None:
    """The mark of a map that made this column and was fitted to these patients.

    The mark of the file itself decides, if it names the column. Without one, files may have been
    renamed or joined since, and all marks in the folder are compared with the patients.

    Parameters
    ----------
    file : Path
        The evaluated file.
    data : CalibrationData
        Outcomes, scores before and weights of the evaluated patients.
    column : str
        The name of the predictions after.
    """
    sought, own = None, mark_of(file)
    for path in (own, *sorted(file.parent.glob(f"*{MARK}"))):
        try:
            record = json.loads(path.read_text("utf-8"))
            marked, columns = record["fitted_to"]["sha256"], record["columns"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # there is none, or it is another program's file
        sought = sought or _fingerprint(data)
        if column in columns and (marked == sought or path == own):
            return path if marked == sought else None
    return None


def _fingerprint(data: CalibrationData) -> str:
    """Fingerprint of the cases, unchanged when scores are written as decimals and read again."""
    from bayescal.data.stored import fingerprint
    from bayescal.data.table import CalibrationData
    from bayescal.data.weights import read_type

    outcome, score, weight = data.to_arrays()
    kind = None if weight is None else read_type(weight)
    rounded = np.round(score, DIGITS)
    return fingerprint(CalibrationData(outcome, rounded, weight, weight_type=kind))
