"""Observed risk by the horizon along the predicted one, where some cases left before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.cox import CoxFit, fit_cox
from bayescal._base.errors import InputError
from bayescal._base.log_odds import clipped, log_odds_of
from bayescal._base.logistic import fit_logistic
from bayescal.data.follow_up import TIME_STEPS
from bayescal.data.validate import as_count, as_level, as_scores, check_choice
from bayescal.estimators.integrated._regression import Basis, restricted_cubic
from bayescal.estimators.integrated._summaries import INDICES
from bayescal.estimators.survival.cases import Followed, read_followed
from bayescal.estimators.survival.censoring import inverse_weights
from bayescal.estimators.survival.pseudo import pseudo_values

__all__ = [
    "CURVES_OF_TIMES",
    "SurvivalCurve",
    "SurvivalIndices",
    "fitted_curve",
    "survival_curve",
    "survival_indices",
]

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
    method: str = "cox",
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
    method : {"cox", "pseudo", "ipcw", "ipcw-score"}
        "cox": Cox regression on the complementary log-log of the risk. It takes hazards to be
        proportional. "pseudo": logistic regression of the pseudo-values of Kaplan-Meier's risk.
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
    method = check_choice(method, CURVES_OF_TIMES, "method")
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
    method: str = "cox",
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

    Raises
    ------
    InputError
        As `survival_curve`.

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
    method = check_choice(method, CURVES_OF_TIMES, "method")
    knots = as_count(n_knots, "n_knots", 3, 7)
    cases = read_followed(y_true, y_prob, horizon)
    risk, _ = fitted_curve(cases, method, knots).at(cases.score)
    gap, ones = np.abs(risk - cases.score)[None], np.ones(cases.score.size)
    return SurvivalIndices(
        *(float(INDICES[name](gap, ones)[0]) for name in SurvivalIndices._fields)
    )


class Fitted(Protocol):
    """A fitted curve."""

    def at(self, score: Floats) -> tuple[Floats, Floats]:
        """Risks, and their standard errors on the scale of the regression."""

    def moved(self, risk: Floats, by: Floats) -> Floats:
        """Risks moved on that scale."""

    def mean(self, score: Floats) -> tuple[float, float]:
        """Mean risk over cases, and its standard error."""


def fitted_curve(cases: Followed, method: str, n_knots: int) -> Fitted:
    """The curve of a method."""
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
        """As `Fitted.at`."""
        columns = self.columns(score)
        risk = self.fit.risk(columns, TIME_STEPS)
        error = self.fit.standard_error(columns, TIME_STEPS)
        by_scale = -np.log1p(-risk) * (1 - risk)  # of the risk, by its complementary log-log
        return risk, error / by_scale

    def moved(self, risk: Floats, by: Floats) -> Floats:
        """As `Fitted.moved`."""
        return np.asarray(-np.expm1(np.log1p(-risk) * np.exp(by)))

    def mean(self, score: Floats) -> tuple[float, float]:
        """As `Fitted.mean`."""
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
        """As `Fitted.at`."""
        basis = self.functions(log_odds_of(score))
        variance = np.einsum("ij,ik,kj->j", basis, self.covariance, basis)
        return expit(self.coefficients @ basis), np.sqrt(variance)

    def moved(self, risk: Floats, by: Floats) -> Floats:
        """As `Fitted.moved`."""
        return np.asarray(expit(logit(risk) + by))

    def mean(self, score: Floats) -> tuple[float, float]:
        """As `Fitted.mean`."""
        basis = self.functions(log_odds_of(score))
        risk = expit(self.coefficients @ basis)
        slope = basis @ (risk * (1 - risk)) / score.size
        return float(risk.mean()), float(np.sqrt(slope @ self.covariance @ slope))


def _log_minus_log(score: Floats) -> Floats:
    return np.asarray(np.log(-np.log1p(-clipped(score))))
