"""Labels on every array of cases that a public function takes, and what may go wrong with them.

Which arguments these are is read from the docstrings, so that a new function is looked at from its
first day. What must be known of it is a value for each such argument, by its name.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from attacks import MATRIX, OUTCOME, SCORE, TIME, Call, N, calls, numbers, objects
from bayescal.errors import InputError

NOT_OF_CASES = {
    "k", "points", "n_thresholds", "n_scores", "n_sizes", "n_classes", "classes", "clusters",
    "sites",
}  # fmt: skip
"""Lengths of arrays that have an entry for something else than a case (or a row of a table)."""


def _halves(outcome):
    """0 or 1 for each case, both of as many events and others, where these are even."""
    return np.where(outcome, np.cumsum(outcome), np.cumsum(1 - outcome)) % 2


COLUMNS = {
    "X": SCORE,
    "after": np.sqrt(SCORE),
    "before": SCORE,
    "cells": np.arange(N) * 7 % 5,
    "cluster": np.arange(N) * 3 % 11,
    "entry": np.arange(N) % 3 / 100,
    "event": OUTCOME,
    "features": np.column_stack([np.arange(N) * 7 % 5, np.arange(N) % 3]).astype(float),
    "hits": np.arange(N) % 2,
    "imputation": _halves(OUTCOME),
    "logits": np.log(MATRIX),
    "mean": SCORE,
    "offset": np.arange(N) % 2 / 2,
    "period": np.arange(N) % 4,
    "sample_weight": 1 + np.arange(N) * 7 % 3,
    "prob": SCORE,
    "scores": SCORE,
    "site": np.arange(N) % 3,
    "stratum": np.arange(N) * 3 % 11 % 2,
    "time": TIME,
    "trials": 1 + np.arange(N) % 3,
    "truth": MATRIX,
    "variance": SCORE,
    "y": OUTCOME,
    "y_prob": SCORE,
    "y_proba": MATRIX,
    "y_true": OUTCOME,
}
"""A value for each case, by the name of the argument."""
IMPUTED = {"imputation": [SCORE, SCORE**0.9]}
"""A matrix in place of the scores."""
SPECIAL = {
    "bayescal.assess": IMPUTED,
    "bayescal.compare": IMPUTED,
    "bayescal.fit": IMPUTED,
    "bayescal.recalibration_gain": IMPUTED,
    "bayescal.update": IMPUTED,
    "CalibrationData.from_counts": {"trials": np.full(N, 3), "imputation": np.arange(N) // 2 % 2},
    "bayescal.optimism": {"X": np.column_stack([SCORE, COLUMNS["features"]])},
    "estimators.probabilistic_kendall_tau": {"truth": np.sqrt(SCORE)},
    "recalibrate.VarianceRecalibrator.fit": {"X": MATRIX},
    "recalibrate.VarianceRecalibrator.fit_transform": {"X": MATRIX},
    "recalibrate.RecalibratedClassifier.fit": {"X": COLUMNS["features"]},
    "recalibrate.RecalibratedClassifier.score": {"X": COLUMNS["features"]},
    "BayesianCalibrationDisplay.from_estimator": {"X": COLUMNS["features"]},
    "scores.canonical_calibration_error": {"y_prob": MATRIX},
    "scores.class_wise_calibration_error": {"y_prob": MATRIX},
    "scores.proper_calibration_error": {"y_prob": MATRIX},
    "scores.proper_decomposition": {"y_prob": MATRIX},
    "scores.top_label_calibration_error": {"y_prob": MATRIX},
}
"""Values of one function where the name means something else."""
IN_PLACE_OF = {"y_prob", "before", "after"}
"""Arguments that a matrix of imputations cannot stand beside."""
ONE_OF_EACH_CASE = {"site": {"after"}, "period": {"after"}}
"""Arguments that are no matrix beside others."""
NOT_TAKEN = {
    "bayescal.build_model": {"cluster", "stratum", "imputation"},
    "bayescal.compare": {"site", "period"},
    "bayescal.compare_models": {"period", "stratum", "imputation"},
    "bayescal.tce_lower_bound": {"imputation"},
}
"""Roles that a door refuses, whatever they hold."""
WITH = {"entry": "event", "stratum": "cluster"}
"""Arguments that need another."""


@cache
def given_with():
    """What a function needs for one of its arguments; fits, which a collection does without."""
    clustered = bc.fit(OUTCOME, SCORE, cluster=np.arange(N) // 2, curve="logistic", draws=400)
    stratified = bc.fit(
        OUTCOME, SCORE, cluster=np.arange(N), stratum=np.arange(N) % 2, curve="logistic", draws=400
    )
    return {
        ("bayescal.update", "cluster"): {"post": clustered},
        ("bayescal.update", "stratum"): {"post": stratified},
        ("bayescal.update", "site"): {"post": objects()["MultilevelPosterior"]},
        ("bayescal.update", "period"): {"post": objects()["periods"]},
        ("bayescal.recalibration_gain", "imputation"): {"after": np.sqrt},
        ("bayescal.optimism", "site"): {"n_folds": None, "n_repeats": None},
    }


OTHER_FORMS = {
    r"\(\.\.\., n": (np.stack([OUTCOME, OUTCOME[::-1]]), True),
    r"\(repeats, n\)": (np.stack([np.sqrt(SCORE), SCORE]), True),
    r"\(m, n\)": (np.stack([SCORE, SCORE**0.9]), True),
    r"n_classes\)": (MATRIX, False),
}
"""Matrices for arguments whose description allows them, and whether cases are their columns."""
LABELS = np.array([f"case {k}" for k in range(N)])
SHUFFLED = np.random.default_rng(1).permutation(N)
EVERY, FIRST, LATER = np.arange(N), np.arange(N - 1), np.arange(1, N)


@dataclass(frozen=True)
class Paired:
    """A function, and which of its arguments have an entry for each case.

    Attributes
    ----------
    name : str
    function : callable
    given : dict
        Its other arguments.
    columns : tuple of str
        Arguments of cases that are always given.
    optional : tuple of str
        Those that can be added, one at a time.
    form : tuple of (str, array, bool), optional
        An argument that is a matrix, and whether cases are its columns.
    """

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]
    columns: tuple[str, ...]
    optional: tuple[str, ...]
    form: tuple[str, Any, bool] | None = None

    def sets(self):
        """Which arguments of cases are passed together."""
        for names in ((), *((name,) for name in self.optional)):
            needed = tuple(WITH[name] for name in names if name in WITH)
            is_matrix = any(
                name == "imputation" and np.ndim(self.value(name, EVERY)) == 2 for name in names
            )
            refused = IN_PLACE_OF if is_matrix else set()
            together = *(one for one in self.columns if one not in refused), *needed, *names
            single = {one for name in names for one in ONE_OF_EACH_CASE.get(name, ())}
            if self.form is None or self.form[0] in set(together) - single:
                yield together

    def __call__(self, columns):
        given = dict(self.given)
        for name in columns:
            given |= given_with().get((self.name.removesuffix(" of clusters"), name), {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.function(**given | columns)

    def value(self, name, at):
        """The value of an argument for some cases."""
        if self.form is not None and self.form[0] == name:
            return self.form[1][:, at] if self.form[2] else self.form[1][at]
        values = SPECIAL.get(self.name.removesuffix(" of clusters"), {}).get(name, COLUMNS[name])
        return [each[at] for each in values] if isinstance(values, list) else values[at]

    def labelled(self, name, at, labels):
        """The same as a series, a frame or a list of series."""
        values = self.value(name, at)
        if isinstance(values, list):
            return [pd.Series(each, index=labels) for each in values]
        if self.form is not None and self.form[0] == name and self.form[2]:
            return pd.DataFrame(values, columns=labels)
        return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=labels)


def array_arguments(function):
    """Arguments with an entry for each case, by the docstring, or else by the annotation."""
    described = _described(inspect.getdoc(function) or "")
    of_cases = []
    for name, parameter in inspect.signature(function).parameters.items():
        about, kind = described.get(name, ""), str(parameter.annotation)
        if not about and re.search("ArrayLike|Outcomes", kind) and not kind.startswith("Callable"):
            of_cases.append(name)
        shapes = re.findall(r"\(([\w., ]*)\)", about) if "array-like" in about else []
        lengths = {length.strip() for shape in shapes for length in shape.split(",")} - {"", "1"}
        if "array-like" in about and not (lengths and lengths <= NOT_OF_CASES):
            of_cases.append(name)
    return of_cases


def _described(docstring):
    """What a numpydoc docstring says of each parameter: `array-like of shape (n,)`."""
    listed = docstring.partition("Parameters\n")[2].partition("\nReturns\n")[0]
    lines = re.findall(r"^(\*{0,2}\w[\w, *]*?) : (.*)$", listed, flags=re.M)
    return {name.strip(" *"): kind for names, kind in lines for name in names.split(",")}


def paired(call, described=None):
    """A call with its arguments of cases, in each of their forms; none if these are fewer than two.

    The docstring and the signature may be those of another function.
    """
    function = described or call.function
    arguments = array_arguments(function)
    if len(arguments) < 2:
        return
    parameters = inspect.signature(function).parameters
    needed = {name for name in arguments if parameters[name].default is inspect.Parameter.empty}
    usual = needed | {"y_prob", "y_proba", "before", "after", "y"}
    columns = tuple(name for name in arguments if name in usual)
    given = {name: value for name, value in call.given.items() if name not in arguments}
    refused = NOT_TAKEN.get(call.name.removesuffix(" of clusters"), set())
    others = tuple(name for name in arguments if name not in columns and name not in refused)
    base = Paired(call.name, call.function, given, columns, others)
    yield base
    about = _described(inspect.getdoc(function) or "")
    for name in arguments:
        for shape, (values, across) in OTHER_FORMS.items():
            known = SPECIAL.get(call.name.removesuffix(" of clusters"), {}).get(name, COLUMNS[name])
            if re.search(shape, about.get(name, "")) and np.shape(known) != values.shape:
                yield replace(base, form=(name, values, across))


def every_paired():
    """Every public function, method and recalibrator with two arrays of cases or more."""
    for call in calls():
        if not call.name.startswith("recalibrate.") and not call.name.endswith("of times"):
            yield from paired(call)
    for name in bc.recalibrate.__all__:
        made = getattr(bc.recalibrate, name)
        if made is not bc.recalibrate.Recalibrator:
            yield from _of_recalibrator(name, made)
    display = bc.plots.BayesianCalibrationDisplay
    classifier = LogisticRegression().fit(COLUMNS["features"], OUTCOME)
    for method in ("from_predictions", "from_estimator"):
        given = {"draws": 400, "random_state": 0}
        given |= {"estimator": classifier} if method == "from_estimator" else {}
        function = getattr(display, method)
        yield from paired(Call(f"BayesianCalibrationDisplay.{method}", function, given))


def _of_recalibrator(name, made):
    """Its fit, and each method that takes more of a case than its probability."""
    for method, member in inspect.getmembers(made, inspect.isfunction):
        if not method.startswith("_") and not method.startswith("set_"):
            use = partial(_used, made, method)
            yield from paired(Call(f"recalibrate.{name}.{method}", use, {}), member)


def _used(made, method, **columns):
    """What a method answers; of `fit`, what is then predicted."""
    also = tuple(name for name in ("features", "logits") if name in columns)
    if method == "fit":
        fitted = _unfitted(made).fit(**columns)
        answer = "transform" if hasattr(made, "transform") else "predict_proba"
        return getattr(fitted, answer)(_first(made), **{name: COLUMNS[name] for name in also})
    used = _unfitted(made) if method == "fit_transform" else _fitted(made, also)
    extra = {"n_bins": 2} if method == "breadth_first_bins" else {}
    return getattr(used, method)(**columns, **extra)


def _first(made):
    """What a recalibrator learns from, beside the outcomes."""
    X = SPECIAL.get(f"recalibrate.{made.__name__}.fit", COLUMNS)["X"]
    return X


def _unfitted(made):
    if made is bc.recalibrate.RecalibratedClassifier:
        return made(LogisticRegression().fit(_first(made), OUTCOME))
    known = {"draws": 400, "random_state": 0}
    options = inspect.signature(made).parameters.keys() & known.keys()
    return made(**{name: known[name] for name in options})


@cache
def _fitted(made, also):
    return _unfitted(made).fit(_first(made), OUTCOME, **{name: COLUMNS[name] for name in also})


def wrongs(function):
    """Labels that are ignored: none if shuffled, shifted and other labels are seen, in each pair.

    Only two arguments at a time have labels, since others can show what two do not.
    """
    wrong = []
    for columns in function.sets():
        expected = []
        for first, second in combinations(columns, 2):
            for fault, at, of_first, of_second, labels in (
                ("shuffled", EVERY, EVERY, SHUFFLED, LABELS[SHUFFLED]),
                ("shifted by one", FIRST, FIRST, LATER, LABELS[LATER]),
                ("labelled as others", EVERY, EVERY, EVERY, LABELS[::-1].astype(object) + "'"),
            ):
                given = {name: function.value(name, at) for name in columns}
                given[first] = function.labelled(first, of_first, LABELS[of_first])
                given[second] = function.labelled(second, of_second, labels)
                try:
                    answer = function(given)
                except InputError as error:
                    if "to_numpy()" not in str(error):
                        wrong.append(f"{function.name}: {second} {fault}: refused for {error}")
                    continue
                if fault == "shuffled" and not expected:
                    plain = {name: function.value(name, EVERY) for name in columns}
                    expected.append(list(numbers(function(plain))))
                if fault != "shuffled" or not _equal(answer, expected[0]):
                    wrong.append(f"{function.name}: {second} {fault} beside {first}: ignored")
    return wrong


INCOMPLETE = {
    "bayescal.Survival('time',)",  # alone it would have to hold the events too
    "bayescal.tce_lower_bound('y_true', 'y_prob', 'site')",  # needs ten sites
    "bayescal.update('y_true', 'imputation')",  # the posterior is of no imputations
}
"""Sets of arguments that are refused whatever their labels."""


def accepted(function):
    """Sets of arguments that are refused, or answered otherwise, where all labels agree."""
    wrong = []
    for columns in function.sets():
        if f"{function.name}{columns}" in INCOMPLETE:
            continue
        plain = {name: function.value(name, EVERY) for name in columns}
        labelled = {name: function.labelled(name, EVERY, LABELS) for name in columns}
        try:
            answers = [list(numbers(function(given))) for given in (plain, labelled)]
        except InputError as error:
            wrong.append(f"{function.name}{columns}: {error}")
            continue
        if not _equal_numbers(*answers):
            wrong.append(f"{function.name}{columns}: another answer with labels")
    return wrong


def _equal(answer, expected):
    return bool(expected) and _equal_numbers(list(numbers(answer)), expected)


def _equal_numbers(one, other):
    return len(one) == len(other) and all(
        np.allclose(mine, theirs, 1e-9, 1e-12, equal_nan=True)
        for mine, theirs in zip(one, other, strict=True)
    )
