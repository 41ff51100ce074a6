"""Consistency resampling: an estimator on outcomes simulated at the scores of the data.

With the scores themselves as probabilities this is what a calibrated model would give; with draws
of a fitted curve it is a posterior predictive check.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal.data.table import levels_of
from bayescal.estimators.uncertainty.applied import Applied

__all__ = ["cases_by_score", "estimates_on_simulated_outcomes"]

MOST_CASES = 20_000
SIMULATED_BLOCK = 1 << 20

Counts = NDArray[np.int64]


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
) -> Floats:
    """The estimate on simulated outcomes.

    Up to 20,000 cases every case has an outcome of its own. Beyond, and where scores are resampled,
    the events at each score are drawn, and are weights of the estimator.

    Parameters
    ----------
    applied : Applied
    score : ndarray of shape (distinct,)
        Distinct scores in ascending order, as the estimator sees them.
    trials : ndarray of int of shape (distinct,)
        Cases at each.
    probability : ndarray of shape (replicates, distinct)
        Probability of the event at each score.
    rng : numpy.random.Generator
    resample_scores : bool
        Whether the scores are drawn too, with replacement.

    Returns
    -------
    ndarray of shape (replicates,)
        NaN where the estimator is undefined.
    """
    values = np.empty(probability.shape[0])
    size = int(trials.sum())
    if not resample_scores and (size <= MOST_CASES or not applied.weighs):
        statistic = applied.at(np.repeat(score, trials))
        one_each = bool((trials == 1).all())
        for part in blocks(values.size, size, SIMULATED_BLOCK):
            chance = probability[part]
            if not one_each:
                chance = np.repeat(chance, trials, axis=1)
            values[part] = statistic(rng.random(chance.shape) < chance)
        return values
    outcomes = np.tile([0.0, 1.0], score.size)
    for part in blocks(values.size, outcomes.size, SIMULATED_BLOCK):
        shape = probability[part].shape
        cases = np.broadcast_to(trials, shape)
        if resample_scores:
            cases = rng.multinomial(size, trials / size, size=shape[0])
        hits = rng.binomial(cases, probability[part])
        weights = np.stack([cases - hits, hits], axis=2).reshape(shape[0], -1).astype(np.float64)
        values[part] = applied.to_weights(np.repeat(score, 2), outcomes, weights)
    return values
