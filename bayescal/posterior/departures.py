"""Departures: what a population has that the curve and the scores do not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped
from bayescal.model.problem import Problem
from bayescal.posterior.curve_draws import CurveDraws
from bayescal.posterior.line import nearest_shift

__all__ = ["AtPrevalence", "Departure", "OtherRisk", "mean_risk"]


class Departure(Protocol):
    """Draws of curves and weights become others."""

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """By how much each curve is shifted, in log-odds, of shape (draws,).

        Parameters
        ----------
        curves : ndarray of shape (draws, rows)
            At the scores of the problem.
        """

    def of(self, draws: CurveDraws, shift: Floats) -> CurveDraws:
        """The same draws after the departure; `shift` is of these draws."""


@dataclass(frozen=True)
class OtherRisk:
    """Some of the cases of each row have another risk: the same, shifted in log-odds.

    Attributes
    ----------
    share : ndarray of shape (rows,)
        Of the cases of each row.
    delta : float
    """

    share: Floats
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
    """The risks have another mean: all are shifted by as much in log-odds.

    Attributes
    ----------
    prevalence : ndarray of shape (draws,)
    keeps_scores : bool
        Whether the scores are those of the new population. If they are not, events and non-events
        have the scores that they have now, so that the weights follow from the prevalence.
    """

    prevalence: Floats
    keeps_scores: bool

    def shift_of(self, curves: Floats, problem: Problem) -> Floats:
        """Where scores stay, what gives the mean risk; else the difference of the log-odds."""
        if self.keeps_scores:
            weight = problem.trials / problem.n
            return nearest_shift(self.prevalence, weight, clipped(curves))
        return np.asarray(logit(self.prevalence) - logit(mean_risk(curves, problem)))

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


def mean_risk(curves: Floats, problem: Problem) -> Floats:
    """Mean risk of the cases of a problem, in each draw."""
    return np.asarray(curves @ (problem.trials / problem.n))
