"""Distances of several curves: how often intervals cover, and how true stated probabilities are.

Run `python docs/benchmarks/sites_distances.py [--runs N]`. Every data set has its own population,
drawn for it: `calibrated`, every site is exactly calibrated; `mixed`, the average is and the sites
differ round it; `off`, neither; and `some`, each site is exactly calibrated with probability one
half and the others are off. Sites have 20 to 500 patients. True errors are over the law of the
scores. For each view, how often does the 95 % interval of the TCE contain the true one, and of the
statements P(TCE < x) near some value, which share is true?
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
KINDS = ("calibrated", "mixed", "off", "some")
SITES = (5, 15, 50)
MEAN, WIDTH = -1.2, 1.1
LIMITS = (0.01, 0.02, 0.03, 0.05, 0.08)
BINS = (0, 0.025, 0.1, 0.3, 0.5, 0.7, 0.9, 0.975, 1.000001)
NEW_SITES = 40
"""New sites that one data set is asked about."""
ASKED = 10
"""Most sites of a data set whose intervals are looked at: the first, which are as any other."""
SCORE = expit(MEAN + WIDTH * norm.ppf((np.arange(400) + 0.5) / 400))
"""The law of the scores."""


def coordinates(size: int, kind: str, law: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Shift and log slope of sites, of shape (size, 2)."""
    if kind == "calibrated":
        return np.zeros((size, 2))
    at = law["average"] + law["spread"] * rng.standard_normal((size, 2))
    return at * (rng.random((size, 1)) < 0.5) if kind == "some" else at


def law_of(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """The average and the standard deviations between sites of one population."""
    average = rng.standard_t(5, 2) * [0.35, 0.2]
    spread = np.abs(rng.standard_normal(2)) * [0.35, 0.18]
    return {"average": average * (kind in ("off", "some")), "spread": spread}


def error(at: np.ndarray) -> np.ndarray:
    """True calibration errors of curves at coordinates (n, 2)."""
    x = np.log(SCORE / (1 - SCORE)) - MEAN
    return np.abs(expit(MEAN + at[:, :1] + np.exp(at[:, 1:]) * x) - SCORE).mean(axis=1)


def one_run(kind: str, sites: int, seed: int) -> dict[str, Any]:
    """Of each view, whether its interval covers, its estimate, and what is stated and true."""
    rng = np.random.default_rng([seed, sites, KINDS.index(kind), 31])
    law = law_of(kind, rng)
    at, new_at = (coordinates(size, kind, law, rng) for size in (sites, NEW_SITES))
    average = law["average"] * (kind not in ("calibrated", "mixed"))
    if kind == "some":
        average = average / 2
    sizes = np.exp(rng.uniform(np.log(20), np.log(500), sites)).astype(int)
    site = np.repeat(np.arange(sites), sizes)
    x = rng.normal(0, WIDTH, site.size)
    true = expit(MEAN + at[site, 0] + np.exp(at[site, 1]) * x)
    outcome = (rng.random(site.size) < true).astype(int)
    labels = np.array([f"{k:03}" for k in range(sites)])
    start = time.process_time()
    post = bc.fit(
        outcome,
        expit(MEAN + x),
        groups=labels[site],
        curve="logistic",
        draws=1000,
        random_state=seed,
    )
    views = {"average": (post.average(), average[None]), "new": (post.new(), new_at)}
    views |= {f"site {k}": (post.at(site=labels[k]), at[[k]]) for k in range(min(sites, ASKED))}
    row: dict[str, Any] = {"seed": seed, "prob_calibrated": post.prob_calibrated}
    for name, (view, true_at) in views.items():
        errors = error(true_at)
        lower, upper = view.interval("tce")
        row[name] = {
            "cover": float(np.mean((lower <= errors) & (errors <= upper))),
            "below": float(np.mean(errors < lower)),
            "width": upper - lower,
            "off": float(np.mean(view.estimate("tce") - errors)),
            "said": [view.prob_tce_below(limit) for limit in LIMITS],
            "true": [float(np.mean(errors < limit)) for limit in LIMITS],
        }
    return row | {"seconds": time.process_time() - start}


def table_of(rows: list[dict[str, Any]], view: str) -> dict[str, Any]:
    """Coverage of a view, and the share of true statements by what was stated."""
    each = [value for row in rows for name, value in row.items() if name.split(" ")[0] == view]
    stated, true = (np.concatenate([one[name] for one in each]) for name in ("said", "true"))
    bins = []
    for low, high in pairwise(BINS):
        mine = (low <= stated) & (stated < high)
        if mine.any():
            bins.append([float(stated[mine].mean()), float(true[mine].mean()), int(mine.sum())])
    mean = {name: float(np.mean([one[name] for one in each])) for name in ("cover", "below", "off")}
    return mean | {"width": float(np.median([one["width"] for one in each])), "bins": bins}


def summarised(rows: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """By cell, by kind, and of the three kinds that the components name, all together."""
    views = ("average", "new", "site")
    cells: dict[str, dict[str, Any]] = {}
    for cell, some in rows.items():
        exact = [row["prob_calibrated"] for row in some if row["prob_calibrated"]]
        cells[cell] = {view: table_of(some, view) for view in views}
        cells[cell] |= {name: float(np.mean([one[name] for one in exact])) for name in exact[0]}
    kinds = {}
    for names in (*((kind,) for kind in KINDS), KINDS[:3]):
        mine = [row for cell, some in rows.items() if cell.split(",")[0] in names for row in some]
        kinds[", ".join(names)] = {view: table_of(mine, view) for view in views}
    sets = {cell: len(some) for cell, some in rows.items()}
    by_nuts = sum(not row["prob_calibrated"] for some in rows.values() for row in some)
    return {"sets": sets, "by_nuts": by_nuts, "cells": cells, "kinds": kinds, "limits": LIMITS}


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="data sets of each cell")
    options = parser.parse_args()
    kept = Rows("sites_distances")
    cells = {f"{kind}, {sites} sites": (kind, sites) for kind in KINDS for sites in SITES}
    result = summarised(
        {
            cell: kept.of(cell, options.runs, partial(one_run, kind, sites))
            for cell, (kind, sites) in cells.items()
        }
    )
    result["versions"] = library_versions("bayescal", "numpy", "scipy")
    (RESULTS / "sites_distances.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
