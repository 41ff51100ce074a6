"""Does the e-value of calibration keep its promise? `python docs/benchmarks/e_value.py`.

Monthly series of a calibrated model, with a look every month: the share that ever reaches 20 and
10, which may be .05 and .10. Beside it, how often, and after how many months, series of models that
are off reach 20. Asked before the first run: P(ever >= 20) at most .05 plus two errors in every
calibrated cell, and of all of them together. Cells that are stored already are not run again.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, MONTHS = 34_003, 24
MEANS, SPREAD, DRIFT = {"rare": -3.0, "middle": -1.0}, 1.1, 0.02
CELLS = {
    "calibrated, rare, 50 a month": ("rare", 50, 0.0, 1.0, 0),
    "calibrated, rare, 200 a month": ("rare", 200, 0.0, 1.0, 0),
    "calibrated, middle, 30 a month": ("middle", 30, 0.0, 1.0, 0),
    "calibrated, middle, 200 a month": ("middle", 200, 0.0, 1.0, 0),
    "too high, shift -.3": ("middle", 100, -0.3, 1.0, 0),
    "too extreme, slope .7": ("middle", 100, -0.3, 0.7, 0),
    "too high from month 13 on, shift -.5": ("middle", 100, -0.5, 1.0, 12),
}
"""Scores, cases a month, shift and slope of the true curve, and months before it is off."""


def months(cell, rng):
    """Outcomes and scores of each month; the scores drift a little, whatever the curve."""
    scores, size, shift, slope, before = CELLS[cell]
    for month in range(MONTHS):
        x = rng.normal(MEANS[scores] + DRIFT * month, SPREAD, size)
        risk = expit(x if month < before else shift + slope * x)
        yield (rng.random(size) < risk).astype(int), expit(x)


def log_looks(cell, run):
    """Logarithm of the e-value after each month."""
    evidence = None
    rng = np.random.default_rng([SEED, list(CELLS).index(cell), run])
    for y, s in months(cell, rng):
        evidence = bc.e_value(y, s, random_state=run) if evidence is None else evidence.update(y, s)
    return evidence.log_looks


def row_of(cell, looks):
    """Shares of series that ever reach a value, and the month in which they do."""
    reached = looks >= np.log(20)
    first = reached.argmax(axis=1)[reached.any(axis=1)] + 1
    return {
        "cell": cell,
        "series": len(looks),
        "ever_20": float(reached.any(axis=1).mean()),
        "ever_10": float((looks >= np.log(10)).any(axis=1).mean()),
        "mean_first_look": float(np.exp(looks[:, 0]).mean()),
        "median_month": float(np.median(first)) if first.size else None,
    }


def page_table(rows):
    """Rows of a table in Markdown."""
    lines = [
        "| model and cases | series | ever 20 | ever 10 | median month in which 20 is reached |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        month = "" if row["median_month"] is None else f"{row['median_month']:g}"
        lines.append(
            f"| {row['cell']} | {row['series']} | {row['ever_20']:.4f} | {row['ever_10']:.4f} "
            f"| {month} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path, default=RESULTS / "e_value.json")
    options = parser.parse_args()
    rows, kept = [], Rows("e_value")
    for cell in CELLS:
        runs = options.runs if cell.startswith("calibrated") else max(options.runs // 5, 1)
        rows.append(row_of(cell, np.array(kept.of(cell, runs, partial(log_looks, cell)))))
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
