"""Pages as files: HTML that is safe and self-contained, Word that fits its page, JSON, a figure."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files
from zipfile import ZipFile

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table
from bayescal.errors import InputError
from bayescal.report import render
from bayescal.report.figures import as_png
from bayescal.report.word import A4, US_LETTER, fitted, paper

VOID = {"br", "col", "hr", "img", "input", "link", "meta"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "$\\frac{",
    "\u202egnp.exe\x1b[31m",
    "x" * 5000,
]


class Parsed(HTMLParser):
    """A page taken apart; reading it fails where tags do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tags = []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def table(**options):
    column = Column("x", "Estimate (95 % CrI)", lambda row: row["x"])
    rows = [Row(f"{k}", f"{HOSTILE[0]} {k}", {"x": "0.75 (0.64 to 0.84)"}) for k in range(4)]
    return Table("toy", "A title", "Measure", (column,), rows, **options)


@pytest.fixture(scope="module")
def post():
    return bc.fit(*bc.simulate.sample("calibrated", 150, random_state=1), draws=400, random_state=1)


@pytest.fixture(scope="module")
def page(post):
    figure = Figure("reliability", post, {}, "A curve", "Its caption.", HOSTILE[1])
    return Page(
        HOSTILE[0],
        "12 cases > 0.99, 95 % of them",
        ("First line.", HOSTILE[1], "By doi:10.1136/bmj-2023-078378."),
        (
            Section("Results", ("A sentence.", figure, table())),
            Section(HOSTILE[2], (table(stacks=True), figure)),
            Section("More", (table(), "Told in an appendix."), appendix=True),
        ),
        (HOSTILE[3], HOSTILE[4]),
        {"nan": np.nan, "count": np.int64(3), "rows": {"a": [1.5, np.inf]}, "on": np.True_},
        "bad",
    )


