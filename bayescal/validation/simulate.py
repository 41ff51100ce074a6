"""Data with a known true calibration error: those of Dong et al., and clinical curves.

The truths that come with the package, by name, and `clinical`, which builds one for a clinical
prediction model. A truth, and its known values, are defined in `truths`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats, RandomState, random_generator
from bayescal.core.errors import InputError, as_count, as_level, as_number, check_choice
from bayescal.core.optimise import zero_of
from bayescal.core.text import shortened
from bayescal.data.cases import as_scores
from bayescal.validation.truths import (
    MOST_SIMULATED,
    BetaScores,
    LogitNormalScores,
    LogOdds,
    Truth,
    population,
)

__all__ = [
    "BetaScores",
    "LogitNormalScores",
    "ScoresOfSetting",
    "Truth",
    "clinical",
    "ead",
    "friedman_1",
    "names",
    "sample",
    "scores",
    "truth",
]


def friedman_1(n: int, random_state: RandomState = None) -> tuple[Floats, Floats, Floats, Floats]:
    """Friedman's first regression problem with a variance that differs from case to case.

    y = 10 sin(pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + e, with ten features uniform on
    [0, 1], five of them without influence on the mean, and e ~ N(0, (1/2 + x_6)^2).

    Parameters
    ----------
    n : int
        Number of cases.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness; a Generator is advanced.

    Returns
    -------
    X : ndarray of shape (n, 10)
        Features.
    y : ndarray of shape (n,)
        Outcomes.
    mean, variance : ndarray of shape (n,)
        The true mean and variance of the outcome of each case, given its features.

    Raises
    ------
    InputError
        If `n` is not a positive integer.

    Notes
    -----
    Gruber & Buettner write N(0, 1/2 + x_6), which could be a variance; in their code 1/2 + x_6 is
    the standard deviation, as here.

    References
    ----------
    Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics 19, 1991.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, appendix G.5.2.

    Examples
    --------
    >>> from bayescal import scores, simulate
    >>> _, y, mean, variance = simulate.friedman_1(10_000, random_state=1)
    >>> round(float(((y - mean) ** 2 / variance).mean()), 2)
    1.02
    """
    size, rng = as_count(n, "n", 1, MOST_SIMULATED), random_generator(random_state)
    x = rng.random((size, 10))
    mean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    mean += 10 * x[:, 3] + 5 * x[:, 4]
    spread = 0.5 + x[:, 5]
    return x, rng.normal(mean, spread), mean, spread**2


# A number, or its mean and standard deviation.
Known = float | tuple[float, float]

LEAST_PREVALENCE = 1e-5
LEAST_C, MOST_C = 0.501, 0.995
RISKS_NODES = 400
RISKS_STEPS = 40
RISKS_CONVERGED = 1e-9
RISKS_LONGEST = 1.0


@dataclass(frozen=True)
class ScoresOfSetting:
    """Normal log-odds with a given share of events and c-statistic. Made by `scores`.

    Attributes
    ----------
    prevalence, c_statistic : float or (float, float)
        As they were given: numbers, or means and standard deviations.
    """

    prevalence: Known
    c_statistic: Known

    @cached_property
    def law(self) -> LogitNormalScores:
        """The law at the means of prevalence and c-statistic."""
        known = np.array([[_mean(self.prevalence)], [_mean(self.c_statistic)]])
        mean, sd = moments_of(*known)
        return LogitNormalScores(float(mean[0]), float(sd[0]))

    def draw(self, n: int, random_state: RandomState = None) -> Floats:
        """Independent scores of that law."""
        return self.law.draw(n, random_state)

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Scores s with P(score <= s) = lower, and 1 - s, given upper = 1 - lower."""
        return self.law.quantiles(lower, upper)

    @property
    def is_uncertain(self) -> bool:
        """Whether prevalence or c-statistic has a standard deviation."""
        return isinstance(self.prevalence, tuple) or isinstance(self.c_statistic, tuple)

    def settings(self, size: int, random_state: RandomState = None) -> tuple[Floats, Floats]:
        """Means and standard deviations of log-odds in several settings, each of shape (size,).

        Prevalences and c-statistics are drawn from Beta laws of their means and standard
        deviations, independently.
        """
        if not self.is_uncertain:
            return np.full(size, self.law.mean), np.full(size, self.law.sd)
        rng = random_generator(random_state)
        drawn = _drawn(self.prevalence, size, rng), _drawn(self.c_statistic, size, rng)
        return moments_of(
            np.clip(drawn[0], LEAST_PREVALENCE, 1 - LEAST_PREVALENCE),
            np.clip(drawn[1], LEAST_C, MOST_C),
        )


def scores(*, prevalence: Any, c_statistic: Any) -> ScoresOfSetting:
    """Scores of a calibrated model of which only prevalence and c-statistic are known.

    Their log-odds are normal, with the mean and the standard deviation at which the share of
    events and the c-statistic are as stated.

    Parameters
    ----------
    prevalence : float, or (float, float)
        Share of events, from 1e-5 to 1 - 1e-5; or its mean and standard deviation, where it is
        not known exactly.
    c_statistic : float, or (float, float)
        From 0.501 to 0.995; or its mean and standard deviation.

    Returns
    -------
    ScoresOfSetting
        A law of scores: for `bayescal.plan`, and for `simulate.Truth`. In `bayescal.plan`,
        prevalence and c-statistic are those of the patients of the study, whatever the
        miscalibration: the scores are then such that the events are that frequent.

    Raises
    ------
    InputError
        If a number is out of range, or no law has such standard deviations.

    Examples
    --------
    >>> from bayescal import simulate
    >>> law = simulate.scores(prevalence=0.1, c_statistic=0.75)
    >>> round(law.law.mean, 3), round(law.law.sd, 3)
    (-2.565, 1.001)
    >>> draws = law.draw(1_000_000, random_state=1)
    >>> round(float(draws.mean()), 2)
    0.1
    """
    made = ScoresOfSetting(
        _as_known(prevalence, "prevalence", LEAST_PREVALENCE, 1 - LEAST_PREVALENCE),
        _as_known(c_statistic, "c_statistic", LEAST_C, MOST_C),
    )
    assert made.law.sd > 0
    return made


def moments_of(prevalence: Floats, c_statistic: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the log-odds of calibrated scores, by Newton steps.

    Shapes: `prevalence`, `c_statistic`, `mean`, `sd` (n,).
    """
    apart = 2 * ndtri(c_statistic) ** 2  # of normal log-odds of events and of non-events
    spread = np.sqrt(apart + prevalence * (1 - prevalence) * apart**2)
    point = np.stack([logit(prevalence) * np.sqrt(1 + 0.35 * spread**2), np.log(spread)])
    aim = np.stack([logit(prevalence), logit(c_statistic)])
    small = 1e-5
    for _ in range(RISKS_STEPS):
        value = _of_law(point)
        moved = [_of_law(point + small * axis) - value for axis in np.eye(2)[:, :, None]]
        jacobian = np.moveaxis(np.stack(moved, axis=1) / small, -1, 0)
        step = np.linalg.solve(jacobian, (aim - value).T[..., None])[..., 0].T
        point = point + np.clip(step, -RISKS_LONGEST, RISKS_LONGEST)
        if np.abs(step).max() < RISKS_CONVERGED:
            return point[0], np.exp(point[1])
    raise InputError(
        "prevalence and c_statistic have no calibrated scores with normal log-odds: "
        "take a c_statistic further from 1, or a prevalence further from 0 and 1."
    )


def _of_law(point: Floats) -> Floats:
    """Log-odds of prevalence and c-statistic at means and log standard deviations, (2, n)."""
    t = (np.arange(RISKS_NODES) + 0.5) / RISKS_NODES
    z = ndtri(t**2 * (3 - 2 * t))
    weight = t * (1 - t) / (t * (1 - t)).sum()
    risk = expit(point[0][:, None] + np.exp(point[1])[:, None] * z)
    events, others = weight * risk, weight * (1 - risk)
    prevalence = events.sum(axis=1)
    below = np.cumsum(others, axis=1) - others / 2
    c = np.vecdot(events, below) / (prevalence * (1 - prevalence))
    return np.stack([logit(prevalence), logit(c)])


def _as_known(value: Any, name: str, least: float, most: float) -> Known:
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise InputError(
                f"{name} must be a number, or a pair of its mean and standard deviation, got "
                f"{shortened(repr(value))}."
            )
        mean, sd = as_number(value[0], name), as_number(value[1], name)
        _check_range(mean, name, least, most)
        most_sd = (mean * (1 - mean)) ** 0.5
        if not 0 < sd < most_sd:
            raise InputError(
                f"{name} has a mean of {mean:g}, and no Beta law of that mean has a standard "
                f"deviation of {sd:g}. It must be positive, and below {most_sd:.3g}."
            )
        return mean, sd
    number = as_number(value, name)
    _check_range(number, name, least, most)
    return number


def _check_range(number: float, name: str, least: float, most: float) -> None:
    if not least <= number <= most:
        why = (
            "a c-statistic of 0.5 says that scores carry nothing, and one of 1 that they are "
            "never wrong"
            if name == "c_statistic"
            else "without events, or without non-events, no calibration can be measured"
        )
        raise InputError(f"{name} must be from {least:g} to {most:g}, got {number:g}: {why}.")


def _mean(known: Known) -> float:
    return known[0] if isinstance(known, tuple) else known


def _drawn(known: Known, size: int, rng: np.random.Generator) -> Floats:
    if not isinstance(known, tuple):
        return np.full(size, known)
    mean, sd = known
    strength = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size)


def __dir__() -> list[str]:
    """Public names only."""
    return __all__


_SPREAD = 1.2
LEAST_MEAN = 1e-6
MOST_SPREAD = 100.0
_PREVALENCES = {"low": 0.05, "middle": 0.3, "high": 0.7}

# Shape of a clinical curve: shift, slope and asymmetry about the mean log-odds of the scores.
_SHAPES = {
    "calibrated": (0.0, 1.0, 0.0),
    "overconfident": (0.0, 0.6, 0.0),
    "underconfident": (0.0, 1.5, 0.0),
    "shifted": (0.5, 1.0, 0.0),
    "asymmetric": (0.0, 1.0, 1.0),
}


def truth(name: str) -> Truth:
    """A truth by its name.

    `D1` to `D5` are the five of Dong et al. (Table 2): generalised linear models fitted by Roelofs
    et al. to image classifiers. `D1-code` has the score law that their released code (and the D1
    row of their Table 4) used. `calibrated` is exactly calibrated at a prevalence of one half.
    `clinical-<prevalence>-<shape>` are curves as seen when clinical prediction models are
    validated; see `clinical`.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Truth
        The same object at every call.

    Raises
    ------
    InputError
        If there is no such truth.

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, Algorithm 3 and Table 2.
    Roelofs et al., "Mitigating Bias in Calibration Error Estimation", AISTATS 2022, section 6.

    Examples
    --------
    >>> from bayescal import simulate
    >>> round(simulate.truth("D3").tce(), 4)
    0.041
    """
    return _build(check_choice(name, _BUILDERS, "name"))


def names() -> tuple[str, ...]:
    """Names of the truths that `truth` knows.

    Returns
    -------
    tuple of str
        In the order of the paper, then ours.

    Examples
    --------
    >>> from bayescal import simulate
    >>> simulate.names()[:3]
    ('D1', 'D1-code', 'D2')
    """
    return tuple(_BUILDERS)


def sample(name: str, n: int, random_state: RandomState = None) -> tuple[NDArray[np.int64], Floats]:
    """Outcomes and scores from a truth given by its name.

    Parameters
    ----------
    name : str
        One of `names()`.
    n : int
        Number of observations.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness; a Generator is advanced.

    Returns
    -------
    y_true : ndarray of shape (n,)
        Outcomes, 0 or 1.
    y_prob : ndarray of shape (n,)
        Scores, in the order drawn.

    Raises
    ------
    InputError
        If there is no such truth, or `n` is not a positive integer.

    Examples
    --------
    >>> from bayescal import simulate
    >>> y_true, y_prob = simulate.sample("clinical-low-overconfident", 200, random_state=1)
    >>> y_true.shape, y_prob.shape
    ((200,), (200,))
    """
    return truth(name).sample(n, random_state)


def ead(curve: Callable[[Floats], ArrayLike], truth: Truth | str) -> float:
    """Mean absolute difference of a curve from a true one over even scores, EAD of Dong et al.

    1/1000 sum_{i=0}^{1000} |g(i/1000) - g*(i/1000)|, with g the curve and g* the true one. Unlike a
    calibration error it does not weigh scores by how many cases have them.

    Parameters
    ----------
    curve : callable
        Takes scores, of shape (1001,), and returns probabilities of that shape, as
        `fit_bpm_curve(y_true, y_prob).curve` and `transform` of a recalibrator do.
    truth : Truth or str
        Or its name.

    Returns
    -------
    float
        From 0 to 1.001, since the paper divides 1001 terms by 1000.

    Raises
    ------
    InputError
        If the curve does not give 1001 probabilities, or there is no such truth.

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, equation 51.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> fitted = estimators.fit_bpm_curve(*simulate.sample("D5", 10_000, random_state=1))
    >>> round(simulate.ead(fitted.curve, "D5"), 3)
    0.01
    """
    if not callable(curve):
        raise InputError(f"curve must be a function of scores, got {shortened(repr(curve))}.")
    known = truth if isinstance(truth, Truth) else _build(check_choice(truth, _BUILDERS, "truth"))
    even = np.arange(1001) / 1000
    try:
        values = curve(even)
    except TypeError as error:
        raise InputError(f"curve does not take an array of scores: {error}.") from error
    given = as_scores(values, "curve(scores)")
    if given.size != even.size:
        raise InputError(f"curve(scores) has {given.size} values, of {even.size} scores.")
    return float(np.abs(given - known.curve(even)).sum() / 1000)


def clinical(mean_score: float, shape: str, *, spread: float = _SPREAD) -> Truth:
    """A clinical prediction model at external validation.

    The log-odds of the scores are normal, and with m the score at their mean

        logit g(s) = logit m + shift + alpha log(s/m) - beta log((1-s)/(1-m))

    where alpha = slope exp(asymmetry/2) and beta = slope exp(-asymmetry/2).

    Parameters
    ----------
    mean_score : float
        Mean predicted risk, strictly between 0 and 1.
    shape : {"calibrated", "overconfident", "underconfident", "shifted", "asymmetric"}
        Exact calibration, a slope of 0.6, a slope of 1.5, a shift of 0.5 in log-odds (risks
        predicted too low), or an asymmetry of 1.
    spread : float
        Standard deviation of the log-odds of the scores.

    Returns
    -------
    Truth
        Its description states the curve and the distribution of the scores.

    Raises
    ------
    InputError
        If an argument is out of range, or the shape unknown.

    Examples
    --------
    >>> from bayescal import simulate
    >>> model = simulate.clinical(0.1, "shifted")
    >>> round(model.prevalence(), 3), round(model.tce(), 3)
    (0.146, 0.046)
    """
    mean = as_level(mean_score, "mean_score")
    sd = as_number(spread, "spread")
    if not LEAST_MEAN <= mean <= 1 - LEAST_MEAN:
        raise InputError(
            f"mean_score must be from {LEAST_MEAN:g} to 1 - {LEAST_MEAN:g}, got "
            f"{shortened(repr(mean_score))}."
        )
    check_choice(shape, _SHAPES, "shape")
    if not 0 < sd <= MOST_SPREAD:
        raise InputError(
            f"spread must be a positive number of at most {MOST_SPREAD:g}, got "
            f"{shortened(repr(spread))}."
        )
    return _clinical(f"clinical-{mean:g}-{shape}", mean, shape, sd)


def _clinical(name: str, mean_score: float, shape: str, spread: float = _SPREAD) -> Truth:
    centre = _mean_log_odds(mean_score, spread)
    shift, slope, asymmetry = _SHAPES[shape]
    curve = (
        f"logit g(s): {shape}, shift {shift:g}, slope {slope:g}, asymmetry {asymmetry:g} about m"
    )
    return Truth(
        name,
        f"{curve}; logit s ~ Normal(logit m = {centre:.4g}, {spread:g}), mean {mean_score:g}",
        LogitNormalScores(centre, spread),
        _centred_curve(centre, shift, slope, asymmetry),
    )


def _mean_log_odds(mean_score: float, spread: float) -> float:
    """Mean of normal log-odds at which the mean score is as asked."""

    def excess(mean: float) -> float:
        s, _, weight = population(LogitNormalScores(mean, spread))
        return float(np.sum(weight * s)) - mean_score

    if mean_score == 0.5:
        return 0.0
    # The mean score is pulled towards one half, by less than half the variance in log-odds.
    near = float(logit(mean_score))
    far = near + math.copysign(spread**2 / 2 + 1, near)
    return zero_of(excess, min(near, far), max(near, far), 1e-10)


def _centred_curve(centre: float, shift: float, slope: float, asymmetry: float) -> LogOdds:
    alpha, beta = slope * math.exp(asymmetry / 2), slope * math.exp(-asymmetry / 2)
    log_m, log_rest = -np.logaddexp(0, -centre), -np.logaddexp(0, centre)
    return _BetaCurve(alpha, beta, centre + shift - alpha * log_m + beta * log_rest)


@dataclass(frozen=True)
class _BetaCurve:
    """Curve with logit g = alpha log s - beta log(1 - s) + c."""

    alpha: float
    beta: float
    c: float

    def __call__(self, log_s: Floats, log_q: Floats) -> Floats:
        return self.c + self.alpha * log_s - self.beta * log_q


@dataclass(frozen=True)
class _LogCurve:
    """Curve with log g = intercept + slope log s; the intercept is negative."""

    intercept: float
    slope: float

    def __call__(self, log_s: Floats, log_q: Floats) -> Floats:
        return _log_to_log_odds(self.intercept + self.slope * log_s)


@dataclass(frozen=True)
class _LogComplementCurve:
    """Curve with log(1 - g) = intercept + slope log(1 - s); the intercept is negative."""

    intercept: float
    slope: float

    def __call__(self, log_s: Floats, log_q: Floats) -> Floats:
        return -_log_to_log_odds(self.intercept + self.slope * log_q)


def _log_to_log_odds(log_probability: Floats) -> Floats:
    return log_probability - np.log(-np.expm1(log_probability))


def _table_2(name: str, curve: str, log_odds: LogOdds, a: float, b: float) -> Truth:
    return Truth(name, f"{curve}, s ~ Beta({a:g}, {b:g})", BetaScores(a, b), log_odds)


_D1 = "logit g = -0.88 + 0.49 logit s", _BetaCurve(0.49, 0.49, -0.88)
_BUILDERS: dict[str, Callable[[str], Truth]] = {
    "D1": lambda name: _table_2(name, *_D1, 2.77, 0.04),
    "D1-code": lambda name: _table_2(name, *_D1, 1.1233, 0.1147),
    "D2": lambda name: _table_2(
        name,
        "log(1 - g) = -0.12 + 0.58 log(1 - s)",
        _LogComplementCurve(-0.12, 0.58),
        2.17,
        0.03,
    ),
    "D3": lambda name: _table_2(
        name, "log g = -0.03 + 1.27 log s", _LogCurve(-0.03, 1.27), 1.12, 0.11
    ),
    "D4": lambda name: _table_2(
        name, "logit g = -0.77 - 0.80 log(1 - s)", _BetaCurve(0.0, 0.80, -0.77), 1.13, 0.20
    ),
    "D5": lambda name: _table_2(
        name, "logit g = -0.97 + 0.34 logit s", _BetaCurve(0.34, 0.34, -0.97), 1.19, 0.22
    ),
    "calibrated": partial(_clinical, mean_score=0.5, shape="calibrated"),
    **{
        f"clinical-{prevalence}-{shape}": partial(_clinical, mean_score=mean_score, shape=shape)
        for prevalence, mean_score in _PREVALENCES.items()
        for shape in _SHAPES
    },
}


@cache
def _build(name: str) -> Truth:
    return _BUILDERS[name](name)
