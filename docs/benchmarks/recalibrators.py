"""How much data does each recalibrator need? Held-out loss against the size of the calibration set.

Run `python docs/benchmarks/recalibrators.py --runs 60`. Losses are expected over new cases, by
quadrature under the known truth, less that of the truth itself, so only the calibration sets are
drawn. Probabilities are cut off at 1e-6 from 0 and 1, without which isotonic regression, binning
and trees would have infinite log losses. Where a likelihood has no maximum the scores are left as
they are, and `failed` is how often. `summary` has the mean over truths; `short_of_best` compares
the Bayesian average with the best other method, run by run.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import xlogy

from bayescal import recalibrate as rc
from bayescal._base.versions import library_versions
from bayescal.errors import SeparationError
from bayescal.validation.batches import Batch, run_batches, spans, stream
from bayescal.validation.simulate import truth
from kept import folder
from truths import HELD_OUT, NAMED

RESULTS = Path(__file__).parent / "results"
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
SEED = 505
NODES = 1000
CUT = 1e-6
OURS = "bayesian, average"
BAYESIAN = {"draws": 400, "random_state": 0}
METHODS = {
    "none": None,
    "intercept": rc.InterceptRecalibrator(),
    "temperature": rc.TemperatureRecalibrator(),
    "ensemble temperature": rc.EnsembleTemperatureRecalibrator(),
    "logistic": rc.LogisticRecalibrator(),
    "beta": rc.BetaRecalibrator(),
    "isotonic": rc.IsotonicRecalibrator(),
    "histogram, 10 bins": rc.HistogramRecalibrator(),
    "histogram, 10 bins, Laplace": rc.HistogramRecalibrator(prior_weight=2, prior_centre="half"),
    "BBQ": rc.BBQRecalibrator(),
    "spline": rc.SplineRecalibrator(),
    "monotone": rc.MonotoneRecalibrator(),
    "TPM": rc.TPMRecalibrator(),
    "decision tree": rc.DecisionTreeRecalibrator(),
    "calibration tree": rc.ProbabilityCalibrationTreeRecalibrator(),
    "bayesian, logistic": rc.BayesianRecalibrator("logistic", **BAYESIAN),
    "bayesian, beta": rc.BayesianRecalibrator("beta", **BAYESIAN),
    OURS: rc.BayesianRecalibrator(**BAYESIAN),
}
TREES = ("decision tree", "calibration tree")
TREES_EVERY = 3  # they are slow, and get a third of the runs


def population(law):
    """Scores and weights that integrate over their law."""
    t = (np.arange(NODES) + 0.5) / NODES
    s, _ = law.quantiles(t**2 * (3 - 2 * t), (1 - t) ** 2 * (1 + 2 * t))
    weight = t * (1 - t)
    return s, weight / weight.sum()


def excess(eta, recalibrated, weight):
    """Expected log loss and Brier score beyond those of the truth."""
    p = np.clip(recalibrated, CUT, 1 - CUT)
    own = xlogy(eta, eta) + xlogy(1 - eta, 1 - eta)
    log = own - xlogy(eta, p) - xlogy(1 - eta, 1 - p)
    return weight @ log, weight @ (recalibrated - eta) ** 2


def batch(population_of, n, span):
    warnings.simplefilter("ignore")
    s, weight = population(population_of.scores)
    eta = population_of.curve(s)
    loss = np.full((len(span), len(METHODS), 3), np.nan)
    for index, run in enumerate(span):
        y, score = population_of.sample(n, stream(SEED, population_of.name, n, run))
        for column, (name, method) in enumerate(METHODS.items()):
            if name in TREES and run % TREES_EVERY:
                continue
            failed, after = False, s
            if method is not None:
                try:
                    after = method.fit(score, y).transform(s)
                except SeparationError:
                    failed = True
            loss[index, column] = (*excess(eta, after, weight), failed)
    return {"loss": loss}


def mean_and_error(values, axis=0):
    count = np.isfinite(values).sum(axis=axis)
    return np.nanmean(values, axis=axis), np.nanstd(values, axis=axis, ddof=1) / np.sqrt(count)


def short_of_best(losses):
    """How much worse ours is than the best other method: mean over truths, paired by run.

    `losses` has shape (truths, runs, methods).
    """
    ours = list(METHODS).index(OURS)
    others = [index for index, name in enumerate(METHODS) if not name.startswith("bayesian")]
    mean = np.nanmean(losses, axis=(0, 1))
    best = min(others, key=lambda index: mean[index])
    difference = losses[:, :, ours] - losses[:, :, best]
    each = [mean_and_error(row) for row in difference]
    error = np.sqrt(np.sum([e**2 for _, e in each])) / len(each)
    return {
        "best_other": list(METHODS)[best],
        "ours": mean[ours],
        "other": mean[best],
        "short_of_best": float(np.mean([m for m, _ in each])),
        "standard_error": float(error),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--held-out-runs", type=int, default=24)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--path", type=Path, default=folder("recalibrators"))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    groups = {
        "development": (tuple(truth(name) for name in NAMED), options.runs),
        "held-out": (HELD_OUT, options.held_out_runs),
    }
    cells, summary, per_truth = [], [], []
    for group, (truths, runs) in groups.items():
        parts = spans(runs, 12)
        batches = [
            Batch(
                partial(batch, one, n, part),
                len(part),
                {"what": "recalibrators", "name": one.name, "n": n, "span": [part[0], part[-1]]},
            )
            for one in truths
            for n in options.sizes
            for part in parts
        ]
        results = run_batches(
            batches,
            f"Recalibrators, {group}",
            n_jobs=options.jobs,
            progress=None,
            path=options.path,
        )
        loss = np.concatenate([result["loss"] for result in results])
        loss = loss.reshape(len(truths), len(options.sizes), runs, len(METHODS), 3)
        for index, one in enumerate(truths):
            for at, n in enumerate(options.sizes):
                mean, error = mean_and_error(loss[index, at])
                for column, name in enumerate(METHODS):
                    (log, brier, failed), (log_error, brier_error, _) = mean[column], error[column]
                    cells.append(
                        {
                            "group": group,
                            "truth": one.name,
                            "n": n,
                            "method": name,
                            "log_loss": log,
                            "log_loss_error": log_error,
                            "brier": brier,
                            "brier_error": brier_error,
                            "failed": failed,
                        }
                    )
                row = short_of_best(loss[index : index + 1, at, :, :, 0])
                per_truth.append({"group": group, "truth": one.name, "n": n} | row)
        for at, n in enumerate(options.sizes):
            for column, score in enumerate(("log_loss", "brier")):
                row = short_of_best(loss[:, at, :, :, column])
                summary.append({"group": group, "n": n, "score": score} | row)
    table = pd.DataFrame(cells)
    means = table.pivot_table(index=["group", "method"], columns="n", values="log_loss")
    print(means.round(4).to_string())
    print(pd.DataFrame(summary).round(5).to_string())
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy", "scikit-learn"),
        "runs": {group: runs for group, (_, runs) in groups.items()},
        "cut": CUT,
        "cells": table.round(7).to_dict(orient="records"),
        "summary": pd.DataFrame(summary).round(7).to_dict(orient="records"),
        "per_truth": pd.DataFrame(per_truth).round(7).to_dict(orient="records"),
    }
    (RESULTS / "recalibrators.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
