"""SmoothECE and its curve (Blasiok & Nakkiran)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from bayescal.core.arrays import Floats, RandomState, blocks, random_generator
from bayescal.core.errors import InputError, as_level, check_choice
from bayescal.core.text import documented
from bayescal.data.cases import as_scores
from bayescal.estimators import registry
from bayescal.estimators.bins import cells_of
from bayescal.estimators.distance import Metric, as_metric, positions
from bayescal.estimators.registry import OutcomesLike, Statistic
from bayescal.estimators.uncertainty import Interval, draw, estimator_interval

# Cells of the grid on which masses are gathered, to the smallest bandwidth.
COSINES_CELLS = 16
NODES = 32
# Nodes at which a smoothed mass is evaluated, to the bandwidth.
COARSE = 8
MOST_CELLS = 1 << 20
# The narrowest and the widest.
BANDWIDTHS = 1e-12, 1e300
# Bandwidths between two points beyond which their kernels do not meet, to 1e-10.
COSINES_REACH = 13.0
COSINES_NEGLIGIBLE = 1e-14
STEPS = 100
CHUNK = 1 << 14


class Line(NamedTuple):
    """Cases from 0 to 1 on a line with mirrors at both ends; its length in bandwidth's units."""

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


def open_line(position: Floats, sigma: float) -> tuple[Line, float]:
    """Positions, which are changed, and where their line starts, with no mirror in reach."""
    start = float(position.min()) - COSINES_REACH / 2 * sigma
    length = float(position.max()) + COSINES_REACH / 2 * sigma - start
    position -= start
    position /= length
    return Line(position, length), start


def as_bandwidth(value: Any) -> float:
    """A number in the range of bandwidths."""
    return registry.as_between(value, "bandwidth", *BANDWIDTHS)


def too_small(sigma: float, least: float) -> InputError:
    """The error for a bandwidth that needs a grid of too many cells."""
    return InputError(f"bandwidth = {sigma:g} is too small to resolve: take at least {least:.1g}.")


def fast_size(least: float) -> int:
    """A multiple of four, as large as this or larger than the most, that transforms fast."""
    quarter = min(max(math.ceil(min(least / 4, MOST_CELLS)), 64), MOST_CELLS)
    return 4 * int(fft.next_fast_len(quarter, real=True))


def cosines(position: NDArray[Any], masses: Floats, cells: int) -> Floats:
    """Sums of mass times cos(pi k position), (replicates, k), for k up to a quarter of the cells.

    Masses, (replicates, n_samples), are shared out to the nodes of a grid by cubic B-splines, which
    the division by their transform undoes.
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
    first, last = rest * rest * rest / 6, square * offset / 6
    second = 3 * last - square + 2 / 3
    return first, second, 1 - first - second - last, last


def series(coefs: Floats, intervals: int) -> Floats:
    """The density on [0, 1] that has these cosines, at the ends of equal intervals."""
    values: Floats = fft.irfft(coefs[:, : intervals + 1], 2 * intervals, axis=1, norm="forward")
    return values[:, : intervals + 1]


def area_at(coefs: Floats, sigma: Floats, nodes: int = NODES) -> tuple[Floats, Floats]:
    """Integral of the absolute mass after Gaussian smoothing, and its derivative in log sigma.

    Of coefficients from `cosines` and one sigma for each replicate, in lengths of the line, with so
    many nodes to the smallest. Smoothing is the heat equation, df/dsigma = sigma f'', so that the
    integral of its sign times f'' is a sum of slopes where f changes sign.
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

    From f at equal steps, (replicates, nodes), and its integrals between them. Between nodes of
    opposite sign f is taken as the parabola through them that has the right integral.
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


# Bandwidths within which cases are put together.
TOGETHER = 1 / 128
LOCAL_REACH = 8.0
# Bandwidth at which a kernel between mirrors at 0 and 1 is constant, to rounding.
LOCAL_FLAT = 3.0
LOCAL_BLOCK = 1 << 20


def local_mean(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, *, mirrors: bool
) -> tuple[Floats, Floats]:
    """Mean outcome around each point, and the density there; weights, (n_samples,), sum to one.

    Kernels are compared with the largest of each point, so that the mean is defined however far
    away the cases are. With mirrors mass is reflected at 0 and 1.
    """
    mean, density = _sums(position, outcomes, weights[None], at, sigma, mirrors)
    return mean[0], density[0]


