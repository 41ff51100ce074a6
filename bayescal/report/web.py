"""A page as one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any

from bayescal.core.page import Block, Figure, Page, Section
from bayescal.core.table import Line, Table
from bayescal.report.figures import as_svg

__all__ = ["RECORD_ID", "html"]

# Of the element that carries the record.
RECORD_ID = "bayescal-record"
# What must not be parted at the end of a line, and how it is kept together.
UNBROKEN = {" %": "\xa0%", "> 0": ">\xa00", "< 0": "<\xa00"}
DOI = re.compile(r"doi:(10\.\S+[^\s.,;)])")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html(page: Page, record: Mapping[str, Any]) -> str:
    """A page as text; equal for equal pages.

    The first section stands beside the answer, with its figures to the right, so that both are on
    the first screen.

    Parameters
    ----------
    record : mapping of str to object
        What programs read back: plain numbers and names.
    """
    first, others = page.sections[:1], page.sections[1:]
    blocks = [block for section in first for block in section.blocks]
    figures = [block for block in blocks if isinstance(block, Figure)]
    beside = [block for block in blocks if not isinstance(block, Figure)]
    numbers = count(1)
    headline, *more = page.answer or ("",)
    columns = "first" if figures else "first alone"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(page.title)}</title><style>{_style()}</style></head><body>",
        f"<header><h1>{_text(page.title)}</h1><p>{_text(page.subject)}</p></header><main>",
        f'<div class="{columns}"><div class="answer {page.tone}">',
        f'<p class="headline">{_text(headline)}</p>{_paragraphs(more)}</div>',
        f'<div class="says">{_all(beside, numbers)}</div>' if beside else "",
        f'<div class="seen">{_all(figures, numbers)}</div>' if figures else "",
        "</div>",
        _notes(page.notes),
        *(_section(section, numbers) for section in others),
        f'</main><script type="application/json" id="{RECORD_ID}">{_embedded(record)}</script>',
        "</body></html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _section(section: Section, numbers: Iterator[int]) -> str:
    """A heading and what stands under it; an appendix is folded."""
    title, blocks = _text(section.title), _all(section.blocks, numbers)
    if section.appendix:
        return f"<details><summary>{title}</summary>{blocks}</details>"
    return f"<section><h2>{title}</h2>{blocks}</section>"


def _all(blocks: Iterable[Block], numbers: Iterator[int]) -> str:
    shown = []
    for block in blocks:
        if isinstance(block, Table):
            shown.append(_table(block))
        elif isinstance(block, Figure):
            caption = " ".join(
                text for text in (_strong(block.title), _text(block.caption)) if text
            )
            drawing = as_svg(block, f"figure-{next(numbers)}")
            shown.append(f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>")
        else:
            shown.append(_paragraphs([block]))
    return "\n".join(shown)


def _table(table: Table) -> str:
    """A table; where the page is narrow its cells may stand one beneath the other."""
    shown = table.show("page")
    beginning = f". Each name begins with: {shown.omitted}" if shown.omitted else ""
    heads = "".join(
        f'<th scope="col"{_words(k in shown.words)}>{_text(head)}</th>'
        for k, head in enumerate(shown.heads)
    )
    rows, section = [], ""
    for line in shown.lines:
        if line.row.section != section:
            section = line.row.section
            wide = f'colspan="{len(shown.heads)}" scope="rowgroup"'
            rows.append(f'<tr class="section"><th {wide}>{_text(section)}</th></tr>')
        rows.append(_row(line, shown.heads, shown.words))
    return (
        f'<div class="scroll"><table class="of-{table.name}{" stacks" if table.stacks else ""}">'
        f"<caption>{_text(table.title + beginning)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{_paragraphs(table.notes, 'small')}"
    )


def _row(line: Line, heads: tuple[str, ...], words: tuple[int, ...]) -> str:
    hints = "".join(
        f"<small>{_text(text)}</small>" for text in (line.row.hint, line.row.caution) if text
    )
    cells = "".join(
        f'<td{_words(k in words)} data-head="{_text(heads[k])}">{_text(text)}</td>'
        for k, text in enumerate(line.cells, 1)
    )
    chosen = ' class="chosen"' if line.row.chosen else ""
    return f'<tr{chosen}><th scope="row">{_text(line.label)}{hints}</th>{cells}</tr>'


def _words(is_text: bool) -> str:
    return ' class="words"' if is_text else ""


def _paragraphs(texts: Iterable[str], kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return "".join(f"<p{named}>{_text(text)}</p>" for text in texts)


def _notes(notes: Iterable[str]) -> str:
    listed = "".join(f"<li>{_text(text)}</li>" for text in notes)
    return f'<section class="notes"><h2>Notes</h2><ul>{listed}</ul></section>' if listed else ""


def _strong(text: str) -> str:
    return f"<strong>{_text(text)}.</strong>" if text else ""


def _text(text: object) -> str:
    """Text that opens no tag, with signs on the line of their number and DOIs as links."""
    shown = str(text)
    for apart, together in UNBROKEN.items():
        shown = shown.replace(apart, together)
    return DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', escape(shown))


def _embedded(record: Mapping[str, Any]) -> str:
    """A record as JSON that can stand in a page: no character of it opens a tag."""
    text = json.dumps(record, allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


@cache
def _style() -> str:
    return (files("bayescal.report") / "page.css").read_text("utf-8")
