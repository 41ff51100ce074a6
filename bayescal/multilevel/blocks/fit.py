"""Fits of groups with effects: scales by importance sampling, then all effects at once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal._base.arrays import blocks
from bayescal._base.errors import DiagnosticWarning, OutOfTimeError
from bayescal._base.sampling.importance import importance_sample, resample
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.inference.nuts import taking_over
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.nuts import sample_effects_nuts
from bayescal.multilevel.posterior.effect_draws import DrawnEffects
from bayescal.multilevel.problem import EffectsProblem
from bayescal.posterior.tree import CHAINS

__all__ = ["draw_effects", "fit_effects"]

EFFECTS_PROPOSALS = 8
"""Proposals of the latent variables for each draw of the scales."""
LATENT_ROOM = 1 << 19


def fit_effects(
    problem: EffectsProblem, draws: int, engine: str, sampler: Mapping[str, Any]
) -> DrawnEffects:
    """Posterior draws of groups with effects, by whichever engine serves.

    Parameters
    ----------
    problem : EffectsProblem
    draws : int
    engine : {"auto", "importance", "nuts"}
    sampler : mapping
        Options of NUTS.

    Returns
    -------
    DrawnEffects

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted, or NUTS took over.
    """
    if engine != "nuts":
        drawn = draw_effects(problem, draws)
        if drawn.verdict == "ok":
            return drawn
        if engine == "importance":
            warnings.warn(f"{drawn.verdict}.", DiagnosticWarning, stacklevel=4)
            return drawn
        sampler, clause = taking_over(sampler)
        warnings.warn(f"{drawn.verdict}; {clause}.", DiagnosticWarning, stacklevel=4)
        try:
            drawn = sample_effects_nuts(problem, draws, sampler)
        except OutOfTimeError as error:
            told = f"{error} The draws are those of importance sampling."
            warnings.warn(told, DiagnosticWarning, stacklevel=4)
            return drawn
    else:
        drawn = sample_effects_nuts(problem, draws, sampler)
    if drawn.verdict != "ok":
        warnings.warn(f"NUTS reports {drawn.verdict}.", DiagnosticWarning, stacklevel=4)
    return drawn


def draw_effects(problem: EffectsProblem, draws: int) -> DrawnEffects:
    """Posterior draws of equal weight by importance sampling.

    The scales are drawn from their Laplace-approximated posterior, and round the mode of the
    average and all effects at each draw of them a few proposals are made. All are weighted by
    the exact density, so that the approximation is no part of the answer.

    Parameters
    ----------
    problem : EffectsProblem
    draws : int

    Returns
    -------
    DrawnEffects
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
    return DrawnEffects(
        problem,
        density.average(points, kept),
        tuple(density.scales(points)),
        density.effects(kept),
        CHAINS,
        "importance",
        stats,
    )
