"""A table as text, ready for the page."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NONE", "Row", "Table", "numeral"]

NONE = "\N{EN DASH}"
TABLE_LARGE = 10_000


class Row(NamedTuple):
    """One row.

    Attributes
    ----------
    label : str
        Its heading.
    cells : tuple of str
    hint : str
        A few words beneath the heading.
    chosen : bool
        Whether it stands out.
    """

    label: str
    cells: tuple[str, ...]
    hint: str = ""
    chosen: bool = False


class Table(NamedTuple):
    """A table.

    Attributes
    ----------
    key : str
        Its name within the page.
    caption : str
    heads : tuple of str
        Headings of all columns, that of the rows' headings first.
    rows : list of Row
    words : tuple of int
        Columns that hold words, and not numbers.
    priors : tuple of str
        Of each column, the prior that it is under; empty where it is under none or all.
    stacks : bool
        Whether its cells stand one beneath the other where the page is narrow.
    """

    key: str
    caption: str
    heads: tuple[str, ...]
    rows: list[Row]
    words: tuple[int, ...] = ()
    priors: tuple[str, ...] = ()
    stacks: bool = False


def numeral(value: float, digits: int = 3) -> str:
    """A ratio that may be of any size: `3.21`, `> 10,000`, `< 0.0001`; a dash if undefined."""
    if value != value:
        return NONE
    if value >= TABLE_LARGE:
        return f"> {TABLE_LARGE:,}"
    return f"{value:.{digits}g}" if value > 1 / TABLE_LARGE else f"< {1 / TABLE_LARGE:.4f}"
