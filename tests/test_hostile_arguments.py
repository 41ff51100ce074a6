"""Every argument of every public function, attacked: an error that names it, or a finite answer.

What is attacked, and by what, is in `attacks`; here is what may come of it.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from attacks import (
    ARRAYS,
    HOSTILE,
    HOSTILE_CASES,
    OUTCOME,
    SCORE,
    Call,
    N,
    attack,
    calls,
    fault,
    scratch,
)

SLOW = ("build_model", "BayesianRecalibrator", "bayescal.plan", "planning.plan")
"""Of these each call takes long."""
FEW = 4
"""Values for each argument of those."""
HAVE_NAN = {f"estimators.{name}" for name in ("giviti_test", "ks_test", "kuiper_test")} | {
    "estimators.censoring_depends_on_score",
    "estimators.binned_reliability",  # bins without cases
    "estimators.spiegelhalter_test",
    "estimators.skce_test",
}
"""Of whose results a part may be undefined."""
ASKED = {"CalibrationData.from_dask", "CalibrationData.select", "CalibrationData.without"} | {
    "CalibrationPosterior.sel",
    "MultilevelPosterior.gain_of_updating",
    "MultilevelPosterior.now",
    "MultilevelPosterior.when_changed",
}
"""Of other objects than those at hand: their errors say so first."""
PARTS = 6
"""Of the tests with many values, so that none takes long."""
SHARE = 16
"""Every sixteenth value, other ones for each argument: what is run before each merge."""

Attack = tuple[Call, str, Any]


def is_slow(call):
    return any(part in call.name for part in SLOW)


def pool(key):
    """The values for an argument; a callback that is a function may fail as it likes."""
    values = HOSTILE + (HOSTILE_CASES if key in ARRAYS else ())
    return tuple(one for one in values if not callable(one)) if key == "progress" else values


def everything(share=1):
    """All values for each argument, or a share of them, evenly."""
    number = 0
    for call in calls():
        for index, key in enumerate(call.arguments):
            values, number = pool(key), number + 1
            few = [values[(11 * index + 17 * k) % len(values)] for k in range(FEW)]
            chosen = few if is_slow(call) else values[number % share :: share]
            yield from ((call, key, value) for value in chosen)


def wrongs(attacks):
    wrong = []
    for call, key, value in attacks:
        problem = attack(call, key, value)
        undefined = problem == "NaN" and call.name in HAVE_NAN
        unnamed = "is not named" in problem and call.name in ASKED
        if problem and not undefined and not unnamed:
            wrong.append(f"{call.name}({key}={value!r:.30}): {problem}")
    return wrong


def test_every_argument_is_attacked():
    fast = [call for call in calls() if not is_slow(call)]
    pairs = [(call, key) for call in fast for key in call.arguments]
    assert not wrongs(
        (call, key, pool(key)[7 * index % len(pool(key))])
        for index, (call, key) in enumerate(pairs)
    )


def in_part(attacks, part):
    return iter(attacks[part * len(attacks) // PARTS : (part + 1) * len(attacks) // PARTS])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_argument_is_attacked_by_many(part):
    assert not wrongs(in_part(list(everything(SHARE)), part))


def test_a_share_has_every_argument_and_every_value():
    pairs = {(call.name, key) for call, key, _ in everything()}
    shared = [(call.name, key, id(value)) for call, key, value in everything(SHARE)]
    assert {(name, key) for name, key, _ in shared} == pairs
    assert {id(value) for value in HOSTILE + HOSTILE_CASES} <= {value for *_, value in shared}


def test_what_is_attacked_works_before():
    """Else every value would be refused for the same reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls():
            if not is_slow(call) and call.name not in ASKED:
                call()


def test_an_attack_leaves_no_files_where_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in calls():
        if "path" in call.arguments:
            attack(call, "path", Path("x"))
    assert "x" in {path.name for path in Path(scratch().name).iterdir()}
    assert not list(tmp_path.iterdir())


