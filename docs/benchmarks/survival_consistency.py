"""Consistency checks of times to an event: are the p values of calibrated models uniform?

Run `python docs/benchmarks/survival_consistency.py --runs 60`. Scores are the true risks by the
horizon, but in the last cell, whose risks are another line in log-odds. Cases leave whatever their
score, or early if it is high; hazards are proportional, or not.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import kstest

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, CASES, RESAMPLES, DRAWS = 2043, 500, 99, 400
MEAN, SPREAD = -1.0, 1.1
ESTIMATORS = ("survival_ici", "survival_observed_expected", "one_calibration_test")
CELLS = [
    {"scores": "right", "hazards": "proportional", "leaving": "whatever the score"},
    {"scores": "right", "hazards": "proportional", "leaving": "by score"},
    {"scores": "right", "hazards": "not proportional", "leaving": "by score"},
    {"scores": "wrong", "hazards": "proportional", "leaving": "by score"},
]


def simulate(cell, rng):
    """Scores and times to an event."""
    x = rng.normal(MEAN, SPREAD, CASES)
    z = (x - MEAN) / SPREAD
    risk = expit(x) if cell["scores"] == "right" else expit(-0.35 + 0.7 * x)
    power = 1.2 if cell["hazards"] == "proportional" else np.exp(-0.7 * z)
    happens = (-rng.exponential(1, CASES) / np.log1p(-risk)) ** (1 / power)
    rate = 0.7 if cell["leaving"] == "whatever the score" else 0.6 * np.exp(0.9 * z)
    left = np.minimum(rng.exponential(1, CASES) / rate, 2.0)
    return expit(x), bc.Survival(np.minimum(happens, left), happens <= left)


def one(index, run):
    """The p value of each estimator, with the share of posterior replicates that are as large."""
    score, outcome = simulate(CELLS[index], np.random.default_rng([SEED, index, run]))
    post = bc.fit(outcome, score, horizon=1, draws=DRAWS, random_state=run)
    for name in ESTIMATORS:
        try:
            check = bc.check_consistency(post, name, n_resamples=RESAMPLES, random_state=run)
        except bc.errors.InputError:  # a group of which nobody was followed to the horizon
            continue
        # the observed estimate is one more draw: a p value that is uniform on 1/100, ..., 1
        p = (1 + RESAMPLES * check.prob_calibrated_exceeds) / (1 + RESAMPLES)
        yield index, name, p, check.prob_posterior_exceeds


def summarise(rows, seconds, runs):
    """Share of small p values, and the distance from the uniform law."""
    cells = []
    for index, cell in enumerate(CELLS):
        for name in ESTIMATORS:
            mine = [row[2:] for row in rows if row[:2] == [index, name]]
            if not mine:
                continue
            p, posterior = np.array(mine).T
            cells.append(
                cell
                | {
                    "estimator": name,
                    "sets": p.size,
                    "below_.05": float(np.mean(p <= 0.05)),
                    "below_.2": float(np.mean(p <= 0.2)),
                    "mean": float(p.mean()),
                    "uniform": float(kstest(p, "uniform").pvalue),
                    "posterior_outside_90": float(np.mean(np.abs(posterior - 0.5) > 0.45)),
                }
            )
    return {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "seed": SEED,
        "cases": CASES,
        "n_resamples": RESAMPLES,
        "runs": runs,
        "seconds": seconds,
        "rows": cells,
    }


def page_table(results):
    """P values of calibrated models and of one that is off, by cell: rows in Markdown."""
    lines = [
        "| model | hazards | leaving | estimator | sets | p at most .05 | at most .2 | mean p |",
        f"|{'---|' * 8}",
    ]
    for row in results["rows"]:
        model = "calibrated" if row["scores"] == "right" else "miscalibrated"
        shares = [f"{row[name]:.2f}" for name in ("below_.05", "below_.2", "mean")]
        told = [model, row["hazards"], row["leaving"], f"`{row['estimator']}`", str(row["sets"])]
        lines.append(f"| {' | '.join([*told, *shares])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_consistency.json")
    options = parser.parse_args()
    rows, kept, start = [], Rows("survival_consistency"), time.perf_counter()
    for index in range(len(CELLS)):
        rows += kept.all_of(f"cell {index}", options.runs, partial(one, index))
        results = summarise(rows, time.perf_counter() - start, options.runs)
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
