"""Ranges of axes: round numbers that hold what is drawn."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items
from bayescal.core.text import shortened

__all__ = ["as_limits", "round_up"]

LIMITS_ROOM = 1.15
LIMITS_STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def as_limits(limits: tuple[float, float] | str, drawn: Floats) -> tuple[float, float]:
    """Range of a reliability diagram: as told, or the half of [0, 1] that holds what is drawn.

    Parameters
    ----------
    limits : {"auto", "full"} or pair of float
    drawn : ndarray
        Probabilities.
    """
    if isinstance(limits, str) and limits == "full":
        return 0.0, 1.0
    if isinstance(limits, str) and limits == "auto":
        return _zoom(float(drawn.min()), float(drawn.max()))
    ends = as_items(limits, "limits")
    numbers = len(ends) == 2 and all(isinstance(end, (int, float, np.number)) for end in ends)
    if not (numbers and 0 <= ends[0] < ends[1] <= 1):
        raise InputError(
            "limits must be 'auto', 'full' or two numbers from 0 to 1 in order, got "
            f"{shortened(repr(limits))}."
        )
    return float(ends[0]), float(ends[1])


def round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, ... times a power of ten, at most 1."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(value))
    step = next((step for step in LIMITS_STEPS if step * scale >= value), LIMITS_STEPS[-1])
    return float(min(step * scale, 1.0))


def _zoom(lowest: float, highest: float) -> tuple[float, float]:
    """Limits: half of [0, 1] and less, ending at a round number, if every value is in that half."""
    if highest < 0.5:
        return 0.0, round_up(LIMITS_ROOM * highest)
    if lowest > 0.5:
        return 1 - round_up(LIMITS_ROOM * (1 - lowest)), 1.0
    return 0.0, 1.0
