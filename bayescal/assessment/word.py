"""The report of an assessment as a Word document, to edit and to send to co-authors.

It has the tables of the page as Word tables, its figures as pictures, the methods and the items of
TRIPOD+AI. The page has more: parts that open, and all numbers for programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.html._about import data_table, tripod_table
from bayescal.assessment.html._figures import Drawn
from bayescal.assessment.html._render import (
    call_again,
    figures_of,
    first_screen,
    page_title,
    population_words,
    references_of,
    without_folders,
)
from bayescal.assessment.html.horizons import (
    call_of_horizons,
    figure_of_horizons,
    population_of_horizons,
)
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.tables import Tables
from bayescal.assessment.text.paper import methods
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.text.subgroups import subgroup_sentences
from bayescal.assessment.verdict import words
from bayescal.assessment.words import (
    alarms_of,
    c_statistic_words,
    decision_range_words,
    exactness,
    first_words,
)
from bayescal.core.errors import InputError
from bayescal.core.files import as_path, replacing
from bayescal.core.table import Line, Table
from bayescal.core.text import shortened
from bayescal.core.versions import needed

if TYPE_CHECKING:
    from docx.document import Document

    from bayescal.assessment.horizon_findings import HorizonFindings

__all__ = ["DOCUMENT", "check_document", "document", "write_horizons_word", "write_word"]

DOCUMENT = ".docx"
FIGURE_WIDTH = 6.0
"""Of figures, in inches, between the margins of a page."""
TABLE_STYLE = "Light List Accent 1"
TABLE_POINTS = 9
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no Word document can hold."""


