"""What is asked of the averaged posterior, written before it was run, and how it is measured.

`present` and `former` are two versions of the package on the same data sets, each a mapping of
the parts of `docs/benchmarks/one_posterior.py` to tables with a row for each data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

Parts = Mapping[str, pd.DataFrame]

LIMITS = {
    "tce": (0.01, 0.02, 0.03, 0.05),
    "e50": (0.01, 0.02, 0.03, 0.05),
    "e90": (0.02, 0.03, 0.05, 0.1),
    "emax": (0.03, 0.05, 0.1, 0.2),
}
BINS = (0.0, 0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 1.0)
SURE = 0.975
MANY, SOME = 100, 40
"""Fewest statements of a bin that is judged: pooled, and of one kind or size."""
TINY = 1e-6
DISTANCES = ("tce", "tce_2", "e50", "e90", "emax")
EITHER_WAY = (
    "signed_error",
    "observed_expected",
    "calibration_slope",
    "curve_0.05",
    "curve_0.5",
    "curve_0.95",
)


@dataclass(frozen=True)
class Bar:
    """One condition: its number, what is measured, the bound, and what was measured."""

    number: int
    what: str
    relation: str
    bound: float
    measured: float

    @property
    def met(self) -> bool:
        exact = self.measured - self.bound
        return bool(exact >= -1e-12 if self.relation == "at least" else exact <= 1e-12)


def at_most(number: int, what: str, bound: float, measured: float) -> Bar:
    return Bar(number, what, "at most", bound, float(measured))


def at_least(number: int, what: str, bound: float, measured: float) -> Bar:
    return Bar(number, what, "at least", bound, float(measured))


def bars(present: Parts, former: Parts) -> list[Bar]:
    """Every bar for which both versions have the part that it needs."""
    makers = {
        "kinds": (by_kind, of_probabilities, of_verdicts),
        "cells": (of_intervals, of_false_verdicts, of_either_way, of_other_distances),
        "designs": (of_designs,),
        "seeds": (of_seeds,),
        "dropped": (of_one_patient,),
        "cost": (of_cost,),
    }
    parts = [part for part in makers if part in present and part in former]
    result = [bar for part in parts for maker in makers[part] for bar in maker(present, former)]
    if {"kinds", "cells"} <= set(parts):
        result += [*of_contradictions(present), *of_estimates(present, former)]
    return sorted(result, key=lambda bar: bar.number)


# Stated probabilities.


def statements(table: pd.DataFrame, target: str = "tce", side: str = "below") -> pd.DataFrame:
    """A row for each stated P(below a limit), or 1 - P(above it), and whether it is below."""
    parts = []
    for limit in LIMITS[target]:
        stated = table[f"{target}_{side}_{limit:g}"]
        parts.append(
            table[["kind", "n"]].assign(
                limit=limit,
                stated=stated if side == "below" else 1 - stated,
                true=table[f"{target}_true"] < limit,
            )
        )
    return pd.concat(parts, ignore_index=True)


def reliability(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean stated probability and share that is true, in bins of the stated probability."""
    index = pd.cut(rows["stated"], BINS, include_lowest=True, right=False).cat.codes
    last = len(BINS) - 2
    index = index.where(rows["stated"] < 1, last)
    grouped = rows.groupby(index)
    table = grouped.agg(stated=("stated", "mean"), true=("true", "mean"), count=("true", "size"))
    table.index = pd.Index([f"{BINS[i]:g} to {BINS[i + 1]:g}" for i in table.index], name="bin")
    return table.assign(gap=(table["stated"] - table["true"]).abs())


def largest_gap(rows: pd.DataFrame, fewest: int, *, inner: bool = False) -> float:
    table = reliability(rows)
    table = table[table["count"] >= fewest]
    if inner:
        table = table[table["stated"].between(0.025, 0.9)]
    return float(table["gap"].max())


def brier(rows: pd.DataFrame) -> float:
    return float(((rows["stated"] - rows["true"]) ** 2).mean())


