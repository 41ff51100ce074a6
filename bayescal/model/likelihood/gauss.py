"""Gauss rules: a few nodes that stand for all rows in sums of smooth functions. Arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats

__all__ = ["gauss_of_groups", "gauss_rule"]

# Share of the half range of the log-odds below which a recurrence has no next step.
EXHAUSTED = 1e-13
# The same of groups, whose recurrences are not re-orthogonalised.
EXHAUSTED_GROUP = 1e-7


def gauss_rule(x: Floats, weight: Floats, count: int) -> tuple[Floats, Floats]:
    """Nodes, ascending, and weights of the Gauss rule of ascending log-odds: `count` or fewer.

    Sums of a polynomial in log-odds of degree up to 2 count - 1 are the same over the nodes as over
    the rows. Nodes are the eigenvalues of the Jacobi matrix, which Lanczos steps with full
    re-orthogonalisation build from the rows. Golub & Welsch (1969), Mathematics of Computation 23.
    """
    middle, half = (x[0] + x[-1]) / 2, max((x[-1] - x[0]) / 2, np.finfo(float).tiny)
    unit, total = (x - middle) / half, weight.sum()
    diagonal, beside = _jacobi(unit, np.sqrt(weight / total), count)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return middle + half * nodes, total * vectors[0] ** 2


def gauss_of_groups(
    x: Floats, weight: Floats, start: NDArray[np.intp], count: int
) -> tuple[Floats, Floats, Floats]:
    """Nodes and weights of the Gauss rules of consecutive groups, and how rows are split on them.

    The columns of `split` (rows, count) are the Lagrange polynomials of a group's nodes at its
    rows. The sum of `weight * split * value` over a group, with a value that is known of each row,
    gives the nodes what they need for sums of value * f(x): the same for polynomials f of degree up
    to count - 1. Groups begin at rows `start`; few nodes, since recurrences are not
    re-orthogonalised.
    """
    size = np.diff(start, append=x.size)
    group, total = np.repeat(np.arange(start.size), size), np.add.reduceat(weight, start)
    width = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
    basis = np.zeros((count, x.size))
    basis[0] = 1
    diagonal, beside = np.zeros((start.size, count)), np.zeros((start.size, count))
    for k in range(count):
        own = basis[k]
        diagonal[:, k] = np.add.reduceat(weight * x * own * own, start) / total
        if k + 1 == count:
            break
        following = (x - diagonal[group, k]) * own
        if k:
            following -= beside[group, k - 1] * basis[k - 1]
        norm = np.sqrt(np.add.reduceat(weight * following * following, start) / total)
        beside[:, k] = np.where(norm > EXHAUSTED_GROUP * width, norm, 0)
        inverse = np.divide(1, beside[:, k], out=np.zeros(norm.size), where=beside[:, k] > 0)
        basis[k + 1] = following * inverse[group]
    at = np.arange(count)
    jacobi = np.zeros((start.size, count, count))
    jacobi[:, at, at] = diagonal
    jacobi[:, at[1:], at[:-1]] = jacobi[:, at[:-1], at[1:]] = beside[:, :-1]
    nodes, vectors = np.linalg.eigh(jacobi)
    first = vectors[:, 0]
    split = np.zeros((x.size, count))
    for k in range(count):
        split += basis[k][:, None] * (first * vectors[:, k])[group]
    return nodes, total[:, None] * first**2, split


def _jacobi(x: Floats, root: Floats, count: int) -> tuple[Floats, Floats]:
    """Diagonal and off-diagonal of the Jacobi matrix, from rows of weights `root` squared."""
    basis = np.zeros((count, x.size))
    diagonal, beside = np.zeros(count), np.zeros(count)
    basis[0] = root
    for step in range(count):
        known = basis[: step + 1]
        following = x * basis[step]
        diagonal[step] = basis[step] @ following
        for _ in range(2):
            following -= (known @ following) @ known
        beside[step] = np.sqrt(following @ following)
        if beside[step] <= EXHAUSTED:
            return diagonal[: step + 1], beside[:step]
        if step + 1 < count:
            basis[step + 1] = following / beside[step]
    return diagonal, beside[:-1]
