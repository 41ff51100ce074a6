"""Several classes: average losses over cases, and groups of cases with known probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.read import Outcomes, read_cases
from bayescal.data.sources.alignment import aligned, column_names
from bayescal.data.validate import (
    as_class_matrix,
    as_probability_matrix,
    as_vector,
    as_weights,
    check_same_length,
    is_matrix,
)
from bayescal.scores import _core
from bayescal.scores._rules import Loss

__all__ = ["as_groups", "as_labels", "expected_loss", "mean_loss", "pooled_groups"]


def mean_loss(
    y_true: Outcomes,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    two: Loss,
    many: Loss,
) -> float | Floats:
    """Average loss: `two` of the scores of an event, or `many` of a matrix of classes."""
    if not is_matrix(y_prob):
        cases = read_cases(y_true, y_prob, sample_weight, single=True).counted()
        return cases.result(_core.mean(cases, two))
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    prob = as_class_matrix(y_prob, "y_prob")
    labels = as_labels(y_true, prob.shape[1])
    check_same_length(labels.size, "y_true", prob.shape[0], "y_prob")
    weights = as_weights(sample_weight, prob.shape[0])
    happened = labels[:, None] == np.arange(prob.shape[1])
    values = many(prob[happened], prob[~happened].reshape(prob.shape[0], -1).T)
    if weights is None:
        return float(values.mean())
    counts = weights > 0
    return float(np.average(values[counts], weights=weights[counts]))


def as_labels(values: Any, classes: int) -> NDArray[Any]:
    """Column numbers from 0 to classes - 1."""
    labels = as_vector(values, "y_true")
    known = np.isin(labels, np.arange(classes))
    if not known.all():
        at = int((~known).argmax())
        raise InputError(
            f"y_true[{at}] = {shortened(repr(labels.tolist()[at]))} is not one of the "
            f"{classes} classes. With a matrix of probabilities a label is a column number, from "
            f"0 to {classes - 1}."
        )
    return labels


def pooled_groups(truth: Floats, seen: Floats, mass: Floats) -> tuple[Floats, Floats, Floats]:
    """The distinct rows that are seen, what is true of them on average, and their share."""
    level, member = np.unique(seen, axis=0, return_inverse=True)
    member = member.ravel()
    share = np.bincount(member, mass)
    total = np.column_stack([np.bincount(member, mass * column) for column in truth.T])
    return level, total / share[:, None], share / share.sum()


def expected_loss(loss: Loss, truth: Floats, prob: Floats) -> Floats:
    """Expected loss of each prediction, when `truth` holds the probabilities of the classes."""
    total = np.zeros(truth.shape[0])
    for happens, true in enumerate(truth.T):
        values = loss(prob[:, happens], np.delete(prob, happens, axis=1).T)
        total += true * np.where(true > 0, values, 0)
    return total


def as_groups(
    truth: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """True and predicted class probabilities of groups of cases, and the mass of each group."""
    truth, y_prob, sample_weight = aligned(truth=truth, y_prob=y_prob, sample_weight=sample_weight)
    known = as_probability_matrix(truth, "truth")
    prob = as_class_matrix(y_prob, "y_prob", column_names(truth))
    if known.shape != prob.shape:
        raise InputError(
            f"truth has shape {known.shape} but y_prob has {prob.shape}. "
            "Both need a row for each group and a column for each class."
        )
    weights = as_weights(sample_weight, known.shape[0])
    mass = np.ones(known.shape[0]) if weights is None else weights
    return known[mass > 0], prob[mass > 0], mass[mass > 0]
