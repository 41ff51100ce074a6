"""What the pages say of the coverage of gains is what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import bayescal as bc
import gain_coverage

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELLS = json.loads((DOCS / "benchmarks/results/gain_coverage.json").read_text("utf-8"))["cells"]
PAGE = " ".join((DOCS / "explanation/gain.md").read_text("utf-8").split())


def covered(measure: str, *names: str, method: str = "curve") -> list[str]:
    """Shares of the intervals, of scenarios that start with these names, by size."""
    cells = [
        cell
        for cell in CELLS
        if (cell["method"], cell["measure"]) == (method, measure)
        and cell["truth"].startswith(names)
    ]
    assert {cell["runs"] for cell in cells} == {100}
    return [f"{cell['coverage']:.2f}".removeprefix("0") for cell in cells]


def test_coverage_of_the_fall_in_tce_is_the_stored_one() -> None:
    mended = covered("tce", "over-confident, mended")
    exact_before = sorted(covered("tce", "calibrated"), key=float)
    neither = sorted(covered("tce", "shifted", "sine"), key=float)
    assert f"in {mended[0]}, {mended[1]} and {mended[2]} of 100 simulated" in PAGE
    assert f"in {exact_before[0]} to {exact_before[-1]} if those before were" in PAGE
    assert f"in {neither[0]} to {neither[-1]} ([the benchmark]" in PAGE
    paired = sorted(covered("tce", "", method="paired"), key=float)
    assert f"in {paired[0]} to {paired[-1]} of 100 data sets in each setting" in PAGE
    told = " ".join((bc.recalibration_gain.__doc__ or "").split())
    assert f"{mended[0]}, {mended[1]} and {mended[2]} of 100 data sets" in told
    assert f"in {exact_before[0]} to {exact_before[-1]} if the predictions before" in told
    assert f"in {neither[0]} to {neither[-1]} otherwise" in told
    assert f"in {paired[0]} to {paired[-1]} of 100 data sets of each" in told


def test_coverage_of_a_decision_next_to_the_trough_of_a_wave_is_the_stored_one() -> None:
    wave = sorted(covered("net_benefit@0.4", "sine"), key=float)
    assert f"the true change in {wave[0]} to {wave[-1]}." in PAGE


def test_coverage_with_few_clusters_is_the_stored_one() -> None:
    path = DOCS / "benchmarks/results/gain_clusters.json"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    tce = [cell["coverage"] for cell in cells if cell["measure"] == "tce"]
    others = [cell["coverage"] for cell in cells if cell["measure"] != "tce"]
    shown = [f"{value + 1e-9:.2f}".removeprefix("0") for value in (min(others), max(others))]
    assert f"[cover {shown[0]} to {shown[1]}]" in PAGE
    assert f"and {min(tce):.2f} to {max(tce):.2f} of falls in TCE".replace("and 0", "and ") in PAGE


def test_coverage_of_decisions_that_change_for_one_or_two_is_the_stored_one() -> None:
    few = set()
    for scenario in gain_coverage.SCENARIOS:
        before, _, after = scenario.nodes()
        for threshold in gain_coverage.THRESHOLDS:
            moved = np.mean((before >= threshold) != (after >= threshold))
            few |= {
                (scenario.name, n, f"net_benefit@{threshold:g}")
                for n in gain_coverage.SIZES
                if n * moved < 2.5
            }
    told = " ".join((bc.recalibration_gain.__doc__ or "").split())
    for method, words in {"curve": "by the curve", "paired": "by pairs"}.items():
        shares = [
            f"{cell['coverage']:.2f}"[1:]
            for cell in CELLS
            if (cell["truth"], cell["size"], cell["measure"]) in few and cell["method"] == method
        ]
        assert len(shares) == 5
        assert f"{min(shares)} to {max(shares)} {words}" in told
