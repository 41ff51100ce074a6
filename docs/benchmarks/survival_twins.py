"""Whether times to an event, or the prior, are the reason why few intervals hold a slope of 0.6.

Run `python docs/benchmarks/survival_twins.py --runs 100`. Each study of `survival_coverage.py` with
a line is fitted beside a twin: patients of the same population whose outcomes by the horizon are
all known, so many that the interval of the slope of a logistic curve is as wide. Both are fitted
with the average over families, and with the logistic curve alone, which contains the truth.
"""

from __future__ import annotations

import argparse
import json
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import bayescal as bc
from kept import Rows
from survival_coverage import CELLS, DRAWS, SEED, SIZES, risk, simulate, summarise, true_values

RESULTS = Path(__file__).parent / "results"
LINES = [
    index for index, cell in enumerate(CELLS) if cell["curve"] == "line" and cell["entry"] == "at 0"
]
NUMBERS = ("observed_expected", "calibration_slope")
KEYS = ("hazards", "leaving", "cases", "outcomes", "fitted", "fit", "number")
MEANS = ("covered", "width", "error")
CURVES = ("average", "logistic")
PILOT_STUDIES = 20


def study(index, n, *stream):
    """Times to an event with their scores, and known outcomes of as many other patients."""
    rng = np.random.default_rng([SEED, index, n, *stream])
    x, time, event, _ = simulate(CELLS[index], n, rng)
    other = simulate(CELLS[index], n, rng)[0]
    known = rng.random(n) < risk("line", other)
    return (bc.Survival(time, event), expit(x)), (known.astype(int), expit(other))


def fitted(outcome, score, curve, seed):
    """A posterior of times by horizon 1, or of known outcomes."""
    at = {"horizon": 1} if isinstance(outcome, bc.Survival) else {}
    return bc.fit(outcome, score, curve=curve, draws=DRAWS, random_state=seed, **at)


@cache
def known_cases(index, n):
    """How many known outcomes leave the slope of a logistic curve as uncertain as the times do."""
    widths = [
        [
            float(np.subtract(*fitted(*each, "logistic", run).interval("calibration_slope")))
            for each in study(index, n, 1, run)
        ]
        for run in range(PILOT_STUDIES)
    ]
    times, known = np.mean(widths, axis=0)
    return round(n * (known / times) ** 2)


def one(index, n, run):
    """The intervals of one study and its twin, each with the true value."""
    true, _ = true_values(index)
    times, (outcome, score) = study(index, n, run)
    m = known_cases(index, n)
    for kind, cases in (("times", times), ("known", (outcome[:m], score[:m]))):
        for curve in CURVES:
            post = fitted(*cases, curve, run)
            for name in NUMBERS:
                lower, upper = post.interval(name)
                yield CELLS[index] | {
                    "cases": n,
                    "outcomes": kind,
                    "fitted": len(cases[1]),
                    "fit": curve,
                    "number": name,
                    "covered": bool(lower <= true[name] <= upper),
                    "width": upper - lower,
                    "error": post.estimate(name) - true[name],
                }


def page_table(results):
    """Means over the four cells of a size: rows of a table in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        "| outcomes | cases | fit | bias of O/E | O/E | width of slope | bias of slope | slope |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (n, fit, kind), part in table.groupby(["cases", "fit", "outcomes"], sort=False):
        mean = part.groupby("number")[["covered", "width", "error"]].mean()
        ratio, slope = (mean.loc[name] for name in NUMBERS)
        told = "times" if kind == "times" else f"known, as informative as {n} times"
        many = part["fitted"].unique()
        size = f"{many.min()}" if many.size == 1 else f"{many.min()} to {many.max()}"
        numbers = f"{ratio['error']:+.3f} | {ratio['covered']:.2f} | {slope['width']:.2f}"
        lines.append(
            f"| {told} | {size} | {fit} | {numbers} | {slope['error']:+.3f} "
            f"| {slope['covered']:.2f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_twins.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_twins")
    for index, n in product(LINES, SIZES):
        rows += kept.all_of(f"cell {index}, {n} cases", options.runs, partial(one, index, n))
        options.out.write_text(json.dumps(summarise(rows, KEYS, MEANS), indent=1) + "\n")


if __name__ == "__main__":
    main()
