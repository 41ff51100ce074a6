"""Cases in bins of equal width or mass, and what is summed over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import betaincinv

from bayescal.core.arrays import BLOCK, Floats, blocks
from bayescal.core.errors import InputError, as_count, check_choice
from bayescal.data.cases import aligned, as_vector, check_same_length
from bayescal.data.read import Cases
from bayescal.data.rows import add_up, levels_of
from bayescal.data.weights import are_counts
from bayescal.estimators.registry import OutcomesLike, read

BINNINGS = ("mass", "quantile", "rank", "width")
TIES = ("split", "together")
MOST_BINS_ASKED = 1_000_000
BINS_SAME = 1e-9

# Bits of a score times the number of bins as a whole number, which fits into 32 with its sign.
WHOLE_BITS = 30
_MOST_CELLS = 4096
_CASES_PER_CELL = 16

Index = NDArray[np.int32]


@dataclass(frozen=True)
class Members:
    """Every case in one bin; a weight of None counts all once.

    `find` gives the bins of a part of the cases: of equal width, finding one again takes less time
    than storing it.
    """

    find: Callable[[slice], NDArray[Any]]
    size: int
    n_bins: int
    weight: Floats | None

    @classmethod
    def of(cls, index: Index, n_bins: int, weight: Floats | None) -> Self:
        """Members from the bin of every case."""
        return cls(index.__getitem__, index.size, n_bins, weight)

    @cached_property
    def index(self) -> Index:
        """The bin of every case."""
        index = np.empty(self.size, np.int32)
        for part in blocks(self.size):
            index[part] = self.find(part)
        return index

    @cached_property
    def _matrix(self) -> Any:
        weight = np.ones(self.size) if self.weight is None else self.weight
        ends = np.arange(self.size + 1)
        return sparse.csc_array((weight, self.index, ends), shape=(self.n_bins, self.size))

    def __matmul__(self, values: NDArray[Any]) -> Floats:
        """Weighted sums of the cases' values over each bin."""
        if values.ndim == 1:
            return self.sums(lambda part: values[part])
        return np.asarray(self._matrix @ values)

    def sums(self, values: Callable[[slice], NDArray[Any]]) -> Floats:
        """The same for values made block by block, so that they are never all in memory."""
        if self.weight is None:
            return self._tally(values)
        weight = self.weight
        return self._tally(lambda part: values(part) * weight[part])

    @property
    def mass(self) -> Floats:
        """Weight in each bin."""
        weight = self.weight
        return self._tally(lambda part: None if weight is None else weight[part])

    def _tally(self, values: Callable[[slice], NDArray[Any] | None]) -> Floats:
        total: Any = 0.0
        for part in blocks(self.size, room=max(BLOCK, self.n_bins)):
            index, each = self.find(part), values(part)
            if each is None:
                total = np.bincount(index, minlength=self.n_bins) + total
            else:
                total = add_up(index, each, self.n_bins) + total
        return np.asarray(total)


class Bins:
    """Scores in bins. Empty bins have no mass, and a score, rate and gap of 0.

    `shares`, Members or sparse (bins, cases), is the weight that each case puts into each bin.
    """

    def __init__(self, scores: NDArray[Any], weights: Floats | None, shares: Any) -> None:
        self.shares = shares
        self._scores = scores
        self._weights = weights

    @cached_property
    def mass(self) -> Floats:
        """Weight of the cases of each bin."""
        if isinstance(self.shares, Members):
            return self.shares.mass
        return np.asarray(self.shares @ np.ones(self._scores.size))

    @cached_property
    def score(self) -> Floats:
        """Mean score of each bin."""
        if not isinstance(self.shares, Members):
            return self.mean(self._scores)
        return self._per_mass(self.shares.sums(self._score_of))

    @property
    def total(self) -> float:
        """Weight of all cases."""
        return float(self._scores.size if self._weights is None else self._weights.sum())

    def rate(self, outcomes: NDArray[Any]) -> Floats:
        """Mean outcome of each bin, of shape (replicates, bins)."""
        if len(outcomes) == 1:
            hits = (self.shares @ outcomes[0])[None]
        else:
            hits = (self.shares @ np.ascontiguousarray(outcomes.T, dtype=np.float64)).T
        return np.asarray(np.minimum(self._per_mass(hits), 1))

    def excess(self, outcomes: NDArray[Any]) -> Floats:
        """Events of each bin less those expected by the scores, of shape (replicates, bins)."""
        if len(outcomes) == 1 and isinstance(self.shares, Members):

            def miss(part: Any) -> Floats:  # converted first: NumPy takes longer at two types
                hits, scores = (np.float64(each[part]) for each in (outcomes[0], self._scores))
                return np.asarray(hits - scores)

            return self.shares.sums(miss)[None]
        return (self.rate(outcomes) - self.score) * self.mass

    def gap(self, outcomes: NDArray[Any]) -> Floats:
        """Mean outcome of each bin less its mean score, of shape (replicates, bins)."""
        return self._per_mass(self.excess(outcomes))

    def deviation(self, rate: Floats) -> Floats:
        """Mean |score - rate| over each bin, which has one rate and every case in one bin."""
        find = self.shares.find
        return self._per_mass(
            self.shares.sums(lambda part: np.abs(self._score_of(part) - rate[find(part)]))
        )

    def mean(self, values: NDArray[Any]) -> Floats:
        """Mean over each bin of one value for each case."""
        return self._per_mass(self.shares @ values)

    def _score_of(self, part: slice) -> Floats:
        return np.asarray(self._scores[part].astype(np.float64, copy=False))

    def _per_mass(self, sums: Floats) -> Floats:
        return np.asarray(sums / np.where(self.mass > 0, self.mass, 1))