def local_means(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, *, mirrors: bool
) -> Floats:
    """Mean outcome around each point for weights (replicates, n_samples), of which no row is 0."""
    mean, _ = _sums(position, outcomes, weights, at, sigma, mirrors)
    for row in np.flatnonzero(np.isnan(mean).any(axis=1)):  # its nearest cases have no weight
        mean[row] = local_mean(position, outcomes, weights[row], at, sigma, mirrors=mirrors)[0]
    return mean


def _sums(
    position: Floats, outcomes: Floats, weights: Floats, at: Floats, sigma: float, mirrors: bool
) -> tuple[Floats, Floats]:
    """Mean and density, of shape (replicates, points); NaN where no weight is in reach."""
    sigma = min(sigma, LOCAL_FLAT) if mirrors else sigma
    centre, mass, hits = _gathered(position, outcomes, weights, sigma * TOGETHER)
    if mirrors:
        turns = range(-math.ceil(LOCAL_REACH * sigma), math.ceil(LOCAL_REACH * sigma) + 1)
        images = np.concatenate([2 * turn + side * centre for turn in turns for side in (1, -1)])
        near = np.flatnonzero(
            (images >= -LOCAL_REACH * sigma) & (images <= 1 + LOCAL_REACH * sigma)
        )
        row = near % centre.size
        centre, mass, hits = images[near], mass[:, row], hits[:, row]
    mean, density = np.empty((2, len(weights), at.size))
    for part in blocks(at.size, centre.size, LOCAL_BLOCK):
        exponent = -0.5 * ((at[part, None] - centre) / sigma) ** 2
        largest = exponent.max(axis=1)
        kernel = np.exp(exponent - largest[:, None])
        total = mass @ kernel.T
        mean[:, part] = hits @ kernel.T / np.where(total > 0, total, np.nan)
        density[:, part] = total * np.exp(largest) / (sigma * math.sqrt(2 * math.pi))
    return mean, density


def _gathered(
    position: Floats, outcomes: Floats, weights: Floats, width: float
) -> tuple[Floats, Floats, Floats]:
    """Mean position, and weight and weighted outcome of each replicate, in cells.

    Events and the others are in cells of their own.
    """
    counted = weights.any(axis=0)
    position, outcomes, weights = position[counted], outcomes[counted], weights[:, counted]
    cell = 2 * np.floor(position / width) + outcomes
    _, row = np.unique(cell, return_inverse=True)
    mass, hits, moment = (
        np.array([np.bincount(row, weight * each) for weight in weights], dtype=np.float64)
        for each in (1.0, outcomes, position)
    )
    return moment.sum(axis=0) / mass.sum(axis=0), mass, hits


BLOCK = 1 << 16
SMOOTH_NARROWEST = 1e-3
# Bandwidth, in lengths of the line, at which nothing but the mean residual is left.
SMOOTH_FLAT = 10.0


def _core(
    scores: Floats, weights: Floats | None, *, bandwidth: float | None, metric: Metric
) -> Statistic:
    """SmoothECE over positions by a metric."""
    line = _line(scores, bandwidth, metric)
    share: Any = 1 / scores.size if weights is None else weights / weights.sum()

    def statistic(outcomes: NDArray[Any]) -> Floats:
        values = np.empty(len(outcomes))
        for part in blocks(values.size, line.cells(bandwidth or line.floor), BLOCK):
            gap: Floats = outcomes[part].astype(np.float64)
            gap -= scores  # of 32 bits without a copy of 64
            gap *= share
            values[part] = smooth_of_residuals(line, gap, bandwidth)
        return values

    return statistic


_logit_core = partial(_core, metric="logit")


