"""O/E, calibration-in-the-large, intercept and slope, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtri

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, SeparationError, as_level, check_choice
from bayescal.core.optimise import (
    LOGISTIC_ROOM,
    NO_MAXIMUM,
    fit_logistic,
    log_likelihood,
    log_odds_of,
    zero_of,
)
from bayescal.core.text import documented
from bayescal.estimators import registry
from bayescal.estimators.registry import OutcomesLike, Statistic

Converged = NDArray[np.bool_]


# About the rounding of 32-bit floats, also once they were printed and read again.
SAME_LOG_ODDS = 1e-6
ROUNDINGS = 4


@dataclass(frozen=True)
class Recalibration:
    """Log-odds of the scores of cases, for logistic regressions of many sets of outcomes.

    `cases`, (n_samples,) or (replicates, n_samples), is how many each row stands for; `rounding` is
    relative, of the scores.
    """

    log_odds: Floats
    cases: Floats
    rounding: float = float(np.finfo(np.float64).eps)

    @classmethod
    def of(cls, scores: NDArray[Any], weights: Floats | None) -> Recalibration:
        """From scores, of 64 or 32 bits, and numbers of cases."""
        return cls(log_odds_of(scores), as_cases(weights, scores.size), _rounding_of(scores))

    @cached_property
    def basis(self) -> Floats:
        """Constant and log-odds, of shape (2, n_samples)."""
        return np.stack([np.ones_like(self.log_odds), self.log_odds])

    def totals(self, outcomes: NDArray[Any]) -> Floats:
        """Number of events and the sum of their log-odds, of shape (replicates, 2)."""
        replicates = len(self.cases if outcomes.ndim == 1 else outcomes)
        totals = np.zeros((replicates, 2))
        for part in blocks(self.log_odds.size, replicates, LOGISTIC_ROOM):
            events = outcomes[..., part] * self.cases[..., part]
            totals += np.stack([events.sum(axis=-1), events @ self.log_odds[part]], axis=-1)
        return totals

    def fit(self, totals: Floats, free: int = 2) -> tuple[Floats, Converged]:
        """Best intercept and slope, (replicates, 2); far out where outcomes are separated.

        The slope is 1 if one coefficient is free; else the search begins at the scores as they are.
        """
        if free == 1:
            constant = np.ones((1, self.log_odds.size))
            shift, converged = fit_logistic(constant, self.cases, totals[:, :1], self.log_odds)
            return np.concatenate([shift, np.ones_like(shift)], axis=1), converged
        centre, scale = self.log_odds.mean(), self.log_odds.std() or 1.0
        basis = np.stack([np.ones_like(self.log_odds), (self.log_odds - centre) / scale])
        events, sums = totals.T
        centred = np.stack([events, (sums - centre * events) / scale], axis=1)
        coef, converged = fit_logistic(basis, self.cases, centred, start=np.array([centre, scale]))
        slope = coef[:, 1] / scale
        return np.stack([coef[:, 0] - centre * slope, slope], axis=1), converged

    def best(self, outcomes: NDArray[Any], free: int = 2) -> Floats:
        """As `fit`, NaN where the maximum does not exist."""
        totals = self.totals(outcomes)
        coef, converged = self.fit(totals, free)
        exists = self.overlaps(outcomes) if free == 2 else self.has_both(totals)
        return np.where((exists & converged)[:, None], coef, np.nan)

    def log_likelihood(self, coef: Floats, totals: Floats) -> Floats:
        """Log likelihood of intercept and slope, (replicates, 2), for every replicate."""
        return log_likelihood(coef, self.basis, self.cases, totals)

    def standard_errors(self, coef: Floats) -> Floats:
        """Of intercept and slope, and of the intercept alone, from the information at `coef`.

        Moments about the mean, so that log-odds that hardly differ leave no negative variance;
        infinite where the fitted probabilities leave no information.
        """
        fitted = expit(coef[0] + coef[1] * self.log_odds)
        weight = self.cases * fitted * (1 - fitted)
        total = weight.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = weight @ self.log_odds / total
            spread = weight @ (self.log_odds - mean) ** 2
            variances = np.array([1 / total + mean**2 / spread, 1 / spread, 1 / total])
        return np.sqrt(np.where(np.isnan(variances), np.inf, variances))

    @property
    def varies(self) -> bool:
        """Whether cases that count have more than one score."""
        counted = self.log_odds[self.cases > 0]
        return bool(counted.min() < counted.max())

    def has_both(self, totals: Floats) -> NDArray[np.bool_]:
        """Whether there are events and others, so that the best intercept exists."""
        return np.asarray((totals[:, 0] > 0) & (totals[:, 0] < self.cases.sum(axis=-1)))

    def overlaps(self, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether events and others overlap in their scores, so that the best slope exists.

        An overlap within rounding is a tie.
        """
        first_event, last_event = self._ends((outcomes != 0) & (self.cases > 0))
        first_other, last_other = self._ends((outcomes == 0) & (self.cases > 0))
        below = first_event + self._resolution(first_event)
        above = first_other + self._resolution(first_other)
        return (below < last_other) & (above < last_event)

    def _resolution(self, log_odds: Floats) -> Floats:
        """Difference in log-odds up to which scores are one score: 1e-6, or their rounding."""
        return np.maximum(SAME_LOG_ODDS, ROUNDINGS * self.rounding * (1 + np.exp(log_odds)))

    def _ends(self, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        lowest = np.where(chosen, self.log_odds, np.inf).min(axis=-1)
        return lowest, np.where(chosen, self.log_odds, -np.inf).max(axis=-1)


def _rounding_of(scores: NDArray[Any]) -> float:
    """That of 32-bit floats if all scores are such, which 64-bit ones hold without a change."""
    parts = (scores[part] for part in blocks(scores.size))
    are_single = all(bool((part == part.astype(np.float32)).all()) for part in parts)
    return float(np.finfo(np.float32 if are_single else np.float64).eps)


def as_cases(weights: Floats | None, size: int) -> Floats:
    """Numbers of cases; None stands for one each."""
    return np.broadcast_to(np.float64(1), size) if weights is None else weights


def _ratio_core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `observed_expected`."""
    cases = as_cases(weights, scores.size)
    expected = sum(
        float(cases[part] @ scores[part].astype(np.float64)) for part in blocks(scores.size)
    )
    if expected == 0:
        raise InputError(
            "y_prob is 0 for every case, so no event is expected and O/E is not defined."
        )
    return lambda outcomes: outcomes @ cases / expected


@registry.estimator(
    "Observed/expected ratio",
    prepare=_ratio_core,
    paper="Debray et al. 2017",
    estimates="events observed for every event expected",
    perfect=1,
    cost="n",
)
def observed_expected(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Observed/expected ratio: the number of events over the sum of the scores.

    Above 1 the scores are too low on average, below 1 too high.

    Parameters
    ----------
    %(replicated_cases)s
    %(weights)s

    Returns
    -------
    float or ndarray
        At least 0; one for each replicate when `y_true` has leading dimensions.

    %(refuses)s
        Also if every score is 0.

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
    return registry.evaluate(_ratio_core, registry.read(y_true, y_prob, sample_weight, single=True))


def _coefficient(
    title: str, estimates: str, column: int, free: int, perfect: float = 0.0
) -> Callable[[Callable[[], None]], Callable[..., float | Floats]]:
    """Enter the coefficient that has the name and the docstring of what this decorates."""

    def core(scores: NDArray[Any], weights: Floats | None) -> Statistic:
        recalibration = Recalibration.of(scores, weights)
        return lambda outcomes: recalibration.best(outcomes, free)[:, column]

    def coefficient(
        y_true: OutcomesLike,
        y_prob: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> float | Floats:
        value = registry.evaluate(core, registry.read(y_true, y_prob, sample_weight, single=True))
        if isinstance(value, float) and np.isnan(value):
            raise SeparationError(NO_MAXIMUM)
        return value

    enter = registry.estimator(
        title,
        prepare=core,
        paper="Cox 1958",
        estimates=estimates,
        span=(-np.inf, np.inf),
        perfect=perfect,
        cost="n",
        dear="Log-odds of all cases are stored, and each of a few Newton steps takes their "
        "exponentials.",
        weighted=lambda scores, outcomes, weights: core(scores, weights)(outcomes),
    )
    return lambda named: enter(registry.called(named, coefficient))


@_coefficient(
    "Calibration in the large",
    "the shift of the log-odds that makes the scores right on average",
    column=0,
    free=1,
)
def calibration_in_the_large() -> None:
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


@_coefficient(
    "Calibration slope",
    "how far apart the true log-odds are, for log-odds of the scores one apart",
    column=1,
    free=2,
    perfect=1,
)
def calibration_slope() -> None:
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
    SeparationError
        If the scores of events and of other cases do not overlap, or there are none of one class,
        or one distinct score only, so that there is no finite maximum. Scores whose log-odds
        differ by 1e-6 or less, or by the rounding of the scores, are ties.

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


@_coefficient(
    "Calibration intercept, slope free",
    "the true log-odds where the score is one half",
    column=0,
    free=2,
)
def calibration_intercept() -> None:
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


# How many times as far as the normal interval's end the likelihood is asked to fall.
FARTHEST_END = 1 << 10


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

    %(refuses)s
        Also if the outcomes are all of one class, where the formula has no value or no width, or
        every score is 0.

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
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False)
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


def _interval(
    column: int, free: int
) -> Callable[[Callable[[], None]], Callable[..., tuple[float, float]]]:
    """The interval of a coefficient, the other at its best or a slope of 1."""

    def interval(
        y_true: OutcomesLike,
        y_prob: ArrayLike | None = None,
        *,
        method: str = "profile",
        ci_prob: float = 0.95,
        sample_weight: ArrayLike | None = None,
    ) -> tuple[float, float]:
        cases = registry.read(y_true, y_prob, sample_weight, replicates=False)
        z = float(ndtri((1 + as_level(ci_prob)) / 2))
        check_choice(method, ("profile", "wald"), "method")
        recalibration = Recalibration.of(cases.scores, cases.weights)
        totals = recalibration.totals(cases.outcomes)
        best = recalibration.best(cases.outcomes, free)
        error = recalibration.standard_errors(best[0])[column if free == 2 else 2]
        reach, middle = z * float(error), float(best[0, column])
        if not math.isfinite(reach + middle):
            raise SeparationError(NO_MAXIMUM)
        if method == "wald":
            return middle - reach, middle + reach
        top = recalibration.log_likelihood(best, totals)[0]
        basis, other = recalibration.basis, [1 - column]

        def excess(value: float) -> float:
            """Signed root of the likelihood ratio, less the one at the ends of the interval."""
            coef = best.copy()
            coef[0, column] = value
            if free == 2:
                coef[:, other], _ = fit_logistic(
                    basis[other],
                    recalibration.cases,
                    totals[:, other],
                    value * basis[column],
                    best[0, other],
                )
            fall: float = top - recalibration.log_likelihood(coef, totals)[0]
            return math.sqrt(max(2 * fall, 0)) - z

        return _end(excess, middle, -reach), _end(excess, middle, reach)

    return lambda named: registry.called(named, interval)


@_interval(column=0, free=1)
def calibration_in_the_large_interval() -> None:
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

    %(refuses)s
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


@_interval(column=1, free=2)
def calibration_slope_interval() -> None:
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

    %(refuses)s
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


@_interval(column=0, free=2)
def calibration_intercept_interval() -> None:
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

    %(refuses)s
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


def _end(excess: Callable[[float], float], best: float, reach: float) -> float:
    """Where the excess turns positive on the side of `reach`."""
    if excess(best) >= 0:
        return best
    factor = 1
    while excess(best + factor * reach) < 0:
        factor *= 2
        if factor > FARTHEST_END:
            raise SeparationError(NO_END)
    return zero_of(excess, best, best + factor * reach, max(1e-9 * abs(reach), 1e-12))
