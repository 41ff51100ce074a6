"""Coverage of 95 % intervals of other methods for times to an event, in the cells of our own.

Run `python docs/benchmarks/survival_second_opinions.py --runs 200`. The data sets are those of
`survival_coverage.py`, run by run, without its cell of delayed entry. Curves are splines with five
knots. Where a method has no answer, that set counts as one without cover.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import bayescal as bc
import survival_coverage as ours
from bayescal.errors import InputError
from kept import Rows

RESULTS = Path(__file__).parent / "results"
KNOTS = 5
METHODS = ("kaplan-meier", "pseudo", "ipcw", "ipcw-score", "cox")
TITLES = {
    "kaplan-meier": "Kaplan-Meier",
    "pseudo": "pseudo-values",
    "ipcw": "IPCW",
    "ipcw-score": "IPCW given the score",
    "cox": "Cox on a spline",
    "bayescal": "bayescal",
}
CELLS = [cell for cell in ours.CELLS if cell["entry"] == "at 0"]
KEYS = ("curve", "hazards", "leaving", "cases", "method", "number")
MEANS = ("covered", "width", "error")


def one(index, n, run):
    """The intervals of one study by each method, each with the true value."""
    cell = CELLS[index]
    x, time, event, _ = ours.simulate(cell, n, np.random.default_rng([ours.SEED, index, n, run]))
    true, scores = ours.true_values(index)
    outcome, risk = bc.Survival(time, event), expit(x)
    for method in METHODS:
        for name, ends in answers(outcome, risk, method, scores).items():
            lower, upper, estimate = ends
            yield {name: cell[name] for name in ("curve", "hazards", "leaving")} | {
                "cases": n,
                "method": method,
                "number": name,
                "covered": bool(lower <= true[name] <= upper),
                "width": upper - lower,
                "error": estimate - true[name],
            }


def answers(outcome, risk, method, scores):
    """Lower end, upper end and estimate of O/E and of the curve at some scores."""
    asked = {"horizon": 1, "method": method, "n_knots": KNOTS}
    names = [f"curve at {q:g}" for q in ours.AT] if method != "kaplan-meier" else []
    told = dict.fromkeys(["observed_expected", *names], (np.nan, np.nan, np.nan))
    try:
        ratio = bc.estimators.survival_observed_expected(outcome, risk, **asked)
        told["observed_expected"] = (ratio.lower, ratio.upper, ratio.estimate)
        if names:
            curve = bc.estimators.survival_curve(outcome, risk, at=scores, **asked)
            told |= zip(names, zip(curve.lower, curve.upper, curve.risk, strict=True), strict=True)
    except InputError:
        pass
    return told


def page_table(results, beside):
    """Means over the cells of one kind: rows of a table in Markdown.

    Parameters
    ----------
    beside : dict
        The stored results of `survival_coverage.py`, for the rows of bayescal.
    """
    mine = pd.DataFrame(beside["rows"]).query("entry == 'at 0'").assign(method="bayescal")
    table = pd.concat([pd.DataFrame(results["rows"]), mine], ignore_index=True)
    lines = [
        "| hazards | leaving | cases | method | sets | bias of O/E | O/E, line and wave "
        "| curve, mean of five | worst point |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    kinds = ["hazards", "leaving", "cases"]
    for kind, part in table.groupby(kinds, sort=False):
        for method in (*METHODS, "bayescal"):
            own = part[part["method"] == method]
            ratio = own[own["number"] == "observed_expected"]
            at = own.loc[own["number"].str.startswith("curve at"), "covered"]
            curve = [f"{at.mean():.2f}", f"{at.min():.2f}"] if len(at) else ["", ""]
            told = [*map(str, kind), TITLES[method], f"{ratio['data_sets'].iloc[0]}"]
            told.append(f"{ratio['error'].mean():+.3f}")
            told += [", ".join(f"{covered:.2f}" for covered in ratio["covered"]), *curve]
            lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_second_opinions.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_second_opinions")
    for index, n in product(range(len(CELLS)), ours.SIZES):
        rows += kept.all_of(f"cell {index}, {n} cases", options.runs, partial(one, index, n))
        summary = ours.summarise(rows, keys=KEYS, means=MEANS)
        options.out.write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
