"""What is asked of recommended updates, written before the benchmark was run.

`kinds` and `calibrated` are tables with a row for each data set, as
`docs/benchmarks/recommend.py` stores them. A statement is P(better) of one update on one data set;
it is true if the update, as it was fitted, has a lower expected Brier score than no update under
the true curve and the true law of the scores. The column `former` has the choice of another rule:
the simplest update whose expected log score is within one standard error of the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from benchmark_pages import standard_error
from one_posterior_bars import MANY, Bar, at_least, at_most, reliability

Parts = Mapping[str, pd.DataFrame]

UPDATES = ("intercept", "logistic", "beta", "lapse", "spline")
FEWEST = 20
WORTH = 0.002
"""A true gain in Brier score that is worth an update."""


def bars(parts: Parts) -> list[Bar]:
    """Every bar."""
    kinds = parts["kinds"]
    kinds = kinds[enough(kinds)].reset_index(drop=True)
    return [
        at_least(0, "populations with 20 events and non-events or more", 900, len(kinds)),
        *of_probabilities(kinds),
        *of_intervals(kinds),
        *of_calibrated(parts["calibrated"]),
        *of_power(kinds),
        *of_few(pd.concat([parts["kinds"], parts["calibrated"]], ignore_index=True)),
    ]


def enough(table: pd.DataFrame) -> pd.Series:
    """Whether there are enough events and non-events to recommend anything."""
    return np.minimum(table["events"], table["n"] - table["events"]) >= FEWEST


def statements(table: pd.DataFrame, update: str | None = None) -> pd.DataFrame:
    """A row for each stated P(better): of one update, or of the update that was chosen."""
    if update is not None:
        rows = table.assign(update=update)
    else:
        rows = table[table["choice"].isin(UPDATES)].assign(update=lambda t: t["choice"])
    return pd.DataFrame(
        {
            "kind": rows["kind"],
            "n": rows["n"],
            "update": rows["update"],
            "stated": of_update(rows, "prob"),
            "true_gain": of_update(rows, "true"),
            "gain": of_update(rows, "gain"),
            "lower": of_update(rows, "lower"),
            "upper": of_update(rows, "upper"),
        }
    ).assign(true=lambda t: t["true_gain"] > 0)


def of_update(rows: pd.DataFrame, what: str) -> pd.Series:
    """A number of the update that is named in each row."""
    values = rows["update"].map(lambda name: f"{name}_{what}")
    return pd.Series(
        [rows.at[index, column] for index, column in values.items()], rows.index, dtype=float
    )


def all_statements(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([statements(table, update) for update in UPDATES], ignore_index=True)


def gap(rows: pd.DataFrame) -> float:
    """Largest difference of stated and true in a bin of many statements; nan if none has many."""
    table = reliability(rows)
    return float(table.loc[table["count"] >= MANY, "gap"].max())


def of_probabilities(kinds: pd.DataFrame) -> Iterator[Bar]:
    for update in UPDATES:
        yield at_most(
            1, f"largest gap of stated and true, {update}", 0.08, gap(statements(kinds, update))
        )
    chosen = statements(kinds)
    yield at_most(2, "largest gap of stated and true, the chosen update", 0.08, gap(chosen))
    mean = abs(chosen["stated"].mean() - chosen["true"].mean())
    yield at_most(2, "mean stated less share true, the chosen update", 0.08, mean)


def covered(rows: pd.DataFrame) -> float:
    return float(
        ((rows["lower"] <= rows["true_gain"]) & (rows["true_gain"] <= rows["upper"])).mean()
    )


def of_intervals(kinds: pd.DataFrame) -> Iterator[Bar]:
    for update in UPDATES:
        yield at_least(
            3, f"coverage of the gain at 95 %, {update}", 0.93, covered(statements(kinds, update))
        )
    yield at_least(
        3, "coverage of the gain at 95 %, the chosen update", 0.93, covered(statements(kinds))
    )


def updated_share(calibrated: pd.DataFrame) -> pd.DataFrame:
    """By cell of calibrated data: sets, and shares in which an update is recommended."""
    grouped = calibrated.groupby(["rate", "n"])
    return pd.DataFrame(
        {
            "sets": grouped.size(),
            "updated": grouped["choice"].agg(lambda c: c.isin(UPDATES).mean()),
            "former": grouped["former"].agg(lambda c: c.isin(UPDATES).mean()),
        }
    )


def of_calibrated(calibrated: pd.DataFrame) -> Iterator[Bar]:
    table = updated_share(calibrated)
    for (rate, n), row in table.iterrows():
        bound = 0.02 + 2 * standard_error(0.02, row["sets"])
        words = f"share of calibrated sets with an update, {100 * rate:g} % events, n = {n}"
        yield at_most(4, words, round(float(bound), 4), row["updated"])
    sets = table["sets"].sum()
    bound = 0.02 + 2 * standard_error(0.02, sets)
    share = calibrated["choice"].isin(UPDATES).mean()
    yield at_most(4, "share of calibrated sets with an update, all", round(float(bound), 4), share)


def power(kinds: pd.DataFrame) -> pd.DataFrame:
    """By number of patients: shares in which an update that is worth it is chosen, where one is."""
    best = kinds[[f"{name}_true" for name in UPDATES]].max(axis=1)
    worth = kinds[best > WORTH]
    chosen_well = {}
    for rule, column in (("chosen", "choice"), ("former", "former")):
        named = worth[worth[column].isin(UPDATES)].assign(update=lambda t, c=column: t[c])
        chosen_well[rule] = (of_update(named, "true") > WORTH).reindex(
            worth.index, fill_value=False
        )
    table = pd.DataFrame(chosen_well).assign(n=worth["n"])
    shares = table.groupby("n")[["chosen", "former"]].mean()
    return shares.assign(sets=table.groupby("n").size())


def of_power(kinds: pd.DataFrame) -> Iterator[Bar]:
    table = power(kinds)
    total = table[["chosen", "former"]].mul(table["sets"], axis=0).sum() / table["sets"].sum()
    words = "share with a worthwhile update where there is one, less that by the other rule"
    yield at_least(5, words, 0.0, total["chosen"] - total["former"])


def of_few(table: pd.DataFrame) -> Iterator[Bar]:
    few = table[~enough(table)]
    share = few["choice"].isin([*UPDATES, "identity"]).mean()
    yield at_most(
        6, "share of sets with fewer than 20 events or non-events and a recommendation", 0, share
    )
