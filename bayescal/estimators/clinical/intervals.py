"""Intervals of O/E, calibration in the large, slope and intercept: from formulas or likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError, SeparationError
from bayescal._base.logistic import NO_MAXIMUM, fit_logistic
from bayescal.data.validate import as_level, check_choice
from bayescal.estimators.clinical._recalibration import Recalibration, as_cases
from bayescal.estimators.door import Cases, OutcomesLike, read

__all__ = [
    "calibration_in_the_large_interval",
    "calibration_intercept_interval",
    "calibration_slope_interval",
    "observed_expected_interval",
]

INTERCEPT, SLOPE, ALONE = range(3)
"""Positions among the standard errors: of the joint fit, and of the intercept with a slope of 1."""
FARTHEST_END = 1 << 10
"""How many times as far as the normal interval's end the likelihood is asked to fall."""


NO_END = (
    "y_true is so nearly separated by the scores, or so nearly of one class, that the likelihood "
    "hardly falls and its interval has no end. A posterior does: use bayescal.fit."
)


@documented
def observed_expected_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    ci_prob: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Interval for the observed/expected ratio, normal on the log scale.

    The standard error of log O/E is sqrt((1 - mean outcome) / number of events). It is the chance
    in the outcomes; the scores are taken as they are.

    Parameters
    ----------
    %(outcomes_of_both_classes)s
    %(scores)s
    ci_prob : float in (0, 1)
        Probability of the interval.
    %(weights_by_kish)s

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if the outcomes are all
        of one class, where the formula has no value or no width; if every score is 0.

    References
    ----------
    Debray, Damen, Snell, Ensor, Hooft, Reitsma, Riley & Moons, "A guide to systematic review and
    meta-analysis of prediction model performance", BMJ 356, 2017.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> lower, upper = estimators.observed_expected_interval(y_true, y_prob)
    >>> lower < 1 < upper
    True
    """
    level = as_level(ci_prob)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    trials = as_cases(cases.weights, cases.scores.size)
    observed, expected = float(trials @ cases.outcomes[0]), float(trials @ cases.scores)
    total = float(trials.sum())
    if not 0 < observed < total or expected == 0:
        raise InputError(
            "y_true holds one class only, or y_prob is 0 for every case, so that O/E has no "
            "interval on the log scale. A posterior does: use bayescal.fit."
        )
    reach = ndtri((1 + level) / 2) * math.sqrt((1 - observed / total) / observed)
    ratio = observed / expected
    return ratio * math.exp(-reach), ratio * math.exp(reach)


@documented
def calibration_in_the_large_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    method: str = "profile",
    ci_prob: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Interval for `calibration_in_the_large`, the intercept with the slope fixed at 1.

    Parameters
    ----------
    %(outcomes_of_both_classes)s
    %(scores_inside)s
    method : {"profile", "wald"}
        "profile": where twice the log likelihood lies a chi-squared quantile below its maximum.
        "wald": the normal interval from the information at the maximum.
    ci_prob : float in (0, 1)
        Probability of the interval.
    %(weights_by_kish)s

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.
    SeparationError
        If the outcomes are all of one class.

    References
    ----------
    Venzon & Moolgavkar, "A Method for Computing Profile-Likelihood-Based Confidence Intervals",
    Applied Statistics 37, 1988.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> lower, upper = estimators.calibration_in_the_large_interval(y_true, y_prob)
    >>> lower < 0 < upper
    True
    """
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    return _interval(cases, ci_prob, method, INTERCEPT, slope_free=False)