def bins_of(
    scores: NDArray[Any], weights: Floats | None, n_bins: int, binning: str, ties: str
) -> Bins:
    """Cut the scores, of 64 or 32 bits; see `bayescal.estimators.ece` for the options."""
    if binning == "width":
        return Bins(scores, weights, _width_members(scores, weights, n_bins))
    cuts = _cuts(scores.size if weights is None else weights, n_bins, binning)
    if ties == "together":
        index = _mass_index(scores, weights, cuts)
        return Bins(scores, weights, Members.of(index, n_bins, weights))
    scores = scores.astype(np.float64, copy=False)
    return Bins(scores, weights, _split_shares(scores, weights, cuts))


def width_index(scores: NDArray[Any], n_bins: int) -> Index:
    """How many of the edges 1/n, ..., (n - 1)/n lie strictly below each score."""
    return _width_members(scores, None, n_bins).index


def _width_members(scores: NDArray[Any], weights: Floats | None, n_bins: int) -> Members:
    """Members of bins of equal width.

    A score times n is rounded down to whole parts of a bin: the upper bits are the bin. Rounding
    can carry a score up to an edge but never past the next, so that where there are no parts, one
    comparison with that edge is exact.
    """
    bits = WHOLE_BITS - n_bins.bit_length()

    def find(part: slice) -> NDArray[np.intp]:
        score = scores[part].astype(np.float64, copy=False)
        parts = (score * (n_bins << bits)).astype(np.int32)
        index = (parts >> bits).astype(np.intp)
        parts &= (1 << bits) - 1
        if not np.minimum.reduce(parts):
            index -= (score <= index / n_bins) & (index > 0)
        return index

    return Members(find, scores.size, n_bins, weights)


def mass_cuts(k: Any, n_bins: Any, cases: Any, binning: str) -> Any:
    """How many of the sorted cases stand before the k-th of the cuts into bins of equal mass."""
    if binning == "mass":
        each, extra = np.divmod(cases, n_bins)
        return k * each + np.minimum(k, extra)
    if binning == "rank":
        return np.ceil(k * cases / n_bins)
    return np.floor(k * (cases - 1) / n_bins) + 1


def _cuts(weights: Floats | int, n_bins: int, binning: str) -> Floats:
    """Weight before each cut, without the ends."""
    k = np.arange(1.0, n_bins)
    if isinstance(weights, int) or are_counts(weights):
        return np.asarray(mass_cuts(k, n_bins, np.sum(weights), binning))
    # so that rounding in the sums parts no case from its bin
    return float(weights.sum()) * (k / n_bins - BINS_SAME)


