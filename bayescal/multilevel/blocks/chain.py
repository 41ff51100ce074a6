"""Information of the curves of a walk alone, which has a block for each pair of neighbours.

By the coordinates of the levels themselves, in place of the first and what is added to it, it is
block tridiagonal. So it is solved in one pass along the levels and one back. Arrays only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.multilevel.factorised.small import solve_small

__all__ = ["Chain"]


@dataclass(frozen=True)
class Chain:
    """Information of the first level, and of what each later one adds to it.

    Attributes
    ----------
    own : ndarray of shape (T, r, r, n)
        Of the coordinates of each level, by itself.
    step : ndarray of shape (T - 1, r, n)
        Of what leads from each level to the next, a precision for each coordinate.
    dense : callable
        Gives all of it as matrices (n, T * r, T * r).
    """

    own: Floats
    step: Floats
    dense: Callable[[], Floats]

    @cached_property
    def left(self) -> Floats:
        """Information (T, r, r, n) of each level, with those before it integrated out."""
        left, r = self.own.copy(), self.own.shape[1]
        for k in range(r):
            left[:-1, k, k] += self.step[:, k]
            left[1:, k, k] += self.step[:, k]
        for level, step in enumerate(self.step):
            columns = np.zeros_like(left[level])
            for k in range(r):
                columns[k, k] = step[k]
            for k in range(r):
                left[level + 1, :, k] -= step * solve_small(left[level], columns[:, k])
        return left

    def steps(self, of_level: Floats, of_rest: Floats) -> tuple[Floats, Floats, Floats]:
        """Newton's step of no levels and of the rest (n, R), and twice what it gains, (n,)."""
        size, r, _, n = self.own.shape
        gradient = of_rest.reshape(n, size, r).transpose(1, 2, 0).copy()
        gradient[0] -= gradient[1:].sum(axis=0)
        move = np.empty_like(gradient)
        for level in range(size):
            if level:
                gradient[level] += self.step[level - 1] * move[level - 1]
            move[level] = solve_small(self.left[level], gradient[level])
        gain: Floats = (gradient * move).sum(axis=(0, 1))
        for level in range(size - 2, -1, -1):
            pulled = self.step[level] * move[level + 1]
            move[level] += solve_small(self.left[level], pulled)
        move[1:] -= move[0]
        return of_level, np.ascontiguousarray(move.reshape(size * r, n).T), gain

    @cached_property
    def root(self) -> Floats:
        """Lower Cholesky factor of all of it, of shape (n, T * r, T * r)."""
        return np.asarray(np.linalg.cholesky(self.dense()), np.float64)

    @property
    def log_det(self) -> Floats:
        """Logarithm of its determinant, of shape (n,)."""
        first = self.left[:, 0, 0]
        det = (
            first
            if self.own.shape[1] == 1
            else first * self.left[:, 1, 1] - self.left[:, 0, 1] ** 2
        )
        return np.asarray(np.log(det).sum(axis=0))
