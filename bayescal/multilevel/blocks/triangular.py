"""Stacks of triangular systems, one for each point. Arrays only.

A loop over the rows of a matrix runs over all points at once, which is faster than one small system
after the other.
"""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["solve_lower", "solve_upper"]


def solve_lower(root: Floats, vectors: Floats) -> Floats:
    """Solutions x of L x = b, for lower factors L (n, R, R) and vectors b (n, R)."""
    solution = np.array(vectors)
    for k in range(solution.shape[1]):
        row = root[:, k, :k]
        solution[:, k] -= np.vecdot(row, solution[:, :k])
        solution[:, k] /= root[:, k, k]
    return solution


def solve_upper(root: Floats, vectors: Floats) -> Floats:
    """Solutions x of L' x = b, for lower factors L (n, R, R) and vectors b (n, R)."""
    solution = np.array(vectors)
    for k in reversed(range(solution.shape[1])):
        solution[:, k] /= root[:, k, k]
        solution[:, :k] -= root[:, k, :k] * solution[:, k, None]
    return solution
