"""The validity curve: how many cases have a score within any distance of the local mean outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.table import Table, tabulate
from bayescal.data.validate import as_count
from bayescal.estimators.door import Cases, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = ["Sums", "ValidityCurve", "auc_v", "on_line", "validity_curve"]

Sums = Callable[[Floats], Floats]
"""A value of each point, such as its events, to the sum over each point's neighbourhood."""

SAME = 1e-12
ON_LINE_BLOCK = 1 << 13


def on_line(points: Floats, cases: Floats, nearest: float) -> Sums:
    """Neighbourhoods of distinct ascending points."""
    radius = _radius_on_line(points, cases, nearest) + SAME
    start = np.searchsorted(points, points - radius)
    stop = np.searchsorted(points, points + radius, side="right")

    def sums(values: Floats) -> Floats:
        below = np.concatenate([[0.0], np.cumsum(values)])
        inside: Floats = below[stop] - below[start]
        return inside

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
            right: Floats = right_end[np.maximum(ends[first], here)] - point
            return right

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


def _distances(table: Table, n_neighbors: int) -> Statistic:
    """Outcomes to |score - mean outcome of its neighbours|, of shape (replicates, scores)."""
    nearest = as_count(n_neighbors, "n_neighbors", 1, table.total, limit="the number of cases")
    sums = on_line(table.score, table.trials, nearest)
    around = sums(table.trials)

    def distances(outcomes: NDArray[Any]) -> Floats:
        rates = np.array([sums(hits) / around for hits in table.hits(outcomes)])
        away: Floats = np.abs(table.score - np.clip(rates, 0, 1))
        return away

    return distances


def _core(scores: Floats, weights: Floats | None, *, n_neighbors: int) -> Statistic:
    """Core of `auc_v`; how many neighbours there can be is known with the cases."""
    table = tabulate(scores, weights)
    distances = _distances(table, n_neighbors)
    return lambda outcomes: 1 - distances(outcomes) @ table.trials / table.total


@estimator(
    "Area under the validity curve",
    prepare=_core,
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
    %(replicates)s
    %(scores)s
    n_neighbors : int
        k, from 1 to the number of cases. All cases as near as the k-th are neighbours too, and r_i
        is the mean over all of them, so that the order of the cases does not show. With 1 the
        neighbours are the cases of the same score (within 1e-12, as everywhere here).
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, also among the neighbours. Unless all are integers they are sampling
        weights, and are rescaled to Kish's effective sample size.

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if `n_neighbors` is out
        of range; if a table was compressed to the grid, which has not every score.

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
    cases = _read(y_true, y_prob, sample_weight)
    return evaluate(_core, cases, n_neighbors=n_neighbors)


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
    cases = _read(y_true, y_prob, sample_weight)
    if cases.shape:
        shape = (*cases.shape, cases.scores.size)
        raise InputError(f"y_true must be one-dimensional, but has shape {shape}.")
    table = tabulate(cases.scores, cases.weights)
    distance = _distances(table, n_neighbors)(cases.outcomes)[0]
    epsilon = np.unique(np.concatenate([[0.0, 1.0], distance]))
    step = np.searchsorted(epsilon, distance)
    within = np.cumsum(np.bincount(step, table.trials, epsilon.size))
    return ValidityCurve(epsilon, within / table.total)


def _read(y_true: OutcomesLike, y_prob: ArrayLike | None, sample_weight: ArrayLike | None) -> Cases:
    return read(y_true, y_prob, sample_weight, needs="scores", single=True).ranked()
