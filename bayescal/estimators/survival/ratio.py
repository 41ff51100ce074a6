"""Observed over expected events by a horizon, where some cases left before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayescal._base.errors import InputError
from bayescal.data.validate import as_count, as_level, check_choice
from bayescal.estimators.survival.cases import read_followed
from bayescal.estimators.survival.curve import CURVES_OF_TIMES, fitted_curve
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["RATIOS_OF_TIMES", "survival_observed_expected"]

RATIOS_OF_TIMES = ("kaplan-meier", *CURVES_OF_TIMES)


def survival_observed_expected(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    method: str = "kaplan-meier",
    n_knots: int = 3,
    ci_prob: float = 0.95,
) -> Interval:
    """Observed over expected events by a horizon, where some cases left before it.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    method : {"kaplan-meier", "cox", "pseudo", "ipcw", "ipcw-score"}
        How the observed risk is estimated: by Kaplan-Meier with Greenwood's standard error, or as
        the mean over the cases of a curve of `survival_curve`. "kaplan-meier", "pseudo" and "ipcw"
        take leaving not to depend on the score.
    n_knots : int
        Of the spline of a curve, from 3 to 7.
    ci_prob : float in (0, 1)

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), normal on the log scale. The scores
        are taken as they are, and weights as known.

    Raises
    ------
    InputError
        As `survival_curve`; if there is no event, or every score is 0.

    References
    ----------
    McLernon, Giardiello, Van Calster et al., "Assessing performance and clinical usefulness in
    prediction models with survival outcomes: practical guidance for Cox proportional hazards
    models", Annals of Internal Medicine 176, 2023: "kaplan-meier".

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> outcome = bc.Survival([1, 2, 5, 5, 3, 5], [0, 1, 0, 1, 1, 0])
    >>> risk = [0.8, 0.7, 0.2, 0.4, 0.5, 0.1]
    >>> round(estimators.survival_observed_expected(outcome, risk, horizon=5).estimate, 2)
    1.33
    """
    method = check_choice(method, RATIOS_OF_TIMES, "method")
    knots, level = as_count(n_knots, "n_knots", 3, 7), as_level(ci_prob)
    cases = read_followed(y_true, y_prob, horizon)
    expected = float(cases.score.mean())
    if not cases.event.any() or expected == 0:
        raise InputError(
            "y_true has no event by the horizon, or y_prob is 0 for every case, so that O/E has "
            "no interval on the log scale. A posterior does: use bayescal.fit."
        )
    if method == "kaplan-meier":
        observed, error = cases.kaplan_meier()
    else:
        observed, error = fitted_curve(cases, method, knots).mean(cases.score)
    reach = ndtri((1 + level) / 2) * error / observed
    ratio = observed / expected
    ends = ratio * float(np.exp(-reach)), ratio * float(np.exp(reach))
    return Interval(ratio, *ends, method, level)
