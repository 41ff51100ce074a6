"""What the documentation says about speed is what the benchmark measured."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
import speed_cells
import speed_quoted
from benchmark_pages import stored
from speed_samplers import calibration_error

ROOT = Path(__file__).resolve().parent.parent


COMPARISON = re.compile(
    r"\btimes (as (fast|long|quick)|faster|slower|quicker|the time)|"
    r"\b(half|hundredth|tenth|quarter|fraction) of the time\b|"
    r"\b\d[\d.]* ?(ms|milliseconds|minutes|seconds)\b[^.|]*\b(of one core|processor|CPU)",
    re.IGNORECASE,
)
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not {"results", "notebooks", "_build", "generated"} & set(page.parts)
    ),
]


@pytest.mark.parametrize("name", speed_quoted.QUOTING)
def test_pages_quote_the_stored_results(name) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert speed_quoted.BLOCK.search(text), f"{name} quotes nothing"
    assert speed_quoted.quoted(text, stored("speed")) == text, (
        "run `python docs/_scripts/speed_quoted.py`"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_compares_speeds_by_hand(page) -> None:
    text = page.read_text("utf-8")
    if page.name != "README.md" and str(page.relative_to(ROOT)) not in speed_quoted.QUOTING:
        assert not speed_quoted.BLOCK.search(text), f"{page.name} is missing in QUOTING"
    by_hand = COMPARISON.search(speed_quoted.BLOCK.sub("", text))
    assert by_hand is None, by_hand


def test_a_fit_takes_milliseconds_as_it_is_said() -> None:
    assert 5e-4 < stored("speed")["fit"]["rows"]["bayescal, fit alone"]["seconds"] < 0.05


def test_two_digits_and_a_unit() -> None:
    assert speed_quoted.duration(0.02449) == "24 ms"
    assert speed_quoted.duration(123.4) == "120 s"
    assert speed_quoted.duration(3.14e-6) == "3.1 µs"


def test_the_samplers_error_is_ours() -> None:
    """The same draws, and other weights of the bootstrap."""
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    post = bc.fit(y, s, curve="beta", random_state=0)
    posterior = post.tree["posterior"]
    names = ("shift", "log_slope", "asymmetry")
    draws = np.stack([posterior[name].to_numpy() for name in names], axis=-1)
    theirs, ours = calibration_error(draws, s), post.tce().to_numpy()
    assert theirs.shape == ours.shape
    assert np.abs(theirs - ours).mean() < 0.3 * ours.std()
    assert theirs.mean() == pytest.approx(ours.mean(), abs=0.1 * ours.std())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, cell in speed_cells.CELLS.items() if cell.ours])
def test_each_kind_of_our_work_can_be_done(name, tmp_path) -> None:
    speed_cells.CELLS[name].prepare(*speed_cells.data(300), str(tmp_path))()