def write_word(
    findings: Findings,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> None:
    """Write the report of an assessment as a Word document.

    It is written in full or not at all: an error leaves the former file as it was.

    Parameters
    ----------
    findings : Findings
        An `Assessment` is one.
    path : str or path-like
        Its name ends in .docx.
    title : str, optional
        Heading of the document. By default it is made of the source.
    source : mapping of str to object, optional
        Where the data came from, as for the page: see `bayescal.assessment.html.write`.

    Raises
    ------
    InputError
        If the name does not end in .docx, or python-docx is not installed.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> bc.assess(y_true, y_prob).to_word("report.docx")  # doctest: +SKIP
    """
    target = as_path(path)
    check_document(target)
    content = document(findings, title=title, source=source)
    with replacing(target) as file:
        file.write_bytes(content)


def check_document(path: Path, name: str = "path") -> None:
    """Refuse a name that says a Word document is something else, and say so if none can be made.

    Parameters
    ----------
    name : str
        What the user calls it.
    """
    if path.suffix.lower() != DOCUMENT:
        raise InputError(
            f"{name} {shortened(repr(str(path)))} does not end in {DOCUMENT}, and this report is a "
            "Word document. For a web page use to_html or --html; for a PDF print that page from a "
            "browser."
        )
    _new_document()


def document(
    f: Findings, *, title: str | None = None, source: Mapping[str, object] | None = None
) -> bytes:
    """The report as the content of a Word document; see `write_word`."""
    told = without_folders(source or {})
    page = _Page(_new_document())
    figures, tables = figures_of(f, told), Tables(f)
    alarms = alarms_of(f)
    page.heading(page_title(told, title), 0)
    page.text(population_words(f))
    page.heading("Check the scores first" if alarms else words.title(f), 1)
    for text in (*alarms, words.headline(f)):
        page.text(text, bold=True)
    for heading, text in first_screen(f, alarms).items():
        page.text(text, heading)
    page.figure(figures["reliability"])
    page.table(tables["first"])
    if "populations" in tables:
        page.heading("Whom it is true of", 1)
        page.table(tables["populations"])
    notes = [text for text in assessment_notes(f) if text not in first_words(f)]
    if notes:
        page.heading("Notes", 1)
        page.listed(notes)
    page.heading("All results", 1)
    for name in ("measures", "curve", "near"):
        page.table(tables[name])
    page.figure(figures["error"])
    page.text(words.of_draws(f))
    _essentials(page, f, tables, figures)
    page.heading("Should the model be updated?", 1)
    page.text(words.to_do(f))
    if f.recommendation.choice is not None:
        page.text(f.recommendation.rule)
        page.table(tables["updates"])
    _parts(page, f, tables, figures)
    page.heading("Is it exactly calibrated?", 1)
    page.text(exactness(f))
    page.heading("Methods", 1)
    page.text(methods(f))
    page.heading("TRIPOD+AI", 1)
    page.table(tripod_table(f, told))
    page.heading("Data and settings", 1)
    page.table(data_table(f, told))
    page.text(call_again(f), "Code for the same numbers")
    page.heading("References", 1)
    page.listed(f"{each.text} doi:{each.doi}" for each in references_of(f, notes))
    return page.content()


def write_horizons_word(
    a: HorizonFindings[Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> None:
    """Write the report of several horizons as a Word document; see `write_word`."""
    target, told = as_path(path), without_folders(source or {})
    check_document(target)
    last, page = a.at(a.horizons[-1]), _Page(_new_document())
    page.heading(page_title(told, title), 0)
    page.text(population_of_horizons(a))
    page.heading(a.title(), 1)
    for text in a.verdicts():
        page.text(text, bold=True)
    page.text(a.limit(), "The limit")
    page.figure(figure_of_horizons(a))
    page.table(a.tables["horizons"])
    if a.notes:
        page.heading("Notes", 1)
        page.listed(a.notes)
    page.heading("Follow-up", 1)
    for at in a.horizons:
        page.table(Tables(a.at(at))["followed"])
    page.heading("Methods", 1)
    page.text(a.methods())
    page.text(methods(last))
    page.text(call_of_horizons(a), "Code for the same numbers")
    page.heading("References", 1)
    page.listed(f"{each.text} doi:{each.doi}" for each in references_of(last, a.notes))
    content = page.content()
    with replacing(target) as file:
        file.write_bytes(content)


def _essentials(
    page: _Page, f: Findings, tables: Tables, figures: Mapping[str, Drawn | None]
) -> None:
    """The four essentials of STRATOS, of which the calibration plot is the first figure."""
    page.heading("The four essentials (STRATOS)", 1)
    page.text("The smoothed calibration plot is the first figure of this report.")
    page.text(c_statistic_words(f), "C-statistic")
    page.text(decision_range_words(f), "Net benefit")
    for name in ("benefit", "risks"):
        page.figure(figures[name])
    for name in ("classification", "essentials_groups", "essentials_levels"):
        if name in tables:
            page.table(tables[name])


def _parts(page: _Page, f: Findings, tables: Tables, figures: Mapping[str, Drawn | None]) -> None:
    """What only some assessments have: thresholds, estimators, follow-up, groups and subgroups."""
    sections: dict[str, tuple[tuple[str, ...], tuple[str, ...], list[str]]] = {
        "Is it useful for decisions?": ((), ("benefit", "lost", "information"), []),
        "Follow-up": ((), ("followed",), []),
        "Common estimators": ((), ("estimators",), []),
        "Group by group": (
            ("groups", "sites"),
            ("groups", "spread"),
            site_sentences(f) if f.data.groups else [],
        ),
        "Subgroups": (("subgroups",), ("levels", "combinations"), subgroup_sentences(f)),
    }
    for heading, (drawn, shown, sentences) in sections.items():
        known = [name for name in shown if name in tables]
        if not known:
            continue
        page.heading(heading, 1)
        for text in sentences:
            page.text(text)
        for name in drawn:
            page.figure(figures[name])
        for name in known:
            page.table(tables[name])


class _Page:
    """A Word document that is written from top to bottom."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def heading(self, text: str, level: int) -> None:
        self._document.add_heading(_clean(text), level)

    def text(self, text: str, heading: str = "", *, bold: bool = False) -> None:
        """A paragraph; with a heading, that first, in bold."""
        if not text:
            return
        paragraph = self._document.add_paragraph()
        if heading:
            paragraph.add_run(f"{_clean(heading)}. ").bold = True
        paragraph.add_run(_clean(text)).bold = bold

    def listed(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._document.add_paragraph(_clean(text), style="List Bullet")

    def figure(self, drawn: Drawn | None) -> None:
        """A picture, with its words for whoever cannot see it; nothing of None."""
        if drawn is None:
            return
        from docx.shared import Inches

        file = BytesIO()
        drawn.save(file)
        file.seek(0)
        picture = self._document.add_picture(file, width=Inches(FIGURE_WIDTH))
        described = picture._inline.docPr
        described.set("title", _clean(drawn.title))
        described.set("descr", _clean(drawn.words))
        self._document.add_paragraph(_clean(f"Figure: {drawn.title}."), style="Caption")

    def table(self, table: Table) -> None:
        """A table with its title above and its notes beneath."""
        shown = table.show("page")
        beginning = f". Each name begins with: {shown.omitted}" if shown.omitted else ""
        self._document.add_paragraph(_clean(table.title + beginning), style="Caption")
        rows = list(_with_sections(shown.lines))
        drawn = self._document.add_table(1 + len(rows), len(shown.heads), style=TABLE_STYLE)
        for row, cells in zip(drawn.rows, [shown.heads, *rows], strict=True):
            for at, (cell, text) in enumerate(zip(row.cells, cells, strict=False)):
                self._fill(cell, text, is_number=at > 0 and at not in shown.words)
        _repeat_heads(drawn)
        for note in table.notes:
            self.text(note)
        self._document.add_paragraph()

    @staticmethod
    def _fill(cell: Any, text: str, *, is_number: bool) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH
        from docx.shared import Pt

        paragraph = cell.paragraphs[0]
        paragraph.add_run(_clean(text)).font.size = Pt(TABLE_POINTS)
        if is_number:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT

    def content(self) -> bytes:
        """The file."""
        file = BytesIO()
        self._document.save(file)
        return file.getvalue()


def _with_sections(lines: Iterable[Line]) -> Iterable[tuple[str, ...]]:
    """Rows of a table as cells; the heading of a section is a row of its own."""
    section = ""
    for line in lines:
        if line.row.section != section:
            section = line.row.section
            yield (section,)
        hint = f"\n{line.row.hint}" if line.row.hint else ""
        yield (f"{line.label}{hint}", *line.cells)


def _repeat_heads(table: Any) -> None:
    """Let Word show the heads again where a table goes on over the page."""
    from docx.oxml import OxmlElement

    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))


def _clean(text: object) -> str:
    """Text without the characters that XML cannot hold; names from the data may have any."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _new_document() -> Document:
    with needed("writing Word documents", "bayescal[word]", "Or write the report as a web page."):
        import docx
    return docx.Document()
