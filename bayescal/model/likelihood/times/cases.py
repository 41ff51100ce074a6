"""Log density of single followed cases, by curve."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.model.likelihood.times.entries import entries_of
from bayescal.model.likelihood.times.shared import log_without
from bayescal.model.likelihood.times.steps import Steps, steps_of
from bayescal.model.problem import Problem

__all__ = ["cases_of_times"]


def cases_of_times(
    problem: Problem, u: Floats, steps: Steps | None = None
) -> tuple[Floats, Floats]:
    """Log density of one case of each kind, and how many cases there are of it.

    The steps of Q are at their likeliest values. That an event came in its interval has the same
    density under every curve, and is left out.

    Parameters
    ----------
    u : ndarray of shape (draws, d)
        Working coordinates.
    steps : Steps, optional
        Of several groups those that they have in common; by default those of this problem.

    Returns
    -------
    density : ndarray of shape (draws, kinds)
    count : ndarray of shape (kinds,)
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
