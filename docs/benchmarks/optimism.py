"""Does `bayescal.optimism` contain what new patients meet? `python docs/benchmarks/optimism.py`.

Models are developed on simulated patients of whom the true probabilities are known, and met by
100 000 new ones. Coverage is that of the 95 % interval for the model that was fitted to all cases;
beside it stand the apparent posterior, of the development data, and the range of the bootstrap.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.gain.development.resampled import MEASURES_RESAMPLED, line_measures
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "optimism.json"
NEW, BINS = 100_000, 60
EFFECTS = np.array([0.8, 0.5, 0.5, 0.3, 0.3])
PLAIN = LogisticRegression(C=np.inf, max_iter=1000)
FOREST = RandomForestClassifier(50, min_samples_leaf=5)
CELLS: dict[str, tuple[Any, int, int]] = {
    "logistic regression, 10 features": (PLAIN, 200, 10),
    "logistic regression, 20 features": (PLAIN, 200, 20),
    "logistic regression, 20 features, n = 500": (PLAIN, 500, 20),
    "choice of 5 from 40 features": (make_pipeline(SelectKBest(k=5), PLAIN), 200, 40),
    "forest, 10 features": (FOREST, 200, 10),
}
NAMES = ("tce", "observed_expected", "calibration_slope")


def patients(n: int, features: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Features and true probabilities."""
    X = rng.normal(size=(n, features))
    return X, expit(-1 + X[:, : EFFECTS.size] @ EFFECTS + 0.3 * (X[:, 0] ** 2 - 1))


def met_by_new(model: Any, features: int, rng: np.random.Generator) -> dict[str, float]:
    """What new patients meet: the calibration of a fitted model in the population."""
    X, true = patients(NEW, features, rng)
    score = model.predict_proba(X)[:, 1]
    parts = np.array_split(np.argsort(score), BINS)
    error = sum(abs(true[part].mean() - score[part].mean()) * part.size for part in parts) / NEW
    known = dict(zip(MEASURES_RESAMPLED, line_measures(true, score), strict=True))
    return known | {"tce": error}


def one_run(kind: str, seed: int) -> dict[str, Any]:
    """Truth and intervals of one development set."""
    estimator, n, features = CELLS[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    X, true = patients(n, features, rng)
    y = (rng.random(n) < true).astype(int)
    result = bc.optimism(estimator, X, y, n_resamples=100, random_state=seed)
    table = result.summary()
    fitted = clone(estimator).fit(X, y)
    row: dict[str, Any] = {"true": met_by_new(fitted, features, rng)}
    for name in NAMES:
        own = result.apparent.interval(name)
        row[name] = {
            "posterior": [table.loc[name, end] for end in ("lower", "upper")],
            "bootstrap": [table.loc[name, f"bootstrap_{end}"] for end in ("lower", "upper")],
            "apparent": list(own),
            "estimates": [table.loc[name, end] for end in ("apparent", "estimate", "bootstrap")],
        }
    return row


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage and means over the runs of a cell."""
    told: dict[str, Any] = {"runs": len(rows)}
    for name in NAMES:
        true = np.array([row["true"][name] for row in rows])
        told[name] = {"true": float(true.mean()), "sd": float(true.std())}
        for kind in ("posterior", "bootstrap", "apparent"):
            lower, upper = np.array([row[name][kind] for row in rows], dtype=float).T
            told[name][kind] = float(np.mean((lower <= true) & (true <= upper)))
        means = np.mean([row[name]["estimates"] for row in rows], axis=0)
        told[name]["estimates"] = dict(
            zip(("apparent", "new", "bootstrap"), map(float, means), strict=True)
        )
    return told


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    stored: dict[str, Any] = {"cells": {}}
    stored["versions"] = library_versions("bayescal", "numpy", "scipy", "scikit-learn")
    kept = Rows("optimism")
    warnings.simplefilter("ignore")
    for kind in CELLS:
        rows = kept.of(kind, options.runs, partial(one_run, kind))
        stored["cells"][kind] = summarised(rows)
        options.output.write_text(json.dumps(stored, indent=1) + "\n")
        print(kind, json.dumps(stored["cells"][kind]), flush=True)


if __name__ == "__main__":
    main()
