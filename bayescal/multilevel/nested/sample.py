"""Draws of several curves: of the scales by importance sampling, and of the effects given them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.progress import PATIENCE, bar
from bayescal.core.sampling import EVEN_POINTS, Sample, importance_sample, resample, smooth_rows
from bayescal.model.draws import CHAINS
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.nested.density import EffectsDensity, blocks_of_points
from bayescal.multilevel.nested.levels import DrawnEffects, draw_effects_at
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["draw_effects"]

# Proposals of the scales by which the others are spread: a scale may be nearly zero, and the
# density falls more slowly on that side than at its mode. 1000 are no better.
PILOT = 512
# Least draws of the scales at which effects are proposed: of 400 or 1000 weights, none above seven
# times the mean, k-hat was .5 to .75, and of 4000 .1 to .2.
LEAST_JUDGED = 2000
# Share of the weight of the largest hundredth up to which its shape, k-hat, does not count.
#
# Of 347 simulated sets (2 to 30 robust sites, sites by periods or sexes, few or odd cells, strong
# differences, rare events), fitted twice or three times with 2000 draws, k-hat was above .7 in 8
# of 694 fits, and the rule held in 3 of them, of two or three robust levels. Where it held, the
# ends of intervals of TCE, O/E and scales were .09 standard deviations from those of 20 000 draws,
# whose k-hat was .2 to .4; in fits of the same sets with k-hat below .7 they were .11 away. NUTS,
# which would take over, took 17 and 26 s of CPU on two of the sets, diverged, and its ends were .5
# away.
LIGHT_TAIL = 0.05
# Draws of the scales at which peaks of the effects are looked for.
LOOKED_AT = 64
# Effective share of the proposals of the scales from which no others are tried.
ENOUGH_OF_SCALES = 0.2


def draw_effects(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Posterior draws of equal weight.

    The scales are drawn from their Laplace-approximated posterior. Round the mode of all effects at
    each draw of them the average and the smaller terms are proposed, and given these the largest
    term, level by level. All are weighted by the exact density, so that the approximation is no
    part of the answer.

    Parameters
    ----------
    proposals : int, optional
        Of the scales; by default as many as draws.
    """
    density = EffectsDensity(problem)
    work = PILOT + (draws if proposals is None else proposals) + draws
    title = f"Fitting {density.groups:,} {'sites' if problem.dim == 'site' else 'curves'}"
    with bar(title, work, patience=PATIENCE) as density.advance:
        rng, places = problem.pooled.rng("effects"), density.places()
        density.look_for_peaks(importance_sample(density, places, LOOKED_AT, rng).draws)
        size, proposals = max(draws, LEAST_JUDGED), draws if proposals is None else proposals
        outer = importance_sample(
            density, places, size, rng, ENOUGH_OF_SCALES, proposals, pilot=PILOT
        )
        points, drawn = _at_points(density, outer.draws, rng)
    weights, stats = _corrected(outer, drawn.log_weight)
    kept = resample(weights, draws, rng)
    points, rest = points[kept], drawn.rest[kept]
    scales, correlation = density.heterogeneity(points)
    effects = density.effects(drawn.levels[:, kept], rest)
    average = density.average(points, rest)
    made = MultilevelDraws.of_effects(
        *(problem, average, scales, effects, "importance", CHAINS, stats)
    )
    term, alone = problem.robust_term, problem.terms[0].correlated
    return replace(
        made,
        correlation=correlation if alone else None,
        unlike=None if term is None else drawn.unlike[:, kept][list(term.of_group)],
        share_unlike=drawn.share[kept] if alone and term is not None else None,
    )


def _at_points(
    density: EffectsDensity, draws: Floats, rng: np.random.Generator
) -> tuple[Floats, DrawnEffects]:
    """The draws of the scales in another order, and all effects at each of them."""
    points, count = np.unique(draws, axis=0, return_counts=True)
    drawn = []
    for part in blocks_of_points(len(points), density.width + 2 * EVEN_POINTS * density.rows):
        chosen = np.repeat(np.arange(len(points[part])), count[part])
        drawn.append(draw_effects_at(density, density.proposals(points[part]), chosen, rng))
        density.advance(len(chosen))
    axes = dict(zip(DrawnEffects._fields, (1, 0, 0, 0, 1), strict=True))
    joined = {
        name: np.concatenate([getattr(each, name) for each in drawn], axis)
        for name, axis in axes.items()
    }
    return np.repeat(points, count, axis=0), DrawnEffects(**joined)


def _corrected(sample: Sample, log_ratio: Floats) -> tuple[Floats, dict[str, float]]:
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
        Pareto k-hat, effective sample size, log evidence and its error.
    """
    smoothed, (pareto_k,) = smooth_rows(log_ratio[None])
    weights = np.exp(smoothed[0])
    weights /= weights.sum()
    tail = np.sort(weights)[-max(weights.size // 100, 1) :].sum()
    largest = log_ratio.max()
    ratio = np.exp(log_ratio - largest)
    error = ratio.std() / ratio.mean() / np.sqrt(ratio.size)
    stats = {
        "pareto_k": max(sample.pareto_k, float(pareto_k) if tail > LIGHT_TAIL else -np.inf),
        "ess": float(min(sample.ess, 1 / np.sum(weights**2))),
        "log_evidence": float(sample.log_evidence + largest + np.log(ratio.mean())),
        "log_evidence_error": float(np.hypot(sample.log_evidence_error, error)),
    }
    return weights, stats
