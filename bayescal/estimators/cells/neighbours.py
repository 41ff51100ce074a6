"""Whether scores order cases as their probabilities do, with those taken from the nearest cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.table import tabulate
from bayescal.data.validate import as_count
from bayescal.estimators.cells._nearest import in_space, on_line
from bayescal.estimators.door import (
    OutcomesLike,
    Statistic,
    evaluate,
    read,
)
from bayescal.estimators.registry import estimator

__all__ = ["auc_v"]

DECIMALS = 12
LARGEST_FEATURE = 1e100
"""Distances between cases are sums of squares, which would not be finite."""


def _core(
    scores: Floats,
    weights: Floats | None,
    *,
    features: Floats | None,
    n_neighbors: int | None,
) -> Statistic:
    """Core of `auc_v`; how many neighbours there can be is known with the cases."""
    table = tabulate(scores, weights)
    nearest = _as_neighbours(n_neighbors, table.total)
    if features is None:
        sums = on_line(table.score, table.trials, nearest)
        around = sums(table.trials)

        def of_scores(hits: Floats) -> float:
            return _concordance(table.score, sums(hits) / around, table.trials)

        return lambda outcomes: np.array([of_scores(row) for row in table.hits(outcomes)])

    score, features = scores[table.order], features[table.order]
    cases = np.ones(score.size) if table.weight is None else table.weight
    points, point = np.unique(features, axis=0, return_inverse=True)
    point = point.ravel()

    def gathered(values: Floats) -> Floats:
        return np.bincount(point, values).astype(np.float64, copy=False)

    sums = in_space(points, gathered(cases), nearest)
    around = sums(gathered(cases))

    def of_features(outcomes: NDArray[Any]) -> float:
        return _concordance(score, (sums(gathered(cases * outcomes)) / around)[point], cases)

    return lambda outcomes: np.array([of_features(row) for row in outcomes[:, table.order]])


@estimator(
    "AUC of probabilities by nearest neighbours",
    prepare=_core,
    paper="Torabian & Urner 2024",
    estimates="how often scores order two cases as their probabilities of the event do",
    span=(0, 1),
    perfect=1,
    by_case=("features",),
    dear="Pairs that two orders agree on are counted by a stable sort for each bit of the ranks.",
)
def auc_v(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    features: ArrayLike | None = None,
    n_neighbors: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """How often scores order two cases as the mean outcomes of their nearest cases do.

    P((s - s') (v - v') > 0 | v != v') + P(s = s' | v != v') / 2 for two random cases, with v the
    mean outcome of the k cases nearest to a case, itself and all as near as the last included.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    features : array-like of shape (n_samples, n_features), optional
        What the model saw, on scales on which Euclidean distances mean something. None: cases are
        near when their scores are, and the question is whether the calibration curve rises.
    n_neighbors : int, optional
        k, at least 1. None: the square root of the number of cases, rounded.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, in neighbourhoods and in pairs. Unless all are integers they are sampling
        weights, and are rescaled to Kish's effective sample size.

    Returns
    -------
    float or ndarray
        From 0 to 1; one for each replicate when `y_true` has leading dimensions, NaN where it does
        not exist.

    Raises
    ------
    InputError
        If the arrays are not outcomes, probabilities and features of the same cases, an option is
        out of range, or all neighbourhoods have the same mean outcome, as with one class.

    Notes
    -----
    It is no calibration error: it stays the same under any rising map of the scores, unless these
    say which cases are near. With k = 1 and no two cases at one point it is the area under the ROC
    curve; with more neighbours v comes nearer to the probability of the event, and a model that
    orders cases perfectly nearer to 1.

    The authors have released no code for their AUC_V,KNN. The equation above is this package's
    reading of it; neighbourhoods, ties and the default of k are choices made here.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.auc_v(y_true, y_prob, n_neighbors=1), 3)
    0.774
    >>> round(estimators.auc_v(y_true, y_prob), 3)
    0.935
    """
    if features is None:
        cases = read(y_true, y_prob, sample_weight, needs="scores", single=True).ranked()
    else:
        cases = read(y_true, y_prob, sample_weight, needs="order")
        features = _as_features(features, cases.scores.size)
    value = evaluate(_core, cases, features=features, n_neighbors=n_neighbors)
    if isinstance(value, float) and math.isnan(value):
        raise InputError(
            "y_true has the same mean around every case, so there is no order to compare scores "
            "with. Pass both classes, fewer n_neighbors, or y_prob or features that differ more."
        )
    return value


def _concordance(score: Floats, rate: Floats, cases: Floats) -> float:
    """Share of the pairs of different rates that ascending scores have in order, ties half."""
    _, rank = np.unique(rate.round(DECIMALS), return_inverse=True)
    pairs = cases.sum() ** 2 - (np.bincount(rank, cases) ** 2).sum()
    if not pairs > 0:
        return math.nan
    if (score[1:] > score[:-1]).all():
        ordered = 2 * _ascents(rank, cases)
    else:
        orders = (np.lexsort((tied, score)) for tied in (rank, -rank))
        ordered = sum(_ascents(rank[order], cases[order]) for order in orders)
    return float(min(ordered / pairs, 1.0))


def _ascents(rank: NDArray[Any], cases: Floats) -> float:
    """Weight of the pairs in which the later has the higher rank.

    Each is counted at the highest bit in which the two ranks differ, among the ranks that share
    the bits above it, which stand together in their first order.
    """
    rank, total = rank.astype(np.min_scalar_type(rank.max())), 0.0
    for bit in reversed(range(int(rank.max()).bit_length())):
        one = (rank >> bit) & 1 == 1
        zeros = np.where(one, 0, cases)
        before = np.cumsum(zeros) - zeros
        shared = rank >> (bit + 1)
        start = np.flatnonzero(np.concatenate([[True], shared[1:] != shared[:-1]]))
        before -= np.repeat(before[start], np.diff(start, append=rank.size))
        total += float(cases[one] @ before[one])
        order = np.argsort(rank >> bit, kind="stable")
        rank, cases = rank[order], cases[order]
    return total


def _as_neighbours(number: Any, total: float) -> int:
    if number is None:
        return round(math.sqrt(total))
    return as_count(number, "n_neighbors", 1, total, limit="the number of cases")


def _as_features(features: Any, size: int) -> Floats:
    try:
        array = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            "features is not an array of numbers: a value is none, or rows differ in length. Pass "
            "one row of numbers for each case."
        ) from error
    table = array[:, None] if array.ndim == 1 else array
    if table.ndim != 2 or table.shape[0] != size or table.shape[1] == 0:
        raise InputError(
            f"features must have one row for each of the {size} cases of y_prob and at least one "
            f"column, but has shape {array.shape}."
        )
    wrong = ~(np.abs(table) <= LARGEST_FEATURE)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"features[{row}, {column}] = {table[row, column]:g} is not a finite number of at most "
            f"{LARGEST_FEATURE:g}. Drop or impute it first, or give the column another unit."
        )
    return table
