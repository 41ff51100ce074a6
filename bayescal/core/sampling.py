"""Weighted draws of any density: even points, importance sampling, Pareto smoothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import (
    gammainccinv,
    gammaincinv,
    gammaln,
    logsumexp,
    ndtr,
    ndtri,
    softmax,
    stdtrit,
)

from bayescal.core.arrays import Floats, blocks, log_sum
from bayescal.core.optimise import Mode

FARTHEST_NORMAL = 7.2
STEPS_OF_ONE = 200


def student_stretch(normal: Floats, degrees: int) -> Floats:
    """What turns standard normal draws into Student-t draws: 1 / sqrt(chi-square / degrees).

    The chi-square has the probability level of `normal`, so that the stretch falls with it. Its
    logarithm is interpolated in a table, with a relative error below 1e-6.
    """
    log_stretch = _table(degrees)
    position = np.clip((normal + FARTHEST_NORMAL) * STEPS_OF_ONE, 0, log_stretch.size - 1)
    below = np.minimum(position.astype(np.intp), log_stretch.size - 2)
    share = position - below
    return np.asarray(np.exp(log_stretch[below] * (1 - share) + log_stretch[below + 1] * share))


@cache
def _table(degrees: int) -> Floats:
    """Logarithm of the stretch at evenly spaced normal draws, from -7.2 to 7.2."""
    ends = int(FARTHEST_NORMAL * STEPS_OF_ONE)
    at = np.arange(-ends, ends + 1) / STEPS_OF_ONE
    half = degrees / 2
    below, above = gammaincinv(half, ndtr(at[at < 0])), gammainccinv(half, ndtr(-at[at >= 0]))
    return -np.log(np.concatenate([below, above]) / half) / 2


# fmt: off
# Steps of the lattice along each axis.
#
# Chosen one after the other, each from 200 random odd numbers, to be good for 2^7 to 2^17 points
# at once: the largest ratio of its worst-case error to the best one of that size is the smallest,
# in the Korobov space of smoothness 2 with weight 0.03 for every axis.
GENERATORS = (
    1, 18123, 34733, 31311, 14157, 18537, 18783, 33959, 58927, 16005, 50395, 35389, 27991,
    30775, 59713, 15631, 23677, 61765, 45905, 21323, 32905, 37747, 55417, 64139, 38553, 9689,
    29149, 21033, 32669, 33799, 1213, 10469, 11375, 54693, 54239, 24315, 4243, 13815, 2071,
    49173,
)
# fmt: on

# Of the probabilities at which normal points are read.
NEAREST_TO_ENDS = 1e-12


def lattice_points(power: int, d: int, rng: np.random.Generator) -> Floats:
    """Evenly spread points in the unit cube, of shape (2^power, d).

    A lattice of rank 1 (Cools, Kuo & Nuyens 2006) with a random shift, folded by x -> 1 - |2x - 1|
    (Hickernell 2002). Every point is uniform by itself; together they leave no gaps. Axes beyond
    the fortieth are spread evenly, and paired with the others at random.
    """
    size = 1 << power
    # of a lattice, the remainders of multiples; they are exact, as the size is a power of 2
    steps = np.arange(size)[:, None] * np.array(GENERATORS[:d]) & (size - 1)
    beyond = list(map(rng.permutation, [size] * (d - steps.shape[1])))
    points: Floats = np.column_stack([steps, *beyond]) / size
    points += rng.random(d)
    points -= np.floor(points)
    points *= 2
    points -= 1
    np.abs(points, out=points)
    return np.subtract(1, points, out=points)


def normal_points(power: int, d: int, rng: np.random.Generator) -> Floats:
    """Standard normal quantiles of `lattice_points`, of shape (2^power, d)."""
    inside = np.clip(lattice_points(power, d, rng), NEAREST_TO_ENDS, 1 - NEAREST_TO_ENDS)
    return np.asarray(ndtri(inside))


# Points that `even_points` spreads round one centre.
EVEN_POINTS = 4

# Of the strips after each feature: their number is this power of the number of draws.
FINENESS = (0.45, 0.85, 1.0)
TINY = 1e-300

# Steps of sequences that leave no gaps: the golden ratio, and a pair for two at once.
GAPLESS_STEPS = (0.6180339887498949, 0.7548776662466927, 0.5698402909980532)


def even_choice(
    features: Floats, weights: Floats, draws: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Indices of draws of equal weight, which keep the joint distribution of a few features.

    Systematic resampling along an order in which neighbours are alike: by the first feature in
    strips of equal weight, in each strip by the second, and so on, up and down by turns. `features`
    has shape (up to 3, points), the first kept best.
    """
    position, share = np.zeros(weights.size), weights / weights.sum()
    for power, feature in zip(FINENESS, features, strict=False):
        strip = position.astype(np.intp)
        side = (feature - feature.min()) / (2 * max(np.ptp(feature), TINY))
        order = np.argsort(strip + np.where(strip & 1, 0.5 - side, side))
        strips = np.ceil(draws**power)
        position[order] = (np.cumsum(share[order]) - share[order] / 2) * strips
    cumulative = np.cumsum(share[order])
    steps = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    chosen = order[np.minimum(np.searchsorted(cumulative, steps), order.size - 1)]
    return rng.permutation(chosen)


