"""The interval of the present after a change: `python docs/benchmarks/drift_now.py [--runs N]`.

Series of months in which the log-odds jump, drift, go round the year or stay, and what the fit says
of O/E in the last month. Beside it: the same fit under the prior used before, in which every month
was alike and a sudden change as large as all drift, and a fit of the last month alone. Results are
kept in `results/drift_now.json`, cell by cell, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal.multilevel import changes
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "drift_now.json"
WIDTH, MISS = 1.2, 40
"""Spread of the log-odds; what a miss of a 95 % interval costs, by its distance."""
SURE = 0.9
FORMER: dict[str, Any] = {"PROB_SUDDEN": 0.25, "PROB_GRADUAL": 0.25, "RECENT": 0.0, "FARTHER": 1.0}
FORMER_RUNS = 60
"""So many of the first series are fitted under the former prior, too."""
LOOK_RUNS = 100
"""So many of the first series at most are looked at month by month."""
LOOK_DRAWS = 400
OPTIONS: dict[str, Any] = {"curve": "logistic", "draws": 1000}


def jump(before: int, after: int, size: float = 0.5) -> np.ndarray:
    """Shift of each month, with a sudden change."""
    return np.repeat([0.0, size], [before, after])


def slow(months: int = 12, size: float = 0.4) -> np.ndarray:
    """A shift that grows from month to month."""
    return size * np.arange(months) / (months - 1)


def wave(months: int = 24, size: float = 0.3) -> np.ndarray:
    """A shift that goes round the year."""
    return size * np.sin(np.arange(months) * np.pi / 6)


MAIN: dict[str, dict[str, Any]] = {
    "jump of 0.5, 6 months before, 1 after": {"path": jump(6, 1), "former": True},
    "jump of 0.5, 6 months before, 2 after": {"path": jump(6, 2), "former": True},
    "jump of 0.5, 11 months before, 1 after": {"path": jump(11, 1), "former": True},
    "jump of 0.5, 11 months before, 2 after": {"path": jump(11, 2), "former": True},
    "no change, 12 months": {"path": jump(12, 0), "former": True},
    "slow, to 0.4 in 12 months": {"path": slow(), "former": True},
}
OTHERS: dict[str, dict[str, Any]] = {
    "jump of 0.3, 1 after": {"path": jump(11, 1, 0.3)},
    "jump of 0.3, 2 after": {"path": jump(11, 2, 0.3)},
    "jump of -0.5, 1 after": {"path": jump(11, 1, -0.5)},
    "jump of -0.5, 2 after": {"path": jump(11, 2, -0.5)},
    "jump of 0.8, 1 after": {"path": jump(11, 1, 0.8)},
    "jump of 0.8, 2 after": {"path": jump(11, 2, 0.8)},
    "jump of 0.5, 30 a month, 1 after": {"path": jump(11, 1), "patients": 30},
    "jump of 0.5, 30 a month, 2 after": {"path": jump(11, 2), "patients": 30},
    "jump of 0.5, 300 a month, 1 after": {"path": jump(11, 1), "patients": 300},
    "jump of 0.5, 300 a month, 2 after": {"path": jump(11, 2), "patients": 300},
    "jump of 0.5, risk of 0.1, 1 after": {"path": jump(11, 1), "mean": -2.7},
    "jump of 0.5, risk of 0.1, 2 after": {"path": jump(11, 2), "mean": -2.7},
    "slow, 30 a month": {"path": slow(), "patients": 30},
    "slow, 300 a month": {"path": slow(), "patients": 300},
    "slow, risk of 0.1": {"path": slow(), "mean": -2.7},
    "no change, 30 a month": {"path": jump(12, 0), "patients": 30},
    "no change, 300 a month": {"path": jump(12, 0), "patients": 300},
    "no change, risk of 0.1": {"path": jump(12, 0), "mean": -2.7},
    "wave of 0.3 round the year, 24 months": {"path": wave()},
}
LOOKS: dict[str, dict[str, Any]] = {
    "no change, a look each month": {"path": jump(12, 0)},
}
"""Series that are looked at after each month from the second on."""


def series(
    seed: int, path: np.ndarray, patients: int = 100, mean: float = -1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Outcomes, scores, months, and the true O/E of the last month's patients."""
    rng = np.random.default_rng([seed, round(100 * mean + 1000), patients])
    month = np.repeat(np.arange(path.size), patients)
    x = rng.normal(mean, WIDTH, month.size)
    outcome = (rng.random(month.size) < expit(x + path[month])).astype(int)
    last = month == path.size - 1
    true = expit(x[last] + path[-1]).mean() / expit(x[last]).mean()
    return outcome, expit(x), month, float(true)


