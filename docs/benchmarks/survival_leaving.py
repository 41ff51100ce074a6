"""Whether results for other hazards of those who left are right when their hazards are so.

Run `python docs/benchmarks/survival_leaving.py --runs 200`. From the time at which patients leave,
their hazard is that of others with the same score times a ratio, which nothing in the data shows:
one data set stands for all ratios. Truths are integrals over the scores and the times of leaving.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows
from survival_coverage import LATEST, MEAN, RESULTS, SPREAD, risk

SEED, DRAWS = 2034, 1000
SIZES = (400, 1000)
LEAVING = ("whatever the score", "by score")
RATIOS = (0.5, 1.0, 1.5, 3.0)
NUMBERS = ("observed_expected", "tce")
POWER = 1.2
"""Cumulative hazards are those by the horizon times time to this power."""
SCORES, TIMES = 2001, 1000  # of the integrals


def left_at(leaving, x, quantile):
    """When patients leave, at quantiles of an exponential distribution given the score."""
    rate = 0.6 * (1.0 if leaving == LEAVING[0] else np.exp(0.7 * (x - MEAN) / SPREAD))
    return np.minimum(-np.log1p(-quantile) / rate, LATEST)


def truth(leaving, ratio):
    """True O/E and true calibration error by time 1, and the share that leaves before."""
    x = (MEAN + SPREAD * ndtri((np.arange(SCORES) + 0.5) / SCORES))[:, None]
    left = np.minimum(left_at(leaving, x, (np.arange(TIMES) + 0.5) / TIMES), 1)
    by_horizon = -np.log1p(-risk("line", x))
    hazard = by_horizon * (left**POWER + ratio * (1 - left**POWER))
    curve, score = -np.expm1(-hazard).mean(axis=1), expit(x[:, 0])
    still = np.exp(-by_horizon * left**POWER)  # without the event
    return {
        "observed_expected": float(curve.mean() / score.mean()),
        "tce": float(np.abs(curve - score).mean()),
        "left": float(np.where(left < 1, still, 0).mean()),
    }


def one(leaving, cases, run):
    """Interval and estimate of each number at each ratio, of one data set."""
    rng = np.random.default_rng([SEED, LEAVING.index(leaving), cases, run])
    x = rng.normal(MEAN, SPREAD, cases)
    event = (-rng.exponential(1, cases) / np.log1p(-risk("line", x))) ** (1 / POWER)
    left = left_at(leaving, x, rng.uniform(size=cases))
    outcome = bc.Survival(np.minimum(event, left), event <= left)
    post = bc.fit(outcome, expit(x), horizon=1, draws=DRAWS, random_state=run)
    table = bc.leaving_sensitivity(post, np.log(RATIOS)).table
    ends = ("", "_lower", "_upper")
    return [
        [[float(row[name + end]) for end in ends] for name in NUMBERS]
        for _, row in table.iterrows()
    ]


def summarise(studies):
    """A row for each cell, ratio and number."""
    rows = []
    for (leaving, cases), each in studies.items():
        values = np.array(each)  # (sets, ratios, numbers, estimate and ends)
        for at, ratio in enumerate(RATIOS):
            true = truth(leaving, ratio)
            for which, name in enumerate(NUMBERS):
                estimate, lower, upper = values[:, at, which].T
                _, low, high = values[:, RATIOS.index(1.0), which].T
                rows.append(
                    {
                        "leaving": leaving,
                        "cases": cases,
                        "left": true["left"],
                        "hazard_ratio": ratio,
                        "number": name,
                        "true": true[name],
                        "bias": float(np.mean(estimate) - true[name]),
                        "covered": float(np.mean((lower <= true[name]) & (true[name] <= upper))),
                        "covered_by_fit": float(
                            np.mean((low <= true[name]) & (true[name] <= high))
                        ),
                        "data_sets": len(each),
                    }
                )
    return {"versions": library_versions("bayescal", "numpy", "scipy"), "rows": rows}


def page_table(results):
    """A row for each cell and ratio, in Markdown."""
    lines = [
        "| leaving | cases | left before | true hazard ratio | true O/E | bias "
        "| covered at this ratio | covered at 1 | TCE: covered at this ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = results["rows"]
    for ratio, error in zip(rows[::2], rows[1::2], strict=True):
        covered = f"{error['covered']:.2f}"
        told = [ratio["leaving"], f"{ratio['cases']}", f"{100 * ratio['left']:.0f} %"]
        told += [f"{ratio['hazard_ratio']:g}", f"{ratio['true']:.2f}", f"{ratio['bias']:+.3f}"]
        told += [f"{each:.2f}" for each in (ratio["covered"], ratio["covered_by_fit"])]
        lines.append(f"| {' | '.join([*told, covered])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_leaving.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = Rows("survival_leaving")
    studies = {
        (leaving, cases): kept.of(
            f"leaving {leaving}, {cases} cases", options.runs, partial(one, leaving, cases)
        )
        for leaving, cases in product(LEAVING, SIZES)
    }
    options.out.write_text(json.dumps(summarise(studies), indent=1) + "\n")


if __name__ == "__main__":
    main()
