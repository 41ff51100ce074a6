"""What a command answers: the page of a result, with the file that it is of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bayescal.cli.options import as_typed
from bayescal.core.page import Page, Section

__all__ = ["Answer"]


def _nothing() -> Iterable[Path]:
    return ()


@dataclass(frozen=True)
class Answer:
    """A result, and what was read for it.

    Attributes
    ----------
    result : object
        It has a page.
    title : str
        Of the page.
    source : mapping of str to object
        What was read, for the record.
    notes : tuple of str
        What the command adds to those of the page.
    finish : callable
        Writes what is no page, once all else is written, and says which files these are.
    of_page : mapping of str to object
        Options of the page of the result.
    """

    result: Any
    title: str
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    finish: Callable[[], Iterable[Path]] = _nothing
    of_page: Mapping[str, Any] = field(default_factory=dict)

    def page(self) -> Page:
        """The page of the result, with where the data came from."""
        page: Page = self.result.page(**self.of_page)
        lines = [f"{_called(name)}: {value}." for name, value in self.source.items() if value]
        source = Section("Data", (" ".join(lines),), appendix=True)
        notes = tuple(map(as_typed, (*page.notes, *self.notes)))
        return replace(
            page,
            title=self.title,
            sections=(*page.sections, source),
            notes=notes,
            record={**page.record, "notes": notes, "source": dict(self.source)},
        )


def _called(name: str) -> str:
    """A key of the source in words."""
    return name.replace("_", " ").capitalize()
