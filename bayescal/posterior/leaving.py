"""What is true of all cases if those who left early were not like others with the same score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import clipped
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.model.likelihood.times.entries import Partial
from bayescal.model.likelihood.times.steps import steps_of
from bayescal.model.problem import Problem
from bayescal.posterior.curve_draws import CurveDraws

__all__ = ["OtherHazard", "left_early", "other_hazard"]

PERIODS_OF_LEAVING = 8
NEIGHBOURS = 0.2
"""Share of all cases, those with the nearest scores, whose leaving stands for that of a row."""


@dataclass(frozen=True)
class OtherHazard:
    """Cases that left have another hazard from then on: that of the others times exp(delta).

    A case that left at u without the event has it by the horizon with probability
    1 - ((1 - g) / (1 - g Q(u)))^exp(delta).

    Attributes
    ----------
    share : ndarray of shape (periods, rows)
        Of the cases near each row, those that left in each period of time.
    by_then : ndarray of shape (periods, rows)
        Q: the share of the events that have come by the mean time at which they left.
    delta : float
        Log hazard ratio.
    """

    share: Floats
    by_then: Floats
    delta: float

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """The same for all draws."""
        return np.full(len(curves), self.delta)

    def of(self, draws: CurveDraws, shift: Floats) -> CurveDraws:
        """The mean curve of all cases, over the same scores."""
        risk, added = clipped(draws.curve), np.zeros(draws.curve.shape)
        ratio = np.exp(shift)[:, None]
        for share, by_then in zip(self.share, self.by_then, strict=True):
            rest = (1 - risk) / (1 - risk * by_then)
            added += share * (rest - rest**ratio)
        return CurveDraws(draws.curve + added, draws.population)


def left_early(data: CalibrationData) -> Floats | None:
    """Cases of each row that left before the horizon; None of outcomes, which are known."""
    followed = data.follow_up
    if followed is None:
        return None
    left = followed.left_early
    return add_up(followed.row[left], followed.weight[left], data.score.size)


def other_hazard(problem: Problem, delta: float) -> OtherHazard:
    """The departure of a problem of times to an event.

    Who left, and when, is read off the fifth of the cases with the nearest scores.
    """
    followed = problem.data.follow_up
    if followed is None:
        raise InputError(
            "post is of outcomes that are known: no case left before a horizon. Fit a "
            "bayescal.Survival."
        )
    left = followed.left_early
    if not left.any():
        raise InputError(
            f"no case left before {followed.horizon:g} without the event: nothing depends on what "
            "would have become of them."
        )
    weight, step = followed.weight * problem.data.weight_scale, np.maximum(followed.exit, 1)
    row = problem.merged(followed.row)
    cuts = np.quantile(step[left], np.arange(1, PERIODS_OF_LEAVING) / PERIODS_OF_LEAVING)
    period = np.searchsorted(np.unique(cuts), step, side="right")
    size, rows = int(period[left].max()) + 1, problem.trials.size
    cell = period[left] * rows + row[left]
    gone = np.bincount(cell, weight[left], size * rows).reshape(size, rows)
    total = np.bincount(period[left], weight[left] * step[left], size)
    kept = gone.sum(axis=1) > 0
    when = total[kept] / gone[kept].sum(axis=1)
    near = _near(problem.trials)
    share = np.stack([near(each) for each in gone[kept]])
    log_odds = np.log(problem.score) - np.log1p(-problem.score)
    partial = Partial(
        np.tile(np.arange(rows), when.size),
        np.tile(log_odds, when.size),
        np.repeat(when, rows),
        np.ones(rows * when.size),
    )
    by_then = steps_of(problem).shares(partial).value.reshape(when.size, rows)
    return OtherHazard(share, by_then, delta)


def _near(trials: Floats) -> Callable[[Floats], Floats]:
    """Shares of the cases round each row, by numbers in each row."""
    ends = np.concatenate([[0.0], np.cumsum(trials)])
    width = NEIGHBOURS * ends[-1]
    lower = np.clip((ends[:-1] + ends[1:] - width) / 2, 0, ends[-1] - width)

    def shares(number: Floats) -> Floats:
        up_to = np.concatenate([[0.0], np.cumsum(number)])
        within = np.interp(lower + width, ends, up_to) - np.interp(lower, ends, up_to)
        return np.asarray(within / width)

    return shares
