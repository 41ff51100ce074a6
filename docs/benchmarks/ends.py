"""Coverage at the ends of the score scale: `docs/benchmarks/ends.py`.

Run `python docs/benchmarks/ends.py --version present`. The interval of every number of every data
set is stored in `results/ends/`, in a file with the name of the version; what is asked of them is
in `docs/_scripts/ends_page.py`. With `--few` it runs the populations with few distinct scores.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayescal as bc
from bayescal._base.versions import library_versions
from ends_few import FEW
from ends_populations import POPULATIONS
from one_posterior import state_of_code, true_values

RESULTS = Path(__file__).parent / "results" / "ends"
SEED = 80_021
RUNS = {200: 60, 1000: 60, 5000: 60, 30_000: 40, 1_000_000: 6}
DRAWS = 1000
DISTANCES = {
    "tce": ("tce", {}),
    "tce_2": ("tce", {"p": 2}),
    "e90": ("e90", {}),
    "emax": ("emax", {}),
}
MEANS = {"signed_error": ("signed_error", {}), "observed_expected": ("observed_expected", {})}
CURVE_AT = (0.01, 0.05, 0.5, 0.95, 0.99)
RUNS_OF_FEW = {50: 200, 200: 200, 1000: 200, 30_000: 100}
MOST_SCORES = 11


def of_set(truth, n: int, run: int) -> dict[str, object]:
    """True values and 95 % intervals of one data set."""
    rng = np.random.default_rng([SEED, n, run, *truth.name.encode()])
    y, s = truth.sample(n, rng)
    start = time.process_time()
    comparison = bc.compare(y, s, draws=DRAWS, random_state=run)
    post, true = comparison.posterior, dict(true_values(truth))
    true["emax"] = np.abs(truth.curve(s) - s).max()
    row: dict[str, object] = {"population": truth.name, "n": n, "run": run}
    for target, (name, options) in DISTANCES.items():
        ends = post.interval(name, **options)
        row |= named(target, true[target], post.estimate(name, **options), *ends)
    at = np.array([truth.score_quantile(level) for level in CURVE_AT])
    draws = post.curve(at).to_numpy().reshape(-1, at.size)
    ends = np.quantile(draws, [0.025, 0.975], axis=0)
    columns = zip(CURVE_AT, truth.curve(at), draws.mean(axis=0), *ends, strict=True)
    for level, *values in columns:
        row |= named(f"curve_{level:g}", *values)
    return row | {"seconds": time.process_time() - start}


def of_few_scores(population, n: int, run: int) -> dict[str, object]:
    """The same where each score has a curve's value of its own; and P(calibrated)."""
    rng = np.random.default_rng([SEED, n, run, *population.name.encode()])
    y, s = population.sample(n, rng)
    start = time.process_time()
    comparison = bc.compare(y, s, draws=DRAWS, random_state=run)
    post, true = comparison.posterior, population.true_values()
    row: dict[str, object] = {"population": population.name, "n": n, "run": run}
    row["prob_calibrated"] = comparison.prob_calibrated
    for target, (name, options) in (DISTANCES | MEANS).items():
        ends = post.interval(name, **options)
        row |= named(target, true[target], post.estimate(name, **options), *ends)
    draws = post.curve(population.score).to_numpy().reshape(-1, population.score.size)
    ends = np.quantile(draws, [0.025, 0.975], axis=0)
    values = np.full((4, MOST_SCORES), np.nan)
    values[:, : population.score.size] = population.risk, draws.mean(axis=0), *ends
    for at, column in enumerate(values.T):
        row |= named(f"curve_{at}", *column)
    return row | {"seconds": time.process_time() - start}


def named(target: str, true: float, estimate: float, lower: float, upper: float):
    values = {"true": true, "estimate": estimate, "lower": lower, "upper": upper}
    return {f"{target}_{part}": float(value) for part, value in values.items()}


def batch(of, truth, n: int, runs: int) -> list[dict[str, object]]:
    warnings.simplefilter("ignore")
    return [of(truth, n, run) for run in range(runs)]


def store(rows, file: Path) -> None:
    """Every column as an array, compressed."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name, values in columns.items():
        if values.dtype.kind == "f":
            columns[name] = values.astype(np.float32)
    versions = library_versions("bayescal", "numpy", "scipy") | {"code": state_of_code()}
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, versions=json.dumps(versions), **columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", choices=["former", "present"], required=True)
    parser.add_argument("--few", action="store_true", help="populations with few distinct scores")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--runs", type=int, help="of each cell, for a quick look")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    of, populations, runs = of_set, POPULATIONS, RUNS
    if options.few:
        of, populations, runs = of_few_scores, FEW, RUNS_OF_FEW
    work = [
        delayed(batch)(of, truth, n, options.runs or runs[n])
        for n in options.sizes or list(runs)
        for truth in populations
    ]
    parts = Parallel(n_jobs=options.jobs, verbose=1)(work)
    store(
        [row for rows in parts for row in rows],
        options.output / f"{'few-' * options.few}{options.version}.npz",
    )


if __name__ == "__main__":
    main()