def even_uniforms(order: NDArray[np.intp], rng: np.random.Generator, axis: int = 0) -> Floats:
    """Numbers in [0, 1), spread evenly in each group: each is uniform, together they leave no gaps.

    Neighbours in `order`, in which those of a group stand together, differ most. `axis` gives
    another for each number that a draw takes. Kuipers & Niederreiter (1974), Uniform distribution
    of sequences.
    """
    numbers = np.empty(order.size)
    position = np.arange(order.size) * GAPLESS_STEPS[axis] + rng.random()
    numbers[order] = position - np.floor(position)
    return numbers


def even_points(shape: tuple[int, int, int], degrees: float, rng: np.random.Generator) -> Floats:
    """Student-t points in one or two dimensions, spread evenly round zero, of shape (L, r, n, 4).

    Each has the law by itself, and those of one set balance, so that the mean of a function over
    the set varies little: two are near and two far, each pair on opposite sides.
    """
    size, r, n = shape
    points = np.empty((*shape, EVEN_POINTS))
    turn, share = rng.random((2, size, n))
    if r == 1:
        inner, outer = (1 + share / 2) / 2, (1 - share) / 4 + TINY
        near, far = _student_quantile(inner, degrees), -_student_quantile(outer, degrees)
        points[:, 0] = np.stack([near, -near, far, -far], axis=-1)
        return points
    near, far = (_radius(beyond, degrees) for beyond in (1 - share / 2, (1 - share) / 2 + TINY))
    x, y = np.cos(np.pi * turn), np.sin(np.pi * turn)
    points[:, 0] = np.stack([near * x, -near * x, -far * y, far * y], axis=-1)
    points[:, 1] = np.stack([near * y, -near * y, far * x, -far * x], axis=-1)
    return points


def _student_quantile(below: Floats, degrees: float) -> Floats:
    """Quantiles of a Student-t or of the normal law."""
    return np.asarray(ndtri(below) if np.isinf(degrees) else stdtrit(degrees, below))


def _radius(beyond: Floats, degrees: float) -> Floats:
    """Distances from zero in the plane beyond which the law has this probability."""
    if np.isinf(degrees):
        return np.asarray(np.sqrt(-2 * np.log(beyond)))
    return np.asarray(np.sqrt(degrees * np.expm1(-2 / degrees * np.log(beyond))))


# Weights with a k-hat above this are not to be trusted (Vehtari et al., 2024).
BAD_K = 0.7

PARETO_FLAT = 1e-9
PARETO_MANY = 225
PRIOR_QUARTILE = 3
PRIOR_DRAWS, PRIOR_SHAPE = 10, 0.5
PARETO_NEGLIGIBLE = 10 * np.finfo(np.float64).eps


