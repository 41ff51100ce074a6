"""Benchmark page on the verdict of an assessment, made from the stored results."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark_pages import standard_error, stored

YES_BAR, WRONG_BAR, SETTLED_BAR = 0.05, 0.05, (0.65, 0.95)
"""As in `docs/benchmarks/verdict.py`, where they were written before the first run."""
MEANT = 0.8


def verdict_page() -> str:
    """The page; empty if there are no results."""
    record = stored("verdict")
    if not record:
        return ""
    table = pd.DataFrame(list(record.values()))
    parts = {name: rows.dropna(axis=1, how="all") for name, rows in table.groupby("part")}
    if set(parts) != {"calibrated", "off", "settle"}:
        return ""
    sections = [
        "# Is the verdict right?",
        "The first answer of `bayescal.assess`, `a.off`, on simulated data sets: is the model off, "
        "and which way? Populations and what is asked were written down before the first run. "
        f"{_sets(table)} Made by `docs/benchmarks/verdict.py`, with 1000 draws and 95 % intervals.",
        "## Calibrated models",
        _of_calibrated(parts["calibrated"]),
        "## Models that are off",
        _of_off(parts["off"]),
        "## How many more patients would settle it",
        _of_settle(parts["settle"]),
    ]
    return "\n\n".join(sections) + "\n"


def _sets(table: pd.DataFrame) -> str:
    """How many data sets a row has, by number of patients and part."""
    counts = table.dropna(subset="runs").groupby("runs").size()
    told = " or ".join(f"{runs:.0f}" for runs in sorted(counts.index, reverse=True))
    return f"Each row of the first two tables has {told} data sets."


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Answers and verdicts as shares of the data sets."""
    names = ["yes", "no sign", "cannot say", "miscalibrated"]
    return rows.assign(**{name: rows[name] / rows["runs"] for name in names})


def above_the_bar(rows: pd.DataFrame) -> list[str]:
    """Cells in which more than 5 % say yes, by more than two standard errors."""
    most = YES_BAR + 2 * standard_error(YES_BAR, rows["runs"])
    wrong = rows[rows["yes"] / rows["runs"] > most]
    return [f"{row['name']}, n = {row['n']:.0f}" for _, row in wrong.iterrows()]


def _of_calibrated(rows: pd.DataFrame) -> str:
    shown = shares(rows)
    over = above_the_bar(rows)
    judged = f"This is so but for {'; '.join(over)}." if over else "This is so in every cell."
    text = (
        "At most .05 should be answered by *yes*, up to two standard errors in each cell. "
        f"{judged} The mean over the cells is {shown['yes'].mean():.3f}, and the largest share "
        f"{shown['yes'].max():.3f}. With fewer than 20 events, *no sign* is replaced by *cannot "
        "say*."
    )
    return f"{text}\n\n{_markdown(shown, ['yes', 'no sign', 'cannot say'])}"


def _of_off(rows: pd.DataFrame) -> str:
    shown = shares(rows)
    named, wrong = rows["named"].sum(), rows["wrong"].sum()
    text = (
        "The share of *yes* is how often the error is detected. *above the limit* is the share of "
        "data sets with an error above the default limit with probability .975 or more. Of all "
        f"{named:,.0f} ways that were named, {wrong:.0f} were wrong ({wrong / named:.3f}; at most "
        f"{WRONG_BAR} was asked)."
    )
    shown = shown.assign(TCE=rows["tce"]).rename(columns={"miscalibrated": "above the limit"})
    columns = ["TCE", "yes", "no sign", "cannot say", "above the limit"]
    return f"{text}\n\n{_markdown(shown, columns)}"


def needed(row: pd.Series) -> float:
    """Patients with which the share of settled studies is 0.8, by interpolation on a log scale.

    Infinite if it is less with the largest studies.
    """
    if max(row["shares"]) < MEANT:
        return np.inf
    logs = np.interp(MEANT, np.maximum.accumulate(row["shares"]), np.log(row["sizes"]))
    return float(np.exp(logs))


def _of_settle(rows: pd.DataFrame) -> str:
    ratios = [needed(row) / row["more"] for _, row in rows.iterrows()]
    reached = [ratio for ratio in ratios if np.isfinite(ratio)]
    at = [row["shares"][row["sizes"].index(row["more"])] for _, row in rows.iterrows()]
    outside = sum(not SETTLED_BAR[0] <= share <= SETTLED_BAR[1] for share in at)
    text = (
        "Where the verdict on the limit is not settled, a report says how many more patients would "
        "probably settle it. Here studies with so many more patients were simulated from the "
        "posterior, added to the data, and assessed. With the number told, "
        f"{min(at):.2f} to {max(at):.2f} of them were settled (.8 is meant; {SETTLED_BAR[0]} to "
        f"{SETTLED_BAR[1]} was asked, which {outside} of {len(rows)} do not meet). The number with "
        f"which .8 are settled is {min(ratios):.2f} to {max(reached):.2f} times the number told, "
        f"and more than twice of it for {len(ratios) - len(reached)} of {len(rows)}. Each row is "
        "of one data set and some sixty studies, so that the standard error of a share is .05."
    )
    head = ["data set", "n", "limit", "P(below)", "told", "a quarter", "half", "as told", "twice"]
    body = [
        [
            row["name"],
            f"{row['n']:.0f}",
            f"{row['close']:g}",
            f"{row['below']:.2f}",
            f"{row['more']:,.0f}",
            *(f"{share:.2f}" for share in row["shares"]),
        ]
        for _, row in rows.iterrows()
    ]
    lines = [head, ["---"] * len(head), *body]
    return text + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _markdown(rows: pd.DataFrame, columns: list[str]) -> str:
    head = ["population", "n", *columns]
    body = [
        [row["name"], f"{row['n']:,.0f}", *(f"{row[name]:.3f}" for name in columns)]
        for _, row in rows.iterrows()
    ]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
