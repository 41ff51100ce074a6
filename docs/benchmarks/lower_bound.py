"""Is the lower bound of the true calibration error one? `python docs/benchmarks/lower_bound.py`.

The share of data sets in which `bayescal.tce_lower_bound`, at 95 %, is above the true error: of
independent cases, of clusters and of sites, calibrated and not. Beside it the estimate and
`debiased_ece` of order 1. Asked before the first run: at most .055 over all sets, and in no cell
above .05 by more than three standard errors. Cells that are stored already are not run again.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal.validation import batches
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED = 34_002
MOST, PROB = 0.055, 0.95
CASES = {
    "calibrated": (200, 1000, 5000),
    "clinical-low-calibrated": (500, 2000),
    "clinical-middle-overconfident": (500, 2000),
    "clinical-low-shifted": (1000,),
    "D3": (500,),
    "D4": (500,),
    "D5": (500,),
}
UNITS = {
    "calibrated, 30 clusters of 20": ("cluster", 30, 20, 0.0, 0.0),
    "calibrated, 100 clusters of 8": ("cluster", 100, 8, 0.5, 0.0),
    "too high, 60 clusters of 15": ("cluster", 60, 15, 0.5, -0.3),
    "calibrated on average, 40 sites of 50": ("site", 40, 50, 0.4, 0.0),
    "too high, 25 sites of 80": ("site", 25, 80, 0.3, -0.25),
}
"""What the units are, how many, cases of each, sd of their shifts in log-odds, and common shift."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
NODES, WEIGHTS = np.meshgrid(NODES, NODES), np.outer(WEIGHTS, WEIGHTS) / WEIGHTS.sum() ** 2
MEAN, SPREAD, BETWEEN = -1.0, 0.9, 0.5


def shrunk(x, sd, shift):
    """Log-odds of the mean risk at log-odds x, when units shift it by a normal amount."""
    risk = expit(x[..., None] + shift + sd * NODES[0][0])
    mean = risk @ (WEIGHTS.sum(axis=0))
    return np.log(mean / (1 - mean))


def sample_units(kind, units, size, sd, shift, rng):
    """Outcomes, scores and labels of units, whose scores and shifts differ; calibrated at 0 shift.

    A score is the mean risk over units of the cases with the same predictor, but for `shift`.
    """
    label = np.repeat(np.arange(units), size)
    x = rng.normal(MEAN, SPREAD, label.size) + BETWEEN * rng.normal(size=units)[label]
    y = rng.random(label.size) < expit(x + shift + sd * rng.normal(size=units)[label])
    return y.astype(int), expit(shrunk(x, sd, 0.0)), label


def true_error(sd, shift):
    """E|g - s| of these cases."""
    spread = np.hypot(SPREAD, BETWEEN)
    x = MEAN + spread * NODES[0][0]
    gap = np.abs(expit(shrunk(x, sd, shift)) - expit(shrunk(x, sd, 0.0)))
    return float(gap @ WEIGHTS.sum(axis=0))


def of_cases(name, n, run):
    """The bound of one set of independent cases."""
    y, s = bc.simulate.truth(name).sample(n, batches.stream(SEED, name, n, run))
    return told(bc.tce_lower_bound(y, s, prob=PROB, random_state=run), y, s)


def of_units(name, run):
    """The bound of one set of clusters or sites."""
    kind, units, size, sd, shift = UNITS[name]
    rng = np.random.default_rng([SEED, list(UNITS).index(name), run])
    y, s, label = sample_units(kind, units, size, sd, shift, rng)
    named = {"cluster" if kind == "cluster" else "groups": label.astype(str)}
    return told(bc.tce_lower_bound(y, s, prob=PROB, random_state=run, **named), y, s)


def told(bound, y, s):
    """What is said of one set."""
    debiased = bc.estimators.debiased_ece(y, s, p=1)
    return {"estimate": bound.estimate, "bound": bound.lower, "debiased_ece": debiased}


def row_of(name, true, sets):
    """How often the bound is false, and what it says."""
    false = float(np.mean([each["bound"] > true for each in sets]))
    means = {key: float(np.mean([each[key] for each in sets])) for key in sets[0]}
    return {"cell": name, "sets": len(sets), "true": true, "false": false} | means


def page_table(rows):
    """Rows of a table in Markdown."""
    lines = [
        "| population | data sets | true error | mean bound | bound above the true error "
        "| mean estimate | `debiased_ece` |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = " | ".join(f"{row[key]:.4f}" for key in ("true", "bound", "false"))
        more = " | ".join(f"{row[key] + 0:.4f}" for key in ("estimate", "debiased_ece"))
        lines.append(f"| {row['cell']} | {row['sets']} | {numbers} | {more} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "lower_bound.json")
    options = parser.parse_args()
    rows, kept = [], Rows("lower_bound")
    cells = {
        f"{name}, {n} cases": (partial(of_cases, name, n), bc.simulate.truth(name).tce())
        for name in CASES
        for n in CASES[name]
    }
    for name, (*_, sd, shift) in UNITS.items():
        cells[name] = (partial(of_units, name), true_error(sd, shift))
    for cell, (one, true) in cells.items():
        rows.append(row_of(cell, true, kept.of(cell, options.runs, one)))
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