def smooth_rows(log_ratio: Floats) -> tuple[Floats, Floats]:
    """Pareto-smoothed log weights, up to a constant a row, and k-hat of each row, of (rows, draws).

    As ArviZ's `psislw` does it for one row after the other (Vehtari et al. 2024; Zhang & Stephens
    2009). A row with a flat top, whose largest tenth and one more are equal, has no tail to smooth,
    and a k-hat of minus infinity; where the fit fails k-hat is infinite. Both stay as they are.
    """
    draws = log_ratio.shape[1]
    weights = log_ratio - log_ratio.max(axis=1, keepdims=True)
    size = int(3 * np.sqrt(draws)) if draws > PARETO_MANY else draws // 5
    tenth = draws // 10
    most = max(size, tenth) + 1
    row = np.arange(len(weights))[:, None]
    top = np.argpartition(weights, draws - most, axis=1)[:, -most:]
    top = top[row, weights[row, top].argsort(axis=1)]
    ranked = weights[row, top]
    flat = ranked[:, -1] - ranked[:, -tenth - 1] < PARETO_FLAT
    top, ranked = top[:, -size - 1 :], ranked[:, -size - 1 :]
    with np.errstate(all="ignore"):
        smoothed, k = _smooth_tails(np.exp(ranked[:, 1:]), np.exp(ranked[:, :1]))
        smoothed = np.minimum(np.log(smoothed), 0)
    failed = ~np.isfinite(k) | np.isnan(smoothed).any(axis=1)
    kept = (failed | flat)[:, None]
    weights[row, top[:, 1:]] = np.where(kept, ranked[:, 1:], smoothed)
    return weights, np.where(flat, -np.inf, np.where(failed, np.inf, k))


def _smooth_tails(tail: Floats, cutoff: Floats) -> tuple[Floats, Floats]:
    """Quantiles of the generalized Pareto distribution fitted to each tail, and its shape."""
    excess = tail - cutoff
    size = excess.shape[1]
    candidates = 30 + int(np.sqrt(size))
    spread = 1 - np.sqrt(candidates / (np.arange(1, candidates + 1) - 0.5))
    quartile = excess[:, [int(size / 4 + 0.5) - 1]]
    b = spread / (PRIOR_QUARTILE * quartile) + 1 / excess[:, -1:]
    shape = np.empty_like(b)
    for part in blocks(candidates, excess.size):
        shape[:, part] = np.log1p(-b[:, part, None] * excess[:, None]).mean(axis=2)
    profile = size * (np.log(-b / shape) - shape - 1)
    share = np.exp(profile - profile.max(axis=1, keepdims=True))
    share[share < PARETO_NEGLIGIBLE * share.sum(axis=1, keepdims=True)] = 0
    mean = (b * share).sum(axis=1, keepdims=True) / share.sum(axis=1, keepdims=True)
    k = np.log1p(-mean * excess).mean(axis=1, keepdims=True)
    scale = -k / mean
    k = (size * k + PRIOR_DRAWS * PRIOR_SHAPE) / (size + PRIOR_DRAWS)
    probability = (np.arange(size) + 0.5) / size
    quantile = cutoff + scale * np.expm1(-k * np.log1p(-probability)) / k
    return np.where(scale > 0, quantile, np.nan), k[:, 0]


HEAVIEST = 4  # degrees of freedom of the proposals in few dimensions
# Log densities at points, and what else is told of each of them, if anything.
LogDensity = Callable[[Floats], Floats | tuple[Floats, Floats]]

GOOD_K = 0.5
GOOD_ESS = 0.5
REFITS = (1, 64, 64)  # kernels of each further proposal, when the one before was poor
MOST_FOLLOWED = 5  # dimensions past which many kernels leave gaps between them, so that one is used
# A mixture is first proposed from again with its own kernels, this much wider. Replaced by one
# kernel at once, one seed in thirty kept 265 effective draws of 4096.
WIDENING = 1.5
# Numbers in a block of points times kernels.
ROOM_OF_KERNELS = 1 << 15
# Effective proposals, for each dimension, by which others can be spread.
LEAST_OF_PILOT = 8


