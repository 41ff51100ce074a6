"""Cases and events that were counted already."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.build.builder import sum_rows
from bayescal.data.table import Rows
from bayescal.data.validate import as_floats, as_scores, as_vector, as_weights, check_same_length

__all__ = ["as_rows"]


def as_rows(score: Any, trials: Any, hits: Any) -> Rows:
    """Rows from counts; repeated scores are added up.

    Parameters
    ----------
    score, trials, hits : array-like of shape (rows,)

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        If a count is negative, not whole, or hits exceed trials.
    """
    scores = as_scores(score, "score")
    cases = as_vector(trials, "trials")
    check_same_length(scores.size, "score", cases.size, "trials")
    counts = as_weights(cases, scores.size, "trials")
    assert counts is not None
    events = _as_counts(hits, scores.size, "hits")
    for name, values in (("trials", counts), ("hits", events)):
        if (values % 1 != 0).any():
            at = int(np.flatnonzero(values % 1)[0])
            raise InputError(f"{name}[{at}] = {values[at]:g} is not a whole number of cases.")
    if (events > counts).any():
        at = int(np.flatnonzero(events > counts)[0])
        raise InputError(
            f"hits[{at}] = {events[at]:g} exceeds trials[{at}] = {counts[at]:g}: "
            "there cannot be more events than cases."
        )
    keep = counts > 0
    return sum_rows([Rows(scores[keep] + 0.0, counts[keep], events[keep])])


def _as_counts(values: Any, size: int, name: str) -> Floats:
    counts = as_floats(values, name)
    check_same_length(size, "score", counts.size, name)
    wrong = ~np.isfinite(counts) | (counts < 0)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(f"{name}[{at}] = {counts[at]:g} is not a non-negative count.")
    return counts
