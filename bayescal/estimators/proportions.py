"""Observed proportions of censored times, and intervals of observed proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bayescal.core.arrays import Floats

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


def aalen_johansen(
    entry: NDArray[np.intp],
    last: NDArray[np.intp],
    event: NDArray[np.bool_],
    other: NDArray[np.bool_],
    weight: Floats,
    steps: int,
) -> tuple[float, float]:
    """Share of cases with the event by the last of some steps of time, by Aalen and Johansen.

    Without competing events it is the share of Kaplan and Meier.

    Parameters
    ----------
    entry, last : ndarray of int of shape (n,)
        Cases are under observation from the step after `entry` to the step `last`, in which those
        with an event have it, and after which the others leave.
    event, other : ndarray of bool of shape (n,)
        Cases with the event, and with a competing one, after which the event cannot come.
    weight : ndarray of shape (n,)
        Numbers of cases.
    steps : int

    Returns
    -------
    share, effective : float
        The share, and of how many cases without censoring it would have its variance. That is of
        the delta method, which without competing events is Greenwood's and without censoring that
        of a binomial share. Both are NaN if there is a step in which no case is under observation.

    References
    ----------
    Aalen & Johansen (1978), An empirical transition matrix for non-homogeneous Markov chains based
    on censored observations, Scandinavian Journal of Statistics 5. Marubini & Valsecchi (1995),
    Analysing survival data from clinical trials and observational studies, section 10.3.
    Dorey & Korn (1987), Effective sample sizes for confidence intervals for survival
    probabilities, Statistics in Medicine 6: where no case has the event, the cases at risk in the
    last step are the effective ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.estimators.proportions import aalen_johansen
    >>> last = np.array([1, 1, 2, 2])
    >>> event, other = np.array([1, 0, 1, 0], bool), np.array([0, 1, 0, 0], bool)
    >>> share, effective = aalen_johansen(np.zeros(4, int), last, event, other, np.ones(4), 2)
    >>> round(share, 3), round(effective, 3)
    (0.5, 4.0)
    """
    came, went = (np.cumsum(np.bincount(at, weight, steps + 1)) for at in (entry, last))
    at_risk = (came - went)[:steps]
    own, competing = (
        np.bincount(last[kind], weight[kind], steps + 1)[1:] for kind in (event, other)
    )
    gone = steps
    if at_risk.min() < LEAST_AT_RISK:
        gone = int((at_risk < LEAST_AT_RISK).argmax())
    at_risk, own, competing = at_risk[:gone], own[:gone], competing[:gone]
    every = own + competing
    free = np.cumprod(1 - every / at_risk)
    if gone < steps and (gone == 0 or free[-1] > LEAST_AT_RISK):
        return np.nan, np.nan
    before = np.append(1.0, free[:-1])
    by = np.cumsum(before * own / at_risk)
    share, some = float(min(by[-1], 1)), every > 0
    n, died, mine = at_risk[some], every[some], own[some]
    rest, before = by[-1] - by[some], before[some]
    kept = np.maximum(n - died, LEAST_AT_RISK)
    variance = rest**2 * died / (n * kept) - 2 * rest * before * mine / n**2
    variance += before**2 * (n - mine) * mine / n**3
    total = float(variance.sum())
    if min(share, 1 - share) > LEAST_AT_RISK:
        return share, share * (1 - share) / total
    if share > 0.5:
        return share, float(at_risk[own > 0][-1])
    return share, float(at_risk[-1] + competing[:-1].sum())
