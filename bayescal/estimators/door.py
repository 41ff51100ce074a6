"""The one place where estimators read their arguments, and how a core is evaluated.

A public function is a thin door: it checks its options, reads the cases once, and evaluates a core.
A core is a pure function of checked arrays, `(scores, weights, **options) -> statistic`: what is
worked out once from the scores and weights, and then gives a value for each row of outcomes. Loops
call cores, so that nothing is checked twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal.data.data import CalibrationData
from bayescal.data.read import Cases, Needs, Outcomes, paired, read_cases
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import as_scores, as_weights
from bayescal.data.weights import effective_cases

__all__ = [
    "DOOR_BLOCK",
    "Cases",
    "Core",
    "OutcomesLike",
    "Statistic",
    "evaluate",
    "read",
    "read_ranked",
    "read_scores",
]

OutcomesLike: TypeAlias = Outcomes | Cases
"""Outcomes, a table that stands for outcomes, scores and weights, or cases that were read."""

Statistic = Callable[[NDArray[Any]], Floats]
"""Outcomes of shape (replicates, n_samples), of any numeric type, to one value for each."""

Core = Callable[..., Statistic]
"""`(scores, weights or None, **options) -> statistic`; weights are numbers of cases."""

DOOR_BLOCK = 1 << 20


def read(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    replicates: bool = True,
    needs: Needs = "rows",
    single: bool = False,
) -> Cases:
    """Outcomes, scores and numbers of cases, each valid and all of the same cases.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), CalibrationData, or Cases
        Cases were read before, and come back as they are.
    y_prob : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases or sampling weights.
    replicates : bool
        Whether outcomes may have leading dimensions.
    needs : {"rows", "scores", "cases", "order"}
        What is asked of a table; see `bayescal.data.read.read_cases`.
    single : bool
        Whether 32-bit scores of arrays with replicates stay so, for work that converts them block
        by block.

    Returns
    -------
    Cases
        Sampling weights are on the scale of Kish's effective size, so that all weights are numbers
        of cases.
    """
    if isinstance(y_true, Cases):
        return y_true
    if replicates:
        cases = read_cases(y_true, y_prob, sample_weight, needs=needs, single=single)
    else:
        outcomes, scores, weights = paired(y_true, y_prob, sample_weight, needs=needs)
        cases = Cases(outcomes[None], scores, weights)
    if cases.weights is None or isinstance(y_true, CalibrationData):
        return cases
    return replace(cases, weights=effective_cases(cases.weights))


def read_ranked(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Cases:
    """Cases as `read` gives them, by ascending score where one sort does it."""
    return read(y_true, y_prob, sample_weight, single=True).ranked()


def read_scores(
    y_prob: ArrayLike | CalibrationData,
    sample_weight: ArrayLike | None = None,
    *,
    needs: Needs = "rows",
) -> tuple[Floats, Floats | None]:
    """Scores and numbers of cases, as `read` gives them, where there are no outcomes."""
    if isinstance(y_prob, CalibrationData):
        cases = read_cases(y_prob, None, sample_weight, needs=needs)
        return cases.scores, cases.weights
    y_prob, sample_weight = aligned(y_prob=y_prob, sample_weight=sample_weight)
    scores = as_scores(y_prob)
    weights = as_weights(sample_weight, scores.size)
    return scores, None if weights is None else effective_cases(weights)


def evaluate(
    core: Core, cases: Cases, *, block: int | None = None, **options: Any
) -> float | Floats:
    """A core on one set of outcomes, or on each of many at the same scores.

    Parameters
    ----------
    core : callable
        `(scores, weights or None, **options) -> statistic`.
    block : int, optional
        Outcomes handed to the statistic at a time, at most, unless one replicate has more.

    Returns
    -------
    float or ndarray
        A float for one set of outcomes; otherwise of the shape of the leading dimensions.
    """
    statistic = core(cases.scores, cases.weights, **options)
    replicates, size = cases.outcomes.shape
    if replicates == 1:
        return cases.result(np.asarray(statistic(cases.outcomes), dtype=np.float64))
    values = np.empty(replicates)
    for part in blocks(replicates, size, block or DOOR_BLOCK):
        values[part] = statistic(cases.outcomes[part])
    return cases.result(values)
