"""Scores of a population as a few scores and their weights, from whatever describes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation.truths import Truth, population

__all__ = ["as_nodes"]

POPULATION_ROWS = 20_000


def as_nodes(
    scores: Any, name: str, size: int = POPULATION_ROWS, *, log_odds: bool = False
) -> tuple[Floats, Floats]:
    """Scores, ascending, and weights that sum to 1, each of shape (rows,)."""
    if isinstance(scores, Truth):
        scores = scores.scores
    if isinstance(scores, (CalibrationPosterior, MultilevelPosterior)):
        scores = scores.data
    if isinstance(scores, CalibrationData):
        table = scores.pooled()
        return _merged(table.score, table.trials / table.trials.sum(), size)
    if hasattr(scores, "quantiles"):
        values, _, weight = population(scores, size)
        return values, weight
    if hasattr(scores, "ppf"):
        return _of_distribution(scores, name, size, log_odds)
    if isinstance(scores, str) or not hasattr(scores, "__len__"):
        raise InputError(
            f"{name} must be scores, a posterior, a law of scores such as "
            f"simulate.scores(prevalence=, c_statistic=), or a distribution of SciPy, got "
            f"{shortened(repr(scores))}."
        )
    values, cases = np.unique(as_scores(scores, name), return_counts=True)
    return _merged(values, np.asarray(cases / cases.sum()), size)


def _of_distribution(law: Any, name: str, size: int, log_odds: bool) -> tuple[Floats, Floats]:
    t = (np.arange(size) + 0.5) / size
    values = np.asarray(law.ppf(t**2 * (3 - 2 * t)), dtype=np.float64)
    weight = t * (1 - t)
    if not np.isfinite(values).all() or (not log_odds and (values.min() < 0 or values.max() > 1)):
        raise InputError(
            f"{name} is a distribution of {'numbers' if log_odds else 'scores'} that are not "
            f"{'finite' if log_odds else 'inside [0, 1]'}. Pass one that is."
        )
    return values, weight / weight.sum()


def _merged(score: Floats, weight: Floats, size: int) -> tuple[Floats, Floats]:
    """At most so many rows: neighbouring scores of about equal weight, and their mean."""
    if score.size <= size:
        return score, weight
    middle = np.cumsum(weight) - weight / 2
    row = np.minimum((size * middle).astype(np.intp), size - 1)
    total = np.bincount(row, weight, size)
    mean = np.bincount(row, weight * score, size)
    filled = total > 0
    return mean[filled] / total[filled], np.asarray(total[filled], dtype=np.float64)
