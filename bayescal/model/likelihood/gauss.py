"""Gauss rules: a few nodes that stand for all rows in sums of smooth functions. Arrays only."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats

__all__ = ["gauss_rule"]

EXHAUSTED = 1e-13
"""Share of the half range of the log-odds below which a recurrence has no next step."""


def gauss_rule(x: Floats, weight: Floats, count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of the Gauss rule of weighted log-odds.

    Sums of a polynomial in log-odds of degree up to 2 count - 1 are the same over the nodes as over
    the rows. Nodes are the eigenvalues of the Jacobi matrix, which Lanczos steps with full
    re-orthogonalisation build from the rows.

    Parameters
    ----------
    x : ndarray of shape (rows,)
        Log-odds, ascending.
    weight : ndarray of shape (rows,)
        Positive.
    count : int
        Nodes, at most one a row.

    Returns
    -------
    nodes : ndarray of shape (nodes,)
        Ascending; fewer than `count` where fewer are exact.
    weight : ndarray of shape (nodes,)

    References
    ----------
    Golub & Welsch (1969), Calculation of Gauss quadrature rules, Mathematics of Computation 23,
    221-230.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.model.likelihood.gauss import gauss_rule
    >>> nodes, weight = gauss_rule(np.array([-1.0, 0.0, 1.0]), np.ones(3), 2)
    >>> (nodes**2).round(6), weight.round(6)
    (array([0.666667, 0.666667]), array([1.5, 1.5]))
    """
    middle, half = (x[0] + x[-1]) / 2, max((x[-1] - x[0]) / 2, np.finfo(float).tiny)
    unit, total = (x - middle) / half, weight.sum()
    diagonal, beside = _jacobi(unit, np.sqrt(weight / total), count)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return middle + half * nodes, total * vectors[0] ** 2


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
