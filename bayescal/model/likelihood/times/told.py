"""What each followed case tells of a curve, at fixed steps of Q: log density and derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.data.times import FollowUp
from bayescal.model.likelihood.times.entries import Partial, entries_of
from bayescal.model.likelihood.times.shared import late_of, log_without
from bayescal.model.likelihood.times.steps import Steps, steps_of
from bayescal.model.problem import Problem

__all__ = [
    "ToldByCase",
    "cases_of_times",
    "expected_outcomes",
    "log_density_by_entry",
    "told_by_cases",
    "told_of",
]


class ToldByCase(NamedTuple):
    """What one case of each entry of the follow-up tells of the log-odds of the curve.

    `slope`: of a known outcome observed less expected; `curvature`, negative second derivative, is
    below zero of some that left early; `spread`: expected square of the slope.
    """

    slope: Floats
    curvature: Floats
    spread: Floats


def told_by_cases(problem: Problem, g: Floats, steps: Steps | None = None) -> ToldByCase:
    """What one case of each entry tells.

    `problem`: of times to an event; `g` (entries,): a curve, at the score of each entry of the
    follow-up; `steps`: of several groups those that they have in common; by default those of this
    problem.
    """
    followed = problem.data.follow_up
    assert followed is not None
    score = problem.table.score[followed.row]
    return told_of(followed, score, g, steps or steps_of(problem))


def told_of(followed: FollowUp, score: Floats, g: Floats, steps: Steps) -> ToldByCase:
    """What one case of each entry of a follow-up tells.

    `score`, `g` (entries,): the score of each entry, inside 0 and 1, and a curve there.
    """
    event, left = followed.event, followed.left_early
    until_left = _by_then(score, np.where(left, followed.exit, 0), steps)
    until_entry = _by_then(score, followed.entry, steps)
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


def expected_outcomes(problem: Problem, g: Floats) -> Floats:
    """Probability that one case of each entry has the event by the horizon, given what was seen.

    It is 0 or 1 of a case whose outcome is known, and g (1 - Q) / (1 - g Q - (1 - g) V) of one that
    left before.
    `problem`: of times to an event; `g` (entries,): a curve, at the score of each entry of the
    follow-up.
    """
    followed = problem.data.follow_up
    assert followed is not None
    left = followed.left_early
    score = problem.table.score[followed.row]
    own, other = _by_then(score, np.where(left, followed.exit, 0), steps_of(problem))
    later = g * (1 - own) / (1 - other - g * (own - other))
    return np.asarray(np.where(left, later, followed.event))


def log_density_by_entry(
    problem: Problem,
    log_odds: Floats,
    some: slice = slice(None),
    steps: Steps | None = None,
) -> Floats:
    """Log density (draws, entries) of one case of each entry, or some; see `cases_of_times`."""
    followed = problem.data.follow_up
    assert followed is not None
    score, steps = problem.table.score[followed.row], steps or steps_of(problem)
    x, event = log_odds[:, followed.row[some]], followed.event[some]
    left, density = followed.left_early, -np.logaddexp(0, np.where(event, -x, x))
    for of, step, sign in ((left, followed.exit, 1), (followed.entry > 0, followed.entry, -1)):
        at = of[some]
        if at.any():
            shares = _by_then(score, np.where(of, step, 0), steps)
            own, other = (share[some][at] for share in shares)
            beside = sign * log_without(expit(x[:, at]), own, other)
            density[:, at] = beside if sign > 0 else density[:, at] + beside
    return np.asarray(density)


def _by_then(score: Floats, step: NDArray[np.intp], steps: Steps) -> tuple[Floats, Floats]:
    """Q and V of each entry at a time of its own, 0 at the start."""
    some, own, other = step > 0, np.zeros(step.size), np.zeros(step.size)
    if some.any():
        x = np.log(score[some]) - np.log1p(-score[some])
        row, one = np.zeros(x.size, np.intp), np.ones(x.size)
        shares = steps.shares(Partial(row, x, step[some].astype(np.float64), one))
        own[some], other[some] = shares.value, shares.other
    return own, other


def cases_of_times(
    problem: Problem, u: Floats, steps: Steps | None = None
) -> tuple[Floats, Floats]:
    """Log density of one case of each kind (draws, kinds), and how many cases there are of it.

    At the likeliest steps of Q, which several groups may have in common. That an event came in its
    interval has the same density under every curve, and is left out.
    """
    entries, table = entries_of(problem), problem.table
    log_odds = problem.curves_at(problem.data.score).log_odds(u)
    partial = entries.partial
    left = partial.weight > 0
    had, free = entries.events > 0, entries.free > 0
    shares = (steps or steps_of(problem)).shares(partial)
    event, other = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    g = np.exp(event[:, partial.row])
    late = log_without(g, shares.value, shares.other)
    before = np.zeros((len(u), table.score.size))
    if (~left).any():  # the mean, in each row, of what being without an event at entry tells
        total = np.zeros(table.score.size)
        np.add.at(total, partial.row[~left], -partial.weight[~left])
        for column, row, weight in zip(
            late[:, ~left].T, partial.row[~left], partial.weight[~left], strict=True
        ):
            before[:, row] += column * weight / max(table.trials[row], total[row])
    density = [event[:, had] + before[:, had], other[:, free] + before[:, free]]
    density.append(late[:, left] + before[:, partial.row[left]])
    count = np.concatenate([entries.events[had], entries.free[free], partial.weight[left]])
    return np.hstack(density), count
