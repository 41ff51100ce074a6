"""The page on cases that come in clusters, from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

TITLES = {
    "observed_expected": "O/E",
    "calibration_slope": "Calibration slope",
    "tce": "True calibration error",
}
METHODS = {
    "cluster": "with cluster=",
    "independent": "without",
    "bootstrap": "cluster bootstrap",
}


def clusters_page() -> str:
    """Coverage and length of intervals, for each functional."""
    cells = stored("cluster_coverage").get("cells", [])
    if not cells:
        return ""
    lines = [
        "# Cases that come in clusters",
        "Clusters have a random effect on the log-odds that leaves the residuals of two of their "
        "cases with the correlation *ICC*; in one cell also a random slope (standard deviation "
        "0.3). Where the ICC is not 0 the scores differ between clusters too. *Coverage* is the "
        "share of 95 % intervals that contain the value of the population: of the averaged "
        "posterior of `bayescal.compare`, with and without `cluster=`, and of the percentiles of a "
        "bootstrap of clusters (of O/E, and of the ECE of ten bins, which is meant for the true "
        "calibration error). *Length* is the mean length, relative to that of the posterior "
        "without `cluster=`. Two standard errors of a coverage near .95 are .03 with 200 data "
        "sets. *Effective n* is the median. Made by `docs/benchmarks/cluster_coverage.py`.",
    ]
    for functional, title in TITLES.items():
        rows = [_row(cell, functional) for cell in cells]
        table = pd.DataFrame(rows).set_index(["clusters", "cases", "ICC", "random slope"])
        lines += [f"## {title}", markdown(table)]
    return "\n\n".join(lines) + "\n"


def _row(cell: dict, functional: str) -> dict:
    intervals = {row["method"]: row for row in cell["intervals"] if row["functional"] == functional}
    row = {
        "clusters": cell["clusters"],
        "cases": cell["n"],
        "ICC": cell["icc"],
        "random slope": "yes" if cell["slope_sd"] else "no",
        "data sets": cell["runs"],
        "effective n": round(cell["effective_n"]),
    }
    unit = intervals["independent"]["length"]
    for method, heading in METHODS.items():
        if method in intervals:
            row[f"coverage, {heading}"] = intervals[method]["covered"]
    for method in ("cluster", "bootstrap"):
        if method in intervals:
            row[f"length, {METHODS[method]}"] = intervals[method]["length"] / unit
    return row
