"""Cells of a model: deviation, merging, ranking and validity (Torabian & Urner)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, blocks, power_mean
from bayescal.core.errors import InputError, as_count, as_order
from bayescal.core.text import documented
from bayescal.data.cases import aligned, as_scores, check_given, check_same_length
from bayescal.data.read import Needs
from bayescal.data.rows import Levels, levels_of
from bayescal.data.table import CalibrationData
from bayescal.estimators import registry
from bayescal.estimators.bins import (
    Bins,
    as_cut,
    as_labels,
    bins_of_labels,
    bins_or_cells,
    read_with_cells,
)
from bayescal.estimators.registry import Cases, OutcomesLike, Statistic


class CellTable(NamedTuple):
    """Cases, mean score, mean outcome and deviation of bins or cells, by ascending score.

    Attributes
    ----------
    cases : ndarray of shape (cells,)
        Total weight.
    score, rate : ndarray of shape (cells,)
        Mean score and mean outcome.
    deviation : ndarray of shape (cells,)
        Partition probability deviation (PPD): mean |score - rate| over the cases of the cell.
    """

    cases: Floats
    score: Floats
    rate: Floats
    deviation: Floats


def _deviation(scores: Floats, weights: Floats | None, *, p: float, **options: Any) -> Statistic:
    """Core of `pde`."""
    bins = bins_or_cells(scores, weights, **{"ties": "together"} | options)
    share = bins.mass / bins.total

    def statistic(outcomes: NDArray[Any]) -> Floats:
        deviation = np.array([bins.deviation(rate) for rate in bins.rate(outcomes)])
        return power_mean(deviation, p, lambda power: power @ share)

    return statistic


@registry.estimator(
    "Probability deviation error",
    prepare=_deviation,
    paper="Torabian & Urner 2024",
    estimates="how far cases' own scores are, on average, from the mean outcome of their bin",
    span=(0, 1),
    bound="above ECE of the same order and bins",
    by_case=("cells",),
)
def pde(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: float = 1,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Probability deviation error: how far scores are from the mean outcome of their bin.

    (sum_b w_b PPD(b)^p)^(1/p), with w_b the share of the cases in bin b and PPD(b) the mean over
    its cases of |s_i - mean outcome of b|. `ece` puts the mean score of the bin in the place of
    s_i, so that errors within a bin cancel there, and here they do not. The power is taken across
    bins alone.

    Parameters
    ----------
    %(replicated_cases)s
    n_bins : int
        Number of bins.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`; equal scores stay together.
    p : float
        Order of the norm, at least 1.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its leaf of a tree; in place of bins.
    %(weights)s

    %(returns_share)s

    Raises
    ------
    InputError
        As `ece`; also if `cells` does not give one label to each case.

    Notes
    -----
    It is never below `ece` of the same order and bins, and equal to it where the cases of a bin
    share one score: over the level sets of the scores (`cells=y_prob`) both are the calibration
    error CE_p of the sample. A calibrated model has a positive value unless its bins are narrow.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5 and appendix B.

    Examples
    --------
    A bin of scores too low and too high, which the mean score hides (appendix B):

    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 0, 1], [0.35, 0.35, 0.65, 0.65]
    >>> round(estimators.pde(y_true, y_prob, n_bins=1), 3)
    0.15
    >>> round(estimators.ece(y_true, y_prob, n_bins=1), 3)
    0.0

    Cells by name in the place of bins:

    >>> y_true, y_prob = [0, 1, 0, 1], [0.3, 0.7, 0.4, 0.9]
    >>> round(estimators.pde(y_true, y_prob, cells=["a", "b", "a", "b"]), 3)
    0.275
    """
    cases, options = _read_deviation(y_true, y_prob, sample_weight, n_bins, binning, cells)
    return registry.evaluate(_deviation, cases, p=as_order(p), **options)


