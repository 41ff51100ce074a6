"""Loess on many resamples of the same cases at once: of each, what `_loess` gives.

A resample has cells and reaches of its own, but its rows are among those of the data. The rows of
all resamples stand one after the other in one array, and every step is taken for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal.data.weights import SAME
from bayescal.estimators.integrated._loess import CELL, LOESS_EDGE, MARGIN, MOST_SWAY, SPREAD

__all__ = ["Resamples", "resampled_loess", "resamples_of"]

Indices = NDArray[np.intp]

RESAMPLED_BLOCK = 1 << 14


class Resamples(NamedTuple):
    """The distinct scores that each resample has, one resample after the other.

    Attributes
    ----------
    distinct : ndarray of shape (distinct,)
        Scores of the data, ascending.
    before : ndarray of int of shape (resamples, distinct + 1)
        Index of the first row of a resample whose score is at least that of the data, or of the
        next resample's first row.
    score, trials, hits : ndarray of shape (rows,)
        Scores ascend within a resample.
    resample : ndarray of int of shape (rows,)
        Index of each row's resample.
    """

    distinct: Floats
    before: Indices
    score: Floats
    trials: Floats
    hits: Floats
    resample: Indices

    @property
    def first(self) -> Indices:
        """The first row of each resample."""
        return self.before[:, 0]

    @property
    def last(self) -> Indices:
        """The last row of each resample."""
        return self.before[:, -1] - 1

    def each(self) -> Iterator[slice]:
        """The rows of each resample."""
        return map(slice, self.first, self.before[:, -1])


def resamples_of(scores: Floats, outcomes: Floats, weights: Floats) -> Resamples:
    """The rows of weightings of the same cases.

    Parameters
    ----------
    scores, outcomes : ndarray of shape (n_samples,)
        In ascending order of the scores.
    weights : ndarray of shape (resamples, n_samples)
        Whole numbers of cases; each resample has one at least.
    """
    start = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    trials = np.add.reduceat(weights, start, axis=1)
    hits = np.add.reduceat(weights * outcomes, start, axis=1)
    drawn = trials > 0
    resample, row = np.nonzero(drawn)
    rows = np.cumsum(drawn.sum(axis=1))
    before = np.zeros((len(weights), start.size + 1), np.intp)
    np.cumsum(drawn, axis=1, out=before[:, 1:])
    before[1:] += rows[:-1, None]
    distinct = scores[start]
    return Resamples(distinct, before, distinct[row], trials[drawn], hits[drawn], resample)


def resampled_loess(resamples: Resamples, span: float) -> Floats:
    """The curve of each resample at its own scores.

    Parameters
    ----------
    span : float
        Share of a resample's cases that a local fit uses.

    Returns
    -------
    ndarray of shape (rows,)
    """
    distinct = resamples.distinct
    power = -int(np.frexp(distinct[-1] - distinct[0])[1])
    score = np.ldexp(resamples.score, power)
    resamples = resamples._replace(distinct=np.ldexp(distinct, power), score=score)

    first, last = resamples.first, resamples.last
    above = np.cumsum(resamples.trials)
    base = above[first] - resamples.trials[first]
    total = above[last] - base
    extent = score[last] - score[first]
    same = np.ldexp(SAME, np.frexp(extent)[1])  # of a range of about 1
    margin = np.where(extent > 0, MARGIN * extent, MARGIN)
    ends = score[first] - margin, score[last] + margin

    cut = _cuts(resamples, above, np.floor(total * span * CELL), same, *ends)
    every = np.arange(first.size)
    anchor = np.concatenate([ends[0], score[cut], ends[1]])
    resample = np.concatenate([every, resamples.resample[cut], every])
    order = np.lexsort((anchor, resample))
    anchor, resample = anchor[order], resample[order]

    def nth(case: Floats) -> Floats:
        row = np.searchsorted(above, base[resample] + case + 0.5)
        values: Floats = score[np.minimum(row, last[resample])]
        return values

    count = np.maximum(1, np.floor(total * span + 1e-5))
    reach = _reaches(anchor, count[resample], (total - count)[resample], nth)
    reach = np.maximum(reach, same[resample])
    value, slope = _local_quadratics(resamples, resample, anchor, reach)

    left = np.cumsum(np.bincount(cut, minlength=score.size)) + 2 * resamples.resample
    curve = np.empty_like(score)
    for part in blocks(score.size, 1, RESAMPLED_BLOCK):
        curve[part] = _joined(score[part], left[part], anchor, value, slope)
    return curve


def _cuts(
    resamples: Resamples, above: Floats, most: Floats, same: Floats, low: Floats, high: Floats
) -> Indices:
    """The rows at whose scores cells of more than `most` cases are cut in two."""
    first, last = resamples.first, resamples.last
    resample, left, right = np.arange(first.size), low, high
    cuts = []
    while first.size:
        below = above[first] - resamples.trials[first]
        half = np.floor((below + 1 + above[last]) / 2)
        row = np.minimum(np.searchsorted(above, half), np.maximum(last - 1, first))
        row -= (row > first) & (half - above[row - 1] < above[row] - half)
        cut = resamples.score[row]
        parted = (left + same[resample] < cut) & (cut < right - same[resample])
        parted &= above[last] - below > most[resample]
        cuts.append(row[parted])
        rest = parted & (row < last)
        lower = (first, row, left, cut, resample)
        upper = (row + 1, last, cut, right, resample)
        first, last, left, right, resample = (
            np.concatenate([one[parted], other[rest]])
            for one, other in zip(lower, upper, strict=True)
        )
    return np.concatenate(cuts)


def _reaches(
    anchor: Floats, count: Floats, most: Floats, nth: Callable[[Floats], Floats]
) -> Floats:
    """Distances within which the nearest `count` cases lie; `nth` gives a case's score."""
    first, last = np.zeros_like(most), most
    while (searched := first < last).any():
        middle = np.floor((first + last) / 2)
        enough = anchor - nth(middle) <= nth(middle + count) - anchor
        first = np.where(searched & ~enough, middle + 1, first)
        last = np.where(enough, middle, last)
    reach: Floats = np.maximum(anchor - nth(first), nth(first + count - 1) - anchor)
    return reach


