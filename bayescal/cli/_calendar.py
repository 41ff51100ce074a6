"""Dates in a column of periods, taken by week, month, quarter or year."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.cli.reading import Reading
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.sources.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.cli._read import Source

__all__ = ["by_calendar"]

DATE_FORMS = ("ISO8601", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d")
"""How dates may be written: 2024-03-31 with or without a time, 20240331, 31.03.2024, 2024/03/31.

Of dates such as 3/4/2024 it is not known which number is the month.
"""
WRITTEN = {"month": "%Y-%m", "year": "%Y", "week": "%G-W%V"}


def by_calendar(
    frame: pd.DataFrame, columns: Columns, reading: Reading, source: Source
) -> pd.DataFrame:
    """The table, with its periods as `--every` says: 2024-03, 2024-Q1, 2024-W13 or 2024.

    Raises
    ------
    InputError
        If a value of the column is no date.
    """
    if reading.calendar is None or columns.period is None:
        return frame
    column = frame[columns.period]
    dates = _as_dates(column, source)
    if reading.calendar == "quarter":
        texts = dates.dt.strftime("%Y-Q") + dates.dt.quarter.astype("Int64").astype("string")
    else:
        texts = dates.dt.strftime(WRITTEN[reading.calendar])
    taken = frame.copy(deep=False)
    taken[columns.period] = texts.astype(object).where(column.notna(), None)
    return taken


def _as_dates(column: pd.Series, source: Source) -> pd.Series:
    """Dates of a column, which may be texts, whole numbers such as 20240331, or dates already."""
    import pandas as pd

    if column.dtype.kind == "M":
        return column
    known = column.notna().to_numpy(dtype=bool)
    texts = pd.Series([_text(value) for value in column.tolist()], column.index, dtype="string")
    read: pd.Series = texts
    for form in DATE_FORMS:
        read = pd.to_datetime(texts.where(known), format=form, errors="coerce")
        if not (read.isna().to_numpy() & known).any() and known.any():
            return read
    each = [pd.to_datetime(texts, format=form, errors="coerce").isna() for form in DATE_FORMS]
    wrong = min((one.to_numpy() & known for one in each), key=np.count_nonzero)
    at = int(wrong.argmax())
    raise InputError(
        f"column {column.name!r}: {shortened(str(column.iloc[at]))!r} on {source.where(at)} of "
        f"{source.path} is no date that --every can read. Write all dates as 2024-03-31."
    )


def _text(value: Any) -> str:
    """A value as it was typed: 20240331.0 of a column with gaps is 20240331."""
    return str(value).strip().removesuffix(".0")
