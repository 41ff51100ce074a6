"""Subgroups by crossed factors: `python docs/benchmarks/subgroups.py [--runs N]`.

Data sets of 4 to 64 subgroups (combinations of two or three factors) are drawn from a model that
is calibrated in every subgroup, and from models whose subgroups differ: the shift of a subgroup
is the sum of effects of its levels, of standard deviation 0.25, and one of its own, of 0.1.
There are 100 patients a subgroup, or 4000 in all. Each data set is fitted once, and subgroup by
subgroup, by the importance engine alone: where its k-hat is above 0.7, a fit by default would go
on to NUTS, which takes a hundred times as long. Results are kept in `results/subgroups.json`, cell
by cell, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "subgroups.json"
SHAPES = {4: (2, 2), 16: (2, 2, 4), 64: (4, 4, 4)}
TRUTHS = {"no differences": (0.0, 0.0), "differences": (0.25, 0.1)}
IN_ALL, EACH = 4000, 100
MEAN, WIDTH = -1.3, 1.2
OFF = 0.05
DRAWS = 1000


def sample(
    shape: tuple[int, ...], n: int, spread: tuple[float, float], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Outcomes, scores, true risks, and the level of each patient in each factor."""
    cell = np.arange(n) % np.prod(shape)
    codes = np.unravel_index(cell, shape)
    levels, own = spread
    shift = (own * rng.standard_normal(int(np.prod(shape))))[cell]
    for code, size in zip(codes, shape, strict=True):
        shift = shift + (levels * rng.standard_normal(size))[code]
    log_odds = rng.normal(MEAN, WIDTH, n)
    risk = expit(log_odds + shift)
    factors = {f"factor {k}": code for k, code in enumerate(codes, 1)}
    return (rng.random(n) < risk).astype(int), expit(log_odds), risk, factors


def one_run(subgroups: int, n: int, truth: str, seed: int) -> dict[str, Any]:
    """What one data set says of every level and of every combination."""
    rng = np.random.default_rng([seed, subgroups, n, list(TRUTHS).index(truth)])
    outcome, score, risk, factors = sample(SHAPES[subgroups], n, TRUTHS[truth], rng)
    options: dict[str, Any] = {
        "curve": "logistic",
        "engine": "importance",
        "draws": DRAWS,
        "random_state": seed,
    }
    start = time.process_time()
    post = bc.fit(outcome, score, groups=factors, **options)
    row: dict[str, Any] = {
        "seconds": time.process_time() - start,
        "k": post.diagnostics["pareto_k"],
        "any_level": post.prob_any_above(OFF),
        "any_combination": post.prob_any_above(OFF, by=list(post.factors)),
    }
    parts = {"levels": [], "cells": []}
    for kind, rows in parts.items():
        for _, of in post.report(of=kind).reset_index().iterrows():
            levels = of["level"].split(", ")
            names = list(factors) if kind == "cells" else [of["factor"]]
            mine = np.logical_and.reduce(
                [factors[name] == int(level) for name, level in zip(names, levels, strict=True)]
            )
            view = post.subgroup(dict(zip(names, levels, strict=True)))
            true = risk[mine].sum() / score[mine].sum()
            lower, upper = view.interval("observed_expected", population="sample")
            rows.append(
                {
                    "covered": float(lower <= true <= upper),
                    "shrunk": (of["observed_expected"] - true) ** 2,
                    "raw": (of["observed_expected_raw"] - true) ** 2,
                }
            )
    for kind, rows in parts.items():
        row[kind] = {name: float(np.mean([of[name] for of in rows])) for name in rows[0]}
    row["any_alone"] = alone(outcome, score, factors, options)
    return row


def alone(
    outcome: np.ndarray, score: np.ndarray, factors: dict[str, np.ndarray], options: dict[str, Any]
) -> float:
    """Probability that any combination is off, each fitted by itself."""
    codes = np.column_stack(list(factors.values()))
    _, cell = np.unique(codes, axis=0, return_inverse=True)
    none = 1.0
    for k in range(cell.max() + 1):
        mine = cell.ravel() == k
        none *= 1 - bc.fit(outcome[mine], score[mine], **options).prob_tce_above(OFF)
    return 1 - none


def settings() -> Iterator[tuple[str, int, int]]:
    """Truth, number of subgroups and number of patients."""
    for truth in TRUTHS:
        for subgroups in SHAPES:
            for n in sorted({IN_ALL, EACH * subgroups}):
                yield truth, subgroups, n


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares and means over the runs of a setting."""
    record: dict[str, Any] = {"runs": len(rows)}
    for name in ("any_level", "any_combination", "any_alone"):
        values = np.array([row[name] for row in rows])
        record[name] = {"mean": float(values.mean()), "above_half": float((values > 0.5).mean())}
    for kind in ("levels", "cells"):
        record[kind] = {
            name: float(np.mean([row[kind][name] for row in rows])) for name in rows[0][kind]
        }
    record["seconds"] = float(np.median([row["seconds"] for row in rows]))
    k = np.array([row["k"] for row in rows])
    record["largest_k"], record["k_above_0.7"] = float(k.max()), float((k > 0.7).mean())
    return record


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--subgroups", type=int, choices=list(SHAPES), action="append")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored, kept = {}, Rows("subgroups")
    warnings.simplefilter("ignore")
    for truth, subgroups, n in settings():
        if options.subgroups and subgroups not in options.subgroups:
            continue
        key = f"{truth}, {subgroups} subgroups, {n} patients"
        rows = kept.of(key, options.runs, partial(one_run, subgroups, n, truth))
        stored[key] = {"truth": truth, "subgroups": subgroups, "n": n} | summarised(rows)
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(key, json.dumps(stored[key]), flush=True)


if __name__ == "__main__":
    main()
