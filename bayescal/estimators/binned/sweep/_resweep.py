"""How many bins keep their mean outcomes in order, for each of many weightings of the same cases.

The first numbers of bins are tried for all weightings at once. Weightings that keep their order in
all of these, and not from score to score, are few: they are swept one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.table import tabulate
from bayescal.estimators.binned._rebin import search_rows, starts_of
from bayescal.estimators.binned.bins import BINS_SAME, mass_cuts
from bayescal.estimators.binned.sweep._sweep import MOST_BINS_SWEPT, Sweep

__all__ = ["numbers_of_weightings"]

TRIED = (2, 8, 16, 28, 40, 56, 76, 100, 130)
"""Numbers of bins are tried together from each of these up to the next."""

Ints = NDArray[np.intp]


def numbers_of_weightings(
    scores: Floats, outcomes: Floats, weights: Floats, *, width: bool, split: bool
) -> Ints:
    """The most bins, of every number up to which mean outcomes do not fall.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        In ascending order.
    outcomes : ndarray of shape (n_samples,)
    weights : ndarray of shape (replicates, n_samples)
        Whole numbers of cases, not all 0 in any replicate.

    Returns
    -------
    ndarray of int of shape (replicates,)
    """
    starts = starts_of(scores)
    trials, hits = weights, weights * outcomes
    if starts.size < scores.size:
        trials, hits = (np.add.reduceat(part, starts, axis=1) for part in (trials, hits))
    cases = _Cases(scores[starts], _cumulated(trials), _cumulated(hits), width, split)
    numbers: Ints = np.clip(trials.sum(axis=1), 1, MOST_BINS_SWEPT).astype(np.intp)
    active = np.arange(numbers.size)
    for first, after in pairwise(TRIED):
        tried = np.arange(first, after)
        falls = cases.falls(active, tried) & (tried <= numbers[active, None])
        stops = falls.any(axis=1)
        numbers[active[stops]] = tried[falls[stops].argmax(axis=1)] - 1
        active = active[~stops & (numbers[active] >= after)]
    for row in active[_falls(trials[active], hits[active], cases.slack)]:
        drawn = weights[row] > 0
        sweep = Sweep(tabulate(scores[drawn], weights[row, drawn]), width, split)
        numbers[row] = sweep.numbers(outcomes[None, drawn])[0]
    return numbers


@dataclass(frozen=True)
class _Cases:
    """Cases and events below each distinct score, and all of them: (replicates, scores + 1)."""

    score: Floats
    trials: Floats
    hits: Floats
    width: bool
    split: bool

    @property
    def slack(self) -> float:
        """What rounding may take from a mean outcome: nothing where bins hold all of a score."""
        return BINS_SAME if self.split else 0.0

    def falls(self, active: Ints, tried: Ints) -> NDArray[np.bool_]:
        """Whether the mean outcome falls from bin to bin: (active, numbers of bins tried)."""
        number = np.repeat(tried, tried + 1)
        ends = np.cumsum(tried + 1)
        k = np.arange(number.size) - np.repeat(ends - tried - 1, tried + 1)
        trials, hits = self._below(active, k, number)
        bins = [slice(end - count - 1, end) for end, count in zip(ends, tried, strict=True)]
        return np.stack(
            [_falls(np.diff(trials[:, at]), np.diff(hits[:, at]), self.slack) for at in bins],
            axis=1,
        )

    def _below(self, active: Ints, k: Ints, number: Ints) -> tuple[Floats, Floats]:
        """Cases and events below the k-th cut of so many bins: (active, cuts) each."""
        trials, hits = self.trials[active], self.hits[active]
        if self.width:
            row = np.searchsorted(self.score, k / number, side="right")
            row[k == 0] = 0
            return trials[:, row], hits[:, row]
        cut = mass_cuts(k, number, trials[:, -1:], "rank")
        row = search_rows(trials, cut)
        above, seen = (np.take_along_axis(values, row, axis=1) for values in (trials, hits))
        if not self.split:
            return above, seen
        before = np.maximum(row - 1, 0)
        less, fewer = (np.take_along_axis(values, before, axis=1) for values in (trials, hits))
        beyond = (above - cut) / np.where(above > less, above - less, 1)
        return cut, (1 - beyond) * seen + beyond * fewer


def _cumulated(values: Floats) -> Floats:
    """Sums of each row up to each column, from 0 on."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _falls(trials: Floats, hits: Floats, slack: float) -> NDArray[np.bool_]:
    """Whether the mean outcome falls between two neighbouring bins that hold cases: (replicates,).

    Parameters
    ----------
    trials, hits : ndarray of shape (replicates, bins)
    slack : float
        A fall that is none.
    """
    filled = trials > 0
    rate = hits / np.where(filled, trials, 1)
    last = np.maximum.accumulate(np.where(filled, np.arange(trials.shape[1]), 0), axis=1)
    rate = np.where(filled.cumsum(axis=1) > 0, np.take_along_axis(rate, last, axis=1), -np.inf)
    return np.asarray((rate[:, 1:] < rate[:, :-1] - slack).any(axis=1))