@registry.estimator(
    "SmoothECE",
    prepare=_core,
    paper="Błasiok & Nakkiran 2024",
    estimates="calibration error after smoothing with a bandwidth equal to it",
    bound="between half the lower distance to calibration and twice its square root",
    span=(0, 1),
    cost="n",
)
def smooth_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """SmoothECE: the calibration error that is left after smoothing the residuals.

    smECE_sigma = integral over t from 0 to 1 of |sum_i w_i (y_i - s_i) K_sigma(t, s_i)|, with w_i
    the share of each case and K_sigma the Gaussian kernel reflected at 0 and 1. SmoothECE is the
    bandwidth sigma* at which smECE_sigma* = sigma*, so that it has nothing to choose.

    Parameters
    ----------
    %(replicated_cases)s
    bandwidth : float, optional
        Bandwidth. Without it, sigma*.
    metric : {"identity", "logit"} or callable
        How near scores are to each other. A function h, increasing, of an array of scores smooths
        over h(s), along the real line and without mirrors; "logit" is that of the log-odds.
    %(weights)s

    %(returns_share)s

    %(refuses)s
        Also if `bandwidth` is too small to resolve, or `metric` does not increase.

    Notes
    -----
    In a metric, smECE_sigma = integral over the real line of |sum_i w_i (y_i - s_i)
    phi_sigma(t - h(s_i))|, and its fixed point is bounded by the distance to calibration in the
    metric min(|h(s) - h(s')|, 2), up to factors (Theorem 19; the paper prints max for min).

    The kernel is diagonal in the cosines of [0, 1]: their coefficients are computed once, and
    each bandwidth damps them. Areas are good to 1e-9, and sigma* is computed by Newton steps, since
    the derivative of the area in sigma is known from the slopes where the residual changes sign.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.smooth_ece(y_true, y_prob), 4)
    0.0247
    >>> round(estimators.smooth_ece(y_true, y_prob, bandwidth=0.1), 4)
    0.0076
    >>> import numpy as np
    >>> variance_stable = lambda score: 2 * np.arcsin(np.sqrt(score))
    >>> round(estimators.smooth_ece(y_true, y_prob, metric=variance_stable), 4)
    0.0357
    """
    sigma, by = _bandwidth(bandwidth), as_metric(metric)
    cases = registry.read(y_true, y_prob, sample_weight, single=by == "identity")
    return registry.evaluate(_core, cases, bandwidth=sigma, metric=by)


@registry.estimator(
    "SmoothECE over log-odds",
    prepare=_logit_core,
    paper="Błasiok & Nakkiran 2024",
    estimates="calibration error after smoothing over log-odds with a bandwidth equal to it",
    span=(0, 1),
    cost="n",
)
def logit_smooth_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """SmoothECE in the logit metric: the residuals are smoothed over log-odds.

    smECE_sigma = integral over the real line of |sum_i w_i (y_i - s_i) phi_sigma(t - logit s_i)|,
    with phi_sigma the normal density, not reflected; its fixed point is defined as in
    `smooth_ece`. Residuals stay on the probability scale; only closeness is measured in
    log-odds, so that .001 and .01 are as far apart as .5 and .91.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    bandwidth : float, optional
        Bandwidth in log-odds. Without it, the fixed point.
    %(weights)s

    %(returns_share)s

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section on general metrics.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.logit_smooth_ece([0, 0, 1, 0], [0.001, 0.01, 0.02, 0.4]), 4)
    0.343
    >>> round(estimators.smooth_ece([0, 0, 1, 0], [0.001, 0.01, 0.02, 0.4]), 4)
    0.213
    """
    cases = registry.read(y_true, y_prob, sample_weight, single=True)
    return registry.evaluate(_logit_core, cases, bandwidth=_bandwidth(bandwidth))


class SmoothCurve(NamedTuple):
    """A smoothed reliability curve.

    Attributes
    ----------
    score : ndarray of shape (points,)
    outcome : ndarray of shape (points,)
        Local mean outcome.
    density : ndarray of shape (points,)
        Density of the scores, or of their log-odds in the logit metric.
    bandwidth : float
        The bandwidth.
    """

    score: Floats
    outcome: Floats
    density: Floats
    bandwidth: float


