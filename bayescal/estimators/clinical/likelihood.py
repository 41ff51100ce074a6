"""Likelihood ratios of logistic recalibration: Cox's and Miller's tests, and Harrell's U, D, Q.

The scores as they are, the best intercept with a slope of 1, and the best intercept and slope are
three nested models of the outcomes. A likelihood ratio is defined for separated outcomes too, where
the likelihood has a supremum but no maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, xlogy

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.validate import check_choice
from bayescal.estimators._result import Tested
from bayescal.estimators.clinical._recalibration import Recalibration
from bayescal.estimators.door import Core, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = [
    "Recalibrated",
    "cox_test",
    "discrimination_index",
    "quality_index",
    "recalibrated",
    "unreliability",
]

LogLikelihood = Callable[[Recalibration, Floats], Floats]
"""Log likelihood of a model of the outcomes, for every replicate, from its totals."""


def _mean(model: Recalibration, totals: Floats) -> Floats:
    """Log likelihood of the mean outcome for everybody."""
    events, number = totals[:, 0], model.cases.sum()
    rate = events / number
    return np.asarray(xlogy(events, rate) + xlogy(number - events, 1 - rate))


def _as_they_are(model: Recalibration, totals: Floats) -> Floats:
    return model.log_likelihood(np.array([[0.0, 1.0]]), totals)


def _shifted(model: Recalibration, totals: Floats) -> Floats:
    shift, _ = model.fit_shift(totals)
    return model.log_likelihood(np.stack([shift, np.ones_like(shift)], axis=1), totals)


def _refitted(model: Recalibration, totals: Floats) -> Floats:
    line, _ = model.fit_line(totals)
    return model.log_likelihood(line, totals)


_MODELS = {
    "joint": (_refitted, _as_they_are),
    "intercept": (_shifted, _as_they_are),
    "slope": (_refitted, _shifted),
}


def _likelihood_ratio(
    models: tuple[LogLikelihood, LogLikelihood], summary: Callable[[Floats, float], Floats]
) -> Core:
    """Core of a summary of twice the gain in log likelihood, and of the number of cases."""
    better, worse = models

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        model = Recalibration.of(scores, weights)
        if better is _refitted and not model.varies:
            raise InputError(
                "y_prob holds one distinct score, so that there is no slope to fit. "
                "For the intercept alone, cox_test has kind='intercept'."
            )

        def statistic(outcomes: NDArray[Any]) -> Floats:
            totals = model.totals(outcomes)
            return summary(2 * (better(model, totals) - worse(model, totals)), model.cases.sum())

        return statistic

    return core


_COX = {
    kind: _likelihood_ratio(models, lambda ratio, _: np.maximum(ratio, 0))
    for kind, models in _MODELS.items()
}
_UNRELIABILITY = _likelihood_ratio(_MODELS["joint"], lambda ratio, n: (ratio - 2) / n)
_DISCRIMINATION = _likelihood_ratio((_as_they_are, _mean), lambda ratio, n: (ratio - 1) / n)


class Recalibrated(NamedTuple):
    """What logistic recalibration says of one set of cases, each as its own function gives it.

    Attributes
    ----------
    intercept, slope : float
        NaN where the likelihood has no maximum.
    cox : Tested
        NaN of one distinct score, as is `unreliability`.
    """

    intercept: float
    slope: float
    cox: Tested
    unreliability: float
    discrimination: float


def recalibrated(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Recalibrated:
    """Intercept, slope, Cox's joint test, U and D of one set of outcomes, of a single fit.

    Examples
    --------
    >>> from bayescal import estimators
    >>> from bayescal.estimators.clinical.likelihood import recalibrated
    >>> y_true, y_prob = [0, 1, 1, 0, 1], [0.2, 0.4, 0.9, 0.4, 0.1]
    >>> recalibrated(y_true, y_prob).slope == estimators.calibration_slope(y_true, y_prob)
    True
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    model = Recalibration.of(cases.scores, cases.weights)
    totals, n = model.totals(cases.outcomes), model.cases.sum()
    line, converged = model.fit_line(totals)
    exists = model.overlaps(cases.outcomes) & converged
    ((intercept, slope),) = np.where(exists[:, None], line, np.nan)
    stated = _as_they_are(model, totals)
    best = model.log_likelihood(line, totals) if model.varies else np.array([np.nan])
    (gain,), (told,) = 2 * (best - stated), 2 * (stated - _mean(model, totals))
    statistic = float(np.maximum(gain, 0))
    return Recalibrated(
        float(intercept),
        float(slope),
        Tested(statistic, float(chdtrc(2.0, statistic)), 2.0),
        float((gain - 2) / n),
        float((told - 1) / n),
    )


