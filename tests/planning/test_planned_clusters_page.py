"""What the page on planning says of clusters and hospitals is what was measured."""

import json
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
CELLS = json.loads((DOCS / "benchmarks/results/planning_clusters.json").read_text())
PAGE = " ".join((DOCS / "how-to/plan.md").read_text().split())


def shares(*words: str) -> list[float]:
    return [cell["share"] for name, cell in CELLS.items() if all(word in name for word in words)]


def as_told(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def test_the_page_quotes_the_stored_shares() -> None:
    by_cluster, average = shares("O/E", "clusters"), shares("average site")
    least, most = as_told(min(by_cluster)), as_told(max(by_cluster))
    assert f"as planned in {least} to {most} of 200 studies" in PAGE
    assert shares("slope", "clusters") == [1.0]
    low, high = as_told(min(average)), as_told(max(average))
    assert f"average hospital in {low} to {high} of 60 studies" in PAGE
    assert f"next hospital in {as_told(shares('next site')[0])}." in PAGE


def test_shares_are_those_planned_but_of_the_slope_of_clusters() -> None:
    for name, cell in CELLS.items():
        if not name.startswith("slope, clusters"):
            assert abs(cell["share"] - 0.8) < 3 * cell["share_error"], name
