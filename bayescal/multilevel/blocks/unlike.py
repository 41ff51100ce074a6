"""Which levels of a robust term are unlike the others, beside other terms.

Given the scales and the rest, levels are independent. The odds that one of them is unlike the
others follow from two integrals over its own effects, were it unlike the others and were it like
them. So every set of unlike levels has its part in the density of the scales and the rest.

Draws of the scales and the rest come from a few of these sets, which are fitted, each round a mode
of its own: with all levels alike, one that is far off would pull the rest to where it is not. They
are mixed by the evidence of these sets, and weighted by the density of all sets over that of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.sampling import EVEN_POINTS, Sample, mix_samples, resample
from bayescal.model.draws import SAMPLE_STATS
from bayescal.multilevel.blocks.density import EffectsDensity, blocks_of_points
from bayescal.multilevel.blocks.drawn import Drawn, corrected, draw_round
from bayescal.multilevel.blocks.levels import LEVEL_SETS, integrals_of_levels
from bayescal.multilevel.robust import LOG_ODDS_UNLIKE, PROB_UNLIKE

__all__ = ["with_unlike_levels"]

FITTED_FROM = 0.01
"""Share of the draws from which on a set of unlike levels is fitted by itself."""
FEWER_DRAWS = 1000
"""Draws of a set of unlike levels, unless it has a larger share of all draws."""
MOST_ROUNDS = 10
MOST_NOT_FITTED = 0.1
"""Share of the draws up to which the weights of sets that were not fitted are near one.

Their tail, whatever its shape, is then of a few draws, and their k-hat does not count.
"""


@dataclass(frozen=True)
class _Part:
    """Draws of a set of unlike levels, and what they tell of every level.

    Attributes
    ----------
    log_odds : ndarray of shape (L, n)
        Of being unlike the others, given the scales and the rest.
    like, unlike : ndarray of shape (L, n, r)
        Effects of each level, were it like the others, and were it unlike them.
    """

    drawn: Drawn
    log_odds: Floats
    like: Floats
    unlike: Floats

    @property
    def numbered(self) -> Sample:
        """A sample of the numbers of the draws."""
        pareto_k, ess, log_evidence, error = (self.drawn.stats[name] for name in SAMPLE_STATS)
        number = np.arange(len(self.drawn.rest), dtype=np.float64)[:, None]
        return Sample(number, log_evidence, error, pareto_k, ess)


def with_unlike_levels(
    density: EffectsDensity, alike: Drawn, draws: int
) -> tuple[Drawn, NDArray[np.bool_]]:
    """Draws of a robust term from those in which all levels are alike, and who is unlike, (L, n).

    A set of unlike levels that many of the draws have is fitted by itself, and the draws are made
    again, until there is no other such set.
    """
    every = density.with_unlike(tuple(range(density.layout.levels)))
    parts: dict[tuple[int, ...], _Part] = {(): _part(density, every, alike, "levels")}
    for _ in range(MOST_ROUNDS):
        drawn, unlike = _mixed(density, parts, draws)
        new = {}
        for levels, count in _common(unlike).items():
            needed = draws if count > FEWER_DRAWS / 2 else min(FEWER_DRAWS, draws)
            if levels not in parts or len(parts[levels].drawn.rest) < needed:
                new[levels] = needed
        if not new:
            break
        for levels, needed in new.items():
            own = draw_round(density.with_unlike(levels), needed, f"effects, unlike: {levels}")
            parts[levels] = _part(density, every, own, f"levels, unlike: {levels}")
    return drawn, unlike


def _part(density: EffectsDensity, every: EffectsDensity, drawn: Drawn, purpose: str) -> _Part:
    """Both integrals over the effects of each level, at every draw.

    Parameters
    ----------
    every : EffectsDensity
        The density where every level is unlike the others.
    """
    rng, size = density.problem.pooled.rng(purpose), density.layout.levels
    log_integral, levels = np.empty((2, size, len(drawn.rest))), np.empty((2, *drawn.levels.shape))
    width = LEVEL_SETS * EVEN_POINTS * density.rows
    for part in blocks_of_points(len(drawn.rest), width):
        given, rest = density.given(drawn.points[part]), drawn.rest[part]
        for k, each in enumerate((density, every)):
            log_integral[k, :, part], levels[k, :, part] = integrals_of_levels(
                each, given, drawn.levels[:, part], rest, rng
            )
    log_odds = LOG_ODDS_UNLIKE + log_integral[1] - log_integral[0]
    return _Part(drawn, log_odds, levels[0], levels[1])


def _mixed(
    density: EffectsDensity, parts: Mapping[tuple[int, ...], _Part], draws: int
) -> tuple[Drawn, NDArray[np.bool_]]:
    """Draws of all sets of unlike levels, from those of some."""
    rng, size = density.problem.pooled.rng("unlike levels"), density.layout.levels
    each = list(parts.values())
    log_prior = np.array([size * np.log1p(-PROB_UNLIKE) + len(s) * LOG_ODDS_UNLIKE for s in parts])
    mixed, part = mix_samples([one.numbered for one in each], log_prior, draws, rng)
    first = np.cumsum([0, *(len(one.drawn.rest) for one in each[:-1])])
    rows = first[part] + mixed.draws[:, 0].astype(np.intp)
    log_odds = np.concatenate([one.log_odds for one in each], axis=1)[:, rows]
    fitted = logsumexp([log_odds[list(levels)].sum(axis=0) for levels in parts], axis=0)
    log_ratio = np.logaddexp(0, log_odds).sum(axis=0) - fitted
    weights, stats = corrected(mixed, log_ratio)
    kept = resample(weights, draws, rng)
    rows = rows[kept]
    unlike = rng.random((size, draws)) < expit(log_odds[:, kept])
    like, far = (
        np.concatenate([getattr(one, name) for one in each], axis=1)[:, rows]
        for name in ("like", "unlike")
    )
    if 1 - weights @ np.exp(-log_ratio) <= MOST_NOT_FITTED:
        stats["pareto_k"] = mixed.pareto_k
    drawn = Drawn(
        np.concatenate([one.drawn.points for one in each])[rows],
        np.where(unlike[..., None], far, like),
        np.concatenate([one.drawn.rest for one in each])[rows],
        stats,
    )
    return drawn, unlike


def _common(unlike: NDArray[np.bool_]) -> dict[tuple[int, ...], int]:
    """Sets of unlike levels that many draws (L, n) have, and how many."""
    counts = Counter(tuple(np.flatnonzero(each).tolist()) for each in unlike.T)
    limit = FITTED_FROM * unlike.shape[1]
    return {levels: count for levels, count in counts.items() if count >= limit}
