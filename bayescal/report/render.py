"""Pages as files: HTML, Word, JSON and the first figure. They know `Page`, and nothing of results.

A file is written in full or not at all: an error leaves the former file as it was.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import Any

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.files import as_path, check_page, replacing
from bayescal.core.page import Page
from bayescal.core.text import plain
from bayescal.report import web
from bayescal.report.figures import as_svg, drawn, plain_colours
from bayescal.report.word import check_document, word

__all__ = [
    "as_svg",
    "html",
    "json_of",
    "plain_colours",
    "write_figure",
    "write_html",
    "write_json",
    "write_word",
]


def html(page: Page) -> str:
    """A page as HTML; equal for equal pages."""
    return web.html(page, json_of(page))


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
    target = as_path(path)
    with drawn(page.figures[0]) as drawing:
        known = drawing.canvas.get_supported_filetypes()
        ending = target.suffix.lower().removeprefix(".")
        if ending not in known:
            raise InputError(
                f"path {plain(repr(str(target)))} must end in .{', .'.join(sorted(known))}, the "
                "formats that matplotlib writes."
            )
        with replacing(target) as file:
            drawing.savefig(file, dpi=200)


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
