"""One table object: numbers as they were computed, and renderers that show the same cells."""

import math
from html import escape

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.core.table import Column, Row, Table
from bayescal.posterior.intervals import summary_rows
from bayescal.report.render import html
from bayescal.report.tables import counts, fixed, intervals, summarised, texts

LONG = "a hospital whose name is longer than any line of a terminal, ward "
COLUMNS = (
    counts("n", "Cases"),
    summarised("x", "An error", "{}", short="Error"),
    fixed("p", "P | value", media=("page",)),
    texts("note", "Note", media=("terminal", "text")),
)


def row(name, x, **options):
    ends = {"x_lower": x - 0.05, "x_upper": x + 0.05}
    values = {"n": 1200, "x": x, **ends, "p": 0.12345, "note": "n"}
    return Row(name, options.pop("label", name), values, **options)


def table(**options):
    rows = [row("a", 0.123456), row("b", math.nan, label="b_%")]
    return Table("toy", "A title", "Name", COLUMNS, options.pop("rows", rows), **options)


def test_the_frame_has_numbers_that_are_not_rounded():
    frame = table().to_frame()
    assert frame.index.tolist() == ["a", "b"]
    assert frame.index.name == "name"
    assert frame.loc["a", "x"] == 0.123456
    assert frame["p"].tolist() == [0.12345, 0.12345]
    assert frame.attrs["title"] == "A title"
    assert "unit" not in frame
    assert table(rows=[row("a", 1.0, unit="ratio")]).to_frame()["unit"].item() == "ratio"


def test_a_medium_has_its_columns_and_headings():
    page, terminal = table().show("page"), table().show("terminal")
    assert page.heads == ("Name", "Cases", "An error", "P | value")
    assert terminal.heads == ("Name", "Cases", "Error", "Note")
    assert page.words == ()
    assert terminal.words == (3,)
    assert page.lines[0].cells == ("1,200", "0.12 (0.07 to 0.17)", "0.123")
    assert page.lines[1].cells == ("1,200", "not defined", "0.123")
    assert table().texts()["a"] == {
        "n": "1,200", "x": "0.12 (0.07 to 0.17)", "p": "0.123", "note": "n",
    }  # fmt: skip


def test_text_is_aligned_and_ends_without_spaces():
    lines = str(table()).splitlines()
    assert lines == [
        "Name  Cases                Error  Note",
        "a     1,200  0.12 (0.07 to 0.17)  n",
        "b_%   1,200          not defined  n",
    ]


def test_notes_stand_beneath_the_table():
    noted = table(notes=("A note of several words. " * 6,))
    assert noted.lines()[:-2] == table().lines()
    assert max(map(len, noted.lines())) <= 78
    assert " ".join(noted.lines()[-2:]).startswith("A note of several words. A note")


def test_a_label_of_two_factors_is_shown_twice():
    rows = [row("a: yes", 0.1, label="yes", section="a"), row("b", 0.1, label="yes", section="b")]
    shown = table(rows=rows, names_cases=True)._repr_html_()
    assert "a: yes" in shown
    assert "b: yes" in shown


def test_names_from_the_data_fit_and_stay_apart():
    rows = [row(f"{LONG}{k}", 0.1) for k in (1, 2)]
    named = table(rows=rows, names_cases=True)
    for medium, longest in (("page", 80), ("terminal", 30), ("text", 23)):
        labels = [line.label for line in named.show(medium).lines]
        assert len(set(labels)) == 2
        assert max(map(len, labels)) <= longest
    assert all(len(line) <= 80 for line in str(named).splitlines()[2:])
    assert named.to_frame().index[0] == f"{LONG}1"


def test_sections_are_named_where_labels_come_from_the_data():
    rows = [row("a", 0.1, section="one"), row("b", 0.1, section="two")]
    assert [line.split()[0] for line in str(table(rows=rows)).splitlines()] == ["Name", "a", "b"]
    named = str(table(rows=rows, names_cases=True)).splitlines()
    assert [line.split()[0] for line in named] == ["Name", "one", "a", "two", "b"]
    assert named[2].startswith("  a")


