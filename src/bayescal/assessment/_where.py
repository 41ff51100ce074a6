"""Where predictions are calibrated, and where they are too high or too low, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal._text import chance
from bayescal._validate import Floats
from bayescal.posterior import CalibrationPosterior

__all__ = ["Stretch", "stretches_of", "where"]

POINTS = 60
TAIL = 0.005
LIKELY = 0.5
SURE = 0.8
MOST = 4
FEWEST = 0.04  # share of the cases below which a stretch is not told
STATES = {
    "on": "calibrated",
    "high": "predictions too high",
    "low": "predictions too low",
    "open": "open",
}


class Stretch(NamedTuple):
    """Neighbouring scores of which the same can be said.

    Attributes
    ----------
    state : {"on", "high", "low", "open"}
        Probably on the diagonal; predictions surely too high, or too low; or none of these.
    start, stop : float
        First and last score.
    probability : float
        That it holds at all of these scores at once; NaN where it is open.
    cases : float
        Share of the cases with such scores.
    """

    state: str
    start: float
    stop: float
    probability: float
    cases: float


def stretches_of(post: CalibrationPosterior) -> list[Stretch]:
    """Stretches over the range of the scores, from the lowest to the highest.

    Parameters
    ----------
    post : CalibrationPosterior
        Averaged.

    Returns
    -------
    list of Stretch
    """
    score = _some_scores(post)
    error = post.errors_where_known(score)
    shares = {
        "on": (error == 0).mean(axis=0) >= LIKELY,
        "low": (error > 0).mean(axis=0) >= SURE,
        "high": (error < 0).mean(axis=0) >= SURE,
    }
    state = np.select(list(shares.values()), list(shares), "open")
    first = np.flatnonzero(np.append(True, state[1:] != state[:-1]))
    last = np.append(first[1:], state.size) - 1
    holds = {"on": error == 0, "low": error > 0, "high": error < 0, "open": np.isnan(error)}
    return [
        Stretch(
            str(state[a]),
            float(score[a]),
            float(score[b]),
            float(holds[str(state[a])][:, a : b + 1].all(axis=1).mean())
            if state[a] != "open"
            else float("nan"),
            (b - a + 1) / score.size,
        )
        for a, b in zip(first, last, strict=True)
    ]


def where(post: CalibrationPosterior) -> str:
    """The stretches in a sentence.

    Parameters
    ----------
    post : CalibrationPosterior
        Averaged.

    Returns
    -------
    str
        Such as "By range of predictions: calibrated up to 0.6 (probability 0.93), predictions too
        high from 0.62 on (> 0.99)."
    """
    parts = stretches_of(post)
    told = [part for part in parts if part.cases >= FEWEST and part.probability >= LIKELY]
    if not told:
        return "Over no range of predictions can be told whether they are right."
    if len(told) > MOST:
        told = sorted(told, key=lambda part: -part.cases)[:MOST]
        told.sort(key=lambda part: part.start)
    sentences = [_told(part, parts) for part in told]
    return f"By range of predictions: {', '.join(sentences)}."


def _told(part: Stretch, parts: list[Stretch]) -> str:
    """What holds over one stretch, and with which probability."""
    from_start, to_end = part == parts[0], part == parts[-1]
    if from_start and to_end:
        at = "throughout"
    elif from_start:
        at = f"up to {part.stop:.2g}"
    elif to_end:
        at = f"from {part.start:.2g} on"
    else:
        at = f"from {part.start:.2g} to {part.stop:.2g}"
    return f"{STATES[part.state]} {at} (probability {chance(part.probability)})"


def _some_scores(post: CalibrationPosterior) -> Floats:
    """Scores of the data, spread over the cases but for the tails."""
    data = post.data
    position = (np.cumsum(data.trials) - data.trials / 2) / data.trials.sum()
    index = np.searchsorted(position, np.linspace(TAIL, 1 - TAIL, POINTS))
    return np.asarray(data.score[np.unique(np.minimum(index, data.score.size - 1))])
