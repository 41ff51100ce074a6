"""Pages as files: HTML, Word, JSON and the first figure. They know `Page`, and nothing of results.

A file is written in full or not at all: an error leaves the former file as it was.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from itertools import count
from os import PathLike
from typing import Any

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.files import as_path, check_page, replacing
from bayescal.core.page import Block, Figure, Page, Section, unbroken
from bayescal.core.table import Line, Table
from bayescal.core.text import plain
from bayescal.report.figures import DOTS_PER_INCH, as_svg, save
from bayescal.report.word import check_document, word

# Of the element that carries the record.
RECORD_ID = "bayescal-record"
DOI = re.compile(r"doi:(10\.\S+[^\s.,;)])")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def json_of(page: Page) -> dict[str, Any]:
    """The record of a page with its sentences, in plain numbers: what is not finite is None."""
    told = {"title": page.title, "subject": page.subject, "answer": page.answer}
    return dict(_plain({**told, "notes": page.notes, **page.record}))


def write_html(page: Page, path: str | PathLike[str]) -> None:
    """Write a page as one HTML file that needs no network."""
    target = as_path(path)
    check_page(target)
    text = html(page)
    with replacing(target) as file:
        file.write_text(text, "utf-8")


def write_word(page: Page, path: str | PathLike[str]) -> None:
    """Write a page as a Word document; it needs python-docx, `pip install "bayescal[word]"`."""
    target = as_path(path)
    check_document(target)
    content = word(page)
    with replacing(target) as file:
        file.write_bytes(content)


def write_json(page: Page, path: str | PathLike[str]) -> None:
    """Write the record of a page, with its sentences."""
    text = json.dumps(json_of(page), allow_nan=False, indent=2) + "\n"
    with replacing(as_path(path)) as file:
        file.write_text(text, "utf-8")


def write_figure(page: Page, path: str | PathLike[str]) -> None:
    """Write the first figure of a page, in the format that the name of the file ends in."""
    if not page.figures:
        raise InputError("this result has no figure. Write it as HTML or JSON.")
    from matplotlib.backend_bases import FigureCanvasBase

    target, known = as_path(path), FigureCanvasBase.get_supported_filetypes()
    ending = target.suffix.lower().removeprefix(".")
    if ending not in known:
        raise InputError(
            f"path {plain(repr(str(target)))} must end in .{', .'.join(sorted(known))}, the "
            "formats that matplotlib writes."
        )
    with replacing(target) as file:
        save(page.figures[0], file, ending, dpi=DOTS_PER_INCH)


def _plain(value: Any) -> Any:
    """Numbers and names as JSON knows them; whole numbers without a fraction."""
    if isinstance(value, dict):
        return {plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return plain(value)
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(value) if isinstance(value, int | np.integer) else number


# HTML


def html(page: Page) -> str:
    """A page as one HTML file that needs nothing else, with its record; equal for equal pages.

    The first section stands beside the answer, with its figures to the right, so that both are on
    the first screen.
    """
    first, others = page.sections[:1], page.sections[1:]
    blocks = [block for section in first for block in section.blocks]
    figures = [block for block in blocks if isinstance(block, Figure)]
    beside = [block for block in blocks if not isinstance(block, Figure)]
    numbers, record = count(1), _embedded(json_of(page))
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
        f'</main><script type="application/json" id="{RECORD_ID}">{record}</script>',
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
            title = f"<strong>{_text(block.title)}.</strong>" if block.title else ""
            caption = " ".join(filter(None, (title, _text(block.caption))))
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


def _text(text: object) -> str:
    """Text that opens no tag, with signs on the line of their number and DOIs as links."""
    return DOI.sub(r'<a href="https://doi.org/\1">doi:\1</a>', escape(unbroken(str(text))))


def _embedded(record: Mapping[str, Any]) -> str:
    """A record as JSON that can stand in a page: no character of it opens a tag."""
    text = json.dumps(record, allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


@cache
def _style() -> str:
    return (files("bayescal.report") / "page.css").read_text("utf-8")
