"""A truth: a distribution of the scores and a calibration curve, both known.

Scores are drawn, and each outcome is Bernoulli(g(score)): Algorithm 3 of Dong et al.
What a posterior is asked for is known of the population: the true calibration error to 1e-7, the
rest to 1e-4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, ndtri

from bayescal.core.arrays import Floats, RandomState, power_mean, random_generator
from bayescal.core.errors import (
    InputError,
    as_count,
    as_level,
    as_levels,
    as_number,
    as_order,
    check_choice,
)
from bayescal.core.optimise import clipped
from bayescal.core.versions import one_blas_thread
from bayescal.data.cases import as_scores, as_vector
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws, net_benefit
from bayescal.posterior.population import Population

__all__ = [
    "BetaScores",
    "LogOdds",
    "LogitNormalScores",
    "ScoreLaw",
    "Truth",
    "population",
]

LogOdds = Callable[[Floats, Floats], Floats]

_NODES = 20_000
MOST_SIMULATED = 10_000_000
_TINY = np.finfo(np.float64).tiny


class ScoreLaw(Protocol):
    """A distribution of scores: draws and quantiles, for whoever adds one."""

    def draw(self, n: int, random_state: RandomState = None) -> Floats:
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

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            if as_number(getattr(self, name), name) <= 0:
                raise InputError(f"{name} must be a positive number, got {getattr(self, name)}.")

    def draw(self, n: int, random_state: RandomState = None) -> Floats:
        """Independent scores; with a small `b` some round to exactly 1.0, and stay."""
        size = as_count(n, "n", 0, MOST_SIMULATED)
        return random_generator(random_state).beta(self.a, self.b, size=size)

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

    def __post_init__(self) -> None:
        as_number(self.mean, "mean")
        if as_number(self.sd, "sd") <= 0:
            raise InputError(f"sd must be a positive number, got {self.sd}.")

    def draw(self, n: int, random_state: RandomState = None) -> Floats:
        """Independent scores."""
        size = as_count(n, "n", 0, MOST_SIMULATED)
        log_odds = random_generator(random_state).normal(self.mean, self.sd, size=size)
        scores: Floats = expit(log_odds)
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
        The curve and the distribution of the scores, in words.
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
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None
            Seed or source of randomness; a generator is advanced.

        Returns
        -------
        y_true : ndarray of shape (n,)
            Outcomes, 0 or 1.
        y_prob : ndarray of shape (n,)
            Scores, in the order drawn. Laws with much mass next to 1 give scores of exactly 1.0.

        Raises
        ------
        InputError
            If `n` is not a whole number from 1 to 10 million.
        """
        size = as_count(n, "n", 1, MOST_SIMULATED)
        rng = random_generator(random_state)
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
        order = as_order(p)
        s, q, weight = population(self.scores)
        error = self._curve(s, q) - s
        return float(power_mean(error, order, lambda power: power @ weight))

    def prevalence(self) -> float:
        """Exact share of events in the population, E g(s).

        Returns
        -------
        float
        """
        s, q, weight = population(self.scores)
        return float(np.sum(weight * self._curve(s, q)))

    @one_blas_thread
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
        Sums over 20 000 quantiles of the scores. Next to a jump of the curve, and for a
        distribution with few possible scores, the share of cases on either side is right to 4e-5.

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
            Risks at which a patient is treated, in (0, 1); reached by a score that is less by a
            relative 1e-12, as rounding may make it.

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
        values = as_levels(as_vector(thresholds, "thresholds"), "thresholds")
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
        if not np.isfinite(score[0]):
            raise InputError(f"prob is {prob:g}, too near to 0 or 1 for a quantile of the scores.")
        return float(score[0])

    @cached_property
    def _as_draw(self) -> CurveDraws:
        """The population as one draw of a curve and of the scores."""
        s, q, weight = population(self.scores)
        inside = clipped(s)
        return CurveDraws(self._curve(s, q)[None], Population(inside, weight))

    def _curve(self, s: Floats, q: Floats) -> Floats:
        """Curve g at scores s = 1 - q, given both."""
        log_s, log_q = (np.log(np.maximum(part, _TINY)) for part in (s, q))
        probability: Floats = expit(self.log_odds(log_s, log_q))
        return probability


def population(law: ScoreLaw, nodes: int = _NODES) -> tuple[Floats, Floats, Floats]:
    """Scores s, 1 - s and weights, to integrate over the law of the scores.

    Midpoints in t of the quantiles at u = t^2 (3 - 2t), which crowd where quantiles bend most.
    """
    t = (np.arange(nodes) + 0.5) / nodes
    s, q = law.quantiles(t**2 * (3 - 2 * t), (1 - t) ** 2 * (1 + 2 * t))
    weight = t * (1 - t)
    return s, q, weight / weight.sum()