@dataclass(frozen=True)
class Sample:
    """Draws of equal weight, of shape (draws, d), and how far to trust them.

    `log_evidence` is the logarithm of the density's integral, with a Monte Carlo standard error;
    above .7 of `pareto_k` the draws should not be trusted; `ess` is the effective size of the
    weighted `proposals` that the draws were chosen from, and `beside` what the density told of each
    draw.
    """

    draws: Floats
    log_evidence: float
    log_evidence_error: float
    pareto_k: float
    ess: float
    proposals: Floats | None = None
    weights: Floats | None = None
    beside: Floats | None = None

    @property
    def weighted(self) -> tuple[Floats, Floats]:
        """Points and their weights: the proposals, or draws that were chosen from none."""
        if self.proposals is None or self.weights is None:
            return self.draws, np.full(len(self.draws), 1 / len(self.draws))
        return self.proposals, self.weights

    def faults(self, good_k: float) -> tuple[float, float]:
        """Sorts samples: first by the excess of Pareto k-hat, then by effective size."""
        return max(self.pareto_k, good_k), -self.ess

    def is_poor(self, good_k: float, good_ess: float) -> bool:
        """Whether other proposals may serve better; `good_ess` is a share of the draws."""
        return self.pareto_k > good_k or self.ess < good_ess * len(self.draws)

    def mapped(self, to: Callable[[Floats], Floats]) -> Sample:
        """The same with its draws, and what they were chosen from, in other coordinates."""
        proposals = None if self.proposals is None else to(self.proposals)
        return replace(self, draws=to(self.draws), proposals=proposals)


def mix_samples(
    parts: Sequence[Sample], log_weights: Floats, draws: int, rng: np.random.Generator
) -> tuple[Sample, NDArray[np.intp]]:
    """One sample from several, each with its prior weight, and the part each draw came from.

    Shapes: `log_weights` (parts,); `part` (draws,).
    """
    share = shares_of_parts(parts, log_weights)
    part = resample(share, draws, rng)
    points = np.empty((draws, parts[0].draws.shape[1]))
    for index, sample in enumerate(parts):
        mine = np.flatnonzero(part == index)
        points[mine] = sample.draws[resample(np.ones(len(sample.draws)), mine.size, rng)]
    return of_mixture(parts, log_weights, points), part


def shares_of_parts(parts: Sequence[Sample], log_weights: Floats) -> Floats:
    """Posterior shares of several samples, each with its prior weight, of shape (parts,)."""
    return np.asarray(softmax([part.log_evidence for part in parts] + log_weights))


def of_mixture(parts: Sequence[Sample], log_weights: Floats, points: Floats) -> Sample:
    """Draws of a mixture as a sample, with what is known of its parts.

    Shapes: `log_weights` (parts,); `points` (draws, d).
    """
    share = shares_of_parts(parts, log_weights)
    errors = np.array([sample.log_evidence_error for sample in parts])
    precision = share**2 / np.array([sample.ess for sample in parts])
    return Sample(
        points,
        float(logsumexp([sample.log_evidence for sample in parts] + log_weights)),
        float(np.sqrt(np.sum((share * errors) ** 2))),
        max(s.pareto_k for s, weight in zip(parts, share, strict=True) if weight >= 0.01),
        float(1 / precision.sum()) if precision.sum() > 0 else float(len(points)),
    )


@dataclass(frozen=True)
class _Kernels:
    """Student-t kernels of one scale, proposed from with probability `share` in all.

    `centres` has shape (kernels, d); `scale` is the Cholesky factor they share. The first `heavy`
    coordinates have heavy tails of their own.
    """

    centres: Floats
    scale: Floats
    share: float = 1.0
    heavy: int = 0

    @classmethod
    def around(cls, mode: Mode, share: float, heavy: int) -> _Kernels:
        covariance = np.linalg.inv(_positive_definite(mode.information))
        return cls(mode.point[None], np.linalg.cholesky(covariance), share, heavy)

    @property
    def blocks(self) -> list[slice]:
        """Coordinates that are stretched together."""
        d = self.scale.shape[0]
        if not 0 < self.heavy < d:
            return [slice(0, d)]
        return [slice(0, self.heavy), slice(self.heavy, d)]

    def dealt(self, size: int, rng: np.random.Generator) -> Floats:
        """Centres of this many points, equally many of each and in random order.

        Of shape (size, d), or (1, d) where there is one centre.
        """
        if len(self.centres) == 1:
            return self.centres
        return np.asarray(self.centres[rng.permutation(np.arange(size) % len(self.centres))])


