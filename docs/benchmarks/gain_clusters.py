"""Coverage of the gain's 95 % intervals where cases come in few clusters.

Run `python docs/benchmarks/gain_clusters.py --runs 200`. Every cluster has a random effect on the
log-odds that leaves the residuals of two of its cases with a correlation (ICC). The map is fixed,
and the true gains known by quadrature. Clusters are of equal size, or their sizes vary as a
log-normal law with standard deviation 0.9. Results are kept cell by cell.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "gain_clusters.json"
CELLS = list(product((8, 20), ("equal", "unequal"), (0.05, 0.2)))
"""Number of clusters, their sizes, and the ICC."""
CASES, DRAWS, THRESHOLD = 400, 1000, 0.3
SIZES_SD = 0.9
MEAN, SPREAD = -1.0, 1.2
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID = MEAN + SPREAD * np.polynomial.hermite_e.hermegauss(201)[0]
SHARE = np.polynomial.hermite_e.hermegauss(201)[1]
SHARE = SHARE / SHARE.sum()
MEASURES = ("brier", "log_score", "tce", f"net_benefit@{THRESHOLD:g}")


def mended(x: Any, effect: Any = 0.0) -> np.ndarray:
    """The map, and with an effect the risk in a cluster, at log-odds x."""
    return expit(-0.9 + 0.7 * (x - MEAN) + effect)


def marginal(x: np.ndarray, spread: float) -> np.ndarray:
    """The risk of the population."""
    return WEIGHTS @ mended(x, spread * NODES[:, None])


def spread_of(icc: float) -> float:
    """Standard deviation of the effects that gives residuals this correlation."""

    def excess(spread: float) -> float:
        mean = mended(GRID, spread * NODES[:, None]) @ SHARE
        curve = marginal(GRID, spread)
        variance = WEIGHTS @ mean**2 - (WEIGHTS @ mean) ** 2
        return float(variance / (SHARE @ (curve * (1 - curve))) - icc)

    return float(brentq(excess, 1e-6, 6.0))


def truths(spread: float) -> dict[str, float]:
    """The gains in the population, on a fine grid of scores."""
    t = (np.arange(200_000) + 0.5) / 200_000

    x = MEAN + SPREAD * ndtri(t)
    eta, before, after = np.interp(x, GRID, marginal(GRID, spread)), expit(x), mended(x)
    moved = (after >= THRESHOLD).astype(float) - (before >= THRESHOLD)
    worth = eta - (1 - eta) * THRESHOLD / (1 - THRESHOLD)
    log = eta * np.log(after / before) + (1 - eta) * np.log((1 - after) / (1 - before))
    return {
        "brier": float(np.mean((eta - before) ** 2 - (eta - after) ** 2)),
        "log_score": float(np.mean(log)),
        "tce": float(np.mean(abs(eta - before)) - np.mean(abs(eta - after))),
        MEASURES[3]: float(np.mean(worth * moved)),
    }


def sample(cell: tuple[int, str, float], spread: float, rng: np.random.Generator) -> Any:
    """Outcomes, log-odds of the scores, and clusters."""
    clusters, sizes, _ = cell
    part = rng.lognormal(0, SIZES_SD, clusters) if sizes == "unequal" else np.ones(clusters)
    size = np.maximum(np.round(CASES * part / part.sum()).astype(int), 3)
    cluster = np.repeat(np.arange(clusters), size)
    x = MEAN + SPREAD * rng.standard_normal(cluster.size)
    risk = mended(x, spread * rng.standard_normal(clusters)[cluster])
    return (rng.random(cluster.size) < risk).astype(int), x, cluster


def run_cell(cell: tuple[int, str, float], runs: int) -> list[dict[str, Any]]:
    """Coverage and mean width of each measure."""
    spread = spread_of(cell[2])
    true = truths(spread)

    def one(run: int) -> list[tuple[float, float]]:
        rng = np.random.default_rng([run, cell[0], cell[1] == "unequal", round(100 * cell[2])])
        y, x, cluster = sample(cell, spread, rng)
        gain = bc.recalibration_gain(
            y, expit(x), mended(x), thresholds=(THRESHOLD,), cluster=cluster, draws=DRAWS,
            random_state=run,
        )  # fmt: skip
        return [gain.interval(name) for name in MEASURES]

    ends = np.array(Rows("gain_clusters").of(str(cell), runs, one))
    rows = []
    for name, (low, high) in zip(MEASURES, np.moveaxis(ends, 0, 2), strict=True):
        covered = float(np.mean((low <= true[name]) & (true[name] <= high)))
        row = {"clusters": cell[0], "sizes": cell[1], "icc": cell[2], "measure": name}
        row |= {"gain": true[name], "runs": len(ends), "coverage": covered}
        rows.append(row | {"width": float(np.mean(high - low))})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    known: list[dict[str, Any]] = []
    for cell in CELLS:
        start = time.perf_counter()
        known += run_cell(cell, options.runs)
        print(cell, known[-len(MEASURES) :], f"{time.perf_counter() - start:.0f} s", flush=True)
        versions = library_versions("bayescal", "numpy", "scipy")
        RESULTS.write_text(json.dumps({"versions": versions, "cells": known}, indent=1) + "\n")


if __name__ == "__main__":
    main()
