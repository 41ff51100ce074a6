"""Tables that the page alone has: the checklist, and what was assessed."""

from __future__ import annotations

from collections.abc import Mapping

from bayescal.assessment.findings import Findings
from bayescal.assessment.tables.columns import words
from bayescal.assessment.text.tripod import tripod_items
from bayescal.core.table import Row, Table
from bayescal.core.text import count, shortened

__all__ = ["data_table", "tripod_table"]

LONGEST_VALUE = 80


def tripod_table(f: Findings, source: Mapping[str, object]) -> Table:
    """The items of TRIPOD+AI on calibration, filled in."""
    rows = [
        Row(item.number, item.number, {"text": item.text}, hint=item.topic)
        for item in tripod_items(f, source=source)
    ]
    title = "Items of the TRIPOD+AI checklist on calibration, filled in with this analysis"
    return Table("tripod", title, "Item", (words("text", "This analysis"),), rows)


def data_table(f: Findings, source: Mapping[str, object]) -> Table:
    """What was assessed, and with which settings."""
    data, problem = f.posterior.data, f.comparison.problem
    lines = dict(source)
    cells = " cells of a grid" if data.is_compressed else ""
    lines |= {
        "Cases": count(data.n),
        "Events": f"{count(data.events)} ({100 * data.events / data.n:.3g} %)",
        "Distinct predictions": count(data.score.size) + cells,
    }
    if f.data.groups:
        lines["Groups"] = count(len(f.data.groups))
    lines |= {
        "Prior on the curves": problem.prior.name,
        "Prior probability of exact calibration": f"{f.prior_calibrated:g}",
        "Close enough": f"a true calibration error below {f.close:g}",
        "Seed": str(f.seed),
    }
    rows = [
        Row(key, shortened(key), {"value": shortened(value, LONGEST_VALUE)})
        for key, value in lines.items()
    ]
    return Table("data", "Data and settings", "What", (words("value", "Value"),), rows)
