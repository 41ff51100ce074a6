"""The Word document: it says what the assessment says, and any name can stand in it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bayescal as bc
from bayescal.assessment.text.paper import methods
from bayescal.errors import InputError

docx = pytest.importorskip("docx")

NAMES = ["no\x00rth\x1b", "<w:p>south & </w:p>", "west"]


@pytest.fixture(scope="module")
def grouped():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)
    groups = np.array(NAMES, dtype=object)[np.arange(240) % 3]
    options = {"estimators": ("ece",), "draws": 400, "random_state": 1}
    return bc.assess(y_true, y_prob, thresholds=[0.2], site=groups, **options)


@pytest.fixture(scope="module")
def written(grouped, tmp_path_factory):
    path = tmp_path_factory.mktemp("word") / "report.docx"
    source = {"File": "private/a.csv", "Rows read": 250, "Rows dropped": 10}
    grouped.to_word(path, title="A title\x07", source=source)
    return docx.Document(path)


def texts_of(table) -> list[list[str]]:
    return [[cell.text for cell in row.cells] for row in table.rows]


@pytest.mark.slow
def test_tables_are_those_of_the_assessment(grouped, written) -> None:
    drawn = [texts_of(table) for table in written.tables]
    heads = [rows[0] for rows in drawn]
    for name in ("first", "populations", "measures", "benefit", "groups", "classification"):
        shown = grouped.tables[name].show("page")
        rows = drawn[heads.index(list(shown.heads))]
        cells = [row[1:] for row in rows[1:] if any(row[1:])]
        assert cells == [list(line.cells) for line in shown.lines], name


def test_words_are_those_of_the_assessment(grouped, written) -> None:
    told = "\n".join(paragraph.text for paragraph in written.paragraphs)
    for text in (grouped.headline(), methods(grouped), str(grouped.recommendation)):
        assert text in told
    assert written.paragraphs[0].text == "A title\\x07"
    items = next(rows for rows in map(texts_of, written.tables) if rows[0][0] == "Item")
    assert [row[0].split("\n")[0] for row in items[1:3]] == ["10", "11"]
    flow = next(row[1] for row in items if row[0].startswith("20a"))
    assert "The file had 250 rows; 10 left out, because a value was missing." in flow
    assert "home" not in told


def test_figures_are_pictures_with_words_for_whoever_cannot_see_them(written) -> None:
    described = [shape._inline.docPr.get("descr") for shape in written.inline_shapes]
    assert len(described) == 6
    assert all(described)
    image = next(iter(written.part.package.image_parts)).blob
    assert image.startswith(b"\x89PNG")


def test_names_from_the_data_are_shown_as_they_are(written) -> None:
    cells = {text for table in written.tables for row in texts_of(table) for text in row}
    assert any("<w:p>south & </w:p>" in text for text in cells)


def test_another_ending_is_refused_before_anything_is_drawn(grouped, tmp_path) -> None:
    for name in ("report.doc", "report.html", "report"):
        with pytest.raises(InputError, match=r"\.docx"):
            grouped.to_word(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_the_library_an_error_says_what_to_install(grouped, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(InputError, match=r'pip install "bayescal\[word\]"'):
        grouped.to_word(tmp_path / "report.docx")


@pytest.mark.slow
def test_a_file_is_replaced_at_once_or_not_at_all(grouped, tmp_path, monkeypatch) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(b"before")
    monkeypatch.setattr("bayescal.assessment.word.tripod_table", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        grouped.to_word(path)
    assert path.read_bytes() == b"before"
