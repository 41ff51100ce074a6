"""What the page on clusters says of clusters inside groups is what was measured."""

import json
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELLS = json.loads((DOCS / "benchmarks/results/cluster_groups.json").read_text())["cells"]
CONSISTENCY = json.loads((DOCS / "benchmarks/results/consistency_clusters.json").read_text())[
    "cells"
]
PAGE = (DOCS / "how-to/clusters.md").read_text()
HOW = ("cluster", "independent")


def share(name, how, key):
    return CELLS[name][how][key][0]


def test_the_page_quotes_the_stored_numbers():
    now, changed = "now.observed_expected", "changed"
    first = [share("months", how, now) for how in ("cluster", "independent")]
    later = [share("months, change", how, changed) for how in ("cluster", "independent")]
    few = [
        share("few patients", how, "site.observed_expected") for how in ("cluster", "independent")
    ]
    shown = [f"{value:.2f}"[1:] for value in (*first, *later, *few)]
    text = " ".join(PAGE.split())
    assert f"truth in {shown[0]}, and in {shown[1]} without `cluster=`" in text
    assert f"in {shown[2]} of the series ({shown[3]} without)" in text
    assert f"truth in {shown[4]} ({shown[5]} without)" in text
    assert f"In {CELLS['months']['runs']} simulated series" in text
    assert f"In {CELLS['few patients']['runs']} sets of 6 hospitals" in text


def test_the_page_quotes_the_p_values():
    cell = CONSISTENCY["40 clusters of 25"]
    own, other = (f"{cell['below'][f'{how}.ece']:.2f}"[1:] for how in ("cluster", "independent"))
    text = " ".join(PAGE.split())
    assert f"In {cell['runs']} simulated sets of 40 clusters" in text
    assert f"below .05 in {own} of the sets ({other} without `cluster=`)" in text


def test_p_values_of_calibrated_models_are_below_5_percent_in_5_percent():
    for name, cell in CONSISTENCY.items():
        two_errors = 2 * (0.05 * 0.95 / cell["runs"]) ** 0.5
        for estimator in ("ece", "ici"):
            below = cell["below"][f"cluster.{estimator}"]
            assert below > 0.9 if cell["off"] else below == pytest.approx(0.05, abs=0.03), name
            assert cell["off"] or below < 0.05 + two_errors


def test_clusters_are_covered_where_independent_cases_are_not():
    for name in ("few patients", "factors", "months"):
        for key, (covered, length) in CELLS[name]["cluster"].items():
            if key.endswith("observed_expected"):
                assert covered >= 0.9
                assert covered > share(name, "independent", key)
                assert length > CELLS[name]["independent"][key][1]
    assert CELLS["independent"]["cluster"] == CELLS["independent"]["independent"]


def test_the_page_quotes_the_coverage_of_few_clusters():
    cells = json.loads((DOCS / "benchmarks/results/cluster_coverage.json").read_text())["cells"]
    told = {
        (cell["n"], cell["icc"], each["method"]): each
        for cell in cells
        for each in cell["intervals"]
        if cell["clusters"] == 20
        and cell["slope_sd"] == 0
        and each["functional"] == "observed_expected"
    }
    shown = {
        key: f"{told[*key]['covered'] + 1e-9:.2f}"[1:]
        for n in (1000, 4000)
        for key in ((n, 0.05, "cluster"), (n, 0.05, "independent"))
    }
    text = " ".join(PAGE.split())
    with_, without = ([shown[n, 0.05, how] for n in (1000, 4000)] for how in HOW)
    assert f"true O/E in {with_[0]} (1000 cases) and {with_[1]} (4000 cases)" in text
    assert f"and in {without[0]} and {without[1]} without" in text
    longer = max(
        told[n, 0.0, "cluster"]["length"] / told[n, 0.0, "independent"]["length"]
        for n in (1000, 4000)
    )
    assert f"they were at most {100 * (longer - 1):.0f} % longer" in text
