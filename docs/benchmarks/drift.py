"""Simulated drift: `python docs/benchmarks/drift.py [--runs N]`.

Years of 100 patients a month: without a change, with a sudden shift of the log-odds into the
third, seventh or eleventh month, and with a gradual one. An oracle that knows the curve before, the
size of the shift and that there was one places it by the likelihood: no method can do better than
its row. Of each year it is also kept whether a month is named in words, and whether that is within
one of the truth. Results are kept in `results/drift.json`, cell by cell, so that a run that was
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
from scipy.special import expit, log_expit

import bayescal as bc
from bayescal.assessment.text.drift import LEAST_PROBABILITY, LIKELY, changed_in_words
from bayescal.assessment.text.periods import drift_sentences
from bayescal.multilevel.changes import PROB_CONSTANT, PROB_GRADUAL, PROB_SUDDEN
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "drift.json"
MONTHS, PATIENTS, CHANGE = 12, 100, 6
WIDTH, LIMIT = 1.2, 0.05
CELLS: dict[str, dict[str, Any]] = {
    "none, calibrated": {"mean": -1.0},
    "none, shift of 0.3 all along": {"mean": -1.0, "before": 0.3},
    "sudden, 0.4, prevalence 0.17": {"mean": -2.0, "size": 0.4},
    "sudden, 0.4, prevalence 0.31": {"mean": -1.0, "size": 0.4},
    "sudden, 0.4, prevalence 0.50": {"mean": 0.0, "size": 0.4},
    "sudden, 0.8, prevalence 0.31": {"mean": -1.0, "size": 0.8},
    "sudden, 0.4, prevalence 0.31, month 3": {"mean": -1.0, "size": 0.4, "change": 2},
    "sudden, 0.4, prevalence 0.31, month 11": {"mean": -1.0, "size": 0.4, "change": 10},
    "gradual, to 0.4": {"mean": -1.0, "size": 0.4, "gradual": True},
}


def shifts(
    before: float = 0.0, size: float = 0.0, gradual: bool = False, change: int = CHANGE
) -> np.ndarray:
    """True shift of each month."""
    month = np.arange(MONTHS)
    path = month / (MONTHS - 1) if gradual else month >= change
    return before + size * path


def near(month: float, change: int) -> float:
    """Whether a month is within one of the change."""
    return float(abs(month - change) <= 1)


def named(post: Any) -> dict[str, float]:
    """The months that `bayescal drift` and an assessment name in words; not a number of none."""
    when = post.when_changed()
    is_clear = {
        "if_sudden": "it did in" in changed_in_words(post),
        "prob": any("largest change was most probably" in each for each in drift_sentences(post)),
    }
    return {
        column: float(when[column].idxmax()) if clear else float("nan")
        for column, clear in is_clear.items()
    }


def by_oracle(outcome: np.ndarray, x: np.ndarray, month: np.ndarray, size: float) -> int:
    """The month in which the likelihood places it, within one, all but its month known."""
    with_, without = x + size, x
    ratio = np.where(
        outcome == 1,
        log_expit(with_) - log_expit(without),
        log_expit(-with_) - log_expit(-without),
    )
    after = np.bincount(month, ratio)[::-1].cumsum()[::-1][1:]
    weight = np.exp(after - after.max())
    return int(np.convolve(weight, np.ones(3), "same").argmax()) + 1


def one_run(seed: int, mean: float, **truth: Any) -> dict[str, Any]:
    """What one year says."""
    rng = np.random.default_rng([seed, round(100 * mean + 1000)])
    month, true = np.repeat(np.arange(MONTHS), PATIENTS), shifts(**truth)
    x = rng.normal(mean, WIDTH, month.size)
    outcome = (rng.random(month.size) < expit(x + true[month])).astype(int)
    score = expit(x)
    options: dict[str, Any] = {"curve": "logistic", "random_state": seed, "draws": 1000}
    post = bc.fit(outcome, score, periods=month, **options)
    row: dict[str, Any] = {name: float(value) for name, value in post.explanations.items()}
    months = named(post)
    row |= {f"named_{column}": float(not np.isnan(each)) for column, each in months.items()}
    last = month == MONTHS - 1
    now_true = expit(x[last] + true[-1])
    truths = {
        "observed_expected": now_true.mean() / score[last].mean(),
        "tce": np.abs(now_true - score[last]).mean(),
    }
    row["largest_k"] = post.diagnostics["pareto_k"]
    single = bc.fit(outcome, score, **options)
    row["above"] = post.prob_now_above(LIMIT)
    row["above_single"] = float((single.functional("tce") > LIMIT).mean())
    alone = bc.fit(outcome[last], score[last], **options)
    for who, view in (("now", post.now()), ("alone", alone), ("single", single)):
        for name, value in truths.items():
            lower, upper = view.interval(name, population="sample")
            row[f"{who}_{name}"] = float(lower <= value <= upper)
            row[f"{who}_{name}_width"] = float(upper - lower)
    if truth.get("size") and not truth.get("gradual"):
        when, change = post.when_changed(), truth.get("change", CHANGE)
        most = when["if_sudden"].idxmax()
        row["placed"] = near(int(when["within_one"].idxmax()), change)
        row["placed_most_probable"] = near(int(most), change)
        row["stated"] = float(when["within_one"].max())
        row["stated_most_probable"] = float(when["within_one"][most])
        row["largest_step"] = float(int(when["prob"].idxmax()) == change)
        row["stated_largest_step"] = float(when["prob"].max())
        row |= {f"right_{name}": near(each, change) for name, each in months.items()}
        row["oracle"] = near(by_oracle(outcome, x, month, truth["size"]), change)
    return row


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored, kept = {}, Rows("drift")
    warnings.simplefilter("ignore")
    for key, truth in CELLS.items():
        rows = kept.of(key, options.runs, partial(one_run, **truth))
        means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        moved = [abs(row["above"] - row["above_single"]) for row in rows]
        stored[key] = {
            "runs": len(rows),
            "prior": [PROB_CONSTANT, PROB_SUDDEN, PROB_GRADUAL],
            "rule": [LIKELY, LEAST_PROBABILITY],
            **means,
            "largest_k": max(row["largest_k"] for row in rows),
            "moved": float(np.mean(moved)),
        }
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(key, json.dumps(stored[key]), flush=True)


if __name__ == "__main__":
    main()
