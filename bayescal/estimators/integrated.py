"""Indices of a smooth calibration curve: ICI, E50, E90, Emax, ECI, and intervals of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats, RandomState, blocks, random_generator
from bayescal.core.errors import InputError, SeparationError, as_draws, as_level, check_choice
from bayescal.core.optimise import binomial_mle
from bayescal.core.text import documented
from bayescal.data.rows import levels_of
from bayescal.data.weights import SAME, quantile
from bayescal.estimators import registry
from bayescal.estimators.registry import Cases, Core, OutcomesLike, Statistic
from bayescal.estimators.smoothers import BASES, as_smoothing, full_rank, no_curve, smoother_of

# Distances of shape (replicates, rows) and cases of each row, (rows,), to one value each.
INDICES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "e50": lambda gap, trials: quantile(gap, trials, 0.5),
    "e90": lambda gap, trials: quantile(gap, trials, 0.9),
    "eci": lambda gap, trials: 100 * (gap**2 @ trials) / trials.sum(),
    "emax": lambda gap, trials: np.asarray(gap.max(axis=1)),
    "ici": lambda gap, trials: gap @ trials / trials.sum(),
}


def gaps(
    scores: Floats, weights: Floats | None, **smoothing: Any
) -> tuple[Callable[[NDArray[Any]], Floats], Floats]:
    """Distances between the curve of each replicate and the distinct scores, and their cases.

    No distance counts as more than 1.
    """
    table = levels_of(scores, weights)
    curve = smoother_of(**smoothing)(table, table.score)

    def gap(outcomes: NDArray[Any]) -> Floats:
        distance = np.abs(curve(table.hits(outcomes)) - table.score)
        return np.asarray(np.minimum(distance, 1))

    return gap, table.trials


def index_core(
    scores: Floats, weights: Floats | None, *, index: str, **smoothing: Any
) -> Statistic:
    """Core of an index of every replicate's curve."""
    gap, trials = gaps(scores, weights, **smoothing)
    return lambda outcomes: INDICES[index](gap(outcomes), trials)


def flat(scores: Floats, weights: Floats | None) -> Statistic:
    """Mean square of mean outcome - score, NaN where it is 0."""
    table = levels_of(scores, weights)
    mean = np.average(table.score, weights=table.trials)
    variance = np.average((table.score - mean) ** 2, weights=table.trials)

    def square(outcomes: NDArray[Any]) -> Floats:
        rate = table.hits(outcomes).sum(axis=1) / table.total
        total = variance + (rate - mean) ** 2
        return np.where(total > SAME**2, total, np.nan)

    return square


def _eci_core(scores: Floats, weights: Floats | None, *, form: str, **smoothing: Any) -> Statistic:
    """Core of `eci`."""
    square = index_core(scores, weights, index="eci", **smoothing)
    if form == "mean-square":
        return square
    level = flat(scores, weights)
    return lambda outcomes: square(outcomes) / 100 / level(outcomes)


LOESS_DEAR = "Nine local fits, each of three quarters of the cases."


def _index(
    title: str, estimates: str
) -> Callable[[Callable[[], None]], Callable[..., float | Floats]]:
    """Enter the index that has the name and the docstring of what this decorates."""

    def enter(named: Callable[[], None]) -> Callable[..., float | Floats]:
        core = partial(index_core, index=named.__name__)

        def index(
            y_true: OutcomesLike,
            y_prob: ArrayLike | None = None,
            *,
            smoother: str = "loess",
            span: float | None = None,
            n_knots: int = 5,
            clip: bool = False,
            sample_weight: ArrayLike | None = None,
        ) -> float | Floats:
            smoothing = as_smoothing(smoother, span, n_knots, clip)
            return _evaluate(core, registry.read_ranked(y_true, y_prob, sample_weight), smoothing)

        words = {"estimates": estimates, "paper": "Austin & Steyerberg 2019", "dear": LOESS_DEAR}
        return registry.estimator(title, prepare=core, **words)(registry.called(named, index))

    return enter


@_index(
    "Integrated calibration index (Eavg)",
    "TCE of order 1, the mean distance of the calibration curve from the score",
)
def ici() -> None:
    """Integrated calibration index: the mean of |smoothed outcome - score| over the cases.

    Harrell calls it Eavg.

    Parameters
    ----------
    %(replicated_cases)s
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


@_index("E50", "the median distance of the calibration curve from the score")
def e50() -> None:
    """Median of |smoothed outcome - score| over the cases.

    Parameters
    ----------
    %(replicated_cases)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

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