def importance_sample(
    log_density: LogDensity,
    mode: Mode | Sequence[tuple[Mode, float]],
    draws: int,
    rng: np.random.Generator,
    good_ess: float = GOOD_ESS,
    proposals: int | None = None,
    *,
    pilot: int = 0,
    heavy: int = 0,
) -> Sample:
    """Draw from a density known up to a constant.

    `mode` is its peak, or those of a mixture with their shares. From an effective size of
    `good_ess`, as a share of the proposals, no others are tried. A first round of `pilot` proposals
    spreads the others; the first `heavy` coordinates may have heavy tails where the others have
    none.
    """
    count = draws if proposals is None else proposals
    modes = [(mode, 1.0)] if isinstance(mode, Mode) else list(mode)
    if not modes[0][0].point.size:
        told = log_density(np.empty((1, 0)))
        evidence = float((told[0] if isinstance(told, tuple) else told)[0])
        return Sample(np.empty((draws, 0)), evidence, 0.0, -np.inf, float(draws))
    around = list(map(partial(_Kernels.around, heavy=heavy), *zip(*modes, strict=True)))
    first = _propose(log_density, around, pilot, rng) if 0 < pilot < count else None
    if first is not None and first.ess < LEAST_OF_PILOT * modes[0][0].point.size:
        first = None
    if first is None:
        best = _propose(log_density, around, count, rng)
    else:
        best = _refit(log_density, first, 1, count, rng)
    good_k = GOOD_K
    if len(modes) > 1:  # kernels of one scale would serve a mixture worse than its own do
        good_k = BAD_K
        # Kernels whose tails are heavy in every coordinate are not better for being wider, nor are
        # those of the peaks, where a pilot has shown a better place.
        tails = heavy < modes[0][0].point.size and first is None
        if tails and best.is_poor(GOOD_K, good_ess):
            wider = [replace(each, scale=np.sqrt(WIDENING) * each.scale) for each in around]
            again = _propose(log_density, wider, count, rng)
            best = min(best, again, key=lambda each: each.faults(GOOD_K))
    dimensions = modes[0][0].point.size
    for kernels in REFITS if dimensions <= MOST_FOLLOWED else REFITS[:1]:
        if not best.is_poor(good_k, good_ess):
            break
        again = _refit(log_density, best, kernels, count, rng)
        best = min(best, again, key=lambda each: each.faults(good_k))
    points, weights = best.weighted
    chosen = resample(weights, draws, rng)
    beside = None if best.beside is None else best.beside[chosen]
    return replace(best, draws=points[chosen], beside=beside)


def _refit(
    log_density: LogDensity, sample: Sample, kernels: int, count: int, rng: np.random.Generator
) -> Sample:
    """Propose again from the draws so far: one wide kernel, or many that follow a bent density."""
    points, weights = sample.weighted
    mean = weights @ points
    spread = points - mean
    covariance = (weights * spread.T) @ spread
    centres = points[resample(weights, kernels, rng)] if kernels > 1 else mean[None]
    narrowing = kernels ** (-2 / (mean.size + 4)) if kernels > 1 else WIDENING
    scale = np.asarray(np.linalg.cholesky(_positive_definite(covariance * narrowing)), np.float64)
    return _propose(log_density, [_Kernels(centres, scale)], count, rng)


