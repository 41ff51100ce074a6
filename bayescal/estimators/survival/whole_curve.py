"""Calibration of whole predicted curves, by Poisson regression on the events that they expect."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, check_type
from bayescal._base.poisson import fit_poisson
from bayescal._base.text import count
from bayescal.data.predicted import PredictedCurves
from bayescal.data.sources.alignment import aligned
from bayescal.data.survival import Survival, as_horizon
from bayescal.data.validate import as_level, check_same_length
from bayescal.estimators.uncertainty.intervals import Interval

__all__ = ["PoissonCalibration", "poisson_calibration"]

LEAST_EVENTS_OF_POISSON = 2
LEAST_SPREAD_OF_HAZARDS = 1e-9


class PoissonCalibration(NamedTuple):
    """Calibration of whole predicted curves over each case's own follow-up.

    Attributes
    ----------
    observed : int
        Events.
    expected : float
        Sum of the predicted cumulative hazards.
    ratio : Interval
        Observed over expected events: 1 if the level is right.
    slope : Interval
        Of the log predicted hazard: 1 if the spread of the predictions is right.
    """

    observed: int
    expected: float
    ratio: Interval
    slope: Interval


def poisson_calibration(
    y_true: Survival, predicted: Any, *, horizon: float | None = None, ci_prob: float = 0.95
) -> PoissonCalibration:
    """Calibration of whole predicted curves over each case's own follow-up.

    The expected number of events of a case is its predicted cumulative hazard by the end of its
    follow-up. The number of events is taken to have a Poisson law with this mean: its logarithm is
    an offset of two regressions, of which the first has an intercept alone, and the second also the
    log of the cumulative hazard that is predicted by the horizon.

    Parameters
    ----------
    y_true : Survival
        Times to an event, without competing events.
    predicted : pandas.DataFrame of shape (n, times)
        Whole predicted curves, risks or probabilities of survival, a row for each case; the columns
        are named by the times.
    horizon : float, optional
        Where follow-up ends; by default the last time of the curves.
    ci_prob : float in (0, 1)

    Returns
    -------
    PoissonCalibration
        A named tuple (observed, expected, ratio, slope). The ratio is that of
        `martingale_observed_expected`. Intervals are normal, that of the ratio on the log scale.

    Raises
    ------
    InputError
        If these are no times and whole curves of the same cases, there are competing events or
        fewer than two events, all curves are alike, a curve expects no event where one came, or
        statsmodels is not installed.

    Notes
    -----
    It takes hazards to be proportional to the predicted ones, and needs no assumption on who leaves
    but that it does not depend on more than the predictions. Of curves with one baseline hazard,
    such as those of a Cox model, the slope is that of the linear predictor.

    References
    ----------
    Crowson, Atkinson & Therneau, "Assessing calibration of prognostic risk scores", Statistical
    Methods in Medical Research 25, 2016.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import bayescal as bc
    >>> rng = np.random.default_rng(1)
    >>> rate, years = 0.2 * np.exp(rng.normal(0, 0.8, 500)), np.arange(1.0, 7.0)
    >>> outcome = bc.Survival(*[np.minimum(rng.exponential(1 / rate), 6), np.ones(500)])
    >>> curves = pd.DataFrame(np.exp(-rate[:, None] * years), columns=years)
    >>> told = bc.estimators.poisson_calibration(outcome, curves, horizon=5)
    >>> told.slope.lower < 1 < told.slope.upper
    True
    """
    level, curves = as_level(ci_prob), PredictedCurves.of(predicted)
    check_type(y_true, Survival, "y_true", "Pass bc.Survival(time, event).")
    if y_true.other.any():
        raise InputError(
            f"y_true has {count(int(y_true.other.sum()), 'competing event')}, and whole predicted "
            "curves are compared with the hazard of one event. Assess risks by a horizon with "
            "bayescal.fit, which takes competing events."
        )
    end = float(curves.times[-1]) if horizon is None else as_horizon(horizon)
    curves.check_until(end)
    check_same_length(len(y_true), "y_true", len(curves.hazard), "predicted")
    aligned(y_true=y_true, predicted=predicted)  # refuses cases in another order
    last = np.minimum(y_true.time, end)
    expected = curves.hazard_at(last)
    if y_true.entry is not None:
        expected = expected - curves.hazard_at(np.minimum(y_true.entry, end))
    event = y_true.event & (y_true.time <= end)
    return _fitted(event, expected, curves.hazard_at(np.array(end)), level)


def _fitted(event: Any, expected: Floats, by_end: Floats, level: float) -> PoissonCalibration:
    observed, total = int(event.sum()), float(expected.sum())
    wrong = ~np.isfinite(expected) | ~np.isfinite(by_end) | (event & (expected <= 0))
    if wrong.any():
        at = int(wrong.argmax())
        told = "a risk of 0 by the time of its event" if expected[at] <= 0 else "a risk of 1"
        raise InputError(
            f"case {at} of {wrong.size} has {told}, which no finite hazard above 0 gives. Correct "
            "such risks, or clip them if they were rounded."
        )
    if observed < LEAST_EVENTS_OF_POISSON:
        raise InputError(
            f"there {'is' if observed == 1 else 'are'} {count(observed, 'event')} by the horizon, "
            f"and a Poisson regression needs at least {LEAST_EVENTS_OF_POISSON}."
        )
    some = expected > 0  # the others say nothing
    score = np.log(by_end[some])
    if np.ptp(score) < LEAST_SPREAD_OF_HAZARDS:
        raise InputError("predicted has the same risk for every case, so that no slope is defined.")
    centre = float(score.mean())
    offset = np.log(expected[some]) - (score - centre)
    columns = np.column_stack([np.ones(score.size), score - centre])
    coefficients, errors = fit_poisson(event[some].astype(np.float64), columns, offset)
    reach = float(ndtri((1 + level) / 2))
    slope, error = float(coefficients[1]), float(errors[1])
    ratio, factor = observed / total, float(np.exp(reach / np.sqrt(observed)))
    return PoissonCalibration(
        observed,
        total,
        Interval(ratio, ratio / factor, ratio * factor, "poisson", level),
        Interval(slope, slope - reach * error, slope + reach * error, "poisson", level),
    )
