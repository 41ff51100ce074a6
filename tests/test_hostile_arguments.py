"""Every argument of every public function, attacked: an error that names it, or a finite answer.

The functions are those that the modules offer, so that a new one is attacked from its first day.
What a test must know of it is a value for each argument without a default, by its name.
"""

from __future__ import annotations

import inspect
import resource
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bayescal as bc

N = 40
SCORE = np.round(np.linspace(0.02, 0.97, N), 3)
OUTCOME = (np.arange(N) * 7 % 10 / 10 < SCORE).astype(int)
MATRIX = np.column_stack([1 - SCORE, SCORE])
CALM = {"draws": 200, "n_resamples": 20, "n_simulations": 4, "n_repeats": 1, "random_state": 0}
"""So that a call takes no longer than it must."""
HOSTILE: tuple[Any, ...] = (
    None, "x", b"x", float("nan"), float("inf"), -float("inf"), -1, -0.5, 0, 0.5, 1.5, 10**9,
    10**400, 1e308, 5e-324, 1j, True, object(), int, {}, {"x": 1}, set(), [], ["x"],
    [[0.1], [0.2, 0.3]], [float("nan")], [10**400], np.array(0.3), np.array([[[1.0]]]),
    np.array([1j]), np.array(["2020-01-01"], dtype="datetime64[D]"), lambda *_: 0,
)  # fmt: skip
ROOM = 3 << 30
"""Of addresses, of which libraries reserve some gigabytes that they do not fill."""
SECONDS = 20
MODULES = (bc, bc.estimators, bc.scores, bc.plots, bc.simulate, bc.validation)
OF_OTHERS = {"ax", "axes", "estimator", "progress", "options", "args", "kwargs"}
"""Arguments that belong to matplotlib and scikit-learn, or are passed on."""
OBJECTS = {"cmp", "dataset", "frame", "path", "post", "result"}
"""Arguments that are one object, of a class of which there is no hostile value."""
NOT_CALLED = {"of_draws", "from_dask", "from_frame", "from_parquet", "of_family", "to_html"}
OF_DATASETS = {"coverage_table", "rank_ecdf", "uniformity"}
"""Methods that take objects alone, or write files."""
HAVE_NAN = {f"estimators.{name}" for name in ("giviti_test", "ks_test", "kuiper_test")} | {
    "estimators.spiegelhalter_test",
    "estimators.skce_test",
}
"""Of whose results a part may be undefined."""


@cache
def objects() -> dict[str, Any]:
    """One of each object that a user holds, by the name of its class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cmp = bc.compare(OUTCOME, SCORE, draws=400, random_state=0)
        return {
            "CalibrationData": bc.CalibrationData(OUTCOME, SCORE),
            "CalibrationPosterior": bc.fit(OUTCOME, SCORE, draws=400, random_state=0),
            "CurveComparison": cmp,
            "Assessment": bc.assess(OUTCOME, SCORE, draws=400, random_state=0),
            "Consistency": bc.check_consistency(cmp.posterior, n_resamples=20, random_state=0),
            "RecalibrationGain": bc.recalibration_gain(
                OUTCOME, SCORE, np.sqrt(SCORE), draws=400, random_state=0
            ),
            "Truth": bc.simulate.truth("D1"),
        }


def values(owner: str) -> dict[str, Any]:
    """What arguments without a default are, by their names."""
    post = objects()["CalibrationPosterior"]
    return CALM | {
        "after": np.sqrt(SCORE),
        "before": SCORE,
        "cells": np.arange(N) // 10,
        "chunks": [(OUTCOME, SCORE)],
        "cmp": objects()["CurveComparison"],
        "curve": "logistic",
        "draws": 400,
        "hits": [1, 2],
        "mean_score": 0.3,
        "minimum": 0.01,
        "n": 10,
        "name": {"simulate": "D1", "CurveComparison": "logistic"}.get(owner, "tce"),
        "n_jobs": 1,
        "post": post,
        "prior": "neutral",
        "prob": 0.5,
        "result": objects()["RecalibrationGain"],
        "score": [0.1, 0.6],
        "scores": SCORE,
        "shape": "shifted",
        "sizes": [50],
        "thresholds": [0.2, 0.5],
        "trials": [4, 5],
        "truth": MATRIX,
        "truths": ["D1"],
        "x": 0.05,
        "X": SCORE,
        "y": OUTCOME,
        "y_prob": SCORE,
        "y_proba": MATRIX,
        "y_true": OUTCOME,
    }


def methods(value: Any, owner: str) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    for name, member in inspect.getmembers(type(value), callable):
        if name.startswith("_") or name in NOT_CALLED or not inspect.isroutine(member):
            continue
        yield owner, f"{owner}.{name}", getattr(value, name)


def functions() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Whose it is, what it is called, and a function that is called with keywords."""
    for module in MODULES:
        owner = module.__name__.split(".")[-1]
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) and name not in OF_DATASETS:
                yield owner, f"{owner}.{name}", value
            elif name in objects():
                yield from methods(objects()[name], name)


