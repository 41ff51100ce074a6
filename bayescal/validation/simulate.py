"""Data with a known true calibration error: Algorithm 3 of Dong et al., and clinical curves.

A truth is a law for the scores and a calibration curve g. Scores are drawn from the law, each
outcome is Bernoulli(g(score)), and what a posterior is asked for is known of the population: the
true calibration error to 1e-7, the rest to 1e-4.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_level, as_scores, as_vector, check_choice
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws, net_benefit
from bayescal.posterior.population import Population

__all__ = [
    "BetaScores",
    "LogitNormalScores",
    "Truth",
    "clinical",
    "names",
    "sample",
    "truth",
]

RandomState = int | np.random.Generator | None
LogOdds = Callable[[Floats, Floats], Floats]

_NODES = 20_000
_TINY = np.finfo(np.float64).tiny
_NEAREST = 1e-12  # no fit reads a score nearer to 0 or 1 than this
_SPREAD = 1.2
_PREVALENCES = {"low": 0.05, "middle": 0.3, "high": 0.7}

# Shape of a clinical curve: shift, slope and asymmetry about the mean log-odds of the scores.
_SHAPES = {
    "calibrated": (0.0, 1.0, 0.0),
    "overconfident": (0.0, 0.6, 0.0),
    "underconfident": (0.0, 1.5, 0.0),
    "shifted": (0.5, 1.0, 0.0),
    "asymmetric": (0.0, 1.0, 1.0),
}


class ScoreLaw(Protocol):
    """A distribution of scores: draws and quantiles, for whoever adds one."""

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Independent scores."""
        ...

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Scores s with P(score <= s) = lower, and 1 - s, given upper = 1 - lower."""
        ...


@dataclass(frozen=True)
class BetaScores:
    """Scores from Beta(a, b).

    Parameters
    ----------
    a, b : float
        Positive shapes; the mean is a / (a + b).
    """

    a: float
    b: float

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Independent scores; with a small `b` some round to exactly 1.0, and stay."""
        return rng.beta(self.a, self.b, size=n)

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Scores s with P(score <= s) = lower, and 1 - s, given upper = 1 - lower."""
        return betaincinv(self.a, self.b, lower), betaincinv(self.b, self.a, upper)


@dataclass(frozen=True)
class LogitNormalScores:
    """Scores whose log-odds are Normal(mean, sd).

    Parameters
    ----------
    mean, sd : float
        Mean and standard deviation of the log-odds.
    """

    mean: float
    sd: float

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Independent scores."""
        scores: Floats = expit(rng.normal(self.mean, self.sd, size=n))
        return scores

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Scores s with P(score <= s) = lower, and 1 - s, given upper = 1 - lower."""
        z = np.where(lower < 0.5, ndtri(lower), -ndtri(upper))
        log_odds = self.mean + self.sd * z
        return expit(log_odds), expit(-log_odds)


@dataclass(frozen=True)
class Truth:
    """A population with a known calibration curve.

    Parameters
    ----------
    name : str
    description : str
        The curve and the law of the scores, for people.
    scores : BetaScores or LogitNormalScores
        Law of the scores.
    log_odds : callable
        `(log s, log(1 - s)) -> logit g(s)`, vectorised. Given both logarithms, it stays accurate
        for scores very near 0 and 1.

    See Also
    --------
    truth : The truths that come with the package.
    clinical : Builds one for a clinical prediction model.

    Examples
    --------
    >>> from bayescal import simulate
    >>> doubled = simulate.Truth(
    ...     "doubled odds",
    ...     "logit g = log 2 + logit s, s ~ Beta(2, 3)",
    ...     simulate.BetaScores(2, 3),
    ...     lambda log_s, log_q: 0.6931472 + log_s - log_q,
    ... )
    >>> round(doubled.tce(), 4)
    0.1421
    """

    name: str
    description: str
    scores: ScoreLaw
    log_odds: LogOdds = field(repr=False)

    def curve(self, scores: Any) -> Floats:
        """True event probability g at each score.

        Parameters
        ----------
        scores : array-like of shape (n_scores,)
            Scores in [0, 1]; exactly 0 and 1 give the limits of the curve.

        Returns
        -------
        ndarray of shape (n_scores,)

        Raises
        ------
        InputError
            If a score is missing or outside [0, 1].
        """
        values = as_scores(scores, "scores")
        return self._curve(values, 1 - values)

    def sample(self, n: int, random_state: RandomState = None) -> tuple[NDArray[np.int64], Floats]:
        """Draw scores and outcomes (Algorithm 3 of Dong et al.).

        Parameters
        ----------
        n : int
            Number of observations.
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness; a Generator is advanced.

        Returns
        -------
        y_true : ndarray of shape (n,)
            Outcomes, 0 or 1.
        y_prob : ndarray of shape (n,)
            Scores, in the order drawn. Laws with much mass next to 1 give scores of exactly 1.0.

        Raises
        ------
        InputError
            If `n` is not a positive integer.
        """
        size = _as_count(n)
        rng = np.random.default_rng(random_state)
        y_prob = self.scores.draw(size, rng)
        y_true = (rng.random(size) < self._curve(y_prob, 1 - y_prob)).astype(np.int64)
        return y_true, y_prob

    def tce(self, p: float = 1) -> float:
        """Exact true calibration error of the population, (E|g(s) - s|^p)^(1/p).

        Parameters
        ----------
        p : float
            Order of the norm, at least 1.

        Returns
        -------
        float
            Population value, not an estimate.

        Raises
        ------
        InputError
            If `p` is below 1 or not finite.
        """
        order = _as_order(p)
        s, q, weight = _population(self.scores)
        error = np.abs(self._curve(s, q) - s)
        largest = error.max()
        if largest == 0:
            return 0.0
        return float(largest * np.sum(weight * (error / largest) ** order) ** (1 / order))

    def prevalence(self) -> float:
        """Exact share of events in the population, E g(s).

        Returns
        -------
        float
        """
        s, q, weight = _population(self.scores)
        return float(np.sum(weight * self._curve(s, q)))

    def functional(self, name: str, **options: Any) -> float:
        """Population value of a functional of the curve and the scores.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float
            What `CalibrationPosterior.functional` estimates. "emax" is the largest error over
            20 000 quantiles of the scores, where a posterior takes the scores that were observed.

        Raises
        ------
        InputError
            If the name is unknown.

        Notes
        -----
        Sums over 20 000 quantiles of the scores. Next to a jump of the curve, and for a law with
        few possible scores, the share of cases on either side is right to 4e-5.

        Examples
        --------
        >>> from bayescal import simulate
        >>> shifted = simulate.truth("clinical-middle-shifted")
        >>> round(shifted.functional("calibration_in_the_large"), 6)
        0.5
        """
        check_choice(name, FUNCTIONALS, "name")
        return float(FUNCTIONALS[name].compute(self._as_draw, **options)[0])

    def net_benefit(self, thresholds: Any) -> Floats:
        """Population net benefit of treating whoever has a score of at least a threshold.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks at which a patient is treated, in (0, 1).

        Returns
        -------
        ndarray of shape (k,)

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1).

        Examples
        --------
        >>> from bayescal import simulate
        >>> simulate.truth("clinical-middle-calibrated").net_benefit([0.3]).round(3)
        array([0.122])
        """
        values = [as_level(value, "thresholds") for value in as_vector(thresholds, "thresholds")]
        benefit: Floats = net_benefit(self._as_draw, np.array(values))[0]
        return benefit

    def score_quantile(self, prob: float) -> float:
        """Score below which this share of the population lies.

        Parameters
        ----------
        prob : float in (0, 1)

        Returns
        -------
        float

        Raises
        ------
        InputError
            If `prob` is not inside (0, 1).

        Examples
        --------
        >>> from bayescal import simulate
        >>> simulate.truth("calibrated").score_quantile(0.5)
        0.5
        """
        level = as_level(prob, "prob")
        score, _ = self.scores.quantiles(np.array([level]), np.array([1 - level]))
        return float(score[0])

    @cached_property
    def _as_draw(self) -> CurveDraws:
        """The population as one draw of a curve and of the scores."""
        s, q, weight = _population(self.scores)
        inside = np.clip(s, _NEAREST, 1 - _NEAREST)
        return CurveDraws(self._curve(s, q)[None], Population(inside, weight))

    def _curve(self, s: Floats, q: Floats) -> Floats:
        """Curve g at scores s = 1 - q, given both."""
        log_s, log_q = (np.log(np.maximum(part, _TINY)) for part in (s, q))
        probability: Floats = expit(self.log_odds(log_s, log_q))
        return probability


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
        Its description states the curve and the law of the scores.

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
    as_level(mean_score, "mean_score")
    check_choice(shape, _SHAPES, "shape")
    if not (math.isfinite(spread) and spread > 0):
        raise InputError(f"spread must be a positive number, got {spread!r}.")
    return _clinical(f"clinical-{mean_score:g}-{shape}", float(mean_score), shape, float(spread))


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
        s, _, weight = _population(LogitNormalScores(mean, spread))
        return float(np.sum(weight * s)) - mean_score

    if mean_score == 0.5:
        return 0.0
    # The mean score is pulled towards one half, by less than half the variance in log-odds.
    near = float(logit(mean_score))
    far = near + math.copysign(spread**2 / 2 + 1, near)
    return float(brentq(excess, *sorted((near, far)), xtol=1e-10))


def _centred_curve(centre: float, shift: float, slope: float, asymmetry: float) -> LogOdds:
    alpha, beta = slope * math.exp(asymmetry / 2), slope * math.exp(-asymmetry / 2)
    log_m, log_rest = -np.logaddexp(0, -centre), -np.logaddexp(0, centre)
    return _beta_curve(alpha, beta, centre + shift - alpha * log_m + beta * log_rest)


def _beta_curve(alpha: float, beta: float, c: float) -> LogOdds:
    """Curve with logit g = alpha log s - beta log(1 - s) + c."""
    return lambda log_s, log_q: c + alpha * log_s - beta * log_q


def _log_curve(intercept: float, slope: float) -> LogOdds:
    """Curve with log g = intercept + slope log s; the intercept is negative."""

    def log_odds(log_s: Floats, log_q: Floats) -> Floats:
        return _log_to_log_odds(intercept + slope * log_s)

    return log_odds


def _log_complement_curve(intercept: float, slope: float) -> LogOdds:
    """Curve with log(1 - g) = intercept + slope log(1 - s); the intercept is negative."""

    def log_odds(log_s: Floats, log_q: Floats) -> Floats:
        return -_log_to_log_odds(intercept + slope * log_q)

    return log_odds


def _log_to_log_odds(log_probability: Floats) -> Floats:
    return log_probability - np.log(-np.expm1(log_probability))


def _population(law: ScoreLaw) -> tuple[Floats, Floats, Floats]:
    """Scores s, 1 - s and weights, to integrate over the law of the scores.

    Midpoints in t of the quantiles at u = t^2 (3 - 2t), which crowd where quantiles bend most.
    """
    t = (np.arange(_NODES) + 0.5) / _NODES
    s, q = law.quantiles(t**2 * (3 - 2 * t), (1 - t) ** 2 * (1 + 2 * t))
    weight = t * (1 - t)
    return s, q, weight / weight.sum()


def _as_count(n: Any) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        count = 0
    if count < 1:
        raise InputError(f"n must be a positive integer, got {n!r}.")
    return count


def _as_order(p: Any) -> float:
    if isinstance(p, (int, float, np.integer, np.floating)) and math.isfinite(p) and p >= 1:
        return float(p)
    raise InputError(f"p must be a finite number of at least 1, got {p!r}.")


def _table_2(name: str, curve: str, log_odds: LogOdds, a: float, b: float) -> Truth:
    return Truth(name, f"{curve}, s ~ Beta({a:g}, {b:g})", BetaScores(a, b), log_odds)


_D1 = "logit g = -0.88 + 0.49 logit s", _beta_curve(0.49, 0.49, -0.88)
_BUILDERS: dict[str, Callable[[str], Truth]] = {
    "D1": lambda name: _table_2(name, *_D1, 2.77, 0.04),
    "D1-code": lambda name: _table_2(name, *_D1, 1.1233, 0.1147),
    "D2": lambda name: _table_2(
        name,
        "log(1 - g) = -0.12 + 0.58 log(1 - s)",
        _log_complement_curve(-0.12, 0.58),
        2.17,
        0.03,
    ),
    "D3": lambda name: _table_2(
        name, "log g = -0.03 + 1.27 log s", _log_curve(-0.03, 1.27), 1.12, 0.11
    ),
    "D4": lambda name: _table_2(
        name, "logit g = -0.77 - 0.80 log(1 - s)", _beta_curve(0.0, 0.80, -0.77), 1.13, 0.20
    ),
    "D5": lambda name: _table_2(
        name, "logit g = -0.97 + 0.34 logit s", _beta_curve(0.34, 0.34, -0.97), 1.19, 0.22
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
