"""What recalibrators are fitted to: probabilities, labels, weights and options, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import (
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    check_same_order,
)
from bayescal.data.weights import WeightType, as_weight_type, effective_cases

__all__ = ["Cases", "as_amount", "as_count", "as_probabilities", "read_cases"]

_ROW_TOLERANCE = 1e-3
_MOST_SHOWN = 4


class Cases(NamedTuple):
    """Valid cases that count, those without weight left out.

    Attributes
    ----------
    proba : ndarray of shape (n,) or (n, k)
        One probability a case for two classes, one a class for more.
    code : ndarray of shape (n,)
        Index into `classes` of the class of each case.
    weight : ndarray of shape (n,) or None
        Positive numbers of cases; sampling weights add up to Kish's effective size.
    classes : ndarray of shape (k,)
    kept : ndarray of shape (rows,) or None
        Which of the rows passed in these are; None for all.
    """

    proba: Floats
    code: NDArray[np.intp]
    weight: Floats | None
    classes: NDArray[Any]
    kept: NDArray[np.bool_] | None


def read_cases(
    y_prob: Any,
    y_true: Any,
    sample_weight: Any,
    classes: Any,
    weight_type: WeightType | None = None,
) -> Cases:
    """Probabilities, classes and weights of the same cases."""
    if y_true is None:
        raise InputError(
            "y_true is missing: a recalibrator requires y to be passed, but the target y is None. "
            "Pass the labels after the probabilities."
        )
    proba = as_probabilities(y_prob)
    labels = as_vector(y_true, "y_true")
    check_same_length(labels.shape[0], "y_true", proba.shape[0], "y_prob")
    check_same_order(y_true, y_prob)
    weight = as_weights(sample_weight, labels.size)
    kept = None if weight is None or weight.all() else weight > 0
    if weight is not None and kept is not None:
        proba, labels, weight = proba[kept], labels[kept], weight[kept]
    code, names = _encode(labels, 2 if proba.ndim == 1 else proba.shape[1], classes)
    if names.size == 2 and proba.ndim == 2:
        proba = proba[:, 1]
    if weight is not None:
        weight = effective_cases(weight, as_weight_type(weight_type, weight))
    return Cases(proba, code, weight, names, kept)


def as_probabilities(y_prob: Any, name: str = "y_prob") -> Floats:
    """Probabilities of shape (n,), or (n, k) with rows that sum to 1; one column is a vector."""
    array = np.asarray(y_prob.to_numpy() if hasattr(y_prob, "to_numpy") else y_prob)
    if array.ndim != 2 or array.shape[1] == 1:
        return as_scores(array, name)
    if array.shape[1] == 0:
        raise InputError(
            f"{name} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required: "
            "pass a probability for each case."
        )
    columns = [as_scores(column, f"{name}[:, {j}]") for j, column in enumerate(array.T)]
    matrix = np.column_stack(columns)
    total = matrix.sum(axis=1)
    wrong = np.abs(total - 1) > _ROW_TOLERANCE
    if wrong.any():
        at = int(wrong.argmax())
        raise InputError(
            f"{name}[{at}] sums to {total[at]:g}; the probabilities of a case must sum to 1. "
            "For two classes a single column, the probability of the event, will do."
        )
    return matrix


def _encode(
    labels: NDArray[Any], columns: int, classes: Any
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Index of the class of each case, and the classes in the order of the columns."""
    if classes is None and columns == 2 and labels.dtype.kind in "biuf":
        event = labels == 1
        if (event | (labels == 0)).all():
            return event.astype(np.intp), np.array([0, 1], dtype=labels.dtype)
    found, code = _distinct(labels)
    if classes is None:
        _check_number(found, columns)
        return code, found
    names = as_vector(classes, "classes")
    check_same_length(names.size, "classes", columns, "the columns of y_prob")
    place = {name: j for j, name in enumerate(names.tolist())}
    if len(place) < names.size:
        raise InputError(f"classes holds a label twice: {names.tolist()}.")
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        raise InputError(f"y_true holds the class {unknown[0]!r}, which classes does not list.")
    return np.array([place[label] for label in found.tolist()])[code], names


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted labels, and the index of each case's."""
    missing = np.array([label is None for label in labels]) if labels.dtype == object else None
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    if missing is not None and missing.any():
        at = int(missing.argmax())
        raise InputError(f"y_true[{at}] is {labels[at]}, not a label. Drop or impute it first.")
    if labels.dtype.kind == "c":
        raise InputError("Complex data not supported: y_true must hold the labels of classes.")
    try:
        found, code = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InputError(
            "y_true mixes labels of types that have no common order. Use one type of label."
        ) from None
    return found, code


def _check_number(found: NDArray[Any], columns: int) -> None:
    """As many classes as columns, unless it is plain why not."""
    if found.size == columns:
        return
    shown = ", ".join(map(repr, found[:_MOST_SHOWN].tolist()))
    shown += f" and {found.size - _MOST_SHOWN} more" if found.size > _MOST_SHOWN else ""
    if found.size > columns and found.dtype.kind == "f" and (found % 1 != 0).any():
        raise InputError(
            f"Unknown label type: y_true holds the numbers {shown}. "
            "A recalibrator needs the labels of classes, not a continuous target."
        )
    if found.size > columns:
        raise InputError(
            f"y_true holds {found.size} classes ({shown}) but y_prob has probabilities for "
            f"{columns}. Pass a matrix with one column for each class, in sorted order."
        )
    raise InputError(
        f"y_true holds {found.size} class{'es' if found.size > 1 else ''} ({shown}) but y_prob has "
        f"probabilities for {columns}. Name them all, in the order of the columns, with classes=."
    )


def as_count(value: Any, name: str, least: int = 1) -> int:
    """A whole number of at least so many."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def as_amount(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and np.isfinite(value)
    if not number or isinstance(value, bool) or value < 0:
        raise InputError(f"{name} must be a finite number of at least 0, got {value!r}.")
    return float(value)
