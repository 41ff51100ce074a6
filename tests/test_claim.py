"""The page of the claim and the paper say what its benchmark stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import benchmark_pages

DOCS = Path(__file__).resolve().parents[1] / "docs"
OURS = "bayescal"
TABLES = {name: it["rows"] for name, it in benchmark_pages.stored("claim")["tables"].items()}


def share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def of(method: str, column: str, n: int | None = None) -> list[Any]:
    return [
        row[column]
        for row in TABLES["by_size"]
        if row["method"] == method and n in (None, row["n"])
    ]


def contains_zero(method: str, exact: bool) -> float:
    """The mean over sizes; each has as many sets."""
    rows = [r for r in TABLES["zero"] if r["method"] == method and r["exact"] == exact]
    return float(sum(row["contains 0"] for row in rows) / len(rows))


def test_the_table_of_methods_is_what_was_measured() -> None:
    page = (DOCS / "claim.md").read_text("utf-8")
    for method in dict.fromkeys(row["method"] for row in TABLES["by_size"]):
        coverage, own = of(method, "coverage"), of(method, "own aim")
        width, bias = (of(method, name, 500)[0] for name in ("width", "bias"))
        cells = (
            method,
            f"{share(min(coverage))} to {share(max(coverage))}",
            f"{share(min(own))} to {share(max(own))}",
            share(contains_zero(method, True)),
            f"{width:.3f}".removeprefix("0"),
            f"{bias:+.3f}".replace("0.", ".").replace("-", "−"),
        )
        assert f"| {' | '.join(cells)} |" in page, cells


def test_the_table_of_kinds_is_what_was_measured() -> None:
    page = (DOCS / "claim.md").read_text("utf-8")
    lowest = {}
    for row in TABLES["cells"]:
        n, value = min(((n, row[n]) for n in row if n != "kind"), key=lambda cell: cell[1])
        lowest[row["kind"]] = f"{share(value)} ({n})"
    for row in TABLES["by_kind"]:
        peers = ("ECE, 10 equal-mass, basic bootstrap", "debiased ECE, Sun et al.")
        cells = [row["kind"], share(row["coverage"]), lowest[row["kind"]]]
        cells += [share(row[name]) for name in peers]
        assert f"| {' | '.join(cells)} |" in page, cells
