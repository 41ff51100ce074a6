"""Ranges of scores over which predictions are calibrated, too high or too low."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["FEWEST_CASES", "LIKELY", "Stretch", "stretches_of"]

STRETCHES_POINTS = 60
TAIL = 0.005
NO_ERROR = 1e-12
"""Distance below which a draw is on the diagonal: what rounding makes of an exact curve."""
LIKELY = 0.5
SURE = 0.8
FEWEST_CASES = 0.04
"""Share of the cases below which a stretch is not told."""


class Stretch(NamedTuple):
    """Neighbouring scores with the same state.

    Attributes
    ----------
    state : {"on", "high", "low", "open"}
        Probably on the diagonal; predictions probably too high, or too low; or none of these.
    start, stop : float
        First and last score.
    probability : float
        That the mean error over these scores has that side; of the diagonal, that the curve is on
        it at all of them at once. NaN where it is open.
    cases : float
        Share of the cases with such scores.
    """

    state: str
    start: float
    stop: float
    probability: float
    cases: float


def stretches_of(post: CalibrationPosterior) -> list[Stretch]:
    """Stretches over the range of the scores, from the lowest to the highest."""
    score = _some_scores(post)
    error = post._errors_at(score)
    error[np.abs(error) < NO_ERROR] = 0
    shares = {
        "on": (error == 0).mean(axis=0) >= LIKELY,
        "low": (error > 0).mean(axis=0) >= SURE,
        "high": (error < 0).mean(axis=0) >= SURE,
    }
    state = np.select(list(shares.values()), list(shares), "open")
    first = np.flatnonzero(np.append(True, state[1:] != state[:-1]))
    last = np.append(first[1:], state.size) - 1
    own = post.data.score

    def within(low: float, high: float) -> NDArray[np.bool_]:
        return np.asarray((own >= low) & (own <= high))

    def probability(state: str, error: Floats) -> float:
        mean = error.mean(axis=1)
        holds = {"on": (error == 0).all(axis=1), "low": mean > 0, "high": mean < 0}
        return float(holds[state].mean()) if state in holds else float("nan")

    return [
        Stretch(
            str(state[a]),
            float(score[a]),
            float(score[b]),
            probability(str(state[a]), error[:, a : b + 1]),
            float(post.data.trials[within(score[a], score[b])].sum() / post.data.n),
        )
        for a, b in zip(first, last, strict=True)
    ]


def _some_scores(post: CalibrationPosterior) -> Floats:
    """Scores of the data at equally spaced quantiles of the cases, without the outer 0.5 %."""
    data = post.data
    position = (np.cumsum(data.trials) - data.trials / 2) / data.trials.sum()
    index = np.searchsorted(position, np.linspace(TAIL, 1 - TAIL, STRETCHES_POINTS))
    return np.asarray(data.score[np.unique(np.minimum(index, data.score.size - 1))])
