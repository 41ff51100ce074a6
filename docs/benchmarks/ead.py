"""Table 4 of Dong et al.: how far the fitted curve and TCE_BPM fall from the truth.

    python docs/benchmarks/ead.py --runs 400 --n 10000 --jobs 2

EAD, which Table 4 prints, is the mean over runs of `simulate.ead`: the mean of |fitted g - g| over
the scores i/1000 from 0 to 1, however few of the data are there. The error of the number itself,
the mean of |TCE_BPM - TCE|, stands beside it. Both objectives are fitted to the same data: the
paper's equation 9 and what the authors' code does. The paper's D1 row comes from the score law of
the code (D1-code here), not from that of its Table 2.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bayescal.estimators import fit_bpm_curve, tce_bpm
from bayescal.validation.simulate import ead, truth

RESULTS = Path(__file__).parent / "results" / "ead.json"
OBJECTIVES = ("paper", "released")
QUANTITIES = ("ead", "tce_error")

# As printed in Table 4, and as measured with the authors' own code at n = 10000, 100 runs.
PRINTED = {"D1": None, "D1-code": 0.0099, "D2": 0.0368, "D3": 0.0161, "D4": 0.0105, "D5": 0.0067}
MEASURED = {
    "D1": 0.0343,
    "D1-code": 0.0096,
    "D2": 0.0416,
    "D3": 0.0148,
    "D4": 0.0091,
    "D5": 0.0085,
}


def one_run(run: int, name: str, n: int, seed: int) -> list[list[float]]:
    """EAD and error of TCE_BPM on one data set, for each objective."""
    population = truth(name)
    rng = np.random.default_rng([seed, list(PRINTED).index(name), run])
    y_true, y_prob = population.sample(n, rng)
    results = []
    for objective in OBJECTIVES:
        fitted = fit_bpm_curve(y_true, y_prob, objective=objective)
        difference = ead(fitted.curve, population)
        error = abs(tce_bpm(y_true, y_prob, objective=objective) - population.tce())
        results.append([difference, error])
    return results


def summarise(name: str, runs: list[list[list[float]]]) -> dict[str, Any]:
    """Means over runs and their Monte Carlo standard errors."""
    values = np.array(runs)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(runs))
    row: dict[str, Any] = {
        "exact_tce": truth(name).tce(),
        "ead_printed": PRINTED[name],
        "ead_measured_with_released_code": MEASURED[name],
    }
    for i, objective in enumerate(OBJECTIVES):
        row[objective] = {
            quantity: {"mean": float(mean[i, j]), "mcse": float(error[i, j])}
            for j, quantity in enumerate(QUANTITIES)
        }
    return row


def show(rows: dict[str, dict[str, Any]]) -> None:
    for quantity, title in zip(QUANTITIES, ("EAD", "mean |TCE_BPM - TCE|"), strict=True):
        print(f"\n{title:22}{'paper':>16}{'released':>16}", end="")
        print(f"{'printed':>10}{'measured':>10}" if quantity == "ead" else "")
        for name, row in rows.items():
            print(f"{name:8} TCE {row['exact_tce']:.4f}   ", end="")
            for objective in OBJECTIVES:
                cell = row[objective][quantity]
                print(f"{cell['mean']:8.4f} ({cell['mcse']:.4f})".rjust(16), end="")
            if quantity == "ead":
                printed = "" if row["ead_printed"] is None else f"{row['ead_printed']:.4f}"
                print(f"{printed:>10}{row['ead_measured_with_released_code']:10.4f}", end="")
            print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="data sets per truth, at least 2")
    parser.add_argument("--n", type=int, default=10_000, help="observations per data set")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    rows = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in PRINTED:
            work = partial(one_run, name=name, n=options.n, seed=options.seed)
            rows[name] = summarise(name, list(pool.map(work, range(options.runs), chunksize=5)))
    show(rows)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    settings = {"runs": options.runs, "n": options.n, "seed": options.seed}
    RESULTS.write_text(json.dumps({"settings": settings, "truths": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
