"""Calibration over the whole follow-up: predicted risks by each case's own time.

If a model is right, the predicted risk by the time of the event is uniform over the cases. Of a
case that left it is known to be greater than that by the time at which it left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_count, as_level
from bayescal.estimators._result import Tested
from bayescal.estimators.door import OutcomesLike, read
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["a_calibration_test", "d_calibration_test", "martingale_observed_expected"]

MOST_BINS_OF_TIMES = 1000


def martingale_observed_expected(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, ci_prob: float = 0.95
) -> Interval:
    """Observed over expected events during each case's own follow-up.

    The expected number is the sum of the predicted cumulative hazards, -log(1 - risk).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        1 if the event ended the time of the case, 0 if the case left.
    y_prob : array-like of shape (n_samples,)
        Predicted risk of the event by that time, below 1. Of a case that came under observation
        later than at time 0 it is the risk from then on, given no event before.
    ci_prob : float in (0, 1)

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), by a Poisson law of the number of
        events, normal on the log scale.

    Raises
    ------
    InputError
        If the arrays are not outcomes and risks of the same cases, a risk is 1, there is no event,
        or every risk is 0.

    Notes
    -----
    It needs a predicted risk by any time, and no assumption on who leaves: a case counts as long as
    it is under observation. It is not of the horizon but of the whole follow-up.

    References
    ----------
    Crowson, Atkinson & Therneau, "Assessing calibration of prognostic risk scores", Statistical
    Methods in Medical Research 25, 2016.

    Examples
    --------
    >>> from bayescal import estimators
    >>> told = estimators.martingale_observed_expected([1, 0, 1, 0], [0.5, 0.3, 0.6, 0.2])
    >>> round(told.estimate, 2)
    0.91
    """
    level, (event, hazard) = as_level(ci_prob), _hazards(y_true, y_prob)
    observed, expected = float(event.sum()), float(hazard.sum())
    if observed == 0 or expected == 0:
        raise InputError(
            "y_true has no event, or y_prob is 0 for every case, so that O/E has no interval on "
            "the log scale."
        )
    ratio, reach = observed / expected, ndtri((1 + level) / 2) / np.sqrt(observed)
    ends = ratio * float(np.exp(-reach)), ratio * float(np.exp(reach))
    return Interval(ratio, *ends, "martingale", level)


def d_calibration_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, n_bins: int = 10
) -> Tested:
    """D-calibration: whether the predicted risks at the times of events are uniform.

    Pearson's test of equal numbers in bins. A case that left is divided among its own bin and those
    above, as a uniform law would.

    Parameters
    ----------
    y_true, y_prob
        As in `martingale_observed_expected`; a risk may be 1.
    n_bins : int
        From 2 to 1000.

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df), with `n_bins` - 1 degrees of freedom.

    Raises
    ------
    InputError
        If the arrays are not outcomes and risks of the same cases.

    Notes
    -----
    Divided cases pull the numbers in bins together, so that with many of them the test hardly ever
    rejects; `a_calibration_test` does not have this fault.

    References
    ----------
    Haider, Hoehn, Davis & Greiner, "Effective ways to build and evaluate individual survival
    distributions", Journal of Machine Learning Research 21, 2020.

    Examples
    --------
    >>> from bayescal import estimators
    >>> test = estimators.d_calibration_test([1, 1, 0, 1], [0.05, 0.45, 0.5, 0.85], n_bins=2)
    >>> round(test.statistic, 3), test.df
    (0.0, 1.0)
    """
    bins = as_count(n_bins, "n_bins", 2, MOST_BINS_OF_TIMES)
    cases = read(y_true, y_prob, replicates=False, needs="cases")
    event, risk = cases.outcomes[0].astype(bool), cases.scores
    edges = np.linspace(0, 1, bins + 1)
    own = np.minimum((risk * bins).astype(np.intp), bins - 1)
    number = np.bincount(own[event], minlength=bins).astype(np.float64)
    left = risk[~event]
    above = np.maximum(edges[1:] - np.maximum(edges[:-1], left[:, None]), 0)
    sure = left >= 1
    number += (above[~sure] / (1 - left[~sure, None])).sum(axis=0)
    number[-1] += int(sure.sum())
    expected = event.size / bins
    statistic = float(((number - expected) ** 2).sum() / expected)
    return Tested(statistic, float(chdtrc(bins - 1, statistic)), float(bins - 1))


def a_calibration_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, n_bins: int = 10
) -> Tested:
    """A-calibration: events observed and expected by bins of the predicted risk by their time.

    The expected number in a bin counts the time that each case was under observation in it. No case
    is divided.

    Parameters
    ----------
    y_true, y_prob
        As in `martingale_observed_expected`.
    n_bins : int
        Of equal numbers of expected events, from 2 to 1000.

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df), with `n_bins` degrees of freedom.

    Raises
    ------
    InputError
        If the arrays are not outcomes and risks of the same cases, a risk is 1, or every risk is 0.

    References
    ----------
    Simonsen & Waagepetersen, "A-calibration: a goodness-of-fit measure for censored survival
    predictions", 2024. Akritas, "Pearson-type goodness-of-fit tests: the univariate case", Journal
    of the American Statistical Association 83, 1988.

    Examples
    --------
    >>> from bayescal import estimators
    >>> test = estimators.a_calibration_test([1, 1, 0, 1], [0.05, 0.45, 0.5, 0.85], n_bins=2)
    >>> test.df
    2.0
    """
    bins = as_count(n_bins, "n_bins", 2, MOST_BINS_OF_TIMES)
    event, hazard = _hazards(y_true, y_prob)
    total = float(hazard.sum())
    if total == 0:
        raise InputError("y_prob is 0 for every case: no event is expected in any bin.")
    # events expected up to a hazard h: the sum of min(hazard, h), a line between the hazards
    ends = np.sort(hazard)
    below = np.concatenate([[0.0], np.cumsum(ends)[:-1]])
    reached = below + ends * (ends.size - np.arange(ends.size))
    cuts = np.interp(
        total * np.arange(1, bins) / bins,
        np.concatenate([[0.0], reached]),
        np.concatenate([[0.0], ends]),
    )
    number = np.bincount(np.searchsorted(cuts, hazard[event > 0], side="left"), minlength=bins)
    expected = total / bins
    statistic = float(((number - expected) ** 2).sum() / expected)
    return Tested(statistic, float(chdtrc(bins, statistic)), float(bins))


def _hazards(y_true: OutcomesLike, y_prob: ArrayLike | None) -> tuple[Floats, Floats]:
    """Outcomes, and predicted cumulative hazards."""
    cases = read(y_true, y_prob, replicates=False, needs="cases")
    if (cases.scores == 1).any():
        at = int((cases.scores == 1).argmax())
        raise InputError(
            f"y_prob[{at}] is 1: a case that is sure to have the event has no finite hazard. Clip "
            "such risks if they were rounded."
        )
    return cases.outcomes[0].astype(np.float64), -np.log1p(-cases.scores)
