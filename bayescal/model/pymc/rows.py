"""Rows of the PyMC model: cases that share a score, and an offset where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.cases import as_vector
from bayescal.data.read import paired
from bayescal.data.rows import add_up
from bayescal.model.problem import Problem

__all__ = ["ModelRows", "rows_of"]


@dataclass(frozen=True)
class ModelRows:
    """What a PyMC model observes, by row.

    Attributes
    ----------
    score, trials, hits : ndarray of shape (rows,)
        Scores inside (0, 1), and effective numbers of cases and of events.
    offset : ndarray of shape (rows,), PyMC variable, or None
        Added to the log-odds.
    of_obs : ndarray of shape (n,) or None
        Row of each case, in the order they were given, or -1 of a case of weight 0; None of a
        table.
    """

    score: Floats
    trials: Floats
    hits: Floats
    offset: Any = None
    of_obs: NDArray[np.intp] | None = None

    @property
    def is_symbolic(self) -> bool:
        """Whether the offset is a variable rather than numbers."""
        return self.offset is not None and not isinstance(self.offset, np.ndarray)


def rows_of(
    problem: Problem, cases: tuple[Any, Any, Any] | None, offset: Any, pos_label: Any = None
) -> ModelRows:
    """Rows of a problem's table, or of its cases where an offset sets them apart.

    Parameters
    ----------
    cases : tuple of (y_true, y_prob, sample_weight), or None
        None when a table was given.
    offset : array-like or PyMC variable of shape (n,), or (rows,) of a table; or None
    """
    symbolic = hasattr(offset, "owner")
    if cases is None:
        table = problem.table
        numbers = _as_offset(offset, table.score.size, "row of the table", symbolic)
        return ModelRows(table.score, table.trials, table.hits, numbers)
    outcomes, scores, weights = paired(*cases, pos_label=pos_label)
    if offset is None:
        of_obs = problem.data.rows_of(scores)
        if weights is not None:
            of_obs[weights == 0] = -1  # such a case is in no row
        table = problem.table
        return ModelRows(table.score, table.trials, table.hits, None, of_obs)
    trials = np.ones(scores.size) if weights is None else weights
    trials = trials * problem.data.weight_scale
    numbers = _as_offset(offset, scores.size, "case", symbolic)
    inside = problem.inside(scores)
    if symbolic:
        return ModelRows(inside, trials, trials * outcomes, numbers, np.arange(scores.size))
    pairs, row = np.unique(np.column_stack([inside, numbers]), axis=0, return_inverse=True)
    of_obs = row.ravel()
    hits = add_up(of_obs, trials * outcomes)
    return ModelRows(pairs[:, 0], add_up(of_obs, trials), hits, pairs[:, 1].copy(), of_obs)


def _as_offset(offset: Any, size: int, each: str, symbolic: bool) -> Any:
    if offset is None or symbolic:
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
