"""From a file to cases with a prediction before, and mostly one after."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.cli._cases import Cases, read_cases, with_weight_type
from bayescal.cli._columns import check_column, choose_columns
from bayescal.cli._progress import working
from bayescal.cli._roles import NO_ROLES, RoleColumns
from bayescal.cli.form import AS_IS, Form

__all__ = ["Pairs", "read_pairs"]


class Pairs(NamedTuple):
    """Predictions before and after a recalibration, read from a file.

    Attributes
    ----------
    cases : Cases
        With the predictions before.
    after : ndarray of shape (n,) or None
        None when only one column of predictions was asked for.
    outcome, before : str
        The columns of outcomes and of predictions before.
    dropped, rows : int
        Rows left out, and rows in all.
    """

    cases: Cases
    after: Floats | None
    outcome: str
    before: str
    dropped: int
    rows: int


def read_pairs(
    path: Path,
    *,
    outcome: str | None,
    before: str | None,
    after: str | None,
    event: str | None,
    weight: str | None,
    weight_type: str | None = None,
    drop_missing: bool,
    form: Form = AS_IS,
    roles: RoleColumns = NO_ROLES,
) -> Pairs:
    """Read a file of one row per case, with one or two columns of predictions.

    Parameters
    ----------
    weight_type : {"counts", "sampling"}, optional
        Asked for when the weights can be either.
    before, after : str, optional
        Columns of predictions. That before is guessed when only one fits; without `after` there
        is only that one.
    form : Form
        How the file is to be read; of both columns of predictions.
    """
    if before is not None and before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        rows = len(frame)
        named = {"score": before} if after is None else {"before": before, "after": after}
        for option, name in named.items():
            if name is not None:
                check_column(name, [str(column) for column in frame.columns], option)
        first = choose_columns(frame, outcome, before, weight, roles, form.scale)
        both = [first]
        if after is not None:
            both.append(choose_columns(frame, first.outcome, after, weight))
        options: dict[str, Any] = {"event": event, "drop_missing": drop_missing}
        options["scale"] = form.scale
        read = [read_cases(frame, columns, source, **options) for columns in both]
        if any(cases.dropped for cases in read):
            needed = {name for columns in both for name in columns if isinstance(name, str)}
            frame = frame[frame[list(needed)].notna().all(axis=1)]
            if frame.empty:
                raise InputError(f"every row of {path} lacks an outcome or a prediction.")
            read = [read_cases(frame, columns, source, **options) for columns in both]
    scores = None if after is None else read[1].score
    cases = with_weight_type(read[0], weight, weight_type)
    return Pairs(cases, scores, first.outcome, first.score, rows - len(frame), rows)
