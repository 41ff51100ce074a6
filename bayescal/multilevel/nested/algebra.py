"""Algebra of many small systems at once. Arrays only.

Of 1 x 1 and 2 x 2 matrices, in closed form, points are the last axis, after that of a vector or
those of a matrix. Of triangular systems of any size they are the first: a loop over the rows of a
matrix runs over all points at once, which is faster than one small system after the other.
"""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

__all__ = [
    "covariance_factor",
    "inverses",
    "products",
    "right",
    "solve_lower",
    "solve_upper",
    "squared",
    "times",
]


def covariance_factor(precision: Floats) -> Floats:
    """Lower Cholesky factors of the inverses of matrices (..., r, r, n), of their shape."""
    factor, first = np.zeros(precision.shape), precision[..., 0, 0, :]
    if precision.shape[-2] == 1:
        factor[..., 0, 0, :] = 1 / np.sqrt(first)
        return factor
    off, last = precision[..., 0, 1, :], precision[..., 1, 1, :]
    alone = first - off**2 / last  # of the first, with the second integrated out
    factor[..., 0, 0, :] = 1 / np.sqrt(alone)
    factor[..., 1, 0, :] = -off / last * factor[..., 0, 0, :]
    factor[..., 1, 1, :] = 1 / np.sqrt(last)
    return factor


def products(matrices: Floats, vectors: Floats) -> Floats:
    """Matrices (..., r, r, n) times vectors (..., r, n)."""
    product = matrices[..., 0, :] * vectors[..., :1, :]
    for k in range(1, vectors.shape[-2]):
        product += matrices[..., k, :] * vectors[..., k : k + 1, :]
    return np.asarray(product)


def inverses(scales: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Inverse covariances (r, r, n) for scales (n, r), and logarithms of their determinants."""
    n, r = scales.shape
    precision = np.empty((r, r, n))
    left = (1 - correlation) * (1 + correlation)
    for i in range(r):
        for j in range(r):
            share = 1.0 if i == j else -correlation
            precision[i, j] = share / (scales[:, i] * scales[:, j] * left)
    return precision, -2 * np.log(scales).sum(axis=1) - (np.log(left) if r > 1 else 0.0)


def times(factor: Floats, values: Floats, *, transposed: bool = False) -> Floats:
    """Lower factors (L, r, r, n), or their transposes, times values of shape (L, r, n)."""
    product = np.zeros(values.shape)
    for i in range(values.shape[1]):
        for k in range(i + 1):
            if transposed:
                product[:, k] += factor[:, i, k] * values[:, i]
            else:
                product[:, i] += factor[:, i, k] * values[:, k]
    return product


def right(values: Floats, factor: Floats) -> Floats:
    """Matrices (L, k, r, n) times lower factors (L, r, r, n)."""
    product = np.zeros((*values.shape[:3], factor.shape[-1]))
    for i in range(values.shape[2]):
        for k in range(i, values.shape[2]):
            product[:, :, i] += values[:, :, k] * factor[:, k, i, None]
    return product


def squared(values: Floats) -> Floats:
    """Matrices (L, r, r, n) times their transposes."""
    square = values[:, :, None, 0] * values[:, None, :, 0]
    for k in range(1, values.shape[2]):
        square += values[:, :, None, k] * values[:, None, :, k]
    return np.asarray(square)


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
