"""Table 4 of Dong et al.: how far fitted curves and TCE_BPM fall from the truth.

    python docs/benchmarks/ead.py --runs 100 --n 10000 --jobs 2

EAD, which Table 4 prints, is the mean over runs of `simulate.ead`: the mean of |fitted g - g| over
the scores i/1000 from 0 to 1, however few of the data are there. The error of the number itself,
the mean of |TCE_BPM - TCE|, stands beside it. Both objectives are fitted to the same data: the
paper's equation 9 and what the authors' code does. The paper's rival is the mean of the curves of
histogram binning with 10 to 50 bins of equal mass, and its P value is of Wilcoxon's signed-rank
test of the two EADs of each run. The paper's D1 row comes from the score law of the code (D1-code
here), not from that of its Table 2.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from bayescal.estimators import fit_bpm_curve, tce_bpm
from bayescal.recalibrate import HistogramRecalibrator
from bayescal.validation.simulate import ead, truth

RESULTS = Path(__file__).parent / "results" / "ead.json"
OBJECTIVES = ("paper", "released")
QUANTITIES = ("ead", "tce_error")
BINS = range(10, 51)

# As printed in Table 4: mean and standard deviation, of histogram binning and of the paper's curve.
PRINTED = {
    "D1": None,
    "D1-code": ((0.0233, 0.0047), (0.0099, 0.0062)),
    "D2": ((0.1710, 0.0200), (0.0368, 0.0196)),
    "D3": ((0.0299, 0.0037), (0.0161, 0.0063)),
    "D4": ((0.0168, 0.0042), (0.0105, 0.0048)),
    "D5": ((0.0181, 0.0030), (0.0067, 0.0029)),
}
# Measured with the authors' own code at n = 10000, 100 runs.
MEASURED = {
    "D1": 0.0343,
    "D1-code": 0.0096,
    "D2": 0.0416,
    "D3": 0.0148,
    "D4": 0.0091,
    "D5": 0.0085,
}

Numbers = NDArray[np.float64]


def histogram_curves(
    y_true: NDArray[Any], y_prob: Numbers, scores: Numbers, bins: Iterable[int] = BINS
) -> Numbers:
    """Curves of histogram binning, a row for each number of bins of equal mass."""
    return np.array(
        [HistogramRecalibrator(count).fit(y_prob, y_true).transform(scores) for count in bins]
    )


def one_run(run: int, name: str, n: int, seed: int) -> list[float]:
    """Of one data set: EAD and error of TCE_BPM for each objective, and EAD of histograms."""
    population = truth(name)
    rng = np.random.default_rng([seed, list(PRINTED).index(name), run])
    y_true, y_prob = population.sample(n, rng)
    results = []
    for objective in OBJECTIVES:
        fitted = fit_bpm_curve(y_true, y_prob, objective=objective)
        error = abs(tce_bpm(y_true, y_prob, objective=objective) - population.tce())
        results += [ead(fitted.curve, population), error]
    mean = ead(lambda scores: histogram_curves(y_true, y_prob, scores).mean(axis=0), population)
    return [*results, mean]


def moments(values: Numbers) -> dict[str, float]:
    """Mean over runs, standard deviation, and Monte Carlo standard error of the mean."""
    sd = float(values.std(ddof=1))
    return {"mean": float(values.mean()), "sd": sd, "mcse": sd / len(values) ** 0.5}


def summarise(name: str, runs: list[list[float]]) -> dict[str, Any]:
    """One row of the table."""
    values = np.array(runs)
    columns = dict(zip(((o, q) for o in OBJECTIVES for q in QUANTITIES), values.T, strict=False))
    histogram, ours = values[:, -1], columns["paper", "ead"]
    row: dict[str, Any] = {
        "exact_tce": truth(name).tce(),
        "ead_printed": PRINTED[name],
        "ead_measured_with_released_code": MEASURED[name],
        "histogram": {"ead": moments(histogram)},
        "runs_won": int(np.sum(ours < histogram)),
        "wilcoxon_p": float(wilcoxon(histogram, ours).pvalue),
    }
    for objective in OBJECTIVES:
        row[objective] = {q: moments(columns[objective, q]) for q in QUANTITIES}
    return row


def show(rows: dict[str, dict[str, Any]]) -> None:
    """Print the table."""
    for quantity, title in zip(QUANTITIES, ("EAD", "mean |TCE_BPM - TCE|"), strict=True):
        print(f"\n{title:22}" + "".join(f"{name:>18}" for name in (*OBJECTIVES, "histogram")))
        for name, row in rows.items():
            cells = [row[key].get(quantity) for key in (*OBJECTIVES, "histogram")]
            print(f"{name:8} TCE {row['exact_tce']:.4f}   ", end="")
            print("".join(f"{c['mean']:10.4f} ({c['sd']:.4f})" for c in cells if c), end="")
            print(f"  P {row['wilcoxon_p']:.1e}" if quantity == "ead" else "")


def measure(runs: int, n: int, seed: int = 1, jobs: int = 1) -> dict[str, Any]:
    """Settings and rows, as they are stored."""
    rows = {}
    with ProcessPoolExecutor(jobs) as pool:
        for name in PRINTED:
            work = partial(one_run, name=name, n=n, seed=seed)
            rows[name] = summarise(name, list(pool.map(work, range(runs), chunksize=5)))
    return {"settings": {"runs": runs, "n": n, "seed": seed}, "truths": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="data sets per truth, at least 2")
    parser.add_argument("--n", type=int, default=10_000, help="observations per data set")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    record = measure(options.runs, options.n, options.seed, options.jobs)
    show(record["truths"])
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