@documented
def cox_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    kind: str = "joint",
    sample_weight: ArrayLike | None = None,
) -> Tested:
    """Likelihood-ratio tests of logistic recalibration (Cox 1958; Miller et al. 1991).

    With logit P(y = 1) = a + b logit score, the statistic is twice the gain in log likelihood
    from the null hypothesis to the best fit of the alternative.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    kind : {"joint", "intercept", "slope"}
        "joint": a = 0 and b = 1 against a and b free (weak calibration, unreliability).
        "intercept": a = 0 against a free, with b = 1 (calibration in the large).
        "slope": b = 1 against b free, with a free.
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is 2 for "joint", and otherwise 1.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if `kind` is none of
        the three; if "joint" or "slope" meets one distinct score.

    Notes
    -----
    The statistics of "intercept" and "slope" add up to that of "joint". Under separation, or with
    one class only, each is its supremum.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45, 1958.
    Miller, Hui & Tierney, "Validation techniques for logistic regression models", Statistics in
    Medicine 10, 1991.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> joint = estimators.cox_test(y_true, y_prob)
    >>> bool(joint.pvalue < 0.001), joint.df
    (True, 2.0)
    """
    core = _COX[check_choice(kind, _COX, "kind")]
    statistic = evaluate(core, read(y_true, y_prob, sample_weight, single=True))
    df = 2.0 if kind == "joint" else 1.0
    pvalue = chdtrc(df, statistic)
    return Tested(statistic, float(pvalue) if isinstance(statistic, float) else pvalue, df)


@estimator(
    "Unreliability U",
    prepare=_UNRELIABILITY,
    paper="Miller, Hui & Tierney 1991; Harrell 2015",
    estimates="twice the log likelihood per case that logistic recalibration would gain",
    span=(-2, np.inf),
    cost="n",
    dear="Log-odds of all cases are stored, and each of a few Newton steps takes their "
    "exponentials.",
)
def unreliability(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Unreliability index U: (likelihood ratio of logistic recalibration - 2) / n.

    The likelihood ratio is the statistic of `cox_test`, and 2 what it is on average for a
    calibrated model.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        At least -2 / n; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if there is one
        distinct score only.

    References
    ----------
    Harrell, "Regression Modeling Strategies", 2nd edition, Springer 2015, section 10.9.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> 0 < estimators.unreliability(y_true, y_prob) < 0.1
    True
    """
    return evaluate(_UNRELIABILITY, read(y_true, y_prob, sample_weight, single=True))


@documented
def discrimination_index(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Discrimination index D: (likelihood ratio of the scores - 1) / n.

    The likelihood ratio is twice the log likelihood of the scores as they are, less that of the
    mean outcome for everybody. It is negative for scores that say less than the mean does.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        At most 2 log 2; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    %(not_cases)s

    Notes
    -----
    It is not an error of calibration, and has no value that calibration would give. rms val.prob
    prints it as D.

    References
    ----------
    Harrell, "Regression Modeling Strategies", 2nd edition, Springer 2015, section 10.9.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.discrimination_index([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.538
    """
    return evaluate(_DISCRIMINATION, read(y_true, y_prob, sample_weight, single=True))


@documented
def quality_index(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Quality index Q: `discrimination_index` less `unreliability`.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `unreliability`.

    Notes
    -----
    Like D, it is not an error of calibration. rms val.prob prints it as Q.

    References
    ----------
    Harrell, "Regression Modeling Strategies", 2nd edition, Springer 2015, section 10.9.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 0, 1], [0.2, 0.4, 0.9, 0.4, 0.1]
    >>> discrimination = estimators.discrimination_index(y_true, y_prob)
    >>> quality = estimators.quality_index(y_true, y_prob)
    >>> bool(abs(discrimination - quality - estimators.unreliability(y_true, y_prob)) < 1e-9)
    True
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    return evaluate(_DISCRIMINATION, cases) - evaluate(_UNRELIABILITY, cases)
