"""Coverage of 95 % intervals when outcomes are missing: complete cases, and imputed outcomes.

Run `python docs/benchmarks/imputed_outcomes.py --runs 200`. The outcome is missing in three of ten
patients, depending on a covariate that the model does not use and that the event depends on as
well. It is imputed by a logistic regression on the score and the covariate whose coefficients are
drawn too. The intervals are compared with the true values over the population of all patients.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED = 3338
SIZES, DRAWS, IMPUTATIONS = (500,), 1000, (20,)
MEAN, WIDTH = -1.0, 1.2
"""Of the scores' log-odds."""
CURVE = np.array([0.2, 0.8, 1.0])
"""Intercept, log-odds of the score, covariate: log-odds of the event."""
CHANCE = np.array([-1.1, 0.0, 1.5])
"""The same of a missing outcome: it depends on the covariate."""
NAMES = {"tce": "TCE", "observed_expected": "O/E", "calibration_slope": "slope"}


def patients(n, rng):
    """Design of the regressions, outcomes, and which of them are missing."""
    design = np.column_stack([np.ones(n), rng.normal(MEAN, WIDTH, n), rng.standard_normal(n)])
    y = (rng.random(n) < expit(design @ CURVE)).astype(int)
    return design, y, rng.random(n) < expit(design @ CHANCE)


def imputed(design, y, missing, rng, m):
    """Outcomes, m times: a draw of the regression's coefficients, then of the missing outcomes."""
    known, of_known = design[~missing], y[~missing]
    fitted = minimize(
        lambda at: -(log_expit(np.where(of_known, 1, -1) * (known @ at))).sum(), np.zeros(3)
    ).x
    risk = expit(known @ fitted)
    covariance = np.linalg.inv((known.T * (risk * (1 - risk))) @ known)
    for _ in range(m):
        at = rng.multivariate_normal(fitted, covariance)
        complete = y.copy()
        complete[missing] = rng.random(missing.sum()) < expit(design[missing] @ at)
        yield complete


def true_values():
    """Of the curve P(event | score) over all patients."""
    at, weight = np.polynomial.hermite_e.hermegauss(101)
    weight = weight / weight.sum()
    x = MEAN + WIDTH * at
    g = expit(CURVE[0] + CURVE[1] * x[:, None] + CURVE[2] * at) @ weight
    s = expit(x)

    def loss(line):
        z = line[0] + line[1] * x
        return -weight @ (g * log_expit(z) + (1 - g) * log_expit(-z))

    return {
        "tce": weight @ np.abs(g - s),
        "observed_expected": (weight @ g) / (weight @ s),
        "calibration_slope": minimize(loss, [0.0, 1.0], tol=1e-12).x[1],
    }


def posteriors(run, n):
    """The posterior of each method on one simulated study."""
    rng = np.random.default_rng([SEED, n, run])
    design, y, missing = patients(n, rng)
    score = expit(design[:, 1])
    outcomes = np.array([*imputed(design, y, missing, rng, max(IMPUTATIONS))])
    how = {"draws": DRAWS, "random_state": run}
    yield "no outcome is missing", bc.fit(y, score, **how)
    yield "complete cases", bc.fit(y[~missing], score[~missing], **how)
    known = np.where(missing, np.nan, y)
    yield "left out of the likelihood alone", bc.fit_known(known, score, **how).posterior
    yield "one imputation", bc.fit(outcomes[0], score, **how)
    for m in IMPUTATIONS:
        yield f"{m} imputations", bc.fit(outcomes[:m], score, **how)


def one(n, truth, run):
    """The intervals of one study by each method."""
    for method, post in posteriors(run, n):
        for name in NAMES:
            lower, upper = post.interval(name)
            yield {
                "n": n,
                "method": method,
                "functional": name,
                "covered": bool(lower <= truth[name] <= upper),
                "width": upper - lower,
                "error": post.estimate(name) - truth[name],
            }


def summarise(rows):
    """Coverage, width and bias of each cell."""
    table = pd.DataFrame(rows)
    keys = ["n", "method", "functional"]
    grouped = table.groupby(keys, sort=False)[["covered", "width", "error"]].mean()
    grouped["data_sets"] = table.groupby(keys, sort=False).size()
    return {
        "true": {name: round(float(value), 5) for name, value in true_values().items()},
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": grouped.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage, width and bias, as the page has them."""
    table = pd.DataFrame(results["rows"])
    lines = ["| patients | method | " + " | ".join(f"{name}: coverage | bias | width" for name in
             NAMES.values()) + " |", "|---|---|" + "---|" * 3 * len(NAMES)]  # fmt: skip
    for (n, method), rows in table.groupby(["n", "method"], sort=False):
        by = rows.set_index("functional").loc[list(NAMES)]
        cells = [
            f"{row['covered']:.3f} | {row['error']:+.3f} | {row['width']:.3f}"
            for _, row in by.iterrows()
        ]
        lines.append(f"| {n} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "imputed_outcomes.json")
    options = parser.parse_args()
    import warnings

    warnings.simplefilter("ignore", bc.errors.ImputationWarning)
    rows, kept = [], Rows("imputed_outcomes")
    for n in SIZES:
        rows += kept.all_of(f"{n} cases", options.runs, partial(one, n, true_values()))
        options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
