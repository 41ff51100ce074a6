"""The integrated calibration index and its relatives: how far a smoothed curve is from the scores.

Outcomes enter through the curve alone. What the smoother needs of the scores is worked out once
for all replicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import check_choice
from bayescal.estimators.door import Cases, Core, OutcomesLike, evaluate, read, read_ranked
from bayescal.estimators.integrated._cores import (
    CORES,
    OF_WEIGHTINGS,
    eci_core,
    eci_of_weightings,
    flat,
    gaps,
)
from bayescal.estimators.integrated._summaries import INDICES
from bayescal.estimators.integrated.smoothers import as_smoothing, no_curve
from bayescal.estimators.registry import estimator

__all__ = ["e50", "e90", "eci", "emax", "ici", "indices_of"]

AUSTIN = "Austin & Steyerberg 2019"


LOESS_DEAR = "Nine local fits, each of three walks over three quarters of the cases."


@estimator(
    "Integrated calibration index (Eavg)",
    prepare=CORES["ici"],
    weighted=OF_WEIGHTINGS["ici"],
    paper=AUSTIN,
    estimates="TCE of order 1, the mean distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def ici(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Integrated calibration index: the mean of |smoothed outcome - score| over the cases.

    Harrell calls it Eavg.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother : {"loess", "lowess", "rcs", "logistic", "beta", "isotonic"}
        How outcomes are smoothed; see `flexible_curve`.
    span : float, optional
        Share of the cases in a local fit of "loess" (3/4) or "lowess" (2/3).
    n_knots : int
        Knots of "rcs", from 3 to 7.
    clip : bool
        Cut the curve off at 0 and 1. By default it is R's, which is not cut off.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions; NaN for replicates in which
        the curve does not exist.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Notes
    -----
    No distance counts as more than 1. The default "loess" is R's, whose local fits may leave
    [0, 1]: with few cases, or few at the ends, this makes all five indices larger, the maximum
    most. `clip=True` cuts the curve off at 0 and 1, and then R's numbers differ.

    With "loess" it is what R prints with `loess` as it comes, to rounding; with "lowess", Eavg of
    rms `val.prob`; with "rcs" and five knots, Eavg of pmcalibration. Each smoother gives another
    number: name it when you report one. All are biased upwards in small samples.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.ici(y_true, y_prob), 3)
    0.063
    >>> round(estimators.ici(y_true, y_prob, smoother="rcs"), 3)
    0.065
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["ici"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "E50",
    prepare=CORES["e50"],
    weighted=OF_WEIGHTINGS["e50"],
    paper=AUSTIN,
    estimates="the median distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def e50(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Median of |smoothed outcome - score| over the cases.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.e50(y_true, y_prob), 3)
    0.059
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["e50"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "E90",
    prepare=CORES["e90"],
    weighted=OF_WEIGHTINGS["e90"],
    paper=AUSTIN,
    estimates="the 90 % quantile of the distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def e90(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """The 90 % quantile of |smoothed outcome - score| over the cases, linear between them.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.e90(y_true, y_prob), 3)
    0.131
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["e90"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "Emax",
    prepare=CORES["emax"],
    weighted=OF_WEIGHTINGS["emax"],
    paper=AUSTIN,
    estimates="the greatest distance of the calibration curve from an observed score",
    dear=LOESS_DEAR,
)
def emax(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Maximum of |smoothed outcome - score| over the observed scores.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Notes
    -----
    CalibrationCurves takes its Emax from the logistic curve on a grid over [0, 1] while its Eavg
    is that of the loess curve. Here all five come from one curve, at the observed scores.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.emax(y_true, y_prob), 3)
    0.2
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["emax"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "Estimated calibration index",
    prepare=eci_core,
    weighted=eci_of_weightings,
    paper="Van Hoorde et al. 2015",
    estimates="100 times the square of TCE of order 2",
    dear=LOESS_DEAR,
)
def eci(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    form: str = "mean-square",
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Estimated calibration index: the mean square distance of the curve from the scores.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    form : {"mean-square", "relative"}
        "mean-square": 100 mean (smoothed - score)^2. "relative": mean (smoothed - score)^2 /
        mean (mean outcome - score)^2, which is 1 for a curve that is flat.
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`; NaN also for replicates in which the relative form is 0 / 0.

    Raises
    ------
    InputError
        As `flexible_curve`; also if every score equals the mean outcome, for the relative form.

    Notes
    -----
    Three indices have this name. That of Van Hoorde et al. is scaled for any number of classes;
    for two it is the mean-square form, which pmcalibration prints too. The relative form compares
    with a model that gives every case the mean outcome.

    References
    ----------
    Van Hoorde, Van Huffel, Timmerman, Bourne & Van Calster, "A spline-based tool to assess and
    visualize the calibration of multiclass risk predictions", Journal of Biomedical Informatics
    54, 2015.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.eci(y_true, y_prob), 3)
    0.603
    >>> round(estimators.eci(y_true, y_prob, form="relative"), 3)
    0.149
    """
    check_choice(form, ["mean-square", "relative"], "form")
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    cases = read_ranked(y_true, y_prob, sample_weight)
    value = _evaluate(CORES["eci"], cases, smoothing)
    if form == "mean-square":
        return value
    level = evaluate(flat, cases)
    if isinstance(level, float) and np.isnan(level):
        raise InputError(
            "The relative form divides by the mean square of mean outcome - score, but every "
            "score in y_prob equals the mean outcome. Pass form='mean-square'."
        )
    return value / 100 / level


def indices_of(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    names: Sequence[str],
    smoother: str = "loess",
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Several indices of one smoothed curve, which is fitted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or CalibrationData
    y_prob : array-like of shape (n_samples,)
    names : sequence of {"ici", "e50", "e90", "emax", "eci"}
    smoother : str
        As `flexible_curve` takes it, with the span and the knots that it has by default.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    dict of str to float
        What the function of each name gives.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> from bayescal.estimators.integrated.indices import indices_of
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> indices_of(y_true, y_prob, names=["ici"])["ici"] == estimators.ici(y_true, y_prob)
    True
    """
    smoothing = as_smoothing(smoother, None, 5)
    cases = read(y_true, y_prob, sample_weight, replicates=False, single=True).ranked()
    gap, trials = gaps(cases.scores, cases.weights, **smoothing)
    errors = gap(cases.outcomes)
    if np.isnan(errors).any():
        raise no_curve(smoother)
    return {name: float(INDICES[name](errors, trials)[0]) for name in names}


def _evaluate(core: Core, cases: Cases, smoothing: dict[str, Any]) -> float | Floats:
    """An index of every replicate's curve; refuse the one curve that does not exist."""
    values = evaluate(core, cases, **smoothing)
    if isinstance(values, float) and np.isnan(values):
        raise no_curve(smoothing["smoother"])
    return values
