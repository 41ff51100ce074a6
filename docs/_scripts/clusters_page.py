"""The page on cases that come in clusters, from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, standard_error, stored

TITLES = {
    "observed_expected": "O/E",
    "calibration_slope": "Calibration slope",
    "tce": "True calibration error",
}
ESTIMATORS = {"ece": "ECE, 10 bins", "ici": "ICI", "ks_error": "KS"}
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
    lines += _inside_groups() + _consistency() + _left_out()
    return "\n\n".join(lines) + "\n"


def _consistency() -> list[str]:
    """How often a calibrated model is called miscalibrated."""
    cells = stored("consistency_clusters").get("cells", {})
    if not cells:
        return []
    runs = min(cell["runs"] for cell in cells.values())
    rows = []
    for name, cell in cells.items():
        for estimator in ESTIMATORS:
            own, other = (cell["below"][f"{how}.{estimator}"] for how in ("cluster", "independent"))
            row = {"clusters": name, "estimator": ESTIMATORS[estimator], "data sets": cell["runs"]}
            rows.append(row | {"with cluster=": own, "without": other})
    return [
        "## p-values of `check_consistency`",
        "The share of data sets in which the p-value is below .05. Models are calibrated for the "
        "population, except in *scores too high* (by 0.6 on the log-odds), so that the share "
        f"should be .05. At least {runs} data sets a row, 400 replicates each; two standard errors "
        f"are {2 * standard_error(0.05, runs):.3f}. One correlation stands for all cases of a "
        "cluster, so that a random slope leaves the check a little too ready to reject. "
        "Effects of clusters on the log-odds have the standard deviation 0.7 (1.3 in *very alike*, "
        "1.0 in clusters of 4, 0.5 beside a random slope of 0.4, 0 in *independent*), and the "
        "scores differ between clusters too. Made by `docs/benchmarks/consistency_clusters.py`.",
        markdown(pd.DataFrame(rows).set_index(["clusters", "estimator"])),
    ]


def _left_out() -> list[str]:
    """Leave-one-out of clusters beside fits without each cluster."""
    cells = stored("clusters_left_out").get("cells", [])
    if not cells:
        return []
    rows = [
        {
            "sd of effects": cell["frailty"],
            "family": cell["family"],
            "data sets": cell["sets"],
            "design effect": cell["design_effect"],
            "difference": cell["error"],
            "root mean square": cell["error_root_mean_square"],
            "parts as of independent cases": cell["error_of_full_parts"],
            "largest Pareto k-hat": cell["pareto_k"],
        }
        for cell in cells
    ]
    return [
        "## Leave-one-out of clusters",
        "`elpd_loo` of `bayescal.compare(..., cluster=)` less that of fits without each of the 20 "
        "clusters of 15 cases, of an overconfident model. *Parts as of independent cases* takes "
        "out of the posterior what a cluster's cases would tell if they were independent, which is "
        "what leave-one-out does without knowing of the flatter likelihood. *Design effect* is the "
        "median. Made by `docs/benchmarks/clusters_left_out.py`.",
        markdown(pd.DataFrame(rows).set_index(["sd of effects", "family"]), digits=2),
    ]


def _inside_groups() -> list[str]:
    """Coverage where clusters are inside sites, factors or months."""
    cells = stored("cluster_groups").get("cells", {})
    if not cells:
        return []
    runs = min(cell["runs"] for cell in cells.values())
    rows = []
    for name, cell in cells.items():
        for key, (covered, length) in cell["cluster"].items():
            who, _, functional = key.partition(".")
            if functional not in TITLES:
                continue
            without, shorter = cell["independent"][key]
            row = {"patients": name, "of": who, "measure": TITLES[functional]}
            row |= {"data sets": cell["runs"], "coverage, with cluster=": covered}
            rows.append(row | {"coverage, without": without, "length": length / shorter})
    changed = {
        name: tuple(cell[how]["changed"][0] for how in ("cluster", "independent"))
        for name, cell in cells.items()
        if cell["kind"] == "period"
    }
    told = "; ".join(f"{name}: {own:.2f} ({other:.2f})" for name, (own, other) in changed.items())
    table = pd.DataFrame(rows).set_index(["patients", "of", "measure"])
    covered = table["coverage, with cluster="]
    short = covered[covered < 0.95 - 2 * standard_error(0.95, table["data sets"])]
    low = "; ".join(f"{', '.join(where)}: {share:.3f}" for where, share in short.items())
    rarely = f"With `cluster=`, too rarely right by more than two standard errors: {low}."
    return [
        "## Patients inside sites, factors and months",
        "Patients have a random effect of standard deviation 1 on the log-odds, and are seen 6 "
        "times in one of 12 sites (20 patients each), 12 times in one of 6 sites (*few patients*, "
        "8 each), in two sites by turns, 6 times in one of 4 cells of two factors, or twice in "
        "each of 6 months; in *independent* each is seen once and has no effect. Curves are "
        "logistic. *Length* is relative to that without `cluster=`. Of months, *now* is the last "
        "one, and in the last rows the shift rose by 0.6 two months before the end. The truth of a "
        f"slope is that of the nearest logistic curve. At least {runs} data sets a row; two "
        "standard errors of a coverage near .95 are "
        f"{2 * standard_error(0.95, runs):.2f} for a single curve.",
        markdown(table),
        *([rarely] if low else []),
        "P(changed) above 0.9, with `cluster=` (and without), in this share of the data sets: "
        f"{told}. Visits of the same patients in all months tell more of a change than the fit "
        "takes from them, since it does not compare months within patients.",
        "Made by `docs/benchmarks/cluster_groups.py`.",
    ]


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
