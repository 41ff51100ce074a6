"""One data set or a thousand: an estimator over leading dimensions of the outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.validate import as_outcome_batch, as_scores, as_weights, check_same_order

__all__ = ["Statistic", "over_replicates"]

Statistic = Callable[[NDArray[Any]], Floats]
"""Outcomes of shape (replicates, n_samples), of any numeric type, to one value for each."""

Prepare = Callable[[Floats, Floats | None], Statistic]
"""What is done once for all replicates, from scores and weights alone."""

BLOCK = 1 << 20


def over_replicates(
    y_true: Any, y_prob: Any, sample_weight: Any, prepare: Prepare, *, block: int | None = None
) -> float | Floats:
    """A statistic of one set of outcomes, or of each of many at the same scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
    y_prob : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    prepare : callable
        `(scores, weights or None) -> statistic`.
    block : int, optional
        Outcomes handed to the statistic at a time, at most, unless one replicate has more.

    Returns
    -------
    float or ndarray
        A float for one set of outcomes; otherwise of the shape of the leading dimensions.
    """
    scores = as_scores(y_prob)
    outcomes = as_outcome_batch(y_true, scores.size)
    check_same_order(y_true, y_prob)
    statistic = prepare(scores, as_weights(sample_weight, scores.size))
    rows = outcomes.reshape(-1, scores.size)
    values = np.empty(rows.shape[0])
    step = max(1, (block or BLOCK) // scores.size)
    for start in range(0, values.size, step):
        part = slice(start, start + step)
        values[part] = statistic(rows[part])
    return float(values[0]) if outcomes.ndim == 1 else values.reshape(outcomes.shape[:-1])
