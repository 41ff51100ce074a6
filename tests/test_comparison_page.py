"""The page on the average over families: the table of slopes, and what it is said to show."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import slopes
from bayescal.model.priors import MODEST

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"
STORED = json.loads((slopes.RESULTS / "slopes.json").read_text("utf-8"))
ROWS = pd.DataFrame(STORED["rows"]).set_index(list(slopes.KEYS))


def covered(fit: str) -> pd.Series:
    """Of the slopes from 0.6 to 1.4 that are not 1, with 400 and 1000 patients."""
    cells = ROWS["covered"].xs(("calibration_slope", fit), level=("number", "fit"))
    return cells.loc[[0.6, 0.7, 1.4], [400, 1000], :]


def test_the_page_has_the_stored_slopes() -> None:
    page = PAGE.read_text("utf-8")
    assert slopes.page_table(STORED) in page
    (sets,) = ROWS["data_sets"].unique()
    assert f"on the same {sets} data sets a cell" in page
    words = "{:.0f} to {:.0f} %"
    for fit in ("average", "former", "logistic"):
        percent = 100 * covered(fit)
        assert words.format(percent.min(), percent.max()) in page


def test_the_second_scale_is_the_one_that_the_page_tells() -> None:
    page = " ".join(PAGE.read_text("utf-8").split())
    told = "a shift of standard deviation {} and a log slope of standard deviation {}"
    assert told.format(MODEST.shift.sigma, MODEST.log_slope.sigma) in page
    assert slopes.FORMER.log_slope.sigma == pytest.approx(0.2)


def test_intervals_of_the_slope_cover_more_often_than_before_and_cost_little() -> None:
    assert covered("average").min() >= 0.86
    assert (covered("average") >= covered("former")).all()
    calibrated = ROWS["score"].loc[1.0].unstack("fit")
    assert (calibrated["average"] / calibrated["former"]).max() < 1.07


def test_the_true_slopes_are_those_of_the_populations() -> None:
    for slope, truth in slopes.TRUTHS.items():
        assert truth.functional("calibration_slope") == pytest.approx(slope, abs=1e-6)
        assert slopes.TRUE[slope]["calibration_slope"] == pytest.approx(slope, abs=1e-6)


def test_the_page_has_the_stored_coverage_of_bends() -> None:
    cells = json.loads((slopes.RESULTS / "bends.json").read_text("utf-8"))["cells"]
    page, band = PAGE.read_text("utf-8"), pd.DataFrame(cells).set_index(["truth", "n"])["band"]
    (runs,) = {cell["runs"] for cell in cells}
    assert f"({runs} data sets per cell, `docs/benchmarks/bends.py`" in page
    for truth in band.index.unique("truth"):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {truth}: ")]
        shown = [f"{band[truth, n]:.2f}"[1:] for n in (100_000, 1_000_000)]
        assert row.endswith(f"| {shown[0]} | {shown[1]} |")
    assert f"faint wave with 100 000 cases ({band['faint wave', 100_000]:.2f})".replace(
        "(0.", "(."
    ) in (page)
