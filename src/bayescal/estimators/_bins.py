"""Scores put into bins once, so that outcomes enter only through their sums over the bins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayescal._validate import Floats, check_choice
from bayescal.errors import InputError

__all__ = ["SAME", "Bins", "as_bins", "bins_of", "width_index"]

_BINNINGS = ("mass", "width")
_TIES = ("split", "together")
MOST_BINS = 1_000_000
SAME = 1e-9


class Bins(NamedTuple):
    """Scores in bins. Empty bins have no mass, and a score and rate of 0.

    Attributes
    ----------
    shares : sparse array of shape (bins, cases)
        Weight that each case puts into each bin; None when bins were cut for many weightings.
    mass, score : ndarray of shape (bins,) or (replicates, bins)
        Total weight and mean score.
    cases : ndarray of shape (bins,) or (replicates, bins)
        The weight as a number of cases: for sampling weights, on the scale of Kish's size.
    """

    shares: Any
    mass: Floats
    score: Floats
    cases: Floats

    def rate(self, outcomes: NDArray[Any]) -> Floats:
        """Mean outcome of each bin, of shape (replicates, bins)."""
        hits = self.shares @ np.ascontiguousarray(outcomes.T, dtype=np.float64)
        rate: Floats = hits.T / np.where(self.mass > 0, self.mass, 1)
        return rate


def bins_of(scores: Floats, weights: Floats | None, n_bins: int, binning: str, ties: str) -> Bins:
    """Cut the scores; see `bayescal.estimators.ece` for the options."""
    check_choice(binning, _BINNINGS, "binning")
    check_choice(ties, _TIES, "ties")
    weight = np.ones(scores.size) if weights is None else weights
    if binning == "width":
        shares = _shares(width_index(scores, n_bins), weight, n_bins)
    elif ties == "together":
        shares = _shares(_mass_index(scores, weight, n_bins), weight, n_bins)
    else:
        shares = _split_shares(scores, weight, n_bins)
    mass = shares @ np.ones(scores.size)
    score = shares @ scores / np.where(mass > 0, mass, 1)
    return Bins(shares, mass, score, mass if weights is None else mass * _kish(weights))


def _kish(weight: Floats) -> float:
    """Effective cases in a unit of weight: 1 when the weights are case counts."""
    whole = (weight % 1 == 0).all()
    return 1.0 if whole else float(weight.sum() / (weight @ weight))


def _shares(index: NDArray[np.intp], weight: Floats, n_bins: int) -> Any:
    """Every case in the one bin that its index says."""
    ends = np.arange(index.size + 1)
    return sparse.csc_array((weight, index, ends), shape=(n_bins, index.size))


def width_index(scores: Floats, n_bins: int) -> NDArray[np.intp]:
    """How many of the edges 1/n, ..., (n - 1)/n lie strictly below each score.

    Rounding can carry the product up to an edge but never past the next one, so that one
    comparison with the edge below is exact.
    """
    edges = np.arange(n_bins + 1) / n_bins
    edges[0] = -1
    index = (scores * n_bins).astype(np.intp)
    return index - (scores <= edges[index])


def _mass_index(scores: Floats, weight: Floats, n_bins: int) -> NDArray[np.intp]:
    """The bin of each case when equal scores all go to the bin of their first."""
    row, below, _ = _stacked(scores, weight)
    cuts = _cuts(weight, n_bins)[1:-1]
    return np.searchsorted(cuts, below, side="right")[row]


def _split_shares(scores: Floats, weight: Floats, n_bins: int) -> Any:
    """Cases with equal scores share out the bins that they reach into."""
    row, below, above = _stacked(scores, weight)
    cuts = _cuts(weight, n_bins)
    first = np.searchsorted(cuts[1:-1], below, side="right")
    last = np.maximum(np.searchsorted(cuts[1:-1], above, side="left"), first)
    reach = (last - first + 1)[row]
    ends = np.concatenate([[0], np.cumsum(reach)])
    case = np.repeat(np.arange(row.size), reach)
    index = first[row][case] + np.arange(case.size) - ends[case]
    group = row[case]
    overlap = np.minimum(above[group], cuts[index + 1]) - np.maximum(below[group], cuts[index])
    held = (above - below)[group]
    share = weight[case] * np.maximum(overlap, 0) / np.where(held > 0, held, 1)
    return sparse.csc_array((share, index, ends), shape=(n_bins, row.size))


def _stacked(scores: Floats, weight: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Group of equal scores that each case is in, and the weight below and up to each group."""
    _, row = np.unique(scores, return_inverse=True)
    above: Floats = np.cumsum(np.bincount(row, weight))
    return row, np.concatenate([[0.0], above[:-1]]), above


def _cuts(weight: Floats, n_bins: int) -> Floats:
    """Where the sorted cases are cut, ends included: as `numpy.array_split` does."""
    total, k = float(weight.sum()), np.arange(n_bins + 1.0)
    if (weight % 1 == 0).all():
        each, extra = divmod(total, n_bins)
        counted: Floats = k * each + np.minimum(k, extra)
        return counted
    cuts = total * (k / n_bins - SAME)  # so that rounding in the sums parts no case from its bin
    cuts[[0, -1]] = 0, total
    return cuts


def as_bins(n_bins: Any) -> int:
    """A number of bins, or an error."""
    whole = isinstance(n_bins, (int, np.integer)) and not isinstance(n_bins, bool)
    if not whole or not 1 <= n_bins <= MOST_BINS:
        raise InputError(f"n_bins must be a whole number from 1 to {MOST_BINS:,}, got {n_bins!r}.")
    return int(n_bins)
