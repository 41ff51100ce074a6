"""Where predictions are calibrated, and where they are too high or too low, in words."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.text import chance
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Stretch", "stretches_of", "where"]

POINTS = 60
TAIL = 0.005
LIKELY = 0.5
SURE = 0.8
MOST = 4
FEWEST = 0.04  # share of the cases below which a stretch is not told
STATES = {"on": "calibrated", "high": "too high", "low": "too low"}


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
    own = post.data.score

    def within(low: float, high: float) -> NDArray[np.bool_]:
        return np.asarray((own >= low) & (own <= high))

    holds = {"on": error == 0, "low": error > 0, "high": error < 0, "open": np.isnan(error)}
    return [
        Stretch(
            str(state[a]),
            float(score[a]),
            float(score[b]),
            float(holds[str(state[a])][:, a : b + 1].all(axis=1).mean())
            if state[a] != "open"
            else float("nan"),
            float(post.data.trials[within(score[a], score[b])].sum() / post.data.n),
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
        Such as "By range, predictions are calibrated up to 0.6 (probability 0.93), too high from
        0.62 on (probability > 0.99)."
    """
    parts = stretches_of(post)
    told = [part for part in parts if part.cases >= FEWEST and part.probability >= LIKELY]
    if not any(part.state in ("high", "low") for part in told):
        return "Over no range of predictions is it clear that they are too high or too low."
    if len(told) > MOST:
        told = sorted(told, key=lambda part: -part.cases)[:MOST]
        told.sort(key=lambda part: part.start)
    sentences = [_told(part, parts) for part in told]
    return f"By range, predictions are {', '.join(sentences)}."


def _told(part: Stretch, parts: list[Stretch]) -> str:
    """What holds over one stretch, and with which probability."""
    from_start, to_end = part == parts[0], part == parts[-1]
    if from_start and to_end:
        at = "throughout"
    elif part.start == part.stop:
        at = f"at {_shown(part.start)}"
    elif from_start:
        at = f"up to {_shown(part.stop)}"
    elif to_end:
        at = f"from {_shown(part.start)} on"
    else:
        at = f"from {_shown(part.start)} to {_shown(part.stop)}"
    return f"{STATES[part.state]} {at} (probability {chance(part.probability)})"


def _shown(score: float) -> str:
    """Two digits of a score, or of what it lacks to 1."""
    if score <= 0.99 or score == 1:
        return f"{score:.2g}"
    return f"{score:.{1 - math.floor(math.log10(1 - score))}f}"


def _some_scores(post: CalibrationPosterior) -> Floats:
    """Scores of the data, spread over the cases but for the tails."""
    data = post.data
    position = (np.cumsum(data.trials) - data.trials / 2) / data.trials.sum()
    index = np.searchsorted(position, np.linspace(TAIL, 1 - TAIL, POINTS))
    return np.asarray(data.score[np.unique(np.minimum(index, data.score.size - 1))])
