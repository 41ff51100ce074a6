"""A page as a Word document, to edit and to send to co-authors: an answer, and an appendix."""

from __future__ import annotations

import io
import locale
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.core.errors import InputError
from bayescal.core.page import Block, Figure, Page
from bayescal.core.table import Line, Table
from bayescal.core.text import shortened
from bayescal.core.versions import needed
from bayescal.report.figures import as_png

if TYPE_CHECKING:
    from docx.document import Document


DOCUMENT = ".docx"
# Width and height of a page in inches.
US_LETTER, A4 = (8.5, 11.0), (8.27, 11.69)
# Countries whose printers hold Letter, as names of locales end.
OF_LETTER = ("US", "CA", "MX", "PH", "CL", "CO", "VE", "United States", "Canada", "Mexico")
PAGE_MARGIN = 0.8
# The most that a figure takes, so that answer, figure and table fit on two pages.
FIGURE_WIDTH, FIGURE_HEIGHT = 4.9, 4.3
# Of the text in tables, and the least where they are wide.
POINTS, SMALLEST = 9.0, 7.0
# Width of a digit or letter in its size of type (Calibri: .51; of the fonts that replace it up to
# .6), and of a cell's margins in inches.
CHARACTER, PADDING = 0.6, 0.17
# Of a column of words, however wide the others are.
FEWEST_CHARACTERS = 12
# Characters that no Word document can hold.
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def check_document(path: Path, name: str = "path") -> None:
    """Refuse a name that says a Word document is something else, and say so if none can be made."""
    if path.suffix.lower() != DOCUMENT:
        raise InputError(
            f"{name} {shortened(repr(str(path)))} does not end in {DOCUMENT}, and this report is a "
            "Word document. For a web page use to_html or --html; for a PDF print that page from a "
            "browser."
        )
    _new_document()


def word(page: Page) -> bytes:
    """The content of a Word document: the answer first, what is folded elsewhere in an appendix."""
    written = _Written(_new_document())
    written.heading(page.title, 0)
    written.text(page.subject)
    for index, text in enumerate(page.answer):
        written.text(text, bold=index == 0)
    for index, section in enumerate(part for part in page.sections if not part.appendix):
        if index:  # the first stands with the answer
            written.heading(section.title, 1)
        written.blocks(section.blocks)
    if page.notes:
        written.heading("Notes", 1)
        written.listed(page.notes)
    appendix = [section for section in page.sections if section.appendix]
    if appendix:
        written.new_page()
        written.heading("Appendix", 1)
    for section in appendix:
        written.heading(section.title, 2)
        written.blocks(section.blocks)
    return written.content()


class _Written:
    """A document that is written from top to bottom."""

    def __init__(self, document: Any) -> None:
        from docx.shared import Inches, Pt

        self._document = document
        width, height = paper()
        section = document.sections[0]
        section.page_width, section.page_height = Inches(width), Inches(height)
        for side in ("left", "right", "top", "bottom"):
            setattr(section, f"{side}_margin", Inches(PAGE_MARGIN))
        self._width = width - 2 * PAGE_MARGIN
        normal: Any = document.styles["Normal"]
        normal.font.size, normal.paragraph_format.space_after = Pt(10.5), Pt(4)

    def heading(self, text: str, level: int) -> None:
        self._document.add_heading(_clean(text), level)

    def text(self, text: str, *, bold: bool = False) -> None:
        if text:
            self._document.add_paragraph().add_run(_clean(text)).bold = bold

    def listed(self, texts: Iterable[str]) -> None:
        for text in texts:
            self._document.add_paragraph(_clean(text), style="List Bullet")

    def new_page(self) -> None:
        self._document.add_page_break()

    def blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                self.table(block)
            elif isinstance(block, Figure):
                self.figure(block)
            else:
                self.text(block)

    def figure(self, figure: Figure) -> None:
        """A picture, with its words for whoever cannot see it, and its caption on the same page."""
        from docx.shared import Inches

        paragraph = self._document.add_paragraph()
        paragraph.paragraph_format.keep_with_next = True
        picture = paragraph.add_run().add_picture(io.BytesIO(as_png(figure)))
        shrunk = min(Inches(FIGURE_WIDTH) / picture.width, Inches(FIGURE_HEIGHT) / picture.height)
        picture.width = Inches(shrunk * picture.width.inches)
        picture.height = Inches(shrunk * picture.height.inches)
        described = picture._inline.docPr
        described.set("title", _clean(figure.title))
        described.set("descr", _clean(figure.alt or figure.title))
        told = " ".join(text for text in (f"{figure.title}.", figure.caption) if text)
        self._document.add_paragraph(_clean(f"Figure. {told}"), style="Caption")

    def table(self, table: Table) -> None:
        """A table with its title above, which stays with it, and its notes beneath."""
        from docx.shared import Pt

        shown = table.show("page")
        beginning = f". Each name begins with: {shown.omitted}" if shown.omitted else ""
        title = self._document.add_paragraph(_clean(table.title + beginning), style="Caption")
        title.paragraph_format.keep_with_next = True
        rows = list(_with_sections(shown.lines))
        points, widths = fitted([shown.heads, *rows], shown.words, self._width)
        made = self._document.add_table(1 + len(rows), len(shown.heads))
        made.style, made.autofit = "Table Grid", False
        for column, width in zip(made.columns, widths, strict=True):
            column.width = Pt(72 * width)
        for number, (row, cells) in enumerate(zip(made.rows, [shown.heads, *rows], strict=True)):
            _mark(row, "w:cantSplit")
            if len(cells) == 1 < len(widths):
                row.cells[0].merge(row.cells[-1])
            for at, text in enumerate(cells):
                row.cells[at].width = Pt(72 * (sum(widths) if len(cells) == 1 else widths[at]))
                is_number = at > 0 and at not in shown.words
                strong = number == 0 or len(cells) == 1
                self._fill(row.cells[at], text, points, is_number=is_number, strong=strong)
        _mark(made.rows[0], "w:tblHeader")
        _mark_first(made)
        for note in table.notes:
            self.text(note)
        self._document.add_paragraph().paragraph_format.space_after = Pt(0)

    @staticmethod
    def _fill(cell: Any, text: str, points: float, *, is_number: bool, strong: bool) -> None:
        from docx.enum.text import WD_ALIGN_PARAGRAPH
        from docx.shared import Pt

        paragraph = cell.paragraphs[0]
        paragraph.paragraph_format.space_after = Pt(0)
        shown = text.replace(" ", "\xa0") if is_number and not strong else text
        run = paragraph.add_run(_clean(shown))
        run.font.size, run.bold = Pt(points), strong
        if is_number:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT

    def content(self) -> bytes:
        """The file."""
        file = io.BytesIO()
        self._document.save(file)
        return file.getvalue()


