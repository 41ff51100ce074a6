"""The sweep calibration error: as many bins as keep their mean outcomes in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.data.table import tabulate
from bayescal.data.validate import as_order, check_choice
from bayescal.estimators.binned.bins import TIES
from bayescal.estimators.binned.plugin import ece_core, ece_of_weightings
from bayescal.estimators.binned.sweep._resweep import numbers_of_weightings
from bayescal.estimators.binned.sweep._sweep import Sweep
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read_ranked
from bayescal.estimators.registry import estimator

__all__ = ["sweep_bins", "sweep_ece"]


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


def _of_weightings(
    scores: Floats, outcomes: Floats, weights: Floats, *, p: float, binning: str, ties: str
) -> Floats:
    """`sweep_ece` for many weightings of the cases: `ece` with each one's own number of bins."""
    numbers = numbers_of_weightings(
        scores, outcomes, weights, width=binning == "width", split=ties == "split"
    )
    values = np.empty(numbers.size)
    for number in np.unique(numbers).tolist():
        alike = numbers == number
        values[alike] = ece_of_weightings(
            scores, outcomes, weights[alike], p=p, n_bins=number, binning=binning, ties=ties
        )
    return values


@estimator(
    "Sweep calibration error",
    prepare=_sweep_core,
    weighted=_of_weightings,
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

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `ece`.

    Notes
    -----
    The authors' code parts equal scores in the order of their rows, so that its value changes
    with that order. It closes bins of equal width on the left; here they are closed on the right,
    as in `ece`. It stops one short of as many bins as cases.

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

    Raises
    ------
    InputError
        As `sweep_ece`.

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
    return Sweep(tabulate(scores, weights), width=binning == "width", split=ties == "split")


def _as_cut(binning: Any, ties: Any) -> dict[str, Any]:
    return {
        "binning": check_choice(binning, ("rank", "width"), "binning"),
        "ties": check_choice(ties, TIES, "ties"),
    }
