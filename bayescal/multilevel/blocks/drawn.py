"""Draws of equal weight round the peak of the scales, and of the effects given them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.optimise import Mode
from bayescal.core.progress import PATIENCE, bar
from bayescal.core.sampling import EVEN_POINTS, Sample, importance_sample, resample, smooth_rows
from bayescal.multilevel.blocks.density import EffectsDensity, blocks_of_points
from bayescal.multilevel.blocks.levels import draw_effects_at
from bayescal.multilevel.factorised.sample import PILOT

__all__ = ["Drawn", "corrected", "draw_round"]

EFFECTS_PROPOSALS = 1
"""Proposals of the effects for each draw of the scales."""
ENOUGH_OF_SCALES = 0.2
"""Effective share of the proposals of the scales from which no others are tried."""


@dataclass(frozen=True)
class Drawn:
    """Draws of equal weight.

    Attributes
    ----------
    points : ndarray of shape (n, size)
        Of the scales and of what effects do not move, as the density takes them.
    levels : ndarray of shape (L, n, r)
        Effects of the largest term.
    rest : ndarray of shape (n, R)
        The average and the effects of the smaller terms.
    stats : dict
        Pareto k-hat, effective sample size, log evidence and its error.
    """

    points: Floats
    levels: Floats
    rest: Floats
    stats: dict[str, float]


def draw_round(
    density: EffectsDensity, draws: int, purpose: str, proposals: int | None = None
) -> Drawn:
    """Draws of equal weight, where it is known which levels are unlike the others.

    The scales are drawn from their Laplace-approximated posterior. Round the mode of all effects at
    each draw of them the average and the smaller terms are proposed, and given these the largest
    term, level by level. All are weighted by the exact density, so that the approximation is no
    part of the answer.

    Parameters
    ----------
    proposals : int, optional
        Of the scales; by default as many as draws.
    """
    work = PILOT + (draws if proposals is None else proposals) + draws
    mode = density.mode()
    with bar(f"Fitting {density.groups:,} curves", work, patience=PATIENCE) as density.advance:
        return _draw_round(density, mode, draws, purpose, proposals)


def _draw_round(
    density: EffectsDensity, mode: Mode, draws: int, purpose: str, proposals: int | None
) -> Drawn:
    """The same round the mode of the scales."""
    rng = density.problem.pooled.rng(purpose)
    outer = importance_sample(density, mode, draws, rng, ENOUGH_OF_SCALES, proposals, pilot=PILOT)
    points, count = np.unique(outer.draws, axis=0, return_counts=True)
    width = density.width + EFFECTS_PROPOSALS * EVEN_POINTS * density.rows
    drawn = []
    for part in blocks_of_points(len(points), width):
        chosen = np.repeat(np.arange(len(points[part])), EFFECTS_PROPOSALS * count[part])
        drawn.append(draw_effects_at(density, density.peaks(points[part]), chosen, rng))
        density.advance(len(chosen))
    levels, rest, log_ratio = (
        np.concatenate(each, axis=axis)
        for each, axis in zip(zip(*drawn, strict=True), (1, 0, 0), strict=True)
    )
    weights, stats = corrected(outer, log_ratio)
    kept = resample(weights, draws, rng)
    points = np.repeat(points, EFFECTS_PROPOSALS * count, axis=0)[kept]
    return Drawn(points, levels[:, kept], rest[kept], stats)


def corrected(sample: Sample, log_ratio: Floats) -> tuple[Floats, dict[str, float]]:
    """Weights of draws whose density is not yet the exact one, and diagnostics of both steps.

    Parameters
    ----------
    sample : Sample
        Where they come from.
    log_ratio : ndarray of shape (n,)
        Log of the exact density over theirs.

    Returns
    -------
    weights : ndarray of shape (n,)
        They sum to 1.
    stats : dict
        As those of `Drawn`.
    """
    smoothed, pareto_k = smooth_rows(log_ratio[None])
    weights = np.exp(smoothed[0])
    weights /= weights.sum()
    largest = log_ratio.max()
    ratio = np.exp(log_ratio - largest)
    error = ratio.std() / ratio.mean() / np.sqrt(ratio.size)
    stats = {
        "pareto_k": max(sample.pareto_k, float(pareto_k[0])),
        "ess": float(min(sample.ess, 1 / np.sum(weights**2))),
        "log_evidence": float(sample.log_evidence + largest + np.log(ratio.mean())),
        "log_evidence_error": float(np.hypot(sample.log_evidence_error, error)),
    }
    return weights, stats
