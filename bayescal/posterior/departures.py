"""Other scores, and departures: what a population has that the curve and the scores do not say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level
from bayescal.core.optimise import clipped
from bayescal.core.text import shortened
from bayescal.data.cases import aligned, as_floats, as_scores, as_vector
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem
from bayescal.model.times import Partial, steps_of
from bayescal.posterior.curve_draws import CurveDraws, nearest_shift
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd


class Departure(Protocol):
    """Draws of curves and weights become others."""

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """By how much each curve is shifted, in log-odds, of shape (draws,).

        `curves` (draws, rows): at the scores of the problem.
        """

    def of(self, draws: CurveDraws, shift: Floats) -> CurveDraws:
        """The same draws after the departure; `shift` is of these draws."""


@dataclass(frozen=True)
class OtherRisk:
    """Some of the cases of each row have another risk: the same, shifted in log-odds."""

    share: Floats  # (rows,): of the cases of each row
    delta: float

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """The same for all draws."""
        return np.full(len(curves), self.delta)

    def of(self, draws: CurveDraws, shift: Floats) -> CurveDraws:
        """The mean curve of all cases, over the same scores."""
        curve = clipped(draws.curve)
        shifted = expit(logit(curve) + shift[:, None])
        return CurveDraws(draws.curve + self.share * (shifted - curve), draws.population)


@dataclass(frozen=True)
class AtPrevalence:
    """The risks have another mean: all are shifted by as much in log-odds."""

    prevalence: Floats  # (draws,)
    keeps_scores: bool  # whether the scores are those of the new population

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """Where scores stay, what gives the mean risk; else the difference of the log-odds."""
        if self.keeps_scores:
            weight = problem.trials / problem.n
            return nearest_shift(self.prevalence, weight, clipped(curves))
        return np.asarray(logit(self.prevalence) - logit(curves @ (problem.trials / problem.n)))

    def of(self, draws: CurveDraws, shift: Floats) -> CurveDraws:
        """The shifted curves, over weights that follow from the prevalence or stay."""
        curve = clipped(draws.curve)
        odds = np.exp(shift)[:, None]
        shifted = curve * odds / (1 - curve + curve * odds)
        if self.keeps_scores:
            return CurveDraws(shifted, draws.population)
        weight = np.asarray(draws.population.weight * (1 - curve + curve * odds))
        weight /= weight.sum(axis=1, keepdims=True)
        return CurveDraws(shifted, draws.population._replace(weight=weight, trials=None))


def prevalence_table(departure: AtPrevalence, curves: Any) -> pd.DataFrame:
    """The prevalence before, told, and the shift, with their intervals."""
    import pandas as pd

    problem = curves.problem
    values = {
        "implied": curves.observed @ (problem.trials / problem.n),
        "told": departure.prevalence,
        "shift": curves.shift,
    }
    rows = {name: (drawn.mean(), *equal_tailed(drawn, 0.95)) for name, drawn in values.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "lower", "upper"])


def prevalences(prevalence: Any, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of a prevalence that was told, as a number or as events and patients."""
    if not hasattr(prevalence, "__len__") or isinstance(prevalence, str):
        return np.full(draws, as_level(prevalence, "prevalence"))
    given = as_vector(prevalence, "prevalence")
    events, cases = as_floats(given, "prevalence") if given.size == 2 else (np.nan, np.nan)
    if not 0 <= events <= cases or not 0 < cases < np.inf:
        raise InputError(
            f"prevalence must be a number inside (0, 1), or events and patients such as (45, 1000)"
            f", got {shortened(repr(prevalence))}."
        )
    drawn = rng.beta(events + 0.5, cases - events + 0.5, draws)
    return np.clip(drawn, np.finfo(float).tiny, 1 - np.finfo(float).eps)


def scores_alone(scores: Any, sample_weight: Any, name: str = "scores") -> CalibrationData:
    """Scores as a table without roles, whose outcomes stand for none."""
    if isinstance(scores, CalibrationData):
        if sample_weight is not None:
            raise InputError("sample_weight cannot be given beside a table: it has its weights.")
        return scores.scores_alone()
    scores, sample_weight = aligned(scores=scores, sample_weight=sample_weight)
    values = as_scores(scores, name)
    return CalibrationData(np.zeros(values.size), values, sample_weight)


PERIODS_OF_LEAVING = 8
# Share of all cases, those with the nearest scores, whose leaving stands for that of a row.
NEIGHBOURS = 0.2


@dataclass(frozen=True)
class OtherHazard:
    """Cases that left have another hazard from then on: that of the others times exp(delta).

    A case that left at u without the event has it by the horizon with probability 1 - ((1 - g) / (1
    - g Q(u)))^exp(delta). By period of time and row: the `share` of the cases near the row that
    left then, and Q `by_then`.
    """

    share: Floats
    by_then: Floats
    delta: float  # log hazard ratio

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
