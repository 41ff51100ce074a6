"""Where the effects of several terms stand: levels of the largest term, and the rest beside them.

Effects are taken by levels, so that each group has one of each term, and the steps of a walk are
the differences of neighbours.
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

__all__ = ["Layout", "sums_of"]


class Layout:
    """The levels of the largest exchangeable term, and positions of the average and all else.

    A robust term takes the place of the largest. Without an exchangeable term there are no levels.
    Position 0 is the average. The first level of a walk has no effect, and no position.

    Attributes
    ----------
    inner : int or None
        Index of the largest exchangeable term.
    level : ndarray of int of shape (groups,)
        The level of that term that each group has.
    positions : int
        How many positions the rest has.
    met : tuple of two ndarrays of int
        The pairs of positions that a group has both of.
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
