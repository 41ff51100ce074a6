"""Binned calibration errors: ECE, MCE and the debiased ECE, for one data set or a thousand.

Scores are put into bins once. Outcomes enter only through their sums over the bins, which are one
sparse matrix product for all replicates together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import erf

from bayescal._validate import (
    Floats,
    as_outcome_batch,
    as_scores,
    as_weights,
    check_choice,
    check_same_order,
)
from bayescal.errors import InputError

__all__ = ["debiased_ece", "ece", "mce"]

_BINNINGS = ("mass", "width")
_TIES = ("split", "together")
_MOST_BINS = 1_000_000
_BLOCK = 1 << 20
_SAME = 1e-9


class _Bins(NamedTuple):
    """Scores in bins. Empty bins have no mass, and a score and rate of 0.

    Attributes
    ----------
    shares : sparse array of shape (bins, cases)
        Weight that each case puts into each bin.
    mass, score : ndarray of shape (bins,)
        Total weight and mean score.
    cases : ndarray of shape (bins,)
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


def ece(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    binning: str = "width",
    p: float = 1,
    ties: str = "together",
    sample_weight: Any = None,
) -> float | Floats:
    """Expected calibration error: the mean gap between score and outcome over bins.

    (sum_b w_b |mean outcome - mean score|^p)^(1/p), with w_b the share of the cases in bin b.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins : int
        Number of bins; those that stay empty do not count.
    binning : {"width", "mass"}
        "width": intervals of equal length, closed on the right; 0 belongs to the first. "mass":
        bins of equally many cases, cut as `numpy.array_split` cuts the sorted scores.
    p : float
        Order of the norm, at least 1.
    ties : {"together", "split"}
        What "mass" does with equal scores that a cut would part. "together": all go to the bin
        of the first. "split": the cut stands, and each side gets its part of their outcomes on
        average over all orders of the cases. Neither depends on the order of the rows.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts. If any is not whole, "mass" cuts at equal shares of the total.

    Returns
    -------
    float or ndarray
        From 0 to 1; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out
        of range.

    Notes
    -----
    It is biased upwards: a perfectly calibrated model with 20 cases gets about 0.2. See
    `bayescal.check_consistency` for what calibration alone would give, and `debiased_ece`.

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
    """
    order = _as_order(p)

    def norm(bins: _Bins, rate: Floats) -> Floats:
        gap = np.abs(rate - bins.score)
        powers: Floats = gap**order @ (bins.mass / bins.mass.sum())
        return powers ** (1 / order)

    return _evaluate(y_true, y_prob, sample_weight, norm, n_bins, binning, ties)


def mce(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    binning: str = "width",
    ties: str = "together",
    sample_weight: Any = None,
) -> float | Floats:
    """Maximum calibration error: the largest gap between score and outcome over bins.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins : int
        Number of bins.
    binning : {"width", "mass"}
        As in `ece`. With "width" the largest gap is often that of a bin with a case or two.
    ties : {"together", "split"}
        As in `ece`.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    float or ndarray
        From 0 to 1; one for each replicate when `y_true` has leading dimensions.

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

    def largest(bins: _Bins, rate: Floats) -> Floats:
        gap: Floats = np.abs(rate - bins.score).max(axis=1)
        return gap

    return _evaluate(y_true, y_prob, sample_weight, largest, n_bins, binning, ties)


def debiased_ece(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: int = 2,
    ties: str = "together",
    signed: bool = False,
    sample_weight: Any = None,
) -> float | Floats:
    """Binned calibration error less what the chance in the outcomes adds to it (Kumar et al.).

    For p = 2, sum_b w_b (gap_b^2 - r_b (1 - r_b) / (n_b - 1)), with r_b the mean outcome of the
    n_b cases in bin b: unbiased for the binned square error. It is floored at 0 and rooted.

    For p = 1, twice the ECE less its mean over normal resamples of the bins' mean outcomes, with
    variances r_b (1 - r_b) / n_b, floored at 0. The mean is taken in closed form: this is the
    limit of what the authors' code prints as its resamples grow.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins : int
        Number of bins.
    binning : {"mass", "width"}
        As in `ece`.
    p : {1, 2}
        Order of the norm.
    ties : {"together", "split"}
        As in `ece`.
    signed : bool
        Return the estimate of the p-th power before it is floored and rooted. It may be negative.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts. If any is not whole they are rescaled to Kish's effective sample size.

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `ece`; also if `p` is neither 1 nor 2.

    Notes
    -----
    One case says nothing of the variance in its bin. A bin with fewer than two cases counts as
    having no error, for both orders, and keeps its share of the cases. The authors' code does so
    for p = 2, and refuses such bins for p = 1.

    References
    ----------
    Kumar, Liang & Ma, "Verified Uncertainty Calibration", NeurIPS 2019, section 5 and appendix.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.ece(y_true, y_prob, binning="mass", p=2), 3)
    0.033
    >>> estimators.debiased_ece(y_true, y_prob)
    0.0
    """
    if isinstance(p, bool) or p not in (1, 2):
        raise InputError(f"p must be 1 or 2: the debiased error is known for those, got {p!r}.")
    debias = _debiased_square if p == 2 else _debiased_absolute

    def corrected(bins: _Bins, rate: Floats) -> Floats:
        several = bins.cases >= 2 - _SAME  # cases shared out between bins add up to whole ones
        rate, cases = rate[:, several], bins.cases[several]
        error = debias(np.abs(rate - bins.score[several]), rate * (1 - rate), cases)
        power: Floats = error @ (cases / bins.cases.sum())
        return power if signed else np.maximum(power, 0) ** (1 / p)

    return _evaluate(y_true, y_prob, sample_weight, corrected, n_bins, binning, ties)


def _debiased_square(gap: Floats, variance: Floats, cases: Floats) -> Floats:
    """Unbiased estimate of each bin's squared gap."""
    return gap**2 - variance / (cases - 1)