def recalibrated(made: type, X: Any, y: Any, sample_weight: Any, new: Any, options: Any) -> Any:
    if made is bc.recalibrate.RecalibratedClassifier:
        classifier = LogisticRegression().fit(SCORE[:, None], OUTCOME)
        options = {"estimator": classifier} | options
    return made(**options).fit(X, y, sample_weight).predict_proba(new)


def calls() -> Iterator[tuple[str, str, Callable[[Any], Any]]]:
    """What is attacked, by which argument, and the call that takes its value."""
    for owner, name, function in functions():
        known = values(owner)
        parameters = inspect.signature(function).parameters
        asked = {
            key: known[key]
            for key, parameter in parameters.items()
            if key in known
            and (parameter.default is parameter.empty or key in CALM or key == "y_prob")
        }
        for key in sorted(parameters.keys() - OF_OTHERS - OBJECTS):
            yield name, key, partial(_keyword, function, asked, key)
    for name in bc.recalibrate.__all__:
        made = getattr(bc.recalibrate, name)
        if made is bc.recalibrate.Recalibrator:
            continue
        X = SCORE[:, None] if name == "RecalibratedClassifier" else SCORE
        given = {"X": X, "y": OUTCOME, "sample_weight": None, "new": X, "options": {}}
        function = partial(recalibrated, made)
        for key in given:
            if key != "options" and not (key in ("X", "new") and name == "RecalibratedClassifier"):
                yield f"recalibrate.{name}", key, partial(_keyword, function, given, key)
        for key in sorted(inspect.signature(made).parameters.keys() - OF_OTHERS):
            yield f"recalibrate.{name}", key, partial(_option, function, given, key)


def _keyword(function: Callable[..., Any], asked: dict[str, Any], key: str, value: Any) -> Any:
    return function(**asked | {key: value})


def _option(function: Callable[..., Any], given: dict[str, Any], key: str, value: Any) -> Any:
    return function(**given | {"options": {key: value}})


def numbers(result: Any) -> Iterator[Any]:
    """All floating-point numbers of a result, as arrays."""
    if isinstance(result, (float, np.floating)):
        yield np.asarray(result)
    elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
        yield result
    elif isinstance(result, (tuple, list)):
        for part in result:
            yield from numbers(part)
    elif is_dataclass(result) and not isinstance(result, type):
        for field in fields(result):
            yield from numbers(getattr(result, field.name))


@contextmanager
def confined() -> Iterator[None]:
    """At most a gigabyte more memory, and some seconds."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"not finished after {SECONDS} s")

    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    old = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, old[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, old)


def attack(call: Callable[[Any], Any], value: Any) -> str:
    """What is wrong with what comes back; empty if nothing is."""
    try:
        with warnings.catch_warnings(), confined():
            warnings.simplefilter("ignore")
            result = call(value)
    except bc.errors.InputError as error:
        return "" if len(str(error)) < 600 else "the message is too long"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        plt.close("all")
    return "NaN" if any(np.isnan(array).any() for array in numbers(result)) else ""


SLOW = ("build_model", "coverage", "sbc", "BayesianRecalibrator")
"""Of these each call takes long."""
PARTS = 12
"""Of the test with all values, so that none takes long."""


def wrongs(attacked: Iterator[tuple[tuple[str, str, Callable[[Any], Any]], Any]]) -> list[str]:
    wrong = []
    for (name, key, call), value in attacked:
        problem = attack(call, value)
        if problem and not (problem == "NaN" and name in HAVE_NAN):
            wrong.append(f"{name}({key}={value!r:.30}): {problem}")
    return wrong


def test_every_argument_is_attacked() -> None:
    fast = [call for call in calls() if not any(part in call[0] for part in SLOW)]
    assert not wrongs((call, HOSTILE[7 * index % len(HOSTILE)]) for index, call in enumerate(fast))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_argument_is_attacked_by_everything(part: int) -> None:
    assert not wrongs((call, value) for call in list(calls())[part::PARTS] for value in HOSTILE)


def test_an_attack_sees_what_is_wrong() -> None:
    def fails(value: Any) -> None:
        raise TypeError("a traceback")

    assert attack(fails, None) == "TypeError: a traceback"
    assert attack(lambda value: np.array([value]), float("nan")) == "NaN"
    assert "MemoryError" in attack(lambda value: np.ones(value), 10**9)
    assert not attack(lambda value: bc.estimators.ece([0, 1], [0.1, value]), 2)
