"""The report: one page that says what the assessment says, safe, self-contained, accessible."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment import html as report
from bayescal.model.curves import CURVES

VOID = {"br", "col", "hr", "img", "input", "link", "meta"}
CHROMIUM = next(filter(shutil.which, ("chromium", "chromium-browser", "google-chrome")), None)
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "$\\frac{",
    "😀 Zürich & Söhne",
    "\u202egnp.exe\x1b[31m",
]
LONG = "x" * 10_000


def data(scenario: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    return bc.simulate.sample(scenario, n, random_state=1)


class Page(HTMLParser):
    """A page taken apart; reading it fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str]]] = []
        self.tags: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
        self.text: list[tuple[tuple[str, ...], str]] = []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs), tuple(name for name, _ in self.open)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == (tag, dict(attrs)):
            self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open, f"</{tag}> closes nothing"
        name, _ = self.open.pop()
        assert name == tag, f"</{tag}> where </{name}> was due"

    def handle_data(self, data) -> None:
        self.text.append((self.inside, data))

    @property
    def inside(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.open)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs, _ in self.tags if name == tag]

    def printed(self) -> str:
        """What a reader sees, spaces evened out."""
        seen = (text for inside, text in self.text if not {"script", "style"} & set(inside))
        return " ".join("".join(seen).split())


@pytest.fixture(scope="module")
def off() -> bc.Assessment:
    return bc.assess(*data("clinical-middle-overconfident", 500), random_state=1)


@pytest.fixture(scope="module")
def off_page(off) -> str:
    return report.render(off)


@pytest.fixture(scope="module")
def rare_page() -> str:
    """With groups, hostile ones, and two priors."""
    y_true, y_prob = data("clinical-low-shifted", 420)
    names = [*HOSTILE, LONG]
    a = bc.assess(
        y_true,
        y_prob,
        site=[names[i % len(names)] for i in range(420)],
        estimators=("ece",),
        draws=1000,
        random_state=1,
    )
    source = {"File": HOSTILE[0] + ".csv", HOSTILE[1]: LONG, "Weight": None}
    return report.render(a, title=HOSTILE[0] + HOSTILE[-1], source=source)


@pytest.fixture(scope="module")
def pages(off_page, rare_page) -> list[str]:
    edges = bc.assess(
        *data("clinical-middle-overconfident", 40), estimators=("ece",), draws=1000, random_state=1
    )
    y_true, y_prob = data("clinical-middle-overconfident", 40)
    zeros = bc.assess(y_true, (y_prob > 0.5) * 1.0, site=y_true, draws=1000, random_state=1)
    return [off_page, rare_page, report.render(edges), report.render(zeros)]


# The page


@pytest.mark.slow
def test_it_is_well_formed(pages) -> None:
    for text in pages:
        page = Page(text)
        assert text.startswith("<!DOCTYPE html>")
        assert page.all("html") == [{"lang": "en"}]
        assert len(page.all("title")) > 1  # the page's, and those of the figures


def test_ids_are_unique_and_every_reference_has_its_target(pages) -> None:
    for text in pages:
        page = Page(text)
        ids = Counter(attrs["id"] for _, attrs, _ in page.tags if "id" in attrs)
        assert max(ids.values()) == 1, ids.most_common(3)
        wanted = {key for attrs in page.all("a") for key in [attrs["href"]] if key[0] == "#"}
        wanted |= {attrs["href"] for attrs in page.all("use")}
        wanted |= set(re.findall(r"url\((#[^)]*)\)", text))
        for _, attrs, _ in page.tags:
            wanted |= {f"#{name}" for name in attrs.get("aria-labelledby", "").split()}
            wanted |= {f"#{attrs['for']}"} if "for" in attrs else set()
        assert {name.removeprefix("#") for name in wanted} <= set(ids)