@documented
def pde_bins(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CellTable:
    """The bins or cells of `pde`: cases, mean score, mean outcome and deviation of each.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    n_bins, binning, cells
        As in `pde`.
    %(weights)s

    Returns
    -------
    CellTable
        In ascending order of mean score, without those that hold no case.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5.

    Examples
    --------
    >>> from bayescal import estimators
    >>> table = estimators.pde_bins([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_bins=2)
    >>> table.score, table.rate, table.deviation.round(2)
    (array([0.3, 0.8]), array([0., 1.]), array([0.3, 0.2]))
    """
    cases, options = _read_deviation(y_true, y_prob, sample_weight, n_bins, binning, cells)
    if cases.shape:
        shape = (*cases.shape, cases.scores.size)
        raise InputError(f"y_true must be one-dimensional, but has shape {shape}.")
    bins = bins_or_cells(cases.scores, cases.weights, **options)
    rate = bins.rate(cases.outcomes)[0]
    deviation = bins.deviation(rate)
    filled = np.flatnonzero(bins.mass > 0)
    row = filled[np.argsort(bins.score[filled], kind="stable")]
    return CellTable(bins.mass[row], bins.score[row], rate[row], deviation[row])


def _read_deviation(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_bins: int,
    binning: str,
    cells: ArrayLike | None,
) -> tuple[Cases, dict[str, Any]]:
    """The cases, and how they are put into bins or cells."""
    options: dict[str, Any] = as_cut(n_bins, binning, "together")
    cases, labels = read_with_cells(y_true, y_prob, sample_weight, cells)
    return cases, options | {"cells": labels}


@documented
def average_labels(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Give every case the mean outcome of its cell: the calibrated model with the same cells.

    The average label assignment of section 4.2, with these cases for the population.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates.
    %(scores)s
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    %(weights)s

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
    On these cases no model that is constant on the cells has a lower Brier score or makes fewer
    errors at a threshold of 1/2, and none with calibrated cells differs from it (Theorem 8).
    `probabilistic_kendall_tau` with the probabilities of the events can rise or fall
    (Observation 9), since they may differ within a cell.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.average_labels([0, 1, 1, 1], [0.2, 0.2, 0.7, 0.7])
    array([0.5, 0.5, 1. , 1. ])
    """
    y_true, y_prob, sample_weight, cells = aligned(
        y_true=y_true,
        y_prob=y_prob,
        sample_weight=sample_weight,
        cells=cells,
        across={"y_true"},
    )
    cases = registry.read(y_true, y_prob, sample_weight, needs="order")
    labels = cases.scores if cells is None else cells
    bins = bins_of_labels(cases.scores, cases.weights, as_labels(labels, cases.scores.size))
    averaged = cases.result(_by_case(bins, bins.rate(cases.outcomes)))
    assert not isinstance(averaged, float)
    return averaged


@documented
def merge_cells(
    y_prob: ArrayLike, cells: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Make one cell of the cases with one label: each gets the mean score of its cell.

    The cell merge with score averaging of Definition 4.1, for any number of cells at once.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    cells : array-like of shape (n_samples,)
        Label of the merged cell that each case is in.
    %(weights)s

    Returns
    -------
    ndarray of shape (n_samples,)

    Notes
    -----
    Merging never raises the calibration error over cells, of any order, since gaps of opposite
    sign cancel (Theorem 6); it keeps a calibrated model calibrated, and never raises
    `probabilistic_count` (Theorem 5). Brier score, errors at a threshold and
    `probabilistic_kendall_tau` can rise or fall (Observation 7).

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.merge_cells([0.1, 0.2, 0.3, 0.8], ["low", "low", "low", "high"])
    array([0.2, 0.2, 0.2, 0.8])
    """
    y_prob, cells, sample_weight = aligned(y_prob=y_prob, cells=cells, sample_weight=sample_weight)
    scores, weights = registry.read_scores(y_prob, sample_weight, needs="order")
    bins = bins_of_labels(scores, weights, as_labels(cells, scores.size))
    return np.asarray(_by_case(bins, bins.score[None])[0])


@documented
def probabilistic_count(
    y_prob: ArrayLike | CalibrationData,
    *,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Effective number of cells of a model.

    1 / sum_c w_c^2, with w_c the share of the cases in cell c: one over the probability that two
    cases drawn at random, with replacement, are in one cell. It is at most the number of cells,
    and equal to it where all hold equally many (Theorem 10).

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,), or CalibrationData
        Predicted probabilities.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    %(weights)s

    Returns
    -------
    float
        From 1 to the number of cells.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4 and appendix A.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.probabilistic_count([0.1, 0.1, 0.1, 0.7]), 2)
    1.6
    """
    y_prob, cells, sample_weight = aligned(y_prob=y_prob, cells=cells, sample_weight=sample_weight)
    needs: Needs = "scores" if cells is None else "order"
    scores, weights = registry.read_scores(y_prob, sample_weight, needs=needs)
    labels = scores if cells is None else cells
    mass = bins_of_labels(scores, weights, as_labels(labels, scores.size)).mass
    share = mass / mass.sum()
    return float(1 / (share @ share))


def _by_case(bins: Bins, means: Floats) -> Floats:
    """The mean of each case's own cell, of shape (replicates, cases)."""
    if not bins.mass.all():
        at = int((bins.mass[bins.shares.index] == 0).argmax())
        raise InputError(
            f"the cell of case {at} has no weight in sample_weight, and so no mean. Drop its "
            "cases first."
        )
    return np.asarray(means[:, bins.shares.index])


@documented
def probabilistic_kendall_tau(
    truth: ArrayLike | CalibrationData,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """How seldom scores order two cases against their probabilities of the event.

    1 - 2 P((t - t')(s - s') < 0) for two different cases, with t the probability of the event and
    s the score. A pair with equal scores or equal probabilities is not discordant, and so counts as
    agreement.

    Parameters
    ----------
    truth : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Probability of the event of each case, as in a simulation or from a second model. With
        outcomes, 0 or 1, it is the tau of the sample. Leading dimensions are other truths at the
        same scores. A table stands for outcomes, scores and weights.
    %(scores)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From -1 to 1; one for each truth when `truth` has leading dimensions. 1 where no pair is
        discordant.

    Raises
    ------
    InputError
        If the arrays are not probabilities of the same cases, if there are fewer than two cases,
        or if a table was compressed to the grid, where the ranks of the scores are lost.

    Notes
    -----
    It is no calibration error: it stays the same under any rising map of the scores, or of the
    truth. Where neither has ties it is Kendall's tau. Ties make it larger: a constant score has
    the value 1. With m events among n cases, of which the scores order a share d of the pairs of
    an event and another wrongly, the tau of the sample is 1 - 4 m (n - m) d / (n (n - 1)); without
    equal scores d is 1 - `bayescal.scores.c_statistic`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4 (the probabilistic tau, and the tau of a sample) and Observation 9.

    Examples
    --------
    Average labels can order cases worse than the scores did (Observation 9):

    >>> from bayescal import estimators
    >>> truth = [0.1, 0.1, 0.1, 1, 0.2, 0.2, 0.2, 0.2]
    >>> estimators.probabilistic_kendall_tau(truth, [0.4] * 4 + [0.6] * 4) * 7
    5.0
    >>> averaged = [0.325] * 4 + [0.2] * 4
    >>> round(estimators.probabilistic_kendall_tau(truth, averaged) * 7, 6)
    1.0
    """
    return registry.evaluate(_ranking, _read_ranking(truth, y_prob, sample_weight))


def _read_ranking(
    truth: ArrayLike | CalibrationData, y_prob: ArrayLike | None, sample_weight: ArrayLike | None
) -> Cases:
    """Cases with probabilities in the place of outcomes."""
    if isinstance(truth, CalibrationData):
        return registry.read(truth, y_prob, sample_weight, needs="scores")
    check_given(y_prob)
    assert y_prob is not None
    given, y_prob, sample_weight = aligned(
        truth=truth, y_prob=y_prob, sample_weight=sample_weight, across={"truth"}
    )
    scores, weights = registry.read_scores(y_prob, sample_weight)
    shape = _shape(given)
    if len(shape) < 2 or shape[1:] == (1,):
        probability = as_scores(given, "truth")
        check_same_length(probability.size, "truth", scores.size, "y_prob")
        return Cases(probability[None], scores, weights)
    check_same_length(shape[-1], "the last axis of truth", scores.size, "y_prob")
    rows = np.reshape(np.asarray(given), (-1, scores.size))
    probabilities = np.array([as_scores(row, "truth") for row in rows])
    return Cases(probabilities.reshape(-1, scores.size), scores, weights, shape[:-1])


def _shape(truth: ArrayLike) -> tuple[int, ...]:
    """Its shape; that of a number where rows differ in length, which a vector may not hold."""
    try:
        return np.shape(truth)
    except ValueError:
        return ()


def _ranking(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `probabilistic_kendall_tau`."""
    cases = np.ones(scores.size) if weights is None else weights
    total = float(cases.sum())
    if total <= 1:
        raise InputError(f"y_prob has {total:.3g} cases, and a pair takes two.")

    def statistic(truths: NDArray[Any]) -> Floats:
        discordant = np.array([_discordant(scores, truth, cases) for truth in truths])
        return 1 - 4 * discordant / (total * (total - 1))

    return statistic


def _discordant(scores: Floats, truth: NDArray[Any], cases: Floats) -> float:
    """Weight of the pairs of cases in which the higher score has the lower truth."""
    order = np.lexsort((truth, scores))
    return _descents(levels_of(truth[order]).row, cases[order])


def _descents(rank: NDArray[Any], cases: Floats) -> float:
    """Weight of the pairs in which the later has the lower rank.

    Each is counted at the highest bit in which the two ranks differ, among the ranks that share
    the bits above it, which stand together in their first order.
    """
    rank, total = rank.astype(np.min_scalar_type(rank.max())), 0.0
    for bit in reversed(range(int(rank.max()).bit_length())):
        zero = (rank >> bit) & 1 == 0
        ones = np.where(zero, 0, cases)
        before = np.cumsum(ones) - ones
        shared = rank >> (bit + 1)
        start = np.flatnonzero(np.concatenate([[True], shared[1:] != shared[:-1]]))
        before -= np.repeat(before[start], np.diff(start, append=rank.size))
        total += float(cases[zero] @ before[zero])
        order = np.argsort(rank >> bit, kind="stable")
        rank, cases = rank[order], cases[order]
    return total


# A value of each point, such as its events, to the sum over each point's neighbourhood.
Sums = Callable[[Floats], Floats]

SAME = 1e-12
ON_LINE_BLOCK = 1 << 13


def on_line(points: Floats, cases: Floats, nearest: float) -> Sums:
    """Neighbourhoods of distinct ascending points."""
    radius = _radius_on_line(points, cases, nearest) + SAME
    start = np.searchsorted(points, points - radius)
    stop = np.searchsorted(points, points + radius, side="right")

    def sums(values: Floats) -> Floats:
        below = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(below[stop] - below[start])

    return sums


def _radius_on_line(points: Floats, cases: Floats, nearest: float) -> Floats:
    """Distance of each point to the last of its nearest cases.

    Of the stretches that begin at a point to the left and hold enough cases, the one that reaches
    least far is one of two: where the reach to the right overtakes the one to the left.
    """
    below = np.concatenate([[0.0], np.cumsum(cases)])
    ends = np.searchsorted(below, below[:-1] + (nearest - SAME * below[-1])) - 1
    right_end = np.append(points, np.inf)

    def radius(here: NDArray[np.intp]) -> Floats:
        point = points[here]

        def reach(first: NDArray[np.intp]) -> Floats:
            """Distance to the right end of the shortest stretch from `first` with enough cases."""
            return np.asarray(right_end[np.maximum(ends[first], here)] - point)

        low, high = np.searchsorted(ends, here), here
        while (low < high).any():
            middle = (low + high) // 2
            overtaken = point - points[middle] <= reach(middle)
            low, high = np.where(overtaken, low, middle + 1), np.where(overtaken, middle, high)
        left = np.where(low > 0, point - points[low - 1], np.inf)
        return np.minimum(reach(low), left)

    rows = (np.arange(part.start, part.stop) for part in blocks(points.size, room=ON_LINE_BLOCK))
    return np.concatenate([radius(here) for here in rows])


class ValidityCurve(NamedTuple):
    """Share of the cases whose score is within a distance of the local mean outcome.

    Attributes
    ----------
    epsilon : ndarray of shape (steps,)
        Distances in ascending order, from 0 to 1.
    share : ndarray of shape (steps,)
        Share of the cases within each; it stays until the next, and ends at 1.
    """

    epsilon: Floats
    share: Floats


def _distances(table: Levels, n_neighbors: int) -> Statistic:
    """Outcomes to |score - mean outcome of its neighbours|, of shape (replicates, scores)."""
    nearest = as_count(n_neighbors, "n_neighbors", 1, table.total, limit="the number of cases")
    sums = on_line(table.score, table.trials, nearest)
    around = sums(table.trials)

    def distances(outcomes: NDArray[Any]) -> Floats:
        rates = np.array([sums(hits) / around for hits in table.hits(outcomes)])
        return np.asarray(np.abs(table.score - np.clip(rates, 0, 1)))

    return distances


def _validity(scores: Floats, weights: Floats | None, *, n_neighbors: int) -> Statistic:
    """Core of `auc_v`; how many neighbours there can be is known with the cases."""
    table = levels_of(scores, weights)
    distances = _distances(table, n_neighbors)
    return lambda outcomes: 1 - distances(outcomes) @ table.trials / table.total


@registry.estimator(
    "Area under the validity curve",
    prepare=_validity,
    paper="Torabian & Urner 2024",
    estimates="1 less the calibration error of order 1",
    span=(0, 1),
    perfect=1,
    bound="below 1 - TCE of order 1 on average, as the mean of a few outcomes is noisy",
    dear="The distance to the k-th nearest score is searched for by halving, at every score.",
)
def auc_v(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_neighbors: int = 10,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Area under the validity curve by nearest neighbours: 1 less the mean distance to them.

    1 - mean |s_i - r_i|, with r_i the mean outcome of the k cases whose scores are nearest to s_i,
    its own among them. See `validity_curve` for the curve.

    Parameters
    ----------
    %(replicated_cases)s
    n_neighbors : int
        k, from 1 to the number of cases. All cases as near as the k-th are neighbours too, and r_i
        is the mean over all of them, so that the order of the cases does not show. With 1 the
        neighbours are the cases of the same score (within 1e-12, as everywhere here).
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, also among the neighbours. Unless all are integers they are sampling
        weights, and are rescaled to Kish's effective sample size.

    %(returns_share)s

    %(refuses)s
        Also if a table was compressed to the grid, which has not every score.

    Notes
    -----
    In the population, with the probability of the event in the place of r_i, the area is 1 - TCE
    of order 1. In a sample r_i varies, so that a calibrated model stays below 1: with q the
    probability at a score, by about the mean of sqrt(2 q (1 - q) / (pi k)). Larger k lessen that,
    and blur the curve.

    It is small where calibration is bad. `bayescal.check_consistency` takes large for bad, so give
    it `lambda y_true, y_prob: 1 - auc_v(y_true, y_prob)`.

    The paper divides by k, which is the same where no scores are tied. Over cells given by name the
    area is 1 - `pde` of order 1, and over bins whose scores are averaged, as Gupta & Ramdas have
    it, 1 - `ece` with `binning="mass"`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5.
    Gupta & Ramdas, "Distribution-free calibration guarantees for histogram binning without sample
    splitting", ICML 2021.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 2000, random_state=4)
    >>> round(estimators.auc_v(y_true, y_prob), 3)
    0.901
    >>> round(estimators.auc_v(y_true, y_prob, n_neighbors=200), 3)
    0.977
    >>> round(estimators.auc_v(y_true, 1 - y_prob), 3)
    0.597
    """
    cases = registry.read(y_true, y_prob, sample_weight, needs="scores", single=True).ranked()
    return registry.evaluate(_validity, cases, n_neighbors=n_neighbors)


@documented
def validity_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_neighbors: int = 10,
    sample_weight: ArrayLike | None = None,
) -> ValidityCurve:
    """Validity curve by nearest neighbours: the share of cases within any distance of them.

    V(e) is the share of the cases with |s_i - r_i| <= e, r_i as in `auc_v`. It is a step function,
    and the area under it, sum(share[:-1] * diff(epsilon)), is `auc_v`.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    n_neighbors, sample_weight
        As in `auc_v`.

    Returns
    -------
    ValidityCurve
        `epsilon` and `share`.

    Raises
    ------
    InputError
        As `auc_v`; also if `y_true` has leading dimensions.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5.

    Examples
    --------
    >>> from bayescal import estimators
    >>> curve = estimators.validity_curve([0, 1, 1, 1], [0.1, 0.1, 0.9, 0.9], n_neighbors=2)
    >>> curve.epsilon.round(2), curve.share
    (array([0. , 0.1, 0.4, 1. ]), array([0. , 0.5, 1. , 1. ]))
    """
    cases = registry.read(y_true, y_prob, sample_weight, needs="scores", single=True).ranked()
    if cases.shape:
        shape = (*cases.shape, cases.scores.size)
        raise InputError(f"y_true must be one-dimensional, but has shape {shape}.")
    table = levels_of(cases.scores, cases.weights)
    distance = _distances(table, n_neighbors)(cases.outcomes)[0]
    epsilon = np.unique(np.concatenate([[0.0, 1.0], distance]))
    step = np.searchsorted(epsilon, distance)
    within = np.cumsum(np.bincount(step, table.trials, epsilon.size))
    return ValidityCurve(epsilon, within / table.total)
