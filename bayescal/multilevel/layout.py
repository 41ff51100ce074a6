"""Where the effects of several terms stand, and algebra of many small systems at once.

Effects are taken by levels, so that each group has one of each term, and the steps of a walk are
the differences of neighbours. Of 1 x 1 and 2 x 2 matrices, in closed form, points are the last
axis, after that of a vector or those of a matrix. Of triangular systems of any size they are the
first: a loop over the rows of a matrix runs over all points at once, which is faster than one small
system after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.multilevel.problem import MultilevelProblem

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Layout:
    """The levels of the largest exchangeable term, and positions of the average and all else.

    A robust term takes the place of the largest, `inner`. Without an exchangeable term there are no
    levels. Position 0 is the average. The first level of a walk has no effect, and no position.
    `met` are the pairs of positions that a group has both of. Where `is_level`, each group is a
    level of the largest term by itself.
    """

    def __init__(self, problem: MultilevelProblem) -> None:
        self.terms, self.groups = problem.terms, len(problem.labels)
        self.inner, largest = None, (False, 0)
        for k, term in enumerate(self.terms):
            size = term.robust, len(term.levels)
            if term.kind == "exchangeable" and size > largest:
                self.inner, largest = k, size
        self.levels, self.level = largest[1], np.zeros(self.groups, np.intp)
        if self.inner is not None:
            self.level = np.array(self.terms[self.inner].of_group, np.intp)
        every = np.arange(self.groups)
        group, at = [every], [np.zeros_like(every)]
        self.rest, self.starts, self.positions = [], {}, 1
        for k, term in enumerate(self.terms):
            if k != self.inner:
                first = int(term.kind == "walk")
                of_group = np.array(term.of_group, np.intp) - first
                some = np.flatnonzero(of_group >= 0)
                group.append(some)
                at.append(self.positions + of_group[some])
                self.rest.append(k)
                self.starts[k] = self.positions
                self.positions += term.innovations
        self._make_sums(np.concatenate(group), np.concatenate(at))

    def _make_sums(self, group: NDArray[np.intp], at: NDArray[np.intp]) -> None:
        """Sums over the groups of each level, of each position that they have, and of both."""
        every, levels = np.arange(self.groups), self.levels
        self.is_level = levels > 0 and np.unique(self.level).size == self.groups
        self.of_position = _sums(at, group, (self.positions, self.groups))
        self.of_level = None  # of groups that are the levels, in order
        if levels != self.groups or np.any(self.level != every):
            self.of_level = _sums(self.level, every, (levels, self.groups), levels > 0)
        crossed = self.level[group] * self.positions + at
        shape = levels * self.positions, self.groups
        self.of_both = _sums(crossed, group, shape, levels > 0)
        self.of_group = self.of_position.T.tocsr()
        # The pairs of positions of each group: of as many as the groups have at most.
        order = np.argsort(group, kind="stable")
        group, at = group[order], at[order]
        number = np.arange(group.size) - np.searchsorted(group, group)
        owned = np.full((self.groups, number.max() + 1), -1)
        owned[group, number] = at
        first, second = np.broadcast_arrays(owned[:, :, None], owned[:, None])
        has, row, column = np.nonzero((first >= 0) & (second >= 0))
        pair = first[has, row, column] * self.positions + second[has, row, column]
        met = np.unique(pair)
        self.met = np.divmod(met, self.positions)
        self.of_two = _sums(np.searchsorted(met, pair), has, (met.size, self.groups))

    def of_groups(self, rest: Floats, r: int) -> Floats:
        """What the rest, of shape (n, R), adds to the coordinates of groups, (groups, r, n)."""
        by_position = rest.reshape(len(rest), self.positions, r).transpose(1, 2, 0)
        return sums_of(self.of_group, by_position)

    def structure(self, term: int) -> Floats:
        """Prior precision of the positions of a term other than the largest, at a scale of one."""
        own, size = self.terms[term], self.terms[term].innovations
        if own.kind == "exchangeable":
            return np.eye(size)
        step = np.diff(np.eye(size + 1), axis=0)[:, 1:]
        return np.asarray(step.T / np.array(own.elapsed) @ step)

    def effects(self, levels: Floats, rest: Floats) -> tuple[Floats, ...]:
        """Effects of each term, (levels, n, r), from those of the largest and of the positions."""
        each = []
        for k, term in enumerate(self.terms):
            effects = levels
            if k != self.inner:
                effects = rest[self.starts[k] : self.starts[k] + term.innovations]
            if term.kind == "walk":
                effects = np.concatenate([np.zeros_like(effects[:1]), effects])
            each.append(effects)
        return tuple(each)


def sums_of(sums: csr_array | None, values: Floats) -> Floats:
    """Sums over groups or positions, for values of shape (groups or positions, ..., n).

    The values themselves where each is a sum.
    """
    if sums is None:
        return values
    flat = sums @ values.reshape(len(values), -1)
    return np.asarray(flat).reshape(sums.shape[0], *values.shape[1:])


def _sums(
    row: NDArray[np.intp], column: NDArray[np.intp], shape: tuple[int, int], some: bool = True
) -> csr_array:
    """The matrix whose products are sums of columns; without entries, if there are no rows."""
    from scipy import sparse

    if not some:
        return sparse.csr_array(shape)
    return sparse.csr_array((np.ones(row.size), (row, column)), shape=shape)


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


# By operations on whole arrays: `einsum` takes longer where points are not next to each other in
# memory, as they are after some of them were chosen.
def products(matrices: Floats, vectors: Floats) -> Floats:
    """Matrices (..., r, r, n) times vectors (..., r, n)."""
    product = matrices[..., 0, :] * vectors[..., :1, :]
    for k in range(1, vectors.shape[-2]):
        product += matrices[..., k, :] * vectors[..., k : k + 1, :]
    return np.asarray(product)


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
