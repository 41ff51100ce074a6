"""Coverage of 95 % intervals of sensitivity, specificity and predictive values.

Run `python docs/benchmarks/classification_coverage.py --runs 200`. A model is assessed on 300 or
1000 patients whose risks are right, too extreme, or right and low. The truth is that of the
population that the patients are drawn from: its scores and its curve, at thresholds of 0.1 and 0.3.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.assessment.essentials import CLASSIFIED, classification_table
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS, SPREAD = 3511, 1000, 1.2
SETTINGS = {"right": (-1.0, 0.0, 1.0), "too extreme": (-1.0, 0.2, 0.8), "low": (-2.5, 0.0, 1.0)}
"""Mean of the scores' log-odds; intercept and slope of the true curve."""
SIZES, THRESHOLDS = (300, 1000), (0.1, 0.3)
POPULATION = norm.ppf((np.arange(200_000) + 0.5) / 200_000)


def true_classification(setting, threshold):
    """Each measure of the population."""
    mean, intercept, slope = SETTINGS[setting]
    x = mean + SPREAD * POPULATION
    risk, reach = expit(intercept + slope * x), expit(x) >= threshold
    return {
        "treated": reach.mean(),
        "sensitivity": risk[reach].sum() / risk.sum(),
        "specificity": (1 - risk)[~reach].sum() / (1 - risk).sum(),
        "ppv": risk[reach].mean(),
        "npv": (1 - risk)[~reach].mean(),
    }


def one(setting, n, run):
    """Whether the intervals of one data set hold the truth."""
    rng = np.random.default_rng([SEED, list(SETTINGS).index(setting), n, run])
    mean, intercept, slope = SETTINGS[setting]
    x = rng.normal(mean, SPREAD, n)
    y = (rng.random(n) < expit(intercept + slope * x)).astype(int)
    post = bc.fit(y, expit(x), draws=DRAWS, random_state=run)
    for threshold, row in classification_table(post, THRESHOLDS, 0.95).iterrows():
        true = true_classification(setting, threshold)
        for name in CLASSIFIED:
            lower, upper = row[f"{name}_lower"], row[f"{name}_upper"]
            yield {
                **{"setting": setting, "cases": n, "threshold": threshold, "measure": name},
                "covered": bool(lower <= true[name] <= upper),
                "error": row[f"{name}_estimate"] - true[name],
            }


def summarise(rows):
    """Means over the data sets of each cell."""
    keys = ["setting", "cases", "threshold", "measure"]
    grouped = pd.DataFrame(rows).groupby(keys, sort=False)
    table = grouped[["covered", "error"]].mean()
    table["data_sets"] = grouped.size()
    return {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": table.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage of each measure, a cell a row, in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        f"| risks | patients | threshold | {' | '.join(CLASSIFIED)} |",
        f"|---|---|---|{'---|' * len(CLASSIFIED)}",
    ]
    for (setting, n, at), part in table.groupby(["setting", "cases", "threshold"], sort=False):
        shares = part.set_index("measure")["covered"]
        numbers = " | ".join(f"{shares[name]:.2f}" for name in CLASSIFIED)
        lines.append(f"| {setting} | {n} | {at:g} | {numbers} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "classification_coverage.json")
    options = parser.parse_args()
    rows, kept = [], Rows("classification_coverage")
    for setting, n in product(SETTINGS, SIZES):
        rows += kept.all_of(f"{setting}, {n} cases", options.runs, partial(one, setting, n))
        options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
