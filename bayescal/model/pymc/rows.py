"""What a PyMC model observes: cases one by one, or rows of cases with equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.symbolic import is_symbolic
from bayescal.data.cases import as_vector
from bayescal.data.table import CalibrationData

__all__ = [
    "MOST_CASES",
    "Observations",
    "cases_of_table",
    "checked_offset",
    "joined_rows",
    "weighted",
]

MOST_CASES = 5000
"""Most cases that stand in a model, or in the tree of a posterior, one by one."""


class Observations(NamedTuple):
    """What a PyMC model observes.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (n,)
        Scores as they were stated or moved inside (0, 1), cases and events.
    weight : ndarray of shape (n,), optional
        By which the log likelihood of each is multiplied.
    offset : ndarray of shape (n,) or PyMC variable, optional
        Added to the log-odds.
    group : ndarray of int of shape (n,), optional
        Of several curves, whose it is.
    """

    score: Floats
    trials: Floats
    hits: Floats
    weight: Floats | None = None
    offset: Any = None
    group: NDArray[np.intp] | None = None


def cases_of_table(data: CalibrationData) -> tuple[NDArray[np.intp], NDArray[np.int8]] | None:
    """Row and outcome of each case of a table, events first in a row; None of rows that stay.

    Rows stay rows where they are of weights, of times, or of more than `MOST_CASES` cases.
    """
    if data.is_pseudo or data.follow_up is not None or data.n > MOST_CASES:
        return None
    trials, hits = data.trials.astype(np.int64), data.hits.astype(np.int64)
    row = np.repeat(np.arange(trials.size), trials)
    start = np.cumsum(trials) - trials
    return row, (np.arange(row.size) - start[row] < hits[row]).astype(np.int8)


def joined_rows(tables: Sequence[Any], groups: Sequence[int]) -> Observations:
    """The rows of several tables, one after the other, each of a group."""
    score, trials, hits = (
        np.concatenate([np.empty(0), *(getattr(table, name) for table in tables)])
        for name in ("score", "trials", "hits")
    )
    group = np.repeat(np.array(groups, np.intp), [table.score.size for table in tables])
    return Observations(score, trials, hits, group=group)


def weighted(rows: Observations, weight: Floats, tables: Sequence[CalibrationData]) -> Observations:
    """Cases that count as several, or with sampling weights, on the scale of effective cases.

    Parameters
    ----------
    tables : sequence of CalibrationData
        That of each group, or one.
    """
    if not any(data.is_pseudo for data in tables):
        return rows._replace(trials=weight, hits=weight * rows.hits)
    scale = np.array([data.weight_scale for data in tables])
    return rows._replace(weight=weight * scale[0 if rows.group is None else rows.group])


def checked_offset(offset: Any, size: int, each: str) -> Any:
    """An offset of numbers, one for each observation; a variable is taken as it is."""
    if offset is None or is_symbolic(offset):
        return offset
    values = as_vector(offset, "offset")
    try:
        numbers = values.astype(np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(
            "offset is not an array of numbers: a value is none, or rows differ in length."
        ) from error
    if numbers.size != size:
        raise InputError(f"offset has {numbers.size} numbers; it takes one a {each}, {size}.")
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"offset[{at}] = {numbers[at]} is not a finite number.")
    return numbers