def judged(view: Any, true: float) -> dict[str, float]:
    """Whether the 95 % interval of O/E covers, its width on the log scale, and its score."""
    lower, upper = np.log(view.interval("observed_expected", population="sample")) - np.log(true)
    missed = max(lower, 0.0) + max(-upper, 0.0)
    return {
        "covered": float(missed == 0),
        "width": float(upper - lower),
        "score": float(upper - lower + MISS * missed),
    }


def one_run(seed: int, former: bool = False, **truth: Any) -> dict[str, dict[str, float]]:
    """What one series says of its last month."""
    outcome, score, month, true = series(seed, **truth)
    post = bc.fit(outcome, score, periods=month, random_state=seed, **OPTIONS)
    last = month == month.max()
    alone = bc.fit(outcome[last], score[last], random_state=seed, **OPTIONS)
    row = {"now": judged(post.now(), true), "alone": judged(alone, true)}
    row["now"]["sure"] = float(post.prob_changed > SURE)
    row["now"]["pareto_k"] = post.diagnostics["pareto_k"]
    if former and seed < FORMER_RUNS:
        with patch.multiple(changes, **FORMER):
            post = bc.fit(outcome, score, periods=month, random_state=seed, **OPTIONS)
            row["former"] = judged(post.now(), true)
            row["former"]["sure"] = float(post.prob_changed > SURE)
    return row


def looked_at(seed: int, **truth: Any) -> dict[str, dict[str, float]]:
    """Whether P(changed) was ever above 0.9."""
    outcome, score, month, _ = series(seed, **truth)
    sure = 0.0
    for until in range(2, month.max() + 2):
        mine = month < until
        data = bc.CalibrationData(outcome[mine], score[mine], period=month[mine])
        post = bc.fit(data, curve="logistic", draws=LOOK_DRAWS, random_state=seed)
        sure = max(sure, float(post.prob_changed > SURE))
    return {"now": {"sure": sure}}


def summarised(rows: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Means over series, and the largest Pareto k-hat."""
    cell: dict[str, Any] = {"runs": len(rows)}
    for who, first in rows[0].items():
        mine = [row[who] for row in rows if who in row]
        means = {name: float(np.mean([each[name] for each in mine])) for name in first}
        cell[who] = {"runs": len(mine), **means}
    if "pareto_k" in cell["now"]:
        cell["now"]["pareto_k"] = max(row["now"]["pareto_k"] for row in rows)
    return cell


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="of the main cells")
    parser.add_argument("--others", type=int, default=100, help="of the others")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored, kept = {}, Rows("drift_now")
    warnings.simplefilter("ignore")
    plans: list[tuple[Callable[..., Any], dict[str, dict[str, Any]], int]] = [
        (one_run, MAIN, options.runs),
        (looked_at, LOOKS, min(LOOK_RUNS, options.runs)),
        (one_run, OTHERS, options.others),
    ]
    for run, cells, runs in plans:
        for key, truth in cells.items():
            stored[key] = summarised(kept.of(key, runs, partial(run, **truth)))
            options.output.write_text(json.dumps(stored, indent=1) + "\n")
            print(key, json.dumps(stored[key]), flush=True)


if __name__ == "__main__":
    main()