def paper() -> tuple[float, float]:
    """Width and height of the paper that the user's country prints on, in inches."""
    told = (os.environ.get(name) for name in ("LC_ALL", "LC_PAPER", "LANG"))
    named = next(filter(None, told), locale.getlocale()[0] or "")
    country = named.partition(".")[0].rpartition("_")[2]
    return US_LETTER if country in OF_LETTER else A4


def fitted(
    rows: Iterable[tuple[str, ...]], words: tuple[int, ...], width: float
) -> tuple[float, list[float]]:
    """Size of type in points, and widths of columns in inches, so that no number is broken.

    Numbers take the room of their longest cell; heads may break between words. Labels and columns
    of words share what is left, as far as they need it.
    """
    lines = [cells for cells in rows if len(cells) > 1]
    heads, *body = lines
    needs = []
    for at, head in enumerate(heads):
        longest = max((len(part) for cells in body for part in cells[at].split("\n")), default=0)
        if at == 0 or at in words:
            needs.append(max(longest, len(head), 1))
        else:
            needs.append(
                max(longest, *(len(word) + 1 for word in head.split()), 1)
            )  # they are bold
    free = [at for at in range(len(heads)) if at == 0 or at in words]
    points = POINTS
    while True:
        one = CHARACTER * points / 72
        fixed = sum(one * need + PADDING for at, need in enumerate(needs) if at not in free)
        least = len(free) * (one * FEWEST_CHARACTERS + PADDING)
        if fixed + least <= width or points <= SMALLEST:
            break
        points -= 0.5
    asked = {at: one * needs[at] + PADDING for at in free}
    left = max(width - fixed, least)
    if sum(asked.values()) > left:  # the shorter columns keep what they ask for
        for rest, at in zip(
            range(len(free), 0, -1), sorted(free, key=asked.__getitem__), strict=True
        ):
            asked[at] = min(asked[at], left / rest)
            left -= asked[at]
    return points, [
        asked[at] if at in asked else one * need + PADDING for at, need in enumerate(needs)
    ]


def _with_sections(lines: Iterable[Line]) -> Iterator[tuple[str, ...]]:
    """Rows of a table as cells; the heading of a section is a row of its own."""
    section = ""
    for line in lines:
        if line.row.section != section:
            section = line.row.section
            yield (section,)
        caution = f"\n{line.row.caution}" if line.row.caution else ""
        yield (f"{line.label}{caution}", *line.cells)


def _mark(row: Any, name: str) -> None:
    """Tell Word of a row: not to part it, or to show it again on the next page."""
    from docx.oxml import OxmlElement

    row._tr.get_or_add_trPr().append(OxmlElement(name))


def _mark_first(table: Any) -> None:
    """Keep the heads with the first rows."""
    for row in table.rows[:2]:
        for cell in row.cells:
            cell.paragraphs[0].paragraph_format.keep_with_next = True


def _clean(text: object) -> str:
    """Text without the characters that XML cannot hold; names from the data may have any."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _new_document() -> Document:
    with needed("writing Word documents", "bayescal[word]", "Or write the report as a web page."):
        import docx
    return docx.Document()
