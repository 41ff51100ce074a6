"""Part of the page on several sites: robust against normal effects, from stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

NUMBERS = {"observed_expected": "O/E", "calibration_slope": "slope", "tce": "TCE"}
CELLS = {
    "one unlike": "one site of 14 unlike, of 150 patients",
    "two unlike": "two of 14 unlike on one side, of 150",
    "any size": "one of 14 unlike, of 20 to 500",
    "heavy tails": "t effects, 2.2 degrees of freedom",
    "equal": "15 equal sites",
    "normal .15": "15 sites, normal effects, sd 0.15",
    "normal .33": "15 sites, normal effects, sd 0.33",
    "five sites": "5 sites, normal effects, sd 0.33",
}


def robust_part() -> list[str]:
    """Coverage, interval scores and errors of robust and of normal effects."""
    cells = stored("sites_robust").get("cells", [])
    if not cells:
        return []
    runs = sorted({cell["runs"] for cell in cells})
    return [
        "## Robust and normal effects",
        "A site is like the others or, with probability 0.1 before the data, unlike them (the "
        'default); with `vary=bc.by("site", robust=False)` all effects are normal. From '
        f"{' to '.join(map(str, dict.fromkeys((runs[0], runs[-1]))))} data sets a cell, each "
        "fitted in both ways. Sites have 20 to 500 patients, and the population is calibrated. A "
        "site that is unlike the others has a shift of 1.2 and a slope of 0.6; the shifts of the "
        "others have standard deviation 0.12, and log slopes half of it. Made by "
        "`docs/benchmarks/sites_robust.py`.",
        "Coverage of 95 % intervals of the sites that are unlike the others, and how often such a "
        "site is found (its probability is above one half):",
        markdown(_unlike(cells), 2).replace("nan", ""),
        "Probability that the TCE of the next site is below 0.05, as it is and as it is stated on "
        "average, and coverage of the next site's TCE:",
        markdown(_next(cells), 2),
        "Interval scores of curves (smaller is better): of the unlike sites, of the rest, of the "
        "average of the like sites, and of the next site. The squared error of all sites' curves "
        "is relative to that of one curve for all patients:",
        markdown(_scores(cells), 3).replace("nan", ""),
        *_losses(cells),
    ]


def _table(cells: list[dict], rows: list[dict]) -> pd.DataFrame:
    index = pd.Index([CELLS[cell["cell"]] for cell in cells], name="cell")
    return pd.DataFrame(rows, index)


def _unlike(cells: list[dict]) -> pd.DataFrame:
    some, rows = [cell for cell in cells if cell.get("unlike")], []
    for cell in some:
        mean = cell["mean"]
        rows.append(
            {
                f"{title}, {how}": mean[f"{how}.unlike.{name}"]
                for name, title in NUMBERS.items()
                for how in ("robust", "normal")
            }
            | {"found": mean["robust.found"], "others above one half": mean["robust.false"]}
        )
    return _table(some, rows)


def _next(cells: list[dict]) -> pd.DataFrame:
    rows = [
        {
            "true": cell["mean"]["truth"],
            "robust": cell["mean"]["robust.near"],
            "normal": cell["mean"]["normal.near"],
            "coverage, robust": cell["mean"]["robust.new.tce"],
            "coverage, normal": cell["mean"]["normal.new.tce"],
        }
        for cell in cells
    ]
    return _table(cells, rows)


def _scores(cells: list[dict]) -> pd.DataFrame:
    rows = []
    for cell in cells:
        mean = cell["mean"]
        row = {
            f"{title}, {how}": mean.get(f"{how}.{name}.score", float("nan"))
            for name, title in {
                "unlike": "unlike",
                "rest": "rest",
                "average": "average",
                "new": "next",
            }.items()
            for how in ("robust", "normal")
        }
        for how in ("robust", "normal"):
            row[f"error, {how}"] = mean[f"{how}.error"] / mean["pooled.error"]
        rows.append(row)
    return _table(cells, rows)


def _losses(cells: list[dict]) -> list[str]:
    """Where robust effects have the larger interval score or error."""
    scores, told = _scores(cells), []
    for name, row in scores.iterrows():
        worse = [
            f"{what} ({row[f'{what}, robust']:.3f} for {row[f'{what}, normal']:.3f})"
            for what in ("unlike", "rest", "average", "next", "error")
            if row[f"{what}, robust"] > row[f"{what}, normal"]
        ]
        if worse:
            told.append(f"* {name}: {', '.join(worse)}")
    return ["Where normal effects are better:", "\n".join(told)] if told else []
