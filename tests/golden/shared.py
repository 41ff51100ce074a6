"""Small data sets that golden numbers are computed from, fits made once, and results as numbers."""

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bayescal as bc

DRAWS = 400
Numbers = dict[str, Callable[[], Any]]


@cache
def clinical():
    """An overconfident model and 200 patients."""
    return bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)


@cache
def rounded():
    """150 patients whose scores are in steps of 0.05, with scores of 0 among them."""
    y_true, y_prob = bc.simulate.sample("clinical-middle-shifted", 150, random_state=2)
    return y_true, np.round(20 * y_prob) / 20


@cache
def many_classes():
    """True class and class probabilities of 150 cases, 3 classes."""
    rng = np.random.default_rng(4)
    log_odds = rng.normal(size=(150, 3))
    truth, predicted = np.exp(log_odds), np.exp(1.6 * log_odds)
    truth /= truth.sum(axis=1, keepdims=True)
    predicted /= predicted.sum(axis=1, keepdims=True)
    return (rng.random((150, 1)) > truth.cumsum(axis=1)).sum(axis=1), predicted


@cache
def large():
    return bc.CalibrationData(*bc.simulate.sample("clinical-low-shifted", 5000, random_state=52))


@cache
def two_groups():
    return bc.CalibrationData(*clinical(), site=np.repeat(["north", "south"], [120, 80]))


@cache
def both_samples():
    return bc.CalibrationData(*clinical()) + bc.CalibrationData(*rounded())


@cache
def sampling():
    """Sampling weights of the 200 patients."""
    return 0.5 + 2 * np.random.default_rng(7).random(200)


@cache
def fitted(curve="beta", prior="neutral"):
    return bc.fit(*clinical(), curve=curve, prior=prior, draws=DRAWS, random_state=11)


def family_numbers(curve):
    """What a fit of one family gives."""
    post = fitted(curve)
    return {
        "tce": post.summary().loc["tce", ["estimate", "upper"]].to_numpy(),
        "log_evidence": post.diagnostics["log_evidence"],
        "curve": post.curve().mean(("chain", "draw")).to_numpy(),
    }


@cache
def compared():
    return bc.compare(*clinical(), draws=DRAWS, random_state=12)


@cache
def cross_fitted():
    recalibrator = bc.recalibrate.LogisticRecalibrator()
    return bc.cross_fit(*clinical(), recalibrator, n_folds=5, n_repeats=2, random_state=14)


@cache
def assessed():
    groups = np.repeat(["north", "south"], 100)
    options = {"limit": 0.05, "draws": DRAWS, "site": groups, "random_state": 13}
    return bc.assess(*clinical(), **options).to_dict()


def assessed_rows(key, *columns):
    """Columns of a table in the dictionary of an assessment, one list for each row."""
    return {name: [row[column] for column in columns] for name, row in assessed()[key].items()}


def flat(name, value):
    """The finite numbers in a result, by name.

    Dictionaries and named tuples give a number for each part, and arrays, lists and pairs one
    number: a mean with weights that rise from 1 to 2, so that its order matters.
    """
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        parts = [flat(f"{name}/{key}", part) for key, part in value.items()]
        return {key: number for part in parts for key, number in part.items()}
    values = np.asarray(value, dtype=float).ravel()
    number = float(values @ np.linspace(1, 2, values.size) / values.size)
    return {name: number} if math.isfinite(number) else {}


def computed(numbers):
    """Every number of a part, by name."""
    each = [flat(name, compute()) for name, compute in numbers.items()]
    return {name: number for part in each for name, number in part.items()}


def path_of(part):
    """Where the numbers of a part are stored."""
    return Path(__file__).with_name(f"{part}.json")


def stored(part):
    """The stored numbers of a part."""
    return json.loads(path_of(part).read_text("utf-8"))
