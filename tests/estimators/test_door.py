"""Doors read their arguments once, take tables, and lead to cores of checked arrays."""

import inspect

import numpy as np
import pytest

import bayescal as bc
from bayescal import CalibrationData, estimators, simulate
from bayescal.data import read
from bayescal.errors import InputError
from bayescal.estimators import registry
from bayescal.estimators.registry import ESTIMATORS

CLASSES = {"top_label_ece", "class_wise_ece"}
BINARY = [name for name in ESTIMATORS if name not in CLASSES]
BY_CASE = {"average_labels", "merge_cells"}
OF_SIMULATIONS = {"estimator_bias"}
OF_TIMES = {
    name
    for name in estimators.__all__
    if getattr(estimators, name).__module__.endswith(".survival")
}
FUNCTIONS = [
    name
    for name in estimators.__all__
    if inspect.isfunction(getattr(estimators, name))
    and name not in CLASSES | BY_CASE | OF_SIMULATIONS | OF_TIMES
]


def rounded(n=200):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=1)
    return y_true, y_prob.round(2)


def weights_of(kind, n=200):
    rng = np.random.default_rng(2)
    return {"none": None, "counts": rng.integers(1, 4, n), "sampling": 0.5 + rng.random(n)}[kind]


# Cores


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["none", "counts", "sampling"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_core_gives_what_its_door_gives(name, kind):
    entry = ESTIMATORS[name]
    y_true, y_prob = rounded()
    outcomes = np.stack([y_true, np.roll(y_true, 7)])
    weight = weights_of(kind)
    cases = registry.read(y_true, y_prob, weight)
    values = entry.core(outcomes, cases.scores, cases.weights)
    assert values.shape == (2,)
    for row, value in zip(outcomes, values, strict=True):
        known = entry.function(row, y_prob, sample_weight=weight)
        assert value == pytest.approx(known, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca", "consistency"])
def test_an_interval_reads_its_arrays_once(method, monkeypatch):
    calls = []

    def counted(check):
        return lambda *args, **options: calls.append(1) or check(*args, **options)

    monkeypatch.setattr(read, "check_cases", counted(read.check_cases))
    monkeypatch.setattr(registry, "as_scores", counted(registry.as_scores))
    for name in ("ece", "sweep_ece", "ici"):
        calls.clear()
        estimators.estimator_interval(*rounded(), name, method=method, n_resamples=100)
        assert len(calls) == 1


# Tables


@pytest.mark.parametrize("kind", ["none", "counts", "sampling"])
@pytest.mark.parametrize("name", BINARY)
def test_a_table_gives_what_its_cases_give(name, kind):
    y_true, y_prob = rounded()
    weight = weights_of(kind)
    table = CalibrationData(y_true, y_prob, weight, weight_type=None if weight is None else kind)
    function = ESTIMATORS[name].function
    known = function(y_true, y_prob, sample_weight=weight)
    assert function(table) == pytest.approx(known, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_a_table(name):
    function, seeded = getattr(estimators, name), {"random_state": 1}
    options = seeded if "random_state" in inspect.signature(function).parameters else {}
    y_true, y_prob = rounded()
    first = [y_prob] if name == "probabilistic_count" else [y_true, y_prob]
    known = function(*first, **options)
    value = function(CalibrationData(y_true, y_prob), **options)
    if name == "flexible_curve":
        known = known[np.unique(y_prob, return_index=True)[1]]
    if name in ("fit_bpm_curve", "estimator_interval"):
        assert str(value)[:20] == str(known)[:20]
        return
    parts = [pair if isinstance(pair, tuple) else (pair,) for pair in (value, known)]
    for part, other in zip(*parts, strict=True):
        if isinstance(part, estimators.Interval):
            assert part.method == other.method
            part, other = part[:3], other[:3]
        np.testing.assert_allclose(part, other, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_groups_are_refused_with_the_cure(name):
    y_true, y_prob = rounded()
    table = CalibrationData(y_true, y_prob, site=np.repeat(["a", "b"], 100))
    with pytest.raises(InputError, match=r"2 groups by site, .*select\(site='a'\).*pooled\(\)"):
        getattr(estimators, name)(table)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("skce", {"form": "block"}),
        ("fit_bpm_curve", {"objective": "released"}),
        ("tce_bpm", {"objective": "released"}),
        ("pde", {"cells": np.zeros(200)}),
        ("pde_bins", {"cells": np.zeros(200)}),
        ("ece", {"cells": np.zeros(200)}),
        ("ks_error", {"cells": np.zeros(200)}),
        ("average_labels", {}),
    ],
)
def test_what_needs_the_cases_refuses_a_table(name, options):
    with pytest.raises(InputError, match="keeps no order of its cases"):
        getattr(estimators, name)(CalibrationData(*rounded()), **options)


@pytest.mark.parametrize(
    "name", ["auc_v", "probabilistic_count", "probabilistic_kendall_tau", "validity_curve"]
)
def test_what_needs_exact_scores_refuses_the_grid(name):
    y_true, y_prob = simulate.sample("calibrated", 3000, random_state=1)
    with pytest.raises(InputError, match="compressed to a grid"):
        getattr(estimators, name)(CalibrationData(y_true, y_prob))


def test_other_refusals_of_tables():
    y_true, y_prob = rounded()
    table = CalibrationData(y_true, y_prob)
    with pytest.raises(InputError, match="y_prob was given beside a CalibrationData"):
        estimators.ece(table, y_prob)
    with pytest.raises(InputError, match="keeps no order of its cases"):
        estimators.merge_cells(table, y_true)
    with pytest.raises(InputError, match="the probability of every class"):
        estimators.top_label_ece(table)
    with pytest.raises(InputError, match="y_prob is missing"):
        estimators.ece(y_true)


# Resampling


@pytest.mark.parametrize("method", ["percentile", "consistency"])
@pytest.mark.parametrize("name", ["ece", "pde"])
def test_options_with_a_value_for_each_case_are_not_resampled(name, method):
    with pytest.raises(InputError, match="has a value for each case"):
        estimators.estimator_interval(*rounded(), name, method=method, cells=np.zeros(200))


def test_an_interval_and_a_check_are_one_engine():
    """Given one table, one seed and scores inside (0, 1) they draw the same replicates."""
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    weight = 0.5 + np.random.default_rng(3).random(300)
    post = bc.fit(y_true, y_prob, curve="beta", sample_weight=weight, random_state=1)
    for name in ("ece", "ici"):
        check = bc.check_consistency(post, name, n_resamples=200, predict=False, random_state=4)
        interval = estimators.estimator_interval(
            y_true,
            y_prob,
            name,
            method="consistency",
            n_resamples=200,
            sample_weight=weight,
            random_state=4,
        )
        ends = np.quantile(check.under_calibration, [0.025, 0.975])
        np.testing.assert_allclose([interval.lower, interval.upper], ends, rtol=1e-12)
