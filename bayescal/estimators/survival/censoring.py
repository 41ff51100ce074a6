"""Cases that left before the horizon: whether that goes with their score, and weights for others.

A case whose outcome is known stands for those like it that left: its weight is one over the
probability of being still under observation when the outcome became known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from bayescal._base.arrays import Floats
from bayescal._base.cox import at_risk, fit_cox
from bayescal._base.errors import InputError
from bayescal._base.log_odds import log_odds_of
from bayescal.data.follow_up import TIME_STEPS
from bayescal.estimators._result import Tested
from bayescal.estimators.integrated._regression import restricted_cubic
from bayescal.estimators.survival.cases import Followed, read_followed

__all__ = ["censoring_depends_on_score", "inverse_weights"]

KNOTS_OF_CENSORING = 3
HALF_STEPS = 2 * TIME_STEPS + 1


def censoring_depends_on_score(
    y_true: Any, y_prob: ArrayLike | None = None, *, horizon: float | None = None
) -> Tested:
    """Test whether cases with high risks leave earlier, or later, than others with low risks.

    The score test of Cox regression, with leaving before the horizon as the event and the log-odds
    of the scores as the only column. No regression is fitted.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df). The statistic is standard normal if leaving does not
        depend on the score; above 0, cases with high risks leave earlier. df is NaN.

    Raises
    ------
    InputError
        If these are no times and risks of the same cases, no case left before the horizon, or all
        scores are equal.

    Notes
    -----
    Kaplan-Meier, pseudo-values and weights that do not depend on the score are biased where
    leaving depends on it; `bayescal.fit` is not. The test sees nothing of leaving that depends on
    what the score does not know.

    References
    ----------
    Cox, "Regression models and life-tables", Journal of the Royal Statistical Society B 34, 1972.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> outcome = bc.Survival([1, 2, 5, 5, 3, 5], [0, 0, 0, 1, 1, 0])
    >>> test = estimators.censoring_depends_on_score(
    ...     outcome, [0.8, 0.7, 0.2, 0.4, 0.5, 0.1], horizon=5
    ... )
    >>> round(test.statistic, 2), round(test.pvalue, 2)
    (1.94, 0.05)
    """
    cases = read_followed(y_true, y_prob, horizon)
    last, left = _ends_of_censoring(cases)
    x, steps = log_odds_of(cases.score), HALF_STEPS
    x = x - x.mean()
    sums = [at_risk(2 * cases.entry, last, each, steps) for each in (np.ones_like(x), x, x * x)]
    went = np.bincount(last[left], minlength=steps + 1)
    some = went > 0
    size, first, second = (each[some] for each in sums)
    mean = first / size
    # cases that leave at one time are drawn from those at risk without replacement
    alone = np.where(size > 1, (size - went[some]) / np.maximum(size - 1, 1), 0)
    variance = float(np.sum(went[some] * alone * (second / size - mean**2)))
    if not variance > 1e-9:
        raise InputError(
            "no case left before the horizon while another with another y_prob was under "
            "observation: whether leaving depends on the score cannot be tested."
        )
    z = float(x[left].sum() - went[some] @ mean) / np.sqrt(variance)
    return Tested(float(z), float(2 * ndtr(-abs(z))))


def inverse_weights(cases: Followed, by_score: bool) -> Floats:
    """Weight of each case: 0 of those whose outcome by the horizon is not known.

    Parameters
    ----------
    by_score : bool
        Whether the probability of being under observation is that given the score, by Cox
        regression on a restricted cubic spline; else it is the same for all, by Kaplan-Meier.
    """
    cases.refuse_late_entry("weighting by the inverse probability of censoring")
    staying = probability_to_stay(cases, cases.last, by_score)
    return np.where(cases.known, 1 / staying, 0.0)


def probability_to_stay(cases: Followed, step: NDArray[np.intp], by_score: bool) -> Floats:
    """Probability that a case with the score of each is still under observation in a step."""
    last, left = _ends_of_censoring(cases)
    steps, before = HALF_STEPS, 2 * step
    if not left.any():
        return np.ones(cases.score.size)
    if not by_score:
        size = at_risk(2 * cases.entry, last, np.ones(last.size), steps)
        went = np.bincount(last[left], minlength=steps + 1)
        staying = np.cumprod(np.where(went > 0, 1 - went / np.maximum(size, 1), 1.0))
        return _not_nothing(staying[before])
    x = log_odds_of(cases.score)
    spline = restricted_cubic(x, np.ones(x.size), KNOTS_OF_CENSORING)
    columns = spline(x)[1:].T
    fit = fit_cox(2 * cases.entry, last, left, columns, steps)
    return _not_nothing(np.exp(-fit.hazard[before] * fit.relative(columns)))


def _ends_of_censoring(cases: Followed) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """End of each case in half steps, and whether it left: events of a step come before leaving."""
    left = cases.left
    return np.where(cases.event, 2 * cases.last, 2 * cases.last + 1), left


def _not_nothing(staying: Any) -> Floats:
    return np.asarray(np.maximum(staying, np.finfo(np.float64).tiny), np.float64)
