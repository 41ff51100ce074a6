"""DrawnEffects: draws of groups whose curves are sums of effects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.multilevel.problem import EffectsProblem
from bayescal.posterior.checks.verdict import verdict_of

__all__ = ["DrawnEffects"]


@dataclass(frozen=True)
class DrawnEffects:
    """What was fitted to groups with effects, and draws of equal weight, chain by chain.

    Attributes
    ----------
    problem : EffectsProblem
    average : ndarray of shape (draws, d)
        Working coordinates of the average: of a curve without effects.
    scales : tuple of ndarray of shape (draws, r)
        Of each term, the scale of its effects in each coordinate that they move.
    effects : tuple of ndarray of shape (levels, draws, r)
        Of each term, the effect of each level; levels without a group are drawn as well.
    chains : int
    engine : str
    stats : dict of str to float
        Of importance sampling: pareto_k, ess, log_evidence and log_evidence_error. Of NUTS:
        r_hat, ess_bulk, ess_tail and divergences.
    """

    problem: EffectsProblem
    average: Floats
    scales: tuple[Floats, ...]
    effects: tuple[Floats, ...]
    chains: int
    engine: str
    stats: dict[str, float]

    @property
    def groups(self) -> Floats:
        """Working coordinates of every group, of shape (groups, draws, d)."""
        u = np.repeat(self.average[None], len(self.problem.labels), axis=0)
        for term, effects in zip(self.problem.terms, self.effects, strict=True):
            u[:, :, self.problem.columns] += effects[list(term.of_group)]
        return u

    @property
    def verdict(self) -> str:
        """Whether the draws can be trusted: "ok", or what is wrong."""
        return verdict_of(self.stats)

    def of_prior(self) -> DrawnEffects:
        """As many draws of the prior, which are the same whenever they are asked for."""
        problem, size = self.problem, len(self.average)
        rng, r = problem.pooled.rng("prior of effects"), len(problem.varying)
        average = problem.pooled.sample_prior(rng, size)
        scales = [
            term.prior.scales(rng.standard_normal((size, r)), problem.varying)
            for term in problem.terms
        ]
        effects = [
            term.design @ rng.standard_normal((r, term.innovations, size)) for term in problem.terms
        ]
        scaled = [
            each.transpose(1, 2, 0) * scale for each, scale in zip(effects, scales, strict=True)
        ]
        return DrawnEffects(
            problem, average, tuple(scales), tuple(scaled), self.chains, "prior", {}
        )
