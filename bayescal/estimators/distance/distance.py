"""Distances from calibration: how far scores must move to be calibrated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.table import tabulate
from bayescal.data.validate import as_count
from bayescal.estimators.distance._programmes import (
    Cells,
    best_partition,
    bounded_error,
    cells_of,
    lower_distance,
    smooth_error,
)
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read_ranked
from bayescal.estimators.metric import Metric, as_metric, positions
from bayescal.estimators.registry import estimator

__all__ = [
    "DistanceBounds",
    "distance_bounds",
    "lower_distance_to_calibration",
    "weak_calibration_error",
]

FINEST, FINEST_IN_METRIC = 1 << 20, 1 << 16
CHEAPEST, DEAREST = 1e-3, 1e3
RESOLUTIONS = (16, 8192)


class DistanceBounds(NamedTuple):
    """What the distance to calibration lies between.

    Attributes
    ----------
    lower, upper : float or ndarray
        One for each replicate when outcomes have leading dimensions.
    """

    lower: Any
    upper: Any


def _over_cells(
    most: int, metric: Metric, distance: Callable[[Cells, Floats], float]
) -> Callable[[Floats, Floats | None], Statistic]:
    """Core of a distance of the events in at most so many cells."""

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        cells = cells_of(tabulate(scores, weights), most, metric)

        def statistic(outcomes: NDArray[Any]) -> Floats:
            return np.array([distance(cells, events) for events in cells.events(outcomes)])

        return statistic

    return core


def _lower_core(
    scores: Floats,
    weights: Floats | None,
    *,
    resolution: int,
    metric: Metric = "identity",
    outcome_cost: float = math.inf,
) -> Statistic:
    """Core of `lower_distance_to_calibration`."""

    def distance(cells: Cells, events: Floats) -> float:
        return lower_distance(cells.score, cells.share, events, resolution, metric, outcome_cost)

    return _over_cells(resolution, metric, distance)(scores, weights)


def _weak_core(scores: Floats, weights: Floats | None, *, metric: Metric = "identity") -> Statistic:
    """Core of `weak_calibration_error`."""

    def distance(cells: Cells, events: Floats) -> float:
        residual = events - cells.share * cells.score
        if metric == "identity":
            return smooth_error(cells.score, residual)
        return bounded_error(np.diff(positions(cells.score, metric)), residual)

    most = FINEST if metric == "identity" else FINEST_IN_METRIC
    return _over_cells(most, metric, distance)(scores, weights)


_partition_core = _over_cells(
    FINEST, "identity", lambda cells, events: best_partition(cells.score, cells.share, events)
)


@estimator(
    "Lower distance to calibration",
    prepare=_lower_core,
    paper="Blasiok, Gopalan, Hu & Nakkiran 2023",
    estimates="least mean move of the scores to calibrated ones, outcomes known",
    span=(0, 1),
    bound="below the distance to calibration, and TCE of order 1 in the population",
    cost="n log n, and a linear programme",
    dear="Cases are summed in cells after the sort; the linear programme takes as long for "
    "any number of cases.",
)
def lower_distance_to_calibration(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    resolution: int = 1024,
    metric: Metric = "identity",
    outcome_cost: float = math.inf,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Lower distance to calibration: the least mean move that makes the scores calibrated.

    min E|s - u| over all joint laws of score s, outcome y and a new score u that leave the law of
    (s, y) as it is and have P(y = 1 | u) = u. The move may depend on chance and on the outcome.

    With an `outcome_cost` c, outcomes may change as well: min E|s - u| + c P(v != y) over joint
    laws of (s, y) and (u, v) with P(v = 1 | u) = u. With c = 1 that is the distance to calibration
    as Błasiok & Nakkiran define it in any metric.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    resolution : int
        Intervals of the grid of new scores, from 16 to 8192.
    metric : {"identity", "logit"} or callable
        An increasing function h, so that a move costs |h(s) - h(u)|, as in `smooth_ece`.
    outcome_cost : float
        What it costs to change an outcome, more than 0; without limit by default.
    %(weights)s

    Returns
    -------
    float or ndarray
        From 0 to 1, in another metric to the distance of 0 from 1; one for each replicate when
        `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.

    Notes
    -----
    A linear programme, solved for each replicate. New scores are the grid's points and the scores
    themselves, which makes the value too large by at most 1 / (2 resolution^2), or 5e-7. More
    distinct scores than `resolution` are first put together in its intervals, each at its mean,
    which changes the value by at most 1 / (2 resolution), and in practice by far less.

    It is the distance of the sample, and so above 0 for a calibrated model: about 0.02 for 200
    uniform scores, 0.005 for 10,000. Within a factor of 2 either way it is
    `weak_calibration_error`, which is much faster.

    Where moves cost |s - u|, a cost of 1 or more for an outcome changes nothing: the two functions
    of the dual programme are between -u and u, and u - 1 and 1 - u, and so no more than 1 apart.
    The authors show as much up to a constant (Claim 33).

    In another metric the grid has as many equal steps of the metric too, and the bound of the error
    does not hold.

    References
    ----------
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023.
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, definitions 1 and 6.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.lower_distance_to_calibration([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.lower_distance_to_calibration([0, 1], [0.45, 0.55]), 4)
    0.045
    >>> round(
    ...     estimators.lower_distance_to_calibration([0, 1], [0.05, 0.55], metric="logit"), 4
    ... )
    1.1389
    """
    return evaluate(
        _lower_core,
        read_ranked(y_true, y_prob, sample_weight),
        resolution=as_count(resolution, "resolution", *RESOLUTIONS),
        metric=as_metric(metric),
        outcome_cost=_as_cost(outcome_cost),
    )


