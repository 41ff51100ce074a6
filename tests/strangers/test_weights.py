"""Weights at every door: counts are repeated rows, and sampling weights have no scale.

The doors are found by their signatures, so that a new one obeys from its first day.
"""

import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.report.followed import ratio_at_other_hazard

RNG = np.random.default_rng(8)
N = 60
SCORE = RNG.uniform(0.05, 0.95, N).round(2)
OUTCOME = (RNG.random(N) < SCORE).astype(int)
COUNT = RNG.integers(1, 4, N)
SAMPLING = RNG.gamma(2, size=N)
MATRIX = np.column_stack([SCORE / 2, SCORE / 2, 1 - SCORE])
CLASS = np.array([RNG.choice(3, p=row) for row in MATRIX])
CASES = {
    "y_true": OUTCOME,
    "y_prob": SCORE,
    "before": SCORE,
    "after": np.sqrt(SCORE),
    "mean": SCORE,
    "variance": SCORE + 0.1,
    "cells": np.arange(N) // 10,
    "truth": MATRIX,
    "X": SCORE,
    "y": OUTCOME,
}
"""What has one entry for each case."""
OTHERS = {"curve": "logistic", "random_state": 0, "draws": 200, "thresholds": (0.3,)}
OF_CLASSES = {"class_wise_ece", "top_label_ece"}
OF_GROUPS = {
    "canonical_calibration_error", "class_wise_calibration_error", "proper_calibration_error",
    "proper_decomposition", "top_label_calibration_error",
}  # fmt: skip
"""Of which both are matrices."""
NOT_HERE = {
    "cross_fit", "update", "RecalibratedClassifier", "build_model", "e_value", "estimator_interval",
    "variance_gain",
}  # fmt: skip
"""Doors that split, refit or resample single rows: a repeated row falls into two folds."""


def doors():
    """Public functions with `sample_weight`, and `fit` of public classes."""
    for room in (bc, bc.estimators, bc.scores, bc.recalibrate):
        for name in sorted({*getattr(room, "__all__", dir(room))} - NOT_HERE):
            thing = getattr(room, name)
            if not callable(thing) or name.startswith("_") or name in ("Recalibrator", "read"):
                continue
            if inspect.isclass(thing):
                if not hasattr(thing, "fit"):
                    continue
                call = _fitted(thing)
                parameters = tuple(inspect.signature(thing.fit).parameters)[1:]
            else:
                call, parameters = thing, tuple(inspect.signature(thing).parameters)
            if "sample_weight" in parameters:
                yield f"{room.__name__.removeprefix('bayescal.')}.{name}", call, parameters


def _fitted(kind):
    def call(X, y, sample_weight, **_):
        seeded = "random_state" in inspect.signature(kind).parameters
        made = kind(random_state=0) if seeded else kind()
        X = np.column_stack([X, X + 0.1]) if kind is bc.recalibrate.VarianceRecalibrator else X
        fitted = made.fit(X, y, sample_weight=sample_weight)
        return fitted.transform(CASES["X"]) if X.ndim == 1 else vars(fitted)

    return call


DOORS = {name: (call, parameters) for name, call, parameters in doors()}


def told(name, rows, weight):
    """All numbers that a door tells of some rows of the cases."""
    call, parameters = DOORS[name]
    last = name.rpartition(".")[2]
    cases = {key: CASES[key][rows] for key in parameters if key in CASES}
    if last in OF_CLASSES:
        cases |= {"y_true": CLASS[rows], "y_proba": MATRIX[rows]}
    if last in OF_GROUPS:
        cases["y_prob"] = MATRIX[rows][:, [1, 2, 0]]
    if last == "probabilistic_kendall_tau":
        cases |= {"truth": MATRIX[rows, 2] ** 2, "y_prob": SCORE[rows]}
    if last == "compare_models":
        cases["models"] = {"old": SCORE[rows], "new": np.sqrt(SCORE)[rows]}
    options = {key: value for key, value in OTHERS.items() if key in parameters}
    if last in ("net_benefit", "standardised_net_benefit", "decision_curve"):
        options["thresholds"] = [0.3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return numbers(call(**cases, **options, sample_weight=weight))


def numbers(result):
    if isinstance(result, (bc.CalibrationPosterior, bc.RecalibrationGain)):
        result = result.summary()
    elif hasattr(result, "val_prob"):
        result = result.val_prob()
    elif hasattr(result, "posterior_prob"):
        result = result.posterior.summary()
    elif isinstance(result, bc.MultilevelPosterior):
        result = result.summary()
    elif isinstance(result, bc.Recommendation):
        result = result.table
    elif hasattr(result, "summary") and hasattr(
        result, "views"
    ):  # of models: what is drawn has the same law, and other draws
        result = result.summary()[["reference", "estimate", "difference"]]
    if isinstance(result, (pd.DataFrame, pd.Series)):
        result = result.select_dtypes("number").to_numpy() if result.ndim == 2 else result
    if isinstance(result, dict):
        result = list(result.values())
    if dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, (list, tuple)):
        parts = [numbers(part) for part in result]
        return np.concatenate(parts) if parts else np.empty(0)
    try:
        return np.ravel(np.asarray(result, dtype=np.float64))
    except (TypeError, ValueError):
        return np.empty(0)


