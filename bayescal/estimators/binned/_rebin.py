"""Scores put into bins anew for each of many weightings of the same cases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.estimators.binned.bins import Rebins, mass_cuts, width_index

__all__ = ["rebinned", "search_rows", "starts_of"]


def rebinned(
    scores: Floats, outcomes: Floats, weights: Floats, *, n_bins: int, binning: str, ties: str
) -> tuple[Rebins, Floats]:
    """Bins of every weighting, as `bins_of` would cut it, and their mean outcomes.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        In ascending order.
    outcomes : ndarray of shape (n_samples,)
    weights : ndarray of shape (replicates, n_samples)
        Whole numbers of cases.

    Returns
    -------
    bins : Rebins
        With "width" only bins that hold a score.
    rate : ndarray of shape (replicates, bins)
    """
    if binning == "width":
        starts = starts_of(width_index(scores, n_bins))
        parts = [weights, weights * scores, weights * outcomes]
        mass, score, hits = (np.add.reduceat(part, starts, axis=1) for part in parts)
    else:
        starts = starts_of(scores)
        trials, events = weights, weights * outcomes
        if starts.size < scores.size:
            trials, events = (np.add.reduceat(part, starts, axis=1) for part in (trials, events))
        mass, score, hits = _cut(scores[starts], trials, events, n_bins, binning, ties)
    divisor = np.where(mass > 0, mass, 1)
    return Rebins(mass, score / divisor), np.clip(hits / divisor, 0, 1)


def starts_of(values: NDArray[np.generic]) -> NDArray[np.intp]:
    """Where each run of equal values begins."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


def _cut(
    scores: Floats, trials: Floats, events: Floats, n_bins: int, binning: str, ties: str
) -> tuple[Floats, Floats, Floats]:
    """Cases, sum of scores and events of bins of equal mass, from those at each distinct score."""
    above = np.cumsum(trials, axis=1)
    total = above[:, -1:]
    number = min(n_bins, int(total.max()))  # further ones would stay empty
    cuts = mass_cuts(np.arange(1.0, number), number, total, binning)
    index = search_rows(above, cuts)
    beyond = (_take(above, index) - cuts) / _take(trials, index) * (ties == "split")

    def between(values: Floats) -> Floats:
        sums = _sums(values, index + 1)
        moved = beyond * _take(values, index)
        sums[:, :-1] -= moved
        sums[:, 1:] += moved
        return sums

    return between(trials), between(trials * scores), between(events)


def _sums(rows: Floats, ends: NDArray[np.intp]) -> Floats:
    """Sums of each row from its start to the first end, from there to the next, and so on."""
    count, size = rows.shape
    starts = np.zeros((count, ends.shape[1] + 1), dtype=np.intp)
    starts[:, 1:] = ends
    starts += size * np.arange(count)[:, None]
    flat = starts.ravel()
    nonempty = np.diff(flat, append=rows.size) > 0
    sums = np.zeros(flat.size)
    sums[nonempty] = np.add.reduceat(rows.ravel(), flat[nonempty])
    return sums.reshape(starts.shape)


def _take(values: Floats, index: NDArray[np.intp]) -> Floats:
    return np.take_along_axis(values, index, axis=1)


def search_rows(rows: Floats, values: Floats) -> NDArray[np.intp]:
    """First index at which each ascending row of counts reaches each of its values."""
    count, size = rows.shape
    ends = np.cumsum(rows[:, -1:] + 1, axis=0)
    shift = ends - rows[:, -1:]
    position = np.searchsorted((rows + shift).ravel(), (values + shift).ravel())
    inside: NDArray[np.intp] = position.reshape(values.shape) - size * np.arange(count)[:, None]
    return inside
