"""Stacks of 1 x 1 and 2 x 2 positive definite matrices in closed form. Arrays only.

Points are the last axis, after that of a vector or those of a matrix.
"""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["covariance_factor", "products", "solve_small"]


def solve_small(matrices: Floats, vectors: Floats) -> Floats:
    """Solutions of symmetric systems, for matrices (..., r, r, n) and vectors (..., r, n)."""
    first, a = matrices[..., 0, 0, :], vectors[..., 0, :]
    solution = np.empty(vectors.shape)
    if vectors.shape[-2] == 1:
        np.divide(a, first, out=solution[..., 0, :])
        return solution
    off, last, b = matrices[..., 0, 1, :], matrices[..., 1, 1, :], vectors[..., 1, :]
    det = first * last - off**2
    solution[..., 0, :] = (last * a - off * b) / det
    solution[..., 1, :] = (first * b - off * a) / det
    return solution


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
