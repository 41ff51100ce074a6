"""What a notebook shows of a result: a title, a few lines and a table, as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["card"]

_CELL = "padding:.2em .8em .2em 0;text-align:{};border:none;vertical-align:top"


def card(
    text: str, columns: Sequence[str] = (), rows: Mapping[str, Sequence[str]] | None = None
) -> str:
    """HTML of a result for the last line of a cell, readable on light and dark pages.

    Parameters
    ----------
    text : str
        Its first line is the title.
    columns : sequence of str
        Titles of the table's columns.
    rows : mapping of str to sequence of str, optional
        By label, a value for each column.
    """
    title, *lines = text.splitlines()
    parts = [f'<div style="font-weight:600">{escape(title)}</div>']
    parts += [f"<div>{escape(line.strip())}</div>" for line in lines]
    if rows:
        head = _row("th", ["", *columns])
        body = "".join(_row("td", [label, *values]) for label, values in rows.items())
        parts.append(
            '<table style="border-collapse:collapse;margin-top:.5em">'
            f"<thead>{head}</thead><tbody>{body}</tbody></table>"
        )
    return f'<div style="max-width:46em;line-height:1.45">{"".join(parts)}</div>'


def _row(tag: str, values: Sequence[str]) -> str:
    """One row: its label to the left, numbers to the right."""
    cells = [
        f'<{tag} style="{_CELL.format("right" if column else "left")}">{escape(value)}</{tag}>'
        for column, value in enumerate(values)
    ]
    return f"<tr>{''.join(cells)}</tr>"
