"""What is a cross-fit interval about? Coverage of the procedure's gain, and of the final map's.

Run `python docs/benchmarks/cross_fit_coverage.py --runs 100`. Each data set is recalibrated by
10-fold cross-fitting with two repeats. The 95 % interval of the gain is held against the mean gain
of maps fitted to 9/10 as many patients (the procedure), and against that of the map fitted to all
of them.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.validation.batches import Batch, run_batches, spans, stream
from kept import folder

RESULTS = Path(__file__).parent / "results"
TRUTHS = ("clinical-middle-calibrated", "clinical-middle-overconfident")
SIZES = (200,)
MAPS = {
    "logistic": bc.recalibrate.LogisticRecalibrator(),
    "isotonic": bc.recalibrate.IsotonicRecalibrator(),
}
MEASURES = ("brier", "log_score", "tce")
FOLDS, REPEATS, TRAINED, DRAWS, SEED = 10, 2, 300, 400, 412
NODES = (np.arange(4000) + 0.5) / 4000


def gains(truth, fitted):
    """True gains of a fitted map, over the population."""
    s, _ = truth.scores.quantiles(NODES, 1 - NODES)
    eta, after = truth.curve(s), fitted.transform(s)
    level, group = np.unique(after, return_inverse=True)
    mass = np.bincount(group)
    pooled = np.bincount(group, eta) / mass
    inner = np.clip(after, 1e-12, 1 - 1e-12)
    log = eta * np.log(inner / s) + (1 - eta) * np.log((1 - inner) / (1 - s))
    error = mass @ np.abs(pooled - level) / s.size
    return np.array(
        [
            np.mean((eta - s) ** 2 - (eta - after) ** 2),
            np.mean(log),
            np.mean(np.abs(eta - s)) - error,
        ]
    )


def batch(name, kind, n, span):
    """Ends of the intervals, the gains of the final maps, and whether each was run."""
    warnings.simplefilter("ignore")
    truth, recalibrator = bc.simulate.truth(name), MAPS[kind]
    ends = np.full((len(span), len(MEASURES), 2), np.nan)
    final = np.full((len(span), len(MEASURES)), np.nan)
    for row, run in enumerate(span):
        y, s = truth.sample(n, random_state=stream(SEED, name, n, run))
        after = bc.cross_fit(y, s, recalibrator, n_folds=FOLDS, n_repeats=REPEATS, random_state=run)
        result = bc.recalibration_gain(y, s, after, draws=DRAWS, random_state=run)
        ends[row] = [result.interval(measure) for measure in MEASURES]
        final[row] = gains(truth, recalibrator.fit(s, y))
    return {"ends": ends, "final": final}


def procedure(name, kind, n):
    """Mean gain of maps fitted to new data sets of (FOLDS - 1) / FOLDS as many patients."""
    truth, size = bc.simulate.truth(name), n * (FOLDS - 1) // FOLDS
    made = []
    for run in range(TRAINED):
        y, s = truth.sample(size, random_state=stream(SEED, name, n, "trained", run))
        made.append(gains(truth, MAPS[kind].fit(s, y)))
    return np.mean(made, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--path", type=Path, default=folder("cross_fit_coverage"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    parts = spans(options.runs, 20)
    cells = [(name, kind, n) for name in TRUTHS for kind in MAPS for n in options.sizes]
    batches = [
        Batch(
            partial(batch, *cell, part),
            len(part),
            {"what": "cross-fit", "cell": cell, "span": [part.start, part.stop]},
        )
        for cell in cells
        for part in parts
    ]
    results = run_batches(
        batches, "Cross-fits", n_jobs=options.jobs, progress=None, path=options.path
    )
    rows = []
    for index, (name, kind, n) in enumerate(cells):
        mine = results[index * len(parts) : (index + 1) * len(parts)]
        ends, final = (np.concatenate([one[key] for one in mine]) for key in ("ends", "final"))
        true = procedure(name, kind, n)
        for column, measure in enumerate(MEASURES):
            if kind == "isotonic" and measure == "log_score":
                continue  # steps of exactly 0 and 1 have no finite log score
            low, high = ends[:, column].T
            covers = [(low <= gain) & (gain <= high) for gain in (true[column], final[:, column])]
            rows.append(
                {
                    "truth": name,
                    "map": kind,
                    "size": n,
                    "measure": measure,
                    "runs": len(low),
                    "gain": true[column],
                    "procedure": covers[0].mean(),
                    "final": covers[1].mean(),
                    "width": np.mean(high - low),
                }
            )
    print(pd.DataFrame(rows).round(4).to_string())
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "cells": [
            {
                key: round(value, 6) if isinstance(value, float) else value
                for key, value in row.items()
            }
            for row in rows
        ],
    }
    (RESULTS / "cross_fit_coverage.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
