"""Scores for many weightings of the same cases at once, as a bootstrap needs them.

Each core takes scores and outcomes of shape (n,), checked, the scores ascending, and weights of
shape (replicates, n), which are numbers of cases. It gives one value for each replicate, NaN where
it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.data.table import levels_of
from bayescal.scores._core import dxy
from bayescal.scores._rules import squared_error

__all__ = ["WEIGHTED"]


def _brier(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    given = np.abs(1 - outcomes - scores)
    mean: Floats = weights @ squared_error(given, (1 - given)[None]) / weights.sum(axis=1)
    return mean


def _scaled_brier(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    rate = weights @ outcomes / weights.sum(axis=1)
    variance = np.where((rate > 0) & (rate < 1), rate * (1 - rate), np.nan)
    return 1 - _brier(scores, outcomes, weights) / variance


def _dxy(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    levels = levels_of(scores)
    return dxy(levels.totals(weights), levels.totals(weights * outcomes))


def _c_statistic(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    return (1 + _dxy(scores, outcomes, weights)) / 2


WEIGHTED: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "brier_score": _brier,
    "c_statistic": _c_statistic,
    "scaled_brier_score": _scaled_brier,
    "somers_dxy": _dxy,
}
"""The cores of some scores of an event, by name in `bayescal.scores`."""
