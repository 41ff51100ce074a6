"""Scores of 32 bits give what the same numbers give as 64-bit floats, and take no more memory."""

import tracemalloc

import numpy as np
import pytest

import bayescal.estimators  # noqa: F401, fills the register
from bayescal import scores
from bayescal.estimators.registry import ESTIMATORS

LOSSES = {name: getattr(scores, name) for name in ("brier_score", "log_score", "spherical_score")}
MULTICLASS = {"top_label_ece", "class_wise_ece"}
FUNCTIONS = LOSSES | {
    name: each.function for name, each in ESTIMATORS.items() if name not in MULTICLASS
}

SLOW = {"tce_bpm", "kde_ece", "lower_distance_to_calibration"}


def cases(n, kind):
    rng = np.random.default_rng(3)
    given = rng.beta(2, 1, n).astype(np.float32)
    given[: n // 3] = given[: n // 3].round(1)
    return (rng.random(n) < given).astype(kind), np.clip(given, 0.01, 0.99).astype(np.float32)


@pytest.mark.parametrize("kind", ["int64", "bool", "uint8", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_data_set(name, kind):
    y_true, y_prob = cases(500, kind)
    estimate = FUNCTIONS[name]
    assert estimate(y_true, y_prob) == estimate(y_true, y_prob.astype(np.float64))


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"tce_bpm"}))
def test_weights_and_replicates(name):
    y_true, y_prob = cases(300, "bool")
    estimate = FUNCTIONS[name]
    weights = np.random.default_rng(1).integers(1, 4, y_true.size)
    replicates = np.stack([y_true, ~y_true])
    for outcomes, weighting in ((y_true, weights), (replicates, None), (replicates, weights)):
        values = estimate(outcomes, y_prob, sample_weight=weighting)
        same = estimate(outcomes, y_prob.astype(np.float64), sample_weight=weighting)
        np.testing.assert_array_equal(values, same)


def most_memory(estimate, y_true, y_prob):
    """Bytes of the scores and of what an estimate allocates beside them at most."""
    tracemalloc.start()
    try:
        estimate(y_true, y_prob)
        return y_prob.nbytes + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", sorted({*FUNCTIONS, *MULTICLASS} - SLOW))
def test_memory(name):
    y_true, y_prob = cases(300_000, "int64")
    estimate = FUNCTIONS.get(name) or ESTIMATORS[name].function
    wide = y_prob.astype(np.float64)
    most_memory(estimate, y_true, wide)
    single, double = (most_memory(estimate, y_true, given) for given in (y_prob, wide))
    assert single <= 1.001 * double
