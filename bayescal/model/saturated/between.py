"""Where scores lie between a few others. Arrays only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats

__all__ = ["between"]


def between(
    score: Floats, scores: Floats
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], Floats]:
    """The neighbours of each score among ascending ones, and how far it is to the right one."""
    right = np.clip(np.searchsorted(scores, score), 0, scores.size - 1)
    left = np.where(scores[right] > score, np.maximum(right - 1, 0), right)
    gap = scores[right] - scores[left]
    share = np.clip((score - scores[left]) / np.where(gap > 0, gap, 1), 0, 1)
    return (left, right), share