def _propose(
    log_density: LogDensity,
    kernels: Sequence[_Kernels],
    count: int,
    rng: np.random.Generator,
) -> Sample:
    """Weighted proposals from a mixture of Student-t kernels, all of which are the draws."""
    d = kernels[0].centres.shape[1]
    power = int(np.ceil(np.log2(max(count, 64))))
    of_blocks = kernels[0].blocks
    normal = normal_points(power, d + len(of_blocks), rng)
    points = np.empty((len(normal), d))
    for block, uniform in zip(of_blocks, normal.T[d:], strict=True):
        stretch = student_stretch(uniform, _degrees(block.stop - block.start))
        np.multiply(normal[:, block], stretch[:, None], out=points[:, block])
    parts: list[Any] = [slice(None)]
    if len(kernels) > 1:
        part = resample(np.array([each.share for each in kernels]), len(points), rng)
        parts = [part == index for index in range(len(kernels))]
    for mine, each in zip(parts, kernels, strict=True):
        spread = points[mine] @ each.scale.T
        points[mine] = spread + each.dealt(len(spread), rng)
    told = log_density(points)
    values, beside = told if isinstance(told, tuple) else (told, None)
    log_ratio = values - _log_mixture(points, kernels)
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    smoothed, pareto_k = smooth_rows(log_ratio[None])
    weights, largest = np.exp(smoothed[0]), log_ratio.max()
    weights /= weights.sum()
    ratio = np.exp(log_ratio - largest)
    return Sample(
        points,
        float(largest + np.log(ratio.mean())),
        float(ratio.std() / ratio.mean() / np.sqrt(ratio.size)),
        float(pareto_k[0]),
        float(1 / np.sum(weights**2)),
        points,
        weights,
        beside,
    )


def _degrees(d: int) -> int:
    """Degrees of freedom of the proposals: in many dimensions heavy tails would waste most."""
    return max(HEAVIEST, d)


def _log_mixture(points: Floats, kernels: Sequence[_Kernels]) -> Floats:
    """Log density of a mixture of Student-t kernels at `points`."""
    if len(kernels) == 1:
        return _log_kernels(points, kernels[0])
    share = np.array([each.share for each in kernels])
    parts = np.array([_log_kernels(points, each) for each in kernels])
    return log_sum(parts + np.log(share / share.sum())[:, None], axis=0)


def _log_kernels(points: Floats, kernels: _Kernels) -> Floats:
    """Log density of an even mixture of kernels of one scale; several centres have one block."""
    centres, scale = kernels.centres, kernels.scale
    whiten = np.linalg.inv(scale).T
    middle = (centres[0] if len(centres) == 1 else centres.mean(axis=0)) @ whiten
    whitened = points @ whiten
    whitened -= middle
    density = np.full(len(points), -np.log(scale.diagonal()).sum() - np.log(len(centres)))
    for part in kernels.blocks:
        d = part.stop - part.start
        degrees, own = _degrees(d), whitened[:, part]
        half = (degrees + d) / 2
        density += gammaln(half) - gammaln(degrees / 2) - 0.5 * d * np.log(degrees * np.pi)
        if len(centres) == 1:
            density -= half * np.log1p(np.vecdot(own, own) / degrees)
        else:
            density += _log_closeness(own, centres @ whiten - middle, degrees, half)
    return density


def _log_closeness(points: Floats, centres: Floats, degrees: int, half: float) -> Floats:
    """Log of the sum over centres of (1 + squared distance / degrees)^-half."""
    nearest, summed = np.empty((2, len(points)))
    for part in blocks(len(points), len(centres), ROOM_OF_KERNELS):
        away = _squared_distances(points[part], centres)
        away /= degrees
        away += 1
        away.min(axis=1, out=nearest[part])
        ((nearest[part, None] / away) ** half).sum(axis=1, out=summed[part])
    return np.asarray(np.log(summed) - half * np.log(nearest))


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    """Squared distance of every point from every centre, of shape (points, centres)."""
    squared = points @ (-2 * centres.T)
    squared += np.vecdot(points, points)[:, None]
    squared += np.vecdot(centres, centres)
    return np.maximum(squared, 0)


def resample(weights: Floats, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Indices of equal-weight draws by systematic resampling, in random order."""
    cumulative = np.cumsum(weights)
    steps = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    chosen = np.minimum(np.searchsorted(cumulative, steps), weights.size - 1)
    return rng.permutation(chosen)


def _positive_definite(matrix: Floats) -> Floats:
    """The matrix itself, or with its eigenvalues lifted until it is positive definite."""
    values, vectors = np.linalg.eigh(matrix)
    floor = 1e-10 * max(float(values[-1]), 1e-10)
    if values[0] > floor:
        return matrix
    lifted: Floats = (vectors * np.maximum(np.abs(values), floor)) @ vectors.T
    return lifted
