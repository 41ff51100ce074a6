"""Where the effects of several terms stand, and algebra of many small systems at once.

Effects are taken by levels, so that each group has one of each term, and the steps of a walk are
the differences of neighbours. Of 1 x 1 and 2 x 2 matrices, in closed form, points are the last
axis, after that of a vector or those of a matrix. Of triangular systems of any size they are the
first: a loop over the rows of a matrix runs over all points at once, which is faster than one small
system after the other.
"""

from __future__ import annotations

from functools import cached_property
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
    `met` are the pairs of positions that a group has both of.
    """

    def __init__(self, problem: MultilevelProblem) -> None:
        self.terms, self.groups = problem.terms, len(problem.labels)
        exchangeable = [k for k, term in enumerate(self.terms) if term.kind == "exchangeable"]
        self.inner = max(
            exchangeable,
            key=lambda k: (self.terms[k].robust, len(self.terms[k].levels)),
            default=None,
        )
        self.levels, self.level = 0, np.zeros(self.groups, np.intp)
        if self.inner is not None:
            term = self.terms[self.inner]
            self.levels, self.level = len(term.levels), np.array(term.of_group, np.intp)
        self.rest = [k for k in range(len(self.terms)) if k != self.inner]
        self.starts, self.positions = {}, 1
        for k in self.rest:
            self.starts[k] = self.positions
            self.positions += self.terms[k].innovations
        self._make_sums()

    def _make_sums(self) -> None:
        """Sums over the groups of each level, of each position, and of both together."""
        pairs = [(np.arange(self.groups), np.zeros(self.groups, np.intp))]
        for k in self.rest:
            term = self.terms[k]
            first = int(term.kind == "walk")
            of_group = np.array(term.of_group, np.intp)
            some = np.flatnonzero(of_group >= first)
            pairs.append((some, self.starts[k] + of_group[some] - first))
        groups, at = (np.concatenate(each) for each in zip(*pairs, strict=True))
        self.of_position = _sums(at, groups, (self.positions, self.groups))
        every = np.arange(self.groups)
        self.of_level = _sums(self.level, every, (self.levels, self.groups), self.levels > 0)
        size = self.levels * self.positions
        crossed = self.level[groups] * self.positions + at
        self.of_both = _sums(crossed, groups, (size, self.groups), self.levels > 0)
        design = self.of_position.T.tocsr()
        owned = [design.indices[design.indptr[g] : design.indptr[g + 1]] for g in every]
        two = [(own[:, None] * self.positions + own).ravel() for own in owned]
        of_group = np.repeat(every, [each.size for each in two])
        pairs_of_groups = np.concatenate(two)
        met = np.unique(pairs_of_groups)
        self.met = np.divmod(met, self.positions)
        row = np.searchsorted(met, pairs_of_groups)
        self.of_two = _sums(row, of_group, (met.size, self.groups))
        self.of_group = design

    def of_groups(self, rest: Floats, r: int) -> Floats:
        """What the rest, of shape (n, R), adds to the coordinates of groups, (groups, r, n)."""
        by_position = rest.reshape(len(rest), self.positions, r).transpose(1, 2, 0)
        return sums_of(self.of_group, by_position)

    @cached_property
    def is_level(self) -> bool:
        """Whether each group is a level of the largest term by itself."""
        return self.inner is not None and np.unique(self.level).size == self.groups

    def structure(self, term: int) -> Floats:
        """Prior precision of the positions of a term other than the largest, at a scale of one."""
        own, size = self.terms[term], self.terms[term].innovations
        if own.kind == "exchangeable":
            return np.eye(size)
        step = np.diff(np.eye(size + 1), axis=0)[:, 1:]
        return np.asarray(step.T / np.array(own.elapsed) @ step)

    def effects_of(self, term: int, levels: Floats, rest: Floats) -> Floats:
        """Effects of a term, (levels, n, r), from those of the largest and of the positions."""
        if term == self.inner:
            return levels
        own, start = self.terms[term], self.starts[term]
        effects = rest[start : start + own.innovations]
        if own.kind == "exchangeable":
            return effects
        return np.concatenate([np.zeros_like(effects[:1]), effects])


def sums_of(sums: csr_array, values: Floats) -> Floats:
    """Sums over groups or positions, for values of shape (groups or positions, ..., n)."""
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
