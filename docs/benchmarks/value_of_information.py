"""Expected and realised losses: `python docs/benchmarks/value_of_information.py [--runs N]`.

EVPI is an average under the posterior. So if curves are drawn from the prior, and data from each
curve, its mean must be the mean of what is lost: the net benefit of the strategy that is truly
best, minus that of the one that was chosen. EVSI must be the mean of what is won when as many
patients again are observed and the choice is made anew. Here both are computed for logistic curves
from the neutral prior, and for fixed populations with the averaged posterior, where they need not
agree. Results are kept in `results/value_of_information.json`, cell by cell, so that a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "value_of_information.json"
THRESHOLDS = np.array([0.1, 0.2, 0.4])
SIZES = (100, 400, 1600)
POPULATION = expit(-1.3 + 1.2 * ndtri((np.arange(4000) + 0.5) / 4000))
KINDS = ("these scores", "scores like these")
FIXED = (
    "clinical-middle-calibrated",
    "clinical-middle-overconfident",
    "clinical-low-overconfident",
)
FIXED_SIZE = 400
NAMES = ("evpi", "evpi_of_recalibrating", "evsi", "evsi_of_recalibrating", "cells")


def from_prior(rng: np.random.Generator) -> Any:
    """A logistic curve of the neutral prior."""
    shift, slope = rng.normal(0, 1), np.exp(rng.normal(0, 0.5))
    return lambda score: expit(shift + slope * logit(score))


def worth(treated: np.ndarray, risk: np.ndarray) -> np.ndarray:
    """Net benefit by threshold, of whom each threshold treats, of shape (thresholds, cases)."""
    return np.mean(treated * (risk - THRESHOLDS[:, None]), axis=1) / (1 - THRESHOLDS)


def strategies(score: np.ndarray, mean: Any) -> list[np.ndarray]:
    """Whom each strategy treats: no one, everyone, by the model, by the updated model."""
    at = THRESHOLDS[:, None]
    nobody = np.zeros((THRESHOLDS.size, score.size))
    return [nobody, nobody + 1, 1.0 * (score >= at), 1.0 * (mean(score) >= at)]


def mean_curve(post: Any) -> Any:
    """The posterior mean curve as a function."""
    grid = np.concatenate([[1e-5], np.linspace(0.001, 0.999, 999), [1 - 1e-5]])
    mean = post.curve(grid).mean(("chain", "draw")).to_numpy()
    return lambda score: np.interp(score, grid, mean)


def one_run(
    truth: Any, population: np.ndarray, n: int, fit: Any, seed: int, *, known: bool = False
) -> dict[str, Any]:
    """Expected losses and gains of one data set, and the realised ones.

    If the population is `known`, it is that of the patients at hand.
    """
    rng = np.random.default_rng([seed, n])
    curve = truth(rng)
    score = rng.choice(population, 2 * n)
    if known:
        population = score[:n]
        score[n:] = rng.choice(population, n)
    risk = curve(population)
    outcome = (rng.random(2 * n) < curve(score)).astype(int)
    post, later = fit(outcome[:n], score[:n], seed), fit(outcome, score, seed)
    kind = "sample" if known else "bootstrap"
    own = post.value_of_information(THRESHOLDS, n, population=kind)
    cells = post.value_of_information(THRESHOLDS, method="cells")
    before, after = mean_curve(post), mean_curve(later)
    true = np.array([worth(each, risk) for each in strategies(population, before)])
    seen = population if known else score
    then = np.array([worth(each, after(seen)) for each in strategies(seen, before)])

    def of(chosen: np.ndarray) -> np.ndarray:
        return np.take_along_axis(true, chosen[None], axis=0)[0]

    now = of(own["net_benefit"].to_numpy().argmax(axis=1))
    simple = of(cells["net_benefit"].to_numpy().argmax(axis=1))
    realised = {
        "evpi": true.max(axis=0) - now,
        "evpi_of_recalibrating": worth(1.0 * (risk >= THRESHOLDS[:, None]), risk) - now,
        "evsi": of(then.argmax(axis=0)) - now,
        "evsi_of_recalibrating": worth(1.0 * (after(population) >= THRESHOLDS[:, None]), risk)
        - now,
        "cells": true[:3].max(axis=0) - simple,
    }
    expected = {name: own[name].to_numpy() for name in NAMES[:4]} | {"cells": cells["evpi"]}
    return {name: (np.asarray(expected[name]).tolist(), realised[name].tolist()) for name in NAMES}


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean expected and realised values, and the standard error of their difference."""
    cell: dict[str, Any] = {"runs": len(rows)}
    for name in NAMES:
        both = np.array([row[name] for row in rows])
        difference = both[:, 0] - both[:, 1]
        cell[name] = {
            "expected": both[:, 0].mean(axis=0).tolist(),
            "realised": both[:, 1].mean(axis=0).tolist(),
            "error": (difference.std(axis=0, ddof=1) / np.sqrt(len(rows))).tolist(),
        }
    return cell


def logistic(outcome: np.ndarray, score: np.ndarray, seed: int) -> Any:
    """The family that the curves are drawn from."""
    return bc.fit(outcome, score, curve="logistic", draws=1000, random_state=seed)


def averaged(outcome: np.ndarray, score: np.ndarray, seed: int) -> Any:
    """The averaged posterior."""
    return bc.compare(outcome, score, draws=1000, random_state=seed).posterior


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells: list[tuple[Any, ...]] = [
        (f"prior, {kind}, n = {n}", from_prior, POPULATION, n, logistic, options.runs)
        for kind in KINDS
        for n in SIZES
    ]
    for name in FIXED:
        known = bc.simulate.truth(name)
        _, scores = known.sample(4000, random_state=0)
        few = max(options.runs // 6, 2)
        cells.append((name, lambda _, known=known: known.curve, scores, FIXED_SIZE, averaged, few))
    kept = Rows("value_of_information")
    stored: dict[str, Any] = {"thresholds": THRESHOLDS.tolist()}
    for key, truth, population, n, fit, runs in cells:
        run = partial(one_run, truth, population, n, fit, known=KINDS[0] in key)
        stored[key] = {"n": n} | summarised(kept.of(key, runs, run))
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(key, json.dumps(stored[key]), flush=True)


if __name__ == "__main__":
    main()
