"""Calibration as clinical prediction models report it: O/E, in the large, slope and intercept.

All are unpenalised maximum likelihood. Outcomes enter only through their sums with the log-odds of
the scores, so that replicates are fitted together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal.estimators.clinical._recalibration import Recalibration, as_cases, defined
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = [
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "observed_expected",
]


def _ratio_core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `observed_expected`."""
    cases = as_cases(weights, scores.size)
    expected = sum(float(cases[part] @ _doubles(scores[part])) for part in blocks(scores.size))
    if expected == 0:
        raise InputError(
            "y_prob is 0 for every case, so no event is expected and O/E is not defined."
        )
    return lambda outcomes: outcomes @ cases / expected


def _doubles(scores: NDArray[Any]) -> Floats:
    return scores.astype(np.float64, copy=False)


def _ratio(observed: Floats, expected: Floats) -> Floats:
    return np.divide(observed, expected, out=np.full_like(expected, np.nan), where=expected > 0)


@estimator(
    "Observed/expected ratio",
    prepare=_ratio_core,
    paper="Debray et al. 2017",
    estimates="events observed for every event expected",
    perfect=1,
    cost="n",
    weighted=lambda s, y, w: _ratio(w @ y, w @ s),
)
def observed_expected(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Observed/expected ratio: the number of events over the sum of the scores.

    Above 1 the scores are too low on average, below 1 too high.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    %(weights)s

    Returns
    -------
    float or ndarray
        At least 0; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if every score is 0.

    References
    ----------
    Debray, Damen, Snell, Ensor, Hooft, Reitsma, Riley & Moons, "A guide to systematic review and
    meta-analysis of prediction model performance", BMJ 356, 2017.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.observed_expected([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.909
    """
    return evaluate(_ratio_core, read(y_true, y_prob, sample_weight, single=True))


def _shift(recalibration: Recalibration, outcomes: NDArray[Any]) -> Floats:
    totals = recalibration.totals(outcomes)
    shift, converged = recalibration.fit_shift(totals)
    return np.where(recalibration.has_both(totals) & converged, shift, np.nan)


def _line(recalibration: Recalibration, outcomes: NDArray[Any]) -> Floats:
    line, converged = recalibration.fit_line(recalibration.totals(outcomes))
    exists = recalibration.overlaps(outcomes) & converged
    return np.where(exists[:, None], line, np.nan)


def _shift_core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `calibration_in_the_large`."""
    recalibration = Recalibration.of(scores, weights)
    return lambda outcomes: _shift(recalibration, outcomes)


def _intercept_core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `calibration_intercept`."""
    recalibration = Recalibration.of(scores, weights)
    return lambda outcomes: _line(recalibration, outcomes)[:, 0]


def _slope_core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `calibration_slope`."""
    recalibration = Recalibration.of(scores, weights)
    return lambda outcomes: _line(recalibration, outcomes)[:, 1]


@estimator(
    "Calibration in the large",
    prepare=_shift_core,
    paper="Cox 1958",
    estimates="the shift of the log-odds that makes the scores right on average",
    span=(-np.inf, np.inf),
    cost="n",
    weighted=lambda s, y, w: _shift(Recalibration.of(s, w), y),
)
def calibration_in_the_large(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Calibration-in-the-large: the intercept when the slope is fixed at 1.

    The maximum-likelihood a of logit P(y = 1) = a + logit score. Above 0 the scores are too low on
    average. It solves sum expit(a + logit score) = number of events.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions, NaN where it does not exist.

    Raises
    ------
    %(not_cases)s
    SeparationError
        If the outcomes are all of one class, so that there is no finite maximum.

    Notes
    -----
    **This is not `calibration_intercept`.** What val.prob.ci.2, predRupdate and pmcalibration call
    the calibration intercept is this one; what rms val.prob prints as Intercept is the other.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958.
    Steyerberg, "Clinical Prediction Models", 2nd edition, Springer 2019, section 15.3.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 0, 1], [0.2, 0.4, 0.9, 0.4, 0.1]
    >>> round(estimators.calibration_in_the_large(y_true, y_prob), 3)
    1.125
    """
    return defined(evaluate(_shift_core, read(y_true, y_prob, sample_weight, single=True)))


@estimator(
    "Calibration slope",
    prepare=_slope_core,
    paper="Cox 1958",
    estimates="how far apart the true log-odds are, for log-odds of the scores one apart",
    span=(-np.inf, np.inf),
    perfect=1,
    cost="n",
    weighted=lambda s, y, w: _line(Recalibration.of(s, w), y)[:, 1],
)
def calibration_slope(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Calibration slope: the slope of the outcomes on the log-odds of the scores.

    The maximum-likelihood b of logit P(y = 1) = a + b logit score, without penalty. Below 1 the
    scores are too extreme, above 1 too timid.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions, NaN where it does not exist.

    Raises
    ------
    %(not_cases)s
    SeparationError
        If the scores of events and of other cases do not overlap, or there are none of one class,
        or one distinct score only, so that there is no finite maximum. Scores whose log-odds
        differ by 1e-6 or less, or by the rounding of the scores, are ties.

    Notes
    -----
    A logistic regression with scikit-learn's default settings is penalised and gives another
    value: published examples print .930 for .934.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 0, 1], [0.2, 0.4, 0.9, 0.4, 0.1]
    >>> round(estimators.calibration_slope(y_true, y_prob), 3)
    0.386
    """
    return defined(evaluate(_slope_core, read(y_true, y_prob, sample_weight, single=True)))


@estimator(
    "Calibration intercept, slope free",
    prepare=_intercept_core,
    paper="Cox 1958",
    estimates="the true log-odds where the score is one half",
    span=(-np.inf, np.inf),
    cost="n",
    weighted=lambda s, y, w: _line(Recalibration.of(s, w), y)[:, 0],
)
def calibration_intercept(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Calibration intercept of the joint fit, beside `calibration_slope`.

    **This is not calibration-in-the-large.** It is the maximum-likelihood a of
    logit P(y = 1) = a + b logit score with b free: the recalibrated log-odds where the score is
    one half, which may be far from where the scores are.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions, NaN where it does not exist.

    Raises
    ------
    %(not_cases)s
    SeparationError
        As `calibration_slope`.

    Notes
    -----
    rms val.prob prints this one as Intercept. Whether the scores are right on average is
    `calibration_in_the_large`, which fixes the slope at 1 and which val.prob.ci.2, predRupdate and
    pmcalibration call the calibration intercept.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958.
    Harrell, "Regression Modeling Strategies", 2nd edition, Springer 2015, section 10.9.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 0, 1], [0.2, 0.4, 0.9, 0.4, 0.1]
    >>> round(estimators.calibration_intercept(y_true, y_prob), 3)
    0.616
    """
    return defined(evaluate(_intercept_core, read(y_true, y_prob, sample_weight, single=True)))
