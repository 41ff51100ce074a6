"""A classifier of several classes as binary cases."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import (
    as_class_matrix,
    as_vector,
    as_weights,
    check_choice,
    check_same_length,
)

__all__ = ["BinaryCases", "binary_cases"]


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


def binary_cases(
    y_true: Any, y_proba: Any, mode: str, classes: Any, sample_weight: Any
) -> BinaryCases:
    """Reduce cases of k classes to binary ones; see `CalibrationData.from_multiclass`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Columns of `y_proba`, or members of `classes`.
    y_proba : array-like of shape (n, k)
    mode : {"top-label", "class-wise"}
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    BinaryCases
        `n` of them for the top label, else `n` for each class.
    """
    check_choice(mode, ("top-label", "class-wise"), "mode")
    y_true, y_proba, sample_weight = aligned(
        y_true=y_true, y_proba=y_proba, sample_weight=sample_weight
    )
    named = None if classes is None else as_vector(classes, "classes")
    matrix = as_class_matrix(y_proba, "y_proba", named)
    names = np.arange(matrix.shape[1]) if named is None else named
    check_same_length(matrix.shape[1], "y_proba's columns", names.size, "classes")
    truth = _as_class_index(as_vector(y_true, "y_true"), names)
    check_same_length(truth.size, "y_true", matrix.shape[0], "y_proba")
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


def _as_class_index(labels: NDArray[Any], names: NDArray[Any]) -> NDArray[np.intp]:
    known = {name: index for index, name in enumerate(_hashable(names, "classes"))}
    index = [known.get(label, -1) for label in _hashable(labels, "y_true")]
    if -1 in index:
        at = index.index(-1)
        raise InputError(
            f"y_true[{at}] = {shortened(repr(labels.tolist()[at]))} is not one of the "
            f"{names.size} classes. Classes are column indices, or the names passed as classes=."
        )
    return np.array(index)


def _hashable(labels: NDArray[Any], name: str) -> list[Any]:
    """Labels as a list, none of which is a list, a set or a dictionary."""
    listed: list[Any] = labels.tolist()
    for at, label in enumerate(listed):
        if not isinstance(label, Hashable):
            raise InputError(
                f"{name}[{at}] = {shortened(repr(label))} cannot be a class. Classes are numbers "
                "or names."
            )
    return listed
