"""Coverage of the curve's band where bends are faint or quick and tables large.

Run `python docs/benchmarks/bends.py --runs 50`. The band is that of the average over `logistic`,
`beta` and `spline`, pointwise at seven quantiles of the scores. Tables are binomial counts on the
grid of a large table, so a million cases cost no more than two thousand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from bayescal._base.versions import library_versions
from bayescal.data.data import CalibrationData
from bayescal.inference.averaging import Mixture
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import AVERAGE
from bayescal.model.problem import prepare
from bayescal.validation.simulate import Truth
from kept import Rows
from truths import BENDS

RESULTS = Path(__file__).parent / "results"
FAMILIES = ("logistic", "beta", "spline")
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
DRAWS = 2000
SEED = 2029


def table(truth: Truth, n: int, rng: np.random.Generator) -> CalibrationData:
    """A table of n cases on the grid that 100 000 scores of the population fall on."""
    grid = CalibrationData(np.zeros(100_000), truth.scores.draw(100_000, rng))
    trials = rng.multinomial(n, grid.trials / grid.n)
    score, trials = grid.score[trials > 0], trials[trials > 0]
    return CalibrationData.from_counts(score, trials, rng.binomial(trials, truth.curve(score)))


def covered(truth: Truth, data: CalibrationData, seed: int) -> list[bool]:
    """Whether the 95 % interval of the curve contains the truth, at each level."""
    problem = prepare(data, curve=AVERAGE, random_state=seed)
    samples = FamilySamples(problem, FAMILIES, DRAWS)
    curves = Mixture(samples, dict.fromkeys(FAMILIES, 1 / 3)).smooth_curves()
    at = data.score[np.searchsorted(np.cumsum(data.trials), np.array(LEVELS) * data.n)]
    draws, expected = AVERAGE.probability(curves, at, problem.frame), truth.curve(at)
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    return ((lower <= expected) & (expected <= upper)).tolist()


def cell(truth: Truth, n: int, runs: int) -> dict[str, Any]:
    def one(run: int) -> list[bool]:
        rng = np.random.default_rng([SEED, run, n, *truth.name.encode()])
        return covered(truth, table(truth, n, rng), run)

    rows = Rows("bends").of(f"{truth.name}, {n} cases", runs, one)
    shares = np.mean(rows, axis=0)
    return {
        "truth": truth.name,
        "description": truth.description,
        "n": n,
        "runs": runs,
        "band": float(shares.mean()),
        "by_level": dict(zip(map(str, LEVELS), shares.tolist(), strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--output", type=Path, default=RESULTS / "bends.json")
    options = parser.parse_args()
    cells = []
    for n in options.sizes:
        for truth in BENDS:
            cells.append(cell(truth, n, options.runs))
            row = cells[-1]
            print(f"{n:8d} {truth.name:12s} band {row['band']:.3f}", flush=True)
    record = {"versions": library_versions("bayescal", "numpy", "scipy"), "cells": cells}
    options.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
