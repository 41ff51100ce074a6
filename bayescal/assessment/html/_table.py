"""A table as text, ready for the page."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Row", "Table"]


class Row(NamedTuple):
    """One row.

    Attributes
    ----------
    label : str
        Its heading.
    cells : tuple of str
        Empty for a heading of the rows beneath it.
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
    stacks : bool
        Whether its cells stand one beneath the other where the page is narrow.
    """

    key: str
    caption: str
    heads: tuple[str, ...]
    rows: list[Row]
    words: tuple[int, ...] = ()
    stacks: bool = False
