"""Distances from calibration: how far scores must move to be calibrated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.data.table import tabulate
from bayescal.data.validate import as_count
from bayescal.estimators.distance._programmes import (
    Cells,
    best_partition,
    cells_of,
    lower_distance,
    smooth_error,
)
from bayescal.estimators.door import Core, OutcomesLike, Statistic, evaluate, read_ranked
from bayescal.estimators.registry import estimator

__all__ = [
    "DistanceBounds",
    "distance_bounds",
    "lower_distance_to_calibration",
    "weak_calibration_error",
]

FINEST = 1 << 20
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


def _over_cells(most: int, distance: Callable[[Cells, Floats], float]) -> Core:
    """Core of a distance of the events in at most so many cells."""

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        cells = cells_of(tabulate(scores, weights), most)

        def statistic(outcomes: NDArray[Any]) -> Floats:
            return np.array([distance(cells, events) for events in cells.events(outcomes)])

        return statistic

    return core


def _lower_core(scores: Floats, weights: Floats | None, *, resolution: int) -> Statistic:
    """Core of `lower_distance_to_calibration`."""

    def distance(cells: Cells, events: Floats) -> float:
        return lower_distance(cells.score, cells.share, events, resolution)

    return _over_cells(resolution, distance)(scores, weights)


_weak_core = _over_cells(
    FINEST, lambda cells, events: smooth_error(cells.score, events - cells.share * cells.score)
)
_partition_core = _over_cells(
    FINEST, lambda cells, events: best_partition(cells.score, cells.share, events)
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
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Lower distance to calibration: the least mean move that makes the scores calibrated.

    min E|s - u| over all joint laws of score s, outcome y and a new score u that leave the law of
    (s, y) as it is and have P(y = 1 | u) = u. The move may depend on chance and on the outcome.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    resolution : int
        Intervals of the grid of new scores, from 16 to 8192.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or `resolution` is out
        of range.

    Notes
    -----
    A linear programme, solved for each replicate. New scores are the grid's points and the scores
    themselves, which makes the value too large by at most 1 / (2 resolution^2), or 5e-7. More
    distinct scores than `resolution` are first put together in its intervals, each at its mean,
    which changes the value by at most 1 / (2 resolution), and in practice by far less.

    It is the distance of the sample, and so above 0 for a calibrated model: about 0.02 for 200
    uniform scores, 0.005 for 10,000. Within a factor of 2 either way it is
    `weak_calibration_error`, which is much faster.

    References
    ----------
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.lower_distance_to_calibration([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.lower_distance_to_calibration([0, 1], [0.45, 0.55]), 4)
    0.045
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_lower_core, cases, resolution=as_count(resolution, "resolution", *RESOLUTIONS))


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
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Smooth calibration error, or weak calibration: residuals against a Lipschitz function.

    max E[(y - s) w(s)] over w from [0, 1] to [-1, 1] with |w(s) - w(s')| <= |s - s'|.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    %(not_cases)s

    Notes
    -----
    It is no relative of `smooth_ece`, which smooths by a kernel, but for both being small together:
    with d the lower distance to calibration, d / 2 <= smooth calibration error <= 2 d.

    The maximum is exact, by its dual: the running sum of the residuals is fitted by a path that
    never falls, by halving the heights that it may have. More than 2^20 distinct scores are put
    together in as many intervals, which changes the value by at most 1e-6.

    References
    ----------
    Kakade & Foster, "Deterministic Calibration and Nash Equilibrium", Journal of Computer and
    System Sciences 74, 2008.
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023,
    section 7.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.weak_calibration_error([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.weak_calibration_error([0, 1], [0.45, 0.55]), 4)
    0.0225
    """
    return evaluate(_weak_core, read_ranked(y_true, y_prob, sample_weight))


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
