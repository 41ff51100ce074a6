"""Binned calibration errors: ECE, ACE and MCE, for one data set or a thousand.

Scores are put into bins once. Outcomes enter only through their sums over the bins, which are one
sparse matrix product for all replicates together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, power_mean
from bayescal.data.validate import as_order
from bayescal.estimators.binned._rebin import rebinned
from bayescal.estimators.binned.bins import Bins, Rebins, as_cut, bins_of
from bayescal.estimators.binned.labels import bins_or_cells, read_with_cells
from bayescal.estimators.door import Core, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = ["ace", "ece", "ece_core", "ece_of_weightings", "mce"]


def ece_core(scores: Floats, weights: Floats | None, *, p: float, **cut: Any) -> Statistic:
    """Core of `ece`; `cut` is how cases are put into bins, or their cells."""
    bins = bins_or_cells(scores, weights, **cut)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        if p == 1:
            error: Floats = np.abs(bins.excess(outcomes)).sum(-1) / bins.total
            return error
        return _norm(bins.gap(outcomes), bins.mass, p)

    return statistic


def ece_of_weightings(
    scores: Floats, outcomes: Floats, weights: Floats, *, p: float, **cut: Any
) -> Floats:
    """`ece` for many weightings of the cases."""
    return _norm(*_gaps(*rebinned(scores, outcomes, weights, **cut)), order=p)


def _norm(gap: Floats, mass: Floats, order: float) -> Floats:
    counted = np.where(mass > 0, gap, 0)
    return power_mean(counted, order, lambda power: (power * mass).sum(-1) / mass.sum(-1))


def _gaps(bins: Rebins, rate: Floats) -> tuple[Floats, Floats]:
    return rate - bins.score, bins.mass


@estimator(
    "Expected calibration error",
    prepare=ece_core,
    paper="Naeini, Cooper & Hauskrecht 2015",
    estimates="binned calibration error, an average over bins",
    span=(0, 1),
    bound="below TCE of the same order in the population; biased upwards in a sample",
    by_case=("cells",),
    weighted=ece_of_weightings,
)
def ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    p: float = 1,
    ties: str = "together",
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Expected calibration error: the mean gap between score and outcome over bins.

    (sum_b w_b |mean outcome - mean score|^p)^(1/p), with w_b the share of the cases in bin b.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_bins : int
        Number of bins; those that stay empty do not count.
    binning : {"width", "mass", "rank", "quantile"}
        "width": intervals of equal length, closed on the right; 0 belongs to the first. The
        others are bins of equally many cases, and differ where `n_bins` does not divide their
        number n. "mass": the larger bins come first, as `numpy.array_split` cuts the sorted
        scores (Kumar et al.). "rank": case i of 0, 1, ..., n - 1 goes to bin floor(i n_bins / n)
        (Roelofs et al.). "quantile": cut at the quantiles of the scores, as R, pandas and
        scikit-learn do.
    p : float
        Order of the norm, at least 1.
    ties : {"together", "split"}
        What bins of equally many cases do with equal scores that a cut would part. "together":
        all go to the bin of the first. "split": the cut stands, and each side gets its part of
        their outcomes on average over all orders of the cases. Neither depends on the order of
        the rows.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its leaf of a tree; in place of bins.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers, bins are cut at equal shares of the total.

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out
        of range; if `cells` does not give one label to each case.

    Notes
    -----
    It is biased upwards: a perfectly calibrated model with 20 cases gets about 0.2. See
    `bayescal.check_consistency` for what calibration alone would give, and `debiased_ece`. Errors
    of opposite sign within a bin cancel; in `pde` they do not.

    The code of Roelofs et al. cuts by "rank" and parts equal scores in the order of their rows,
    so that its value changes with that order; "split" is what it gives on average, bin by bin.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.ece([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.25
    >>> estimators.ece([[0, 1], [1, 0]], [0.2, 0.7]).round(3)
    array([0.25, 0.75])
    >>> round(estimators.ece([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], cells=["a", "b", "a", "b"]), 3)
    0.05
    """
    cases, labels = read_with_cells(y_true, y_prob, sample_weight, cells)
    cut = as_cut(n_bins, binning, ties)
    return evaluate(ece_core, cases, p=as_order(p), cells=labels, **cut)


def _over_bins(statistic: Callable[[Bins, NDArray[Any]], Floats]) -> Core:
    """The core of a statistic of the outcomes in bins."""

    def core(scores: Floats, weights: Floats | None, **cut: Any) -> Statistic:
        bins = bins_of(scores, weights, **cut)
        return lambda outcomes: statistic(bins, outcomes)

    return core


def _mean(gap: Floats, mass: Floats) -> Floats:
    mean: Floats = np.abs(gap).sum(-1) / np.count_nonzero(mass > 0, axis=-1)
    return mean


_ace_core = _over_bins(lambda bins, outcomes: _mean(bins.gap(outcomes), bins.mass))


@estimator(
    "Adaptive calibration error",
    prepare=_ace_core,
    paper="Nixon, Dusenberry, Zhang, Jerfel & Tran 2019",
    estimates="binned calibration error, every bin counting the same",
    span=(0, 1),
    bound="with bins of equal mass, below TCE in the population; biased upwards in a sample",
    weighted=lambda s, y, w, **cut: _mean(*_gaps(*rebinned(s, y, w, **cut))),
)
def ace(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Adaptive calibration error: the mean gap over bins, each bin counting the same.

    1/B sum_b |mean outcome - mean score|, over the B bins that hold a case. It differs from `ece`
    where bins of equal mass cannot hold equally many cases.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_bins : int
        Number of bins; those that stay empty do not count.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`. "width" gives the *average* calibration error of Neumann et al., which the
        package netcal calls ACE.
    ties : {"together", "split"}
        As in `ece`.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `ece`.

    Notes
    -----
    Nixon et al. average it over the classes as well. Of two classes the gaps are the same, bin
    for bin.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel & Tran, "Measuring Calibration in Deep Learning", CVPR
    Workshops 2019, section 4.
    Neumann, Zisserman & Vedaldi, "Relaxed Softmax", 2018.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 1, 0], [0.2, 0.7, 0.8, 0.9, 0.4]
    >>> round(estimators.ace(y_true, y_prob, n_bins=2), 3)
    0.125
    >>> round(estimators.ece(y_true, y_prob, n_bins=2, binning="mass"), 3)
    0.12
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    return evaluate(_ace_core, cases, **as_cut(n_bins, binning, ties))


def _largest(gap: Floats) -> Floats:
    largest: Floats = np.abs(gap).max(axis=1)
    return largest


_mce_core = _over_bins(lambda bins, outcomes: _largest(bins.gap(outcomes)))


@estimator(
    "Maximum calibration error",
    prepare=_mce_core,
    paper="Naeini, Cooper & Hauskrecht 2015",
    estimates="the largest calibration error of a bin",
    span=(0, 1),
    weighted=lambda s, y, w, **cut: _largest(_gaps(*rebinned(s, y, w, **cut))[0]),
)
def mce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Maximum calibration error: the largest gap between score and outcome over bins.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_bins : int
        Number of bins.
    binning : {"width", "mass", "rank", "quantile"}
        As in `ece`. With "width" the largest gap is often that of a bin with a case or two.
    ties : {"together", "split"}
        As in `ece`.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `ece`.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.mce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.4
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    return evaluate(_mce_core, cases, **as_cut(n_bins, binning, ties))
