"""Class probabilities and labels of any number of classes, and average losses over cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_scores, as_vector, as_weights, check_same_length
from bayescal.scores._cases import Loss, read_cases

__all__ = ["as_class_probabilities", "is_matrix", "mean_loss"]

SLACK = 1e-3


def mean_loss(
    y_true: Any, y_prob: Any, sample_weight: Any, two: Loss, many: Loss
) -> float | Floats:
    """Average loss: `two` of the scores of an event, or `many` of a matrix of classes."""
    if not is_matrix(y_prob):
        cases = read_cases(y_true, y_prob, sample_weight)
        return cases.result(cases.mean(two))
    prob = as_class_probabilities(y_prob, "y_prob")
    happened = _as_labels(y_true, prob.shape[1])[:, None] == np.arange(prob.shape[1])
    check_same_length(happened.shape[0], "y_true", prob.shape[0], "y_prob")
    weights = as_weights(sample_weight, prob.shape[0])
    values = many(prob[happened], prob[~happened].reshape(prob.shape[0], -1).T)
    if weights is None:
        return float(values.mean())
    counts = weights > 0
    return float(np.average(values[counts], weights=weights[counts]))


def is_matrix(values: Any) -> bool:
    """Whether these are probabilities of two classes or more, rather than of one event."""
    try:
        shape = np.shape(values)
    except ValueError:
        return False
    return len(shape) == 2 and shape[1] > 1


def as_class_probabilities(values: Any, name: str) -> Floats:
    """A matrix of probabilities: one row a case, one column a class, every row summing to 1."""
    if not is_matrix(values):
        raise InputError(
            f"{name} must have one row a case and one column a class, two at least. "
            "For a binary classifier pass both columns: 1 - score, score."
        )
    matrix = np.asarray(values)
    prob = as_scores(matrix.ravel(), name).reshape(matrix.shape)
    total = prob.sum(axis=1)
    off = np.abs(total - 1) > SLACK
    if off.any():
        at = int(off.argmax())
        raise InputError(
            f"{name}[{at}] sums to {total[at]:.4g}, not 1. "
            "Pass probabilities (after a softmax), one column a class."
        )
    return prob


def _as_labels(values: Any, classes: int) -> NDArray[Any]:
    """Whole numbers from 0 to classes - 1."""
    labels = as_vector(values, "y_true")
    known = np.isin(labels, np.arange(classes))
    if not known.all():
        at = int((~known).argmax())
        raise InputError(
            f"y_true[{at}] = {labels.tolist()[at]!r} is not one of the {classes} classes. With a "
            f"matrix of probabilities a label is a column number, from 0 to {classes - 1}."
        )
    return labels
