"""Cases with equal scores, taken together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats

__all__ = ["Levels", "levels_of"]


class Levels(NamedTuple):
    """The distinct scores, ascending.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Cases by ascending score.
    start : ndarray of shape (levels,)
        Where each distinct score begins in that order.
    """

    order: NDArray[np.intp]
    start: NDArray[np.intp]

    def totals(self, values: NDArray[Any]) -> Floats:
        """Sum of `values` over the cases at each score."""
        total: Floats = np.add.reduceat(values[self.order], self.start, dtype=np.float64)
        return total


def levels_of(scores: Floats) -> Levels:
    """Sort the scores and find where they change."""
    order = np.argsort(scores)
    ranked = scores[order]
    return Levels(order, np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])))
