"""How far the curve moved from each period to the next."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats, blocks
from bayescal.multilevel.drift.draws import DrawnDrift

__all__ = ["steps_of"]


def steps_of(drawn: DrawnDrift) -> Floats:
    """Mean distance of the curves of neighbouring periods, over the scores of all periods.

    Parameters
    ----------
    drawn : DrawnDrift

    Returns
    -------
    ndarray of shape (periods - 1, draws)
        Zero in draws without a change.
    """
    pooled, periods = drawn.problem.pooled, drawn.periods
    weight = pooled.trials / pooled.trials.sum()
    steps = np.zeros((len(periods) - 1, periods.shape[1]))
    moved = np.flatnonzero(drawn.explanation > 0)
    for part in blocks(moved.size, weight.size):
        rows = moved[part]
        last = pooled.probability(periods[0, rows])
        for index in range(len(steps)):
            curve = pooled.probability(periods[index + 1, rows])
            steps[index, rows] = np.abs(curve - last) @ weight
            last = curve
    return steps