def assert_same(ours, theirs):
    assert ours.size
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


ALL = np.arange(N)
OF_EACH_CASE = ("average_labels", "flexible_curve", "merge_cells")
"""Which tell a number for each case."""
COUNTS_ALONE = ("compare_models", "tce_lower_bound", "skce_test")
"""Which refuse sampling weights by name."""


@pytest.mark.parametrize("name", DOORS)
def test_counts_are_repeated_rows(name):
    ours, theirs = told(name, ALL, COUNT), told(name, np.repeat(ALL, COUNT), None)
    assert_same(np.repeat(ours, COUNT) if name.endswith(OF_EACH_CASE) else ours, theirs)


@pytest.mark.parametrize("name", [name for name in DOORS if not name.endswith(COUNTS_ALONE)])
def test_sampling_weights_have_no_scale(name):
    ours, theirs = told(name, ALL, SAMPLING), told(name, ALL, 7 * SAMPLING)
    if name.endswith("recommend"):  # its probability counts 200 draws, some of them at the border
        assert ours[-1] == pytest.approx(theirs[-1], abs=0.03)
        ours, theirs = ours[:-1], theirs[:-1]
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", [name for name in DOORS if name.endswith(COUNTS_ALONE)])
def test_sampling_weights_are_refused_where_cases_are_counted(name):
    with pytest.raises(bc.errors.InputError, match="sample_weight"):
        told(name, ALL, SAMPLING)


# What reaches one number only, and is easily forgotten there


def test_outcomes_that_are_missing_keep_the_weights_of_the_known():
    """Counts of known outcomes are repeated rows for a fit with unknown ones, too."""
    known = np.where(ALL % 5 == 0, np.nan, OUTCOME)
    rows = np.repeat(ALL, COUNT)
    weighted = bc.fit_known(known, SCORE, sample_weight=COUNT, draws=200, random_state=0)
    repeated = bc.fit_known(known[rows], SCORE[rows], draws=200, random_state=0)
    share, expected = (
        fit.missing["missing"].sum() / fit.missing["cases"].sum() for fit in (weighted, repeated)
    )
    assert share == pytest.approx(expected)
    assert_same(numbers(weighted.posterior), numbers(repeated.posterior))


TIME = RNG.exponential(1, N)
FOLLOWED = bc.Survival(TIME, (RNG.random(N) < 0.6).astype(int))


def test_leaving_before_the_horizon_keeps_the_weights():
    rows = np.repeat(ALL, COUNT)
    of = {"horizon": 1.0, "curve": "intercept", "draws": 200, "random_state": 0}
    weighted = bc.fit(FOLLOWED, SCORE, sample_weight=COUNT, **of)
    often = bc.Survival(FOLLOWED.time[rows], FOLLOWED.event[rows])
    repeated = bc.fit(often, SCORE[rows], **of)
    ours, theirs = (ratio_at_other_hazard(post) for post in (weighted, repeated))
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert ours > 1.005 * weighted.estimate("observed_expected")


def test_drift_keeps_sampling_weights():
    of = {"period": ALL % 3, "curve": "intercept", "draws": 200, "random_state": 0}
    one = bc.fit(OUTCOME, SCORE, sample_weight=SAMPLING, **of)
    other = bc.fit(OUTCOME, SCORE, sample_weight=7 * SAMPLING, **of)
    assert_same(numbers(one), numbers(other))
    plain = bc.fit(OUTCOME, SCORE, **of)
    assert not np.allclose(numbers(one), numbers(plain))


def test_clusters_are_not_left_out():
    """Rows that are copies in one cluster tell as much as one of each."""
    of = {"curve": "intercept", "draws": 2000, "random_state": 0}
    rows = np.repeat(ALL, 4)
    once = bc.fit(OUTCOME, SCORE, **of).curve([0.5]).std().item()
    clustered = bc.fit(OUTCOME[rows], SCORE[rows], cluster=rows, **of)
    assert clustered.curve([0.5]).std().item() == pytest.approx(once, rel=0.15)
