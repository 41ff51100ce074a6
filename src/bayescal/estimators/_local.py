"""Local polynomials of the outcomes in the score, at a few anchors and interpolated between.

A fit at an anchor is linear in the outcomes, so that one set of kernels serves every replicate.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from bayescal._validate import Floats
from bayescal.estimators._table import SAME, Curve, Table

__all__ = ["loess", "lowess"]

CELL = 0.2
MARGIN = 0.005
STEP = 0.01
EDGE = 0.999


class Kernel(NamedTuple):
    """A local fit as a linear map of the events near its anchor.

    Attributes
    ----------
    near : slice
        The rows of the table that it uses.
    fit : ndarray of shape (2, rows)
        What the events there add to the value and to the slope at the anchor.
    """

    near: slice
    fit: Floats


def loess(table: Table, at: Floats, span: float) -> Curve:
    """Local quadratic fits at the vertices of a k-d tree, joined by cubics (Cleveland & Grosse)."""
    table, at = _magnified(table, at)
    anchors = _vertices(table, span)
    count = max(1, int(table.total * span + 1e-5))

    def curve(hits: Floats) -> Floats:
        kernels = _kernels(table, anchors, count, degree=2, least=0.0)
        fits = np.stack([hits[:, near] @ fit.T for near, fit in kernels])
        joined: Floats = CubicHermiteSpline(anchors, fits[..., 0], fits[..., 1])(at).T
        return joined

    return curve


def lowess(table: Table, at: Floats, span: float) -> Curve:
    """Local linear fits at scores one hundredth of the range apart, joined by lines (Cleveland)."""
    table, at = _magnified(table, at)
    anchors = _steps(table.score)
    count = min(max(2, int(table.total * span + 1e-7)), math.ceil(table.total))
    least = 0.001 * float(np.ptp(table.score))

    def curve(hits: Floats) -> Floats:
        kernels = _kernels(table, anchors, count, degree=1, least=least)
        fits = np.stack([hits[:, near] @ fit.T for near, fit in kernels])
        return np.stack([np.interp(at, anchors, values) for values in fits[..., 0].T])

    return curve


def _magnified(table: Table, at: Floats) -> tuple[Table, Floats]:
    """Scores times the power of two that makes their range about 1, for slopes that are finite.

    What lies beyond the range moves to its ends.
    """
    low, high = table.score[[0, -1]]
    power = -int(np.frexp(high - low)[1])
    inside = np.clip(at, low, high)
    return table._replace(score=np.ldexp(table.score, power)), np.ldexp(inside, power)


def _vertices(table: Table, span: float) -> Floats:
    """Ends of the range, a little widened, and the scores at which cells are cut in two."""
    score, above = table.score, np.cumsum(table.trials)
    most = math.floor(table.total * span * CELL)
    margin = MARGIN * (score[-1] - score[0]) or MARGIN
    ends = (float(score[0] - margin), float(score[-1] + margin))
    cuts: list[float] = []
    cells = [(0, score.size - 1, *ends)]
    while cells:
        first, last, left, right = cells.pop()
        below = above[first] - table.trials[first]
        if above[last] - below <= most:
            continue
        row = first + _middle(above[first : max(last, first + 1)], below, above[last])
        cut = float(score[row])
        if left + SAME < cut < right - SAME:
            cuts.append(cut)
            cells.append((first, row, left, cut))
            if row < last:
                cells.append((row + 1, last, cut, right))
    return np.array([ends[0], *sorted(cuts), ends[1]])


def _middle(above: Floats, below: float, end: float) -> int:
    """The row after which a cell's cases are most nearly halved; of two, the later."""
    half = math.floor((below + 1 + end) / 2)
    distance = np.abs(above - half)
    return int(distance.size - 1 - distance[::-1].argmin())


def _steps(score: Floats) -> Floats:
    """The first and last score, and between them the farthest within each step."""
    step = STEP * (score[-1] - score[0])
    rows = [0]
    while rows[-1] < score.size - 1:
        reached = int(np.searchsorted(score, score[rows[-1]] + step, side="right")) - 1
        rows.append(max(rows[-1] + 1, reached))
    return score[rows]


def _kernels(
    table: Table, anchors: Floats, count: int, degree: int, least: float
) -> Iterator[Kernel]:
    """One kernel for each anchor, over the `count` cases nearest to it."""
    above = np.cumsum(table.trials)
    for anchor in anchors:
        yield _kernel(table, anchor, _reach(table.score, above, anchor, count), degree, least)


def _reach(score: Floats, above: Floats, anchor: float, count: int) -> float:
    """Distance within which the nearest `count` cases lie, and at least a rounding error."""
    cases = math.ceil(above[-1] * (1 - SAME))

    def nth(case: int) -> float:
        row = int(np.searchsorted(above, case + SAME * above[-1], side="right"))
        return float(score[min(row, score.size - 1)])

    def far_enough(first: int) -> bool:
        return anchor - nth(first) <= nth(first + count) - anchor

    first = bisect_left(range(cases - count), True, key=far_enough)
    return max(anchor - nth(first), nth(first + count - 1) - anchor, SAME)


def _kernel(table: Table, anchor: float, reach: float, degree: int, least: float) -> Kernel:
    """Weighted least squares about an anchor, by polynomials orthogonal under its weights.

    A power is left out when the scores spread less about the lower ones than `least`, or not at
    all: then the fit has a lower degree.
    """
    near = _between(table.score, anchor - EDGE * reach, anchor + EDGE * reach)
    on_edge = near.start == near.stop
    if on_edge:
        wider = reach * (1 + SAME)
        near = _between(table.score, anchor - wider, anchor + wider)
    u = (table.score[near] - anchor) / reach
    closeness = np.ones_like(u) if on_edge else _cube(1 - _cube(np.abs(u)))
    weight = closeness * table.trials[near]

    total = size = float(weight.sum())
    last_size = math.inf
    last, power = np.zeros_like(u), np.ones_like(u)
    at_last, at_anchor = np.zeros(2), np.array([1.0, 0.0])
    fit = np.outer(at_anchor / size, power)
    least_size = total * max(least / reach, 1e-7) ** 2
    for _ in range(degree):
        mean, carry = _sum(weight * u, power**2) / size, size / last_size
        last, power = power, (u - mean) * power - carry * last
        shifted = np.array([0.0, at_anchor[0]])
        at_last, at_anchor = at_anchor, shifted - mean * at_anchor - carry * at_last
        last_size, size = size, _sum(weight, power**2)
        if size <= least_size:
            break
        fit += np.outer(at_anchor / size, power)
    fit *= closeness
    fit[1] /= reach
    return Kernel(near, fit)


def _between(score: Floats, low: float, high: float) -> slice:
    """The rows with scores in a closed interval."""
    return slice(int(np.searchsorted(score, low)), int(np.searchsorted(score, high, "right")))


def _cube(x: Floats) -> Floats:
    """Third power, ten times as fast as `x**3`."""
    return x * x * x


def _sum(first: Floats, second: Floats) -> float:
    """Sum of products, in one thread: starting more takes longer than the sum."""
    return float(np.einsum("i,i", first, second))
