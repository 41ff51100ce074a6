"""No public function pairs the cases of two arguments whose labels say otherwise.

What is passed, and what may be wrong with its labels, is in `labelled`; the rule itself is tested
in `data/test_alignment.py`.
"""

import functools
import inspect

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from attacks import OUTCOME, SCORE, Call, N, calls
from bayescal.errors import InputError
from labelled import (
    COLUMNS,
    LABELS,
    SHUFFLED,
    Paired,
    accepted,
    array_arguments,
    every_paired,
    paired,
    wrongs,
)

NOT_PAIRED = {}
"""Functions that read arguments by position whatever their labels, each with the reason: none."""
ALONE = {
    "Assessment.risks",
    "CalibrationPosterior.predict",
    "CalibrationPosterior.risks",
    "MultilevelPosterior.new",
    "MultilevelPosterior.predict",
    "MultilevelPosterior.risks",
    "bayescal.plan",
    "planning.plan",
    "planning.riley",
    "plots.net_benefit",
}
"""Functions of one array, which is paired with none."""
PAIRED_ELSEWHERE = {"CalibrationPosterior.summary": "by= with population=, in posterior/test_on"}
"""Functions of two arrays, of which one may be a name: where they are tested."""
SLOW = ("build_model", "optimism", "assess", "compare", "from_predictions", "BayesianRecalibrator")
"""Of these an answer takes long, and a refusal does not."""


@functools.cache
def every():
    """All functions with two arrays of cases or more, in each form of these."""
    return list(every_paired())


def test_labels_that_differ_are_seen_in_every_function():
    ignored = [wrong for one in every() if one.name not in NOT_PAIRED for wrong in wrongs(one)]
    assert not ignored


@pytest.mark.slow
def test_the_same_labels_change_nothing():
    fast = [one for one in every() if not any(part in one.name for part in SLOW)]
    assert len(fast) > 200
    assert not [wrong for one in fast for wrong in accepted(one)]


@pytest.mark.slow
def test_the_same_labels_change_nothing_where_that_takes_long():
    slow = [one for one in every() if any(part in one.name for part in SLOW)]
    assert not [wrong for one in slow for wrong in accepted(one)]


def test_every_array_of_cases_is_found():
    """What hostile arguments attack as an array of cases is paired here too, or stands alone."""
    names = {one.name for one in every()} | ALONE | NOT_PAIRED.keys() | PAIRED_ELSEWHERE.keys()
    arrays = {name for name in COLUMNS if name != "score"}
    for call in calls():
        name = call.name.removesuffix(" of times")
        if name in names or name.startswith("recalibrate."):
            continue
        if isinstance(call.given.get("y_true"), bc.Survival):  # see test_survival_estimators
            continue
        parameters = inspect.signature(call.function).parameters
        named = {one for one in parameters if str(parameters[one].annotation).startswith("str")}
        taken = parameters.keys() & arrays - named  # names of columns are texts
        assert len(taken) < 2, (call.name, taken)
        assert not array_arguments(call.function), call.name
    for call in calls():
        if call.name in ALONE:
            assert len(array_arguments(call.function)) == 1, call.name


def careless(y_true, y_prob):
    """Pair by position.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n_samples,)

    Returns
    -------
    float
    """
    return float(np.mean((np.asarray(y_true) - np.asarray(y_prob)) ** 2))


def overcautious(y_true, y_prob):
    """Refuse labels.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n_samples,)

    Returns
    -------
    float
    """
    if hasattr(y_true, "index"):
        raise InputError("y_true has labels. Pass y_true.to_numpy().")
    return careless(y_true, y_prob)


def test_a_function_that_ignores_labels_is_found():
    (one,) = paired(Call("careless", careless, {}))
    assert one.columns == ("y_true", "y_prob")
    ignored = wrongs(one)
    assert len(ignored) == 3
    assert all(wrong.endswith("ignored") for wrong in ignored)
    assert not accepted(one)
    (one,) = paired(Call("overcautious", overcautious, {}))
    assert not wrongs(one)
    assert len(accepted(one)) == 1


@pytest.mark.parametrize("column", range(1, 4))
def test_chunks_have_labels_too(column):
    weight, group = COLUMNS["sample_weight"], COLUMNS["site"]
    chunk = [pd.Series(values, index=LABELS) for values in (OUTCOME, SCORE, weight, group)]
    table = bc.CalibrationData.from_chunks([tuple(chunk)])
    assert table == bc.CalibrationData(OUTCOME, SCORE, weight, site=group)
    chunk[column] = chunk[column].iloc[SHUFFLED]
    with pytest.raises(InputError, match=r"chunk 0: y_true and \w+ have the same index labels in"):
        bc.CalibrationData.from_chunks([tuple(chunk)])


@pytest.mark.parametrize("argument", ["probability", "cells"])
def test_simulated_cases_have_labels_too(argument):
    cells = COLUMNS["cells"]

    def sample(rng):
        made = {"y_prob": SCORE, "probability": np.sqrt(SCORE), "cells": cells}
        series = {name: pd.Series(values, index=LABELS) for name, values in made.items()}
        series[argument] = series[argument].iloc[SHUFFLED]
        last = {"cells": series["cells"]}
        return pd.Series(OUTCOME, index=LABELS), series["y_prob"], series["probability"], last

    with pytest.raises(InputError, match="different orders"):
        bc.estimators.estimator_bias("ece", sample, n_simulations=2, random_state=0)


def test_a_mapping_of_factors_has_labels_of_each():
    factors = {"sex": np.arange(N) % 2, "age": pd.Series(np.arange(N) % 3, index=LABELS)}
    outcome = pd.Series(OUTCOME, index=LABELS[SHUFFLED])
    for function in (bc.fit, bc.assess):
        with pytest.raises(InputError, match=r"y_true and subgroup\['age'\] have the same"):
            function(outcome, SCORE, subgroup=factors)
    frame = pd.DataFrame(factors).set_axis(LABELS)
    with pytest.raises(InputError, match="y_true and subgroup have the same"):
        bc.fit(outcome, SCORE, subgroup=frame)


def test_every_function_is_one_with_labels():
    """So that a change to the reading of docstrings does not empty the tests above."""
    names = {one.name.partition(".")[0] for one in every()}
    assert names >= {"bayescal", "estimators", "scores", "recalibrate", "plots", "CalibrationData"}
    assert sum(1 for one in every() for _ in one.sets()) > 500
    assert all(isinstance(one, Paired) for one in every())
