"""Leave-one-out of clusters beside refits: `python docs/benchmarks/clusters_left_out.py`.

Clusters have a random effect on the log-odds. `compare(..., cluster=).loo` is held against a fit
without each cluster, whose outcomes are then predicted one by one.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "clusters_left_out.json"
FAMILIES = ("intercept", "logistic", "beta", "noise", "pieces")
CLUSTERS, SIZE, DRAWS = 20, 15, 1000
FRAILTIES = (0.0, 0.8, 1.5)


def sample(frailty: float, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and clusters; the model is overconfident."""
    cluster = np.repeat(np.arange(CLUSTERS), SIZE)
    x = rng.normal(-0.7, 1.1, cluster.size)
    effect = frailty * rng.standard_normal(CLUSTERS)
    return (rng.random(x.size) < expit(0.7 * x + effect[cluster])).astype(int), expit(x), cluster


def log_density(g: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Of single outcomes, of curves (draws, cases) that are weighted."""
    mean = weight @ g / weight.sum()
    return float(np.log(np.where(y > 0, mean, 1 - mean)).sum())


def one_set(frailty: float, seed: int) -> dict[str, dict[str, float]]:
    """Differences of the expected log predictive density from that of the refits."""
    y, s, cluster = sample(frailty, np.random.default_rng([seed, int(10 * frailty)]))
    options: dict[str, Any] = {"draws": DRAWS, "random_state": seed}
    compared = bc.compare(y, s, cluster=cluster, curves=["identity", *FAMILIES], **options)
    result = {}
    for family in FAMILIES:
        refitted = by_single_parts = 0.0
        every = bc.fit(y, s, cluster=cluster, curve=family, **options)
        for one in range(CLUSTERS):
            here = cluster == one
            post = bc.fit(y[~here], s[~here], cluster=cluster[~here], curve=family, **options)
            g = post.curve(s[here]).to_numpy().reshape(-1, SIZE)
            refitted += log_density(g, y[here], np.ones(len(g)))
            g = every.curve(s[here]).to_numpy().reshape(-1, SIZE)
            parts = np.log(np.where(y[here] > 0, g, 1 - g)).sum(axis=1)
            by_single_parts += log_density(g, y[here], np.exp(parts.min() - parts))
        left_out = compared.loo[family]
        result[family] = {
            "error": left_out.elpd - refitted,
            "error_of_full_parts": by_single_parts - refitted,
            "pareto_k": left_out.pareto_k,
            "design_effect": compared.design_effect,
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    sets = parser.parse_args().sets
    cells, kept = [], Rows("clusters_left_out")
    for frailty in FRAILTIES:
        runs = kept.of(f"frailty {frailty:g}", sets, partial(one_set, frailty))
        for family in FAMILIES:
            each = [run[family] for run in runs]
            cell: dict[str, Any] = {"frailty": frailty, "family": family, "sets": sets}
            for name in ("error", "error_of_full_parts"):
                values = np.array([one[name] for one in each])
                cell[name] = float(values.mean())
                cell[f"{name}_root_mean_square"] = float(np.sqrt(np.mean(values**2)))
            cell["design_effect"] = float(np.median([one["design_effect"] for one in each]))
            cell["pareto_k"] = float(max(one["pareto_k"] for one in each))
            cells.append(cell)
    versions = library_versions("bayescal", "numpy", "scipy")
    RESULTS.write_text(json.dumps({"versions": versions, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
