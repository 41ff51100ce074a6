"""Coverage of the 95 % interval beside every number that the averaged posterior prints.

Run `python docs/benchmarks/number_coverage.py`. Every number is read from the same fits. Each cell
(a population at a size) has 100 data sets, and the three worst cells of each number have 400.
Finished batches are kept under `--path`, so a run can be interrupted and lengthened; after a
change of the package name another folder. Data sets are drawn case by case at every size: at a
million cases that takes a tenth of a second.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logit

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.validation import coverage, coverage_table
from bayescal.validation.simulate import Truth
from kept import folder
from truths import DEVELOPMENT, HELD_OUT, JUMPS, near_calibration

RESULTS = Path(__file__).parent / "results"
SIZES = (200, 1000, 5000, 50_000, 1_000_000)
ERRORS = (1.0, 1.5, 2.5)
SEED = 31_415
TARGETS = (
    "observed_expected",
    "calibration_in_the_large",
    "calibration_slope",
    "calibration_intercept",
    "signed_error",
    "curve",
    "net_benefit@0.1",
    "net_benefit@0.3",
    "tce",
    "tce_2",
    "e50",
    "e90",
    "emax",
)
FAMILIES = ("identity", "logistic", "beta", "spline")
NEAR_A_JUMP = 0.2
NEAR_AN_END = 1e-6
WORST = 3


def populations(name: str, n: int) -> tuple[Truth, ...]:
    """Populations of a group, which may depend on the size."""
    groups = {"development": DEVELOPMENT, "held-out": HELD_OUT}
    return near_calibration(n, ERRORS) if name == "near" else groups[name]


def average(
    data: bc.CalibrationData, rng: np.random.Generator, draws: int, without_identity: bool
) -> bc.CalibrationPosterior:
    """Averaged posterior, of fewer draws than the default to save time."""
    weights = {"prior_calibrated": 1e-9} if without_identity else {}
    return bc.compare(data, curves=FAMILIES, draws=draws, random_state=rng, **weights).posterior


def remark(population: Truth, target: str) -> str:
    """Why a point of the curve is shown apart, or nothing."""
    name, _, percent = target.partition("@")
    if name != "curve":
        return ""
    score = population.score_quantile(float(percent.removesuffix("%")) / 100)
    if not NEAR_AN_END < score < 1 - NEAR_AN_END:
        return "score next to 0 or 1"
    jump = JUMPS.get(population.name)
    if jump is not None and abs(logit(score) - logit(jump)) < NEAR_A_JUMP:
        return "next to a jump"
    return ""


def measure(group: str, n: int, truths: tuple[Truth, ...], runs: int, options) -> pd.DataFrame:
    """Rows of the coverage table for some populations at one size."""
    start = time.perf_counter()
    name = "average without identity" if options.without_identity else "average"
    method = partial(average, draws=options.draws, without_identity=options.without_identity)
    dataset = coverage(
        truths,
        [n],
        {f"{name}, {options.draws} draws": method},
        n_simulations=runs,
        target=TARGETS,
        random_state=SEED,
        n_jobs=options.jobs,
        path=options.path,
    )
    table = coverage_table(dataset).reset_index()
    by_name = {truth.name: truth for truth in truths}
    table.insert(0, "group", group)
    table["remark"] = [
        remark(by_name[name], target)
        for name, target in zip(table["truth"], table["target"], strict=True)
    ]
    seconds = time.perf_counter() - start
    print(f"{group}, n = {n}: {len(truths)} x {runs} data sets, {seconds:.0f} s", flush=True)
    return table


def worst_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The cells with the lowest coverage of each number."""
    judged = table[table["remark"] == ""].sort_values("coverage", kind="stable")
    worst = judged.groupby("target").head(WORST)
    return worst[["group", "truth", "size"]].drop_duplicates()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", nargs="+", default=["near", "development", "held-out"])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--runs-of-worst", type=int, default=400)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--without-identity", action="store_true")
    parser.add_argument("--path", type=Path, default=folder("number_coverage"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", type=Path, default=RESULTS / "number_coverage.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measured = partial(measure, options=options)
    table = pd.concat(
        measured(group, n, populations(group, n), options.runs)
        for n in options.sizes
        for group in options.groups
    )
    if options.runs_of_worst > options.runs:
        again = [
            measured(
                group,
                n,
                tuple(t for t in populations(group, n) if t.name in set(cells["truth"])),
                options.runs_of_worst,
            )
            for (group, n), cells in worst_cells(table).groupby(["group", "size"])
        ]
        keys = ["group", "truth", "size", "target", "method"]
        table = pd.concat([*again, table]).drop_duplicates(keys)
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "cells": table.round(6).to_dict(orient="records"),
    }
    options.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
