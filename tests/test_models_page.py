"""The page on comparing models shows what `docs/benchmarks/survival_models.py` stored."""

from __future__ import annotations

import json
from pathlib import Path

import survival_models as simulation

DOCS = Path(simulation.__file__).parents[1]
PAGE = DOCS / "how-to" / "compare-models.md"
STORED = json.loads((simulation.RESULTS / "survival_models.json").read_text("utf-8"))


def test_the_page_has_the_stored_coverage() -> None:
    page = PAGE.read_text("utf-8")
    assert simulation.page_table(STORED) in page
    assert simulation.stated_table(STORED) in page
    assert f"{STORED['runs']} simulated sets of {STORED['cases']} patients" in page


def test_an_interval_covers_as_it_says_where_leaving_tells_nothing() -> None:
    for row in STORED["rows"]:
        if row["leaving"] != "by the first score":
            error = (0.95 * 0.05 / row["sets"]) ** 0.5
            assert row["covered"] >= 0.92 - 2 * error, row
