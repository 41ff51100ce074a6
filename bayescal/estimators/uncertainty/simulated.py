"""Consistency resampling: an estimator on outcomes simulated at the scores of the data.

With the scores themselves as probabilities this is what a calibrated model would give; with draws
of a fitted curve it is a posterior predictive check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayescal._base.arrays import Floats, blocks, random_generator
from bayescal.data.table import levels_of
from bayescal.estimators.uncertainty.applied import Applied

__all__ = ["AlikeCases", "SimulatedOutcomes", "cases_by_score", "estimates_on_simulated_outcomes"]

MOST_CASES = 20_000
SIMULATED_BLOCK = 1 << 20

Counts = NDArray[np.int64]
Outcomes = NDArray[np.bool_]
Drawn = TypeVar("Drawn", Outcomes, Floats)


@dataclass(frozen=True)
class AlikeCases:
    """Cases of which some are alike: those of one cluster.

    Each case has a normal variable, and an event where it is below the quantile of its probability.
    Variables of two cases of one cluster are correlated, so that every outcome keeps its
    probability.

    Attributes
    ----------
    cluster : ndarray of int of shape (cases,)
        Number of each case's cluster, of cases in the order of their scores.
    correlation : float in [0, 1]
        Of these variables.
    """

    cluster: NDArray[np.intp]
    correlation: float

    def normal(self, rng: np.random.Generator, size: int) -> Floats:
        """The variables of the cases in so many replicates, of shape (size, cases)."""
        shared = rng.standard_normal((size, int(self.cluster.max()) + 1))[:, self.cluster]
        own = rng.standard_normal(shared.shape)
        mixed: Floats = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own
        return mixed


def cases_by_score(scores: Floats, weights: Floats | None) -> tuple[Floats, Counts]:
    """Distinct scores in ascending order, and whole numbers of cases at each.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_samples,) or None
        Numbers of cases. What is left of a case at one score is added to the next.

    Returns
    -------
    score : ndarray of shape (distinct,)
    trials : ndarray of int of shape (distinct,)
        Their sum is the sum of the weights, rounded.
    """
    levels = levels_of(scores)
    trials = levels.cases() if weights is None else levels.totals(weights)
    return levels.score, np.diff(np.rint(np.cumsum(trials)), prepend=0).astype(np.int64)


def estimates_on_simulated_outcomes(
    applied: Applied,
    score: Floats,
    trials: Counts,
    probability: Floats,
    rng: np.random.Generator,
    *,
    resample_scores: bool = False,
    alike: AlikeCases | None = None,
) -> Floats:
    """The estimate on simulated outcomes.

    Up to 20,000 cases every case has an outcome of its own. Beyond, and where scores are resampled,
    the events at each score are drawn, and are weights of the estimator.

    Parameters
    ----------
    score : ndarray of shape (distinct,)
        Distinct scores in ascending order, as the estimator sees them.
    trials : ndarray of int of shape (distinct,)
        Cases at each.
    probability : ndarray of shape (replicates, distinct)
        Probability of the event at each score.
    resample_scores : bool
        Whether the scores are drawn too, with replacement. Not with `alike`.
    alike : AlikeCases, optional
        Which cases are alike; by default none are.

    Returns
    -------
    ndarray of shape (replicates,)
        NaN where the estimator is undefined.
    """
    if resample_scores:
        return _by_score(applied, score, _resample(trials, probability, rng))
    if _are_few(trials) or not applied.weighs:
        return _by_case(applied, score, trials, _draw_outcomes(trials, probability, rng, alike))
    return _by_score(applied, score, _draw_weights(trials, probability, rng, alike))


class SimulatedOutcomes:
    """Outcomes simulated at the same scores, drawn once, for any number of estimators.

    Notes
    -----
    Estimates are those of `estimates_on_simulated_outcomes` with the same seed. The outcomes stay
    in memory, except those of many cases one by one, for estimators that take no weights. Of
    several tables, each can take its `turn` of the data sets: table k of m the sets k, k + m, and
    so on, all of which are as many as those of one.
    """

    def __init__(
        self,
        score: Floats,
        trials: Counts,
        probability: Floats,
        seed: int,
        turn: tuple[int, int] = (0, 1),
        alike: AlikeCases | None = None,
    ) -> None:
        self._score, self._trials, self._probability = score, trials, probability
        self._seed, self._turn, self._alike = seed, turn, alike

    def estimates(self, applied: Applied) -> Floats:
        """The estimate on each simulated data set, of shape (replicates,)."""
        if _are_few(self._trials):
            return _by_case(applied, self._score, self._trials, self._outcomes)
        if applied.weighs:
            return _by_score(applied, self._score, self._weights)
        return _by_case(applied, self._score, self._trials, self._drawn(_draw_outcomes))

    @cached_property
    def _outcomes(self) -> list[Outcomes]:
        return list(self._drawn(_draw_outcomes))

    @cached_property
    def _weights(self) -> list[Floats]:
        return list(self._drawn(_draw_weights))

    def _drawn(self, draw: Callable[..., Iterator[Drawn]]) -> Iterator[Drawn]:
        """Blocks of the data sets, of each those whose turn it is."""
        (own, tables), start = self._turn, 0
        rng = random_generator(self._seed)
        for block in draw(self._trials, self._probability, rng, self._alike):
            mine, start = block[(own - start) % tables :: tables], start + len(block)
            if len(mine):
                yield mine


def _are_few(trials: Counts) -> bool:
    """Whether there are so few cases that each has an outcome of its own."""
    return int(trials.sum()) <= MOST_CASES


def _draw_outcomes(
    trials: Counts,
    probability: Floats,
    rng: np.random.Generator,
    alike: AlikeCases | None,
) -> Iterator[Outcomes]:
    """Blocks of one outcome a case, of shape (some, cases)."""
    one_each = bool((trials == 1).all())
    for part in blocks(len(probability), int(trials.sum()), SIMULATED_BLOCK):
        chance = probability[part] if alike is None else ndtri(probability[part])
        if not one_each:
            chance = np.repeat(chance, trials, axis=1)
        rank = rng.random(chance.shape) if alike is None else alike.normal(rng, len(chance))
        yield rank < chance


def _draw_weights(
    trials: Counts,
    probability: Floats,
    rng: np.random.Generator,
    alike: AlikeCases | None,
) -> Iterator[Floats]:
    """Blocks of cases without and with the event at each score, of shape (some, 2 * distinct)."""
    if alike is not None:
        starts = np.cumsum(trials) - trials
        for outcomes in _draw_outcomes(trials, probability, rng, alike):
            yield _paired(trials, np.add.reduceat(outcomes, starts, axis=1, dtype=np.int64))
        return
    for part in blocks(len(probability), 2 * trials.size, SIMULATED_BLOCK):
        chance = probability[part]
        cases = np.broadcast_to(trials, chance.shape)
        yield _paired(cases, rng.binomial(cases, chance))


def _resample(trials: Counts, probability: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """As `_draw_weights`, of scores that are drawn with replacement."""
    size = int(trials.sum())
    for part in blocks(len(probability), 2 * trials.size, SIMULATED_BLOCK):
        chance = probability[part]
        cases = rng.multinomial(size, trials / size, size=len(chance))
        yield _paired(cases, rng.binomial(cases, chance))


def _paired(cases: Counts, hits: Counts) -> Floats:
    """Cases without and with the event side by side, of shape (some, 2 * distinct)."""
    return np.stack([cases - hits, hits], axis=2).reshape(len(hits), -1).astype(np.float64)


def _by_case(applied: Applied, score: Floats, trials: Counts, drawn: Iterable[Outcomes]) -> Floats:
    statistic = applied.at(np.repeat(score, trials))
    return np.concatenate([statistic(outcomes) for outcomes in drawn])


def _by_score(applied: Applied, score: Floats, drawn: Iterable[Floats]) -> Floats:
    scores, outcomes = np.repeat(score, 2), np.tile([0.0, 1.0], score.size)
    return np.concatenate([applied.to_weights(scores, outcomes, weights) for weights in drawn])
