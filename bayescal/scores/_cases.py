"""Outcomes, scores and weights of binary cases, read once; and averages over them.

`y_true` may have leading dimensions: replicates, which are other outcomes at the same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_outcome_batch, as_scores, as_weights, check_same_order

__all__ = ["Cases", "Loss", "read_cases"]

Loss = Callable[[Floats, Floats], Floats]
"""Of the probability given to what happened, and of those given to what did not, which run along
the first axis."""

BLOCK = 1 << 16


@dataclass(frozen=True)
class Cases:
    """Binary cases that count.

    Attributes
    ----------
    outcomes : ndarray of shape (replicates, n)
    scores : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
        All positive; None for one each.
    shape : tuple of int
        The leading dimensions of `y_true`; empty for one data set.
    """

    outcomes: NDArray[Any]
    scores: Floats
    weights: Floats | None
    shape: tuple[int, ...]

    @property
    def weight(self) -> Floats:
        """Weight of each case, ones included."""
        return np.ones(self.scores.size) if self.weights is None else self.weights

    @property
    def mass(self) -> float:
        """Sum of the weights."""
        return float(self.scores.size if self.weights is None else self.weights.sum())

    def weighed(self) -> Iterator[NDArray[Any]]:
        """Weight of each case if it is an event, else 0, replicate by replicate."""
        for row in self.outcomes:
            yield row if self.weights is None else row * self.weights

    @property
    def has_both(self) -> NDArray[np.bool_]:
        """Whether each replicate holds events and non-events."""
        found: NDArray[np.bool_] = (self.outcomes != self.outcomes[:, :1]).any(axis=1)
        return found

    def events(self) -> Floats:
        """Weight of the events of each replicate."""
        return np.array([row.sum(dtype=np.float64) for row in self.weighed()])

    def mean(self, loss: Loss) -> Floats:
        """Average loss of each replicate."""
        total = np.zeros(self.outcomes.shape[0])
        for part in self._parts():
            given = np.abs(1 - self.outcomes[:, part] - self.scores[part])
            values = loss(given, (1 - given)[None])
            total += values.sum(axis=1) if self.weights is None else values @ self.weights[part]
        return total / self.mass

    def result(self, values: Floats, undefined: str = "") -> float | Floats:
        """One value for one data set, else an array; for one data set NaN is an error."""
        if self.shape or not values.size:
            return values.reshape(self.shape + values.shape[1:])
        if np.isnan(values).any():
            raise InputError(undefined)
        return float(values[0]) if values.ndim == 1 else values[0]

    def _parts(self) -> Iterator[slice]:
        """Cases in blocks, so that the work on all replicates takes bounded memory."""
        replicates, n = self.outcomes.shape
        step = max(1, BLOCK // max(1, replicates))
        for start in range(0, n, step):
            yield slice(start, start + step)


def read_cases(y_true: Any, y_prob: Any, sample_weight: Any) -> Cases:
    """Validate binary cases, and leave out those of no weight."""
    scores = as_scores(y_prob)
    outcomes = as_outcome_batch(y_true, scores.size)
    check_same_order(y_true, y_prob)
    weights = as_weights(sample_weight, scores.size)
    if weights is not None and not weights.all():
        counts = weights > 0
        outcomes, scores, weights = outcomes[..., counts], scores[counts], weights[counts]
    return Cases(outcomes.reshape(-1, scores.size), scores, weights, outcomes.shape[:-1])
