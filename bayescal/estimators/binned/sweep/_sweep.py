"""How many bins keep their mean outcomes in order, from cumulated events alone.

A cut costs one look-up. What cannot fall is left out: scores below every event or above every
non-event, and cuts that no score stands beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.table import Table
from bayescal.data.weights import are_counts
from bayescal.estimators.binned.bins import BINS_SAME, mass_cuts

__all__ = ["MOST_BINS_SWEPT", "Sweep"]

MOST_BINS_SWEPT = 100_000
_SWEEP_BLOCK = 1 << 18

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Sweep:
    """Bins of equal width, or of equal mass by rank, for every number of bins from 1 up.

    Attributes
    ----------
    width : bool
        Equal width instead of equal mass.
    split : bool
        Let cuts of equal mass stand within equal scores.
    """

    table: Table
    width: bool
    split: bool

    def numbers(self, outcomes: NDArray[Any]) -> Ints:
        """The most bins, of every number up to which mean outcomes do not fall: (replicates,)."""
        hits = self.table.hits(outcomes)
        events = np.zeros((len(hits), hits.shape[1] + 1))
        np.cumsum(hits, axis=1, out=events[:, 1:])
        most = min(MOST_BINS_SWEPT, max(1, round(self.table.total)))
        numbers = np.full(len(hits), most)
        active = self._falling(hits)
        stopped, start = True, 2
        while active.size and start <= most:
            if stopped:
                position = self._mixed(hits[active])
            n_bins, k = _cuts(position, start, min(start + start // 2 + 8, most), active.size)
            bins, falls = self._falls(n_bins, k, events, active)
            stops = falls.any(axis=1)
            stopped = bool(stops.any())
            if stopped:
                numbers[active[stops]] = bins[falls[stops].argmax(axis=1)] - 1
            active, start = active[~stops], int(n_bins[-1]) + 1
        return numbers

    def _falling(self, hits: Floats) -> Ints:
        """The replicates whose mean outcome falls from some score to the next."""
        rate = hits if self._single else hits / self.table.trials
        step = rate[:, 1:] - rate[:, :-1]
        return np.flatnonzero((step < -self._slack).any(axis=1))

    @property
    def _single(self) -> bool:
        """Whether no two cases have one score."""
        return self.table.weight is None and self.table.starts is None

    @cached_property
    def _counts_cases(self) -> bool:
        return self.table.weight is None or are_counts(self.table.trials)

    @property
    def _slack(self) -> float:
        """What rounding may take from a mean outcome: nothing where cases are counted."""
        return 0.0 if self._counts_cases and not self.split else BINS_SAME

    @cached_property
    def _above(self) -> Floats:
        """Trials below each distinct score, and all of them."""
        return np.concatenate([[0.0], np.cumsum(self.table.trials)])

    @cached_property
    def _position(self) -> Floats:
        """Where each distinct score, and the end, stand among bins that divide 0 to 1."""
        if self.width:
            return np.append(self.table.score, self.table.score[-1])
        share: Floats = self._above / self._above[-1]
        return share

    def _mixed(self, hits: Floats) -> Floats:
        """Positions from the first event to the last non-event, of all replicates together."""
        low = np.flatnonzero((hits > 0).any(axis=0))[0]
        high = np.flatnonzero((hits < self.table.trials).any(axis=0))[-1]
        return self._position[low : high + 2]

    def _falls(
        self, n_bins: Ints, k: Ints, events: Floats, active: Ints
    ) -> tuple[Ints, NDArray[np.bool_]]:
        """Whether the mean outcome falls from bin to bin, and of how many bins they are."""
        below, seen = self._below(n_bins, k, events, active)
        step = np.diff(below)
        nonempty = (step > 0) & (n_bins[1:] == n_bins[:-1])
        bins, rate = n_bins[1:][nonempty], np.diff(seen)[:, nonempty] / step[nonempty]
        return bins[1:], (np.diff(rate) < -self._slack) & (bins[1:] == bins[:-1])

    def _below(self, n_bins: Ints, k: Ints, events: Floats, active: Ints) -> tuple[Floats, Floats]:
        """Trials, (cuts,), and events, (replicates, cuts), below the k-th cut of so many bins."""
        total, replicate = self._above[-1], active[:, None]
        if self.width:
            row = np.searchsorted(self.table.score, k / n_bins, side="right")
            row[k == 0] = 0
            return self._above[row], events[replicate, row]
        if self._counts_cases:
            cut = mass_cuts(k, n_bins, total, "rank")
        else:
            cut = np.where(
                (k > 0) & (k < n_bins), total * (k / n_bins - BINS_SAME), total * (k > 0)
            )
        row = np.searchsorted(self._above, cut)
        if not self.split:
            return self._above[row], events[replicate, row]
        beyond = (self._above[row] - cut) / (self._above[row] - self._above[row - 1])
        return cut, (1 - beyond) * events[replicate, row] + beyond * events[replicate, row - 1]


def _cuts(position: Floats, first: int, last: int, replicates: int) -> tuple[Ints, Ints]:
    """Numbers of bins from `first`, and for each the cuts between the first and last position.

    All of them, or only those next to a position, whichever are fewer. `last` may not be reached.
    """
    span = float(position[-1] - position[0])
    every, beside = int(span * last) + 6, 3 * position.size
    last = min(last, first + _SWEEP_BLOCK // (min(every, beside) * replicates))
    numbers = np.arange(first, last + 1)[:, None]
    if every <= beside:
        k = (numbers * position[0]).astype(np.intp) - 1 + np.arange(every)
        inside = (k >= 0) & (k <= numbers) & (k <= numbers * position[-1] + 2)
        return np.broadcast_to(numbers, k.shape)[inside], k[inside]
    near = (numbers * position).astype(np.intp)
    k = np.clip(np.hstack([near - 1, near, near + 1]), 0, numbers)
    pairs = np.unique(numbers * (last + 1) + k)
    return pairs // (last + 1), pairs % (last + 1)
