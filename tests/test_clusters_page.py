"""What the page on clusters says of clusters inside groups is what was measured."""

import json
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELLS = json.loads((DOCS / "benchmarks/results/cluster_groups.json").read_text())["cells"]
PAGE = (DOCS / "how-to/clusters.md").read_text()


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


def test_clusters_are_covered_where_independent_cases_are_not():
    for name in ("few patients", "factors", "months"):
        for key, (covered, length) in CELLS[name]["cluster"].items():
            if key.endswith("observed_expected"):
                assert covered >= 0.9
                assert covered > share(name, "independent", key)
                assert length > CELLS[name]["independent"][key][1]
    assert CELLS["independent"]["cluster"] == CELLS["independent"]["independent"]
