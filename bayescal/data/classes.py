"""Matrices of class probabilities, and a classifier of several classes as binary cases."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError, check_choice
from bayescal.core.text import shortened
from bayescal.data.cases import (
    OVERSHOOT,
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    is_matrix,
    to_numpy,
    without_rounding,
)
from bayescal.data.contents import Contents, contents_of
from bayescal.data.roles import Roles, as_roles
from bayescal.data.sources.alignment import aligned, column_names, columns_in_order
from bayescal.data.weights import WeightType

ClassMode: TypeAlias = Literal["top-label", "class-wise"]
MODES: tuple[ClassMode, ...] = ("top-label", "class-wise")
"""How several classes become one event: the predicted class is right; or each class is."""
ROW_TOLERANCE = 1e-3
"""How far the class probabilities of a case may be from a sum of 1."""


def as_probability_matrix(values: Any, name: str = "y_prob") -> Floats:
    """Class probabilities of shape (n, k): one row a case, one column a class, two at least.

    Every row sums to 1 within 1e-3; `name` is what the user calls them.
    """
    matrix = to_numpy(values, name)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise InputError(
            f"{name} must have one row a case and one column a class, two at least, but has shape "
            f"{matrix.shape}. For a binary classifier pass both columns: 1 - score, score."
        )
    if matrix.dtype.kind == "f":  # in one note, rather than one a column
        matrix = without_rounding(matrix, name)
        _refuse_logits(matrix, name)
    columns = [as_scores(column, f"{name}[:, {k}]") for k, column in enumerate(matrix.T)]
    prob = np.column_stack(columns)
    total = prob.sum(axis=1)
    off = np.abs(total - 1) > ROW_TOLERANCE
    if off.any():
        at = int(off.argmax())
        raise CaseError(
            name,
            f"sums to {total[at]:.4g}, not 1",
            row=at,
            cure="Pass probabilities (after a softmax), one column a class.",
        )
    return prob


def _refuse_logits(matrix: Floats, name: str) -> None:
    """Refuse logits of classes, or logarithms of probabilities, as a whole."""
    below = (matrix < -OVERSHOOT).any(axis=1)
    if below.any() and not np.isnan(matrix).any():
        at = int(below.argmax())
        raise CaseError(
            name,
            "is outside [0, 1]",
            row=at,
            value=f"{matrix[at].min():.4g}",
            more="; class probabilities are not",
            cure="If these are logits, or logarithms of probabilities, pass "
            "scipy.special.softmax(values, axis=1).",
        )


def as_class_matrix(values: Any, name: str, classes: Any = None) -> Floats:
    """Class probabilities of shape (n, k), the columns in the order of the classes.

    Columns of a frame that are called as the classes are go by name; `classes` are the numbers
    0, 1, ..., k - 1 by default.
    """
    if not is_matrix(values):
        return as_probability_matrix(values, name)
    names = range(np.shape(values)[1]) if classes is None else np.asarray(classes).tolist()
    return as_probability_matrix(columns_in_order(values, names), name)


def categories_of(labels: Any) -> list[Any] | None:
    """The categories of a Categorical of pandas or an Enum of polars, in their order, else None."""
    kind = getattr(labels, "dtype", None)
    is_ordered = type(kind).__name__ in ("CategoricalDtype", "Enum")
    return list(kind.categories) if kind is not None and is_ordered else None


def order_told(
    labels: str, matrix: str, classes: str = "CalibrationData.from_multiclass(..., classes=[...])"
) -> str:
    """The three ways to say which column of a matrix is which class."""
    return (
        f"Say it in one of three ways: pass {matrix} as a data frame whose columns are called as "
        f"the classes; or pass {labels} as pandas.Categorical({labels}, categories=[...]), in the "
        f"order of the columns; or name the classes in that order, {classes}."
    )


class BinaryCases(NamedTuple):
    """Cases of one event, or of one event a class.

    Attributes
    ----------
    outcomes : ndarray of bool of shape (cases,)
    scores : ndarray of shape (cases,)
    weights : ndarray of shape (cases,) or None
    groups : ndarray of str of shape (cases,) or None
        The class that each case asks for.
    """

    outcomes: NDArray[np.bool_]
    scores: Floats
    weights: Floats | None
    groups: NDArray[np.str_] | None


def contents_of_classes(
    y_true: Any,
    y_proba: Any,
    mode: str,
    classes: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    weight_type: WeightType | None = None,
    name: str = "y_proba",
) -> Contents:
    """The table of the binary cases; see `binary_cases`.

    Parameters
    ----------
    roles : Roles
        Of each case, for the top label; a class-wise table has the classes as its only subgroups.
    """
    named = {"y_true": y_true, name: y_proba, "sample_weight": sample_weight}
    _, roles = roles.aligned(**named)
    cases = binary_cases(y_true, y_proba, mode, classes, sample_weight, name)
    if cases.groups is not None:
        if roles.columns:
            raise InputError(
                f"{next(iter(roles.columns))} was given with mode='class-wise', whose "
                "groups are the classes. Pass roles with mode='top-label'."
            )
        roles = as_roles(subgroup={"class": cases.groups})
    return contents_of(*cases[:3], roles, weight_type=weight_type)


def binary_cases(
    y_true: Any,
    y_proba: Any,
    mode: str,
    classes: Any,
    sample_weight: Any,
    name: str = "y_proba",
) -> BinaryCases:
    """Reduce cases of k classes to binary ones; see `CalibrationData.from_multiclass`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of any type, one for each column of `y_proba`; see `_names_of`.
    y_proba : array-like of shape (n, k)
    mode : {"top-label", "class-wise"}
    classes : sequence of length k or None
    sample_weight : array-like of shape (n,) or None
    name : str
        What the user calls the matrix.

    Returns
    -------
    BinaryCases
        `n` of them for the top label, else `n` for each class.
    """
    check_choice(mode, MODES, "mode")
    named = column_names(y_proba)
    ordered = categories_of(y_true)
    y_true, y_proba, sample_weight = aligned(
        **{"y_true": y_true, name: y_proba, "sample_weight": sample_weight}
    )
    labels = as_vector(y_true, "y_true")
    given = None if classes is None else as_vector(classes, "classes")
    if given is None and named is not None and _are_among(labels, named):
        given = as_vector(named, f"{name}'s columns")
    if given is None and ordered is not None and len(ordered) == np.shape(y_proba)[-1]:
        given = as_vector(ordered, "y_true's categories")
    matrix = as_class_matrix(y_proba, name, given)
    names = _names_of(labels, matrix.shape[1], name) if given is None else given
    check_same_length(matrix.shape[1], f"{name}'s columns", names.size, "classes")
    truth = _as_class_index(labels, names, name)
    check_same_length(truth.size, "y_true", matrix.shape[0], name)
    weights = as_weights(sample_weight, truth.size)
    if mode == "top-label":
        return BinaryCases(matrix.argmax(axis=1) == truth, matrix.max(axis=1), weights, None)
    right = truth[:, None] == np.arange(names.size)
    return BinaryCases(
        right.T.ravel(),
        matrix.T.ravel(),
        None if weights is None else np.tile(weights, names.size),
        np.repeat([str(name) for name in names.tolist()], truth.size),
    )


def _are_among(labels: NDArray[Any], names: list[Any]) -> bool:
    """Whether every label is one of these names."""
    known = {name for name in names if isinstance(name, Hashable)}
    return set(_hashable(labels, "y_true")) <= known


def _names_of(labels: NDArray[Any], k: int, name: str) -> NDArray[Any]:
    """The names of k columns without names.

    They are 0, 1, ..., k - 1 if every label is one of these numbers. Else they are the distinct
    labels in ascending order, if these are numbers and as many as columns. Words are refused: in
    alphabetical order high comes before low, and nothing would show it.
    """
    numbers = np.arange(k)
    distinct = set(_hashable(labels, "y_true"))
    if any(isinstance(label, str) for label in distinct):
        raise CaseError(
            "y_true",
            f"holds words, such as {shortened(repr(labels.tolist()[0]))}, and nothing says which "
            f"column of {name} is which class",
            cure=order_told("y_true", name),
        )
    if len(distinct) != k or distinct <= set(numbers.tolist()):
        return numbers
    try:
        return as_vector(sorted(distinct), "y_true")
    except TypeError:  # labels of several types have no order
        return numbers


def _as_class_index(labels: NDArray[Any], names: NDArray[Any], name: str) -> NDArray[np.intp]:
    known = {label: index for index, label in enumerate(_hashable(names, "classes"))}
    index = [known.get(label, -1) for label in _hashable(labels, "y_true")]
    if -1 in index:
        at = index.index(-1)
        raise CaseError(
            "y_true",
            f"is not one of the {names.size} classes",
            row=at,
            value=shortened(repr(labels.tolist()[at])),
            cure=f"Classes are the numbers of the columns of {name}, from 0 on, or their names in "
            "a data frame. Where not every class occurs in y_true, or columns are in another "
            f"order, name them. {order_told('y_true', name)}",
        )
    return np.array(index)


def _hashable(labels: NDArray[Any], name: str) -> list[Any]:
    """Labels as a list, none of which is a list, a set or a dictionary."""
    listed: list[Any] = labels.tolist()
    for at, label in enumerate(listed):
        if not isinstance(label, Hashable):
            given, cure = shortened(repr(label)), "Classes are numbers or names."
            raise CaseError(name, "cannot be a class", row=at, value=given, cure=cure)
    return listed
