"""How long a consistency check takes, beside a loop over the same replicates.

Run `python docs/benchmarks/consistency.py`. Timings are medians in one process, to be read as
ratios.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayescal as bc

RESULTS = Path(__file__).parent / "results"
REPLICATES = 1000


def median_seconds(call: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def replicates_of_ece(n: int) -> dict[str, float]:
    """1000 replicates of ECE at the same scores: one call, and one call for each."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 1, n)
    outcomes = rng.random((REPLICATES, n)) < scores
    together = median_seconds(lambda: bc.estimators.ece(outcomes, scores))
    alone = median_seconds(lambda: [bc.estimators.ece(row, scores) for row in outcomes], 3)
    return {"n": n, "one_call": together, "loop": alone, "ratio": alone / together}


def whole_check(n: int, **options: object) -> dict[str, object]:
    """The whole check: 1000 replicates under calibration and 1000 from the posterior."""
    y_true, y_prob = bc.simulate.sample("calibrated", n, random_state=1)
    post = bc.fit(y_true, y_prob, curve="beta", random_state=1)
    seconds = median_seconds(lambda: bc.check_consistency(post, **options), 3)
    return {"n": n, "options": options, "seconds": seconds}


def main() -> None:
    bc.fit([0, 1], [0.2, 0.7], curve="beta", random_state=0)
    result = {
        "ece": [replicates_of_ece(n) for n in (200, 1000, 10_000)],
        "check": [
            whole_check(n, **options)
            for n in (200, 1000, 20_000, 1_000_000)
            for options in ({}, {"resample_scores": True})
        ],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "consistency.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
