"""Draws of groups with effects: scales by importance sampling, then all effects given them."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import blocks
from bayescal._base.sampling.importance import importance_sample, resample
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.levels import LEVEL_PROPOSALS, draw_effects_at
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.posterior.tree import CHAINS

__all__ = ["draw_effects"]

EFFECTS_PROPOSALS = 1
"""Proposals of the effects for each draw of the scales."""
ENOUGH_OF_SCALES = 0.2
"""Effective share of the proposals of the scales from which no others are tried."""
LATENT_ROOM = 1 << 21


def draw_effects(problem: MultilevelProblem, draws: int) -> MultilevelDraws:
    """Posterior draws of equal weight by importance sampling.

    The scales are drawn from their Laplace-approximated posterior. Round the mode of all effects at
    each draw of them the average and the smaller terms are proposed, and given these the largest
    term, level by level. All are weighted by the exact density, so that the approximation is no
    part of the answer.
    """
    density = EffectsDensity(problem)
    rng = problem.pooled.rng("effects")
    outer = importance_sample(density, density.mode(), draws, rng, ENOUGH_OF_SCALES)
    points, count = np.unique(outer.draws, axis=0, return_counts=True)
    width = density.width + EFFECTS_PROPOSALS * LEVEL_PROPOSALS * density.rows
    drawn = []
    for part in blocks(len(points), width, LATENT_ROOM):
        chosen = np.repeat(np.arange(len(points[part])), EFFECTS_PROPOSALS * count[part])
        drawn.append(draw_effects_at(density, density.peaks(points[part]), chosen, rng))
    levels, rest, log_ratio = (
        np.concatenate(each, axis=axis)
        for each, axis in zip(zip(*drawn, strict=True), (1, 0, 0), strict=True)
    )
    smoothed, pareto_k = smooth_rows(log_ratio[None])
    weights = np.exp(smoothed[0])
    weights /= weights.sum()
    kept = resample(weights, draws, rng)
    points = np.repeat(points, EFFECTS_PROPOSALS * count, axis=0)[kept]
    largest = log_ratio.max()
    ratio = np.exp(log_ratio - largest)
    error = ratio.std() / ratio.mean() / np.sqrt(ratio.size)
    stats = {
        "pareto_k": max(outer.pareto_k, float(pareto_k[0])),
        "ess": float(min(outer.ess, 1 / np.sum(weights**2))),
        "log_evidence": float(outer.log_evidence + largest + np.log(ratio.mean())),
        "log_evidence_error": float(np.hypot(outer.log_evidence_error, error)),
    }
    average, scales = density.average(points, rest[kept]), np.stack(density.scales(points))
    effects = density.effects(levels[:, kept], rest[kept])
    return MultilevelDraws.of_effects(
        problem, average, scales, effects, "importance", CHAINS, stats
    )
