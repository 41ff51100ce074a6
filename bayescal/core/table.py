"""One table of an assessment: rows of numbers, how each column shows them, and its renderers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal.core.text import Measured, card, chance, shortened, told_apart

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MEDIA",
    "NOT_TERMINAL",
    "Column",
    "Line",
    "Row",
    "Shown",
    "Table",
    "chances",
    "in_markdown",
    "measured",
    "rows_of",
]

# Of a table as text, in characters.
WIDEST_TABLE = 80
PAGE, TERMINAL, TEXT = "page", "terminal", "text"
# Where a table is read, the widest first.
MEDIA: tuple[str, ...] = (PAGE, TERMINAL, TEXT)
# Where there is room for more columns.
NOT_TERMINAL = (PAGE, TEXT)
# Characters of a name from the data, by itself and beneath the heading of a section.
LONGEST_LABELS = {PAGE: (80, 60), TERMINAL: (30, 14), TEXT: (23, 15)}
SHORTEST_LABEL = 8
# Before a number without a sign.
UNSIGNED = re.compile(r"(?<![\d.-])(?=\d)")
# Characters that Markdown or HTML in it could read as markup.
MARKUP = re.compile(r"([\\`*_\[\]<>|~&$])")


@dataclass(frozen=True)
class Row:
    """One row: its numbers by name, not rounded (NaN is not defined), and its words.

    `name` is that in a data frame and `label` its heading, which stands in a `section`. `hint` is
    shown beneath the heading, `caution` says why its interval may be too narrow, and `chosen` that
    it stands out.
    """

    name: str
    label: str
    values: Mapping[Any, Any]
    section: str = ""
    hint: str = ""
    caution: str = ""
    decimals: int = 3
    unit: str = ""
    chosen: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True)
class Column:
    """One column: its heading (`short` in terminals, if another), and the text of a row's cell.

    `media` says where there is room for it: some of "page", "terminal" and "text".
    """

    name: str
    head: str
    shown: Callable[[Row], str]
    short: str = ""
    media: tuple[str, ...] = MEDIA
    is_text: bool = False

    def heading(self, medium: str) -> str:
        """The heading for a medium."""
        return self.head if medium == PAGE else self.short or self.head


class Line(NamedTuple):
    """A row as text: its label, short enough for the medium, and its cells."""

    row: Row
    label: str
    cells: tuple[str, ...]


class Shown(NamedTuple):
    """A table as text, for one medium: headings (that of the labels first) and lines.

    `words` are the columns of words, and `omitted` is what all labels began with.
    """

    heads: tuple[str, ...]
    lines: list[Line]
    words: tuple[int, ...]
    omitted: str


@dataclass(frozen=True, repr=False)
class Table:
    """A table. Its numbers are as they were computed; the renderers round them.

    `short` is the heading of the labels in terminals, if another. Where `names_cases`, labels are
    names from the data, of any length. A table that `stacks` has its cells one beneath the other
    where the page is narrow.
    """

    name: str
    title: str
    head: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    short: str = ""
    notes: tuple[str, ...] = ()
    names_cases: bool = False
    stacks: bool = False

    def worded(self, reword: Callable[[str], str]) -> Table:
        """The table in other words; names from the data stay as they are."""
        columns = [
            replace(each, head=reword(each.head), short=reword(each.short)) for each in self.columns
        ]
        rows = [
            replace(
                row,
                label=row.label if self.names_cases else reword(row.label),
                section=row.section if self.names_cases else reword(row.section),
                hint=reword(row.hint),
                caution=reword(row.caution),
            )
            for row in self.rows
        ]
        title, head, short = map(reword, (self.title, self.head, self.short))
        made = replace(self, title=title, head=head, short=short)
        return replace(made, columns=columns, rows=rows, notes=tuple(map(reword, self.notes)))

    def show(self, medium: str = PAGE) -> Shown:
        """The table as text."""
        columns = [column for column in self.columns if medium in column.media]
        labels, omitted = self._labels(medium)
        lines = [
            Line(row, label, tuple(column.shown(row) for column in columns))
            for label, row in zip(labels, self.rows, strict=True)
        ]
        head = self.head if medium == PAGE else self.short or self.head
        words = tuple(k for k, column in enumerate(columns, 1) if column.is_text)
        return Shown(
            (head, *(column.heading(medium) for column in columns)),
            lines,
            words,
            shortened(omitted.strip()),
        )

    def lines(self) -> list[str]:
        """The table as plain text, in lines of at most 80 characters unless the cells are wider.

        Sections are named where the labels come from the data, which say little without them.
        """
        shown = self.show(TEXT)
        indent = "  " if self._has_factors else ""
        cells = [shown.heads[1:], *(line.cells for line in shown.lines)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        room = max(WIDEST_TABLE - sum(width + 2 for width in widths), SHORTEST_LABEL)
        labels = [shown.heads[0], *(f"{indent}{line.label}" for line in shown.lines)]
        first = min(max(map(len, labels)), room)

        def row(label: str, texts: Sequence[str]) -> list[str]:
            aligned = (
                f"{text:{'<' if column in shown.words else '>'}{width}s}"
                for column, (text, width) in enumerate(zip(texts, widths, strict=True), 1)
            )
            long = len(label) > first  # then it has a line of its own
            cells = "  ".join([f"{'' if long else label:{first}s}", *aligned]).rstrip()
            return [label, cells] if long else [cells]

        lines = row(shown.heads[0], shown.heads[1:])
        lines += [f"each name begins with: {shown.omitted}"] if shown.omitted else []
        section = ""
        for line in shown.lines:
            if self._has_factors and line.row.section != section:
                section = line.row.section
                lines.append(section)
            lines += row(f"{indent}{line.label}", line.cells)
            lines += [f"  {text}" for text in wrap(line.row.caution, WIDEST_TABLE - 4)]
        return [*lines, *(text for note in self.notes for text in wrap(note, WIDEST_TABLE - 2))]

    def texts(self) -> dict[str, dict[str, str]]:
        """What each cell shows, by the names of rows and columns."""
        return {
            row.name: {column.name: column.shown(row) for column in self.columns}
            for row in self.rows
        }

    def to_frame(self) -> pd.DataFrame:
        """The numbers, not rounded, with the names of rows as index."""
        import pandas as pd

        frame = pd.DataFrame(
            [dict(row.values) for row in self.rows],
            pd.Index([row.name for row in self.rows], name=self.head.lower()),
        )
        if any(row.unit for row in self.rows):
            frame["unit"] = [row.unit for row in self.rows]
        frame.attrs["title"] = self.title
        return frame

    def to_markdown(self) -> str:
        """The table as the page shows it, in Markdown; sections are rows of their own."""
        shown = self.show()

        def line(cells: Sequence[str]) -> str:
            return f"| {' | '.join(cells)} |"

        parts = [line(list(map(in_markdown, shown.heads)))]
        parts.append(line(["---"] + ["---:"] * (len(shown.heads) - 1)))
        section = ""
        for each in shown.lines:
            if each.row.section != section:
                section = each.row.section
                parts.append(line([f"**{in_markdown(section)}**", *[""] * len(each.cells)]))
            parts.append(line([in_markdown(text) for text in (each.label, *each.cells)]))
        return "\n".join(parts)

    def to_latex(self) -> str:
        """The table as the page shows it, in LaTeX, by pandas."""
        import pandas as pd

        shown = self.show()
        rows = [(each.label, *each.cells) for each in shown.lines]
        frame = pd.DataFrame(rows, columns=list(shown.heads))
        return str(frame.to_latex(index=False, escape=True, caption=self.title, label=self.name))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"{self.title}\n\n{self}"

    def _repr_html_(self) -> str:
        return self.beneath(self.title)

    def beneath(self, told: str) -> str:
        """The card of a result: sentences, and this table beneath them."""
        shown = self.show()
        rows = {
            f"{line.row.section}: {line.label}" if self._has_factors else line.label: line.cells
            for line in shown.lines
        }
        return card(told, shown.heads[1:], rows)

    @property
    def _has_factors(self) -> bool:
        """Whether sections say what the labels are of."""
        return self.names_cases and any(row.section for row in self.rows)

    def _labels(self, medium: str) -> tuple[list[str], str]:
        """Labels that fit the medium, no two of one section alike, and what was left out."""
        if not self.names_cases:
            return [row.label for row in self.rows], ""
        sections = dict.fromkeys(row.section for row in self.rows)
        longest = LONGEST_LABELS[medium][any(sections)]
        omitted, by_section = "", {}
        for section in sections:
            mine = (row.label for row in self.rows if row.section == section)
            by_section[section], omitted = told_apart(mine, longest)
        labels = [by_section[row.section][row.label] for row in self.rows]
        return labels, "" if any(sections) else omitted


def measured(
    name: str,
    head: str,
    keys: tuple[str, str, str] = ("estimate", "lower", "upper"),
    *,
    apart: float | None = None,
    signed: bool = False,
    **options: Any,
) -> Column:
    """An estimate and its interval, to the decimals that the interval deserves."""

    def shown(row: Row) -> str:
        numbers = Measured(*[float(row[key]) for key in keys])
        if math.isnan(numbers.estimate):
            return "not defined"
        told = numbers.told(apart)
        return UNSIGNED.sub("+", told) if signed else told

    return Column(name, head, shown, **options)


def chances(name: str, head: str, **options: Any) -> Column:
    """A probability; nothing where it is not known."""

    def shown(row: Row) -> str:
        value = float(row[name])
        return "" if math.isnan(value) else chance(value)

    return Column(name, head, shown, **options)


def rows_of(frame: pd.DataFrame, labels: Mapping[Any, str] | None = None) -> list[Row]:
    """The rows of a data frame, called by their index or as `labels` says."""
    told = labels or {}
    return [
        Row(str(name), told.get(name, str(name)), {str(key): value for key, value in row.items()})
        for name, row in frame.iterrows()
    ]


def in_markdown(text: str) -> str:
    """Text for a cell of a table in Markdown, which shows as it is."""
    return MARKUP.sub(r"\\\1", text)
