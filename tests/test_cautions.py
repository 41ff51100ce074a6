"""Coverage that is printed as a caution beside a number is the stored one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bayescal.posterior.functionals import FUNCTIONALS

REPOSITORY = Path(__file__).resolve().parents[1]


def stored(name: str) -> list[dict[str, Any]]:
    path = REPOSITORY / "docs/benchmarks/results" / f"{name}.json"
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return cells


def test_the_caution_of_emax_is_of_the_stored_coverage() -> None:
    cells = [cell for cell in stored("number_coverage") if cell["target"] == "emax"]
    least = {
        size: int(100 * min(cell["coverage"] for cell in cells if cell["size"] == size))
        for size in (200, 5000, 1_000_000)
    }
    assert least[1_000_000] == 0
    told = FUNCTIONALS["emax"].caution
    assert f"at least {least[200]} % of data sets of 200 cases" in told
    assert f"in {least[5000]} % of those of 5000 and in none of a million" in told


def test_what_is_said_of_cross_fitted_gains_is_the_stored_coverage() -> None:
    text = " ".join((REPOSITORY / "bayescal/gain/_result.py").read_text("utf-8").split())
    for what, words in {"procedure": "its gain in {}", "final": "all patients ({}"}.items():
        shares = [cell[what] for cell in stored("cross_fit_coverage")]
        ends = f"{min(shares):.2f}".removeprefix("0") + f" to {max(shares):.2f}".replace(" 0", " ")
        assert words.format(ends) in text
