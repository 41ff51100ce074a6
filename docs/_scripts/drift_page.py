"""Benchmark page on drift, from stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, stored

TARGET = 0.8
SUDDEN = "sudden"


def drift_page() -> str:
    """When a change was placed, the present error without one, and coverage of the present."""
    record = stored("drift")
    if not record:
        return ""
    table = pd.DataFrame.from_dict(record, orient="index")
    table.index.name = "truth"
    runs = sorted({int(number) for number in table["runs"]})
    sudden = table[table.index.str.startswith(SUDDEN)]
    placed = sudden[["placed", "placed_most_probable", "stated", "oracle"]].rename(
        columns={
            "placed": "best within one",
            "placed_most_probable": "most probable month",
            "stated": "probability stated",
        }
    )
    short = placed.index[placed["best within one"] < TARGET].tolist()
    missed = (
        f"The aim of 80 % within one month is missed for {'; '.join(short)}."
        if short
        else "The aim of 80 % within one month is reached in every cell."
    )
    explained = table[["constant", "sudden", "gradual"]]
    above = table[["above", "above_single", "moved"]].rename(
        columns={
            "above": "drift",
            "above_single": "one fit",
            "moved": "mean distance",
        }
    )
    coverage = {
        f"{label}, {who}": table[f"{key}_{name}"]
        for name, label in (("observed_expected", "O/E"), ("tce", "TCE"))
        for key, who in (("now", "drift"), ("alone", "last month"), ("single", "one fit"))
    }
    width = {
        f"{label}, {who}": table[f"{key}_{name}_width"]
        for name, label in (("observed_expected", "O/E"), ("tce", "TCE"))
        for key, who in (("now", "drift"), ("alone", "last month"), ("single", "one fit"))
    }
    paragraphs = [
        "# Drift",
        "Years of 100 patients a month, with no change, a sudden shift of the log-odds into the "
        f"seventh month, or one that grows from month to month; {' and '.join(map(str, runs))} "
        "simulated years a cell, logistic curves. Made by `docs/benchmarks/drift.py`.",
        "## When it changed",
        "Share of years in which the month is placed within one of the truth: by the largest "
        "`within_one` of `when_changed()`, and by the largest `if_sudden`. *Probability stated* is "
        "the mean of that `within_one`. The oracle knows the curve before, the size of the shift "
        f"and that there was one; no method does better. {missed}",
        markdown(placed),
        "## What explains the year",
        "Mean posterior probabilities; before the data they are 1/2, 1/4 and 1/4.",
        markdown(explained),
        "## P(TCE now > 0.05)",
        "Beside that of one fit of all months, which knows of no change; the last column is the "
        "mean of the distance between both.",
        markdown(above),
        "## Coverage of the present",
        "Shares of 95 % intervals that contain the last month's true value, over its scores, and "
        "their mean width: of the drift fit, of the last month alone, and of one fit of all "
        "months. Where the truth is calibrated, the TCE is zero, which no interval of a distance "
        "contains.",
        markdown(pd.DataFrame(coverage)),
        markdown(pd.DataFrame(width)),
    ]
    return "\n\n".join(paragraphs) + "\n"
