"""The documentation is true: its examples run and print what it shows, its links lead somewhere."""

import json
import re
import shlex
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from bayescal import simulate
from bayescal.cli.commands import COMMANDS
from bayescal.cli.options import HELP, parsed
from bayescal.errors import InputError
from examples import FENCE, agrees, run, steps_of

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
MADE_BY_THE_BUILD = (
    "_build",
    "results",
    "estimators.md",
    "explanation/figures",
    "generated",
    "notebooks",
    "same_numbers.md",
)
YOUR_OWN = ("README.md",)
"""Pages whose examples begin with `y_true` and `y_prob`, as the reader has them."""


def pages():
    actual = [path for path in DOCS.rglob("*.md") if not _is_made(path)]
    return [REPOSITORY / "README.md", *sorted(actual)]


def _is_made(path):
    return any(path.is_relative_to(DOCS / made) for made in MADE_BY_THE_BUILD)


def name_of(path):
    return path.relative_to(REPOSITORY).as_posix()


QUICK = ("README.md", "docs/tutorial.md")
"""Pages that a newcomer reads first; the examples of the others are slow tests."""
WITH_EXAMPLES = [
    pytest.param(path, id=name_of(path), marks=() if name_of(path) in QUICK else pytest.mark.slow)
    for path in pages()
    if list(steps_of(path.read_text("utf-8")))
    if name_of(path) != "docs/figures.md"  # the build runs it, for its pictures
]


@pytest.mark.parametrize("path", WITH_EXAMPLES)
def test_examples_print_what_the_page_shows(path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["bayescal"])
    page, given = path.read_text("utf-8"), {}
    if name_of(path) in YOUR_OWN:
        y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=1)
        given = {"y_true": y_true, "y_prob": y_prob}
    for step, printed in run(page, name_of(path), **given):
        if step.output:
            shown = page[slice(*step.output)]
            where = f"{name_of(path)}, line {step.line}"
            assert agrees(shown, printed), f"{where} shows\n{shown}\nbut prints\n{printed}"
        plt.close("all")


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("TCE 0.123 (0.05 to 0.2)", "TCE  0.123\n(0.05 to 0.2)", True),
        ("TCE 0.1234", "TCE 0.1233", True),
        ("TCE 0.12", "TCE 0.15", False),
        ("n = 200", "n = 201", True),
        ("n = 200", "n = 202", False),
        ("-1.23", "1.23", False),
        ("the end", "the beginning", False),
        ("one two", "one two three", False),
        ("one\n...\nfour", "one two three four", True),
        ("one\n...\nfive", "one two three four", False),
        ("...\ntwo\n...\nfour\n...", "one two three four five", True),
        ("...\nfour\n...\ntwo\n...", "one two three four five", False),
    ],
)
def test_what_counts_as_the_same(shown, printed, agree):
    assert agrees(shown, printed) is agree


def commands():
    """Every call of the command line in a console block, run or not: where, and its words."""
    for path in pages():
        for block in re.findall(r"^```console\n(.*?)^```", path.read_text("utf-8"), re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                for part in re.split(r"&&", line.removeprefix("$ ")):
                    words = shlex.split(part, comments=True) if "bayescal" in part else []
                    if words and Path(words[0]).name == "bayescal":
                        yield name_of(path), words[1:]


@pytest.mark.parametrize(("where", "words"), list(commands()))
def test_options_on_a_page_exist(where, words):
    if {*HELP, "--version"} & {*words} or not words:
        return
    first = COMMANDS.get(words[0])
    try:
        parsed(first or COMMANDS["assess"], words[1:] if first else words)
    except InputError as error:
        pytest.fail(f"{where}: {error}")


LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCED = re.compile(r"^(`{3,}).*?^\1", re.M | re.S)


def texts():
    """Markdown of pages, without code, and of notebooks."""
    for path in pages():
        text = path.read_text("utf-8")
        pictures = re.findall(r"^```\{image\} (\S+)", text, re.M)
        yield path, FENCED.sub("", text) + "".join(f"![]({name})" for name in pictures)
    for path in sorted((REPOSITORY / "notebooks").rglob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        written = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        yield path, "\n\n".join(written)


def anchors(path):
    """Anchors of a page: its headings as GitHub and MyST name them, and explicit labels."""
    text = FENCED.sub("", path.read_text("utf-8"))
    headings = re.findall(r"^#{1,6} +(.+?)\s*$", text, re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))


@pytest.mark.parametrize(("path", "text"), [pytest.param(*it, id=name_of(it[0])) for it in texts()])
def test_links_lead_somewhere(path, text):
    broken = []
    for link in LINK.findall(re.sub(r"\$[^$\n]*\$|`[^`\n]*`", "", text)):
        if re.match(r"\w+:", link):
            continue
        page, _, anchor = link.partition("#")
        target = (path.parent / page).resolve() if page else path
        if target.is_relative_to(DOCS / "notebooks"):  # copies of those in the repository
            target = REPOSITORY / target.relative_to(DOCS)
        if _is_made(target):
            continue
        within = anchor and target.suffix == ".md"
        if not target.exists() or (within and anchor not in anchors(target)):
            broken.append(link)
    assert not broken, f"{name_of(path)} links to {', '.join(broken)}"


def test_notebooks_are_stored_without_outputs():
    """The build of the documentation runs them, so that what a reader sees is of this version."""
    for path in (REPOSITORY / "notebooks").rglob("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            assert not cell.get("outputs"), f"{name_of(path)}: clear all outputs before a commit"
            assert cell.get("execution_count") is None, f"{name_of(path)}: clear all outputs"


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_every_output_shown_is_that_of_an_example(path):
    page = path.read_text("utf-8")
    outputs = {step.output[0] for step in steps_of(page) if step.output}
    shown = [fence for fence in FENCE.finditer(page) if fence["language"] == "text"]
    assert {fence.start("body") for fence in shown} <= outputs


def test_no_example_is_left_without_its_output():
    for path in pages():
        assert not re.search(r"^\?$", path.read_text("utf-8"), re.M), name_of(path)
