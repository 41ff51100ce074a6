"""Whatever a person could pass by mistake, and the public functions to pass it to.

The functions are those that the modules offer, so that a new one is attacked from its first day.
What must be known of it is a value for each argument without a default, by its name.
"""

from __future__ import annotations

import inspect
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.linear_model import LogisticRegression

import bayescal as bc

N = 40
SCORE = np.round(np.linspace(0.02, 0.97, N), 3)
OUTCOME = (np.arange(N) * 7 % 10 / 10 < SCORE).astype(int)
PERIOD = np.arange(N) % 4
TIME = np.linspace(0.05, 2, N)
MATRIX = np.column_stack([1 - SCORE, SCORE])
CALM = {"draws": 200, "n_resamples": 100, "n_simulations": 4, "n_repeats": 1, "random_state": 0}
"""So that a call takes no longer than it must."""
SHAPES = {"RecalibratedClassifier": SCORE[:, None], "VarianceRecalibrator": MATRIX}
"""What is not fitted to a vector of probabilities."""
GIVEN = {*CALM, "after", "before", "models", "recalibrator", "thresholds", "y_prob", "y_proba"}
"""Arguments that are passed although they have a default."""
HOSTILE = (
    None, "x", b"x", "", "x" * 5000, float("nan"), float("inf"), -float("inf"), -1, -0.5, 0, 0.5,
    1.5, 10**9, 10**400, 1e308, 5e-324, 1j, True, object(), int, {}, {"x": 1}, set(), [], ["x"],
    [[0.1], [0.2, 0.3]], [float("nan")], [10**400], np.array(0.3), np.array([[[1.0]]]),
    np.array([1j]), np.array(["2020-01-01"], dtype="datetime64[D]"), lambda *_: 0,
    pd.DataFrame({"x": [1]}), pd.NA, Path("x"),
)  # fmt: skip
ARRAYS = {"y_true", "y_prob", "y_proba", "y", "X", "new", "before", "after", "site", "cells"} | {
    "cluster", "stratum", "period", "time", "event", "entry",
    "sample_weight", "features", "offset", "truth", "scores", "mean", "variance",
}  # fmt: skip
"""Arguments with one entry a case."""


def _with(first):
    return [first, *SCORE[1:].tolist()]


HOSTILE_CASES = (
    *map(
        _with, (None, "x", "x" * 5000, pd.NA, np.nan, np.inf, -1, 1.5, 10**400, 1j, True, {}, [1])
    ),
    *(np.full(N, value) for value in (1e308, 1e-300, 1e15, 0.0, -0.0, np.nan, np.inf, -1.0)),
    *(np.array(_with(value)) for value in (1e300, 1e-300, 1e15, -1e-9, 1 + 1e-9)),
    pa.array([None, *SCORE[1:].tolist()]),
    pa.nulls(N),
    pd.Series([None, *SCORE[1:]], dtype="Float64"),
    pd.Series(SCORE, index=[1, "a", None, *range(N - 3)]),
    np.ma.masked_less(SCORE, 0.1),
    SCORE[::-1, None],
    np.full((N, 2), np.timedelta64(1, "s")),
    np.full(N, "2020-01-01", dtype="datetime64[D]"),
    MATRIX / 2,
    (SCORE > 0.5).astype(int),
    (SCORE < 0.5).astype(int),
    np.ones(N),
    ["a"] * N,
    [{}] * N,
)
"""As long as the cases, so that it is looked into."""
CLUSTERED = ("bayescal.fit", "bayescal.compare", "bayescal.assess", "bayescal.recalibration_gain")
"""What is attacked with clusters too, by outcomes that are separated or of one class."""
FOLLOWED = ("bayescal.fit", "bayescal.compare", "bayescal.assess", "bayescal.CalibrationData")
"""What is attacked with times to an event too, since only they have a horizon."""
ROOM = 3 << 30
"""Of addresses, of which libraries reserve some gigabytes that they do not fill."""
SECONDS = 90
"""NUTS may take over, and first compile its model."""
LONGEST_MESSAGE = 600
FOREIGN = re.compile("has no attribute|truth value of|ufunc|inhomogeneous|array element with")
"""What other libraries say of a value that they cannot use."""
MODULES = (
    bc, bc.estimators, bc.scores, bc.plots, bc.simulate, bc.validation, bc.curves, bc.priors,
    bc.planning,
)  # fmt: skip
CONSTRUCTORS = {
    "bayescal": (
        "CalibrationData",
        "CalibrationPosterior",
        "MultilevelPosterior",
        "Survival",
    ),
    "priors": ("Heterogeneity", "Normal", "StudentT", "Prior"),
    "simulate": ("BetaScores", "LogitNormalScores"),
}
"""Classes of which a person makes objects."""
OF_OTHERS = {"estimator", "options", "args", "kwargs", "details"}
"""Arguments that are scikit-learn's, or passed on."""
ALSO = {"path": "file", "new": "X", "chunks": "chunk", "truths": "truth", "axes": "ax"}
"""What errors may call an argument instead."""
NOT_CALLED = {"of_draws", "of_posteriors", "in_average", "stored_curve"} | {
    "average_of", "MODEST", "PRESETS", "CURVES", "AVERAGE", "register", "unregister", "updates",
    "as_prior", "worded",
}  # fmt: skip
"""What no person calls, or what changes the families for all tests."""


