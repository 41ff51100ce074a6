"""Coverage of 95 % intervals of the true calibration error, on truths that we chose with.

Run `python benchmarks/interval_coverage.py --runs 100 --sizes 100 500`. Finished batches are kept
under `--path`, so a run can be interrupted, lengthened, or given more sizes.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.special import logit

import bayescal as bc
from bayescal.simulate import BetaScores, Truth
from bayescal.validation import coverage, coverage_table

RESULTS = Path(__file__).parent / "results"
METHODS = ("average", "beta", "spline", "ece_basic", "ece_percentile", "bins_beta11")
NAMED = (
    "D1",
    "D2",
    "D3",
    "D4",
    "D5",
    "clinical-middle-calibrated",
    "clinical-low-overconfident",
    "clinical-middle-underconfident",
    "clinical-high-shifted",
    "clinical-middle-asymmetric",
)


def sine(log_s: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    s = np.exp(log_s)
    return logit(np.clip(s + 0.1 * np.sin(4 * np.pi * s), 1e-9, 1 - 1e-9))


def step(log_s: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    return np.where(log_s < np.log(0.5), logit(0.25), logit(0.75))


TRUTHS = (
    *(bc.simulate.truth(name) for name in NAMED),
    Truth("sine", "g = s + .1 sin(4 pi s), s ~ Beta(1.5, 1.5)", BetaScores(1.5, 1.5), sine),
    Truth("step", "g = .25 below one half, .75 above", BetaScores(1.5, 1.5), step),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--path", type=Path, default=RESULTS / "coverage-batches")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = coverage(
        TRUTHS,
        options.sizes,
        options.methods,
        runs=options.runs,
        random_state=2025,
        n_jobs=options.jobs,
        path=options.path,
    )
    table = coverage_table(found)
    print(table.round(3).to_string())
    columns = ["truth", "size", "method", "runs", "coverage", "mean_width", "mean_interval_score"]
    flat = table.reset_index()
    kept = [name for name in columns if name in flat]
    record = {"runs": options.runs, "cells": flat[kept].round(4).to_dict(orient="records")}
    (RESULTS / "coverage.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
