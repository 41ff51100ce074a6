"""Are promises of selective prediction kept? `python docs/benchmarks/selective.py --runs 100`.

Answers are simulated of which the true accuracy at every score is known. Of each set,
`post.selective().threshold(accuracy)` names the threshold above which the accuracy is at least the
one asked for with probability 0.95; the promise is kept if the true accuracy of new answers above
it is. Beside it: coverage of the 95 % intervals of AURC and of the accuracy at coverage 0.8, and
the threshold at which the raw accuracy of the data is high enough.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "selective.json"
NEW = 200_000
COVERAGE = 0.8
Curve = Callable[[np.ndarray], np.ndarray]
TRUTHS: dict[str, Curve] = {
    "calibrated": lambda s: s,
    "over-confident": lambda s: expit(0.6 * logit(s)),
    "right at most 0.95 of the time": lambda s: 0.5 + 0.9 * (s - 0.5),
}
SIZES = (300, 1000)
ASKED = 0.9


def scores(n: int, rng: np.random.Generator) -> np.ndarray:
    """How sure a model is of its answers, from 0.4 to 1, to three digits."""
    return np.round(0.4 + 0.599 * rng.beta(3, 1.2, n), 3)


def risk_coverage(score: np.ndarray, accuracy: np.ndarray) -> tuple[float, float]:
    """AURC, and the accuracy at `COVERAGE`, of cases whose true accuracy is known."""
    right = np.cumsum(accuracy[np.argsort(-score, kind="stable")])
    number = np.arange(1, score.size + 1)
    return float(np.mean(1 - right / number)), float(right[int(COVERAGE * score.size) - 1]) / (
        COVERAGE * score.size
    )


def raw_threshold(score: np.ndarray, correct: np.ndarray) -> float:
    """The lowest score above which the share of right answers in the data is high enough."""
    distinct = np.unique(score)[::-1]
    kept = [at for at in distinct if correct[score >= at].mean() >= ASKED]
    return float(kept[-1]) if kept else np.inf


def one_run(truth: str, n: int, seed: int) -> dict[str, Any]:
    """What was promised of one set, and what is true."""
    rng = np.random.default_rng([seed, n, *truth.encode()])
    curve, new = TRUTHS[truth], scores(NEW, np.random.default_rng(0))
    score = scores(n, rng)
    correct = rng.random(n) < curve(score)
    answers = bc.fit(correct, score, draws=1000, random_state=seed).selective()
    table, promise = answers.summary((COVERAGE,)), answers.threshold(ASKED)
    aurc, accuracy = risk_coverage(new, curve(new))

    def true_above(at: float) -> float | None:
        return float(curve(new[new >= at]).mean()) if (new >= at).any() else None

    def contains(name: str, value: float) -> bool:
        return bool(table.loc[name, "lower"] <= value <= table.loc[name, "upper"])

    return {
        "promised": promise is not None,
        "true": None if promise is None else true_above(promise.threshold),
        "coverage": None if promise is None else promise.coverage,
        "raw": true_above(raw_threshold(score, correct)),
        "aurc": contains("aurc", aurc),
        "accuracy": contains(f"accuracy@{COVERAGE:g}", accuracy),
    }


def best_coverage(truth: str) -> float:
    """The largest share of cases that can be answered with the accuracy asked for."""
    new = np.sort(scores(NEW, np.random.default_rng(0)))[::-1]
    mean = np.cumsum(TRUTHS[truth](new)) / np.arange(1, NEW + 1)
    return float((mean >= ASKED).mean())


def summarised(truth: str, n: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares over the sets of a cell."""
    made = [row for row in rows if row["promised"]]
    raw = [row["raw"] for row in rows if row["raw"] is not None]
    return {
        "truth": truth,
        "n": n,
        "sets": len(rows),
        "promised": len(made) / len(rows),
        "kept": float(np.mean([row["true"] >= ASKED for row in made])) if made else None,
        "worst": min((row["true"] for row in made), default=None),
        "coverage": float(np.mean([row["coverage"] for row in made])) if made else None,
        "possible": best_coverage(truth),
        "raw_kept": float(np.mean([each >= ASKED for each in raw])) if raw else None,
        "aurc": float(np.mean([row["aurc"] for row in rows])),
        "accuracy": float(np.mean([row["accuracy"] for row in rows])),
    }


def main() -> None:
    """Run all cells, storing each when it is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    cells, kept = [], Rows("selective")
    for truth in TRUTHS:
        for n in SIZES:
            rows = kept.of(f"{truth}, {n} cases", runs, partial(one_run, truth, n))
            cells.append(summarised(truth, n, rows))
            stored = {
                "asked": ASKED,
                "at": COVERAGE,
                "cells": cells,
                "versions": library_versions("bayescal", "numpy", "scipy"),
            }
            RESULTS.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
