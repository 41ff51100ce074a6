"""Discrimination and the Brier score at a horizon, by weights for those who left before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayescal._base.arrays import blocks
from bayescal._base.errors import InputError
from bayescal.data.validate import as_level, check_choice
from bayescal.estimators.survival.cases import read_followed
from bayescal.estimators.survival.censoring import inverse_weights
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["ipcw_brier_score", "uno_c_statistic"]

WEIGHTINGS = ("ipcw", "ipcw-score")


def uno_c_statistic(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    ci_prob: float = 0.95,
) -> Interval:
    """Uno's C-statistic: how often the case with the earlier event has the higher risk.

    Pairs are a case with the event by the horizon and one that was event-free for longer. Each
    counts one over the squared probability of being under observation until then, which is taken
    to be the same for all. Equal risks count one half.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    ci_prob : float in (0, 1)

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), normal; the weights are taken as
        known.

    Raises
    ------
    InputError
        If these are no times and risks of the same cases, or there is no such pair.

    Notes
    -----
    The C-statistic of an assessment is another one: of pairs of a case with the event by the
    horizon and one without it, whenever the event came. All pairs are compared: time grows with the
    square of the number of cases.

    References
    ----------
    Uno, Cai, Pencina, D'Agostino & Wei, "On the C-statistics for evaluating overall adequacy of
    risk prediction procedures with censored survival data", Statistics in Medicine 30, 2011.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> outcome = bc.Survival([1, 2, 5, 4, 3, 5], [0, 1, 0, 1, 1, 0])
    >>> risk = [0.8, 0.7, 0.2, 0.4, 0.3, 0.1]
    >>> round(estimators.uno_c_statistic(outcome, risk, horizon=5).estimate, 2)
    0.89
    """
    level = as_level(ci_prob)
    cases = read_followed(y_true, y_prob, horizon)
    events = np.flatnonzero(cases.event)
    first = inverse_weights(cases, by_score=False)[events]
    size = cases.score.size
    won, pairs = np.zeros(size), np.zeros(size)  # each pair counts at both of its cases
    for part in blocks(events.size, size):
        mine = events[part]
        later = cases.last > cases.last[mine, None]
        later |= (cases.last == cases.last[mine, None]) & ~cases.event
        weight = later * first[part, None] ** 2
        higher = (cases.score[mine, None] > cases.score) + 0.5 * (
            cases.score[mine, None] == cases.score
        )
        for total, each in ((won, weight * higher), (pairs, weight)):
            total[mine] += each.sum(axis=1)
            total += each.sum(axis=0)
    if not pairs.any():
        raise InputError(
            "no case was event-free for longer than another that has the event by the horizon: "
            "there is no pair to compare. Choose a later horizon."
        )
    c = float(won.sum() / pairs.sum())
    error = float(np.linalg.norm(won - c * pairs) / (pairs.sum() / 2))
    reach = ndtri((1 + level) / 2) * error
    return Interval(c, max(c - reach, 0.0), min(c + reach, 1.0), "ipcw", level)


def ipcw_brier_score(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    method: str = "ipcw-score",
    ci_prob: float = 0.95,
) -> Interval:
    """Brier score at a horizon, of the known outcomes weighted for those that are not known.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    method : {"ipcw", "ipcw-score"}
        Whether the probability of being under observation is the same for all, as in the paper, or
        that given the score.
    ci_prob : float in (0, 1)

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), normal; the weights are taken as
        known.

    Raises
    ------
    InputError
        If these are no times and risks of the same cases; with "ipcw-score", if statsmodels is not
        installed.

    References
    ----------
    Graf, Schmoor, Sauerbrei & Schumacher, "Assessment and comparison of prognostic classification
    schemes for survival data", Statistics in Medicine 18, 1999.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> outcome = bc.Survival([1, 2, 5, 4, 3, 5], [0, 1, 0, 1, 1, 0])
    >>> risk = [0.8, 0.7, 0.2, 0.4, 0.3, 0.1]
    >>> told = estimators.ipcw_brier_score(outcome, risk, horizon=5, method="ipcw")
    >>> round(told.estimate, 3)
    0.198
    """
    method, level = check_choice(method, WEIGHTINGS, "method"), as_level(ci_prob)
    cases = read_followed(y_true, y_prob, horizon)
    weight = inverse_weights(cases, by_score=method == "ipcw-score")
    each = weight * (cases.event - cases.score) ** 2
    score, error = float(each.mean()), float(each.std() / np.sqrt(each.size))
    reach = ndtri((1 + level) / 2) * error
    return Interval(score, max(score - reach, 0.0), score + reach, method, level)
