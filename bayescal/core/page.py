"""What a result tells a person: an answer, then sections of sentences, tables and figures.

Every result makes one `Page` by its method `page()`; the renderers (terminal, HTML, Word, JSON)
know pages and nothing of results. So a number stands in one place, and no medium has its own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Any

from bayescal.core.table import Table

__all__ = ["Figure", "Page", "Section", "unbroken", "wrapped"]

LINE_WIDTH = 78
# A blank between a number and its sign.
WITHIN_NUMBER = re.compile(r" (?=%)|(?<=[<>]) (?=0)")


@dataclass(frozen=True)
class Figure:
    """A figure, not drawn yet: the name of a function of `bayescal.plots`, and what it draws.

    `worded` makes of its texts those of the page, such as "answers" of "cases".
    """

    name: str
    of: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    caption: str = ""
    alt: str = ""
    worded: Callable[[str], str] = str


# A paragraph, a table or a figure.
Block = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """What stands under one heading.

    An `appendix` is folded on the page, behind the second page in Word, and not in the terminal. A
    `verbatim` one stays as it is where the page has other words: publications and code.
    """

    title: str
    blocks: tuple[Block, ...]
    appendix: bool = False
    verbatim: bool = False


@dataclass(frozen=True, repr=False)
class Page:
    """An answer, and what it rests on.

    The first sentence of `answer` has at most 20 words and two numbers with their intervals, and
    nothing below contradicts it. `notes` limit the answer; `record` has all numbers, not rounded,
    with what is needed to compute them again: what JSON holds. `tone` is "good", "bad" or "open".
    """

    title: str
    subject: str
    answer: tuple[str, ...]
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    tone: str = "open"

    def __repr__(self) -> str:
        """For a terminal of 80 columns: no figures, no appendix."""
        parts = [[self.subject], wrapped(*self.answer)]
        for section in self.sections:
            for block in () if section.appendix else section.blocks:
                if isinstance(block, Table):
                    parts.append(block.lines())
                elif isinstance(block, str):
                    parts.append(wrapped(block))
        parts.append(wrapped(*map("Note: {}".format, self.notes)))
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    def worded(self, reword: Callable[[str], str]) -> Page:
        """The page in other words: of predictions, or of answers, where others speak of cases."""

        def block(each: Block) -> Block:
            if isinstance(each, str):
                return reword(each)
            if isinstance(each, Table):
                return each.worded(reword)
            told: dict[str, Any] = {
                name: reword(getattr(each, name)) for name in ("title", "caption", "alt")
            }
            return replace(each, **told, worded=reword)

        return replace(
            self,
            subject=reword(self.subject),
            answer=tuple(map(reword, self.answer)),
            sections=tuple(
                each
                if each.verbatim
                else replace(each, title=reword(each.title), blocks=tuple(map(block, each.blocks)))
                for each in self.sections
            ),
            notes=tuple(map(reword, self.notes)),
        )

    @property
    def figures(self) -> list[Figure]:
        """All figures, the first first."""
        return [
            block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figure)
        ]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by their names."""
        return {
            block.name: block
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Table)
        }


def unbroken(text: str) -> str:
    """Text in which `> 0.99` and `95 %` each stay on one line."""
    return WITHIN_NUMBER.sub("\xa0", text)


def wrapped(*texts: str) -> list[str]:
    """Lines of paragraphs for a terminal."""
    lines = [line for text in texts for line in wrap(unbroken(text), LINE_WIDTH)]
    return [line.replace("\xa0", " ") for line in lines]
