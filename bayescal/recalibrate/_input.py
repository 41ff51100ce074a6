"""What recalibrators are fitted to: probabilities, labels, weights and options, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.data.sources.alignment import aligned, column_names, columns_in_order
from bayescal.data.validate import (
    as_count,
    as_number,
    as_probability_matrix,
    as_scores,
    as_vector,
    as_weights,
    categories_of,
    check_same_length,
    is_matrix,
    order_told,
)
from bayescal.data.weights import WeightType, as_weight_type, effective_cases

__all__ = [
    "Cases",
    "as_amount",
    "as_fitted",
    "as_knots",
    "as_probabilities",
    "in_order",
    "read_cases",
    "read_table",
]

_MOST_SHOWN = 4
_MOST_KNOTS = 1000


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
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: Any,
    weight_type: WeightType | None = None,
) -> Cases:
    """Probabilities, classes and weights of the same cases."""
    if y is None:
        raise InputError(
            "y is missing: a recalibrator requires y to be passed, but the target y is None. "
            "Pass the labels after the probabilities."
        )
    ordered = categories_of(y)
    X, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
    labels = as_vector(y, "y")
    named = _named_classes(X, labels) if classes is None else classes
    if named is None and is_matrix(X):
        if ordered is not None and len(ordered) == np.shape(X)[1]:
            named = as_vector(ordered, "y's categories")
        elif any(isinstance(label, str) for label in labels.tolist()):
            raise InputError(
                f"y holds words, such as {shortened(repr(labels.tolist()[0]))}, and nothing says "
                f"which column of X is which class. {order_told('y', 'X', 'classes=[...]')}"
            )
    proba = as_probabilities(in_order(X, named))
    classes = named if proba.ndim == 2 else classes
    check_same_length(labels.shape[0], "y", proba.shape[0], "X")
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


def read_table(
    data: CalibrationData, given: Mapping[str, Any], weight_type: WeightType | None
) -> CalibrationData:
    """A table of one group, which came without arguments that it holds or cannot use."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"{extra[0]} was given beside a CalibrationData, which holds scores, outcomes 0 and 1 "
            "and their weights, and nothing else of a case. Pass arrays, or the table alone."
        )
    if weight_type not in (None, data.weight_type):
        raise InputError(
            f"weight_type is {weight_type!r}, but the table holds weights of the type "
            f"{data.weight_type!r}. Leave weight_type out: the table knows."
        )
    return data.one_group().independent()


def in_order(X: Any, classes: Any) -> Any:
    """The columns of a data frame in the order of the classes, if its columns are the classes."""
    names = None if classes is None else as_vector(classes, "classes").tolist()
    return columns_in_order(X, names)


def as_fitted(X: Any, names: list[Any] | None, argument: str = "X") -> Any:
    """The columns of a data frame in the order of those that a recalibrator was fitted to.

    Parameters
    ----------
    names : list or None
        Names of the columns in the fit; None where they had none.
    argument : str
        What the user calls `X`.

    Returns
    -------
    object
        As it came, where either has no names.
    """
    now = column_names(X)
    if names is None or now is None or len(now) != len(names):
        return X
    other = [name for name in now if name not in names]
    if other:
        raise InputError(
            f"{argument} has the column {shortened(repr(other[0]))}, and this was fitted to the "
            f"columns {shortened(', '.join(map(repr, names)))}. Pass the same columns; if they are "
            f"the same under other names, in the same order, pass {argument}.to_numpy()."
        )
    return columns_in_order(X, names)


def as_probabilities(X: Any, name: str = "X") -> Floats:
    """Probabilities of shape (n,), or (n, k) with rows that sum to 1; one column is a vector."""
    if isinstance(X, CalibrationData):
        raise InputError(
            f"{name} is a CalibrationData, which has outcomes too. Pass {name}.score for the "
            "recalibrated probability of each of its rows."
        )
    try:
        array = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    except ValueError as error:
        raise InputError(
            f"{name} is not an array of numbers: a value is none, or rows differ in length."
        ) from error
    if array.ndim != 2 or array.shape[1] == 1:
        return as_scores(array, name)
    if array.shape[1] == 0:
        raise InputError(
            f"{name} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required: "
            "pass a probability for each case."
        )
    return as_probability_matrix(array, name)


def _named_classes(X: Any, labels: NDArray[Any]) -> NDArray[Any] | None:
    """Classes in sorted order, when each label in `y` is the name of a column of `X`."""
    columns = column_names(X)
    if columns is None or not set(labels.tolist()) <= set(columns):
        return None
    named: NDArray[Any] = np.unique(np.asarray(columns))
    return named if named.size == len(columns) else None


def _encode(
    labels: NDArray[Any], columns: int, classes: Any
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Index of the class of each case, and the classes in the order of the columns."""
    if classes is None and columns == 2 and labels.dtype.kind in "biuf":
        event = labels == 1
        if (event | (labels == 0)).all():
            return event.astype(np.intp), np.array([0, 1], dtype=labels.dtype)
    seen, code = _distinct(labels)
    if classes is None:
        _check_number(seen, columns)
        return code, seen
    names = as_vector(classes, "classes")
    check_same_length(names.size, "classes", columns, "the columns of X")
    column = {name: j for j, name in enumerate(names.tolist())}
    if len(column) < names.size:
        raise InputError(f"classes holds a label twice: {names.tolist()}.")
    unknown = [label for label in seen.tolist() if label not in column]
    if unknown:
        raise InputError(f"y holds the class {unknown[0]!r}, which classes does not list.")
    return np.array([column[label] for label in seen.tolist()])[code], names


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted labels, and the index of each case's."""
    missing = np.array([label is None for label in labels]) if labels.dtype == object else None
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    if missing is not None and missing.any():
        at = int(missing.argmax())
        raise InputError(f"y[{at}] is {labels[at]}, not a label. Drop or impute it first.")
    if labels.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold the labels of classes.")
    try:
        distinct, code = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InputError(
            "y mixes labels of types that have no common order. Use one type of label."
        ) from None
    return distinct, code


def _check_number(labels: NDArray[Any], columns: int) -> None:
    """As many classes as columns, unless it is plain why not."""
    if labels.size == columns:
        return
    shown = ", ".join(map(repr, labels[:_MOST_SHOWN].tolist()))
    shown += f" and {labels.size - _MOST_SHOWN} more" if labels.size > _MOST_SHOWN else ""
    if labels.size > columns and labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise InputError(
            f"Unknown label type: y holds the numbers {shown}. "
            "A recalibrator needs the labels of classes, not a continuous target."
        )
    if labels.size > columns:
        raise InputError(
            f"y holds {labels.size} classes ({shown}) but X has probabilities for "
            f"{columns}. Pass a matrix with one column for each class, in sorted order."
        )
    raise InputError(
        f"y holds {labels.size} class{'es' if labels.size > 1 else ''} ({shown}) but X has "
        f"probabilities for {columns}. Name them all, in the order of the columns, with classes=."
    )


def as_amount(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    number = as_number(value, name) if is_number and not isinstance(value, bool) else -1.0
    if number < 0:
        raise InputError(
            f"{name} must be a finite number of at least 0, got {shortened(repr(value))}."
        )
    return number


def as_knots(n_knots: Any, fewest: int) -> int:
    """A number of knots, whose square still fits into memory."""
    return as_count(n_knots, "n_knots", fewest, _MOST_KNOTS)
