"""Consistency checks of clusters: `python docs/benchmarks/consistency_clusters.py`.

Models are calibrated for the population: a case's score is its risk, averaged over the effects of
clusters. Cases of one cluster share an effect on the log-odds, in one cell also on the slope, and
the mean of their scores. `check_consistency` is run with `cluster=` and without. The share of the
data sets whose p-value is below .05 should be .05. Runs are kept beside the results as they are
made, so that a benchmark that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "consistency_clusters.json"
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ESTIMATORS: dict[str, dict[str, Any]] = {"ece": {"n_bins": 10}, "ici": {}, "ks_error": {}}
DRAWS, RESAMPLES = 200, 400


class Cell(NamedTuple):
    """Clusters, cases of each, and standard deviations of their effects, and error of the model.

    Attributes
    ----------
    off : float
        Log-odds by which all scores are too high; 0 where the model is calibrated.
    """

    clusters: int
    size: int
    frailty: float
    slope: float = 0.0
    off: float = 0.0


CELLS = {
    "20 clusters of 25": Cell(20, 25, 0.7),
    "40 clusters of 25": Cell(40, 25, 0.7),
    "40 clusters of 25, very alike": Cell(40, 25, 1.3),
    "150 clusters of 4": Cell(150, 4, 1.0),
    "random slope": Cell(40, 25, 0.5, 0.4),
    "independent": Cell(40, 25, 0.0),
    "scores too high": Cell(40, 25, 0.7, 0.0, 0.6),
}


def sample(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and clusters."""
    cluster = np.repeat(np.arange(cell.clusters), cell.size)
    mean = 0.5 * rng.standard_normal(cell.clusters)
    x = -0.8 + mean[cluster] + rng.standard_normal(cluster.size)
    shift, slope = rng.standard_normal((2, cell.clusters))
    effect = cell.frailty * shift[cluster] + cell.slope * slope[cluster] * (x + 0.8)
    outcome = (rng.random(cluster.size) < expit(x + effect)).astype(int)
    spread = np.hypot(cell.frailty, cell.slope * (x + 0.8))
    score = WEIGHTS @ expit(x + cell.off + spread * NODES[:, None])
    return outcome, score, cluster


def one_run(name: str, seed: int) -> dict[str, float]:
    """The p-value of each estimator in one data set, with and without clusters."""
    y, s, cluster = sample(CELLS[name], np.random.default_rng([seed, *name.encode()]))
    options: dict[str, Any] = {"curve": "beta", "draws": DRAWS, "random_state": seed}
    p_values = {}
    for how, own in {"cluster": cluster, "independent": None}.items():
        post = bc.fit(y, s, cluster=own, **options)
        for estimator, given in ESTIMATORS.items():
            check = bc.check_consistency(
                post, estimator, n_resamples=RESAMPLES, predict=False, **given
            )
            p_values[f"{how}.{estimator}"] = check.prob_calibrated_exceeds
    return p_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    options = parser.parse_args()
    kept = Rows("consistency_clusters")
    cells = {}
    for name, cell in CELLS.items():
        runs = kept.of(name, options.runs, partial(one_run, name))
        below = {key: float(np.mean([run[key] < 0.05 for run in runs])) for key in runs[0]}
        cells[name] = {"runs": len(runs), **cell._asdict(), "below": below}
    versions = library_versions("bayescal", "numpy", "scipy")
    RESULTS.write_text(json.dumps({"versions": versions, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
