"""The Brier score at a horizon, by weights for those who left before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayescal.data.validate import as_level, check_choice
from bayescal.estimators.survival.cases import read_followed
from bayescal.estimators.survival.censoring import inverse_weights
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["ipcw_brier_score"]

WEIGHTINGS = ("ipcw", "ipcw-score")


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
