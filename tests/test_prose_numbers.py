"""Numbers in the sentences of a page are those of the page's own run.

`test_docs.py` compares the outputs that a page shows with what its code prints. Here each number in
a sentence is looked up among these outputs and in the code, so that no sentence tells another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "README.md": {2.0, 3.11, 2048, 2025, 2412.10658},  # versions, the grid, the paper
    "docs/tutorial.md": {28, 89, 200, 5000},  # coverage of Emax, of a page of benchmarks
    "docs/index.md": {19, 20000, 84, 30},  # of a page of benchmarks; 30 % asks
    "docs/how-to/plan.md": {12, 60},  # of stored studies, held by tests/planning
    "docs/how-to/missing-outcomes.md": {20},  # imputations below which there is a warning
}
"""Numbers of pages that come from another source, and from where."""

OWN = [
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    *(
        f"docs/how-to/{name}.md"
        for name in (
            "any-estimator",
            "compare-models",
            "figures",
            "groups",
            "missing-outcomes",
            "multiclass",
            "plan",
            "recalibrate",
            "thresholds",
        )
    ),
]
"""Pages whose sentences tell numbers of their own run."""

NUMBER = re.compile(r"(?<![\w.\-/#=])[-−]?\d(?:[\d,]*\d)?(?:\.\d+)?(?![\w\-/]|\.\d)")
FENCE = re.compile(r"^(`{3,})[^\n]*\n(.*?)^\1\s*$", re.M | re.S)
GENERATED = re.compile(r"<!-- (speed|benchmark)\b[^>]*-->.*?<!-- /\1 -->", re.S)
NOT_TOLD = re.compile(r"`[^`]*`|\$[^$]*\$|<!--.*?-->|\]\([^)]*\)|^:.*$", re.S | re.M)
SCALES = (1, 100, 0.01, 1000)


def parts(name: str) -> tuple[str, str]:
    """The sentences of a page or notebook, and the code and outputs that it shows."""
    text = (REPOSITORY / name).read_text("utf-8")
    if not name.endswith(".ipynb"):
        run = "".join(fence[2] for fence in FENCE.finditer(text))
        return GENERATED.sub("", FENCE.sub("", text)), run
    told, run = "", ""
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            told += source + "\n\n"
        else:
            run += source + "\n" + "\n".join(printed(cell["outputs"]))
    return told, run


def printed(outputs: list[dict[str, Any]]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data", {})
        yield "".join(output.get("text") or data.get("text/plain") or ())


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "").replace("−", "-")) for each in NUMBER.findall(text)]


def untold(told: str, run: str, elsewhere: set[float] | None = None) -> list[float]:
    """Numbers in sentences that stand neither in the run nor in the list of other sources."""
    known = {sign * scale * value for value in numbers(run) for scale in SCALES for sign in (1, -1)}
    known |= {*(elsewhere or ())}
    return [
        value
        for value in numbers(NOT_TOLD.sub(" ", told))
        if not any(abs(value - each) <= 1e-9 * max(1, abs(value)) for each in known)
    ]


@pytest.mark.parametrize("name", OWN)
def test_numbers_in_sentences_are_of_the_run(name: str) -> None:
    told, run = parts(name)
    assert not untold(told, run, ELSEWHERE.get(name))


@pytest.mark.parametrize(
    ("told", "run", "left_over"),
    [
        ("The error is 7.2 points.", "error 7.0", [7.2]),
        ("The error is 7.0 points, or 0.070.", "error 0.07", []),
        ("4,200 patients", "about 4,200 more", []),
        ("P is `0.9`, see [the page](results.md#9)", "", []),
    ],
)
def test_a_number_of_another_run_is_noticed(told: str, run: str, left_over: list[float]) -> None:
    assert untold(told, run) == left_over
