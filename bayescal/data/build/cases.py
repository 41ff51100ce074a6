"""Outcomes, scores, weights and groups of some cases: checked, and kept in the types they have."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import (
    are_binary_integers,
    as_outcomes,
    as_vector,
    as_weights,
    check_same_length,
    check_scores,
)


class CheckedCases(NamedTuple):
    """Valid cases.

    Attributes
    ----------
    outcome : ndarray of shape (n,)
        0 or 1, of any numeric type.
    score : ndarray of shape (n,)
        In [0, 1], of any floating type.
    weight : ndarray of shape (n,) or None
    """

    outcome: NDArray[Any]
    score: NDArray[Any]
    weight: Floats | None


def check_cases(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    part: bool = False,
) -> CheckedCases:
    """Outcomes, scores and weights, each valid and all of one length, without a copy of any.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Without weights, None.
    pos_label : object, optional
        The label in `y_true` that counts as the event.
    part : bool
        Whether more cases follow, so that all weights may be 0 here, and no case have the event.
    """
    check_given(y_prob)
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    outcome = _outcomes(y_true, pos_label, part)
    score = check_scores(y_prob)
    check_same_length(outcome.size, "y_true", score.size, "y_prob")
    return CheckedCases(outcome, score, as_weights(sample_weight, outcome.size, part=part))


def check_given(y_prob: Any) -> None:
    """Refuse outcomes alone."""
    if y_prob is None:
        raise InputError("y_prob is missing: pass the predicted probabilities after y_true.")


def _outcomes(values: Any, pos_label: Any, part: bool) -> NDArray[Any]:
    labels = as_vector(values, "y_true")
    if pos_label is None and (are_binary_integers(labels) or _are_binary_floats(labels)):
        return labels
    return as_outcomes(labels, pos_label=pos_label, part=part)


def _are_binary_floats(values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return False
    parts = (values[part] for part in blocks(values.size))
    return all(bool(((part == 0) | (part == 1)).all()) for part in parts)
