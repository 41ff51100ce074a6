"""Coverage and error of hierarchical fits: `python docs/benchmarks/sites.py [--runs N]`.

Data sets of 5, 15 and 50 sites with 20 to 500 patients each are drawn from known curves, with
standard deviations between sites of 0, 0.15 and 0.33, from a population that is calibrated or not.
Each is fitted as one table (pooled), site by site (unpooled) and hierarchically. Runs are kept
beside the results as they are made, so that a benchmark that was stopped goes on where it was.
`sites_rivals.py` fits what others use to the same data sets.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).with_name("results")
SITES, SPREADS, TRUTHS = (5, 15, 50), (0.0, 0.15, 0.33), ("calibrated", "miscalibrated")
MEAN, WIDTH = -1.3, 1.2
POPULATION = {"calibrated": (0.0, 0.0), "miscalibrated": (0.25, -0.2)}
SLOPE_SHARE, CORRELATION = 0.5, 0.4
OFF, DRAWS = 0.05, 1000
NEW_SITES = 100
"""New sites that one data set is asked about; what it says of them does not depend on them."""
NORMAL = bc.by("site", robust=False)
"""Normal effects; `sites_robust.py` compares them with robust ones."""
GRID = np.linspace(0.05, 0.8, 16)

Run = dict[str, float]


class Drawn(NamedTuple):
    """A data set, and the truth.

    Attributes
    ----------
    at : ndarray of shape (sites, 2)
        Shift and log slope of each site.
    new_at : ndarray of shape (NEW_SITES, 2)
    outcome, score, site : ndarray of shape (n,)
    """

    at: np.ndarray
    new_at: np.ndarray
    outcome: np.ndarray
    score: np.ndarray
    site: np.ndarray


def draw(sites: int, spread: float, truth: str, seed: int) -> Drawn:
    """The data set of a cell and a seed."""
    rng = np.random.default_rng([seed, sites, round(100 * spread), TRUTHS.index(truth)])
    at = coordinates(sites, spread, truth, rng)
    sample = cases(at, rng)
    return Drawn(at, coordinates(NEW_SITES, spread, truth, rng), *sample)


def coordinates(size: int, spread: float, truth: str, rng: np.random.Generator) -> np.ndarray:
    """Shift and log slope of sites, of shape (size, 2)."""
    standard = rng.standard_normal((size, 2))
    standard[:, 1] = CORRELATION * standard[:, 0] + np.sqrt(1 - CORRELATION**2) * standard[:, 1]
    return POPULATION[truth] + spread * standard * [1, SLOPE_SHARE]


def curve(at: np.ndarray, score: np.ndarray) -> np.ndarray:
    """True curves of coordinates of shape (n, 2), of shape (n, scores)."""
    x = np.log(score / (1 - score)) - MEAN
    return expit(MEAN + at[:, :1] + np.exp(at[:, 1:]) * x)


def cases(at: np.ndarray, rng: np.random.Generator, first: int = 0) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and sites of patients; the first sites may have 150 patients each."""
    sizes = np.exp(rng.uniform(np.log(20), np.log(500), len(at))).astype(int)
    sizes[:first] = 150
    site = np.repeat(np.arange(len(at)), sizes)
    score = expit(rng.normal(MEAN, WIDTH, site.size))
    x = np.log(score / (1 - score)) - MEAN
    true = expit(MEAN + at[site, 0] + np.exp(at[site, 1]) * x)
    return (rng.random(site.size) < true).astype(int), score, site


