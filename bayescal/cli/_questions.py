"""Columns that look like hospitals or dates, of which nobody said whether they matter."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.sources.columns import may_be_groups, may_be_sites

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ask_about_columns"]


def ask_about_columns(
    frame: pd.DataFrame, taken: Collection[str], *, options: Collection[str]
) -> None:
    """Refuse a table with a column of hospitals or dates, when nothing says whether it matters.

    Parameters
    ----------
    taken : collection of str
        Columns that mean something else, or were said not to matter.
    options : collection of str
        Of "site", "period" and "cluster", those that the command has.
    """
    for name in may_be_groups(list(map(str, frame.columns)), taken):
        values = frame[name]
        if values.ndim != 1:  # several columns of one name
            continue
        levels, rows = _distinct(values), int(values.notna().sum())
        if 2 <= levels < rows:
            role = "site" if may_be_sites(name) else "period"
            shown = shortened(name)
            ways = [f"--{option} {shown}" for option in (role, "cluster") if option in options]
            raise InputError(
                f"column {shown!r} has {levels:,} values in {rows:,} rows. If calibration may "
                "differ between them, or rows of one are alike, say so: "
                f"{', or '.join([*ways, f'--ignore-column {shown}'])} if it does not matter."
            )


def _distinct(values: pd.Series) -> int:
    """How many values there are; none of what cannot be compared, such as lists."""
    try:
        return int(values.nunique())
    except TypeError:
        return 0
