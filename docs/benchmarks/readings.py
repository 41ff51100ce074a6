"""How often the two readings of distances mislead, on populations that nothing was chosen with.

Run `python docs/benchmarks/readings.py --runs 100`. For each data set: the 95 % intervals of five
distances, and how probable it was said to be that TCE is above its true value, above 1.25 times it,
and below .8 times it. Finished cells are kept under `--path`, so a run can be interrupted or
lengthened.
"""

from __future__ import annotations

import argparse
import json
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.posterior.functionals import FUNCTIONALS
from truths import UNSEEN

RESULTS = Path(__file__).parent / "results"
SIZES = (100, 200, 500, 1000, 5000, 20_000)
TARGETS = {
    "tce": ("tce", {}),
    "tce_2": ("tce", {"p": 2}),
    "e50": ("e50", {}),
    "e90": ("e90", {}),
    "emax": ("emax", {}),
}
DRAWS = 1000
BATCH = 10
LEVEL = 0.95


def one_run(population, n: int, run: int) -> dict[str, float]:
    """All numbers of one data set."""
    seed = [20_261, n, run, *population.name.encode()]
    rng = np.random.default_rng(seed)
    y_true, y_prob = population.sample(n, rng)
    post = bc.compare(y_true, y_prob, draws=DRAWS, random_state=run).posterior
    post.summary(LEVEL)
    numbers = {"prob_calibrated": post.prob_calibrated}
    for target, (name, options) in TARGETS.items():
        numbers[f"{target}_lower"], numbers[f"{target}_upper"] = post.interval(
            name, LEVEL, **options
        )
        true = population.functional(name, **options)
        if name == "emax":
            true = float(np.abs(population.curve(y_prob) - y_prob).max())
        numbers[f"{target}_true"] = true
        numbers[f"{target}_estimate"] = post.estimate(name, **options)
        numbers[f"{target}_above"] = post.prob_above(true, name, **options)
    true = population.tce()
    numbers["above_more"] = post.prob_above(1.25 * true)
    numbers["below_less"] = post.prob_below(0.8 * true)
    return numbers


def batch(population, n: int, first: int, folder: Path) -> list[dict[str, float]]:
    """Ten runs, read back when they were made before."""
    name = sha256(f"{population.name} {n} {first}".encode()).hexdigest()[:16]
    file = folder / f"{name}.json"
    if file.is_file():
        return json.loads(file.read_text())
    warnings.simplefilter("ignore")
    runs = [one_run(population, n, run) for run in range(first, first + BATCH)]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(runs))
    return runs


def score(lower, upper, true):
    missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    return upper - lower + 2 / (1 - LEVEL) * missed


def cell(population, n: int, runs: list[dict[str, float]]) -> dict[str, object]:
    """One population at one size."""
    column = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    row: dict[str, object] = {
        "truth": population.name,
        "size": n,
        "runs": len(runs),
        "tce_true": population.tce(),
        "prob_calibrated": column["prob_calibrated"].mean(),
        "said_above_truth": (column["tce_above"] >= 0.95).mean(),
        "said_miscalibrated": (column["above_more"] >= 0.975).mean(),
        "said_close": (column["below_less"] >= 0.975).mean(),
        "estimate_bias": (column["tce_estimate"] - population.tce()).mean(),
        "estimate_rmse": np.sqrt(((column["tce_estimate"] - population.tce()) ** 2).mean()),
    }
    for target in TARGETS:
        lower, upper, true = (column[f"{target}_{part}"] for part in ("lower", "upper", "true"))
        row[f"{target}_coverage"] = ((lower <= true) & (true <= upper)).mean()
        row[f"{target}_misses_below"] = (lower > true).mean()
        row[f"{target}_score"] = score(lower, upper, true).mean()
        row[f"{target}_width"] = (upper - lower).mean()
    return {key: value if isinstance(value, str) else float(value) for key, value in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--runs-of-worst", type=int, default=400)
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--path", type=Path, default=RESULTS / "readings-batches")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    assert all(name in FUNCTIONALS for name, _ in TARGETS.values())
    wanted = [(population, n, options.runs) for n in options.sizes for population in UNSEEN]
    cells = work(wanted, options)
    if options.runs_of_worst > options.runs:
        order = np.argsort([row["tce_coverage"] for row in cells], kind="stable")[: options.worst]
        more = [(wanted[k][0], wanted[k][1], options.runs_of_worst) for k in order]
        for k, row in zip(order, work(more, options), strict=True):
            cells[k] = row
    record = {"versions": library_versions("bayescal", "numpy", "scipy"), "cells": cells}
    (RESULTS / "readings.json").write_text(json.dumps(record, indent=1) + "\n")


def work(wanted, options) -> list[dict[str, object]]:
    jobs = [
        delayed(batch)(population, n, first, options.path)
        for population, n, runs in wanted
        for first in range(0, runs, BATCH)
    ]
    parts = iter(Parallel(n_jobs=options.jobs, verbose=1)(jobs))
    return [
        cell(population, n, [run for _ in range(0, runs, BATCH) for run in next(parts)])
        for population, n, runs in wanted
    ]


if __name__ == "__main__":
    main()