def test_markdown_and_latex_escape_what_is_markup():
    lines = table().to_markdown().splitlines()
    assert lines[0] == "| Name | Cases | An error | P \\| value |"
    assert lines[-1] == "| b\\_% | 1,200 | not defined | 0.123 |"
    latex = table().to_latex()
    assert "b\\_\\%" in latex
    assert "\\caption{A title}" in latex


def test_a_row_of_no_interval_says_why():
    cells = Row("a", "a", {"lower": math.nan, "upper": math.nan, "why": "all scores are equal"})
    assert intervals("95 % interval").shown(cells) == "all scores are equal"


@pytest.fixture(scope="module")
def a():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    patients = pd.DataFrame({"sex": np.resize(["F", "M"], 200), "old": np.resize([0, 1, 1], 200)})
    return bc.assess(
        y, s, subgroup=patients, thresholds=[0.2], estimators=("ece",), draws=400, random_state=1
    )


@pytest.mark.slow
def test_every_table_of_an_assessment_has_all_renderers(a):
    page = html(a.page())
    for name, one in a.tables.items():
        assert one.name == name
        assert len(one.to_frame()) == len(one.rows) == len(one.show().lines) > 0
        assert max(map(len, str(one).splitlines())) <= 80
        assert one.to_markdown().count("\n") > len(one.rows)
        assert one.title in repr(one)
        assert "<table" in one._repr_html_()
        assert f"<caption>{one.title}" in page.replace("\xa0", " ")
        for line in one.show().lines:
            assert all(f">{escape(cell)}</td>" in page.replace("\xa0", " ") for cell in line.cells)


def test_numbers_of_tables_are_those_of_the_facts(a):
    f = a.facts
    frame = a.tables["measures"].to_frame()
    for column in ("estimate", "lower", "upper"):
        known = pd.concat([f.table[column], f.performance[column]])
        assert frame[column].to_dict() == known.to_dict()
    assert a.tables["levels"].to_frame()["tce"].tolist() == f.by_subgroup["tce"].tolist()[:4]
    first = a.tables["first"].to_frame()
    assert first.loc["error", "estimate"] == f.error["estimate"]
    assert a.tables["benefit"].to_frame().loc["0.2", "estimate"] == f.net_benefit["estimate"].item()


def test_tables_are_those_that_the_data_define(a):
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    alone = bc.assess(y, s, draws=400, random_state=1).tables
    assert set(a.tables) - set(alone) == {
        *("benefit", "lost", "levels", "combinations", "populations")
    }
    assert set(alone) - set(a.tables) == {"families"}
    assert "groups" not in alone
    with pytest.raises(KeyError):
        alone["groups"]


def test_a_column_may_be_any_function_of_its_row():
    column = Column("twice", "Twice", lambda each: f"{2 * each['n']}")
    assert table(rows=[row("a", 0.1)]).texts().keys() == {"a"}
    assert column.shown(row("a", 0.1)) == "2400"
    assert column.heading("text") == "Twice"


@pytest.mark.parametrize("name", ["observed_expected", "calibration_slope"])
def test_an_interval_that_excludes_the_ideal_value_shows_it(name):
    """Everywhere: in a cell of groups and on a card."""
    ends = {"estimate": 0.93, "lower": 0.862, "upper": 0.9971}
    summary = pd.DataFrame({name: ends}).T
    summary.attrs |= {"undefined": {}, "cautions": {}}
    cell = Row("a", "a", {f"{name}_{end}": value for end, value in ends.items()})
    assert summarised(name, name).shown(cell) == "0.930 (0.862 to 0.997)"
    (card,) = summary_rows(summary).values()
    assert card == ("0.930", "0.862 to 0.997")


def test_an_assessment_without_estimators_has_no_rows_of_them():
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    without = bc.assess(y, s, draws=400, estimators=(), random_state=1)
    assert without.tables["estimators"].rows == []
    assert str(without)
