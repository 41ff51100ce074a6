"""From a file to cases with two predictions each, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bayescal._validate import Floats
from bayescal.cli._cases import Cases, read_cases, with_weight_type
from bayescal.cli._columns import choose_columns
from bayescal.cli._read import open_source
from bayescal.cli._terminal import working
from bayescal.errors import InputError

__all__ = ["Pairs", "read_pairs"]


class Pairs(NamedTuple):
    """What a file held.

    Attributes
    ----------
    cases : Cases
        With the predictions before.
    after : ndarray of shape (n,)
    outcome : str
        The column of outcomes.
    dropped, rows : int
        Rows left out, and rows in all.
    """

    cases: Cases
    after: Floats
    outcome: str
    dropped: int
    rows: int


def read_pairs(
    path: Path,
    *,
    outcome: str | None,
    before: str,
    after: str,
    event: str | None,
    weight: str | None,
    weight_type: str | None = None,
    drop_missing: bool,
) -> Pairs:
    """Read a file of one row per case, with two columns of predictions.

    Parameters
    ----------
    path : Path
    outcome, event, weight : str, optional
    weight_type : {"counts", "sampling"}, optional
        Asked for when the weights can be either.
    before, after : str
        Columns of predictions.
    drop_missing : bool

    Returns
    -------
    Pairs

    Raises
    ------
    InputError
        If the file cannot be read, a column is unknown, or a value is no good.
    """
    if before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    with working(f"Reading {path} ..."):
        source = open_source(path)
        frame = source.load()
        rows = len(frame)
        first = choose_columns(frame, outcome, before, weight)
        second = choose_columns(frame, first.outcome, after, weight)
        options: dict[str, Any] = {"event": event, "drop_missing": drop_missing}
        read = [read_cases(frame, columns, source, **options) for columns in (first, second)]
        if any(cases.dropped for cases in read):
            needed = [name for name in {*first, *second} if isinstance(name, str)]
            frame = frame[frame[needed].notna().all(axis=1)]
            if frame.empty:
                raise InputError(f"every row of {path} lacks an outcome or a prediction.")
            read = [read_cases(frame, columns, source, **options) for columns in (first, second)]
    cases = with_weight_type(read[0], weight, weight_type)
    return Pairs(cases, read[1].score, first.outcome, rows - len(frame), rows)
