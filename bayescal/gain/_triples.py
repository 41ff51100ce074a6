"""Triples: an outcome, and what was predicted of it before and after recalibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import (
    as_outcomes,
    as_scores,
    as_weights,
    check_same_length,
    check_same_order,
)
from bayescal.data.weights import (
    WeightType,
    as_weight_type,
    effective_cases,
    warn_of_ambiguity,
)

__all__ = ["Triples", "as_triples"]

FEWEST_TURNS = 2
TURNS_PER_CASE = 0.1


class Triples(NamedTuple):
    """Cases with both predictions.

    Attributes
    ----------
    outcome, before : ndarray of shape (n,)
    after : ndarray of shape (repeats, n)
        One row, unless a cross-fit was repeated.
    weight : ndarray of shape (n,)
        Cases that each row stands for; sampling weights add up to Kish's effective size.
    weight_type : {"counts", "sampling"}
    """

    outcome: Floats
    before: Floats
    after: Floats
    weight: Floats
    weight_type: WeightType

    @property
    def is_map(self) -> bool:
        """Whether `after` can be read as a map of `before`.

        Equal scores before must have equal scores after. When scores hardly repeat anything
        would pass for a map, so it may also change direction only now and then.
        """
        if self.after.shape[0] > 1:
            return False
        scores, first, place = np.unique(self.before, return_index=True, return_inverse=True)
        mapped = self.after[0, first]
        if not np.array_equal(mapped[place], self.after[0]):
            return False
        steps = np.sign(np.diff(mapped))
        turns = np.count_nonzero(np.diff(steps[steps != 0]))
        return bool(turns <= max(FEWEST_TURNS, TURNS_PER_CASE * scores.size))

    @property
    def is_unchanged(self) -> bool:
        """Whether the recalibration changed nothing."""
        return bool((self.after == self.before).all())


def as_triples(
    y_true: Any,
    before: Any,
    after: Any,
    sample_weight: Any,
    pos_label: Any,
    weight_type: WeightType | None = None,
) -> Triples:
    """Check that three arrays describe the same cases.

    Parameters
    ----------
    y_true, before : array-like of shape (n,)
    after : array-like of shape (n,) or (repeats, n)
    sample_weight : array-like of shape (n,) or None
    pos_label : object
    weight_type : {"counts", "sampling"}, optional

    Returns
    -------
    Triples

    Raises
    ------
    InputError
        If they are not outcomes and probabilities of one length.
    """
    outcome = as_outcomes(y_true, pos_label=pos_label)
    first = as_scores(before, "before")
    check_same_length(outcome.size, "y_true", first.size, "before")
    check_same_order(y_true, before)
    check_same_order(before, after)
    second = _as_repeats(after, outcome.size)
    weight = as_weights(sample_weight, outcome.size)
    chosen = as_weight_type(weight_type, weight)
    if weight is None:
        weight = np.ones(outcome.size)
    elif chosen is None:
        warn_of_ambiguity(weight, first, outcome)
    cases = effective_cases(weight, chosen or "counts")
    kept = cases > 0
    return Triples(outcome[kept], first[kept], second[:, kept], cases[kept], chosen or "counts")


def _as_repeats(after: Any, size: int) -> Floats:
    rows: list[Any] = [after]
    array: NDArray[Any] = np.asarray(after)
    if array.ndim == 2 and array.shape[1] != 1:
        rows = list(array)
    if not rows:
        raise InputError("after holds no predictions: give one for each case.")
    found = [as_scores(row, "after") for row in rows]
    for row in found:
        check_same_length(size, "y_true", row.size, "after")
    return np.stack(found)