def test_headings_descend_one_step_at_a_time(pages) -> None:
    for text in pages:
        levels = [int(tag[1]) for tag, _, _ in Page(text).tags if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert max(np.diff(levels)) == 1


def test_figures_and_tables_speak_to_screen_readers(pages) -> None:
    for text in pages:
        page = Page(text)
        assert not page.all("img")
        figures = page.all("svg")
        assert len(figures) >= 2
        for attrs in figures:
            assert attrs["role"] == "img"
            for name in attrs["aria-labelledby"].split():
                assert re.search(rf'<(title|desc) id="{name}">[^<]{{5,}}<', text)
        assert len(page.all("table")) == len(page.all("caption"))
        assert all(attrs["scope"] in {"row", "col"} for attrs in page.all("th"))
        for row in re.findall(r"<tr.*?</tr>", text, re.S):
            assert row.count("<th ") >= 1
        for attrs in page.all("input"):
            assert f'for="{attrs["id"]}"' in text


@pytest.mark.slow
def test_it_needs_no_network(pages) -> None:
    for text in pages:
        page = Page(text)
        assert set(re.findall(r"\w+://[^/\s\"'<]*", text)) <= {"https://doi.org"}
        assert not page.all("link")
        assert not page.all("iframe")
        assert not any("src" in attrs or "srcset" in attrs for _, attrs, _ in page.tags)
        assert "@import" not in text
        for attrs in page.all("a"):
            assert attrs["href"].startswith(("#", "https://doi.org/10."))
        (policy,) = (a["content"] for a in page.all("meta") if "http-equiv" in a)
        assert policy.startswith("default-src 'none'")
        assert "script-src 'sha256-" in policy


def test_it_is_small(off_page, rare_page) -> None:
    assert len(off_page.encode()) < 200_000
    assert len(rare_page.encode()) < 300_000


def test_colours_can_be_read_in_light_and_dark() -> None:
    style = (Path(report.__file__).parent / "template" / "report.css").read_text("utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", part)) for part in style.split("@media")[:2]
    )
    assert set(light) == set(dark)
    for names in (light, dark):
        for kind in ("good", "bad", "open"):
            behind = names[f"{kind}wash"]
            assert contrast(names[kind], behind) >= 4.5
            assert contrast(names["ink"], behind) >= 4.5
        for behind in ("paper", "wash", "mark"):
            for name in ("ink", "soft", "link"):
                assert contrast(names[name], names[behind]) >= 4.5, (name, behind)
        for name in ("curve", "events", "diagonal"):
            assert contrast(names[name], names["paper"]) >= 3


