"""Coverage of the intervals of what a recalibration of variances gained.

Run `python docs/benchmarks/variance_coverage.py --runs 400`. Predicted variances v are lognormal.
Errors have a variance that is a line in v, or bends in v, and are normal or have the tails of a
Student-t with 5 degrees of freedom. The recalibration is a line that was fitted elsewhere, so that
the gain is a fixed number. Both methods of `bayescal.variance_gain` see the same cases.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results" / "variance_coverage.json"
SIZES, METHODS, DEGREES = (50, 100, 500), ("bootstrap", "gaussian"), 5
WIDTH = 0.6
"""Standard deviation of log v."""
SLOPE, INTERCEPT = 1.5, 0.3
SEED = 411

Law = Callable[[np.ndarray], np.ndarray]
LAWS: dict[str, tuple[Law, bool]] = {
    "normal, a line in v": (lambda v: SLOPE * v + INTERCEPT, False),
    "normal, bends in v": (lambda v: 1.3 * v**1.4 + 0.6, False),
    "Student-t, a line in v": (lambda v: SLOPE * v + INTERCEPT, True),
}
"""Variance of errors given the predicted one, and whether their tails are heavy."""


def recalibrated(v: np.ndarray) -> np.ndarray:
    """The line that was fitted elsewhere."""
    return 1.4 * v + 0.5


def true_gain(law: Law) -> float:
    """Expected fall of the Dawid-Sebastiani score, by quadrature."""
    node, weight = hermegauss(60)
    v = np.exp(WIDTH * node)
    after = recalibrated(v)
    gain = law(v) * (1 / v - 1 / after) + np.log(v / after)
    return float(gain @ weight / weight.sum())


def cell(name: str, number: int, n: int, runs: int) -> list[dict[str, Any]]:
    """Coverage, mean width and mean error of both methods."""
    law, heavy = LAWS[name]
    truth = true_gain(law)

    def one(run: int) -> dict[str, tuple[float, float]]:
        rng = np.random.default_rng([SEED, number, n, run])
        v = np.exp(WIDTH * rng.standard_normal(n))
        unit = rng.standard_normal(n)
        if heavy:
            unit = rng.standard_t(DEGREES, n) * np.sqrt((DEGREES - 2) / DEGREES)
        error = np.sqrt(law(v)) * unit
        return {
            method: bc.variance_gain(
                error, np.zeros(n), v, recalibrated(v), method=method, random_state=run
            ).interval()
            for method in METHODS
        }

    ends = Rows("variance_coverage").of(f"{name}, {n} cases", runs, one)
    rows = []
    for method in METHODS:
        lower, upper = np.array([each[method] for each in ends]).T
        missed = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
        rows.append(
            {
                "errors": name,
                "n": n,
                "method": method,
                "runs": len(ends),
                "gain": truth,
                "coverage": float(np.mean(missed == 0)),
                "below": float(np.mean(upper < truth)),
                "above": float(np.mean(lower > truth)),
                "width": float(np.mean(upper - lower)),
                "interval_score": float(np.mean(upper - lower + 40 * missed)),
            }
        )
    return rows


def main() -> None:
    """Every law, size and method."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    options, start = parser.parse_args(), time.process_time()
    rows = []
    for number, name in enumerate(LAWS):
        for n in SIZES:
            rows += cell(name, number, n, options.runs)
            print(json.dumps(rows[-2:]), flush=True)
    record = {
        "cells": rows,
        "cpu_seconds": time.process_time() - start,
        "versions": library_versions("bayescal", "numpy", "scipy"),
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