@dataclass(frozen=True)
class Call:
    """A public function with good values for what it needs.

    Attributes
    ----------
    name : str
    function : callable
    given : dict
        Values of arguments.
    arguments : tuple of str
        All that can be attacked.
    """

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]
    arguments: tuple[str, ...] = field(default=())

    def __call__(self, **changed):
        """Call it in a temporary folder, where functions that write may write."""
        with chdir(scratch().name):
            return self.function(**self.given | changed)


@cache
def objects():
    """One of each object that a user holds, by the name of its class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cmp = bc.compare(OUTCOME, SCORE, draws=400, random_state=0)
        return {
            "CalibrationData": bc.CalibrationData(OUTCOME, SCORE),
            "CalibrationPosterior": cmp.posterior,
            "CurveComparison": cmp,
            "Assessment": bc.assess(
                OUTCOME, SCORE, site=np.arange(N) % 2, draws=400, random_state=0
            ),
            "Consistency": bc.check_consistency(cmp.posterior, n_resamples=20, random_state=0),
            "RecalibrationGain": bc.recalibration_gain(
                OUTCOME, SCORE, np.sqrt(SCORE), draws=400, random_state=0
            ),
            "Truth": bc.simulate.truth("D1"),
            "VarianceGain": bc.variance_gain(OUTCOME, SCORE, SCORE, np.sqrt(SCORE), random_state=0),
            "fit": bc.fit(OUTCOME, SCORE, curve="logistic", draws=400, random_state=0),
            "periods": bc.fit(OUTCOME, SCORE, period=PERIOD, draws=400, random_state=0),
            "MultilevelPosterior": bc.fit(
                OUTCOME, SCORE, site=np.arange(N) % 3, draws=400, random_state=0
            ),
            "imputed": bc.compare(
                OUTCOME, imputation=[SCORE, SCORE**0.9], draws=400, random_state=0
            ).posterior,
            "subgroups": bc.fit(
                OUTCOME,
                SCORE,
                subgroup={"a": np.arange(N) % 2, "b": np.arange(N) % 3},
                curve="intercept",
                engine="importance",
                draws=400,
                random_state=0,
            ),
        }


@cache
def folder():
    """Files to read: a posterior, a table, a report and cases."""
    made = tempfile.TemporaryDirectory()
    at, known = Path(made.name), objects()
    known["CalibrationPosterior"].to_netcdf(at / "posterior.nc")
    known["CalibrationData"].to_netcdf(at / "table.nc")
    known["Assessment"].to_html(at / "report.html")
    pd.DataFrame({"y": OUTCOME, "p": SCORE}).to_parquet(at / "cases.parquet")
    return made


@cache
def scratch():
    """Where every call runs, whose files are named by whatever it is attacked with."""
    return tempfile.TemporaryDirectory()


def values(owner):
    """What arguments without a default are, by their names."""
    made = objects()
    return CALM | {
        "a": 1.0,
        "after": np.sqrt(SCORE),
        "b": 1.0,
        "before": SCORE,
        "cells": np.arange(N) // 10,
        "chunks": [(OUTCOME, SCORE)],
        "cmp": made["CurveComparison"],
        "curve": "logistic",
        "draws": 400,
        "frame": pd.DataFrame({"y": OUTCOME, "p": SCORE}),
        "group": None,
        "hits": [1, 2],
        "limit": 0.05,
        "mean": 0.0 if owner in ("priors", "simulate") else SCORE,
        "mean_score": 0.3,
        "minimum": 0.01,
        "mu": 0.0,
        "models": {"old": SCORE, "new": SCORE**0.9},
        "n": 10,
        "name": {"simulate": "D1", "CurveComparison": "logistic"}.get(owner, "tce"),
        "n_jobs": 1,
        "nu": 3.0,
        "outcome": "y",
        "post": made["CalibrationPosterior"],
        "posts": made["imputed"].imputations,
        "prevalence": 0.1,
        "prior": "neutral",
        "prob": "p" if owner == "CalibrationData" else 0.5,
        "recalibrator": bc.recalibrate.LogisticRecalibrator(),
        "result": made["RecalibrationGain"],
        "score": [0.1, 0.6],
        "scores": SCORE,
        "sd": 1.0,
        "shape": "shifted",
        "sigma": 1.0,
        "sizes": [50],
        "thresholds": [0.2, 0.5],
        "trials": [4, 5],
        "truth": MATRIX,
        "truths": ["D1"],
        "variance": SCORE,
        "x": 0.05,
        "X": SCORE,
        "y": OUTCOME,
        "y_prob": SCORE,
        "y_proba": MATRIX,
        "y_true": OUTCOME,
    }


def _trace_of_model():
    post = bc.fit(OUTCOME, SCORE, curve="logistic", draws=400, random_state=0)
    return {"idata": post.tree, "model": bc.build_model(OUTCOME, SCORE, curve="logistic")}


@cache
def special():
    """Values that one function needs and others of that argument do not."""
    at, made = Path(folder().name), objects()
    plan = {
        "truth": bc.simulate.truth("clinical-middle-overconfident"),
        "width": 0.4,
        "of": "calibration_slope",
        "analysis": "wald",
        "n_simulations": 50,
    }
    mixed = TIME[np.arange(N) * 7 % N]  # whatever the score
    followed = {"y_true": bc.Survival(mixed, OUTCOME), "horizon": 1.0}
    return {
        "bayescal.build_model": {"curve": "beta"},
        "bayescal.compare_models": {"site": np.arange(N) % 3},
        "bayescal.from_pymc": _trace_of_model(),
        "bayescal.load": {"path": at / "posterior.nc"},
        "bayescal.read_report": {"path": at / "report.html"},
        "bayescal.optimism": {
            "estimator": LogisticRegression(),
            "X": SCORE[:, None],
            "n_folds": 2,
            "n_resamples": 10,
        },
        "bayescal.update": {"post": made["fit"]},
        "bayescal.Survival": {"time": TIME, "event": OUTCOME},
        "bayescal.CalibrationPosterior": {"tree": made["fit"].tree},
        "bayescal.MultilevelPosterior": {"tree": made["MultilevelPosterior"].tree},
        "Assessment.group": {"name": "1"},
        "MultilevelPosterior.gain_of_updating": {"self": made["periods"]},
        "MultilevelPosterior.to_netcdf": {"path": "sites.nc"},
        "bayescal.plan": plan,
        "bayescal.prior_sensitivity": {"post": made["fit"]},
        "planning.plan": plan,
        "planning.riley": {
            "prevalence": 0.2,
            "c_statistic": 0.75,
            "log_odds": (0, 1),
            "widths": {"observed_expected": 0.3, "c_statistic": 0.1, "calibration_slope": 0.2},
        },
        "plots.plan": {"result": bc.plan(**plan, random_state=0)},
        "priors.from_posterior": {"post": made["MultilevelPosterior"]},
        "priors.from_studies": {"calibration_slope": [(0.9, 0.8, 1.0)] * 3},
        "simulate.scores": {"prevalence": 0.2, "c_statistic": 0.75},
        "Assessment.to_html": {"path": "report.html"},
        "Assessment.to_word": {"path": "report.docx"},
        "CalibrationData.of_site": {"label": "A"},
        "CalibrationData.from_counts": {"prob": [0.1, 0.6]},
        "CalibrationData.from_imputations": {"tables": [made["CalibrationData"]] * 2},
        "CalibrationData.from_netcdf": {"path": at / "table.nc"},
        "CalibrationData.from_frame": {"outcome": "y", "prob": "p"},
        "bayescal.read": {"path": at / "cases.parquet", "outcome": "y"},
        "CalibrationData.from_xarray": {"dataset": made["CalibrationData"].to_xarray()},
        "CalibrationData.to_netcdf": {"path": "table.nc"},
        "CalibrationPosterior.to_netcdf": {"path": "posterior.nc"},
        "estimators.estimator_bias": {
            "estimator": "ece",
            "sample": lambda rng: (OUTCOME, SCORE, np.sqrt(SCORE)),
        },
        "estimators.probabilistic_kendall_tau": {"truth": np.sqrt(SCORE)},
        "estimators.censoring_depends_on_score": followed,
        "estimators.ipcw_brier_score": followed | {"method": "ipcw"},
        "estimators.survival_curve": followed | {"method": "pseudo"},
        "estimators.survival_indices": followed | {"method": "pseudo"},
        "estimators.survival_observed_expected": followed,
        "plots.missing_outcomes": {"result": _known(), "close": 0.05, "deltas": [0.0, 0.5]},
        "plots.risks": {"y_prob": 0.3},
        "plots.drift": {"post": made["periods"]},
        "plots.consistency": {"result": made["Consistency"]},
        "plots.prior_posterior": {"post": made["fit"]},
        "simulate.ead": {"curve": np.sqrt, "truth": "D1"},
        "plots.site_curves": {"post": made["MultilevelPosterior"]},
        "plots.value_of_information": {"dataset": made["fit"].value_of_information([0.2, 0.5], 50)},
    }


def _known():
    known = [None if case % 4 == 0 else outcome for case, outcome in enumerate(OUTCOME.tolist())]
    return bc.fit_known(known, SCORE, curve="logistic", draws=400, random_state=0)


def _callables():
    """Whose it is, what it is called, and a function that is called with keywords."""
    for module in MODULES:
        owner = module.__name__.split(".")[-1]
        for name in module.__all__:
            value = getattr(module, name)
            made = name in CONSTRUCTORS.get(owner, ())
            if (inspect.isfunction(value) and name not in NOT_CALLED) or made:
                yield owner, f"{owner}.{name}", value
            if name in objects():
                for method, member in inspect.getmembers(value, callable):
                    public = not method.startswith("_") and method not in NOT_CALLED
                    if public and inspect.isroutine(member):
                        yield name, f"{name}.{method}", getattr(objects()[name], method)


def calls():
    """Every public function, method and recalibrator."""
    for owner, name, function in _callables():
        own = special().get(name, {})
        known = values(owner) | own
        parameters = inspect.signature(function).parameters
        if "truth" in parameters and owner == "scores":  # of every class
            known["y_prob"] = MATRIX
        given = {
            key: known[key]
            for key, parameter in parameters.items()
            if key in known and (parameter.default is parameter.empty or key in GIVEN or key in own)
        }
        keywords = {key for key, each in parameters.items() if each.kind is not each.VAR_POSITIONAL}
        yield Call(name, function, given, tuple(sorted(keywords - OF_OTHERS)))
        if name in CLUSTERED:
            yield Call(f"{name} of clusters", function, given | {"cluster": PERIOD}, ("y_true",))
        if name in FOLLOWED:
            followed = {"y_true": bc.Survival(TIME, OUTCOME), "horizon": 1.0}
            keys = "horizon", "sample_weight", "y_prob"
            yield Call(f"{name} of times", function, given | followed, keys)
    for name in bc.recalibrate.__all__:
        made = getattr(bc.recalibrate, name)
        if made is bc.recalibrate.Recalibrator:
            continue
        X = SHAPES.get(name, SCORE)
        given = {"X": X, "y": OUTCOME, "sample_weight": None, "new": X}
        attacked = ["sample_weight", "y"] + ["X", "new"] * (name != "RecalibratedClassifier")
        options = sorted(inspect.signature(made).parameters.keys() - OF_OTHERS)
        yield Call(
            f"recalibrate.{name}", partial(_recalibrated, made), given, (*attacked, *options)
        )


def _recalibrated(made, X, y, sample_weight, new, **options):
    if made is bc.recalibrate.RecalibratedClassifier:
        classifier = LogisticRegression().fit(SCORE[:, None], OUTCOME)
        options = {"estimator": classifier} | options
    if made is bc.recalibrate.VarianceRecalibrator:
        return made(**options).fit(X, y, sample_weight).transform(new)
    return made(**options).fit(X, y, sample_weight).predict_proba(new)


@contextmanager
def confined():
    """At most some gigabytes more of memory, and some seconds; only Linux can limit both."""
    if sys.platform != "linux":
        yield
        return
    import resource

    def late(*_):
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


def attack(call, key, value):
    """What is wrong with what comes back; empty if nothing is."""
    try:
        with warnings.catch_warnings(), confined():
            warnings.simplefilter("ignore")
            result = call(**{key: value})
    except bc.errors.SeparationError as error:
        return fault(str(error), "y_true")
    except bc.errors.InputError as error:
        return fault(str(error), key)
    except OSError as error:
        cannot_be_written = key == "path" and not isinstance(error, TimeoutError)
        return "" if cannot_be_written else f"{type(error).__name__}: {error}"[:200]
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        plt.close("all")
    if any(np.isnan(array).any() for array in numbers(result)):
        return "NaN"
    # A tree of an average has no value of what a draw's family does not have.
    ours = type(result).__module__.startswith("bayescal.") and not hasattr(result, "to_netcdf")
    return "NaN is printed" if ours and re.search(r"\bnan\b", repr(result)) else ""


def fault(message, key):
    """Why an error does not tell a person what to mend; empty if it does."""
    if "\n" in message:
        return f"more than a line: {message!r}"
    if len(message) >= LONGEST_MESSAGE:
        return f"{len(message)} characters: {message!r:.80}"
    names = "|".join(re.escape(name) for name in (key, ALSO.get(key, key)))
    if not re.search(rf"(?<![a-z])({names})(?![a-z])", message):
        return f"{key} is not named: {message}"
    if FOREIGN.search(message):
        return f"another library speaks: {message}"
    return ""


def numbers(result):
    """All floating-point numbers of a result, as arrays."""
    if isinstance(result, (float, np.floating)):
        yield np.asarray(result)
    elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
        yield result
    elif isinstance(result, (tuple, list)):
        for part in result:
            yield from numbers(part)
    elif isinstance(result, bc.Survival):
        known = (result.time, result.event, result.entry)
        yield from numbers([each.astype(float) for each in known if each is not None])
    elif is_dataclass(result) and not isinstance(result, type):
        for one in fields(result):
            yield from numbers(getattr(result, one.name))
