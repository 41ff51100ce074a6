"""Classes and their probabilities, read once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import exact
from bayescal.data.data import CalibrationData
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import (
    as_class_matrix,
    as_weights,
    check_same_length,
    check_scores,
    is_matrix,
)
from bayescal.data.weights import effective_cases
from bayescal.estimators.door import Cases, OutcomesLike

__all__ = ["columns_of", "read_classes"]


def columns_of(scores: Floats) -> Floats:
    """Class probabilities, (classes, n_samples); one row of scores is that of class 1 of two."""
    if scores.ndim == 2:
        return scores
    columns = np.empty((2, scores.size))
    columns[1] = scores
    np.subtract(1, columns[1], out=columns[0])
    return columns


def read_classes(
    y_true: OutcomesLike,
    y_proba: ArrayLike | None,
    sample_weight: ArrayLike | None,
    name: str = "y_proba",
) -> Cases:
    """Classes as outcomes, and class probabilities of shape (classes, n_samples) as scores.

    `name` is what the user calls the probabilities.
    """
    if isinstance(y_true, Cases):
        return y_true
    if isinstance(y_true, CalibrationData):
        raise InputError(
            "a CalibrationData holds one score for each case, and this needs the probability of "
            "every class. Pass y_true and y_proba, or reduce the classes with "
            "CalibrationData.from_multiclass and pass the table to ece."
        )
    if y_proba is None:
        raise InputError(f"{name} is missing: pass the class probabilities after y_true.")
    y_true, y_proba, sample_weight = aligned(
        **{"y_true": y_true, name: y_proba, "sample_weight": sample_weight}, across={"y_true"}
    )
    columns = _as_columns(y_proba, name)
    number, size = columns.shape
    classes = _as_classes(y_true, number, size, name)
    weights = as_weights(sample_weight, size)
    cases = None if weights is None else effective_cases(weights)
    return Cases(classes.reshape(-1, size), columns, cases, classes.shape[:-1])


def _as_columns(y_proba: Any, name: str) -> Floats:
    """Class probabilities of shape (n_classes, n_samples)."""
    if is_matrix(y_proba):
        return as_class_matrix(y_proba, name).T
    return columns_of(check_scores(y_proba, name))


def _as_classes(y_true: Any, number: int, size: int, name: str) -> NDArray[Any]:
    """True classes as columns, the last axis running over the cases."""
    labels = _as_array(y_true, "y_true")
    if labels.shape[1:] == (1,) and size != 1:
        labels = labels[:, 0]
    if labels.ndim == 0 or labels.dtype.kind not in "biuf":
        raise InputError(
            f"y_true must hold columns of {name}, 0 to {number - 1}, but holds {labels.dtype} "
            "values. Turn names of classes into positions, in the order of the columns."
        )
    check_same_length(labels.shape[-1], "y_true", size, name)
    wrong = (labels < 0) | (labels >= number) | (labels % 1 != 0)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), labels.shape)
        where = ", ".join(map(str, at))
        raise InputError(
            f"y_true[{where}] = {exact(labels[at])} is no column of {name}, which are 0 to "
            f"{number - 1}. Labels that start at 1 need 1 taken away."
        )
    return labels


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} is not an array of numbers: a value is none, or rows differ in length."
        ) from error