def contrast(one: str, other: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    light = []
    for colour in (one, other):
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        light.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    return (max(light) + 0.05) / (min(light) + 0.05)


# What it says


def test_it_says_what_the_assessment_says(off, off_page) -> None:
    printed = Page(off_page).printed()
    for text in (str(off.recommendation), *off.notes, off.sha256):
        assert text in printed
    table = off.tables["measures"]
    for row, cells in zip(table.rows, table.texts().values(), strict=True):
        assert f"{row.label}{row.hint}" in printed
        assert f">{cells['estimate']}</td>" in off_page
        assert f">{cells['interval']}</td>" in off_page
    for cells in off.tables["estimators"].texts().values():
        assert all(text in printed for text in cells.values())
    for name in off.recommendation.table.index.drop("identity"):
        assert off.recommendation.shown(name) in printed
    assert off.recommendation.rule in printed
    for name, value in off.val_prob().items():
        assert name in printed
        assert f"{value:.3f}" in printed
    for curve in CURVES:
        assert (curve in printed) == (not CURVES[curve].per_score)
    for key, number in off.versions.items():
        assert f"{key} {number}" in printed


def test_the_two_intercepts_cannot_be_mistaken(off_page) -> None:
    printed = Page(off_page).printed()
    assert "Calibration-in-the-largeintercept with the slope fixed at 1" in printed
    assert "Intercept fitted jointly with the slopein log-odds" in printed
    assert "not calibration-in-the-large" in printed


def test_no_number_is_shown_in_two_tables_by_two_names(off_page) -> None:
    printed = Page(off_page).printed()
    assert printed.count("True calibration error (TCE, ICI)") == 1
    assert printed.count("ICI (Eavg) of a loess curve") == 1
    assert not re.search(r"<td[^>]*>[–-]?</td>", off_page)


@pytest.mark.slow
def test_the_title_names_score_file_and_outcome_and_no_path(off) -> None:
    source = {"File": "/private/secret/predictions.csv", "Outcome": "died", "Probability": "risk"}
    page = report.render(off, source=source)
    assert "<h1>risk in predictions.csv, outcome died</h1>" in page
    assert "secret" not in page
    assert "<h1>Calibration report</h1>" in report.render(off)


@pytest.mark.slow
def test_a_tick_stands_where_the_verdict_is_close_enough_alone(off_page) -> None:
    y_true, y_prob = data("clinical-middle-calibrated", 3000)
    sure = bc.assess(y_true, y_prob, close=0.2, estimators=("ece",), draws=1000, random_state=1)
    labels = bc.assess(
        y_true, (y_prob > 0.5) * 1.0, close=0.9, estimators=("ece",), draws=1000, random_state=1
    )
    assert sure.verdict == labels.verdict == "close enough"
    assert "✓" in report.render(sure)
    page = report.render(labels)
    assert "✓" not in page
    assert "✓" not in off_page
    printed = Page(page).printed()
    assert printed.index("Check the scores first") < printed.index("The scores are labels")


@pytest.mark.slow
def test_the_limit_is_explained_where_it_is_used(off, off_page) -> None:
    printed = Page(off_page).printed().replace("\u2060", "")
    assert "The default limit is an average error of 3 points. It is a convention" in printed
    assert "--close" in printed
    y_true, y_prob = data("clinical-middle-overconfident", 100)
    own = bc.assess(y_true, y_prob, close=0.05, estimators=("ece",), draws=1000, random_state=1)
    assert "Your limit is an average error of 5 points" in Page(report.render(own)).printed()


@pytest.mark.slow
def test_thresholds_bring_the_decision_curve(off_page) -> None:
    y_true, y_prob = data("clinical-middle-overconfident", 200)
    a = bc.assess(y_true, y_prob, thresholds=[0.2], estimators=("ece",), draws=1000, random_state=1)
    page = report.render(a, source={"Probability": "risk <b>"})
    assert "Net benefit per 1000 patients" in page
    assert "thresholds=[0.2], " in page
    assert "risk &lt;b&gt;" in page
    assert "<code>--threshold</code>" in off_page
    assert "Net benefit per 1000" not in off_page


@pytest.mark.slow
def test_many_groups_have_a_figure_and_a_table_that_stacks() -> None:
    y_true, y_prob = data("calibrated", 300)
    groups = [f"site {i % 12}" for i in range(300)]
    a = bc.assess(y_true, y_prob, site=groups, estimators=("ece",), draws=1000, random_state=1)
    page = report.render(a)
    assert 'id="by-group-title">True calibration error by group<' in page
    title = page.index("in which groups are drawn towards each other")
    table = page[title - 400 : title]
    assert 'class="stacks"' in table


def test_the_page_is_dark_for_readers_who_ask_for_it(off_page) -> None:
    assert "prefers-color-scheme: dark" in off_page
    drawn = off_page[off_page.index("<svg") : off_page.rindex("</svg>")]
    assert "var(--curve)" in drawn
    assert not re.findall(r"#(?:000000|0072b2|ffffff)", drawn, re.I)


def test_pointing_at_the_figure_reads_off_the_curve(off, off_page) -> None:
    zones = re.findall(r"Predicted (\S+): actual (\S+) \((\S+) to (\S+)\)</title></rect>", off_page)
    assert len(zones) == 48
    at, *numbers = np.array(zones, dtype=float).T
    read = []
    for shown in (0.994 * at, at, 1.006 * at):  # scores are shown to three digits
        curve = off.posterior.curve(shown)
        ends = np.quantile(curve, [0.025, 0.975], axis=(0, 1))
        read.append([curve.mean(("chain", "draw")), *ends])
    assert (np.min(read, axis=0) - 0.01 <= numbers).all()
    assert (numbers <= np.max(read, axis=0) + 0.01).all()


def test_the_reproduction_line_reproduces(off, off_page) -> None:
    line = re.search(r"<pre.*?<code>(.*?)</code>", off_page, re.S)
    assert line
    y_true, y_prob = data("clinical-middle-overconfident", 500)
    call = html.unescape(line[1])
    again = eval(call, {"bayescal": bc, "y_true": y_true, "y_prob": y_prob})
    assert again.headline() == off.headline()
    assert again.sha256 == off.sha256


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "n", "heading", "advice"),
    [
        (
            "clinical-middle-calibrated",
            4000,
            "No sign that it is off; within the limit No sign that the model is off",
            "Recommended: do not update the model",
        ),
        (
            *("clinical-middle-overconfident", 3000, "Off by more than the limit Yes, the model"),
            "Recommended: update intercept and slope",
        ),
        (
            "clinical-middle-calibrated",
            100,
            "No sign that it is off; the size is not settled No sign that the model is off",
            "Recommended: do not update the model",
        ),
        (
            "clinical-middle-calibrated",
            20,
            "The data cannot say These data cannot say whether the model is off",
            "Nothing is recommended, with only 6",
        ),
    ],
)
def test_headline_verdict_and_advice_follow_the_data(
    scenario, n, heading, advice, tmp_path
) -> None:
    a = bc.assess(*data(scenario, n), estimators=("ece",), draws=1000, random_state=1)
    a.to_html(tmp_path / "report.html")
    printed = Page((tmp_path / "report.html").read_text("utf-8")).printed()
    assert f" {heading}" in printed
    is_planned = a.verdict == "cannot tell" and n > 20  # 6 events are too few to plan from
    assert ("would settle, with probability 0.8," in printed) == is_planned
    assert printed.count(advice) == 3
    assert ("Fewer than 100 are usually too few" in printed) == (n <= 100)
    assert ("is too small to tell" in printed) == (n == 20)
    assert ("this does not mean that the model is calibrated" in printed) == (n == 100)


