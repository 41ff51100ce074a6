"""Benchmark page on the two readings of distances, from stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored
from number_pages import AIM, judged, readable

DISTANCES = ("tce", "tce_2", "e50", "e90", "emax")
MOST_FALSE = 0.05
VERDICTS = {
    "said_above_truth": (
        "Above the truth",
        "`prob_tce_above(true error)` is at least .95. Up to .05 is what chance allows.",
    ),
    "said_miscalibrated": (
        "Falsely miscalibrated",
        "`prob_tce_above` is at least .975 at 1.25 times the true error. With exact calibration "
        "that limit is 0.",
    ),
    "said_close": (
        "Falsely close enough",
        "`prob_tce_below` is at least .975 at .8 times the true error.",
    ),
}
ESTIMATE = {"estimate_rmse": "Root mean square error", "estimate_bias": "Mean error"}


def readings_page() -> str:
    """Coverage of distances, false verdicts, and the error of the estimate."""
    record = stored("readings")
    if not record:
        return ""
    table = pd.DataFrame(record["cells"]).astype({"size": int, "runs": int})
    cells = _by_distance(table)
    fewest, most = table["runs"].min(), table["runs"].max()
    more = f" to {most}" if most > fewest else ""
    paragraphs = [
        "# Coverage of the two readings",
        "Intervals and verdicts on distances from calibration, on simulated populations that were "
        f"not used to develop the method: {fewest}{more} data sets per cell. "
        "[What the draws are](../comparison.md#what-the-draws-of-a-distance-are) says how they "
        "are computed. Made by `docs/benchmarks/readings.py`; the populations are `UNSEEN` in "
        "`docs/benchmarks/truths.py`.",
        "## Where coverage is too low",
        *_short(cells),
        *_false_too_often(table),
        "## Coverage of 95 % intervals",
        "Share of the data sets in which the interval contains the true value.",
    ]
    for target in DISTANCES:
        mine = cells[cells["target"] == target]
        paragraphs += [f"**{readable(target)}**", markdown(_by_size(mine, "coverage"), 2)]
    paragraphs += ["## False verdicts", "Share of the data sets."]
    for column, (title, words) in VERDICTS.items():
        paragraphs += [f"**{title}.** {words}", markdown(_by_size(table, column), 2)]
    paragraphs += [
        "## The estimate of TCE_1",
        "The distance of the posterior mean curve, against the true value.",
    ]
    for column, title in ESTIMATE.items():
        wide = _by_size(table, column)
        wide.insert(0, "true TCE", table.groupby("truth")["tce_true"].first()[wide.index])
        paragraphs += [f"**{title}**", markdown(wide, 4)]
    return "\n\n".join(paragraphs) + "\n"


def _by_distance(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each population, size and distance, with whether its coverage falls short."""
    parts = [
        table[["truth", "size", "runs"]].assign(
            target=target,
            coverage=table[f"{target}_coverage"],
            too_high=table[f"{target}_misses_below"],
        )
        for target in DISTANCES
    ]
    return judged(pd.concat(parts, ignore_index=True))


def _short(cells: pd.DataFrame) -> list[str]:
    """The cells that do not cover, worst first, and how many there are of each distance."""
    short = cells[cells["short"]].sort_values("coverage")
    counts = cells.groupby("target")["short"].agg(["sum", "size"]).loc[list(DISTANCES)]
    words = ", ".join(
        f"{readable(str(target))} in {row['sum']} of {row['size']}"
        for target, row in counts.iterrows()
    )
    first = (
        f"Cells (a population at one number of patients) in which coverage is below {AIM:.2f} by "
        f"more than two Monte Carlo errors: {words}."
    )
    if short.empty:
        return [first]
    shown = short.assign(too_low=1 - short["coverage"] - short["too_high"]).rename(
        columns={
            "truth": "population",
            "size": "n",
            "coverage": "covered",
            "too_low": "interval below the truth",
            "too_high": "interval above the truth",
        }
    )
    shown.index = pd.Index(shown["target"].map(readable), name="distance")
    columns = ["population", "n", "runs", "covered", "interval below the truth"]
    return [first, markdown(shown[[*columns, "interval above the truth"]], 2)]


def _false_too_often(table: pd.DataFrame) -> list[str]:
    """Cells in which a verdict is false in more than one data set of twenty."""
    rows = []
    for column, (title, _) in VERDICTS.items():
        many = table[table[column] > MOST_FALSE]
        rows.append(
            many[["truth", "size", "runs"]].assign(statement=title.lower(), share=many[column])
        )
    result = pd.concat(rows).sort_values("share", ascending=False)
    means = ", ".join(
        f"*{title.lower()}* {table[column].mean():.3f}" for column, (title, _) in VERDICTS.items()
    )
    words = f"False statements, explained below, as a mean over all cells: {means}."
    if result.empty:
        return [f"{words} In no cell is one of them more frequent than {MOST_FALSE:.2f}."]
    shown = result.rename(columns={"truth": "population", "size": "n"}).set_index("statement")
    return [
        f"{words} Cells with more than {MOST_FALSE:.2f}:",
        markdown(shown[["population", "n", "runs", "share"]], 2),
    ]


def _by_size(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Populations by numbers of patients."""
    wide = table.pivot(index="truth", columns="size", values=column)
    wide.index.name = "population"
    return wide.loc[table["truth"].unique()].rename(columns=lambda n: f"n = {n}")
