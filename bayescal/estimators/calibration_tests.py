"""Tests of calibration and indices of the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, chdtri, erfc, ndtr, xlogy

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count, as_level, check_choice
from bayescal.core.optimise import fit_logistic, log_likelihood
from bayescal.core.text import documented
from bayescal.estimators import registry
from bayescal.estimators.clinical import Recalibration, as_cases
from bayescal.estimators.registry import Core, OutcomesLike, Statistic, Tested

# Log likelihood of a model of the outcomes, for every replicate, from its totals.
LogLikelihood = Callable[[Recalibration, Floats], Floats]


def _mean(model: Recalibration, totals: Floats) -> Floats:
    """Log likelihood of the mean outcome for everybody."""
    events, number = totals[:, 0], model.cases.sum()
    rate = events / number
    return np.asarray(xlogy(events, rate) + xlogy(number - events, 1 - rate))


def _as_they_are(model: Recalibration, totals: Floats) -> Floats:
    return model.log_likelihood(np.array([[0.0, 1.0]]), totals)


def _shifted(model: Recalibration, totals: Floats) -> Floats:
    return model.log_likelihood(model.fit(totals, free=1)[0], totals)


def _refitted(model: Recalibration, totals: Floats) -> Floats:
    return model.log_likelihood(model.fit(totals)[0], totals)


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

    %(refuses)s
        Also if "joint" or "slope" meets one distinct score.

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
    statistic = registry.evaluate(core, registry.read(y_true, y_prob, sample_weight, single=True))
    df = 2.0 if kind == "joint" else 1.0
    return registry.tested(statistic, chdtrc(df, statistic), df)


@registry.estimator(
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

    %(refuses)s
        Also if there is one distinct score only.

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
    return registry.evaluate(
        _UNRELIABILITY, registry.read(y_true, y_prob, sample_weight, single=True)
    )


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
    return registry.evaluate(
        _DISCRIMINATION, registry.read(y_true, y_prob, sample_weight, single=True)
    )


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

    %(returns_number)s

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
    cases = registry.read(y_true, y_prob, sample_weight, single=True)
    return registry.evaluate(_DISCRIMINATION, cases) - registry.evaluate(_UNRELIABILITY, cases)


START = {"external": 1, "internal": 2}
HIGHEST = 4
NODES = 32
GIVITI_SAME = 1e-8


class PolynomialTested(NamedTuple):
    """Statistic and p-value of a test, and the degree of the polynomial that it chose.

    Attributes
    ----------
    statistic, pvalue : float or ndarray
        As in other tests.
    df : float
        NaN: the statistic is not chi-squared, since the degree was chosen on the same data.
    degree : int or ndarray
    """

    statistic: Any
    pvalue: Any
    df: float
    degree: Any


@documented
def giviti_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    devel: str = "external",
    threshold: float = 0.95,
    max_degree: int = 4,
    sample_weight: ArrayLike | None = None,
) -> PolynomialTested:
    """GiViTI calibration test (Nattino, Finazzi & Bertolini 2014, 2016).

    A polynomial in logit score is fitted to the log-odds of the outcomes. Its degree goes up from
    the first by one while the likelihood-ratio test of the next power is significant. The statistic
    is twice its log likelihood less that of the scores as they are.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    devel : {"external", "internal"}
        "external": the model was developed on other data. The first degree is 1. "internal": it is
        a logistic regression fitted to these very data, whose calibration intercept and slope are 0
        and 1 by construction. The first degree is 2.
    threshold : float in (0, 1)
        The next power enters if the chi-squared distribution function of its likelihood ratio
        reaches this.
    max_degree : int
        Highest degree, from the first to 4. It is lower where there are too few distinct scores.
    %(weights_by_kish)s

    Returns
    -------
    PolynomialTested
        A named tuple (statistic, pvalue, df, degree); df is NaN.

    %(refuses)s
        Also if there are too few distinct scores for a polynomial of the first degree.

    Notes
    -----
    For a calibrated model and degree m the statistic is distributed as the sum of a
    chi-squared variable (of 2 degrees of freedom for "external", 1 for "internal") and, for each
    power that entered, one of 1 degree of freedom known to exceed the threshold's quantile. The
    p-value is the tail of this distribution, conditional on m, as the R package givitiR has it.
    Here the tail is integrated itself, so that small p-values keep their digits.

    References
    ----------
    Nattino, Finazzi & Bertolini, "A new calibration test and a reappraisal of the calibration belt
    for the assessment of prediction models based on dichotomous outcomes", Statistics in Medicine
    33, 2014.
    Nattino, Finazzi & Bertolini, "A new test and graphical tool to assess the goodness of fit of
    logistic regression models", Statistics in Medicine 35, 2016.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> test = estimators.giviti_test(y_true, y_prob)
    >>> bool(test.pvalue < 0.001)
    True
    """
    start = START[check_choice(devel, START, "devel")]
    level = as_level(threshold, "threshold")
    highest = as_count(max_degree, "max_degree", start, HIGHEST)
    cut = float(chdtri(1, 1 - level))
    degrees: list[NDArray[np.intp]] = []

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        model = Recalibration.of(scores, weights)
        basis = _polynomials(model.log_odds, model.cases, highest)
        if len(basis) <= start:
            raise InputError(
                f"y_prob has {len(basis)} distinct scores, too few for a polynomial of degree "
                f"{start}, with which the test begins."
            )

        def statistic(outcomes: NDArray[Any]) -> Floats:
            value, degree = _select(basis, model.cases, outcomes, start, cut)
            degrees.append(degree)
            stated = _as_they_are(model, model.totals(outcomes))
            return np.maximum(2 * (value - stated), 0)

        return statistic

    ratio = registry.evaluate(core, registry.read(y_true, y_prob, sample_weight))
    degree = np.concatenate([np.empty(0, np.intp), *degrees])
    law = _Law(3 - start, 1 - level, cut)
    entered = zip(np.ravel(ratio), degree - start, strict=True)
    pvalue = np.array([law.exceeds(value, powers) for value, powers in entered])
    if isinstance(ratio, float):
        return PolynomialTested(ratio, float(pvalue[0]), float("nan"), int(degree[0]))
    shape = ratio.shape
    return PolynomialTested(ratio, pvalue.reshape(shape), float("nan"), degree.reshape(shape))


def _select(
    basis: Floats, cases: Floats, outcomes: NDArray[Any], start: int, cut: float
) -> tuple[Floats, NDArray[np.intp]]:
    """Log likelihood and degree at the end of the forward selection, for every replicate."""
    totals = (outcomes * cases) @ basis.T
    degree = np.full(len(totals), start)
    active = np.arange(len(totals))

    def fit(k: int) -> Floats:
        own = totals[active, : k + 1]
        coef, _ = fit_logistic(basis[: k + 1], cases, own)
        return log_likelihood(coef, basis[: k + 1], cases, own)

    value = fit(start)
    for k in range(start + 1, len(basis)):
        if not active.size:
            break
        higher = fit(k)
        enters = 2 * (higher - value[active]) >= cut
        active = active[enters]
        value[active], degree[active] = higher[enters], k
    return value, degree


def _polynomials(values: Floats, cases: Floats, degree: int) -> Floats:
    """Polynomials of degree 0 up, of mean square 1 and uncorrelated over the cases.

    Of shape (degrees, n_samples). A degree that adds nothing ends them: there are no more than
    distinct values.
    """
    share = cases / cases.sum()
    basis = np.ones((degree + 1, values.size))
    for k in range(1, degree + 1):
        power = values * basis[k - 1]
        length = np.sqrt(share @ power**2)
        for _ in range(2):
            power -= (basis[:k] @ (share * power)) @ basis[:k]
        left = np.sqrt(share @ power**2)
        if left <= GIVITI_SAME * length:
            return basis[:k]
        basis[k] = power / left
    return basis


class _Law(NamedTuple):
    """Law of the statistic for a calibrated model, given how many powers entered.

    `base` degrees of freedom before any enters; one does with probability `tail`, by a ratio of
    `cut`.
    """

    base: int
    tail: float
    cut: float

    def exceeds(self, statistic: float, powers: int) -> float:
        """Probability of a larger statistic."""
        excess = max(statistic - powers * self.cut, 0.0)
        return float(self._beyond(np.sqrt(np.array(excess)), powers))

    def _beyond(self, root: Floats, powers: int) -> Floats:
        """Probability of more than powers * cut + root^2.

        The last power to enter has a ratio of cut + root^2 sin^2(angle), or more than that at a
        right angle. Over the angle the integrand is smooth.
        """
        if powers == 0:
            tail = np.exp(-(root**2) / 2) if self.base == 2 else erfc(root / np.sqrt(2))
            return np.asarray(tail)
        angle, weight = _quadrature()
        root = root[..., None]
        last = self.cut + (root * np.sin(angle)) ** 2
        density = root**2 * np.sin(2 * angle) * np.exp(-last / 2) / np.sqrt(2 * np.pi * last)
        within = (density * self._beyond(root * np.cos(angle), powers - 1)) @ weight
        alone: Floats = erfc(np.sqrt((self.cut + root[..., 0] ** 2) / 2))
        return (within + alone) / self.tail


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss-Legendre angles and weights from 0 to a right angle."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return np.pi / 4 * (nodes + 1), np.pi / 4 * weights


@documented
def spiegelhalter_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Tested:
    """Spiegelhalter's z test of calibration, two-sided.

    z = sum (y - s) (1 - 2 s) / sqrt(sum (1 - 2 s)^2 s (1 - s)), over outcomes y and scores s: the
    Brier score less its mean under calibration, over its standard deviation. Above 0 the scores
    are too extreme, below 0 too timid.

    Parameters
    ----------
    %(replicated_cases)s
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is NaN.

    %(refuses)s
        Also if every score is 0, 0.5 or 1, where the Brier score of a calibrated model is no matter
        of chance.

    Notes
    -----
    Errors that leave the Brier score as expected go unnoticed, such as scores of 0.5 throughout.

    References
    ----------
    Spiegelhalter, "Probabilistic prediction in patient management and clinical trials", Statistics
    in Medicine 5, 1986.

    Examples
    --------
    >>> from bayescal import estimators
    >>> test = estimators.spiegelhalter_test([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])
    >>> round(test.statistic, 3), round(test.pvalue, 3)
    (-1.005, 0.315)
    """
    z = registry.evaluate(_core, registry.read(y_true, y_prob, sample_weight))
    return registry.tested(z, 2 * ndtr(-np.abs(z)))


def _core(scores: Floats, weights: Floats | None) -> Statistic:
    """The statistic z."""
    cases = as_cases(weights, scores.size)
    slope = 1 - 2 * scores
    variance = cases @ (slope**2 * scores * (1 - scores))
    if not variance > 0:
        raise InputError(
            "y_prob is 0, 0.5 or 1 for every case, where the Brier score of a calibrated model "
            "is no matter of chance and the test is not defined."
        )
    slope *= cases / np.sqrt(variance)
    expected = slope @ scores
    return lambda outcomes: outcomes @ slope - expected