def test_the_data_s_own_ratio_stands_beside_that_of_the_posterior(off, off_page) -> None:
    table = off.posterior.data
    own = table.events / (table.trials @ table.score)
    for text in (Page(off_page).printed(), off.describe()):
        shown = re.search(r"; (\d\.\d{2,3}) in the data", text)
        assert float(shown[1]) == round(own, len(shown[1]) - 2)


def test_groups_and_both_priors_are_shown(rare_page, off_page) -> None:
    printed = Page(rare_page).printed()
    assert "Group by group" in printed
    assert "Group by group" not in Page(off_page).printed()
    assert "Under the clinical prior: " in printed
    assert "The same under the clinical prior" in printed
    assert "clinical prior" not in Page(off_page).printed().partition("At even prior odds")[0]


@pytest.mark.slow
def test_it_repeats_itself(off, off_page) -> None:
    assert report.render(off) == off_page
    again = bc.assess(*data("clinical-middle-overconfident", 500), random_state=1)
    assert report.render(again) == off_page


def test_it_does_not_mind_the_users_style(off, off_page) -> None:
    import matplotlib as mpl

    before = mpl.rcParams.copy()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert report.render(off) == off_page
    assert mpl.rcParams == before


@pytest.mark.slow
def test_only_web_pages_are_written(off, tmp_path) -> None:
    for name in ("report.docx", "report.pdf", "report"):
        with pytest.raises(bc.errors.InputError, match=r"does not end in .html or .htm.*PDF"):
            off.to_html(tmp_path / name)
    off.to_html(tmp_path / "REPORT.HTM")
    assert [file.name for file in tmp_path.iterdir()] == ["REPORT.HTM"]


