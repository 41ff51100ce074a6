"""Cases with equal scores put together, so that no smoother sees the order of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.weights import effective_cases

__all__ = ["SAME", "Curve", "Table", "quantile", "tabulate"]

Curve = Callable[[Floats], Floats]
"""Events at each distinct score, (replicates, rows), to a smoothed curve, (replicates, scores)."""

SAME = 1e-12


class Table(NamedTuple):
    """Distinct scores in ascending order, and the cases at each.

    Attributes
    ----------
    order : ndarray of int of shape (cases,)
        The cases that count, sorted by score.
    weight : ndarray of shape (cases,) or None
        Weight of each of them; None when all count once.
    starts : ndarray of int of shape (rows,) or None
        Where each distinct score begins among them; None when no two are equal.
    score, trials : ndarray of shape (rows,)
        Not to be written to.
    total : float
        Sum of the trials.
    """

    order: NDArray[np.intp]
    weight: Floats | None
    starts: NDArray[np.intp] | None
    score: Floats
    trials: Floats
    total: float

    def hits(self, outcomes: NDArray[Any]) -> Floats:
        """Events at each distinct score, of shape (replicates, rows)."""
        events = outcomes[:, self.order]
        if self.weight is not None:
            events = events * self.weight
        if self.starts is None:
            return events.astype(np.float64, copy=False)
        hits: Floats = np.add.reduceat(events, self.starts, axis=1, dtype=np.float64)
        return hits


def tabulate(scores: Floats, weights: Floats | None) -> Table:
    """Collapse equal scores; weights that are not whole are rescaled to Kish's effective size."""
    order = np.argsort(scores)
    weight = None
    if weights is not None:
        order = order[weights[order] > 0]
        weight = effective_cases(weights)[order]
    ascending = scores[order]
    new = np.concatenate([[True], ascending[1:] != ascending[:-1]])
    if new.all():
        trials = np.broadcast_to(1.0, order.size) if weight is None else weight
        return Table(order, weight, None, ascending, trials, float(trials.sum()))
    starts = np.flatnonzero(new)
    if weight is None:
        trials = np.diff(starts, append=order.size).astype(np.float64)
    else:
        trials = np.add.reduceat(weight, starts)
    return Table(order, weight, starts, ascending[starts], trials, float(trials.sum()))


def quantile(values: Floats, trials: Floats, prob: float) -> Floats:
    """Quantile of each row, linear between the cases (type 7), as if cases stood one by one.

    Parameters
    ----------
    values : ndarray of shape (..., rows)
    trials : ndarray of shape (rows,)
    prob : float

    Returns
    -------
    ndarray of shape (...,)
    """
    if (trials == 1).all():
        plain: Floats = np.quantile(values, prob, axis=-1)
        return plain
    order = np.argsort(values, axis=-1)
    above = np.cumsum(trials[order], axis=-1)
    total = above[..., -1:]
    place = np.maximum(total - 1, 0) * prob
    below = np.floor(place)
    lower, upper = (
        np.take_along_axis(values, np.take_along_axis(order, _holder(above, case), -1), -1)
        for case in (below, below + 1)
    )
    between: Floats = (lower + (place - below) * (upper - lower))[..., 0]
    return between


def _holder(above: Floats, case: Floats) -> NDArray[np.intp]:
    """Which row holds a case, counted from 0, when rows stand one after the other."""
    reached = np.count_nonzero(above <= case + SAME * above[..., -1:], axis=-1)
    last = above.shape[-1] - 1
    held: NDArray[np.intp] = np.minimum(reached, last)[..., None]
    return held
