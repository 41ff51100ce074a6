"""Coverage and error of hierarchical fits: `python docs/benchmarks/sites.py [--runs N]`.

Data sets of 5, 15 and 50 sites with 20 to 500 patients each are drawn from known curves, with
standard deviations between sites of 0, 0.15 and 0.33, from a population that is calibrated or not.
Each is fitted as one table (pooled), site by site (unpooled) and hierarchically. Results are kept
in `results/sites.json`, cell by cell, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc

RESULTS = Path(__file__).with_name("results") / "sites.json"
SITES, SPREADS, TRUTHS = (5, 15, 50), (0.0, 0.15, 0.33), ("calibrated", "miscalibrated")
MEAN, WIDTH = -1.3, 1.2
POPULATION = {"calibrated": (0.0, 0.0), "miscalibrated": (0.25, -0.2)}
SLOPE_SHARE, CORRELATION = 0.5, 0.4
OFF = 0.05
GRID = np.linspace(0.05, 0.8, 16)


def coordinates(size: int, spread: float, truth: str, rng: np.random.Generator) -> np.ndarray:
    """Shift and log slope of sites, of shape (size, 2)."""
    standard = rng.standard_normal((size, 2))
    standard[:, 1] = CORRELATION * standard[:, 0] + np.sqrt(1 - CORRELATION**2) * standard[:, 1]
    return POPULATION[truth] + spread * standard * [1, SLOPE_SHARE]


def curve(at: np.ndarray, score: np.ndarray) -> np.ndarray:
    """True curves of coordinates of shape (n, 2), of shape (n, scores)."""
    x = np.log(score / (1 - score)) - MEAN
    return expit(MEAN + at[:, :1] + np.exp(at[:, 1:]) * x)


def sample(sites: int, at: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and labels."""
    sizes = np.exp(rng.uniform(np.log(20), np.log(500), sites)).astype(int)
    site = np.repeat(np.arange(sites), sizes)
    score = expit(rng.normal(MEAN, WIDTH, site.size))
    x = np.log(score / (1 - score)) - MEAN
    true = expit(MEAN + at[site, 0] + np.exp(at[site, 1]) * x)
    return (rng.random(site.size) < true).astype(int), score, site


def one_run(sites: int, spread: float, truth: str, seed: int) -> dict[str, Any]:
    """What one data set says of sites, of the average site and of a new one."""
    rng = np.random.default_rng([seed, sites, round(100 * spread), TRUTHS.index(truth)])
    at = coordinates(sites, spread, truth, rng)
    outcome, score, site = sample(sites, at, rng)
    new_at = coordinates(1, spread, truth, rng)
    labels = np.array([f"{k:03}" for k in range(sites)])[site]
    options: dict[str, Any] = {"curve": "logistic", "random_state": seed}
    start = time.process_time()
    post = bc.fit(outcome, score, groups=labels, **options)
    seconds = time.process_time() - start
    row: dict[str, Any] = {"seconds": seconds, "k": post.diagnostics["pareto_k"]}
    pooled_score = np.sort(score)
    population = np.array([POPULATION[truth]])
    for name, view, true_at in (
        ("average", post.average_site(), population),
        ("new", post.new_site(), new_at),
    ):
        true = curve(true_at, pooled_score)[0]
        row[name] = covered(view, true, pooled_score, np.exp(true_at[0, 1]))
        ends = np.quantile(view.curve(GRID).to_numpy().reshape(-1, GRID.size), [0.025, 0.975], 0)
        row[name]["interval_score"] = interval_score(*ends, curve(true_at, GRID)[0])
    true_spread = {"shift": spread, "log_slope": SLOPE_SHARE * spread, "correlation": CORRELATION}
    ends = post.heterogeneity[["lower", "upper"]]
    row["spread"] = {
        name: float(ends.loc[name, "lower"] <= value <= ends.loc[name, "upper"])
        for name, value in true_spread.items()
    }
    row["sites"] = []
    for index, label in enumerate(post.labels):
        own = np.sort(score[site == index])
        true = curve(at[index : index + 1], own)[0]
        row["sites"].append(covered(post.site(label), true, own, np.exp(at[index, 1])))
    row["any"] = post.prob_any_above(OFF)
    row["error"] = {"hierarchical": 0.0, "unpooled": 0.0, "pooled": 0.0}
    together = bc.fit(outcome, score, prior="clinical", **options).curve(GRID)
    for index, label in enumerate(post.labels):
        true, mine = curve(at[index : index + 1], GRID)[0], site == index
        alone = bc.fit(outcome[mine], score[mine], prior="clinical", **options).curve(GRID)
        for name, drawn in (
            ("hierarchical", post.site(label).curve(GRID)),
            ("unpooled", alone),
            ("pooled", together),
        ):
            mean = drawn.mean(("chain", "draw")).to_numpy()
            row["error"][name] += float(np.mean((mean - true) ** 2)) / sites
    return row


def covered(view: Any, true: np.ndarray, score: np.ndarray, slope: float) -> dict[str, float]:
    """Whether each interval holds the truth, over the scores as they are."""
    truth = {
        "observed_expected": true.mean() / score.mean(),
        "calibration_slope": slope,
        "tce": np.abs(true - score).mean(),
    }
    inside = {}
    for name, value in truth.items():
        lower, upper = view.interval(name, population="sample")
        inside[name] = float(lower <= value <= upper)
    return inside


def interval_score(lower: np.ndarray, upper: np.ndarray, true: np.ndarray) -> float:
    """Mean score of 95 % intervals: their width, and 40 times what they miss by."""
    missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    return float(np.mean(upper - lower + 2 / 0.05 * missed))


def cells() -> Iterator[tuple[int, float, str]]:
    """Every cell of the grid."""
    for truth in TRUTHS:
        for sites in SITES:
            for spread in SPREADS:
                yield sites, spread, truth


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares and means over the runs of a cell."""
    names = ("observed_expected", "calibration_slope", "tce")
    coverage = {
        who: {name: float(np.mean([row[who][name] for row in rows])) for name in names}
        for who in ("average", "new")
    }
    each = [site for row in rows for site in row["sites"]]
    coverage["sites"] = {name: float(np.mean([site[name] for site in each])) for name in names}
    coverage["spread"] = {
        name: float(np.mean([row["spread"][name] for row in rows])) for name in rows[0]["spread"]
    }
    kinds = ("hierarchical", "unpooled", "pooled")
    return {
        "runs": len(rows),
        "coverage": coverage,
        "squared_error": {
            kind: float(np.mean([row["error"][kind] for row in rows])) for kind in kinds
        },
        "interval_score": {
            who: float(np.mean([row[who]["interval_score"] for row in rows]))
            for who in ("average", "new")
        },
        "any_off": float(np.mean([row["any"] for row in rows])),
        "seconds": float(np.median([row["seconds"] for row in rows])),
        "largest_k": float(np.max([row["k"] for row in rows])),
    }


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored = json.loads(options.output.read_text()) if options.output.exists() else {}
    warnings.simplefilter("ignore")
    for sites, spread, truth in cells():
        key = f"{truth}, {sites} sites, sd {spread:g}"
        runs = max(20, options.runs // (3 if sites == max(SITES) else 1))
        if stored.get(key, {}).get("runs", 0) >= runs:
            continue
        stored[key] = summarised([one_run(sites, spread, truth, seed) for seed in range(runs)])
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(key, json.dumps(stored[key]), flush=True)


if __name__ == "__main__":
    main()
