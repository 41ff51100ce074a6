"""Importance sampling from a density with one clear mode. Arrays only.

Student-t proposals round the mode on evenly spread points, Pareto-smoothed weights, and systematic
resampling to draws of equal weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, softmax

from bayescal._base.arrays import Floats, blocks
from bayescal._base.log_sum import log_sum
from bayescal._base.newton import Mode
from bayescal._base.sampling.chi_square import student_stretch
from bayescal._base.sampling.pareto import BAD_K, smooth_rows
from bayescal._base.sampling.points import normal_points

__all__ = [
    "GOOD_ESS",
    "GOOD_K",
    "Sample",
    "importance_sample",
    "mix_samples",
    "of_mixture",
    "resample",
    "shares_of_parts",
]

HEAVIEST = 4  # degrees of freedom of the proposals in few dimensions
LogDensity = Callable[[Floats], Floats | tuple[Floats, Floats]]
"""Log densities at points, and what else is told of each of them, if anything."""

GOOD_K = 0.5
GOOD_ESS = 0.5
REFITS = (1, 64, 64)  # kernels of each further proposal, when the one before was poor
MOST_FOLLOWED = 5  # dimensions past which many kernels leave gaps between them, so that one is used
# A mixture is first proposed from again with its own kernels, this much wider. Replaced by one
# kernel at once, one seed in thirty kept 265 effective draws of 4096.
WIDENING = 1.5
ROOM_OF_KERNELS = 1 << 15
"""Numbers in a block of points times kernels."""
LEAST_OF_PILOT = 8
"""Effective proposals, for each dimension, by which others can be spread."""


@dataclass(frozen=True)
class Sample:
    """Draws of equal weight, and how far to trust them.

    Attributes
    ----------
    draws : ndarray of shape (draws, d)
    log_evidence : float
        Logarithm of the density's integral.
    log_evidence_error : float
        Its Monte Carlo standard error.
    pareto_k : float
        Shape of the weights' tail; above 0.7 the draws should not be trusted.
    ess : float
        Effective sample size of the weighted proposals.
    proposals : ndarray of shape (proposals, d), optional
        What the draws were chosen from.
    weights : ndarray of shape (proposals,), optional
        Of the proposals; they sum to 1.
    beside : ndarray of shape (draws, ...), optional
        What the density told of each draw beside its value.
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