@documented
def smooth_ece_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    grid: ArrayLike | None = None,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> SmoothCurve:
    """Reliability curve and density of scores, smoothed as SmoothECE smooths (Błasiok & Nakkiran).

    outcome(t) = sum_i w_i y_i K_sigma(t, s_i) / density(t), with density(t) = sum_i w_i
    K_sigma(t, s_i) and the kernel of `smooth_ece` or `logit_smooth_ece`.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    bandwidth : float, optional
        Bandwidth, at least 1e-6. Without it the fixed point of SmoothECE, or .001 if that is
        smaller.
    grid : array-like of shape (points,), optional
        Scores at which to evaluate. By default 201 equally spaced ones.
    metric : {"identity", "logit"} or callable
        Whether to smooth over scores, their log-odds, or an increasing function of them, as in
        `smooth_ece`.
    %(weights)s

    Returns
    -------
    SmoothCurve

    Notes
    -----
    Far from every score the outcome is that of the nearest ones, and the density says how little
    it rests on. Cases closer than bandwidth / 128 are put together at their mean score, which moves
    the curve by less than 1e-6 where there are data.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> curve = estimators.smooth_ece_curve(y_true, y_prob, grid=[0.1, 0.5, 0.9])
    >>> curve.outcome.round(2)
    array([0.14, 0.49, 0.91])
    """
    metric = as_metric(metric)
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False)
    outcomes, scores = cases.outcomes[0], cases.scores
    points = np.linspace(0, 1, 201) if grid is None else as_scores(grid, "grid")
    weights = cases.weight / cases.weight.sum()
    bandwidth = _bandwidth(bandwidth)
    if bandwidth is None:
        line, residuals = _line(scores, None, metric), weights * (outcomes - scores)
        bandwidth = max(float(fixed_points(line, residuals[None])[0]), SMOOTH_NARROWEST)
    elif bandwidth < 1e-6:
        raise too_small(bandwidth, 1e-6)
    if metric == "identity":
        rate, density = local_mean(scores, outcomes, weights, points, bandwidth, mirrors=True)
    else:
        size = scores.size
        position = positions(np.concatenate([scores, points]), metric)
        position, at = position[:size], position[size:]
        rate, density = local_mean(position, outcomes, weights, at, bandwidth, mirrors=False)
    return SmoothCurve(points, rate, density, bandwidth)


def smooth_of_residuals(line: Line, residuals: Floats, bandwidth: float | None) -> Floats:
    """SmoothECE of each row of residuals, at a bandwidth or at the fixed point."""
    if bandwidth is None:
        return fixed_points(line, residuals)
    narrowest = line.narrowest
    if bandwidth < narrowest:
        line = line.without_gaps(bandwidth, MOST_CELLS)
    cells = line.cells(bandwidth / 2)
    if cells > MOST_CELLS:
        raise too_small(bandwidth, narrowest)
    coefs = cosines(line.position, residuals, cells)
    return area_at(coefs, np.full(coefs.shape[0], min(bandwidth / line.length, SMOOTH_FLAT)))[0]


def _line(scores: Floats, bandwidth: float | None, metric: Metric) -> Line:
    """Scores between mirrors at 0 and 1, or a function of them without mirrors."""
    if metric == "identity":
        return Line(scores, 1.0)
    return open_line(positions(scores, metric), bandwidth or 1.0)[0]


def _bandwidth(bandwidth: Any) -> float | None:
    """A positive number, or None for the fixed point."""
    return None if bandwidth is None else as_bandwidth(bandwidth)


BOOTSTRAPS = ("basic", "bca", "percentile")
# Nodes of the integral, to the bandwidth.
DIAGRAM_NODES = 64


class SmoothReliability(NamedTuple):
    """The smooth reliability diagram of a set of scores.

    Attributes
    ----------
    score : ndarray of shape (points,)
    outcome : ndarray of shape (points,)
        Local mean outcome.
    lower, upper : ndarray of shape (points,)
        Pointwise range of it over resamples of the cases, at the same bandwidth.
    density : ndarray of shape (points,)
        Density of the scores.
    event_density, non_event_density : ndarray of shape (points,)
        The parts of it that are of the cases with and without the event, so that they add up to it
        and `outcome` is the first as a share of both.
    bandwidth : float
        Of the kernel: SmoothECE, or .001 if that is smaller.
    smooth_ece : Interval
        SmoothECE and its interval.
    shown_error : float
        What the diagram shows: the mean distance of the curve from the diagonal, over the density.
    ci_prob : float
        Of the range and the interval.
    """

    score: Floats
    outcome: Floats
    lower: Floats
    upper: Floats
    density: Floats
    event_density: Floats
    non_event_density: Floats
    bandwidth: float
    smooth_ece: Interval
    shown_error: float
    ci_prob: float