def one_run(sites: int, spread: float, truth: str, seed: int) -> Run:
    """What one data set says of sites, of the average site and of a new one."""
    at, new_at, outcome, score, site = draw(sites, spread, truth, seed)
    labels = np.array([f"{k:03}" for k in range(sites)])[site]
    options: dict[str, Any] = {"curve": "logistic", "random_state": seed, "draws": DRAWS}
    start = time.process_time()
    data = bc.CalibrationData(outcome, score, site=labels)
    post = bc.fit(data, vary=NORMAL, **options)
    seconds = time.process_time() - start
    row = {"seconds": seconds, "k": post.diagnostics["pareto_k"], "any": post.prob_any_above(OFF)}
    population = np.array([POPULATION[truth]])
    views = {"average": (post.average_site(), population), "new": (post.new_site(), new_at)}
    for name, (view, true_at) in views.items():
        ends = np.quantile(view.curve(GRID).to_numpy().reshape(-1, GRID.size), [0.025, 0.975], 0)
        row |= prefixed(name, covered(view, true_at, np.sort(score)))
        row[f"{name}.interval_score"] = interval_score(*ends, curve(true_at, GRID))
    true_spread = {"shift": spread, "log_slope": SLOPE_SHARE * spread, "correlation": CORRELATION}
    ends = post.heterogeneity[["lower", "upper"]]
    for name, value in true_spread.items():
        inside = ends.loc[name, "lower"] <= value <= ends.loc[name, "upper"]
        row[f"spread.{name}"] = float(inside)
    each = [
        covered(post.site(label), at[k : k + 1], np.sort(score[site == k]))
        for k, label in enumerate(post.labels)
    ]
    row |= {f"sites.{name}": float(np.mean([one[name] for one in each])) for name in each[0]}
    together = bc.fit(outcome, score, prior="clinical", **options)
    drawn = {"hierarchical": [], "unpooled": [], "pooled": [together] * sites}
    for k, label in enumerate(post.labels):
        mine = site == k
        drawn["hierarchical"].append(post.site(label))
        drawn["unpooled"].append(bc.fit(outcome[mine], score[mine], prior="clinical", **options))
    for name, fits in drawn.items():
        means = [fit.curve(GRID).mean(("chain", "draw")).to_numpy() for fit in fits]
        row[f"error.{name}"] = float(np.mean((np.array(means) - curve(at, GRID)) ** 2))
    return row


def covered(view: Any, at: np.ndarray, score: np.ndarray) -> Run:
    """Share of true curves whose value each interval holds, over the scores as they are."""
    true = curve(at, score)
    truth = {
        "observed_expected": true.mean(axis=1) / score.mean(),
        "calibration_slope": np.exp(at[:, 1]),
        "tce": np.abs(true - score).mean(axis=1),
    }
    inside = {}
    for name, values in truth.items():
        lower, upper = view.interval(name, population="sample")
        inside[name] = float(np.mean((lower <= values) & (values <= upper)))
    return inside


def interval_score(lower: np.ndarray, upper: np.ndarray, true: np.ndarray) -> float:
    """Mean score of 95 % intervals: their width, and 40 times what they miss by."""
    missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    return float(np.mean(upper - lower + 2 / 0.05 * missed))


def prefixed(name: str, values: Run) -> Run:
    """Names with another before them."""
    return {f"{name}.{key}": value for key, value in values.items()}


def cells() -> Iterator[tuple[int, float, str]]:
    """Every cell of the grid."""
    for sites in SITES:
        for truth in TRUTHS:
            for spread in SPREADS:
                yield sites, spread, truth


def summarised(rows: list[Run]) -> dict[str, Any]:
    """Means over the runs of a cell, their Monte Carlo errors, and the interval scores."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = {name: np.array([row[name] for row in rows if name in row]) for name in names}
    scores = [name for name in names if name.endswith("interval_score")]
    return {
        "runs": len(rows),
        "mean": {name: float(each.mean()) for name, each in values.items()},
        "error": {
            name: float(each.std(ddof=1) / np.sqrt(each.size)) for name, each in values.items()
        },
        "scores": {name: values[name].round(5).tolist() for name in scores},
    }


def run_cells(name: str, one: Callable[[int, float, str, int], Run]) -> None:
    """Make the runs that are not there yet, and write the results of all that are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100, help="half of it with 50 sites")
    parser.add_argument("--cells", nargs="+", help="only these, such as calibrated-15-0.33")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept, record = Rows(name), []
    for sites, spread, truth in cells():
        cell = f"{truth}-{sites}-{spread:g}"
        if options.cells is None or cell in options.cells:
            runs = options.runs // (2 if sites == max(SITES) else 1)
            rows = kept.of(cell, max(runs, 2), partial(one, sites, spread, truth))
            named = {"truth": truth, "sites": sites, "spread": spread}
            record.append(named | summarised(rows))
    lines = ",\n".join(map(json.dumps, record))
    (RESULTS / f"{name}.json").write_text(f'{{"cells": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    run_cells("sites", one_run)
