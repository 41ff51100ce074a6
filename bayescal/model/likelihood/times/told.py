"""What each followed case tells of the log-odds of a curve, at fixed steps of Q."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.model.likelihood.times.entries import Partial
from bayescal.model.likelihood.times.shared import late_of, log_without
from bayescal.model.likelihood.times.steps import Steps, steps_of
from bayescal.model.problem import Problem

__all__ = ["ToldByCase", "log_density_by_entry", "told_by_cases"]


class ToldByCase(NamedTuple):
    """Of one case of each entry of the follow-up.

    Attributes
    ----------
    slope : ndarray of shape (entries,)
        First derivative of the log density by the log-odds of the curve: of a known outcome
        observed less expected.
    curvature : ndarray of shape (entries,)
        Negative second derivative; below zero of some cases that left early.
    spread : ndarray of shape (entries,)
        Expected square of the slope of cases that could be followed as long.
    """

    slope: Floats
    curvature: Floats
    spread: Floats


def told_by_cases(problem: Problem, g: Floats, steps: Steps | None = None) -> ToldByCase:
    """What one case of each entry tells.

    Parameters
    ----------
    problem : Problem
        Of times to an event.
    g : ndarray of shape (entries,)
        A curve, at the score of each entry of the follow-up.
    steps : Steps, optional
        Of several groups those that they have in common; by default those of this problem.
    """
    followed = problem.data.follow_up
    assert followed is not None
    event, left = followed.event, followed.left_early
    steps = steps or steps_of(problem)
    until_left = _by_then(problem, np.where(left, followed.exit, 0), steps)
    until_entry = _by_then(problem, followed.entry, steps)
    known = ~left
    own, other = (
        np.where(known, end, share) for end, share in zip((1.0, 0.0), until_left, strict=True)
    )
    late, bend = late_of(g, own, other)
    early, early_bend = late_of(g, *until_entry)
    slope = np.where(event, 1 - g, -late) + early
    curvature = np.where(known, g * (1 - g), bend) - early_bend
    without = 1 - until_entry[1] - g * (until_entry[0] - until_entry[1])
    of_event = g * (own - until_entry[0]) / without
    competes = np.where(known, 0.0, (1 - g) * (other - until_entry[1]) / without)
    rest = 1 - of_event - competes
    spread = of_event * (1 - g + early) ** 2 + competes * (early - g) ** 2
    spread += rest * (early - late) ** 2
    return ToldByCase(slope, curvature, np.maximum(spread, 0.0))


def log_density_by_entry(problem: Problem, log_odds: Floats, steps: Steps | None = None) -> Floats:
    """Log density of one case of each entry of the follow-up, of shape (draws, entries).

    The steps of Q are at their likeliest values. That an event came in its interval has the same
    density under every curve, and is left out.

    Parameters
    ----------
    log_odds : ndarray of shape (draws, rows)
        Of curves, at the scores of the table.
    steps : Steps, optional
        As in `told_by_cases`.
    """
    followed = problem.data.follow_up
    assert followed is not None
    x, event, left = log_odds[:, followed.row], followed.event, followed.left_early
    density = -np.logaddexp(0, np.where(event, -x, x))
    for some, step, sign in ((left, followed.exit, 1), (followed.entry > 0, followed.entry, -1)):
        if some.any():
            own, other = _by_then(problem, np.where(some, step, 0), steps or steps_of(problem))
            beside = sign * log_without(expit(x[:, some]), own[some], other[some])
            density[:, some] = beside if sign > 0 else density[:, some] + beside
    return np.asarray(density)


def _by_then(problem: Problem, step: NDArray[np.intp], steps: Steps) -> tuple[Floats, Floats]:
    """Q and V of each entry at a time of its own, 0 at the start."""
    followed = problem.data.follow_up
    assert followed is not None
    some, own, other = step > 0, np.zeros(step.size), np.zeros(step.size)
    if some.any():
        row = followed.row[some]
        score = problem.table.score[row]
        x, one = np.log(score) - np.log1p(-score), np.ones(row.size)
        shares = steps.shares(Partial(row, x, step[some].astype(np.float64), one))
        own[some], other[some] = shares.value, shares.other
    return own, other
