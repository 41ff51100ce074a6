"""Local polynomials of the outcomes in the score, at a few anchors and interpolated between.

A fit at an anchor is linear in the outcomes, so that one set of weights serves every replicate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from bayescal._base.arrays import Floats
from bayescal.data.table import Table
from bayescal.data.weights import SAME
from bayescal.estimators.integrated._curve import Curve

__all__ = ["loess", "lowess"]

CELL = 0.2
MARGIN = 0.005
LOESS_STEP = 0.01
LOESS_EDGE = 0.999
MOST_SWAY = 100.0
"""How much a power may add to a fit or its slope over the reach, for outcomes from 0 to 1."""
SPREAD = 1e-7
"""Least spread of the scores about lower powers, in reaches, that is more than rounding."""
LOESS_BLOCK = 1 << 14
MOST_LOCAL_ROWS = 1 << 16
"""Rows past which neighbouring ones are merged for local lines."""


class Local(NamedTuple):
    """A polynomial around each anchor: its degree, and the least spread of the scores it needs."""

    degree: int
    least: float


def loess(table: Table, at: Floats, span: float) -> Curve:
    """Local quadratic fits at the vertices of a k-d tree, joined by cubics (Cleveland & Grosse)."""
    table, at = _magnified(table, at)
    anchors = _vertices(table, span)
    count = max(1, int(table.total * span + 1e-5))

    def curve(hits: Floats) -> Floats:
        reaches = _reaches(table, anchors, count)
        fits = _fits(table, hits, anchors, reaches, Local(degree=2, least=0.0))
        spline = CubicHermiteSpline(anchors, fits[..., 0], fits[..., 1])
        joined = np.empty((hits.shape[0], at.size))
        for start in range(0, at.size, LOESS_BLOCK):
            joined[:, start : start + LOESS_BLOCK] = spline(at[start : start + LOESS_BLOCK]).T
        return joined

    return curve


def lowess(table: Table, at: Floats, span: float) -> Curve:
    """Local linear fits at scores one hundredth of the range apart, joined by lines (Cleveland)."""
    table, at = _magnified(table, at)
    anchors = _steps(table.score)
    count = min(max(2, int(table.total * span + 1e-7)), math.ceil(table.total))
    least = 0.001 * float(np.ptp(table.score))
    few, reaches = _merged(table), _reaches(table, anchors, count)

    def curve(hits: Floats) -> Floats:
        merged = hits if few is table else np.add.reduceat(hits, _first_of(table), axis=1)
        fits = _fits(few, merged, anchors, reaches, Local(degree=1, least=least))
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
    step = LOESS_STEP * (score[-1] - score[0])
    rows = [0]
    while rows[-1] < score.size - 1:
        reached = int(np.searchsorted(score, score[rows[-1]] + step, side="right")) - 1
        rows.append(max(rows[-1] + 1, reached))
    return score[rows]


def _merged(table: Table) -> Table:
    """A long table with neighbouring rows merged: a local line hardly bends between them.

    The mean of the scores of a row stands for them; that moves a curve by about 1e-6 at most.
    """
    if table.score.size <= MOST_LOCAL_ROWS:
        return table
    first = _first_of(table)
    trials = np.add.reduceat(table.trials, first)
    score = np.add.reduceat(table.trials * table.score, first) / trials
    return table._replace(score=score, trials=trials)


def _first_of(table: Table) -> NDArray[np.intp]:
    """Where the merged rows of a table begin: they have one width, and few scores stay alone."""
    low, high = table.score[[0, -1]]
    part = ((table.score - low) * (MOST_LOCAL_ROWS / (high - low))).astype(np.intp)
    return np.flatnonzero(np.diff(part, prepend=-1))


def _fits(table: Table, hits: Floats, anchors: Floats, reaches: Floats, local: Local) -> Floats:
    """Value and slope at each anchor, from the cases within its reach.

    Returns
    -------
    ndarray of shape (anchors, replicates, 2)
    """
    return np.stack([_fit(table, hits, *at, local) for at in zip(anchors, reaches, strict=True)])


def _reaches(table: Table, anchors: Floats, count: int) -> Floats:
    """Distances within which the nearest `count` cases lie, and at least a rounding error."""
    above = np.cumsum(table.trials)
    cases = math.ceil(above[-1] * (1 - SAME))

    def nth(case: NDArray[np.intp]) -> Floats:
        row = np.searchsorted(above, case + SAME * above[-1], side="right")
        score: Floats = table.score[np.minimum(row, table.score.size - 1)]
        return score

    first, last = np.zeros(anchors.size, np.intp), np.full(anchors.size, cases - count)
    while (searched := first < last).any():
        middle = (first + last) // 2
        enough = anchors - nth(middle) <= nth(middle + count) - anchors
        first = np.where(searched & ~enough, middle + 1, first)
        last = np.where(enough, middle, last)
    reach: Floats = np.maximum(anchors - nth(first), nth(first + count - 1) - anchors)
    return np.maximum(reach, SAME)


def _fit(table: Table, hits: Floats, anchor: float, reach: float, local: Local) -> Floats:
    """Weighted least squares about an anchor, by polynomials orthogonal under its weights.

    A power is left out when the scores spread less about the lower ones than `local.least`, or not
    at all, or so little that it could add more than MOST_SWAY: then the fit has a lower degree.
    Each power takes one walk over the cases.
    """
    near = _between(table.score, anchor - LOESS_EDGE * reach, anchor + LOESS_EDGE * reach)
    on_edge = near.start == near.stop
    if on_edge:
        wider = reach * (1 + SAME)
        near = _between(table.score, anchor - wider, anchor + wider)

    fit = np.zeros((hits.shape[0], 2))
    last_size, least_size = math.inf, 0.0
    at_last, at_anchor = np.zeros(2), np.array([1.0, 0.0])
    terms: list[tuple[float, float]] = []
    for _ in range(local.degree + 1):
        size, moment, sway, sums = 0.0, 0.0, 0.0, np.zeros(hits.shape[0])
        for start in range(near.start, near.stop, LOESS_BLOCK):
            rows = slice(start, min(start + LOESS_BLOCK, near.stop))
            u = (table.score[rows] - anchor) / reach
            power = _power(u, terms)
            closeness = np.ones_like(u) if on_edge else _cube(1 - _cube(np.abs(u)))
            weighted = closeness * power
            sums += hits[:, rows] @ weighted
            square = weighted * power * table.trials[rows]
            size += float(square.sum())
            sway += float(np.abs(weighted) @ table.trials[rows])
            moment += _sum(square, u)
        if size <= least_size or sway * np.abs(at_anchor).max() > MOST_SWAY * size:
            break
        fit += np.outer(sums / size, at_anchor)
        if not terms:
            least_size = size * max(local.least / reach, SPREAD) ** 2
        mean, carry = moment / size, size / last_size
        terms.append((mean, carry))
        shifted = np.array([0.0, at_anchor[0]])
        at_last, at_anchor = at_anchor, shifted - mean * at_anchor - carry * at_last
        last_size = size
    fit[:, 1] /= reach
    return fit


def _power(u: Floats, terms: list[tuple[float, float]]) -> Floats:
    """The orthogonal polynomial that these terms of the recurrence lead to; at first, [1]."""
    last, power = np.zeros(1), np.ones(1)
    for mean, carry in terms:
        last, power = power, (u - mean) * power - carry * last
    return power


def _between(score: Floats, low: float, high: float) -> slice:
    """The rows with scores in a closed interval."""
    return slice(int(np.searchsorted(score, low)), int(np.searchsorted(score, high, "right")))


def _cube(x: Floats) -> Floats:
    """Third power, ten times as fast as `x**3`."""
    return x * x * x


def _sum(first: Floats, second: Floats) -> float:
    """Sum of products, in one thread: starting more takes longer than the sum."""
    return float(np.einsum("i,i", first, second))