def test_an_interruption_leaves_the_former_report(off, tmp_path, monkeypatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("former")
    full = Path.write_text

    def half(file: Path, text: str, *options: str) -> None:
        full(file, text[: len(text) // 2], *options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(KeyboardInterrupt):
        off.to_html(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["former"]


@pytest.mark.slow
def test_it_is_written_as_asked(off, off_page, tmp_path) -> None:
    off.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == off_page
    off.to_html(tmp_path / "titled.html", title="Model 3", source={"File": "a.csv"})
    page = (tmp_path / "titled.html").read_text("utf-8")
    assert "<h1>Model 3</h1>" in page
    assert "<title>Model 3</title>" in page
    assert ">a.csv</td>" in page
    with pytest.raises(FileNotFoundError):
        off.to_html(tmp_path / "nowhere" / "report.html")


def test_a_page_can_be_read_back(off, off_page, rare_page, tmp_path) -> None:
    path = tmp_path / "report.html"
    off.to_html(path, source={"File": "/private/a.csv", "Probability": "</script><b>"})
    again = bc.read_report(path)
    assert again.pop("source") == {"File": "a.csv", "Probability": "</script><b>"}
    assert again == json.loads(json.dumps(off.to_dict()))
    (tmp_path / "record.json").write_text(json.dumps(off.to_dict()))
    assert bc.read_report(tmp_path / "record.json") == again
    path.write_text(rare_page, "utf-8")
    assert set(HOSTILE[:3]) <= set(bc.read_report(path)["groups"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html></html>", "carries no assessment"),
        ('{"a": 1}', "carries no assessment"),
        ("{", "carries no assessment"),
        ('{"schema": 99, "verdict": ""}', "is of version 99 of the format"),
    ],
)
def test_other_files_are_no_reports(text, message, tmp_path) -> None:
    path = tmp_path / "other.html"
    path.write_text(text)
    with pytest.raises(bc.errors.InputError, match=message):
        bc.read_report(path)
    with pytest.raises(bc.errors.InputError, match="is not a file"):
        bc.read_report(tmp_path / "nowhere.html")


# Names from outside


def test_hostile_names_come_out_as_text(rare_page) -> None:
    page = Page(rare_page)
    printed = page.printed()
    assert [attrs.get("type") for attrs in page.all("script")] == ["application/json", None]
    for name in HOSTILE[:5]:
        assert name in printed
    assert "\\u202egnp.exe\\x1b[31m" in printed
    for char in "\u202e\x1b":
        assert char not in rare_page
    assert "onerror" not in {key for _, attrs, _ in page.tags for key in attrs}


def test_long_names_are_shortened_visibly(rare_page) -> None:
    shown = rare_page.partition('<script type="application/json"')[0]
    assert "x" * 100 not in shown
    assert shown.count("… (10,000 characters)") >= 2
    assert "Weight" not in Page(rare_page).printed()


# In a browser


@pytest.fixture(scope="module")
def browse(tmp_path_factory):
    """A page as Chromium leaves it, and what its console said."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    folder = tmp_path_factory.mktemp("chromium")

    def load(text: str, width: int, *options: str) -> tuple[str, str]:
        path = folder / "page.html"
        path.write_text(text, "utf-8")
        command = [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},900",
            *options,
            path.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, "\n".join(
            line for line in done.stderr.splitlines() if "CONSOLE" in line
        )

    return load


@pytest.mark.slow
def test_the_browser_has_nothing_to_complain_of(browse, pages) -> None:
    for text in pages[:2]:
        dom, console = browse(text, 1280, "--dump-dom")
        assert console == ""
        assert '<html lang="en" class="js">' in dom
        assert re.search(r'<output id="own-posterior">[<>]?[\d. &;lgt]+</output>', dom)


def test_a_script_from_outside_may_not_run(browse, off_page) -> None:
    _, console = browse(
        off_page.replace("</main>", "</main><script>1</script>"), 1280, "--dump-dom"
    )
    assert "Content Security Policy" in console


@pytest.mark.slow
def test_nothing_sticks_out_of_the_page(browse, pages) -> None:
    """Of any page in a frame of any width; the browser is started once for all of them."""
    widths = [width for width in (320, 390, 800, 1280) for _ in pages]
    measure = (
        "<script>onload = () => document.title = Array.from(frames, one =>"
        "[one.document.documentElement.scrollWidth, one.innerWidth].join()).join(' ')</script>"
    )
    bare = [re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", text) for text in pages]
    page = "".join(
        f'<iframe width="{width}" height="900" srcdoc="{html.escape(text)}"></iframe>'
        for width, text in zip(widths, bare * 4, strict=True)
    )
    dom, _ = browse(f"<title>waiting</title>{measure}{page}", 1400, "--dump-dom")
    result = re.search(r"<title>([\d, ]+)</title>", dom)
    assert result, dom[:200]
    needed, given = np.array([pair.split(",") for pair in result[1].split()], dtype=int).T
    assert list(given) == widths
    assert (needed <= given).all(), list(zip(needed, widths, strict=True))


def test_it_prints_on_two_pages(browse, off_page, tmp_path) -> None:
    target = tmp_path / "report.pdf"
    browse(off_page, 1280, "--no-pdf-header-footer", f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", target.read_bytes())) == 2


@pytest.mark.slow
def test_times_are_a_verdict_and_no_alarm(tmp_path) -> None:
    """That patients left is told beside the verdict, and the code repeats the fit of times."""
    rng = np.random.default_rng(1)
    score = expit(rng.normal(-1, 1, 300))
    time = rng.exponential(1 / score)
    left = rng.exponential(3, 300)
    outcome = bc.Survival(np.minimum(time, left), time <= left)
    a = bc.assess(outcome, score, horizon=1, draws=400, random_state=1)
    a.to_html(tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text("utf-8")
    assert "Check the scores first" not in page
    assert "<b>The outcomes.</b>" in page
    assert page.count("left before 1 without the event") >= 1
    assert "bayescal.assess(bayescal.Survival(time, event), y_prob, horizon=1, " in page
