"""Put tables of stored results into the pages that are written by hand.

    python docs/_scripts/page_tables.py

A table is found by its first line, which names the columns, and replaced as a whole. Sentences that
quote a number are held by the tests of each page.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

__all__ = ["TABLES", "Table", "in_page", "main"]

DOCS = Path(__file__).resolve().parents[1]
RESULTS = DOCS / "benchmarks" / "results"


class Table(NamedTuple):
    """Where a table stands, and what makes it of which stored results."""

    page: str
    script: str
    results: tuple[str, ...]
    function: str = "page_table"

    def made(self) -> str:
        """The table, in Markdown."""
        stored = [
            json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in self.results
        ]
        return str(getattr(import_module(self.script), self.function)(*stored))


DECIDING, TIMES = "explanation/deciding.md", "how-to/time-to-event.md"
TABLES = (
    Table("comparison.md", "slopes", ("slopes",)),
    Table(DECIDING, "deciding_coverage", ("kl_coverage",)),
    Table(DECIDING, "deciding_coverage", ("deciding_coverage",)),
    Table(DECIDING, "lower_bound", ("lower_bound",)),
    Table(DECIDING, "truthfulness", ("truthfulness",)),
    Table("how-to/groups.md", "sites_head", ("sites_head",)),
    Table("how-to/missing-outcomes.md", "imputed_outcomes", ("imputed_outcomes",)),
    Table("how-to/compare-models.md", "survival_models", ("survival_models",)),
    Table("how-to/compare-models.md", "survival_models", ("survival_models",), "stated_table"),
    Table("how-to/monitor.md", "unlabelled_coverage", ("unlabelled_coverage",)),
    Table("how-to/monitor.md", "unlabelled_rivals", ("unlabelled_rivals", "unlabelled_coverage")),
    Table("how-to/weights.md", "weights_coverage", ("weights_coverage",)),
    Table("how-to/stratos.md", "classification_coverage", ("classification_coverage",)),
    Table(TIMES, "survival_coverage", ("survival_coverage",)),
    Table(TIMES, "survival_twins", ("survival_twins",)),
    Table(TIMES, "survival_causes", ("survival_causes",)),
    Table(TIMES, "survival_gain", ("survival_gain",)),
    Table(TIMES, "survival_horizons", ("survival_horizons",)),
    Table(TIMES, "survival_clusters", ("survival_clusters",)),
    Table(TIMES, "survival_cost", ("survival_cost",)),
    Table(TIMES, "survival_sites", ("survival_sites",)),
    Table(TIMES, "survival_edges", ("survival_edges",), "edges_table"),
    Table(TIMES, "survival_second_opinions", ("survival_second_opinions", "survival_coverage")),
)


def in_page(text: str, table: str) -> str:
    """The page with this table in place of the one that has the same first line."""
    lines, new = text.split("\n"), table.split("\n")
    starts = [number for number, line in enumerate(lines) if line == new[0]]
    if len(starts) != 1:
        raise ValueError(f"{len(starts)} tables begin with {new[0]}")
    stop = next(
        (k for k in range(starts[0], len(lines)) if not lines[k].startswith("|")), len(lines)
    )
    return "\n".join([*lines[: starts[0]], *new, *lines[stop:]])


def main() -> None:
    """Replace what has changed, and name it."""
    sys.path.insert(0, str(DOCS / "benchmarks"))
    for table in TABLES:
        path = DOCS / table.page
        before = path.read_text("utf-8")
        after = in_page(before, table.made())
        if after != before:
            path.write_text(after, "utf-8")
            print(f"{table.page}: {', '.join(table.results)}")


if __name__ == "__main__":
    main()
