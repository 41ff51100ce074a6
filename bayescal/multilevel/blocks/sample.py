"""Draws of groups with effects: scales by importance sampling, then all effects at once."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import blocks
from bayescal._base.sampling.importance import importance_sample, resample
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.posterior.tree import CHAINS

__all__ = ["draw_effects"]

EFFECTS_PROPOSALS = 8
"""Proposals of the latent variables for each draw of the scales."""
LATENT_ROOM = 1 << 19


def draw_effects(problem: MultilevelProblem, draws: int) -> MultilevelDraws:
    """Posterior draws of equal weight by importance sampling.

    The scales are drawn from their Laplace-approximated posterior, and round the mode of the
    average and all effects at each draw of them a few proposals are made. All are weighted by
    the exact density, so that the approximation is no part of the answer.
    """
    density = EffectsDensity(problem)
    rng = problem.pooled.rng("effects")
    outer = importance_sample(density, density.mode(), draws // 2, rng)
    points, scaled, ratios = outer.draws, [], []
    width = 3 * density.latents**2 + EFFECTS_PROPOSALS * density.latents
    for part in blocks(len(points), width, LATENT_ROOM):
        proposed, ratio = density.draw_latents(density.peaks(points[part]), EFFECTS_PROPOSALS, rng)
        scaled.append(proposed.reshape(-1, density.latents))
        ratios.append(ratio.ravel())
    latents, log_ratio = np.concatenate(scaled), np.concatenate(ratios)
    smoothed, pareto_k = smooth_rows(log_ratio[None])
    weights = np.exp(smoothed[0])
    weights /= weights.sum()
    chosen = resample(weights, draws, rng)
    kept, points = latents[chosen], points[chosen // EFFECTS_PROPOSALS]
    largest = log_ratio.max()
    ratio = np.exp(log_ratio - largest)
    error = ratio.std() / ratio.mean() / np.sqrt(ratio.size)
    stats = {
        "pareto_k": max(outer.pareto_k, float(pareto_k[0])),
        "ess": float(min(outer.ess, 1 / np.sum(weights**2))),
        "log_evidence": float(outer.log_evidence + largest + np.log(ratio.mean())),
        "log_evidence_error": float(np.hypot(outer.log_evidence_error, error)),
    }
    average, scales = density.average(points, kept), np.stack(density.scales(points))
    effects = density.effects(kept)
    return MultilevelDraws.of_effects(
        problem, average, scales, effects, "importance", CHAINS, stats
    )
