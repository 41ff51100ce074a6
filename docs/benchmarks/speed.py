"""How long a fit takes: against PyMC at n = 200, and against one sort at ten million predictions.

Run `python docs/benchmarks/speed.py`. Timings are medians in one process, to be read as ratios.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bayescal as bc

RESULTS = Path(__file__).parent / "results"


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def against_pymc(repeats: int) -> dict[str, float]:
    """Warm fit + tce at n = 200 against warm pm.sample (4 x 1000 draws) of the same model."""
    import pymc as pm

    logging.getLogger("pymc").setLevel(logging.ERROR)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    bc.fit(y, s, random_state=0).tce()
    ours = median_seconds(lambda: bc.fit(y, s, random_state=0).tce(), repeats)
    model = bc.build_model(y, s)

    def sample() -> None:
        with model:
            pm.sample(1000, chains=4, progressbar=False, random_seed=1, nuts_sampler="pymc")

    sample()
    theirs = median_seconds(sample, 3)
    return {"fit_and_tce": ours, "pm_sample": theirs, "ratio": theirs / ours}


def ten_million(n: int) -> dict[str, float]:
    """Fit + tce of n predictions, one numpy.sort of the scores, and the same at n = 2000."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 1, n)
    outcomes = (rng.random(n) < scores**1.2).astype(np.int8)
    small = slice(0, 2000)
    bc.fit(outcomes[small], scores[small], random_state=0).tce()
    at_2000 = median_seconds(
        lambda: bc.fit(outcomes[small], scores[small], random_state=0).tce(), 5
    )
    sort = median_seconds(lambda: np.sort(scores), 3)
    seconds = median_seconds(lambda: bc.fit(outcomes, scores, random_state=0).tce(), 3)
    table = median_seconds(lambda: bc.CalibrationData(outcomes, scores), 3)
    return {
        "n": n,
        "fit_and_tce": seconds,
        "table_alone": table,
        "numpy_sort": sort,
        "fit_and_tce_at_2000": at_2000,
        "allowed": 1.5 * sort + at_2000,
        "peak_megabytes_above_input": peak_megabytes(
            lambda: bc.fit(outcomes, scores, random_state=0).tce()
        ),
    }


def peak_megabytes(call: Callable[[], object]) -> float:
    """Most memory allocated at once by Python and NumPy during a call, apart from timing."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def import_seconds(repeats: int) -> dict[str, float]:
    """`import bayescal` in a fresh interpreter, less the interpreter's own start."""

    def run(code: str) -> float:
        return median_seconds(
            lambda: subprocess.run([sys.executable, "-c", code], check=True), repeats
        )

    return {"import_bayescal": run("import bayescal") - run("pass")}


def compression() -> dict[str, float]:
    """What the grid costs: an exact table of 20 000 scores against its 2048 cells."""
    from bayescal.data.table import Rows
    from bayescal.inference.density import CurveDensity
    from bayescal.model.curves import CURVES
    from bayescal.model.problem import prepare

    worst = {"mode_in_sd": 0.0, "tce_at_mode": 0.0, "curve_at_mode": 0.0}
    for name in ("D1", "D3", "D5", "clinical-low-asymmetric", "clinical-middle-overconfident"):
        y, s = bc.simulate.sample(name, 20_000, random_state=0)
        data = bc.CalibrationData(y, s)
        score, row = np.unique(s, return_inverse=True)
        exact = bc.CalibrationData(y, s)
        exact._tables = {
            None: Rows(score, np.bincount(row) * 1.0, np.bincount(row, y.astype(float)))
        }
        modes, tce, curves = [], [], []
        for table in (data, exact):
            problem = prepare(table, random_state=0)
            mode = CurveDensity(problem).mode()
            inside = problem.score
            g = CURVES["beta"].probability(mode.point[None], inside, problem.frame)[0]
            modes.append(mode)
            tce.append(table.trials @ np.abs(g - inside) / table.n)
            grid = np.linspace(0.01, 0.99, 99)
            curves.append(CURVES["beta"].probability(mode.point[None], grid, problem.frame)[0])
        sd = np.sqrt(np.diag(np.linalg.inv(modes[1].information)))
        result = {
            "mode_in_sd": float(np.max(np.abs(modes[0].point - modes[1].point) / sd)),
            "tce_at_mode": float(abs(tce[0] - tce[1])),
            "curve_at_mode": float(np.max(np.abs(curves[0] - curves[1]))),
        }
        print(f"  {name:32s} {result}")
        worst = {key: max(worst[key], result[key]) for key in worst}
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = {
        "large": ten_million(options.n),
        "compression": compression(),
        "import": import_seconds(options.repeats),
        "pymc": against_pymc(options.repeats),
    }
    for title, values in results.items():
        print(title)
        for name, value in values.items():
            print(f"  {name:32s} {value:.6g}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
