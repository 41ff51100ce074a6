"""Whom a strategy treats at a threshold, and what that is worth in each draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.optimise import clipped
from bayescal.model.problem import Problem
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws, net_benefit, net_benefit_of_all

__all__ = ["STRATEGIES", "Treated", "benefits", "by_mean_curve", "by_score", "value_of_curve"]

STRATEGIES = ("treat_none", "treat_all", "model", "updated_model")
"""The strategies, the simplest first."""


class Treated(NamedTuple):
    """Whom a strategy treats at some thresholds, by rows of a problem.

    Attributes
    ----------
    share : ndarray of shape (rows, thresholds)
        Share of the cases of each row that are treated.
    excess : ndarray of shape (rows, thresholds)
        What the scores of the treated add, where the cases of a row differ in score.
    """

    share: Floats
    excess: Floats


def by_score(problem: Problem, thresholds: Floats) -> Treated:
    """Treat the cases whose score, as it was given, reaches the threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    """
    return _treated(problem, problem.data.share_reaching(thresholds))


def by_mean_curve(
    of: CurvesOfTable, thresholds: Floats, parts: Sequence[CurvesOfTable] = ()
) -> Treated:
    """Treat the cases at whose score the mean of the curves reaches the threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    parts : sequence of CurvesOfTable
        Of all tables, if the mean is that of the curves of several.
    """
    problem, score = of.problem, of.problem.data.score
    mean = np.mean([_mean_at(score, each) for each in parts or (of,)], axis=0)
    reaching = mean[:, None] >= least_treated(thresholds)
    return _treated(problem, reaching.astype(np.float64))


def _mean_at(score: Floats, of: CurvesOfTable) -> Floats:
    """The mean of the curves of one table."""
    curves, size = of.problem.curves_at(score), len(of.u)
    parts = blocks(size, score.size)
    total = np.sum([curves.probability(of.u[part]).sum(axis=0) for part in parts], axis=0)
    return np.asarray(total / size)


def _treated(problem: Problem, reaching: Floats) -> Treated:
    share = problem.mean_of_rows(reaching)
    scores = problem.mean_of_rows(clipped(problem.data.score)[:, None] * reaching)
    return Treated(share, scores - problem.stated[:, None] * share)


def benefits(
    draws: CurveDraws, thresholds: Floats, model: Treated, updated: Treated | None = None
) -> Floats:
    """Net benefit of each strategy, in each draw.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    model : Treated
        By the score.
    updated : Treated, optional
        By the mean curve.

    Returns
    -------
    ndarray of shape (strategies, draws, thresholds)
        In the order of `STRATEGIES`; the last is left out where it is not given.
    """
    everyone = net_benefit_of_all(draws, thresholds)
    by_treated = [
        net_benefit(draws, thresholds, *treated)
        for treated in (model, updated)
        if treated is not None
    ]
    return np.stack([np.zeros_like(everyone), everyone, *by_treated])


def value_of_curve(draws: CurveDraws, thresholds: Floats) -> Floats:
    """Net benefit of treating wherever the curve of the draw reaches the threshold.

    E_w max(g - t, 0) / (1 - t): no other rule that depends on the score has more.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)

    Returns
    -------
    ndarray of shape (draws, thresholds)
    """
    above = [draws.mean(np.maximum(draws.curve - t, 0)) / (1 - t) for t in thresholds]
    return np.stack(above, axis=1)
