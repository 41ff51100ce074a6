"""Cores of the indices: on many outcomes at the same scores, and on many weightings of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.table import tabulate
from bayescal.data.weights import SAME
from bayescal.estimators.door import Core, Statistic
from bayescal.estimators.integrated._resampled import resampled_loess, resamples_of
from bayescal.estimators.integrated._summaries import INDICES
from bayescal.estimators.integrated.smoothers import smoother_of, span_of

__all__ = ["CORES", "OF_WEIGHTINGS", "eci_core", "eci_of_weightings", "flat", "gaps"]


def gaps(
    scores: Floats, weights: Floats | None, **smoothing: Any
) -> tuple[Callable[[NDArray[Any]], Floats], Floats]:
    """Distances between the curve of each replicate and the distinct scores, and their cases.

    No distance counts as more than 1.
    """
    table = tabulate(scores, weights)
    curve = smoother_of(**smoothing)(table, table.score)

    def gap(outcomes: NDArray[Any]) -> Floats:
        distance = np.abs(curve(table.hits(outcomes)) - table.score)
        return np.asarray(np.minimum(distance, 1))

    return gap, table.trials


def _index_core(name: str) -> Core:
    """Core of an index of every replicate's curve."""
    index = INDICES[name]

    def core(scores: Floats, weights: Floats | None, **smoothing: Any) -> Statistic:
        gap, trials = gaps(scores, weights, **smoothing)
        return lambda outcomes: index(gap(outcomes), trials)

    return core


CORES = {name: _index_core(name) for name in INDICES}
"""By name, the core of each index."""


def _index_of_weightings(name: str) -> Callable[..., Floats]:
    """An index of the curve of each of many weightings of the same cases."""
    index, core = INDICES[name], CORES[name]

    def values(scores: Floats, outcomes: Floats, weights: Floats, **smoothing: Any) -> Floats:
        if smoothing["smoother"] == "loess":
            rows = resamples_of(scores, outcomes, weights)
            curve = resampled_loess(rows, span_of("loess", smoothing["span"]))
            if smoothing["clip"]:
                curve = np.clip(curve, 0, 1)
            gap = np.minimum(np.abs(curve - rows.score), 1)
            return np.concatenate([index(gap[None, i], rows.trials[i]) for i in rows.each()])
        drawn = weights > 0
        alone = [
            core(scores[some], weight[some], **smoothing)(outcomes[None, some])
            for some, weight in zip(drawn, weights, strict=True)
        ]
        return np.concatenate(alone)

    return values


OF_WEIGHTINGS = {name: _index_of_weightings(name) for name in INDICES}
"""By name: `(scores, outcomes, weights, **smoothing) -> values`, one for each weighting."""


def flat(scores: Floats, weights: Floats | None) -> Statistic:
    """Mean square of mean outcome - score, NaN where it is 0."""
    table = tabulate(scores, weights)
    mean = np.average(table.score, weights=table.trials)
    variance = np.average((table.score - mean) ** 2, weights=table.trials)

    def square(outcomes: NDArray[Any]) -> Floats:
        rate = table.hits(outcomes).sum(axis=1) / table.total
        total = variance + (rate - mean) ** 2
        return np.where(total > SAME**2, total, np.nan)

    return square


def eci_core(scores: Floats, weights: Floats | None, *, form: str, **smoothing: Any) -> Statistic:
    """Core of `eci`."""
    square = CORES["eci"](scores, weights, **smoothing)
    if form == "mean-square":
        return square
    level = flat(scores, weights)
    return lambda outcomes: square(outcomes) / 100 / level(outcomes)


def eci_of_weightings(
    scores: Floats, outcomes: Floats, weights: Floats, *, form: str, **smoothing: Any
) -> Floats:
    """`eci` of each of many weightings of the same cases."""
    square = OF_WEIGHTINGS["eci"](scores, outcomes, weights, **smoothing)
    if form == "mean-square":
        return square
    level = [flat(scores, weight)(outcomes[None]) for weight in weights]
    return square / 100 / np.concatenate(level)
