"""Scores that run the wrong way: cases with the event have clearly lower scores than others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import logistic_mle
from bayescal.core.text import rounded
from bayescal.data.table import CalibrationData

# Of 600 sets of 20 to 200 cases whose scores say nothing (C .5), 6 meet both signs.
# Least probability that the slope is below 0; the second sign is the interval of C below 0.5.
SURELY_BELOW = 0.99
TWO_SIDED = 1.96


class Reversed(NamedTuple):
    """The C-statistic of scores that run the wrong way, with its 95 % interval."""

    c_statistic: float
    lower: float
    upper: float

    @property
    def first(self) -> str:
        """What is seen."""
        middle, low, high = rounded(tuple(self), self.lower, self.upper, 0.5)
        return f"The probabilities run the wrong way (C {middle}, {low} to {high})."

    @property
    def advice(self) -> str:
        """What to do about it."""
        return (
            "Most often the event is coded the other way: check. No update is offered, since it "
            "would hide that."
        )

    def __str__(self) -> str:
        return f"{self.first} {self.advice}"


def reversed_scores(data: CalibrationData) -> Reversed | None:
    """Whether scores run the wrong way: the slope is surely negative, and C is below 0.5.

    The interval of C is DeLong's; the slope is that of logistic regression. None where they do not,
    and of times to an event, whose cases are not all known.
    """
    if data.follow_up is not None:
        return None
    pooled = data.pooled() if data.groups else data
    table = next(iter(pooled.imputations), pooled)
    weight = table.weight_scale
    trials, hits = table.trials * weight, table.hits * weight
    events, others = float(hits.sum()), float((trials - hits).sum())
    if min(events, others) <= 1:
        return None
    c, error = c_statistic_of(trials, hits)
    if c + TWO_SIDED * error >= 0.5:
        return None
    try:
        line, covariance = logistic_mle(table.score, trials, hits)
        if ndtr(-line[1] / np.sqrt(covariance[1, 1])) < SURELY_BELOW:
            return None
    except InputError:  # separated the wrong way round, which is as clear as can be
        pass
    return Reversed(c, max(c - TWO_SIDED * error, 0.0), c + TWO_SIDED * error)


def c_statistic_of(trials: Floats, hits: Floats) -> tuple[float, float]:
    """The C-statistic of a table of ascending scores, and its standard error by DeLong."""
    others = trials - hits
    events, rest = hits.sum(), others.sum()
    below = (np.cumsum(others) - others / 2) / rest
    above = (events - np.cumsum(hits) + hits / 2) / events
    c = float(hits @ below / events)
    variance = hits @ (below - c) ** 2 / (events * (events - 1))
    variance += others @ (above - c) ** 2 / (rest * (rest - 1))
    return c, float(np.sqrt(variance))
