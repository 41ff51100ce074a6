"""Coverage of 95 % intervals where cases come in clusters: `docs/benchmarks/cluster_coverage.py`.

Clusters have a risk of their own and a random effect on the log-odds that leaves the residuals of
two of their cases with a correlation (ICC) of 0 or 0.05; in one cell also a random slope. Intervals
of the averaged posterior, with and without `cluster=`, are held against the curve of the
population, beside percentiles of a bootstrap of clusters. Results are kept cell by cell.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

Cell = tuple[int, int, float, float, float]
RESULTS = Path(__file__).with_name("results") / "cluster_coverage.json"
CELLS = [
    (20, 1000, 0.0, 0.0, 0.0),
    (20, 4000, 0.0, 0.0, 0.0),
    (20, 1000, 0.05, 0.0, 0.5),
    (20, 4000, 0.05, 0.0, 0.5),
    (20, 1000, 0.05, 0.3, 0.5),
    (200, 1000, 0.05, 0.0, 0.5),
]
"""Clusters, cases, ICC, and standard deviations between clusters of slopes and of log-odds."""
KEYS = ("clusters", "n", "icc", "slope_sd", "score_sd")
MEAN, TOTAL = -1.0, 1.0
SHIFT, SLOPE = 0.15, 0.8
FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")
DRAWS, RESAMPLES, BINS = 2000, 1000, 10
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID = MEAN + TOTAL * np.polynomial.hermite_e.hermegauss(101)[0]
SHARE = np.polynomial.hermite_e.hermegauss(101)[1]
SHARE = SHARE / SHARE.sum()


def risk(x: Any, effect: Any, tilt: Any = 0.0) -> np.ndarray:
    """Chance of the event at log-odds x in a cluster with these effects."""
    return expit(MEAN + SHIFT + effect + (SLOPE + tilt) * (x - MEAN))


def marginal(x: np.ndarray, spread: float, tilt: float) -> np.ndarray:
    """The curve of the population: the mean over clusters, of the shape of x."""
    effects = risk(x, spread * NODES[:, None, None], tilt * NODES[:, None])
    return np.einsum("i,j,ijk->k", WEIGHTS, WEIGHTS, effects)


def spread_of(icc: float) -> float:
    """Standard deviation of the effects that gives residuals this correlation."""

    def excess(spread: float) -> float:
        mean = risk(GRID, spread * NODES[:, None]) @ SHARE
        curve = marginal(GRID, spread, 0.0)
        variance = WEIGHTS @ mean**2 - (WEIGHTS @ mean) ** 2
        return float(variance / (SHARE @ (curve * (1 - curve))) - icc)

    return brentq(excess, 1e-6, 3.0) if icc else 0.0


def truths(spread: float, tilt: float) -> dict[str, float]:
    """Functionals of the curve of the population."""
    from bayescal.posterior.functionals import FUNCTIONALS as known
    from bayescal.posterior.functionals import CurveDraws
    from bayescal.posterior.population import Population

    curve = marginal(GRID, spread, tilt)
    draws = CurveDraws(curve[None], Population(expit(GRID), SHARE[None]))
    return {name: float(known[name].compute(draws)[0]) for name in FUNCTIONALS}


def sample(
    cell: Cell, spread: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, scores and clusters."""
    clusters, n, _, tilt, between = cell
    cluster = np.repeat(np.arange(clusters), n // clusters)
    within = np.sqrt(TOTAL**2 - between**2)
    x = MEAN + between * rng.standard_normal(clusters)[cluster] + within * rng.standard_normal(n)
    effect, slope = spread * rng.standard_normal(clusters), tilt * rng.standard_normal(clusters)
    outcome = rng.random(n) < risk(x, effect[cluster], slope[cluster])
    return outcome.astype(int), expit(x), cluster


def resampled(y: np.ndarray, s: np.ndarray, cluster: np.ndarray, rng: Any) -> dict[str, Any]:
    """Percentile intervals of O/E and of the ECE of ten bins, clusters resampled."""
    clusters = cluster.max() + 1
    cut = np.quantile(s, np.arange(1, BINS) / BINS)
    cell = np.searchsorted(cut, s)
    events, expected, size = (
        np.bincount(cluster * BINS + cell, values, minlength=clusters * BINS).reshape(-1, BINS)
        for values in (y, s, np.ones(s.size))
    )
    counts = rng.multinomial(clusters, np.full(clusters, 1 / clusters), RESAMPLES)
    o, e, m = counts @ events, counts @ expected, counts @ size
    draws = {
        "observed_expected": o.sum(axis=1) / e.sum(axis=1),
        "tce": np.abs(o - e).sum(axis=1) / m.sum(axis=1),
    }
    return {name: np.quantile(values, [0.025, 0.975]) for name, values in draws.items()}


def one_run(cell: Cell, spread: float, seed: int) -> dict[str, Any]:
    """Intervals of one data set, by method."""
    rng = np.random.default_rng([seed, *(round(100 * part) for part in cell)])
    y, s, cluster = sample(cell, spread, rng)
    intervals = {}
    for method, ids in (("independent", None), ("cluster", cluster)):
        post = bc.compare(y, s, cluster=ids, draws=DRAWS, random_state=seed).posterior
        intervals[method] = {name: list(post.interval(name)) for name in FUNCTIONALS}
        if post.design is not None:
            intervals["effective_n"] = post.design.effective_n
    intervals["bootstrap"] = {
        name: list(map(float, ends)) for name, ends in resampled(y, s, cluster, rng).items()
    }
    return intervals


def summarised(runs: list[dict[str, Any]], true: dict[str, float]) -> list[dict[str, Any]]:
    """Coverage and mean length by method and functional."""
    rows = []
    for method in ("independent", "cluster", "bootstrap"):
        for name, value in true.items():
            if name not in runs[0][method]:
                continue
            low, high = np.array([run[method][name] for run in runs]).T
            rows.append(
                {
                    "method": method,
                    "functional": name,
                    "covered": float(np.mean((low <= value) & (value <= high))),
                    "length": float(np.mean(high - low)),
                }
            )
    return rows


def run_cell(cell: Cell, runs: int) -> dict[str, Any]:
    """All runs of one cell."""
    spread = spread_of(cell[2])
    true = truths(spread, cell[3])
    done = Rows("cluster_coverage").of(str(cell), runs, partial(one_run, cell, spread))
    return dict(zip(KEYS, cell, strict=True)) | {
        "runs": len(done),
        "truth": true,
        "effective_n": float(np.median([run["effective_n"] for run in done])),
        "intervals": summarised(done, true),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    known: list[dict[str, Any]] = []
    for cell in CELLS:
        known.append(run_cell(cell, options.runs))
        print(json.dumps(known[-1]), flush=True)
        versions = library_versions("bayescal", "numpy", "scipy")
        RESULTS.write_text(json.dumps({"versions": versions, "cells": known}, indent=1) + "\n")


if __name__ == "__main__":
    main()
