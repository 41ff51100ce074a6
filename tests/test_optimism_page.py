"""What is stated of optimism() is what was stored."""

from __future__ import annotations

from pathlib import Path

import bayescal as bc
from benchmark_pages import stored
from optimism_page import optimism_page

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "development-data.md"


def shares(name: str, kind: str) -> list[float]:
    return [cell[name][kind] for cell in stored("optimism")["cells"].values()]


def test_the_stated_coverage_was_measured() -> None:
    text = " ".join(HOW_TO.read_text("utf-8").split())
    notes = " ".join((bc.optimism.__doc__ or "").split())
    error, ratio, slope = (
        shares(name, "posterior") for name in ("tce", "observed_expected", "calibration_slope")
    )
    assert f"{min(error):.0%} to {max(error):.0%}".replace("%", "") == "92 to 100"
    assert "of new patients in 92 to 100 %" in text
    assert (round(min(slope), 2), round(max(slope), 2)) == (0.88, 0.91)
    assert "the calibration slope in 88 to 91 %" in text
    assert (round(min(ratio), 2), round(max(ratio), 2)) == (0.88, 0.95)
    assert "O/E in .88 to .95 and the slope in .88 to .91" in notes
    *regressions, chosen, forest = shares("calibration_slope", "bootstrap")
    assert (round(min(regressions), 2), round(max(regressions), 2)) == (0.85, 0.93)
    assert (chosen, forest) == (0.83, 0.0)


def test_the_page_has_every_cell() -> None:
    page = optimism_page()
    assert all(page.count(f"| {name} |") == 3 for name in stored("optimism")["cells"])


def test_intervals_cover_the_error_of_new_patients_and_apparent_ones_do_not() -> None:
    assert min(shares("tce", "posterior")) >= 0.9
    assert min(shares("tce", "apparent")) == 0
