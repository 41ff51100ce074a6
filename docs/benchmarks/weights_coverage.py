"""Coverage of 95 % intervals when whole-number weights are sampling weights, under either reading.

Run `python docs/benchmarks/weights_coverage.py --runs 200`. Patients are drawn from a population,
and kept with chance 1/4 or 1/20, until there are 600; the weight of a row is 4 or 20. The logistic
curve is fitted with `weight_type="counts"` and with `"sampling"`, and the intervals of the true
calibration error and of O/E are held against the population that the patients were drawn from.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
TRUTHS = ("clinical-middle-overconfident", "clinical-middle-shifted")
READINGS = ("counts", "sampling")
ROWS = 600
DRAWS = 1000
OFTEN, SELDOM = 1 / 4, 1 / 20
SEED = 317

DESIGNS = {
    "outcome": lambda y, s: y == 1,
    "risk": lambda y, s: s > 0.3,
}
"""Who was sampled with the larger chance: patients with the event, or with a high risk."""


def sampled(truth, design, rng):
    """Outcomes, scores and weights of 600 rows."""
    y, s = truth.sample(20 * ROWS, rng)
    often = DESIGNS[design](y, s)
    chance = np.where(often, OFTEN, SELDOM)
    rows = np.flatnonzero(rng.random(y.size) < chance)[:ROWS]
    assert rows.size == ROWS
    return y[rows], s[rows], np.rint(1 / chance[rows])


def true_values(truth):
    t = (np.arange(200_000) + 0.5) / 200_000
    s, _ = truth.scores.quantiles(t, 1 - t)
    return {"tce": truth.tce(), "observed_expected": truth.prevalence() / s.mean()}


def cell(name, design, runs):
    """One row for each reading: coverage, mean width and mean number of cases."""
    truth = bc.simulate.truth(name)
    true = true_values(truth)

    def one(run):
        results = []
        y, s, weight = sampled(truth, design, np.random.default_rng([SEED, run, *design.encode()]))
        for reading in READINGS:
            post = bc.fit(
                y,
                s,
                curve="logistic",
                draws=DRAWS,
                sample_weight=weight,
                weight_type=reading,
                random_state=run,
            )
            row = {"reading": reading, "cases": post.data.effective_size}
            for functional, value in true.items():
                lower, upper = post.interval(functional)
                row[f"{functional}_covered"] = lower <= value <= upper
                row[f"{functional}_width"] = upper - lower
            results.append(row)
        return results

    results = Rows("weights_coverage").all_of(f"{name}, {design}", runs, one)
    table = pd.DataFrame(results).groupby("reading").mean().round(4).reset_index()
    table = table.assign(truth=name, design=design, runs=runs)
    print(table.to_string(), flush=True)
    return table


def page_table(stored):
    """Rows of a table in Markdown."""
    titles = {
        "clinical-middle-overconfident": "over-confident",
        "clinical-middle-shifted": "shifted",
        "outcome": "with the event",
        "risk": "score above .3",
    }
    lines = [
        "| population | sampled more often | treated as | cases | TCE covered | TCE width "
        "| O/E covered | O/E width |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in stored["cells"]:
        told = [titles[row["truth"]], titles[row["design"]], row["reading"], f"{row['cases']:.0f}"]
        told += [
            f"{row[f'{name}_{what}']:.3f}"
            for name in ("tce", "observed_expected")
            for what in ("covered", "width")
        ]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    cells = [cell(name, design, options.runs) for name in TRUTHS for design in DESIGNS]
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "cells": pd.concat(cells).to_dict(orient="records"),
    }
    (RESULTS / "weights_coverage.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