@pytest.mark.slow
def test_html_is_well_formed_and_safe(page):
    text = render.html(page)
    parsed = Parsed(text)
    ids = Counter(attrs["id"] for _, attrs in parsed.tags if "id" in attrs)
    assert max(ids.values()) == 1
    for _, attrs in parsed.tags:
        assert not any(name.startswith("on") or name == "src" for name in attrs)
        for name in attrs.get("aria-labelledby", "").split():
            assert name in ids
    assert len(parsed.all("script")) == 1
    assert not parsed.all("img")
    assert {each["href"] for each in parsed.all("a")} == {"https://doi.org/10.1136/bmj-2023-078378"}
    (policy,) = (each["content"] for each in parsed.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none'")
    assert set(re.findall(r"\w+://[^/\s\"'<]*", text)) <= {"https://doi.org"}
    assert len(parsed.all("table")) == len(parsed.all("caption")) == 3
    assert text == render.html(page)


@pytest.mark.slow
def test_the_first_section_stands_with_the_answer_and_an_appendix_is_folded(page):
    text = render.html(page)
    first, rest = text.split('<section class="notes">')
    assert "First line." in first
    assert first.count("<svg") == 1
    assert "A sentence." in first
    assert "<details><summary>More</summary>" in rest
    assert '<div class="answer bad">' in first


def test_words_of_a_page_can_be_others_and_publications_stay():
    told = Page(
        "t",
        "12 cases",
        ("All cases.",),
        (Section("Cases", ("Some cases.", table())), Section("R", ("Cases.",), verbatim=True)),
        ("few cases",),
    )
    other = told.worded(lambda text: text.replace("cases", "items").replace("Cases", "Items"))
    assert (other.subject, other.answer, other.notes) == (
        "12 items",
        ("All items.",),
        ("few items",),
    )
    assert other.sections[0].title == "Items"
    assert other.sections[1].blocks == ("Cases.",)


def test_the_terminal_has_no_appendix_and_80_columns(page):
    short = Page("t", page.subject, page.answer, page.sections, ("A note. " * 20,))
    text = str(short)
    assert "Told in an appendix" not in text
    assert "A sentence." in text
    assert max(map(len, text.splitlines())) <= 80
    assert "95 %" in text


def test_json_has_plain_numbers(page, tmp_path):
    render.write_json(page, tmp_path / "page.json")
    record = json.loads((tmp_path / "page.json").read_text("utf-8"))
    assert record["nan"] is None
    assert record["rows"] == {"a": [1.5, None]}
    assert record["count"] == 3
    assert record["on"] is True
    assert record["answer"][0] == "First line."
    assert "\x1b" not in json.dumps(record)


def xml(path):
    with ZipFile(path) as parts:
        return parts.read("word/document.xml").decode()


@pytest.mark.slow
def test_in_word_no_row_is_split_no_number_broken_and_the_appendix_is_behind(page, tmp_path):
    render.write_word(page, tmp_path / "page.docx")
    text = xml(tmp_path / "page.docx")
    assert text.count("<w:tr>") == text.count("<w:cantSplit/>") == 3 * 5
    assert text.count("<w:tblHeader/>") == 3
    assert "0.75\xa0(0.64\xa0to\xa00.84)" in text
    assert text.index('<w:br w:type="page"/>') < text.index("Appendix") < text.index("Told in an")
    assert text.index("First line.") < text.index("<w:drawing>") < text.index("Appendix")
    assert "\x1b" not in text
    widths = [int(each) for each in re.findall(r'<w:gridCol w:w="(\d+)"/>', text)]
    (width,) = {int(each) for each in re.findall(r'<w:pgSz w:w="(\d+)"', text)}
    (margin,) = {int(each) for each in re.findall(r'w:left="(\d+)"', text)}
    assert sum(widths[:2]) <= width - 2 * margin + 1


def test_heads_in_word_are_bold_and_may_break_between_words(page, tmp_path):
    docx = pytest.importorskip("docx")
    render.write_word(page, tmp_path / "page.docx")
    for table in docx.Document(str(tmp_path / "page.docx")).tables:
        heads = [run for cell in table.rows[0].cells for run in cell.paragraphs[0].runs]
        assert all(run.bold and "\xa0" not in run.text for run in heads)
        assert not any(run.bold for run in table.rows[-1].cells[-1].paragraphs[0].runs)


def test_columns_of_numbers_take_what_they_need_and_words_share_the_rest():
    heads = ("Measure", "Estimate (95 % CrI)", "Verdict")
    rows = [heads, ("A measure with a long name " * 3, "0.75 (0.64 to 0.84)", "word " * 40)]
    points, widths = fitted(rows, (2,), 6.7)
    assert sum(widths) == pytest.approx(6.7)
    assert widths[1] >= 19 * 0.5 * points / 72
    many = [tuple(f"head {k}" for k in range(9)), ("label", *["0.75 (0.64 to 0.84)"] * 8)]
    assert fitted(many, (), 6.7)[0] < points


@pytest.mark.parametrize(
    ("environment", "size"),
    [
        ({"LC_ALL": "en_US.UTF-8"}, US_LETTER),
        ({"LANG": "fr_CA"}, US_LETTER),
        ({"LANG": "de_CH.UTF-8"}, A4),
        ({"LC_PAPER": "en_GB", "LANG": "en_US"}, A4),
        ({"LANG": "C.UTF-8"}, A4),
    ],
)
def test_paper_is_that_of_the_country(environment, size, monkeypatch):
    for name in ("LC_ALL", "LC_PAPER", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert paper() == size


@pytest.mark.slow
def test_the_first_figure_is_written_in_the_format_of_its_name(page, tmp_path):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    render.write_figure(page, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert plt.get_fignums() == before
    with pytest.raises(InputError, match="must end in"):
        render.write_figure(page, tmp_path / "curve.xyz")
    with pytest.raises(InputError, match="no figure"):
        render.write_figure(Page("t", "s", ("a",)), tmp_path / "curve.png")


@pytest.mark.slow
@pytest.mark.parametrize("title", ["", "A title"])
def test_nothing_of_a_figure_is_cut_off(post, title):
    import io

    from matplotlib.image import imread

    def longer(text):
        return f"{text}, {30 * 'w'}" if text else ""

    shown = (
        Figure("risks", post, {"y_prob": 0.3, "threshold": 0.2}, title, worded=longer),
        Figure("risk_distribution", post, {}, title),
        Figure("net_benefit", post, {}, title),
        Figure("reliability", {30 * "w": post, 29 * "w": post}, {}, title),
    )
    for figure in shown:
        ink = imread(io.BytesIO(as_png(figure)))[..., :3].min(axis=-1) < 0.9
        assert ink.any()
        assert not ink[[0, -1]].any()
        assert not ink[:, [0, -1]].any()


@pytest.mark.slow
def test_an_error_leaves_the_former_file(page, tmp_path, monkeypatch):
    for write, name in ((render.write_html, "a.html"), (render.write_word, "a.docx")):
        file = tmp_path / name
        file.write_text("former")
        with monkeypatch.context() as patch:
            patch.setattr("bayescal.plots.reliability", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                write(page, file)
        assert file.read_text() == "former"
        assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    with pytest.raises(InputError, match=r"does not end in \.docx"):
        render.write_word(page, tmp_path / "a.pdf")
    with pytest.raises(InputError, match=r"does not end in \.html"):
        render.write_html(page, tmp_path / "a.pdf")


def test_colours_can_be_read_in_light_and_dark():
    style = (files("bayescal.report") / "page.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", part))
        for part in style.split("* {")[0].split("@media")
    )
    assert set(light) == set(dark)
    for names in (light, dark):
        for behind in ("paper", "wash", "mark"):
            for name in ("ink", "soft", "link"):
                assert contrast(names[name], names[behind]) >= 4.5, (name, behind)
        for name in ("curve", "events", "diagonal"):
            assert contrast(names[name], names["paper"]) >= 3


def contrast(one, other):
    """As the Web Content Accessibility Guidelines define it."""
    light = []
    for colour in (one, other):
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(light) + 0.05) / (min(light) + 0.05)
