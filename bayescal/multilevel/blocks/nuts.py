"""NUTS for groups with effects: the reference for the fast engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.versions import sample_nuts
from bayescal.inference.nuts import as_sampler
from bayescal.multilevel.posterior.effect_draws import DrawnEffects
from bayescal.multilevel.problem import EffectsProblem
from bayescal.multilevel.pymc_effects import effects_model
from bayescal.posterior.checks.verdict import convergence
from bayescal.posterior.tree import CHAINS

__all__ = ["sample_effects_nuts"]


def sample_effects_nuts(
    problem: EffectsProblem, draws: int, sampler: Mapping[str, Any] | None = None
) -> DrawnEffects:
    """Posterior draws of groups with effects from four chains.

    Parameters
    ----------
    problem : EffectsProblem
    draws : int
        In all, over the chains.
    sampler : mapping, optional

    Returns
    -------
    DrawnEffects
    """
    posterior, stats, _ = sample_nuts(
        effects_model(problem),
        draws=draws // CHAINS,
        chains=CHAINS,
        seed=int(problem.pooled.rng("nuts").integers(2**31)),
        **as_sampler(sampler),
    )

    def values(name: str) -> Floats:
        drawn = posterior[name].transpose("chain", "draw", ...).to_numpy()
        return np.asarray(drawn.reshape(-1, *drawn.shape[2:]), np.float64)

    names, varying = problem.pooled.curve.coordinates, problem.varying
    scales, effects = [], []
    for number, term in enumerate(problem.terms):
        scale = [values(f"sd_{name}_{number}") for name in varying]
        standard = [values(f"standard_{name}_{number}") for name in varying]
        of_levels = [
            (each[:, None] * unit) @ term.design.T
            for each, unit in zip(scale, standard, strict=True)
        ]
        scales.append(np.column_stack(scale))
        effects.append(np.stack(of_levels, axis=-1).transpose(1, 0, 2))
    return DrawnEffects(
        problem,
        np.column_stack([values(name) for name in names]),
        tuple(scales),
        tuple(effects),
        CHAINS,
        "nuts",
        convergence(posterior) | {"divergences": float(stats["diverging"].sum())},
    )
