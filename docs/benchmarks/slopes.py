"""How often the interval of the calibration slope holds a true slope that is far from 1.

Run `python docs/benchmarks/slopes.py --runs 200`. The log-odds of the scores are normal, and the
true risk is a line in them, or the score itself. Each data set is fitted with the average over
families and with the logistic curve, which contains the truth. `former` is the average with the
second scale of its prior as it was: a log slope of standard deviation 0.2.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.model import mixture
from bayescal.model.priors import MODEST, Normal
from bayescal.validation.simulate import LogitNormalScores, Truth
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS = 60_914, 1000
MEAN, SPREAD = -1.0, 1.1  # of the scores' log-odds
SIZES = (200, 400, 1000)
SLOPES = (0.5, 0.6, 0.7, 1.4, 1.0)
SHIFT = -0.05  # at the mean of the log-odds, where the slope is not 1
FORMER = replace(MODEST, log_slope=Normal(0.0, 0.2))
NUMBERS = ("calibration_slope", "observed_expected", "tce", "e90")
KEYS = ("slope", "cases", "fit", "number")
MEANS = ("covered", "width", "score", "error", "prob_calibrated")


def truth(slope):
    """A line in log-odds; exact calibration at slope 1."""
    shift = 0.0 if slope == 1 else SHIFT
    law = LogitNormalScores(MEAN, SPREAD)

    def log_odds(log_s, log_q):
        return MEAN + shift + slope * (log_s - log_q - MEAN)

    return Truth(f"slope {slope:g}", "a line in log-odds", law, log_odds)


TRUTHS = {slope: truth(slope) for slope in SLOPES}
IDEAL = dict(zip(NUMBERS, (1.0, 1.0, 0.0, 0.0), strict=True))
TRUE = {
    slope: IDEAL if slope == 1 else {name: each.functional(name) for name in NUMBERS}
    for slope, each in TRUTHS.items()
}


def one(slope, n, run):
    """Intervals of one data set by each fit, with the true values."""
    rng = np.random.default_rng([SEED, round(100 * slope), n, run])
    y_true, y_prob = TRUTHS[slope].sample(n, rng)
    options = {"draws": DRAWS, "random_state": run}
    posts = {"average": bc.fit(y_true, y_prob, **options)}
    with patch.object(mixture, "MODEST", FORMER):
        posts["former"] = bc.fit(y_true, y_prob, **options)
    posts["logistic"] = bc.fit(y_true, y_prob, curve="logistic", **options)
    for fit, post in posts.items():
        for name in NUMBERS:
            (lower, upper), true = post.interval(name), TRUE[slope][name]
            miss = max(lower - true, true - upper, 0.0)
            yield {
                "slope": slope,
                "cases": n,
                "fit": fit,
                "number": name,
                "covered": miss <= 1e-9,
                "width": upper - lower,
                "score": upper - lower + 40 * miss,
                "error": post.estimate(name) - true,
                "prob_calibrated": post.prob_calibrated,
            }


def summarise(rows):
    """Means over the data sets of each cell; the logistic curve knows no exact calibration."""
    table = pd.DataFrame(rows)
    table["prob_calibrated"] = table["prob_calibrated"].astype(float)
    grouped = table.groupby(list(KEYS), sort=False)[list(MEANS)].mean()
    grouped["data_sets"] = table.groupby(list(KEYS), sort=False).size()
    cells = grouped.round(5).reset_index().to_dict("records")
    return {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": [{name: of for name, of in cell.items() if of == of} for cell in cells],
    }


def page_table(results):
    """Coverage of the slope by each fit, and how scores change with the second scale: Markdown."""
    table = pd.DataFrame(results["rows"]).pivot(index=KEYS[:2] + KEYS[3:], columns="fit")
    lines = [
        "| true slope | cases | slope, log slope 0.2 | slope, log slope 0.3 (ours) "
        "| slope, `logistic` | score of slope | score of O/E | score of TCE | score of E90 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for slope in SLOPES:
        for n in SIZES:
            each = {name: table.loc[(slope, n, name)] for name in NUMBERS}
            covered = each["calibration_slope"]["covered"]
            shares = [f"{covered[fit]:.2f}" for fit in ("former", "average", "logistic")]
            scores = [each[name]["score"] for name in NUMBERS]
            shares += [f"{score['average'] / score['former']:.2f}" for score in scores]
            named = "1, calibrated" if slope == 1 else f"{slope:g}"
            lines.append(f"| {named} | {n} | {' | '.join(shares)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "slopes.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    kept = Rows("slopes")
    for slope, n in product(SLOPES, SIZES):
        rows += kept.all_of(f"slope {slope}, {n} cases", options.runs, partial(one, slope, n))
        options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
