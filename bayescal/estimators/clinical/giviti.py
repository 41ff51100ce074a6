"""The GiViTI test: polynomial logistic recalibration of a degree that the data choose."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, erfc

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.logistic import fit_logistic, log_likelihood
from bayescal.data.validate import as_count, as_level, check_choice
from bayescal.estimators.clinical._recalibration import Recalibration
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read

__all__ = ["PolynomialTested", "giviti_test"]

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

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if an option is out of
        range; if there are too few distinct scores for a polynomial of the first degree.

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
            as_they_are = model.log_likelihood(np.array([[0.0, 1.0]]), model.totals(outcomes))
            return np.maximum(2 * (value - as_they_are), 0)

        return statistic

    ratio = evaluate(core, read(y_true, y_prob, sample_weight))
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

    Attributes
    ----------
    base : {1, 2}
        Degrees of freedom before any power enters.
    tail, cut : float
        Probability that a power enters, and the likelihood ratio that it needs.
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