def sure_and_true(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Statements with a probability of at least .975 either way: how many are true."""
    sure = rows[(rows["stated"] >= SURE) | (rows["stated"] <= 1 - SURE)]
    right = (sure["stated"] >= 0.5) == sure["true"]
    return right.groupby([sure[name] for name in by]).agg(["mean", "size"])


def by_kind(present: Parts, former: Parts) -> Iterator[Bar]:
    rows = statements(present["kinds"])
    gaps = rows.groupby("kind")[["stated", "true"]].apply(largest_gap, SOME)
    yield at_most(0, "largest gap of stated and true, of any kind of population", 0.25, gaps.max())
    for name in ("kind", "limit", "n"):
        shares = sure_and_true(rows, [name])["mean"]
        words = f"statements of .975 and more that are true, least by {name}"
        yield at_least(0, words, 0.97, shares.min())


def of_probabilities(present: Parts, former: Parts) -> Iterator[Bar]:
    rows = statements(present["kinds"])
    yield at_most(1, "largest gap of stated and true, all", 0.08, largest_gap(rows, MANY))
    for n, part in rows.groupby("n"):
        words = f"largest gap of stated and true, n = {n}"
        yield at_most(1, words, 0.10, largest_gap(part, MANY))
    for side, words, bound in (("below", "P(below)", 0.75), ("above", "1 - P(above)", 0.62)):
        ratio = brier(rows) / brier(statements(former["kinds"], side=side))
        yield at_most(1, f"Brier score over that of the former {words}", bound, ratio)


def verdicts(table: pd.DataFrame, limit: float = 0.03, level: float = SURE) -> pd.Series:
    """Share of reports with a verdict, and how many of these are wrong."""
    close = table[f"tce_below_{limit:g}"] >= level
    far = table[f"tce_above_{limit:g}"] >= level
    below = table["tce_true"] < limit
    settled = close | far
    return pd.Series({"settled": settled.mean(), "wrong": (far == below)[settled].mean()})


def of_verdicts(present: Parts, former: Parts) -> Iterator[Bar]:
    now, then = verdicts(present["kinds"]), verdicts(former["kinds"])
    gained = now["settled"] - then["settled"]
    yield at_least(4, "share of reports with a verdict at .03, gained", 0.05, gained)
    yield at_most(4, "share of these verdicts that are wrong", 0.01, now["wrong"])


# Intervals.


def covered(table: pd.DataFrame, target: str, level: int = 95) -> pd.Series:
    lower, upper = (table[f"{target}_{end}_{level}"] for end in ("lower", "upper"))
    true = table[f"{target}_true"]
    return (lower <= true + TINY) & (true - TINY <= upper)


def scores(table: pd.DataFrame, target: str, level: int = 95) -> pd.Series:
    """Interval scores: width plus 2 / (1 - level) times the miss."""
    lower, upper = (table[f"{target}_{end}_{level}"] for end in ("lower", "upper"))
    true = table[f"{target}_true"]
    miss = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    return upper - lower + 2 / (1 - level / 100) * miss


def by_cell(present: pd.DataFrame, former: pd.DataFrame, target: str = "tce") -> pd.DataFrame:
    """Each cell: coverage of both versions, and the score over the former's."""
    keys = ["cell", "n"] if "n" in present else ["cell"]

    def mean(table: pd.DataFrame, values: pd.Series) -> pd.Series:
        return values.groupby([table[key] for key in keys], sort=False).mean()

    now, then = (mean(table, covered(table, target)) for table in (present, former))
    return pd.DataFrame(
        {
            "calibrated": mean(present, present["exact"]) == 1,
            "sets": present.groupby(keys, sort=False).size(),
            "covered": now,
            "former": then,
            "covered_80": mean(present, covered(present, target, 80)),
            "former_80": mean(former, covered(former, target, 80)),
            "below": mean(present, present[f"{target}_upper_95"] < present[f"{target}_true"]),
            "above": mean(present, present[f"{target}_lower_95"] > present[f"{target}_true"]),
            "score": mean(present, scores(present, target)) / mean(former, scores(former, target)),
        }
    )


def geometric(values: pd.Series) -> float:
    return float(np.exp(np.log(values).mean()))


def of_intervals(present: Parts, former: Parts) -> Iterator[Bar]:
    cells = by_cell(present["cells"], former["cells"])
    yield from tce_bars(2, "TCE", cells)


def tce_bars(number: int, name: str, cells: pd.DataFrame, score: float = 0.95) -> Iterator[Bar]:
    off, on = cells[~cells["calibrated"]], cells[cells["calibrated"]]
    yield at_least(number, f"{name}: coverage at 95 %, mean", 0.945, off["covered"].mean())
    yield at_least(number, f"{name}: coverage at 95 %, any cell", 0.80, cells["covered"].min())
    yield at_least(number, f"{name}: coverage at 95 %, calibrated", 0.95, on["covered"].mean())
    yield at_least(number, f"{name}: coverage at 80 %, mean", 0.80, off["covered_80"].mean())
    yield at_most(number, f"{name}: score over the former's", score, geometric(cells["score"]))
    words = f"{name}: score over the former's, any cell"
    yield at_most(number, words, 1.25, cells["score"].max())


def false_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Of cells that are off: P(above 1.25 TCE) and P(below .8 TCE) of at least .975."""
    off = table[~table["exact"]]
    keys = [off[key] for key in ("cell", "n") if key in off]
    wrong = pd.DataFrame(
        {"miscalibrated": off["above_more"] >= SURE, "close": off["below_less"] >= SURE}
    )
    return wrong.groupby(keys, sort=False).mean()


def of_false_verdicts(present: Parts, former: Parts) -> Iterator[Bar]:
    yield from verdict_bars(3, "", false_verdicts(present["cells"]))
    exact = present["cells"][present["cells"]["exact"]]
    wrong = (exact["tce_above_0.01"] >= SURE).mean()
    yield at_most(3, "“miscalibrated” at .01 of calibrated models", 0.025, wrong)


def verdict_bars(number: int, name: str, wrong: pd.DataFrame) -> Iterator[Bar]:
    miscalibrated, close = wrong["miscalibrated"], wrong["close"]
    words = f"{name}false “miscalibrated” at 1.25 TCE, any cell"
    yield at_most(number, words, 0.10, miscalibrated.max())
    yield at_most(number, f"{name}false “close enough” at .8 TCE, any cell", 0.05, close.max())
    yield at_most(number, f"{name}false “close enough” at .8 TCE, mean", 0.005, close.mean())


def of_either_way(present: Parts, former: Parts) -> Iterator[Bar]:
    for target in EITHER_WAY:
        cells = by_cell_either_way(present["cells"], former["cells"], target)
        change = cells["covered"].mean() - cells["former"].mean()
        yield at_least(6, f"{target}: change of mean coverage", -0.01, change)
        words = f"{target}: score over the former's"
        yield at_most(6, words, 1.0, geometric(cells["score"]))


def by_cell_either_way(present: pd.DataFrame, former: pd.DataFrame, target: str) -> pd.DataFrame:
    keys = ["cell", "n"] if "n" in present else ["cell"]
    columns = {}
    for name, table in (("covered", present), ("former", former)):
        group = [table[key] for key in keys]
        columns[name] = covered(table, target).groupby(group, sort=False).mean()
        columns[f"{name} score"] = scores(table, target).groupby(group, sort=False).mean()
    cells = pd.DataFrame(columns)
    return cells.assign(score=cells["covered score"] / cells["former score"])


def of_other_distances(present: Parts, former: Parts) -> Iterator[Bar]:
    for target, bound in (("e50", 0.95), ("e90", 0.89), ("emax", 0.87)):
        cells = by_cell(present["cells"], former["cells"], target)
        mean = cells.loc[~cells["calibrated"], "covered"].mean()
        yield at_least(7, f"{target}: coverage at 95 %, mean", bound, mean)
    if "kinds" in present:
        for target, bound in (("e90", 0.12), ("emax", 0.16)):
            gap = largest_gap(statements(present["kinds"], target), MANY, inner=True)
            yield at_most(7, f"{target}: largest gap of stated and true", bound, gap)


# Contradictions, estimates, steadiness, cost.


def contradictions(table: pd.DataFrame) -> pd.Series:
    """Shares of reports that contradict themselves."""
    return pd.Series(
        {
            "interval excludes what the signed error's says": (
                (table["excluded_95"] > TINY) | (table["excluded_80"] > TINY)
            ).mean(),
            "P(distance > x) below P(signed error beyond x)": (table["crossed"] > TINY).mean(),
            "P(TCE < .01) below P(exactly calibrated) - .02": (
                table["tce_below_0.01"] < table["prob_calibrated"] - 0.02 - TINY
            ).mean(),
            "P(below) + P(above) is not 1": (table["apart"] > 0).mean(),
        }
    )


def of_contradictions(present: Parts) -> Iterator[Bar]:
    parts = [present[part] for part in ("kinds", "cells", "designs") if part in present]
    shares = contradictions(pd.concat(parts, ignore_index=True))
    for (words, share), bound in zip(shares.items(), (0, 0, 0.04, 0), strict=True):
        yield at_most(5, f"share of reports: {words}", bound, share)


def estimate_errors(parts: Parts) -> pd.Series:
    """Root mean square error of the estimate of TCE, the mean over cells, by number of patients."""
    result = {}
    for part, key in (("cells", "cell"), ("kinds", "kind")):
        table = parts[part]
        square = (table["tce_estimate"] - table["tce_true"]) ** 2
        error = square.groupby([table[key], table["n"]]).mean() ** 0.5
        n = error.index.get_level_values("n")
        for words, low, high in (
            ("n < 700", 0, 700),
            ("n from 700 to 2499", 700, 2500),
            ("n from 2500", 2500, np.inf),
        ):
            result[f"{part}, {words}"] = error[(n >= low) & (n < high)].mean()
    return pd.Series(result)


def of_estimates(present: Parts, former: Parts) -> Iterator[Bar]:
    ratios = estimate_errors(present) / estimate_errors(former)
    for words, ratio in ratios.items():
        yield at_most(8, f"error of the estimate over the former's, {words}", 1.0, ratio)


def stated_columns(table: pd.DataFrame) -> list[str]:
    return [f"tce_below_{limit:g}" for limit in LIMITS["tce"]]


def seed_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Standard deviation over seeds of P(TCE < limit), by data set and limit."""
    return table.groupby("set")[stated_columns(table)].std()


def of_seeds(present: Parts, former: Parts) -> Iterator[Bar]:
    spread = seed_spread(present["seeds"]).to_numpy().max()
    yield at_most(8, "standard deviation of P over seeds, 4000 draws, largest", 0.006, spread)


def dropped_moves(table: pd.DataFrame) -> pd.DataFrame:
    """How far P(TCE > limit) moves when one patient is dropped, and whether it falls to 0."""
    columns = [f"tce_above_{limit:g}" for limit in LIMITS["tce"]]
    rows = []
    for index, part in table.groupby("set"):
        all_patients = part.loc[part["patient"] < 0, columns].to_numpy()
        less = part.loc[part["patient"] >= 0, columns].to_numpy()
        rows.append(
            {
                "set": index,
                "moves": np.abs(less - all_patients).max(),
                "falls": ((all_patients > 0.05) & (less == 0)).any(),
            }
        )
    return pd.DataFrame(rows).set_index("set")


def of_one_patient(present: Parts, former: Parts) -> Iterator[Bar]:
    moves = dropped_moves(present["dropped"])
    yield at_most(
        8, "P moves when one of 200 patients is dropped, most", 0.15, moves["moves"].max()
    )
    yield at_most(8, "data sets in which it falls from above .05 to 0", 0, moves["falls"].sum())


def cost(table: pd.DataFrame) -> pd.Series:
    """Least processor seconds of `compare` and `summary`, by number of patients."""
    return table.groupby("n")["seconds"].min()


def of_cost(present: Parts, former: Parts) -> Iterator[Bar]:
    ratio = geometric(cost(present["cost"]) / cost(former["cost"]))
    yield at_most(9, "processor time of `compare` and `summary` over the former's", 1.25, ratio)


def of_designs(present: Parts, former: Parts) -> Iterator[Bar]:
    """As for fixed cells; intervals need not be shorter than the former's."""
    for group, now in present["designs"].groupby("group", sort=False):
        then = former["designs"][former["designs"]["group"] == group]
        yield from tce_bars(10, f"{group}, TCE", by_cell(now, then), score=1.0)
        yield from verdict_bars(10, f"{group}, ", false_verdicts(now))