def _mass_index(scores: NDArray[Any], weights: Floats | None, cuts: Floats) -> Index:
    """The bin of each case when equal scores all go to the bin of their first.

    That is the number of cuts with no more weight before them than the case has. Scores are counted
    in narrow cells; only the cases in cells that a cut falls into are sorted.
    """
    cells = min(_MOST_CELLS, scores.size // _CASES_PER_CELL + 1)
    index = width_index(scores, cells)
    mass = Members.of(index, cells, weights).mass
    above = np.cumsum(mass)
    below = above - mass
    first = np.searchsorted(cuts, below, side="right")
    parted = np.searchsorted(cuts, above) > first
    bin_of_cell = np.where(parted, -1 - np.arange(cells), first).astype(np.int32)
    for part in blocks(scores.size):
        index[part] = bin_of_cell.take(index[part])
    within = np.flatnonzero(index < 0)
    case = within[np.argsort(scores[within])]
    cell = -1 - index[case]
    weight = np.ones(case.size) if weights is None else weights[case]
    before = np.cumsum(weight) - weight
    before += below[cell] - before[np.searchsorted(cell, cell)]
    same = np.searchsorted(scores[case], scores[case])
    index[case] = np.searchsorted(cuts, before[same], side="right")
    return index


def _split_shares(scores: Floats, weights: Floats | None, cuts: Floats) -> Any:
    """Cases with equal scores share out the bins that they reach into."""
    weight = np.ones(scores.size) if weights is None else weights
    levels = levels_of(scores)
    group = levels.row
    above = np.cumsum(levels.totals(weight))
    below = np.concatenate([[0.0], above[:-1]])
    first = np.searchsorted(cuts, below, side="right")
    last = np.maximum(np.searchsorted(cuts, above, side="left"), first)
    reach = (last - first + 1)[group]
    ends = np.concatenate([[0], np.cumsum(reach)])
    case = np.repeat(np.arange(group.size), reach)
    index = first[group][case] + np.arange(case.size) - ends[case]
    edges = np.concatenate([[0.0], cuts, above[-1:]])
    row = group[case]
    overlap = np.minimum(above[row], edges[index + 1]) - np.maximum(below[row], edges[index])
    mass = (above - below)[row]
    share = weight[case] * np.maximum(overlap, 0) / np.where(mass > 0, mass, 1)
    return sparse.csc_array((share, index, ends), shape=(edges.size - 1, group.size))


def as_cut(n_bins: Any, binning: Any, ties: Any) -> dict[str, Any]:
    """Options of `bins_of`, each valid."""
    return {
        "n_bins": as_bins(n_bins),
        "binning": check_choice(binning, BINNINGS, "binning"),
        "ties": check_choice(ties, TIES, "ties"),
    }


def as_bins(n_bins: Any, name: str = "n_bins") -> int:
    """A number of bins, or an error."""
    return as_count(n_bins, name, 1, MOST_BINS_ASKED)


# The cell of each case, counted from 0.
Labels = NDArray[np.int32]


def as_labels(cells: ArrayLike, size: int) -> Labels:
    """Labels of any kind as numbers from 0, in ascending order of the labels."""
    labels = as_vector(cells, "cells")
    check_same_length(labels.size, "cells", size, "y_prob")
    try:
        names, index = np.unique(labels, return_inverse=True)
        missing = bool((names != names).any())
    except TypeError:
        missing = True
    if missing:
        raise InputError(
            "cells has missing labels, or labels of several kinds that have no order. "
            "Pass one number or one name for each case."
        )
    return index.astype(np.int32)


def read_with_cells(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    cells: ArrayLike | None,
) -> tuple[Cases, Labels | None]:
    """Cases, and the cell of each where cells are given: of a table, which has no order, none."""
    if cells is None:
        return read(y_true, y_prob, sample_weight, single=True), None
    y_true, y_prob, sample_weight, cells = aligned(
        y_true=y_true,
        y_prob=y_prob,
        sample_weight=sample_weight,
        cells=cells,
        across={"y_true"},
    )
    cases = read(y_true, y_prob, sample_weight, needs="order", single=True)
    return cases, as_labels(cells, cases.scores.size)


def bins_of_labels(scores: NDArray[Any], weights: Floats | None, cells: Labels) -> Bins:
    """A bin for each cell."""
    return Bins(scores, weights, Members.of(cells, int(cells.max()) + 1, weights))


def bins_or_cells(
    scores: NDArray[Any], weights: Floats | None, *, cells: Labels | None = None, **cut: Any
) -> Bins:
    """Cells where they are given, else bins of the scores."""
    if cells is None:
        return bins_of(scores, weights, **cut)
    return bins_of_labels(scores, weights, cells)


def jeffreys(trials: Floats, hits: Floats, ci_prob: float) -> tuple[Floats, Floats]:
    """Jeffreys interval of a binomial proportion (Brown, Cai & DasGupta 2001, section 4.3).

    0, or 1, where no case, or every case, had the event; so 0 to 1 where there is no case.
    """
    tail = (1 - ci_prob) / 2
    a, b = hits + 0.5, trials - hits + 0.5
    lower = np.where(hits > 0, betaincinv(a, b, tail), 0.0)
    upper = np.where(hits < trials, betaincinv(a, b, 1 - tail), 1.0)
    return lower, upper


class Cells(NamedTuple):
    """Distinct pairs of score and outcome, ascending; whether every count is an integer."""

    scores: Floats
    outcomes: Floats
    counts: Floats
    size: int
    integral: bool


def cells_of(outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> Cells:
    """Collapse cases to cells; weights are numbers of cases."""
    weight = np.ones(scores.size) if weights is None else weights
    order = np.lexsort((outcomes, scores))
    order = order[weight[order] > 0]
    scores, outcomes = scores[order], outcomes[order]
    new = (scores[1:] != scores[:-1]) | (outcomes[1:] != outcomes[:-1])
    first = np.flatnonzero(np.concatenate([[True], new]))
    counts = np.add.reduceat(weight[order], first)
    size = round(float(weight.sum()))
    return Cells(scores[first], outcomes[first], counts, size, are_counts(weight))