def _as_cost(cost: Any) -> float:
    number = isinstance(cost, (int, float, np.integer, np.floating))
    if not number or isinstance(cost, bool) or not cost >= CHEAPEST:
        raise InputError(
            f"outcome_cost must be a number from {CHEAPEST:g}, or infinity, got "
            f"{shortened(repr(cost))}."
        )
    return math.inf if cost > DEAREST else float(cost)


@estimator(
    "Weak calibration error",
    prepare=_weak_core,
    paper="Kakade & Foster 2008; Blasiok, Gopalan, Hu & Nakkiran 2023",
    estimates="the largest mean of residuals weighed by a function of slope and size at most 1",
    span=(0, 1),
    bound="from half to twice the lower distance to calibration; below TCE in the population",
    dear="Running sums at a million heights are split in two some twenty times after the sort.",
)
def weak_calibration_error(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Smooth calibration error, or weak calibration: residuals against a Lipschitz function.

    max E[(y - s) w(s)] over w from [0, 1] to [-1, 1] with |w(s) - w(s')| <= d(s, s'), where
    d(s, s') = |s - s'| or, in another metric, |h(s) - h(s')|.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    metric : {"identity", "logit"} or callable
        An increasing function h, as in `smooth_ece`.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or `metric` is no
        increasing function.

    Notes
    -----
    It is no relative of `smooth_ece`, which smooths by a kernel, but for both being small together:
    with d the lower distance to calibration, d / 2 <= smooth calibration error <= 2 d.

    The maximum is exact, by its dual: the running sum of the residuals is fitted by a path that
    never falls, by halving the heights that it may have. More than 2^20 distinct scores are put
    together in as many intervals, which changes the value by at most 1e-6. In another metric it is
    as exact, up to 2^16 distinct scores; more are put together in as many intervals of the metric.

    In the metric of the log-odds it says by how much a map of the log-odds of slope at most 1 can
    lower the log score, up to constants and a root (section 5 of Błasiok & Nakkiran). Their Theorem
    22 prints d <= smooth calibration error for d / 2, which two cases refute: of outcomes 0 and 1
    at .45 and .55 the distance is .045 and this error .0225.

    References
    ----------
    Kakade & Foster, "Deterministic Calibration and Nash Equilibrium", Journal of Computer and
    System Sciences 74, 2008.
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023,
    section 7.
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, definition 14.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.weak_calibration_error([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.weak_calibration_error([0, 1], [0.45, 0.55]), 4)
    0.0225
    >>> round(estimators.weak_calibration_error([0, 1], [0.45, 0.55], metric="logit"), 4)
    0.0903
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_weak_core, cases, metric=as_metric(metric))


@documented
def distance_bounds(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    resolution: int = 1024,
    sample_weight: ArrayLike | None = None,
) -> DistanceBounds:
    """Bounds of the distance to calibration, which scores and outcomes alone do not settle.

    The distance is min E|s - u| over models u that see what the model of s saw and are calibrated.
    At least it is the lower distance, whose u may see the outcome too; at most
    min E|s - E[y | bin of s]| over ways to cut the scores into bins, whose u sees the score only.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    resolution : int
        As in `lower_distance_to_calibration`.
    %(weights)s

    Returns
    -------
    DistanceBounds
        A named tuple (lower, upper), of the distance in the sample.

    Raises
    ------
    InputError
        As `lower_distance_to_calibration`.

    Notes
    -----
    The upper bound is the least over all bins of neighbouring scores, by dynamic programming; more
    than 512 distinct scores may be cut at 512 places of equal shares. With all places open it is
    at most 4 times the root of the lower distance.

    Two cases, scored 1/2 - e without and 1/2 + e with the event, have the lower bound e (1 - 2 e)
    and the upper bound e, for e up to 1/4.

    References
    ----------
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> lower, upper = estimators.distance_bounds(y_true, y_prob)
    >>> round(lower, 4), round(upper, 4)
    (0.0034, 0.014)
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    lower = evaluate(
        _lower_core, cases, resolution=as_count(resolution, "resolution", *RESOLUTIONS)
    )
    return DistanceBounds(lower, evaluate(_partition_core, cases))