def mix_samples(
    parts: Sequence[Sample], log_weights: Floats, draws: int, rng: np.random.Generator
) -> tuple[Sample, NDArray[np.intp]]:
    """One sample from several, each with its prior weight, and the part each draw came from.

    Parameters
    ----------
    parts : sequence of Sample
        All of one dimension.
    log_weights : ndarray of shape (parts,)

    Returns
    -------
    mixed : Sample
        Its Pareto k-hat is the worst among parts with at least one draw in a hundred.
    part : ndarray of shape (draws,)
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

    Parameters
    ----------
    log_weights : ndarray of shape (parts,)
    points : ndarray of shape (draws, d)
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
class _Weighted:
    points: Floats
    weights: Floats
    log_evidence: float
    log_evidence_error: float
    pareto_k: float
    beside: Floats | None

    @property
    def ess(self) -> float:
        return float(1 / np.sum(self.weights**2))

    def faults(self, good_k: float) -> tuple[float, float]:
        """Sorts proposals: first by the excess of Pareto k-hat, then by effective size."""
        return max(self.pareto_k, good_k), -self.ess

    def is_poor(self, good_k: float, good_ess: float = GOOD_ESS) -> bool:
        return self.pareto_k > good_k or self.ess < good_ess * self.weights.size


@dataclass(frozen=True)
class _Kernels:
    """Student-t kernels of one scale, proposed from with probability `share` in all.

    `centres` has shape (kernels, d); `scale` is the Cholesky factor they share.
    """

    centres: Floats
    scale: Floats
    share: float = 1.0

    @classmethod
    def around(cls, mode: Mode, share: float) -> _Kernels:
        covariance = np.linalg.inv(_positive_definite(mode.information))
        return cls(mode.point[None], np.linalg.cholesky(covariance), share)

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
) -> Sample:
    """Draw from a density known up to a constant.

    Parameters
    ----------
    log_density : callable
        Maps points of shape (n, d) to log densities of shape (n,); or to these and an array of
        shape (n, ...), of which the draws keep their rows as `beside`.
    mode : Mode, or sequence of (Mode, float)
        Its peak, with the negative Hessian there; or, of a mixture of densities, the peak of each
        and its share of the proposals.
    good_ess : float
        Effective sample size, as a share of the proposals, from which no others are tried.
    proposals : int, optional
        How many points to choose from; by default as many as draws, or a few more.
    pilot : int
        Proposals of a first round round the mode, if any, by whose weights the others are spread.
    """
    count = draws if proposals is None else proposals
    modes = [(mode, 1.0)] if isinstance(mode, Mode) else list(mode)
    if not modes[0][0].point.size:
        evidence = float(_told(log_density, np.empty((1, 0)))[0][0])
        return Sample(np.empty((draws, 0)), evidence, 0.0, -np.inf, float(draws))
    around = [_Kernels.around(*each) for each in modes]
    first = _propose(log_density, around, pilot, rng) if 0 < pilot < count else None
    if first is None or first.ess < LEAST_OF_PILOT * modes[0][0].point.size:
        best = _propose(log_density, around, count, rng)
    else:
        best = _refit(log_density, first, 1, count, rng)
    good_k = GOOD_K
    if len(modes) > 1:  # kernels of one scale would serve a mixture worse than its own do
        good_k = BAD_K
        if best.is_poor(GOOD_K, good_ess):
            wider = [replace(each, scale=np.sqrt(WIDENING) * each.scale) for each in around]
            again = _propose(log_density, wider, count, rng)
            best = min(best, again, key=lambda each: each.faults(GOOD_K))
    dimensions = modes[0][0].point.size
    for kernels in REFITS if dimensions <= MOST_FOLLOWED else REFITS[:1]:
        if not best.is_poor(good_k, good_ess):
            break
        again = _refit(log_density, best, kernels, count, rng)
        best = min(best, again, key=lambda each: each.faults(good_k))
    chosen = resample(best.weights, draws, rng)
    return Sample(
        best.points[chosen],
        best.log_evidence,
        best.log_evidence_error,
        best.pareto_k,
        best.ess,
        best.points,
        best.weights,
        None if best.beside is None else best.beside[chosen],
    )


def _refit(
    log_density: LogDensity,
    weighted: _Weighted,
    kernels: int,
    count: int,
    rng: np.random.Generator,
) -> _Weighted:
    """Propose again from the draws so far: one wide kernel, or many that follow a bent density."""
    mean = weighted.weights @ weighted.points
    spread = weighted.points - mean
    covariance = (weighted.weights * spread.T) @ spread
    centres = (
        weighted.points[resample(weighted.weights, kernels, rng)] if kernels > 1 else mean[None]
    )
    narrowing = kernels ** (-2 / (mean.size + 4)) if kernels > 1 else WIDENING
    scale = np.asarray(np.linalg.cholesky(_positive_definite(covariance * narrowing)), np.float64)
    return _propose(log_density, [_Kernels(centres, scale)], count, rng)


def _propose(
    log_density: LogDensity,
    kernels: Sequence[_Kernels],
    count: int,
    rng: np.random.Generator,
) -> _Weighted:
    """Weighted proposals from a mixture of Student-t kernels."""
    d = kernels[0].centres.shape[1]
    power = int(np.ceil(np.log2(max(count, 64))))
    normal = normal_points(power, d + 1, rng)
    points = np.empty((len(normal), d))
    np.multiply(normal[:, :d], student_stretch(normal[:, d], _degrees(d))[:, None], out=points)
    parts: list[Any] = [slice(None)]
    if len(kernels) > 1:
        part = resample(np.array([each.share for each in kernels]), len(points), rng)
        parts = [part == index for index in range(len(kernels))]
    for mine, each in zip(parts, kernels, strict=True):
        spread = points[mine] @ each.scale.T
        points[mine] = spread + each.dealt(len(spread), rng)
    values, beside = _told(log_density, points)
    log_ratio = values - _log_mixture(points, kernels)
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    smoothed, pareto_k = smooth_rows(log_ratio[None])
    weights, largest = np.exp(smoothed[0]), log_ratio.max()
    ratio = np.exp(log_ratio - largest)
    return _Weighted(
        points,
        weights / weights.sum(),
        float(largest + np.log(ratio.mean())),
        float(ratio.std() / ratio.mean() / np.sqrt(ratio.size)),
        float(pareto_k[0]),
        beside,
    )


def _told(log_density: LogDensity, points: Floats) -> tuple[Floats, Floats | None]:
    """Log densities at points, and what else is told of them."""
    told = log_density(points)
    return told if isinstance(told, tuple) else (told, None)


def _degrees(d: int) -> int:
    """Degrees of freedom of the proposals: in many dimensions heavy tails would waste most."""
    return max(HEAVIEST, d)


def _log_mixture(points: Floats, kernels: Sequence[_Kernels]) -> Floats:
    """Log density of a mixture of Student-t kernels at `points`."""
    total = sum(each.share for each in kernels)
    parts = [_log_kernels(points, each) + np.log(each.share / total) for each in kernels]
    return parts[0] if len(parts) == 1 else log_sum(np.array(parts), axis=0)


def _log_kernels(points: Floats, kernels: _Kernels) -> Floats:
    """Log density of an even mixture of kernels of one scale."""
    centres, scale = kernels.centres, kernels.scale
    d = scale.shape[0]
    whiten = np.linalg.inv(scale).T
    degrees = _degrees(d)
    half = (degrees + d) / 2
    middle = centres.mean(axis=0) @ whiten
    whitened = points @ whiten
    whitened -= middle
    if len(centres) == 1:
        summed = -half * np.log1p(np.vecdot(whitened, whitened) / degrees)
    else:
        nearest, summed = np.empty((2, len(points)))
        around = centres @ whiten - middle
        for part in blocks(len(points), len(centres), ROOM_OF_KERNELS):
            away = _squared_distances(whitened[part], around)
            away /= degrees
            away += 1
            away.min(axis=1, out=nearest[part])
            closeness = np.divide(nearest[part, None], away, out=away)
            _raised(closeness, degrees + d).sum(axis=1, out=summed[part])
        summed = np.log(summed) - half * np.log(nearest)
    constant = (
        gammaln(half)
        - gammaln(degrees / 2)
        - 0.5 * d * np.log(degrees * np.pi)
        - np.log(np.diag(scale)).sum()
        - np.log(centres.shape[0])
    )
    return np.asarray(constant + summed)


def _raised(x: Floats, halves: int) -> Floats:
    """The power halves / 2, by products: several times faster than by logarithms."""
    power, product = halves // 2, np.sqrt(x) if halves % 2 else None
    while power:
        if power % 2:
            product = x if product is None else product * x
        power //= 2
        if power:
            x = x * x
    return np.ones_like(x) if product is None else product


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
