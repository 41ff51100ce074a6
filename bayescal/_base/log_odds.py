"""Log-odds of probabilities, with the ends clipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats

__all__ = ["EDGE", "clipped", "log_odds_of", "logarithms"]

EDGE = 1e-12
"""No logarithm reads a probability nearer to 0 or 1 than this."""


def clipped(probability: NDArray[Any]) -> Floats:
    """Probabilities, those nearer than `EDGE` to 0 or 1 moved to that distance.

    They may have 32 bits, in which there is nothing between 1 - 1e-8 and 1; clipped ones have 64.
    """
    inside: Floats = np.clip(probability, EDGE, 1 - EDGE, dtype=np.float64)
    return inside


def logarithms(probability: NDArray[Any]) -> tuple[Floats, Floats]:
    """Log p and log(1 - p) of the clipped probabilities."""
    inside = clipped(probability)
    return np.log(inside), np.log1p(-inside)


def log_odds_of(probability: NDArray[Any]) -> Floats:
    """Log p / (1 - p) of the clipped probabilities, between -27.6 and 27.6."""
    odds = clipped(probability)
    odds /= 1 - odds
    return np.log(odds, out=odds)
