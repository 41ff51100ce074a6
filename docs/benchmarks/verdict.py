"""Is the first answer of an assessment right? `python docs/benchmarks/verdict.py`.

Parts: `calibrated`, how often a calibrated model is said to be off; `off`, how often a model that
is off is found, and whether the way that is named is right; `settle`, whether the number of
patients that is said to settle the verdict on the limit does so. Results are kept in
`results/verdict.json`, cell by cell, so that a run that was stopped goes on where it was.

What is asked (`BARS`) and the populations were written down before the first run.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc
from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from kept import Rows
from one_posterior_designs import clusters
from truths import RoundedScores, on_log_odds, on_probability

RESULTS = Path(__file__).with_name("results") / "verdict.json"
SEED, DRAWS = 27_003, 1000
BARS = {
    "yes": 0.05,
    "wrong way": 0.05,
    "settled": (0.65, 0.95),
}
"""Most calibrated sets that are said to be off, in every cell up to two standard errors and on
average; most of the ways named that are wrong, of all that are named; and the share of studies that
settle the verdict with the patients told, where 0.8 is meant."""

RUNS = {"calibrated": 200, "off": 100, "settle": 60}
RUNS_OF_MANY, MANY = 100, 50_000


def calibrated(law: Any) -> Truth:
    return Truth("calibrated", "g = s", law, on_log_odds(lambda x: x))


LAWS = {
    "5 % events": LogitNormalScores(-3.25, 0.9),
    "12 % events, Beta": BetaScores(0.9, 6.6),
    "25 % events": LogitNormalScores(-1.3, 1.1),
    "50 % events, far apart": LogitNormalScores(0.0, 2.2),
    "40 % events, 12 scores": RoundedScores(11, 0.4),
}
CALIBRATED = {
    100: ("12 % events, Beta", "25 % events", "50 % events, far apart"),
    300: ("5 % events", "25 % events", "40 % events, 12 scores"),
    1000: ("5 % events", "12 % events, Beta", "50 % events, far apart"),
    10_000: ("12 % events, Beta", "40 % events, 12 scores"),
    100_000: ("25 % events",),
}
CLUSTERED = (
    clusters("20 clusters of 25", 20, 25, 0.4, -1.1, 1.0),
    clusters("80 clusters of 15", 80, 15, 0.5, -1.6, 1.1),
)
SPREAD = LogitNormalScores(-1.1, 1.15)
OFF = {
    "too extreme, slope .65": (on_log_odds(lambda x: 0.65 * x - 0.35), (300, 1000, 4000)),
    "too moderate, slope 1.3": (on_log_odds(lambda x: 1.3 * x + 0.25), (300, 1000, 4000)),
    "too high, shift -.35": (on_log_odds(lambda x: x - 0.35), (300, 1000, 4000)),
    "too low, shift .15": (on_log_odds(lambda x: x + 0.15), (300, 1000, 4000)),
    "high risks too high": (on_probability(lambda s: np.minimum(s, 0.42)), (1000, 4000)),
    "a wave": (on_probability(lambda s: s + 0.06 * np.sin(9 * s)), (1000, 4000)),
    "slope .95": (on_log_odds(lambda x: 0.95 * x - 0.05), (1000, 10_000)),
}
SETTLE = {
    "calibrated, 300": (on_log_odds(lambda x: x), 300, 0.03),
    "too extreme, 400": (on_log_odds(lambda x: 0.65 * x - 0.35), 400, 0.03),
    "too high, 300": (on_log_odds(lambda x: x - 0.2), 300, 0.05),
    "too moderate, 1000": (on_log_odds(lambda x: 1.25 * x + 0.2), 1000, 0.02),
}
WAYS = {
    "too many events predicted": ("observed_expected", -1),
    "too few events predicted": ("observed_expected", 1),
    "over-confident": ("calibration_slope", -1),
    "under-confident": ("calibration_slope", 1),
}
IDEAL = 1


def answered(cases: dict[str, Any], seed: int, close: float | None = None) -> bc.Assessment:
    """The assessment of one data set."""
    return bc.assess(**cases, close=close, draws=DRAWS, estimators=("ece",), random_state=seed)


def cell_of(
    kept: Rows, key: str, sample: Any, runs: int, number: int, truth: Truth | None
) -> dict[str, Any]:
    """Counts of answers over data sets, and of the ways that are wrong."""
    counts = dict.fromkeys(("yes", "no sign", "cannot say", "miscalibrated", "named", "wrong"), 0)

    def one(run: int) -> dict[str, Any]:
        a = answered(sample(np.random.default_rng([SEED, number, run])), run)
        right = []
        if truth is not None and a.off.answer == "yes":
            right = [rightly(way, truth, a) for way in a.off.ways]
        return {"answer": a.off.answer, "verdict": a.verdict, "right": right}

    began = time.process_time()
    rows = kept.of(key, runs, one)
    for row in rows:
        counts[row["answer"]] += 1
        counts["miscalibrated"] += row["verdict"] == "miscalibrated"
        counts["named"] += len(row["right"])
        counts["wrong"] += row["right"].count(False)
    return counts | {"runs": len(rows), "seconds": time.process_time() - began}


def rightly(way: str, truth: Truth, a: bc.Assessment) -> bool:
    """Whether a way that is named is the true one."""
    if way in WAYS:
        name, sign = WAYS[way]
        return bool(sign * (truth.functional(name) - IDEAL) > 0)
    if "range" not in way:
        return True
    state, data = ("high", a.data) if "high" in way else ("low", a.data)
    mine = [part for part in a.stretches if part.state == state and part.probability >= 0.975]
    right = []
    for part in mine:
        inside = (data.score >= part.start) & (data.score <= part.stop)
        error = truth.curve(data.score[inside]) - data.score[inside]
        right.append((data.trials[inside] @ error < 0) == (state == "high"))
    return all(right)


def of_truth(truth: Truth, n: int, rng: np.random.Generator) -> dict[str, Any]:
    y, s = truth.sample(n, rng)
    return {"y_true": y, "y_prob": s}


def cells() -> Any:
    """Every cell: its part, name, size, sampler, number of data sets, and truth."""
    for n, laws in CALIBRATED.items():
        for law in laws:
            truth = calibrated(LAWS[law])
            runs = RUNS_OF_MANY if n > MANY else RUNS["calibrated"]
            yield "calibrated", law, n, partial(of_truth, truth, n), runs, None
    for design in CLUSTERED:
        n = int(np.prod([int(word) for word in design.name.split() if word.isdigit()]))
        yield "calibrated", design.name, n, design.sample, RUNS["calibrated"], None
    for name, (curve, sizes) in OFF.items():
        truth = Truth(name, name, SPREAD, curve)
        for n in sizes:
            yield "off", name, n, partial(of_truth, truth, n), RUNS["off"], truth


def settled(name: str, number: int) -> dict[str, Any]:
    """Of one data set: what is said to settle it, and the share of studies that it settles.

    The truth of each study is a draw of the mixture: exact calibration, or a draw of the curve.
    """
    curve, n, close = SETTLE[name]
    truth = Truth(name, name, SPREAD, curve)
    for seed in range(100):
        y, s = truth.sample(n, np.random.default_rng([SEED, 900 + number, seed]))
        a = answered({"y_true": y, "y_prob": s}, seed, close)
        if 0 < a.more_to_settle < np.inf:
            break
    more, rng = int(a.more_to_settle), np.random.default_rng([SEED, 950 + number])
    sizes = [int(more * times) for times in (0.25, 0.5, 1, 2)]
    shares = [study_share(a, y, s, size, close, rng) for size in sizes]
    below = a.prob_tce_below(close)
    return {"n": n, "close": close, "below": below, "more": more, "sizes": sizes, "shares": shares}


def study_share(a: Any, y: Any, s: Any, size: int, close: float, rng: Any) -> float:
    """Share of studies with so many more patients whose verdict is settled."""
    hits = 0
    curves = a.posterior.curve(s).to_numpy().reshape(-1, s.size)
    for run in range(RUNS["settle"]):
        exact = rng.random() < a.prob_calibrated
        risk = s if exact else curves[rng.integers(len(curves))]
        row = rng.integers(s.size, size=size)
        more = (rng.random(size) < risk[row]).astype(int)
        later = answered({"y_true": np.append(y, more), "y_prob": np.append(s, s[row])}, run, close)
        hits += later.verdict != "cannot tell"
    return hits / RUNS["settle"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(RUNS), action="append")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    told: dict[str, Any] = {}
    kept, parts = Rows("verdict"), options.part or list(RUNS)
    for number, (part, name, n, sample, runs, truth) in enumerate(cells()):
        key = f"{part} | {name} | {n}"
        if part in parts:
            cell = cell_of(kept, key, sample, runs, number, truth)
            tce = 0.0 if truth is None else truth.functional("tce")
            told[key] = {"part": part, "name": name, "n": n, "tce": tce, **cell}
            RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
            print(key, told[key], flush=True)
    for number, name in enumerate(SETTLE):
        key = f"settle | {name}"
        if "settle" in parts:
            cell = kept.cell(key, partial(settled, name, number))
            told[key] = {"part": "settle", "name": name, **cell}
            RESULTS.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
            print(key, told[key], flush=True)


if __name__ == "__main__":
    main()
