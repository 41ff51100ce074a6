"""Groups of cases with the same prediction, and the true probabilities of their classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_probability_matrix, as_weights
from bayescal.scores._rules import Loss

__all__ = ["as_groups", "expected_loss", "pooled_groups"]


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
    known = as_probability_matrix(truth, "truth")
    prob = as_probability_matrix(y_prob, "y_prob")
    if known.shape != prob.shape:
        raise InputError(
            f"truth has shape {known.shape} but y_prob has {prob.shape}. "
            "Both need a row for each group and a column for each class."
        )
    weights = as_weights(sample_weight, known.shape[0])
    mass = np.ones(known.shape[0]) if weights is None else weights
    return known[mass > 0], prob[mass > 0], mass[mass > 0]