def _debiased_absolute(gap: Floats, variance: Floats, cases: Floats) -> Floats:
    """Twice each bin's gap less the mean of |Normal(gap, sd)|."""
    sd = np.sqrt(variance / cases)
    z = gap / np.where(sd > 0, sd, 1)
    folded = sd * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + gap * erf(z / math.sqrt(2))
    corrected: Floats = 2 * gap - np.where(sd > 0, folded, gap)
    return corrected


def _evaluate(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    statistic: Callable[[_Bins, Floats], Floats],
    n_bins: int,
    binning: str,
    ties: str,
) -> float | Floats:
    """A statistic of the bins' mean outcomes, a block of replicates at a time."""
    scores = as_scores(y_prob)
    outcomes = as_outcome_batch(y_true, scores.size)
    check_same_order(y_true, y_prob)
    bins = _bins(scores, as_weights(sample_weight, scores.size), _as_bins(n_bins), binning, ties)
    rows = outcomes.reshape(-1, scores.size)
    values = np.empty(rows.shape[0])
    step = max(1, _BLOCK // scores.size)
    for start in range(0, values.size, step):
        part = slice(start, start + step)
        values[part] = statistic(bins, bins.rate(rows[part]))
    return float(values[0]) if outcomes.ndim == 1 else values.reshape(outcomes.shape[:-1])


# Bins


def _bins(scores: Floats, weights: Floats | None, n_bins: int, binning: str, ties: str) -> _Bins:
    check_choice(binning, _BINNINGS, "binning")
    check_choice(ties, _TIES, "ties")
    weight = np.ones(scores.size) if weights is None else weights
    if binning == "width":
        shares = _shares(_width_index(scores, n_bins), weight, n_bins)
    elif ties == "together":
        shares = _shares(_mass_index(scores, weight, n_bins), weight, n_bins)
    else:
        shares = _split_shares(scores, weight, n_bins)
    mass = shares @ np.ones(scores.size)
    score = shares @ scores / np.where(mass > 0, mass, 1)
    return _Bins(shares, mass, score, mass if weights is None else mass * _kish(weights))


def _kish(weight: Floats) -> float:
    """Effective cases in a unit of weight: 1 when the weights are case counts."""
    whole = (weight % 1 == 0).all()
    return 1.0 if whole else float(weight.sum() / (weight @ weight))


def _shares(index: NDArray[np.intp], weight: Floats, n_bins: int) -> Any:
    """Every case in the one bin that its index says."""
    ends = np.arange(index.size + 1)
    return sparse.csc_array((weight, index, ends), shape=(n_bins, index.size))


def _width_index(scores: Floats, n_bins: int) -> NDArray[np.intp]:
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
    cuts = total * (k / n_bins - _SAME)  # so that rounding in the sums parts no case from its bin
    cuts[[0, -1]] = 0, total
    return cuts


# Options


def _as_bins(n_bins: Any) -> int:
    whole = isinstance(n_bins, (int, np.integer)) and not isinstance(n_bins, bool)
    if not whole or not 1 <= n_bins <= _MOST_BINS:
        raise InputError(f"n_bins must be a whole number from 1 to {_MOST_BINS:,}, got {n_bins!r}.")
    return int(n_bins)


def _as_order(p: Any) -> float:
    if isinstance(p, (int, float, np.integer, np.floating)) and math.isfinite(p) and p >= 1:
        return float(p)
    raise InputError(f"p must be a finite number of at least 1, got {p!r}; for the largest, mce.")