def _local_quadratics(
    resamples: Resamples, resample: Indices, anchor: Floats, reach: Floats
) -> Floats:
    """Value and slope at each anchor, (2, anchors)."""
    start, size = _near(resamples, resample, anchor, LOESS_EDGE * reach)
    on_edge = size == 0
    if on_edge.any():
        wider = _near(resamples, resample, anchor, (1 + SAME) * reach)
        start, size = np.where(on_edge, wider, (start, size))
    widest = int(size.max())
    windows = [
        sliding_window_view(np.append(values, np.zeros(widest)), widest)
        for values in (resamples.score, resamples.trials, resamples.hits)
    ]
    fits = np.empty((2, anchor.size))
    for part in blocks(anchor.size, widest, RESAMPLED_BLOCK):
        score, trials, hits = (window[start[part], : size[part].max()] for window in windows)
        u = (score - anchor[part, None]) / reach[part, None]
        cube = np.abs(u)
        cube *= cube * cube
        closeness = 1 - cube
        closeness *= closeness * closeness
        closeness[on_edge[part]] = 1
        closeness *= np.arange(u.shape[1]) < size[part, None]
        trials *= closeness
        hits *= closeness
        fits[:, part] = _quadratic(u, trials, hits)
    fits[1] /= reach
    return fits


def _near(
    resamples: Resamples, resample: Indices, anchor: Floats, reach: Floats
) -> tuple[Indices, Indices]:
    """The first row within reach of each anchor, and how many there are."""
    low = np.searchsorted(resamples.distinct, anchor - reach)
    high = np.searchsorted(resamples.distinct, anchor + reach, side="right")
    start = resamples.before[resample, low]
    return start, resamples.before[resample, high] - start


def _quadratic(u: Floats, trials: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Value and slope at 0, by polynomials orthogonal under the trials of each line of the arrays.

    A power is left out where `_loess` leaves it out.
    """
    size_0 = trials.sum(axis=1)
    mean = _dot(trials, u) / size_0
    line = u - mean[:, None]
    weighted = trials * line
    size_1 = _dot(weighted, line)
    sway = np.abs(weighted).sum(axis=1) * np.maximum(np.abs(mean), 1)
    has_line = _is_determined(size_1, size_0, sway)

    size_1 = np.where(has_line, size_1, 1)
    bend, carry = _dot(weighted, line * line) / size_1, size_1 / size_0
    curved = (line - bend[:, None]) * line
    curved -= carry[:, None]
    weighted = trials * curved
    size_2 = _dot(weighted, curved)
    at_0, slope_at_0 = (mean + bend) * mean - carry, -2 * mean - bend
    sway = np.abs(weighted).sum(axis=1) * np.maximum(np.abs(at_0), np.abs(slope_at_0))
    has_curve = has_line & _is_determined(size_2, size_0, sway)

    rise = np.where(has_line, _dot(hits, line) / size_1, 0)
    turn = np.where(has_curve, _dot(hits, curved) / np.where(has_curve, size_2, 1), 0)
    value = hits.sum(axis=1) / size_0 - rise * mean + turn * at_0
    return value, rise + turn * slope_at_0


def _is_determined(size: Floats, size_0: Floats, sway: Floats) -> NDArray[np.bool_]:
    """Whether a power is more than rounding, and cannot add more than MOST_SWAY."""
    determined: NDArray[np.bool_] = (size > SPREAD**2 * size_0) & (sway <= MOST_SWAY * size)
    return determined


def _dot(first: Floats, second: Floats) -> Floats:
    """Sums of products along the rows."""
    products: Floats = np.einsum("ij,ij->i", first, second)
    return products


def _joined(score: Floats, left: Indices, anchor: Floats, value: Floats, slope: Floats) -> Floats:
    """Cubics between anchors, at scores that follow the anchors `left`."""
    right = left + 1
    width = anchor[right] - anchor[left]
    share = (score - anchor[left]) / width
    rest = 1 - share
    from_left = value[left] * (1 + 2 * share) + slope[left] * width * share
    from_right = value[right] * (1 + 2 * rest) - slope[right] * width * rest
    curve: Floats = from_left * rest**2 + from_right * share**2
    return curve