def test_an_attack_sees_what_is_wrong():
    def fails(value):
        raise TypeError("a traceback")

    def answers(value):
        return np.array([value])

    def refuses(value):
        raise bc.errors.InputError(value)

    assert attack(Call("", fails, {}), "value", None) == "TypeError: a traceback"
    assert attack(Call("", answers, {}), "value", float("nan")) == "NaN"
    assert "MemoryError" in attack(Call("", np.ones, {}), "shape", 10**9)
    assert not attack(Call("", refuses, {}), "value", "value must be 3.")
    assert "not named" in attack(Call("", refuses, {}), "value", "a valued thing must be 3.")
    assert "line" in fault("value:\nbad", "value")
    assert "characters" in fault("value" * 1000, "value")
    assert "another library" in fault("value has no attribute x", "value")


@pytest.mark.parametrize(
    "weight",
    [
        np.full(N, 1e308),
        np.full(N, 1e-300),
        np.full(N, 1e15),
        np.r_[1e300, np.ones(N - 1)],
        [10**400] + [1] * (N - 1),
    ],
    ids=["1e308", "1e-300", "1e15", "1e300 among ones", "400 digits among ones"],
)
@pytest.mark.parametrize(
    "function",
    [bc.fit, bc.CalibrationData, bc.estimators.ece, bc.scores.brier_score, bc.assess],
)
def test_weights_out_of_range_are_refused(function, weight):
    with pytest.raises(bc.errors.InputError, match=r"sample_weight"):
        function(OUTCOME, SCORE, sample_weight=weight)


@pytest.mark.parametrize("small", [0.0, 5e-324, 1e-300, 1e-30, 1e-17])
def test_a_weight_that_is_nothing_beside_the_others_is_as_none(small):
    weight = np.r_[small, np.ones(N - 1)]
    for name in ("ece", "smooth_ece", "kde_ece", "lower_distance_to_calibration"):
        estimator = getattr(bc.estimators, name)
        without = estimator(OUTCOME[1:], SCORE[1:])
        assert estimator(OUTCOME, SCORE, sample_weight=weight) == pytest.approx(without, abs=1e-6)
    bounds = bc.estimators.distance_bounds(OUTCOME, SCORE, sample_weight=weight)
    assert bounds == pytest.approx(bc.estimators.distance_bounds(OUTCOME[1:], SCORE[1:]), abs=1e-6)


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True, float("nan"), [1]])
def test_seeds_that_are_none_are_refused(seed):
    for function in (bc.fit, bc.compare, bc.assess, bc.recommend):
        with pytest.raises(bc.errors.InputError, match="random_state must be None"):
            function(OUTCOME, SCORE, random_state=seed)


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (bc.estimators.ece, {"n_bins": 10**9}),
        (bc.fit, {"draws": 10**9}),
        (bc.assess, {"close": 1e9}),
        (bc.assess, {"thresholds": np.linspace(0.01, 0.99, 100_000)}),
        (bc.estimators.lower_distance_to_calibration, {"resolution": 10**9}),
        (bc.estimators.auc_v, {"n_neighbors": 10**9}),
        (bc.estimators.estimator_interval, {"n_resamples": 10**10}),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options_of_absurd_size_name_their_limit(function, option):
    call = Call("", function, {"y_true": OUTCOME, "y_prob": SCORE})
    ((key, value),) = option.items()
    assert attack(call, key, value) == ""


def test_an_index_of_mixed_types_is_compared():
    labels = [1, "a", None, *range(10, N + 7)]
    outcome = pd.Series(OUTCOME, index=labels)
    together = bc.fit(outcome, pd.Series(SCORE, index=labels), draws=100, random_state=0)
    assert together.data == bc.CalibrationData(OUTCOME, SCORE)
    with pytest.raises(bc.errors.InputError, match="different orders"):
        bc.fit(outcome, pd.Series(SCORE, index=labels[::-1]))


def test_a_probability_of_an_unknown_limit_is_refused():
    post = bc.fit(OUTCOME, SCORE, draws=100, random_state=0)
    with pytest.raises(bc.errors.InputError, match="x must be a"):
        post.prob_below(float("nan"))
    with pytest.raises(bc.errors.InputError, match="p must be at least 1"):
        post.tce(p=None)


@pytest.mark.parametrize("edge", ["x", 0, 0.5, -1, float("nan"), [], None, 10**400])
def test_edges_that_are_none_are_refused(edge):
    if edge is None:
        assert bc.fit(OUTCOME, SCORE, edge=edge, draws=100, random_state=0).data.n == N
        return
    with pytest.raises(bc.errors.InputError, match="edge must lie strictly"):
        bc.fit(OUTCOME, SCORE, edge=edge)
