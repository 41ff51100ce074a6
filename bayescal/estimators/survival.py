"""Estimators of times to an event, of which some cases left before the horizon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.cox import CoxFit, at_risk, fit_cox
from bayescal.core.errors import InputError, as_count, as_level, check_choice
from bayescal.core.optimise import clipped, fit_logistic, log_odds_of
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.data.times import TIME_STEPS, Survival, refuse_horizon
from bayescal.estimators.integrated import INDICES
from bayescal.estimators.registry import OutcomesLike, Tested, read
from bayescal.estimators.smoothers import Basis, restricted_cubic
from bayescal.estimators.uncertainty import Interval

LEAST_AT_RISK = 1e-9


def aalen_johansen(
    entry: NDArray[np.intp],
    last: NDArray[np.intp],
    event: NDArray[np.bool_],
    other: NDArray[np.bool_],
    weight: Floats,
    steps: int,
) -> tuple[float, float]:
    """Share with the event by the last step of time, and its effective size.

    By Aalen & Johansen (1978). Of so many cases without censoring the share would have its
    variance: that of the delta method, without competing events Greenwood's, and without events the
    cases at risk in the last step (Dorey & Korn 1987). Cases are under observation from the step
    after `entry` to `last`; both are NaN if nobody is in some step.
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


@dataclass(frozen=True)
class Followed:
    """Cases that were followed, by ascending score.

    They are under observation from the step of time after `entry` to the step `last`, of which the
    horizon is `TIME_STEPS`, and in which the event, or an `other` that rules it out, comes.
    """

    score: Floats
    entry: NDArray[np.intp]
    last: NDArray[np.intp]
    event: NDArray[np.bool_]
    other: NDArray[np.bool_]

    @property
    def left(self) -> NDArray[np.bool_]:
        """Which cases left before the horizon without an event of any kind."""
        return ~(self.event | self.other) & (self.last < TIME_STEPS)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of which cases it is known whether they have the event by the horizon."""
        return ~self.left

    def refuse_late_entry(self, what: str) -> None:
        """Refuse cases that came under observation after time 0."""
        if self.entry.any():
            raise InputError(
                f"{int((self.entry > 0).sum())} cases came under observation after time 0, and "
                f"{what} is defined for cases that are followed from then on. survival_curve, with "
                "method='cox', takes them."
            )

    def risk(self) -> tuple[float, float]:
        """Risk by the horizon and its standard error, by Kaplan and Meier or Aalen and Johansen."""
        ones = np.ones(self.last.size)
        risk, effective = aalen_johansen(
            self.entry, self.last, self.event, self.other, ones, TIME_STEPS
        )
        if np.isnan(risk):
            raise InputError(
                "there is a time before the horizon at which no case was under observation, so "
                "that the observed risk by the horizon is not defined. Choose an earlier horizon."
            )
        return risk, float(np.sqrt(max(risk * (1 - risk), 0.0) / effective))


def read_followed(
    y_true: Any, y_prob: ArrayLike | None = None, horizon: float | None = None
) -> Followed:
    """Cases of times to an event, and of risks by a horizon, or of a table that holds both.

    Cases that were read before come back as they are.
    """
    if isinstance(y_true, Followed):
        return y_true
    if isinstance(y_true, CalibrationData):
        refuse_horizon(horizon)
        if y_prob is not None:
            raise InputError("y_prob was given beside a table, which has its scores. Leave it out.")
        data = y_true
    elif isinstance(y_true, Survival):
        data = CalibrationData(y_true, y_prob, horizon=horizon)
    else:
        raise InputError(
            f"y_true is a {type(y_true).__name__}, and this is an estimator of times to an event: "
            "pass bayescal.Survival(time, event), or a CalibrationData of it."
        )
    followed = data.follow_up
    if followed is None:
        raise InputError(
            "y_true holds outcomes without times. This is an estimator of times to an event: pass "
            "bayescal.Survival(time, event). Of known outcomes use the estimators without "
            "'survival' in their name."
        )
    if data.is_pseudo or (followed.weight % 1).any():
        raise InputError(
            "y_true has sampling weights, and standard errors here count single cases. Use "
            "bayescal.fit, which takes them."
        )
    times = followed.weight.astype(np.intp)
    order = np.argsort(data.score[followed.row], kind="stable")
    order = np.repeat(order, times[order])
    score = data.score[followed.row]
    return Followed(
        score[order],
        followed.entry[order],
        followed.exit[order],
        followed.event[order],
        followed.other[order],
    )


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

    The probability to stay is that given the score, by Cox regression on a restricted cubic spline,
    or the same for all, by Kaplan-Meier.
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
    had = cases.event | cases.other
    return np.where(had, 2 * cases.last, 2 * cases.last + 1), cases.left


def _not_nothing(staying: Any) -> Floats:
    return np.asarray(np.maximum(staying, np.finfo(np.float64).tiny), np.float64)


def pseudo_values(cases: Followed) -> Floats:
    """The n times of the risk by the horizon less n - 1 times that without the case.

    Of a known outcome in a study without censoring it is the outcome (Andersen, Klein & Rosthøj
    2003).
    """
    cases.refuse_late_entry("the pseudo-value")
    size, (risk, _) = cases.score.size, cases.risk()
    at = np.maximum(at_risk(cases.entry, cases.last, np.ones(size), TIME_STEPS)[1:], 1)
    own = np.bincount(cases.last[cases.event], minlength=TIME_STEPS + 1)[1:]
    every = own + np.bincount(cases.last[cases.other], minlength=TIME_STEPS + 1)[1:]

    # up to each step with one fewer at risk: nobody has had an event, and the event came
    fewer = np.maximum(at - 1, 1)
    free = np.cumprod(np.append(1.0, 1 - every / fewer))
    came = np.append(0.0, np.cumsum(free[:-1] * own / fewer))

    # from each step on with all at risk: the event comes, of those without any event before
    comes, later, end = np.empty(TIME_STEPS + 1), 0.0, TIME_STEPS
    for step in np.flatnonzero(every)[::-1]:
        comes[step + 1 : end + 1] = later
        later = own[step] / at[step] + (1 - every[step] / at[step]) * later
        end = step
    comes[: end + 1] = later

    last = cases.last
    ended, here = np.maximum(last, 1) - 1, last > 0
    mine, any_event = cases.event, cases.event | cases.other
    in_step = np.where(here, (own[ended] - mine) / fewer[ended], 0.0)
    past = np.where(here, 1 - (every[ended] - any_event) / fewer[ended], 1.0)
    before = came[np.maximum(last - 1, 0)]
    without = before + free[ended] * (in_step + past * comes[last])
    return np.asarray(size * risk - (size - 1) * without)


CURVES_OF_TIMES = ("cox", "pseudo", "ipcw", "ipcw-score")


class SurvivalCurve(NamedTuple):
    """Observed risks by the horizon.

    Attributes
    ----------
    score : ndarray of shape (k,)
        Predicted risks.
    risk, lower, upper : ndarray of shape (k,)
        Observed risks of cases with these, and their intervals, each by itself.
    """

    score: Floats
    risk: Floats
    lower: Floats
    upper: Floats


class SurvivalIndices(NamedTuple):
    """Distances of observed from predicted risks by the horizon, over the cases.

    Attributes
    ----------
    ici, e50, e90, emax : float
        Mean, median, 90 % quantile and maximum.
    """

    ici: float
    e50: float
    e90: float
    emax: float


def survival_curve(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    method: str | None = None,
    n_knots: int = 3,
    at: ArrayLike | None = None,
    ci_prob: float = 0.95,
) -> SurvivalCurve:
    """Observed risk by the horizon as a function of the predicted one.

    All methods fit a restricted cubic spline of the predicted risk.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    method : {"cox", "pseudo", "ipcw", "ipcw-score"}, optional
        By default "cox", and "pseudo" where competing events rule the event out.
        "cox": Cox regression on the complementary log-log of the risk. It takes hazards to be
        proportional, and there to be no competing events. "pseudo": logistic regression of the
        pseudo-values of the observed risk, by Kaplan and Meier or Aalen and Johansen.
        "ipcw": logistic regression of the known outcomes, weighted by one over the probability of
        being under observation, which is the same for all. Both take leaving not to depend on the
        score. "ipcw-score": the same with the probability given the score, by Cox regression.
    n_knots : int
        From 3 to 7.
    at : array-like of shape (k,), optional
        Predicted risks at which to give the observed ones. By default those of all cases.
    ci_prob : float in (0, 1)

    Returns
    -------
    SurvivalCurve
        A named tuple (score, risk, lower, upper). Intervals are normal on the scale of the
        regression, with robust standard errors for all but "cox"; the weights are taken as known.

    Raises
    ------
    InputError
        If these are no times and risks of the same cases, there are too few events, or statsmodels
        is needed and not installed.

    Notes
    -----
    "cox" and "ipcw-score" need the extra `survival`. Delayed entry is taken by "cox" only. With
    sampling weights, clusters or groups use `bayescal.fit`.

    "cox" reads nothing past the horizon. The code of Austin et al. fits the whole follow-up: its
    ICI of the trial `pbc` is .027, and that of the same regression ended at the horizon .065.

    References
    ----------
    Austin, Harrell & van Klaveren, "Graphical calibration curves and the integrated calibration
    index (ICI) for survival models", Statistics in Medicine 39, 2020: "cox", with three knots.
    Gerds, Andersen & Kattan, "Calibration plots for risk prediction models in the presence of
    competing risks", Statistics in Medicine 33, 2014: pseudo-values.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> rng = np.random.default_rng(1)
    >>> risk = rng.uniform(0.05, 0.6, 500)
    >>> event, left = -rng.exponential(1, 500) / np.log1p(-risk), rng.uniform(0, 3, 500)
    >>> outcome = bc.Survival(np.minimum(event, left), event <= left)
    >>> curve = estimators.survival_curve(
    ...     outcome, risk, horizon=1, method="pseudo", at=[0.1, 0.3, 0.5]
    ... )
    >>> bool(((curve.lower < curve.score) & (curve.score < curve.upper)).all())
    True
    """
    method = None if method is None else check_choice(method, CURVES_OF_TIMES, "method")
    knots, level = as_count(n_knots, "n_knots", 3, 7), as_level(ci_prob)
    cases = read_followed(y_true, y_prob, horizon)
    wanted = cases.score if at is None else as_scores(at, "at")
    fitted = fitted_curve(cases, method, knots)
    risk, error = fitted.at(wanted)
    reach = ndtri((1 + level) / 2) * error
    lower, upper = (fitted.moved(risk, sign * reach) for sign in (-1, 1))
    return SurvivalCurve(wanted, risk, lower, upper)


def survival_indices(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    method: str | None = None,
    n_knots: int = 3,
) -> SurvivalIndices:
    """ICI, E50, E90 and Emax of risks by a horizon, where some cases left before it.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    method, n_knots
        As in `survival_curve`.

    Returns
    -------
    SurvivalIndices
        A named tuple (ici, e50, e90, emax).

    Notes
    -----
    They are never 0 by chance, even of a calibrated model, and have no interval here.

    References
    ----------
    Austin, Harrell & van Klaveren, "Graphical calibration curves and the integrated calibration
    index (ICI) for survival models", Statistics in Medicine 39, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> rng = np.random.default_rng(1)
    >>> risk = rng.uniform(0.05, 0.6, 500)
    >>> event, left = -rng.exponential(1, 500) / np.log1p(-risk), rng.uniform(0, 3, 500)
    >>> outcome = bc.Survival(np.minimum(event, left), event <= left)
    >>> indices = estimators.survival_indices(outcome, risk, horizon=1, method="pseudo")
    >>> indices.e50 < indices.e90 < indices.emax
    True
    """
    method = None if method is None else check_choice(method, CURVES_OF_TIMES, "method")
    knots = as_count(n_knots, "n_knots", 3, 7)
    cases = read_followed(y_true, y_prob, horizon)
    risk, _ = fitted_curve(cases, method, knots).at(cases.score)
    gap, ones = np.abs(risk - cases.score)[None], np.ones(cases.score.size)
    return SurvivalIndices(
        *(float(INDICES[name](gap, ones)[0]) for name in SurvivalIndices._fields)
    )


def fitted_curve(cases: Followed, method: str | None, n_knots: int) -> _CoxCurve | _LogisticCurve:
    """The curve of a method, by default the one that knows all kinds of events there are."""
    if method == "cox" and cases.other.any():
        raise InputError(
            "method='cox' takes every case without the event to have left, and "
            f"{cases.other.sum()} cases had a competing event before the horizon, which rules it "
            "out. Use method='pseudo' or 'ipcw', or bayescal.fit."
        )
    method = method or ("pseudo" if cases.other.any() else "cox")
    if method == "cox":
        return _CoxCurve(cases, n_knots)
    if method == "pseudo":
        return _LogisticCurve.of(cases, n_knots, pseudo_values(cases), np.ones(cases.score.size))
    weight = inverse_weights(cases, by_score=method == "ipcw-score")
    return _LogisticCurve.of(cases, n_knots, cases.event.astype(np.float64), weight)


class _CoxCurve:
    """By Cox regression on a spline in the complementary log-log of the score."""

    def __init__(self, cases: Followed, n_knots: int) -> None:
        x = _log_minus_log(cases.score)
        self._functions: Basis = restricted_cubic(x, np.ones(x.size), n_knots)
        self.fit: CoxFit = fit_cox(
            cases.entry, cases.last, cases.event, self.columns(cases.score), TIME_STEPS
        )

    def columns(self, score: Floats) -> Floats:
        """Columns of the regression, of shape (n, k)."""
        return self._functions(_log_minus_log(score))[1:].T

    def at(self, score: Floats) -> tuple[Floats, Floats]:
        """Risks, and their standard errors on the scale of the regression."""
        columns = self.columns(score)
        risk = self.fit.risk(columns, TIME_STEPS)
        error = self.fit.standard_error(columns, TIME_STEPS)
        by_scale = -np.log1p(-risk) * (1 - risk)  # of the risk, by its complementary log-log
        return risk, error / by_scale

    def moved(self, risk: Floats, by: Floats) -> Floats:
        """Risks moved on that scale."""
        return np.asarray(-np.expm1(np.log1p(-risk) * np.exp(by)))

    def mean(self, score: Floats) -> tuple[float, float]:
        """Mean risk over cases, and its standard error."""
        columns, share = self.columns(score), np.full(score.size, 1 / score.size)
        error = self.fit.standard_error(columns, TIME_STEPS, share)
        return float(self.fit.risk(columns, TIME_STEPS).mean()), float(error[0])


@dataclass(frozen=True)
class _LogisticCurve:
    """By logistic regression of numbers near 0 and 1 on a spline in the log-odds of the score."""

    functions: Basis
    coefficients: Floats
    covariance: Floats

    @classmethod
    def of(cls, cases: Followed, n_knots: int, outcome: Floats, weight: Floats) -> _LogisticCurve:
        x = log_odds_of(cases.score)
        functions = restricted_cubic(x, np.ones(x.size), n_knots)
        basis = functions(x)
        fitted, converged = fit_logistic(basis, weight, (basis @ (weight * outcome))[None])
        risk = expit(fitted[0] @ basis)
        bread = (basis * (weight * risk * (1 - risk))) @ basis.T
        if not converged[0] or np.linalg.cond(bread) > 1 / np.finfo(np.float64).eps:
            raise InputError(
                "the regression of the outcomes on y_prob has no maximum: the scores separate "
                "those with the event from the others, or too few of them differ. A posterior does "
                "not need one: use bayescal.fit."
            )
        root = basis * (weight * (outcome - risk))
        inverse = np.linalg.inv(bread)
        return cls(functions, fitted[0], inverse @ (root @ root.T) @ inverse)

    def at(self, score: Floats) -> tuple[Floats, Floats]:
        """Risks, and their standard errors on the scale of the regression."""
        basis = self.functions(log_odds_of(score))
        variance = np.einsum("ij,ik,kj->j", basis, self.covariance, basis)
        return expit(self.coefficients @ basis), np.sqrt(np.maximum(variance, 0))

    def moved(self, risk: Floats, by: Floats) -> Floats:
        """Risks moved on that scale."""
        return np.asarray(expit(logit(risk) + by))

    def mean(self, score: Floats) -> tuple[float, float]:
        """Mean risk over cases, and its standard error."""
        basis = self.functions(log_odds_of(score))
        risk = expit(self.coefficients @ basis)
        slope = basis @ (risk * (1 - risk)) / score.size
        return float(risk.mean()), float(np.sqrt(slope @ self.covariance @ slope))


def _log_minus_log(score: Floats) -> Floats:
    return np.asarray(np.log(-np.log1p(-clipped(score))))


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
        How the observed risk is estimated: by Kaplan-Meier with Greenwood's standard error, which
        with competing events is Aalen-Johansen's risk with that of the delta method, or as
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
        observed, error = cases.risk()
    else:
        observed, error = fitted_curve(cases, method, knots).mean(cases.score)
    reach = ndtri((1 + level) / 2) * error / observed
    return _of_ratio(observed / expected, reach, method, level)


def _of_ratio(ratio: float, reach: float, method: str, level: float) -> Interval:
    """Normal on the log scale."""
    return Interval(ratio, ratio * math.exp(-reach), ratio * math.exp(reach), method, level)


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
    level = as_level(ci_prob)
    cases = read(y_true, y_prob, replicates=False, needs="cases")
    if (cases.scores == 1).any():
        at = int((cases.scores == 1).argmax())
        raise InputError(
            f"y_prob[{at}] is 1: a case that is sure to have the event has no finite hazard. Clip "
            "such risks if they were rounded."
        )
    observed, expected = float(cases.outcomes[0].sum()), float(-np.log1p(-cases.scores).sum())
    if observed == 0 or expected == 0:
        raise InputError(
            "y_true has no event, or y_prob is 0 for every case, so that O/E has no interval on "
            "the log scale."
        )
    reach = ndtri((1 + level) / 2) / np.sqrt(observed)
    return _of_ratio(observed / expected, reach, "martingale", level)


class NumberOfTimes(NamedTuple):
    """An estimator of times: what a table calls it, and followed cases and options to a number."""

    title: str
    function: Callable[..., float]


_BY_PSEUDO_VALUES = {"method": "pseudo"}

# By name: options are those of `survival_indices` and `survival_observed_expected`.
NUMBERS_OF_TIMES = {
    "survival_ici": NumberOfTimes(
        "ICI by pseudo-values",
        lambda cases, **options: survival_indices(cases, **_BY_PSEUDO_VALUES | options).ici,
    ),
    "survival_emax": NumberOfTimes(
        "Emax by pseudo-values",
        lambda cases, **options: survival_indices(cases, **_BY_PSEUDO_VALUES | options).emax,
    ),
    "survival_observed_expected": NumberOfTimes(
        "Log O/E by Kaplan-Meier, without sign",
        lambda cases, **options: abs(
            math.log(survival_observed_expected(cases, **options).estimate)
        ),
    ),
}