@documented
def smooth_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    grid: ArrayLike | None = None,
    method: str = "basic",
    ci_prob: float = 0.95,
    n_resamples: int = 200,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> SmoothReliability:
    """Numbers of the smooth reliability diagram, which `bayescal.plots.smooth_reliability` draws.

    With K the Gaussian kernel reflected at 0 and 1, at the bandwidth sigma that equals SmoothECE,
    and w_i the share of each case, density(t) = sum_i w_i K(t, s_i) and
    outcome(t) = sum_i w_i y_i K(t, s_i) / density(t) (equations 4 and 7 of the paper). The diagram
    shows the error integral |outcome(t) - t| density(t) dt (equation 8).

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    grid : array-like of shape (points,), optional
        Scores at which to evaluate. By default 201 equally spaced ones.
    method : {"basic", "percentile", "bca"}
        Of the interval of SmoothECE; see `estimator_interval`. The authors' package takes "basic".
    ci_prob : float in (0, 1)
        Probability of that interval, and share of the resamples in the range of the curve.
    n_resamples : int
        Number of resamples of the cases, at least 100.
    %(weights)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds and equal cases give equal numbers.

    Returns
    -------
    SmoothReliability

    %(refuses)s
        Also if there is but one case.

    Notes
    -----
    The range of the curve shows how it moves when the cases are resampled. It is no confidence
    band of the true calibration curve, from which smoothing draws the curve away; see
    `bayescal.fit` for one.

    SmoothECE smooths residuals and the curve smooths outcomes, so that the error which is shown is
    not SmoothECE itself; they differ by at most sqrt(2 / pi) sigma (Lemma 13). The shown error is
    that of scores with normal noise of standard deviation sigma, reflected at 0 and 1. It is above
    0 for a calibrated model: if all scores are 1/2, and half the cases have the event, it is nearly
    .8 sigma at any small bandwidth.

    The text of the paper has the one-sided densities each of mass 1; the ratio that it states holds
    for their parts of the common density, which are given here.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, sections 1.1 and 4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> shown = estimators.smooth_reliability(y_true, y_prob, random_state=1)
    >>> round(shown.bandwidth, 4), round(shown.shown_error, 4)
    (0.0561, 0.0667)
    """
    check_choice(method, BOOTSTRAPS, "method")
    level = as_level(ci_prob)
    points = np.linspace(0, 1, 201) if grid is None else as_scores(grid, "grid")
    rng = random_generator(random_state)
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False).counted()
    error = estimator_interval(
        cases,
        estimator="smooth_ece",
        method=method,
        ci_prob=level,
        n_resamples=n_resamples,
        random_state=rng,
    )
    sigma = max(error.estimate, SMOOTH_NARROWEST)
    outcomes, scores, share = cases.outcomes[0], cases.scores, cases.weight / cases.mass
    outcome, density = local_mean(scores, outcomes, share, points, sigma, mirrors=True)
    cells = cells_of(outcomes, scores, cases.weights)
    curves = [
        local_means(cells.scores, cells.outcomes, weights, points, sigma, mirrors=True)
        for weights in draw(cells, n_resamples, rng)
    ]
    lower, upper = np.quantile(np.concatenate(curves), [(1 - level) / 2, (1 + level) / 2], axis=0)
    densities = density, outcome * density, (1 - outcome) * density
    shown = _shown(scores, outcomes, share, sigma)
    return SmoothReliability(points, outcome, lower, upper, *densities, sigma, error, shown, level)


def _shown(scores: Floats, outcomes: Floats, share: Floats, sigma: float) -> float:
    """Integral of |outcome - t| density over t, by the trapezoidal rule."""
    line = Line(scores, 1.0)
    masses = np.stack([share * outcomes, share])
    coefs = cosines(line.position, masses, line.cells(sigma))
    wave = np.pi * sigma * np.arange(coefs.shape[1])
    intervals = int(np.ceil(DIAGRAM_NODES / sigma))
    intervals = max(intervals, coefs.shape[1])
    events, density = series(coefs * np.exp(-0.5 * wave**2), intervals)
    gap = np.abs(events - np.linspace(0, 1, intervals + 1) * density)
    return float(np.trapezoid(gap, dx=1 / intervals))
