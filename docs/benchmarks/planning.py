"""Do studies of a planned size reach what was planned? `python docs/benchmarks/planning.py`.

Sizes are planned by `bayescal.plan`. Then studies of each size are drawn case by case, from the
truth that was assumed and from another, and analysed as planned, with `bayescal.fit` ("curve") or
as `bayescal.assess` does ("average"): the share that reach the goal should be the assurance where
the truth is right. Results are kept in `results/planning.json`, cell by cell, so that a run that
was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

import bayescal as bc
from bayescal.posterior.intervals import verdict_of
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "planning.json"
STUDIES, DRAWS = 200, 1000
ASSURANCE = 0.8
PREVALENCE, C_STATISTIC = 0.2, 0.75
FINE = np.linspace(-40, 40, 4001)
SPREAD = bc.simulate.scores(prevalence=PREVALENCE, c_statistic=C_STATISTIC)

PRIORS: dict[str, dict[str, Any]] = {
    "tce": {"of": "tce", "width": 0.1, "n_simulations": 800},
    "observed_expected": {"of": "observed_expected", "width": 0.3, "n_simulations": 3000},
    "calibration_slope": {"of": "calibration_slope", "width": 0.35, "n_simulations": 3000},
    "c_statistic": {"of": "c_statistic", "width": 0.1, "n_simulations": 3000},
}
CURVES: dict[str, dict[str, Any]] = {
    "tce": {"of": "tce", "width": 0.06, "n_simulations": 800},
    "calibration_slope": {"of": "calibration_slope", "width": 0.35, "n_simulations": 3000},
    "close enough": {"conclude": "close enough", "close": 0.05, "n_simulations": 800},
}
AVERAGES: dict[str, dict[str, Any]] = {
    "calibration_slope": {"of": "calibration_slope", "width": 0.35, "n_simulations": 3000},
    "miscalibrated": {"conclude": "miscalibrated", "close": 0.03, "n_simulations": 200},
}
"""Analysed as an assessment is, under the truth that the model is overconfident."""
TRUTHS: dict[str, tuple[Any, Any, dict[str, dict[str, Any]]]] = {
    "prior clinical": (bc.priors.PRESETS["clinical"], bc.priors.PRESETS["neutral"], PRIORS),
    "calibrated": (
        bc.simulate.clinical(PREVALENCE, "calibrated"),
        bc.simulate.clinical(PREVALENCE, "overconfident"),
        CURVES,
    ),
}
NAMES = {"prior clinical": "prior neutral", "calibrated": "overconfident"}


def study(truth: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and scores of one study, case by case."""
    if isinstance(truth, bc.simulate.Truth):
        return truth.sample(n, rng)
    mean, sd = SPREAD.law.mean, SPREAD.law.sd
    u = {
        name: float(truth.of(name).sample(rng, 1)[0])
        for name in ("shift", "log_slope", "asymmetry")
    }
    at = mean - u["shift"] if truth.centre == "mean" else logit(truth.centre)
    alpha = np.exp(u["log_slope"] + u["asymmetry"] / 2)
    beta = np.exp(u["log_slope"] - u["asymmetry"] / 2)
    log_s, log_q = -np.logaddexp(0, -FINE), -np.logaddexp(0, FINE)
    log_m, log_rest = -np.logaddexp(0, -at), -np.logaddexp(0, at)
    curve = at + u["shift"] + alpha * (log_s - log_m) - beta * (log_q - log_rest)
    risk = rng.normal(mean, sd, n)
    score = np.clip(expit(np.interp(risk, curve, FINE)), 1e-12, 1 - 1e-12)
    return (rng.random(n) < expit(risk)).astype(int), score


def reached(goal: dict[str, Any], analysis: str, y: np.ndarray, p: np.ndarray, seed: int) -> bool:
    """Whether one study reaches the goal."""
    if goal.get("of") == "c_statistic":
        return bool(width_of_c(y, p) <= goal["width"])
    if "conclude" in goal and analysis == "average":
        options = {"close": goal["close"], "draws": DRAWS, "estimators": ("ece",)}
        return bool(bc.assess(y, p, random_state=seed, **options).verdict == goal["conclude"])
    if analysis == "average":
        post = bc.compare(y, p, draws=DRAWS, random_state=seed).posterior
    else:
        post = bc.fit(y, p, curve="beta", engine="importance", draws=DRAWS, random_state=seed)
    if "conclude" in goal:
        return verdict_of(post.prob_tce_below(goal["close"]), 0.95) == goal["conclude"]
    lower, upper = post.interval(goal["of"])
    return bool(upper - lower <= goal["width"])


def width_of_c(y: np.ndarray, p: np.ndarray) -> float:
    """Width of DeLong's interval, pair by pair."""
    events, others = p[y == 1], p[y == 0]
    wins = (events[:, None] > others) + 0.5 * (events[:, None] == others)
    variance = wins.mean(1).var(ddof=1) / events.size + wins.mean(0).var(ddof=1) / others.size
    return float(2 * 1.959964 * np.sqrt(variance))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    kept: dict[str, Any] = {}
    finished = Rows("planning")
    warnings.simplefilter("ignore")
    for assumed, (right, wrong, goals) in TRUTHS.items():
        for name, goal in goals.items():
            truths = {assumed: right, NAMES[assumed]: wrong}
            scores = SPREAD if isinstance(right, bc.priors.Prior) else None
            judge(finished, kept, truths, name, goal, "curve", scores, options)
    overconfident = bc.simulate.clinical(PREVALENCE, "overconfident")
    for name, goal in AVERAGES.items():
        truths = {"overconfident": overconfident}
        judge(finished, kept, truths, name, goal, "average", None, options)


def judged(
    planned: Callable[[], Any],
    goal: dict[str, Any],
    analysis: str,
    truth: Any,
    seed: list[int],
    studies: int,
) -> dict[str, Any]:
    """The planned size, and the share of studies of that size that reach the goal."""
    result, rng = planned(), np.random.default_rng(seed)
    hits = [reached(goal, analysis, *study(truth, result.n, rng), seed=k) for k in range(studies)]
    share = float(np.mean(hits))
    return {
        "n": result.n,
        "n_error": result.monte_carlo_error,
        "reached_at_n": float(
            np.interp(np.log(result.n), np.log(result.table["n"]), result.table["reached"])
        ),
        "share": share,
        "share_error": float(np.sqrt(max(share * (1 - share), 0.01) / studies)),
        "studies": studies,
    }


def judge(
    finished: Rows,
    kept: dict[str, Any],
    truths: dict[str, Any],
    name: str,
    goal: dict[str, Any],
    analysis: str,
    scores: Any,
    options: argparse.Namespace,
) -> None:
    """Plan under the first truth, and see how often studies from each reach the goal."""
    assumed = next(iter(truths))

    @cache
    def planned() -> Any:
        return bc.plan(
            truth=truths[assumed], scores=scores, assurance=ASSURANCE, analysis=analysis,
            random_state=1, n_jobs=options.jobs, **goal,
        )  # fmt: skip

    for actual, truth in truths.items():
        key = f"{assumed} | {name} | {actual}" + (" | average" if analysis == "average" else "")
        told = {
            "assumed": assumed,
            "actual": actual,
            "goal": name,
            "analysis": analysis,
            "width": goal.get("width"),
        }
        judging = partial(judged, planned, goal, analysis, truth, [2, len(kept)], options.studies)
        kept[key] = told | finished.cell(key, judging)
        print(key, kept[key], flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
