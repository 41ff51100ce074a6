"""The page on what is said of several sites at once, from the stored results."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmark_pages import markdown, standard_error, stored

POPULATIONS = {
    "sites": "each site",
    "all": "these patients",
    "average": "average site",
    "new": "next site",
}
MEASURES = {
    "brier": "Brier score",
    "tce": "true calibration error",
    "net_benefit@0.2": "net benefit at 0.2",
    "observed_expected": "O/E",
    "calibration_slope": "calibration slope",
}
TOLD = {
    "gain": (
        "The gain of a recalibration",
        "Coverage of 95 % intervals of `recalibration_gain` with groups. The map is that of the "
        "average site.",
    ),
    "optimism": (
        "Models that have not seen the site",
        "Coverage of 95 % intervals of `optimism` with groups: of what the model, fitted to all "
        "sites, meets at 40 new sites, and at the average site.",
    ),
    "compare": (
        "Two models",
        "Coverage of 95 % intervals of differences by `compare_models`; *length* is relative to "
        "that of the difference of unrelated draws of both models.",
    ),
}


def site_doors_page() -> str:
    """Coverage of every door, and how often what is said of an update comes true."""
    doors = stored("site_doors").get("doors", {})
    if not doors:
        return ""
    lines = [
        "# What is said of several sites at once",
        "Data sets of ten sites with 40 to 300 patients each. The shift of the sites' true curves "
        "has the standard deviation *spread*, and the log slope half of it. Coverage of the next "
        "site is the share of new sites whose value is in the interval. The sites of one data set "
        "depend on the same average, so that two standard errors of a coverage near .95 are "
        f"{_two_errors(doors)} with {_sets(doors)} data sets a row. Made by "
        "`docs/benchmarks/site_doors.py`.",
    ]
    for door, (title, told) in TOLD.items():
        if door in doors:
            table = covered(doors[door])
            lines += [f"## {title}", f"{told} {_lowest(table)}", markdown(table, 2)]
    if "recommend" in doors:
        lines += [
            "## Which update helps",
            "P(better) as `recommend` states it of one update, for each site and for the next, in "
            "four bins; and the share of cases in which the update truly lowers the Brier score. "
            "With a given spread all data sets are of one population, so that the share is nearly "
            "the same whatever the data of one set led to state: there stated and true need not "
            "agree, since the prior allows for other spreads. In the rows of spread *any* each "
            "data set has an average and spreads of its own, drawn at random; there stated and "
            "true can agree in each bin.",
            markdown(stated(doors["recommend"]), 2),
        ]
    return "\n\n".join(lines) + "\n"


def covered(cells: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Coverage of one door, a row for each population, measure and spread."""
    rows = []
    for spread, cell in cells.items():
        for key, value in cell.items():
            who, _, measure = key.partition(".")
            if who not in POPULATIONS or measure not in MEASURES:
                continue
            row: dict[str, Any] = {"of": POPULATIONS[who], "measure": MEASURES[measure]}
            row |= {"spread": spread, "data sets": cell["runs"], "coverage": value}
            if f"{key}.length" in cell:
                row["length"] = cell[f"{key}.length"]
            rows.append(row)
    return pd.DataFrame(rows).set_index(["of", "measure", "spread"]).sort_index()


def stated(cells: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Stated probabilities and how often they came true."""
    rows = []
    for who in ("sites", "new"):
        for spread, cell in cells.items():
            for number, told, true in cell[who]:
                row: dict[str, Any] = {"of": POPULATIONS[who], "spread": spread}
                rows.append(row | {"statements": number, "stated": told, "true": true})
    return pd.DataFrame(rows).set_index(["of", "spread"])


def _lowest(table: pd.DataFrame) -> str:
    """The row with the lowest coverage, as a sentence."""
    who, measure, spread = table["coverage"].idxmin()
    least = float(table["coverage"].min())
    return f"The lowest coverage is {least:.2f}: of {who}, {measure}, spread {spread}."


def _sets(doors: dict[str, Any]) -> int:
    """Fewest data sets of a row."""
    return min(cell["runs"] for cells in doors.values() for cell in cells.values())


def _two_errors(doors: dict[str, Any]) -> str:
    return f"{2 * standard_error(0.95, _sets(doors)):.2f}"
