"""Coverage of 95 % intervals of the true calibration error, on populations where it is known.

Run `python docs/benchmarks/interval_coverage.py development --methods families`.
Finished batches are kept under `--path`, so a run can be interrupted, lengthened, or given more
sizes and methods. `families` is the average, `beta`, `spline` and `logistic` from one fit of each.
The held-out populations are for reporting; `truths.py` says what was chosen by which.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from bayescal._base.versions import library_versions
from bayescal.validation import coverage, coverage_table
from bayescal.validation.simulate import Truth
from kept import folder
from truths import DEVELOPMENT, HELD_OUT, RARE, SECOND, near_calibration

RESULTS = Path(__file__).parent / "results"
SIZES = (50, 100, 200, 500, 1000, 5000)
SEEDS = {"development": 2026, "rare": 2027, "near": 2028, "second": 90_210, "held-out": 71_077}
POPULATIONS = {"development": DEVELOPMENT, "rare": RARE, "second": SECOND, "held-out": HELD_OUT}


def work(name: str, sizes: tuple[int, ...]) -> Iterator[tuple[tuple[Truth, ...], tuple[int, ...]]]:
    """Populations, and the sizes to draw from them."""
    if name == "near":  # these depend on the size
        yield from ((near_calibration(n), (n,)) for n in sizes)
    else:
        yield POPULATIONS[name], sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("populations", choices=SEEDS)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--methods", nargs="+", default=["families"])
    parser.add_argument("--path", type=Path, default=folder("interval_coverage"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sizes = (*SIZES, 50_000) if options.populations == "near" else SIZES
    tables = []
    for truths, counts in work(options.populations, tuple(options.sizes or sizes)):
        result = coverage(
            truths,
            counts,
            options.methods,
            n_simulations=options.runs,
            random_state=SEEDS[options.populations],
            n_jobs=options.jobs,
            path=options.path,
        )
        table = coverage_table(result).droplevel("target").reset_index()
        table = table.rename(columns={"true_value": "tce_true"})
        print(table.round(3).to_string(), flush=True)
        tables.append(table)
    cells = pd.concat(tables).round(5).to_dict(orient="records")
    name = f"coverage-{options.populations}-{'-'.join(options.methods)}.json"
    record = {
        "populations": options.populations,
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "cells": cells,
    }
    (RESULTS / name).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
