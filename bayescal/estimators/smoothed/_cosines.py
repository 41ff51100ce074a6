"""Smoothing of point masses on a line with mirrors at its ends, by cosine series.

Smoothing damps the coefficients of the series, so that one set of them serves every bandwidth.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal._base.log_odds import log_odds_of
from bayescal._base.text import shortened

__all__ = [
    "MOST_CELLS",
    "Line",
    "absolute_area",
    "area_at",
    "as_bandwidth",
    "cosines",
    "fast_size",
    "fixed_points",
    "log_odds_line",
    "open_line",
    "series",
    "too_small",
]

COSINES_CELLS = 16
"""Cells of the grid on which masses are gathered, to the smallest bandwidth."""
NODES = 32
COARSE = 8
"""Nodes at which a smoothed mass is evaluated, to the bandwidth."""
MOST_CELLS = 1 << 20
BANDWIDTHS = 1e-12, 1e300
"""The narrowest and the widest."""
COSINES_REACH = 13.0
"""Bandwidths between two points beyond which their kernels do not meet, to 1e-10."""
COSINES_NEGLIGIBLE = 1e-14
STEPS = 100
CHUNK = 1 << 14


class Line(NamedTuple):
    """Cases on a line with mirrors at both ends.

    Attributes
    ----------
    position : ndarray of shape (n_samples,)
        From 0 to 1, of 64 or 32 bits.
    length : float
        Of the line, in the units of the bandwidth.
    """

    position: NDArray[Any]
    length: float

    @property
    def floor(self) -> float:
        """A bandwidth below that of most data of this size."""
        return min(1 / 16, float(np.cbrt(self.length / self.position.size)) / 5)

    def cells(self, sigma: float) -> int:
        """Cells that resolve a bandwidth."""
        return fast_size(COSINES_CELLS * self.length / sigma)

    @property
    def narrowest(self) -> float:
        """A bandwidth that can be resolved, gaps or not."""
        return 4 * COSINES_CELLS * self.length / MOST_CELLS

    def without_gaps(self, sigma: float, cells: int) -> Line:
        """The line without the cells that no kernel up to this bandwidth reaches."""
        position = self.position.astype(np.float64, copy=False) * cells
        index = np.minimum(position.astype(np.intp), cells - 1)
        occupied = np.bincount(index, minlength=cells) > 0
        at = np.arange(cells)
        since = at - np.maximum.accumulate(np.where(occupied, at, -1))
        kept = since <= np.ceil(COSINES_REACH * sigma / self.length * cells)
        left = int(kept.sum())
        position = (position - np.cumsum(~kept)[index]) / left
        return Line(np.clip(position, 0, 1), self.length * left / cells)


def log_odds_line(scores: NDArray[Any], sigma: float) -> tuple[Line, float]:
    """Log-odds, and where their line starts, with no mirror in reach up to this bandwidth."""
    return open_line(log_odds_of(scores), sigma)


def open_line(position: Floats, sigma: float) -> tuple[Line, float]:
    """Positions, which are changed, and where their line starts, with no mirror in reach."""
    start = float(position.min()) - COSINES_REACH / 2 * sigma
    length = float(position.max()) + COSINES_REACH / 2 * sigma - start
    position -= start
    position /= length
    return Line(position, length), start


def as_bandwidth(value: Any, name: str = "bandwidth") -> float:
    """A number in the range of bandwidths."""
    narrowest, widest = BANDWIDTHS
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or isinstance(value, bool) or not narrowest <= value <= widest:
        raise InputError(
            f"{name} must be a number from {narrowest:g} to {widest:g}, "
            f"got {shortened(repr(value))}."
        )
    return float(value)


def too_small(sigma: float, least: float) -> InputError:
    """The error for a bandwidth that needs a grid of too many cells."""
    return InputError(f"bandwidth = {sigma:g} is too small to resolve: take at least {least:.1g}.")


def fast_size(least: float) -> int:
    """A multiple of four, as large as this or larger than the most, that transforms fast."""
    quarter = min(max(math.ceil(min(least / 4, MOST_CELLS)), 64), MOST_CELLS)
    return 4 * int(fft.next_fast_len(quarter, real=True))


def cosines(position: NDArray[Any], masses: Floats, cells: int) -> Floats:
    """Sums of mass times cos(pi k position), for k up to a quarter of the cells.

    Masses are shared out to the nodes of a grid by cubic B-splines, which the division by their
    transform undoes.

    Parameters
    ----------
    position : ndarray of shape (n_samples,)
    masses : ndarray of shape (replicates, n_samples)

    Returns
    -------
    ndarray of shape (replicates, cells // 4)
    """
    nodes = np.zeros((masses.shape[0], cells + 4))
    for part in blocks(position.size, room=CHUNK):
        offset = position[part].astype(np.float64, copy=False) * cells + 0.5
        index = offset.astype(np.intp)
        offset -= index
        for at, share in enumerate(_spline(offset)):
            for row, mass in zip(nodes, masses[:, part], strict=True):
                np.add.at(row[at : at + cells + 1], index, share * mass)
    inner = nodes[:, 2:-2]
    inner[:, :2] += nodes[:, 1::-1]
    inner[:, -2:] += nodes[:, :-3:-1]
    kept = cells // 4
    sums: Floats = fft.dct(inner, type=2, axis=1, overwrite_x=True)[:, :kept]
    sums /= 2
    angle = np.arange(1, kept) * (np.pi / (2 * cells))
    square = angle**2 + (angle / np.tan(angle)) ** 2  # (angle / sin angle)^2, in less time
    sums[:, 1:] *= square**2
    return sums


def _spline(offset: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Pieces of the cubic B-spline at offsets from the node on the left, which add up to 1."""
    square, rest = offset * offset, 1 - offset
    first, last = rest * rest, square * offset
    first *= rest
    first /= 6
    last /= 6
    second = 3 * last
    second -= square
    second += 2 / 3
    third = 1 - first
    third -= second
    third -= last
    return first, second, third, last


def series(coefs: Floats, intervals: int) -> Floats:
    """The density on [0, 1] that has these cosines, at the ends of equal intervals."""
    values: Floats = fft.irfft(coefs[:, : intervals + 1], 2 * intervals, axis=1, norm="forward")
    return values[:, : intervals + 1]


def area_at(coefs: Floats, sigma: Floats, nodes: int = NODES) -> tuple[Floats, Floats]:
    """Integral of the absolute mass after Gaussian smoothing, and its derivative in log sigma.

    Parameters
    ----------
    coefs : ndarray of shape (replicates, k)
        From `cosines`.
    sigma : ndarray of shape (replicates,)
        In lengths of the line.
    nodes : int
        At which to evaluate, to the smallest bandwidth.

    Notes
    -----
    Smoothing is the heat equation, df/dsigma = sigma f'', so that the integral of its sign times
    f'' is a sum of slopes where f changes sign.
    """
    least = float(sigma.min())
    intervals = fast_size(nodes / least)
    kept = min(coefs.shape[1], int(3 / least) + 2, intervals)
    k = np.arange(kept)
    wave = np.pi * np.maximum(k, 1)
    damped = coefs[:, :kept] * np.exp(-0.5 * (np.pi * sigma[:, None] * k) ** 2)
    # One series whose even part is the smoothed mass, and whose odd part is its integral.
    halves = damped * (0.5 - 0.5j * (k > 0) / wave)
    both = fft.irfft(halves, 2 * intervals, axis=1, norm="forward")
    right, left = both[:, 1 : intervals + 1], both[:, : intervals - 1 : -1]
    mass, integral = np.empty((2, len(coefs), intervals + 1))
    mass[:, 0], integral[:, 0] = 2 * both[:, 0], 0
    np.add(right, left, out=mass[:, 1:])
    np.subtract(right, left, out=integral[:, 1:])
    step = 1 / intervals
    pieces = integral[:, 1:] - integral[:, :-1]
    pieces += damped[:, :1] * step
    area, slope = absolute_area(mass, pieces, step)
    return area, -2 * sigma**2 * slope


def absolute_area(height: Floats, pieces: Floats, step: float) -> tuple[Floats, Floats]:
    """Integral of |f|, and the sum of |f'| where f changes sign.

    Parameters
    ----------
    height : ndarray of shape (replicates, nodes)
        f at equal steps.
    pieces : ndarray of shape (replicates, nodes - 1)
        Its integral between neighbouring nodes.

    Notes
    -----
    Between nodes of opposite sign f is taken as the parabola through them that has the right
    integral.
    """
    up = height > 1e-13 * np.abs(height).max(axis=1, keepdims=True)
    row, at = np.nonzero(up[:, :-1] != up[:, 1:])
    turn = np.where(up[row, at], -1.0, 1.0)  # as if every crossing were upwards
    first = np.minimum(turn * height[row, at], 0)
    last = np.maximum(turn * height[row, at + 1], 0)
    piece = pieces[row, at]
    total = turn * piece / step
    bend = 6 * total - 3 * (first + last)
    rise = last - first + bend
    steepness = np.sqrt(np.maximum(rise**2 + 4 * bend * first, 0))
    divisor = rise + steepness
    root = np.minimum(-2 * first / np.where(divisor > 0, divisor, 1), 1)
    below = root * (first + root * (rise / 2 - root * bend / 3))
    extra = step * (total - 2 * below) - np.abs(piece)
    count = height.shape[0]
    area = np.abs(pieces).sum(axis=1) + np.bincount(row, extra, count)
    return area, np.bincount(row, steepness, count) / step


def fixed_points(line: Line, masses: Floats) -> Floats:
    """The bandwidth that equals the absolute area at it, for each row of masses.

    Rows whose bandwidth is too small for the grid are done again on a finer one, with the gaps
    between points cut out.
    """
    values = np.zeros(masses.shape[0])
    pending = np.arange(values.size)
    floor = line.floor
    while True:
        cells = min(line.cells(floor), MOST_CELLS)
        floor = max(floor, COSINES_CELLS * line.length / cells)
        solved = _solve(cosines(line.position, masses, cells), line.length, floor)
        values[pending] = solved
        small = (solved <= floor) & (solved > 0)
        if not small.any() or floor < COSINES_NEGLIGIBLE:
            return values
        if not small.all():
            pending, masses = pending[small], masses[small]
        line = line.without_gaps(floor, cells)
        lowest = float(solved[small].min()) / 2  # no bandwidth is below its area
        finer = max(floor / 16, lowest, COSINES_CELLS * line.length / MOST_CELLS)
        if finer > floor / 2:
            return values
        floor = finer


def _solve(coefs: Floats, length: float, floor: float) -> Floats:
    """Where the area equals the bandwidth, or the area at the floor where that is below it."""
    nothing = np.abs(coefs).max(axis=1) <= COSINES_NEGLIGIBLE
    start = np.where(nothing, -np.inf, np.log(4 * floor))
    rough, _ = _newton(coefs, length, floor, start, COARSE, 1e-3)
    point, area = _newton(coefs, length, floor, rough, NODES, 1e-6)
    return np.where(point > np.log(floor), np.exp(point), area)


def _newton(
    coefs: Floats, length: float, floor: float, start: Floats, nodes: int, tolerance: float
) -> tuple[Floats, Floats]:
    """Logarithm of the bandwidth by Newton steps between bounds, and the area at the last."""
    point, areas = start.copy(), np.zeros_like(start)
    low, high = np.full_like(start, -np.inf), np.full_like(start, np.inf)
    active = np.flatnonzero(start != -np.inf)
    for _ in range(STEPS):
        if active.size == 0:
            break
        at = point[active]
        area, slope = area_at(coefs[active], np.exp(at) / length, nodes)
        area = np.maximum(area, np.finfo(float).tiny)
        gap = np.log(area) - at
        low[active] = np.where(gap > 0, at, low[active])
        high[active] = np.where(gap > 0, high[active], at)
        ahead = at + gap / (1 - slope / area)
        outside = (ahead < low[active]) | (ahead > high[active])
        ahead[outside] = (low[active] + high[active])[outside] / 2
        areas[active], point[active] = area, np.maximum(ahead, np.log(floor))
        active = active[np.abs(point[active] - at) > tolerance]
    return point, areas
