"""Step functions of the score: exact rows, cuts at equal mass, and the map that they make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.table import levels_of
from bayescal.recalibrate._base import Recalibrator

__all__ = ["Rows", "StepRecalibrator", "Steps", "cuts_between", "equal_mass", "exact_rows"]

_SAME = 1e-9


class Rows(NamedTuple):
    """Cases with equal scores, in ascending order of score."""

    score: Floats
    trials: Floats
    hits: Floats


class Steps(NamedTuple):
    """A step function: `level[i]` up to and including `edge[i]`, the last one beyond them all."""

    edge: Floats
    level: Floats


class StepRecalibrator(Recalibrator):
    """A step function of the score; a method writes `_steps`."""

    reaches_zero = True
    edges_: Floats
    levels_: Floats

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.edges_, self.levels_ = self._steps(scores, outcomes, weights)

    def _map(self, scores: Floats) -> Floats:
        levels: Floats = self.levels_[np.searchsorted(self.edges_, scores, side="left")]
        return levels

    def _steps(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> Steps:
        raise NotImplementedError


def exact_rows(scores: Floats, outcomes: Floats, weights: Floats | None) -> Rows:
    """One row for each distinct score."""
    levels = levels_of(scores)
    if weights is None:
        return Rows(levels.score, levels.cases().astype(np.float64), levels.totals(outcomes))
    return Rows(levels.score, levels.totals(weights), levels.totals(weights * outcomes))


def equal_mass(
    trials: Floats, n_bins: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cut rows into bins of equal mass, for several numbers of bins at once.

    A row goes to the bin where its first case falls, so that some bins may stay empty; those are
    left out.

    Returns
    -------
    scheme : ndarray of shape (bins,)
        Index into `n_bins` of each bin that holds cases.
    first : ndarray of shape (bins,)
        Its first row.
    """
    scheme = np.repeat(np.arange(n_bins.size), n_bins)
    index = np.arange(scheme.size) - np.repeat(np.cumsum(n_bins) - n_bins, n_bins)
    above = np.cumsum(trials)
    below = np.concatenate([[0.0], above[:-1]])
    cut = above[-1] * (index / n_bins[scheme] - _SAME)
    first = np.searchsorted(below, cut)
    repeated = (first[1:] == first[:-1]) & (scheme[1:] == scheme[:-1])
    kept = np.concatenate([~repeated, [True]]) & (first < trials.size)
    return scheme[kept], first[kept]


def cuts_between(score: Floats, first: NDArray[np.intp]) -> Floats:
    """Half-way from the row before each of these to the row itself; never as high as that."""
    low, high = score[first - 1], score[first]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)
