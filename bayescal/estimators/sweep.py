"""The monotonic sweep of the number of bins (Roelofs et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_order, check_choice
from bayescal.core.text import documented
from bayescal.data.rows import Levels, levels_of
from bayescal.data.weights import are_counts
from bayescal.estimators.binned import ece_core
from bayescal.estimators.bins import BINS_SAME, TIES, mass_cuts
from bayescal.estimators.registry import OutcomesLike, Statistic, estimator, evaluate, read_ranked

MOST_BINS_SWEPT = 100_000
_SWEEP_BLOCK = 1 << 18

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Sweep:
    """Bins of equal width, or of equal mass by rank, for every number of bins from 1 up.

    With `split` cuts of equal mass stand within equal scores.
    """

    table: Levels
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
        step = np.diff(hits / self.table.trials)
        return np.flatnonzero((step < -self._slack).any(axis=1))

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
        return np.asarray(self._above / self._above[-1])

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


def _sweep_core(
    scores: Floats, weights: Floats | None, *, p: float, binning: str, ties: str
) -> Statistic:
    """Core of `sweep_ece`: `ece` with each replicate's own number of bins."""
    sweep = _sweep(scores, weights, binning, ties)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        numbers = sweep.numbers(outcomes)
        values = np.empty(numbers.size)
        for number in np.unique(numbers).tolist():
            alike = numbers == number
            error = ece_core(scores, weights, p=p, n_bins=number, binning=binning, ties=ties)
            values[alike] = error(outcomes[alike])
        return values

    return statistic


@estimator(
    "Sweep calibration error",
    prepare=_sweep_core,
    paper="Roelofs, Cain, Shlens & Mozer 2022",
    estimates="binned calibration error, with as many bins as keep mean outcomes in order",
    span=(0, 1),
    bound="below TCE of the same order in the population; biased in a sample",
    dear="Running sums of the events are stored, and looked up for every number of bins tried.",
)
def sweep_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    binning: str = "rank",
    p: float = 1,
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Sweep calibration error: `ece` with as many bins as keep their mean outcomes in order.

    The number of bins is max {B : for all b <= B, the mean outcomes of b bins do not fall}. See
    `sweep_bins` for that number.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores,
        each with its own number of bins.
    %(scores)s
    binning : {"rank", "width"}
        As in `ece`. "rank" is how the authors cut bins of equally many cases.
    p : float
        Order of the norm, at least 1.
    ties : {"together", "split"}
        As in `ece`.
    %(weights_by_kish)s

    %(returns_share)s

    Notes
    -----
    Equal scores stay together or share their mean, so that the order of rows does not matter.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer, "Mitigating Bias in Calibration Error Estimation", AISTATS
    2022, section 5.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> estimators.sweep_bins(y_true, y_prob)
    9
    >>> round(estimators.sweep_ece(y_true, y_prob), 4)
    0.0228
    >>> round(estimators.ece(y_true, y_prob, n_bins=9, binning="rank"), 4)
    0.0228
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_sweep_core, cases, p=as_order(p), **_as_cut(binning, ties))


@documented
def sweep_bins(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    binning: str = "rank",
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> int | NDArray[np.intp]:
    """How many bins keep their mean outcomes in order: the number that `sweep_ece` uses.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1.
    %(scores)s
    binning : {"rank", "width"}
        As in `ece`.
    ties : {"together", "split"}
        As in `ece`.
    %(weights)s

    Returns
    -------
    int or ndarray of int
        From 1 to the number of cases, and at most 100,000, counting bins that stay empty.

    References
    ----------
    Roelofs, Cain, Shlens & Mozer, "Mitigating Bias in Calibration Error Estimation", AISTATS
    2022, section 5.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.sweep_bins([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    3
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    numbers = evaluate(_bins_core, cases, **_as_cut(binning, ties))
    return int(numbers) if isinstance(numbers, float) else numbers.astype(np.intp)


def _bins_core(scores: Floats, weights: Floats | None, *, binning: str, ties: str) -> Statistic:
    """Core of `sweep_bins`."""
    sweep = _sweep(scores, weights, binning, ties)
    return lambda outcomes: sweep.numbers(outcomes).astype(np.float64)


def _sweep(scores: Floats, weights: Floats | None, binning: str, ties: str) -> Sweep:
    return Sweep(levels_of(scores, weights), width=binning == "width", split=ties == "split")


def _as_cut(binning: Any, ties: Any) -> dict[str, Any]:
    return {
        "binning": check_choice(binning, ("rank", "width"), "binning"),
        "ties": check_choice(ties, TIES, "ties"),
    }
