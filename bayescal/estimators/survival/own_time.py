"""Calibration over the whole follow-up: predicted risks by each case's own time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_level
from bayescal.estimators.door import OutcomesLike, read
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["martingale_observed_expected"]


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