@documented
def calibration_slope_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    method: str = "profile",
    ci_prob: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Interval for `calibration_slope`, with the intercept free.

    Parameters
    ----------
    %(outcomes_of_both_classes)s
    %(scores_inside)s
    method : {"profile", "wald"}
        As in `calibration_in_the_large_interval`. The profile is the likelihood at the best
        intercept for each slope.
    ci_prob : float in (0, 1)
        Probability of the interval.
    %(weights_by_kish)s

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.
    SeparationError
        As `calibration_slope`.

    References
    ----------
    Venzon & Moolgavkar, "A Method for Computing Profile-Likelihood-Based Confidence Intervals",
    Applied Statistics 37, 1988.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> lower, upper = estimators.calibration_slope_interval(y_true, y_prob)
    >>> lower < 1 < upper
    True
    """
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    return _interval(cases, ci_prob, method, SLOPE)


@documented
def calibration_intercept_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    method: str = "profile",
    ci_prob: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Interval for `calibration_intercept`, with the slope free. It is not about the mean.

    Parameters
    ----------
    %(outcomes_of_both_classes)s
    %(scores_inside)s
    method : {"profile", "wald"}
        As in `calibration_in_the_large_interval`. The profile is the likelihood at the best slope
        for each intercept.
    ci_prob : float in (0, 1)
        Probability of the interval.
    %(weights_by_kish)s

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.
    SeparationError
        As `calibration_slope`.

    References
    ----------
    Venzon & Moolgavkar, "A Method for Computing Profile-Likelihood-Based Confidence Intervals",
    Applied Statistics 37, 1988.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> lower, upper = estimators.calibration_intercept_interval(y_true, y_prob)
    >>> lower < 0 < upper
    True
    """
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    return _interval(cases, ci_prob, method, INTERCEPT)


def _interval(
    cases: Cases, ci_prob: float, method: str, which: int, slope_free: bool = True
) -> tuple[float, float]:
    """Interval of one of two coefficients, the other at its best or a slope of 1."""
    z = float(ndtri((1 + as_level(ci_prob)) / 2))
    check_choice(method, ("profile", "wald"), "method")
    outcomes = cases.outcomes[0]
    recalibration = Recalibration.of(cases.scores, cases.weights)
    totals = recalibration.totals(outcomes[None])
    best = _best(recalibration, outcomes, totals, slope_free)
    basis, trials = recalibration.basis, recalibration.cases
    errors = recalibration.standard_errors(best)
    reach = z * float(errors[which if slope_free else ALONE])
    if not math.isfinite(reach):
        raise SeparationError(NO_MAXIMUM)
    if method == "wald":
        return float(best[which] - reach), float(best[which] + reach)
    other = 1 - which
    top = recalibration.log_likelihood(best[None], totals)[0]

    def excess(value: float) -> float:
        """Signed root of the likelihood ratio, less the one at the ends of the interval."""
        coef = best.copy()
        coef[which] = value
        if slope_free:
            free = [other]
            fitted, _ = fit_logistic(basis[free], trials, totals[:, free], value * basis[which])
            coef[other] = fitted[0, 0]
        fall: float = top - recalibration.log_likelihood(coef[None], totals)[0]
        return math.sqrt(max(2 * fall, 0)) - z

    return _end(excess, best[which], -reach), _end(excess, best[which], reach)


def _best(
    recalibration: Recalibration, outcomes: Floats, totals: Floats, slope_free: bool
) -> Floats:
    """Best intercept and slope of one set of outcomes."""
    if slope_free:
        line, converged = recalibration.fit_line(totals)
        exists = recalibration.overlaps(outcomes) & converged
    else:
        shift, converged = recalibration.fit_shift(totals)
        line = np.stack([shift, np.ones(1)], axis=1)
        exists = recalibration.has_both(totals) & converged
    if not exists.all():
        raise SeparationError(NO_MAXIMUM)
    best: Floats = line[0]
    return best


def _end(excess: Callable[[float], float], best: float, reach: float) -> float:
    """Where the excess turns positive on the side of `reach`."""
    if excess(best) >= 0:
        return best
    factor = 1
    while excess(best + factor * reach) < 0:
        factor *= 2
        if factor > FARTHEST_END:
            raise SeparationError(NO_END)
    tolerance = max(1e-9 * abs(reach), 1e-12)
    return float(brentq(excess, best, best + factor * reach, xtol=tolerance))
