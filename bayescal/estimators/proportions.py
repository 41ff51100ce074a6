"""Observed proportions of censored times, and intervals of observed proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bayescal._base.arrays import Floats

__all__ = ["jeffreys", "kaplan_meier"]

LEAST_AT_RISK = 1e-9


def jeffreys(trials: Floats, hits: Floats, ci_prob: float) -> tuple[Floats, Floats]:
    """Jeffreys interval of a binomial proportion.

    Parameters
    ----------
    trials, hits : ndarray of shape (bins,)
        Cases and events.

    Returns
    -------
    lower, upper : ndarray of shape (bins,)
        0, or 1, where no case, or every case, had the event; so 0 to 1 where there is no case.

    References
    ----------
    Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical
    Science 16, section 4.3.
    """
    tail = (1 - ci_prob) / 2
    a, b = hits + 0.5, trials - hits + 0.5
    lower = np.where(hits > 0, betaincinv(a, b, tail), 0.0)
    upper = np.where(hits < trials, betaincinv(a, b, 1 - tail), 1.0)
    return lower, upper


def kaplan_meier(
    entry: NDArray[np.intp],
    last: NDArray[np.intp],
    event: NDArray[np.bool_],
    weight: Floats,
    steps: int,
) -> tuple[float, float]:
    """Share of cases with the event by the last of some steps of time, by Kaplan and Meier.

    Parameters
    ----------
    entry, last : ndarray of int of shape (n,)
        Cases are under observation from the step after `entry` to the step `last`, in which those
        with the event have it, and after which the others leave.
    event : ndarray of bool of shape (n,)
    weight : ndarray of shape (n,)
        Numbers of cases.
    steps : int

    Returns
    -------
    share, effective : float
        The share, and of how many cases without censoring it would have its variance, which is
        Greenwood's. Both are NaN if there is a step in which no case is under observation.

    References
    ----------
    Kaplan & Meier (1958), Nonparametric estimation from incomplete observations, JASA 53.
    Dorey & Korn (1987), Effective sample sizes for confidence intervals for survival
    probabilities, Statistics in Medicine 6: where no case has the event, the cases at risk in the
    last step are the effective ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.estimators.proportions import kaplan_meier
    >>> last, event = np.array([1, 1, 2, 2]), np.array([True, False, True, False])
    >>> share, effective = kaplan_meier(np.zeros(4, int), last, event, np.ones(4), 2)
    >>> round(share, 3), round(effective, 2)
    (0.625, 2.86)
    """
    came, went = (np.cumsum(np.bincount(at, weight, steps + 1)) for at in (entry, last))
    at_risk = (came - went)[:steps]
    died = np.bincount(last[event], weight[event], steps + 1)[1:]
    if at_risk.min() < LEAST_AT_RISK:
        gone = int((at_risk < LEAST_AT_RISK).argmax())
        if gone == 0 or np.prod(1 - died[:gone] / at_risk[:gone]) > LEAST_AT_RISK:
            return np.nan, np.nan
        return 1.0, float(at_risk[died > 0][-1])
    alive = float(np.prod(1 - died / at_risk))
    some = died > 0
    if not some.any() or alive < LEAST_AT_RISK:
        return 1 - alive, float(at_risk[some][-1] if some.any() else at_risk[-1])
    greenwood = float(np.sum(died[some] / (at_risk[some] * (at_risk[some] - died[some]))))
    return 1 - alive, (1 - alive) / (alive * greenwood)
