"""Coverage of 95 % intervals when a predictor is missing: complete cases, one imputation, several.

Run `python docs/benchmarks/imputation_coverage.py --runs 200`. The score of a model is a function
of two predictors, one of which is missing at random in a fifth of the patients, more often where
the other is high and where the event happened. It is imputed by a linear regression on the other
predictor and the outcome whose parameters are drawn, too, and each completed data set is scored.
The intervals are compared with the true values over the population of all patients.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED = 1807
DRAWS = 1000
IMPUTATIONS = (2, 5, 20)
CORRELATION = 0.2
TRUE = np.array([-0.6, 0.5, 1.0])  # intercept, x1, x2: log-odds of the event
MODEL = np.array([-0.3, 0.5, 1.5])  # of the score
CHANCE = np.array([-2.8, 1.0, 2.0])  # intercept, x1, outcome: log-odds that x2 is missing
FUNCTIONALS = ("tce", "observed_expected", "calibration_slope")


def patients(n, rng):
    """Outcome, the two predictors, and whether the second is missing."""
    x1 = rng.standard_normal(n)
    x2 = CORRELATION * x1 + np.sqrt(1 - CORRELATION**2) * rng.standard_normal(n)
    y = (rng.random(n) < expit(TRUE @ [np.ones(n), x1, x2])).astype(int)
    missing = rng.random(n) < expit(CHANCE @ [np.ones(n), x1, y])
    return y, x1, x2, missing


def score(x1, x2):
    return expit(MODEL[0] + MODEL[1] * x1 + MODEL[2] * x2)


def imputed(y, x1, x2, missing, rng, m):
    """The second predictor, m times: a draw of the regression's parameters, then of the values."""
    design = np.column_stack([np.ones(y.size), x1, y, x1 * y])
    known = design[~missing]
    root = np.linalg.inv(known.T @ known)
    fitted = root @ known.T @ x2[~missing]
    rest = x2[~missing] - known @ fitted
    freedom = rest.size - fitted.size
    values = []
    for _ in range(m):
        variance = rest @ rest / rng.chisquare(freedom)
        drawn = rng.multivariate_normal(fitted, variance * root)
        noise = np.sqrt(variance) * rng.standard_normal(missing.sum())
        complete = x2.copy()
        complete[missing] = design[missing] @ drawn + noise
        values.append(complete)
    return np.array(values)


def conditional_mean(x1, x2, missing):
    """The second predictor, missing values replaced by their mean given the first."""
    slope, intercept = np.polyfit(x1[~missing], x2[~missing], 1)
    return np.where(missing, intercept + slope * x1, x2)


def true_values():
    """Of the curve P(event | score) over all patients, both normal in log-odds."""
    covariance = np.array([[1, CORRELATION], [CORRELATION, 1]])
    variance = MODEL[1:] @ covariance @ MODEL[1:]
    both = TRUE[1:] @ covariance @ MODEL[1:]
    rest = TRUE[1:] @ covariance @ TRUE[1:] - both**2 / variance
    at, weight = np.polynomial.hermite_e.hermegauss(201)
    weight = weight / weight.sum()
    x = MODEL[0] + np.sqrt(variance) * at
    s = expit(x)
    centre = TRUE[0] + both / np.sqrt(variance) * at
    g = expit(centre[:, None] + np.sqrt(rest) * at) @ weight

    def loss(line):
        z = line[0] + line[1] * x
        return -weight @ (g * log_expit(z) + (1 - g) * log_expit(-z))

    slope = minimize(loss, [0.0, 1.0], tol=1e-12).x[1]
    large = minimize_scalar(lambda a: loss([a, 1.0])).x
    return {
        "tce": weight @ np.abs(g - s),
        "observed_expected": (weight @ g) / (weight @ s),
        "calibration_slope": slope,
        "calibration_in_the_large": large,
    }


def posteriors(run, n):
    """The posterior of each method on one simulated study."""
    rng = np.random.default_rng([SEED, n, run])
    y, x1, x2, missing = patients(n, rng)
    known = np.where(missing, np.nan, x2)
    filled = imputed(y, x1, np.nan_to_num(known), missing, rng, max(IMPUTATIONS))
    how = {"curve": "beta", "draws": DRAWS, "random_state": run}
    yield "no value is missing", bc.fit(y, score(x1, x2), **how)
    yield "complete cases", bc.fit(y[~missing], score(x1, x2)[~missing], **how)
    mean = conditional_mean(x1, np.nan_to_num(known), missing)
    yield "mean of x2 given x1", bc.fit(y, score(x1, mean), **how)
    yield "one imputation", bc.fit(y, score(x1, filled[0]), **how)
    for m in IMPUTATIONS:
        yield f"{m} imputations", bc.fit(y, imputations=score(x1, filled[:m]), **how)


def intervals(post, name):
    """The interval, and of several imputations that of the draws as they are."""
    yield "", post.interval(name), post.estimate(name)
    if hasattr(post, "imputations") and len(post.imputations) < 20:
        draws = [one.functional(name).to_numpy().ravel() for one in post.imputations]
        ends = np.quantile(np.concatenate(draws), [0.025, 0.975])
        yield ", mixed only", ends, np.mean(draws)


def study(n, true, run):
    """One row for each method and functional."""
    for method, post in posteriors(run, n):
        for name in FUNCTIONALS:
            for how, (lower, upper), estimate in intervals(post, name):
                yield {
                    "method": method + how,
                    "functional": name,
                    "covered": lower <= true[name] <= upper,
                    "bias": estimate - true[name],
                    "width": upper - lower,
                    "missing_information": missing_information(post, name),
                }


def missing_information(post, name):
    if not hasattr(post, "imputations"):
        return np.nan
    return post.missing_information.loc[name, "missing_information"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--size", type=int, default=500)
    options = parser.parse_args()
    true = true_values()
    kept, study_of = Rows("imputation_coverage"), partial(study, options.size, true)
    rows = kept.all_of(f"{options.size} cases", options.runs, study_of)
    table = pd.DataFrame(rows).groupby(["method", "functional"]).mean().round(4).reset_index()
    print(table.to_string())
    rngs = (np.random.default_rng([SEED, options.size, run]) for run in range(options.runs))
    missing = np.mean([patients(options.size, rng)[3].mean() for rng in rngs])
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "runs": options.runs,
        "size": options.size,
        "missing": round(float(missing), 3),
        "true": {name: round(float(value), 4) for name, value in true.items()},
        "cells": table.astype(object).where(table.notna(), None).to_dict(orient="records"),
    }
    (RESULTS / "imputation_coverage.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
