"""How much each case, by what was seen of it, moves the level of a curve up or down."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.data.follow_up import TIME_STEPS
from bayescal.data.survival import Survival
from bayescal.model.likelihood.times.entries import Partial, law_of
from bayescal.model.likelihood.times.steps import Shares, steps_of
from bayescal.model.problem import Problem

__all__ = ["influence_on_level"]

LEAST_STEP = 1e-9
PRECISION_OF_LINE = 1.0
"""Of the prior of a line that is added to the log-odds of the curve."""


def influence_on_level(
    problem: Problem, outcome: Survival, score: Floats, g: Floats, weight: Floats
) -> Floats:
    """Influence of each case on the mean of the curve over the cases.

    It is the influence function of the likeliest curve near g: a line is added to its log-odds, and
    the steps of Q (`TimeToEvent`) are estimated beside it. What a case tells, its score function,
    is divided by what all tell, the sum of products of these functions, with the prior.

    Parameters
    ----------
    problem : Problem
        Of times to an event, with the horizon of the curve.
    outcome : Survival
    score : ndarray of shape (n,)
        Inside 0 and 1.
    g : ndarray of shape (n,)
        The curve at the scores.
    weight : ndarray of shape (n,)
        How many cases each stands for.

    Returns
    -------
    ndarray of shape (n,)
        Their sum, by weight, is about zero.
    """
    told, precision = _score_functions(problem, outcome, score, g)
    information = (told.T * weight) @ told + np.diag(precision)
    line = _line(score)
    slope = np.zeros(precision.size)
    slope[: line.shape[1]] = (weight * g * (1 - g)) @ line / weight.sum()
    of_curve = told @ np.linalg.solve(information, slope)
    above = g - score
    of_cases = (above - weight @ above / weight.sum()) / weight.sum()
    return np.asarray(of_curve + of_cases)


def _line(score: Floats) -> Floats:
    x = np.asarray(logit(score))
    return np.column_stack([np.ones(x.size), x - x.mean()])


def _score_functions(
    problem: Problem, outcome: Survival, score: Floats, g: Floats
) -> tuple[Floats, Floats]:
    """Of each case, by the line and by a and c of each kind of event; and their prior precision.

    Returns
    -------
    ndarray of shape (n, coordinates)
    ndarray of shape (coordinates,)
    """
    law, followed = law_of(problem), problem.data.follow_up
    assert followed is not None
    horizon, line = followed.horizon, _line(score)
    x, step = np.asarray(logit(score)), _as_steps(outcome.time, horizon)
    known = outcome.time <= horizon
    event, other = outcome.event & known, outcome.other & known
    early = (outcome.time < horizon) & ~event & ~other
    sizes = [law.size, law.size + 1][: 1 + law.competes]
    interval = law.located(step)[0]
    counted = [(event, interval), (~event & ~early, np.where(other, interval, law.size))]
    of_steps = []
    for share, size, (some, of) in zip(
        _shares(problem, x, step).each, sizes, counted, strict=False
    ):
        by = np.zeros((x.size, size))
        by[some] = np.eye(size)[of[some]] - share.steps[some]
        of_steps.append(np.hstack([by, share.z[:, None] * by]))
    told = np.hstack([(event - g)[:, None] * line, *of_steps])
    told[early] = _of_none(problem, x[early], step[early], g[early], line[early])
    if outcome.entry is not None:
        late = outcome.entry > 0
        came = _as_steps(outcome.entry[late], horizon)
        told[late] -= _of_none(problem, x[late], came, g[late], line[late])
    precision = [np.full(line.shape[1], PRECISION_OF_LINE)]
    precision += [law.prior_of_steps(size)[1] for size in sizes]
    return told, np.concatenate(precision)


def _of_none(problem: Problem, x: Floats, step: Floats, g: Floats, line: Floats) -> Floats:
    """What no event of any kind by a time tells."""
    shares = _shares(problem, x, step)
    rates = shares.rates(g)
    by_level = -(shares.value - shares.other) * (1 - g) * rates[0]
    by_steps = [-rate[:, None] * slope for rate, slope in zip(rates, shares.slope, strict=True)]
    return np.hstack([by_level[:, None] * line, *by_steps])


def _shares(problem: Problem, x: Floats, step: Floats) -> Shares:
    rows = np.zeros(x.size, np.intp)
    return steps_of(problem).shares(Partial(rows, x, step, np.ones(x.size)))


def _as_steps(time: Floats, horizon: float) -> Floats:
    return np.clip(time / horizon * TIME_STEPS, LEAST_STEP, TIME_STEPS)
