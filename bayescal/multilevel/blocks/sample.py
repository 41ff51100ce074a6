"""Draws of groups with effects: scales by importance sampling, then all effects given them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayescal._base.arrays import Floats, blocks
from bayescal._base.newton import Mode
from bayescal._base.progress import PATIENCE, bar
from bayescal._base.sampling.even import EVEN_POINTS
from bayescal._base.sampling.importance import (
    Sample,
    importance_sample,
    mix_samples,
    resample,
    shares_of_parts,
)
from bayescal._base.sampling.pareto import smooth_rows
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.levels import draw_effects_at
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import log_prior_of_one
from bayescal.posterior.tree import CHAINS, SAMPLE_STATS

__all__ = ["draw_effects"]

EFFECTS_PROPOSALS = 1
"""Proposals of the effects for each draw of the scales."""
PILOT = 512
"""Proposals of the scales by which the others are spread: a scale may be nearly zero, and the
density falls more slowly on that side than at its mode."""
ENOUGH_OF_SCALES = 0.2
"""Effective share of the proposals of the scales from which no others are tried."""
LATENT_ROOM = 1 << 21


FEWER_DRAWS = 500
"""Draws of each level being unlike the others, but for those that need more."""


def draw_effects(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Posterior draws of equal weight by importance sampling.

    The scales are drawn from their Laplace-approximated posterior. Round the mode of all effects at
    each draw of them the average and the smaller terms are proposed, and given these the largest
    term, level by level. All are weighted by the exact density, so that the approximation is no
    part of the answer. Of a robust term this is done with every level alike, and with each of them
    unlike the others; their draws are mixed by the evidence of each.

    Parameters
    ----------
    proposals : int, optional
        Of the scales; by default as many as draws.
    """
    density = EffectsDensity(problem)
    alike = _draw(density, draws, "effects", proposals)
    if problem.robust_term is None:
        return MultilevelDraws.of_effects(
            problem, alike.average, alike.scales, alike.effects, "importance", CHAINS, alike.stats
        )
    return _with_unlike(density, alike, draws)


@dataclass(frozen=True)
class _Drawn:
    """Average (n, d), scales (terms, n, r) and effects of each term (levels, n, r)."""

    average: Floats
    scales: Floats
    effects: tuple[Floats, ...]
    stats: dict[str, float]

    @property
    def numbered(self) -> Sample:
        """A sample of the numbers of the draws."""
        pareto_k, ess, log_evidence, error = (self.stats[name] for name in SAMPLE_STATS)
        number = np.arange(len(self.average), dtype=np.float64)[:, None]
        return Sample(number, log_evidence, error, pareto_k, ess)


def _with_unlike(density: EffectsDensity, alike: _Drawn, draws: int) -> MultilevelDraws:
    """Draws of no level, and of each level, unlike the others, in proportion to their posterior."""
    problem, term = density.problem, density.problem.robust_term
    assert term is not None
    log_prior, few = log_prior_of_one(len(term.levels)), min(FEWER_DRAWS, draws)
    purposes = [f"effects, {level} unlike" for level in term.levels]
    parts = [alike]
    for level, purpose in enumerate(purposes):
        parts.append(_draw(density.with_unlike(level), few, purpose))
    share = shares_of_parts([each.numbered for each in parts], log_prior)
    for level in np.flatnonzero(share[1:] * draws > few / 2).tolist():
        parts[level + 1] = _draw(density.with_unlike(level), draws, purposes[level])
    mixed, part = mix_samples(
        [each.numbered for each in parts], log_prior, draws, problem.pooled.rng("unlike levels")
    )
    index = mixed.draws[:, 0].astype(np.intp)
    first = np.cumsum([0, *(len(each.average) for each in parts[:-1])])
    rows = first[part] + index
    effects = tuple(
        np.concatenate(each, axis=1)[:, rows]
        for each in zip(*(one.effects for one in parts), strict=True)
    )
    drawn = MultilevelDraws.of_effects(
        problem,
        np.concatenate([each.average for each in parts])[rows],
        np.concatenate([each.scales for each in parts], axis=1)[:, rows],
        effects,
        "importance",
        CHAINS,
        {name: float(getattr(mixed, name)) for name in SAMPLE_STATS},
    )
    return replace(drawn, unlike=np.array(term.of_group)[:, None] == part - 1)


def _draw(
    density: EffectsDensity, draws: int, purpose: str, proposals: int | None = None
) -> _Drawn:
    """Draws of equal weight, where it is known which level is unlike the others, if any."""
    title = f"Fitting {density.groups:,} curves"
    work = PILOT + (draws if proposals is None else proposals) + draws
    mode = density.mode()
    with bar(title, work, patience=PATIENCE) as density.advance:
        return _draw_round(density, mode, draws, purpose, proposals)


def _draw_round(
    density: EffectsDensity, mode: Mode, draws: int, purpose: str, proposals: int | None
) -> _Drawn:
    """The same round the mode of the scales."""
    rng = density.problem.pooled.rng(purpose)
    outer = importance_sample(density, mode, draws, rng, ENOUGH_OF_SCALES, proposals, pilot=PILOT)
    points, count = np.unique(outer.draws, axis=0, return_counts=True)
    width = density.width + EFFECTS_PROPOSALS * EVEN_POINTS * density.rows
    drawn = []
    for part in blocks(len(points), width, LATENT_ROOM):
        chosen = np.repeat(np.arange(len(points[part])), EFFECTS_PROPOSALS * count[part])
        drawn.append(draw_effects_at(density, density.peaks(points[part]), chosen, rng))
        density.advance(len(chosen))
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
    return _Drawn(average, scales, effects, stats)
