"""Draws of groups with effects of several terms, by the fast engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayescal.model.draws import CHAINS
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.drawn import draw_round
from bayescal.multilevel.blocks.unlike import with_unlike_levels
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["draw_effects"]


def draw_effects(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Posterior draws of equal weight by importance sampling.

    Of a robust term, each level may be unlike the others.

    Parameters
    ----------
    proposals : int, optional
        Of the scales; by default as many as draws.
    """
    density, unlike = EffectsDensity(problem), None
    drawn = draw_round(density, draws, "effects", proposals)
    term = problem.robust_term
    if term is not None:
        drawn, of_levels = with_unlike_levels(density, drawn, draws)
        unlike = of_levels[list(term.of_group)]
    made = MultilevelDraws.of_effects(
        problem,
        density.average(drawn.points, drawn.rest),
        np.stack(density.scales(drawn.points)),
        density.effects(drawn.levels, drawn.rest),
        "importance",
        CHAINS,
        drawn.stats,
    )
    return replace(made, unlike=unlike)