@_index("E90", "the 90 % quantile of the distance of the calibration curve from the score")
def e90() -> None:
    """The 90 % quantile of |smoothed outcome - score| over the cases, linear between them.

    Parameters
    ----------
    %(replicated_cases)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

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


@_index("Emax", "the greatest distance of the calibration curve from an observed score")
def emax() -> None:
    """Maximum of |smoothed outcome - score| over the observed scores.

    Parameters
    ----------
    %(replicated_cases)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

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


@registry.estimator(
    "Estimated calibration index",
    prepare=_eci_core,
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
    %(replicated_cases)s
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
    cases = registry.read_ranked(y_true, y_prob, sample_weight)
    value = _evaluate(partial(index_core, index="eci"), cases, smoothing)
    if form == "mean-square":
        return value
    level = registry.evaluate(flat, cases)
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
    """What the functions of these names give, by one curve, which is fitted once."""
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False, single=True).ranked()
    gap, trials = gaps(cases.scores, cases.weights, **as_smoothing(smoother, None, 5))
    errors = gap(cases.outcomes)
    if np.isnan(errors).any():
        raise no_curve(smoother)
    return {name: float(INDICES[name](errors, trials)[0]) for name in names}


def _evaluate(core: Core, cases: Cases, smoothing: dict[str, Any]) -> float | Floats:
    """An index of every replicate's curve; refuse the one curve that does not exist."""
    values = registry.evaluate(core, cases, **smoothing)
    if isinstance(values, float) and np.isnan(values):
        raise no_curve(smoothing["smoother"])
    return values


@documented
def ici_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    index: str = "ici",
    smoother: str = "rcs",
    n_knots: int = 5,
    ci_prob: float = 0.95,
    draws: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> tuple[float, float]:
    """Simulated interval of an index of the ICI family, for the smoothers that are regressions.

    Coefficients are drawn from the normal distribution around their estimates with the inverse
    information as covariance. The interval has the equal-tailed quantiles of the index of the drawn
    curves.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    index : {"ici", "e50", "e90", "emax", "eci"}
        Which index; "eci" in its mean-square form.
    smoother : {"rcs", "logistic", "beta"}
        As in `ici`.
    n_knots : int
        Knots of "rcs", from 3 to 7.
    ci_prob : float
        Nominal coverage.
    draws : int
        Number of curves, at least 100; rounded up to a multiple of four.
    %(weights_by_kish)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        As `ici`; also for a smoother that is not a regression.

    Notes
    -----
    This is pmcalibration's `ci = "sim"`. Drawn curves differ from the scores even where the true
    curve does not, so that the interval never contains 0. Measured coverage of nominal 95 %
    intervals of the ICI with "rcs": 0 at perfect calibration; at a true ICI of 0.034, .77, .83
    and .91 for 100, 500 and 1000 cases. `bayescal.fit` gives a posterior instead.

    References
    ----------
    Rhodes, "pmcalibration: Calibration Curves for Clinical Prediction Models", R package.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> lower, upper = estimators.ici_interval(y_true, y_prob, random_state=1)
    >>> round(lower, 2), round(upper, 2)
    (0.04, 0.09)
    """
    distance = INDICES[check_choice(index, INDICES, "index")]
    check_choice(smoother, BASES, "smoother")
    as_smoothing(smoother, None, n_knots)
    level, number = as_level(ci_prob), as_draws(draws)
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False)
    table = levels_of(cases.scores, cases.weights)
    basis = full_rank(BASES[smoother](table, n_knots), table)(table.score)
    hits = table.hits(cases.outcomes)[0]
    try:
        centre, covariance = binomial_mle(basis.T, table.trials, hits)
        spread = np.linalg.cholesky((covariance + covariance.T) / 2).T
    except (SeparationError, np.linalg.LinAlgError):  # outcomes are parted, or nearly so
        raise no_curve(smoother) from None
    rng = random_generator(random_state)
    drawn = centre + rng.standard_normal((number, centre.size)) @ spread
    values = np.empty(number)
    for part in blocks(number, table.score.size, registry.DOOR_BLOCK):
        values[part] = distance(np.abs(expit(drawn[part] @ basis) - table.score), table.trials)
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)
