"""Sums over the nearest cases of each point on a line.

A neighbourhood has the k nearest cases, the point's own among them, and every case as near as the
last of those, so that no order of the cases shows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, blocks

__all__ = ["Sums", "on_line"]

Sums = Callable[[Floats], Floats]
"""A value of each point, such as its events, to the sum over each point's neighbourhood."""

SAME = 1e-12
ON_LINE_BLOCK = 1 << 13


def on_line(points: Floats, cases: Floats, nearest: float) -> Sums:
    """Neighbourhoods of distinct ascending points."""
    radius = _radius_on_line(points, cases, nearest) + SAME
    start = np.searchsorted(points, points - radius)
    stop = np.searchsorted(points, points + radius, side="right")

    def sums(values: Floats) -> Floats:
        below = np.concatenate([[0.0], np.cumsum(values)])
        inside: Floats = below[stop] - below[start]
        return inside

    return sums


def _radius_on_line(points: Floats, cases: Floats, nearest: float) -> Floats:
    """Distance of each point to the last of its nearest cases.

    Of the stretches that begin at a point to the left and hold enough cases, the one that reaches
    least far is one of two: where the reach to the right overtakes the one to the left.
    """
    below = np.concatenate([[0.0], np.cumsum(cases)])
    ends = np.searchsorted(below, below[:-1] + (nearest - SAME * below[-1])) - 1
    right_end = np.append(points, np.inf)

    def radius(here: NDArray[np.intp]) -> Floats:
        point = points[here]

        def reach(first: NDArray[np.intp]) -> Floats:
            """Distance to the right end of the shortest stretch from `first` with enough cases."""
            right: Floats = right_end[np.maximum(ends[first], here)] - point
            return right

        low, high = np.searchsorted(ends, here), here
        while (low < high).any():
            middle = (low + high) // 2
            overtaken = point - points[middle] <= reach(middle)
            low, high = np.where(overtaken, low, middle + 1), np.where(overtaken, middle, high)
        left = np.where(low > 0, point - points[low - 1], np.inf)
        return np.minimum(reach(low), left)

    rows = (np.arange(part.start, part.stop) for part in blocks(points.size, room=ON_LINE_BLOCK))
    return np.concatenate([radius(here) for here in rows])
