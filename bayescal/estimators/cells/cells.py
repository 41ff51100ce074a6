"""Models as cells: sets of cases that share a prediction, and what merging and averaging do.

A cell is any set of cases that a reader can name, such as a leaf of a decision tree. Where cells
are not given they are the level sets of the model: the cases with equal scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import (
    as_order,
    as_outcome_batch,
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    check_same_order,
    paired,
)
from bayescal.estimators._replicates import Statistic, over_replicates
from bayescal.estimators._table import tabulate
from bayescal.estimators.binned._bins import Bins, Members, as_bins, bins_of
from bayescal.estimators.registry import estimator

__all__ = [
    "CellTable",
    "average_labels",
    "merge_cells",
    "pde",
    "pde_bins",
    "probabilistic_count",
    "probabilistic_kendall_tau",
]


class CellTable(NamedTuple):
    """What bins or cells hold, in ascending order of their scores.

    Attributes
    ----------
    cases : ndarray of shape (cells,)
        Total weight.
    score, rate : ndarray of shape (cells,)
        Mean score and mean outcome.
    deviation : ndarray of shape (cells,)
        (mean |score - rate|^p)^(1/p) over the cases of the cell.
    """

    cases: Floats
    score: Floats
    rate: Floats
    deviation: Floats


@estimator(
    "Probability deviation error",
    paper="Torabian & Urner 2024",
    estimates="how far each case's own score is from the mean outcome of its bin or cell",
    span=(0, 1),
    bound="above ECE of the same order and bins",
)
def pde(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: float = 1,
    cell: Any = None,
    sample_weight: Any = None,
) -> float | Floats:
    """Probability deviation error: how far scores are from the mean outcome of their bin.

    (1/n sum_b sum_{i in b} |s_i - mean outcome of b|^p)^(1/p). `ece` puts the mean score of the
    bin in the place of s_i, so that errors within a bin cancel there, and here they do not.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins : int
        Number of bins.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`; equal scores stay together.
    p : float
        Order of the norm, at least 1.
    cell : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its leaf of a tree; in place of bins.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    float or ndarray
        From 0 to 1; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `ece`; also if `cell` does not give one label to each case.

    Notes
    -----
    It is never below `ece` with the same bins, and equal to it where the cases of a bin share one
    score. With p = 2 its square is that of `ece` plus the mean variance of the scores within
    bins. A calibrated model has a positive value unless its bins are narrow.

    The authors published no code. The definition here follows summaries of their paper, and is
    this package's reading of them.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 0, 1], [0.3, 0.7, 0.4, 0.9]
    >>> round(estimators.pde(y_true, y_prob, n_bins=1), 3)
    0.225
    >>> round(estimators.ece(y_true, y_prob, n_bins=1), 3)
    0.075
    >>> round(estimators.pde(y_true, y_prob, cell=["a", "b", "a", "b"]), 3)
    0.275
    """
    order, number = as_order(p), as_bins(n_bins)

    def prepare(scores: Floats, weights: Floats | None) -> Statistic:
        bins = _bins(scores, weights, number, binning, cell)
        index = bins.shares.index
        share = (np.ones(scores.size) if weights is None else weights) / bins.total

        def statistic(outcomes: NDArray[Any]) -> Floats:
            power: Floats = np.abs(bins.rate(outcomes)[:, index] - scores) ** order @ share
            return power ** (1 / order)

        return statistic

    return over_replicates(y_true, y_prob, sample_weight, prepare)


def pde_bins(
    y_true: Any,
    y_prob: Any,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: float = 1,
    cell: Any = None,
    sample_weight: Any = None,
) -> CellTable:
    """The bins or cells of `pde`: cases, mean score, mean outcome and deviation of each.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Outcomes, 0 or 1.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    n_bins, binning, p, cell
        As in `pde`.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    CellTable
        In ascending order of mean score, without those that hold no case.

    Raises
    ------
    InputError
        As `pde`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> table = estimators.pde_bins([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_bins=2)
    >>> table.score, table.rate, table.deviation.round(2)
    (array([0.3, 0.8]), array([0., 1.]), array([0.3, 0.2]))
    """
    order, number = as_order(p), as_bins(n_bins)
    outcomes, scores, weights = paired(y_true, y_prob, sample_weight)
    bins = _bins(scores, weights, number, binning, cell)
    rate = bins.rate(outcomes[None])[0]
    power = bins.mean(np.abs(scores - rate[bins.shares.index]) ** order)
    held = np.flatnonzero(bins.mass > 0)
    row = held[np.argsort(bins.score[held], kind="stable")]
    return CellTable(bins.mass[row], bins.score[row], rate[row], power[row] ** (1 / order))


def average_labels(
    y_true: Any, y_prob: Any, *, cell: Any = None, sample_weight: Any = None
) -> Floats:
    """Give every case the mean outcome of its cell: the calibrated model with the same cells.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    cell : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    ndarray
        Of the shape of `y_true`.

    Raises
    ------
    InputError
        As `pde`; also if a cell has no weight.

    Notes
    -----
    On these cases no model that is constant on the cells has a lower Brier score or a higher
    `probabilistic_kendall_tau`, and none with calibrated cells differs from it.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.average_labels([0, 1, 1, 1], [0.2, 0.2, 0.7, 0.7])
    array([0.5, 0.5, 1. , 1. ])
    """
    scores = as_scores(y_prob)
    outcomes = as_outcome_batch(y_true, scores.size)
    check_same_order(y_true, y_prob)
    bins = _cells(scores, as_weights(sample_weight, scores.size), cell)
    rate = bins.rate(outcomes.reshape(-1, scores.size))
    averaged: Floats = _given_back(bins, rate).reshape(outcomes.shape)
    return averaged


def merge_cells(y_prob: Any, cell: Any, *, sample_weight: Any = None) -> Floats:
    """Make one cell of the cases with one label: each gets the mean score of its cell.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    cell : array-like of shape (n_samples,)
        Label of the merged cell that each case is in.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    InputError
        As `average_labels`.

    Notes
    -----
    Merging never raises the calibration error over cells, of any order, since gaps of opposite
    sign cancel; it keeps a calibrated model calibrated, and never raises `probabilistic_count`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.merge_cells([0.1, 0.2, 0.3, 0.8], ["low", "low", "low", "high"])
    array([0.2, 0.2, 0.2, 0.8])
    """
    scores = as_scores(y_prob)
    check_same_order(cell, y_prob)
    bins = _cells(scores, as_weights(sample_weight, scores.size), cell)
    merged: Floats = _given_back(bins, bins.score[None])[0]
    return merged


def probabilistic_count(y_prob: Any, *, cell: Any = None, sample_weight: Any = None) -> float:
    """How many cells a model has, counted by what they hold.

    1 / sum_c w_c^2, with w_c the share of the cases in cell c: one over the probability that two
    cases drawn at random are in one cell. It is the number of cells where all hold equally many.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    cell : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts.

    Returns
    -------
    float
        From 1 to the number of cells.

    Raises
    ------
    InputError
        As `pde`.

    Notes
    -----
    The authors published no code; the two draws are with replacement.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.probabilistic_count([0.1, 0.1, 0.1, 0.7]), 2)
    1.6
    """
    scores = as_scores(y_prob)
    mass = _cells(scores, as_weights(sample_weight, scores.size), cell).mass
    share = mass / mass.sum()
    return float(1 / (share @ share))


def probabilistic_kendall_tau(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None
) -> float | Floats:
    """How far scores order cases as their probabilities of the event do.

    P((s - s')(y - y') > 0) - P((s - s')(y - y') < 0) for two different cases: Kendall's tau-a of
    scores and outcomes. Given the cases it is, on average over outcomes,
    E[sign(s - s') (q - q')] with q the probability of the event.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts. If any is not whole they are rescaled to Kish's effective sample size.

    Returns
    -------
    float or ndarray
        From -1 to 1; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `ece`; also if there are fewer than two cases.

    Notes
    -----
    It is no calibration error: it stays the same under any rising map of the scores. With m
    events among n cases and A the area under the ROC curve, it is
    2 m (n - m) (2 A - 1) / (n (n - 1)).

    The probability of the event of a single case is not observed, so outcomes stand for it; the
    definition of the authors has it, and counts signs of differences.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.probabilistic_kendall_tau([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]), 3)
    0.333
    """

    def prepare(scores: Floats, weights: Floats | None) -> Statistic:
        table = tabulate(scores, weights)
        total, trials = table.total, table.trials
        if total <= 1:
            raise InputError(f"y_prob has {total:.3g} cases, and a pair takes two.")

        def statistic(outcomes: NDArray[Any]) -> Floats:
            hits = table.hits(outcomes)
            misses = trials - hits
            below = np.cumsum(misses, axis=1) - misses
            above = misses.sum(axis=1, keepdims=True) - below - misses
            net: Floats = (hits * (below - above)).sum(axis=1)
            return 2 * net / (total * (total - 1))

        return statistic

    return over_replicates(y_true, y_prob, sample_weight, prepare)


def _bins(scores: Floats, weights: Floats | None, number: int, binning: str, cell: Any) -> Bins:
    if cell is not None:
        return _cells(scores, weights, cell)
    return bins_of(scores, weights, number, binning, "together")


def _cells(scores: Floats, weights: Floats | None, cell: Any) -> Bins:
    """A bin for each cell; None makes one of every distinct score."""
    labels = scores if cell is None else as_vector(cell, "cell")
    check_same_length(labels.size, "cell", scores.size, "y_prob")
    try:
        names, index = np.unique(labels, return_inverse=True)
        missing = bool((names != names).any())
    except TypeError:
        missing = True
    if missing:
        raise InputError(
            "cell has missing labels, or labels of several kinds that have no order. "
            "Pass one number or one name for each case."
        )
    return Bins(scores, weights, Members.of(index.astype(np.int32), names.size, weights))


def _given_back(bins: Bins, means: Floats) -> Floats:
    """To each case what its cell has, of shape (replicates, cases)."""
    if not bins.mass.all():
        at = int((bins.mass[bins.shares.index] == 0).argmax())
        raise InputError(
            f"The cell of case {at} has no weight, and so no mean. Drop its cases first."
        )
    given: Floats = means[:, bins.shares.index]
    return given
