"""Benchmark page on planned sizes: how often studies of that size reach what was planned."""

from __future__ import annotations

import pandas as pd

import planning_times
from benchmark_pages import markdown, standard_error, stored

COLUMNS = {
    "goal": "goal",
    "analysis": "analysis",
    "width": "width",
    "n": "planned size",
    "n_error": "its Monte Carlo error",
    "studies": "studies",
    "share": "goal reached",
    "share_error": "its Monte Carlo error",
}


PLANNED = {
    "n": "planned size",
    "n_error": "its Monte Carlo error",
    "share": "goal reached",
    "share_error": "its Monte Carlo error",
    "mean_width": "mean width",
    "assured_width": "assured width",
}


def planning_page() -> str:
    """The page; empty if there are no results."""
    record = stored("planning")
    if not record:
        return ""
    cells = pd.DataFrame(list(record.values()))
    right = cells["assumed"] == cells["actual"]
    studies = int(cells["studies"].min())
    parts = [
        "# Planned sizes",
        f"Sizes by `bayescal.plan` with assurance 0.8, and the share of at least {studies} "
        "simulated studies of that size that reach the goal. The studies are drawn case by case "
        "and analysed as planned: *curve* with `bayescal.fit` (the c-statistic by DeLong's "
        "interval), *average* as `bayescal.assess` does, its verdict included. Prevalence is "
        "0.2; under *prior clinical* the c-statistic is 0.75 and every study has a curve from the "
        "prior; *calibrated* is one calibrated model, and *overconfident* one whose log-odds are "
        "to be multiplied by 0.6. Made by `docs/benchmarks/planning.py`.",
        "## The assumed truth is right",
        _judged(cells[right]),
        _table(cells[right]),
        "## The assumed truth is wrong",
        "The size is planned under the first truth, and the studies are drawn from the second.",
        _table(cells[~right], wrong=True),
        "## Published sizes",
        "For ISARIC 4C, with the predictive distributions of its eight regions and the usual "
        "frequentist intervals, a published simulation asks for 397, 517 and 1172 patients "
        "(c-statistic, O/E and slope, assurance 0.9). `bayescal.plan(analysis='wald')` gives 395, "
        "517 and 1190, with Monte Carlo errors of 1, 3 and 3. The posterior of O/E is narrower "
        "than that interval, since it knows the scores: `analysis='curve'` asks for 412 (error 6).",
        *_of_clusters_and_sites(),
        *_of_times(),
    ]
    return "\n\n".join(parts) + "\n"


def _of_clusters_and_sites() -> list[str]:
    """Planned sizes of studies of clusters, and of several sites."""
    record = stored("planning_clusters")
    if not record:
        return []
    rows = pd.DataFrame.from_dict(record, orient="index").drop(columns="icc")
    icc = next(cell["icc"] for cell in record.values() if cell["icc"] is not None)
    rows.index.name = "goal"
    return [
        "## Clusters and sites",
        "The model is calibrated for the population. Patients of one cluster share an effect on "
        f"the log-odds (intra-cluster correlation {icc:.3f}); 12 sites differ with standard "
        "deviations of 0.3 (shift) and 0.15 (log slope). Studies of the planned size are drawn "
        "case by case and analysed with `bayescal.fit(..., cluster=)` or `bayescal.fit(..., "
        "vary='site')`, logistic curves. The share should be 0.8. *Assured width* is the width "
        "that 0.8 of the studies keep to. The design effect is that of O/E: of the slope it is "
        "too large where scores differ within clusters. Made by "
        "`docs/benchmarks/planning_clusters.py`.",
        markdown(rows.rename(columns=PLANNED)),
    ]


def _of_times() -> list[str]:
    """Planned sizes of studies whose patients leave before the horizon."""
    record = stored("planning_times")
    if not record:
        return []
    studies = min(row["sets"] for row in record["planned"])
    plan = record["riley_plan"]
    return [
        "## Patients who leave before the horizon",
        "The model is overconfident (slope 0.6, mean score 0.2), and its scores are risks by 5 "
        "years. Studies of the planned size are drawn case by case and analysed with "
        "`bayescal.fit(bc.Survival(...), ..., horizon=5, curve='logistic')`. The share should be "
        f"0.8; with {studies} studies its standard error is {standard_error(0.8, studies):.2f}. "
        "Made by `docs/benchmarks/planning_times.py`.",
        planning_times.reached_table(record),
        "Riley et al. (2022) simulate, too. They ask for the size at which the slope of "
        "pseudo-observations, in complementary log-log, has a given standard error on average. "
        "This is their setting whose linear predictor is normal (standard deviation 0.699, "
        "constant hazards, a mean risk of 0.17 by three years, before which 72 % leave). The "
        "published standard errors are from the comments of the code that the authors published; "
        "the other settings of the paper were not compared. Those of the next column are computed "
        "here from simulated studies. The last column is the mean standard deviation of the "
        "posterior of the same slope, of the beta family.",
        planning_times.riley_table(record),
        "The posterior is narrower than pseudo-observations, because it uses when patients left "
        "and weighs patients by what they tell. For a mean standard deviation of "
        f"{planning_times.PUBLISHED[plan['published']]:.4f}, `bayescal.plan` asks for "
        f"{plan['n']:,} patients; pseudo-observations take {plan['published']:,}.",
    ]


def _judged(cells: pd.DataFrame) -> str:
    """How many shares are the assurance up to three Monte Carlo errors of their own."""
    near = (cells["share"] - 0.8).abs() <= 3 * cells["share_error"]
    number = f"{int(near.sum())} of {len(cells)}"
    return f"The share is 0.8 up to three Monte Carlo errors in {number} plans."


def _table(cells: pd.DataFrame, *, wrong: bool = False) -> str:
    shown = cells.assign(
        width=cells["width"].map(lambda value: "" if pd.isna(value) else f"{value:g}"),
        n_error=cells["n_error"].round().astype(int),
    )
    title = shown["assumed"] + (", in truth " + shown["actual"] if wrong else "")
    table = shown[list(COLUMNS)].set_axis(list(COLUMNS.values()), axis=1)
    table.insert(0, "truth", title)
    head = ["truth", *COLUMNS.values()]
    rows = [
        [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row]
        for row in table.to_numpy().tolist()
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
