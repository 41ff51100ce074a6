"""Draws of several curves: of the scales by importance sampling, and of the effects given them.

The smaller terms are drawn round a peak, then the largest level by level given them. The integral
over the effects of each of its levels is estimated without bias by a few proposals, spread evenly
round its mode, and one of them is its draw. The product of the estimates weights the draw of all
levels together, as in a random-weight particle filter (Fearnhead, Papaspiliopoulos & Roberts,
2008), and its variance grows slowly with the number of levels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.progress import PATIENCE, bar
from bayescal.core.sampling import (
    EVEN_POINTS,
    Sample,
    even_points,
    importance_sample,
    resample,
    smooth_rows,
    student_stretch,
)
from bayescal.core.versions import one_blas_thread
from bayescal.model.draws import CHAINS
from bayescal.multilevel.density import (
    EffectsDensity,
    Given,
    Peak,
    Peaks,
    blocks_of_points,
)
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.followed import over_steps
from bayescal.multilevel.layout import solve_upper, sums_of
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import one_of_shares

# Degrees of freedom of the proposals of the rest, for each of its dimensions.
DEGREES = 4
# Least degrees of freedom of the proposals of levels, of which many levels need more.
LEAST_DEGREES = 5


class DrawnEffects(NamedTuple):
    """One draw of all effects at each of n points: of levels (L, n, r), and of the rest (n, R).

    `log_weight` is the log of an unbiased estimate of the density of the rest, the levels
    integrated out, over that of its proposal and over Laplace's integral.
    """

    levels: Floats
    rest: Floats
    log_weight: Floats
    share: Floats
    unlike: NDArray[np.bool_]


def draw_effects_at(
    density: EffectsDensity, peaks: Peaks, chosen: NDArray[np.intp], rng: np.random.Generator
) -> DrawnEffects:
    """One draw of all effects round a peak at each of the chosen points."""
    ladder = peaks.share[:, chosen].cumsum(axis=0)
    of_peak = (ladder[:-1] < rng.random(len(chosen)) * ladder[-1]).sum(axis=0)
    rest = np.empty((len(chosen), density.rest_size))
    for k, peak in enumerate(peaks.each):
        mine = of_peak == k
        rest[mine] = _proposed_rest(peak, chosen[mine], rng)
    log_proposed = logsumexp(
        [_log_proposed(peak, chosen, rest) for peak in peaks.each], axis=0, b=peaks.share[:, chosen]
    )
    log_weight = -log_proposed - peaks.log_integral[chosen]
    size, n = density.layout.levels, len(chosen)
    levels = np.empty((size, n, len(density.varying)), density.kind)
    share, unlike = np.empty(n), np.empty((size, n), dtype=bool)
    for k in np.unique(of_peak):
        own = np.flatnonzero(of_peak == k)
        of_own = levels_given_rest(density, peaks.each[k], chosen[own], rest[own], rng)
        levels[:, own], total, share[own], unlike[:, own] = of_own
        log_weight[own] += total
    return DrawnEffects(levels, rest, log_weight, share, unlike)


def levels_given_rest(
    density: EffectsDensity,
    peak: Peak,
    chosen: NDArray[np.intp],
    rest: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Levels given the rest, log density of the rest, and share of unlike levels, and which."""
    at, size = peak.at.at(chosen), len(chosen)
    total = density.log_prior_of_rest(at.given, rest)
    share, unlike = np.zeros(size), np.zeros((density.layout.levels, size), dtype=bool)
    if density.layout.inner is None:
        total += density.log_likelihood(at.given, at.levels, rest).sum(axis=0)
        return at.levels.transpose(0, 2, 1), total, share, unlike
    own = peak.at.given.each_law(chosen)
    centre, pulled = peak.levels[..., own], at.pulled(rest - peak.rest[chosen])
    degrees = max(LEAST_DEGREES, len(centre))
    standard = even_points(centre.shape, degrees, rng)
    centre, factor, standard, pulled = (
        each.astype(density.kind) for each in (centre, at.factor, standard, pulled)
    )
    levels, log_density = _spread_round(centre, factor, standard, pulled, degrees)
    log_ratio = _log_density_of_levels(density, at.given, levels, rest) - log_density
    log_integral, drawn = _one_of(levels, log_ratio, rng)
    of_levels, log_odds, log_share = density.mixed(log_integral, size)
    if density.laws > 1:
        share = one_of_shares(density.shares[0], log_share, rng)
        unlike = rng.random(log_odds.shape) < expit(logit(share) + log_odds)
        drawn = np.where(unlike[..., None], drawn[:, size:], drawn[:, :size])
    return drawn, total + of_levels, share, unlike


def _one_of(levels: Floats, log_ratio: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Log mean of the ratios (L, N, K) of each level, and one of its proposals (L, r, N, K)."""
    largest = log_ratio.max(axis=-1, keepdims=True)
    ladder = np.exp(log_ratio - largest).cumsum(axis=-1)
    log_mean = np.log(ladder[..., -1] / log_ratio.shape[-1]) + largest[..., 0].astype(np.float64)
    limit = rng.random(ladder.shape[:2]) * ladder[..., -1]
    kept = (ladder < limit[..., None]).sum(axis=-1)
    drawn = np.take_along_axis(levels, kept[:, None, :, None], axis=-1)[..., 0]
    return log_mean, drawn.transpose(0, 2, 1)


def _proposed_rest(peak: Peak, chosen: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Student-t proposals (n, R) round a peak."""
    standard = rng.standard_normal((len(chosen), peak.rest.shape[1]))
    degrees = DEGREES * standard.shape[1]
    stretch = student_stretch(np.asarray(rng.standard_normal(len(chosen))), degrees)
    return peak.rest[chosen] + solve_upper(peak.at.root[chosen], standard * stretch[:, None])


def _log_proposed(peak: Peak, chosen: NDArray[np.intp], rest: Floats) -> Floats:
    """Log density (n,) of these proposals."""
    root, size = peak.at.root[chosen], rest.shape[1]
    standard = np.einsum("nji,nj->ni", root, rest - peak.rest[chosen])
    log_density = log_student(np.vecdot(standard, standard), size, DEGREES * size)
    return np.asarray(log_density + np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1))


def _spread_round(
    centre: Floats, factor: Floats, standard: Floats, pulled: Floats, degrees: int
) -> tuple[Floats, Floats]:
    """Student-t points (L, r, N, K) round centres (L, r, N) less F times `pulled`, and log density.

    From points at a scale of one, by lower factors F of the points' covariances.
    """
    r = standard.shape[1]
    log_density = log_student((standard**2).sum(axis=1), r, degrees)
    log_density -= np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=-1)[..., None]
    standard = standard - pulled[..., None]
    levels = np.repeat(centre[..., None], standard.shape[-1], axis=-1)
    for i in range(r):
        for k in range(i + 1):
            levels[:, i] += factor[:, i, k, :, None] * standard[:, k]
    return levels, log_density


def log_student(squared: Floats, size: int, degrees: int) -> Floats:
    """Log density of a Student-t law in `size` dimensions at squared distances from its centre."""
    half = (degrees + size) / 2
    constant = gammaln(half) - gammaln(degrees / 2) - size / 2 * np.log(degrees * np.pi)
    return np.asarray(float(constant) - half * np.log1p(squared / degrees))


def _log_density_of_levels(
    density: EffectsDensity, given: Given, levels: Floats, rest: Floats
) -> Floats:
    """Log of prior times likelihood of each level, (L, N, K), at effects (L, r, N, K)."""
    *_, both, count = levels.shape
    repeated = np.repeat(np.arange(given.size), count)
    given = given.at(repeated, levels.dtype)
    flat = levels.reshape(*levels.shape[:2], -1)
    value = sums_of(density.layout.of_level, density.log_likelihood(given, flat, rest[repeated]))
    value += density.log_prior_of_levels(given, flat)
    return value.reshape(-1, both, count)


# Proposals of the scales by which the others are spread: a scale may be nearly zero, and the
# density falls more slowly on that side than at its mode. 1000 are no better.
PILOT = 512
# Draws for each proposal of the scales, and least proposals. All effects are drawn anew for each
# draw: with half as many proposals as draws, ends of intervals of TCE and O/E vary between seeds as
# with as many (15 sites of 40 and 100 of 200 cases, 64 cells; .04 to .07 standard deviations of
# the posterior with 4000 draws), in two thirds of the time; with a quarter those of TCE by .09.
DRAWS_A_PROPOSAL, LEAST_PROPOSALS = 2, 1000
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
    problem: MultilevelProblem,
    draws: int,
    draws_a_proposal: int = DRAWS_A_PROPOSAL,
    *,
    two_scales: bool = False,
) -> MultilevelDraws:
    """Posterior draws of equal weight, by the prior in use, or half of it with narrow effects.

    The scales are drawn from their Laplace-approximated posterior. Round the mode of all effects at
    each draw of them the average and the smaller terms are proposed, and given these the largest
    term, level by level. All are weighted by the exact density.
    """
    drawn = draw_if_likely(problem, draws, draws_a_proposal, two_scales=two_scales)
    assert drawn is not None
    return drawn


@one_blas_thread
def draw_if_likely(
    problem: MultilevelProblem,
    draws: int,
    draws_a_proposal: int,
    *,
    two_scales: bool,
    least: float = -np.inf,
) -> MultilevelDraws | None:
    """The same draws; None if the log evidence, with Laplace's integrals, is below `least`."""
    density = EffectsDensity(problem, two_scales=two_scales)
    proposals = min(max(draws // draws_a_proposal, LEAST_PROPOSALS), draws)
    work = PILOT + proposals + draws
    title = f"Fitting {density.groups:,} {'sites' if problem.dim == 'site' else 'curves'}"
    with bar(title, work, patience=PATIENCE) as density.advance:
        rng, places = problem.pooled.rng("effects"), density.places()
        density.look_for_peaks(importance_sample(density, places, LOOKED_AT, rng).draws)
        size = max(draws, LEAST_JUDGED)
        outer = importance_sample(
            density.with_places, places, size, rng, ENOUGH_OF_SCALES, proposals, pilot=PILOT
        )
        if outer.log_evidence < least:
            return None
        points, drawn = _at_points(density, outer, rng)
    weights, stats = _corrected(outer, drawn.log_weight)
    kept = resample(weights, draws, rng)
    points, rest = points[kept], drawn.rest[kept]
    scales, correlation = density.heterogeneity(points)
    effects = density.effects(drawn.levels[:, kept].astype(np.float64), rest)
    average = density.average(points, rest)
    made = MultilevelDraws.of_effects(
        *(problem, average, scales, effects, "importance", CHAINS, stats)
    )
    term, alone = problem.robust_term, problem.terms[0].correlated
    made = replace(
        made,
        correlation=correlation if alone else None,
        unlike=None if term is None else drawn.unlike[:, kept][list(term.of_group)],
        share_unlike=drawn.share[kept] if alone and term is not None else None,
        two_scales=two_scales,
    )
    return over_steps(made)


def _at_points(
    density: EffectsDensity, outer: Sample, rng: np.random.Generator
) -> tuple[Floats, DrawnEffects]:
    """The draws of the scales in another order, and all effects at each of them."""
    points, first, count = np.unique(outer.draws, axis=0, return_index=True, return_counts=True)
    assert outer.beside is not None
    places = outer.beside[first]
    drawn = []
    for part in blocks_of_points(len(points), density.width + 2 * EVEN_POINTS * density.rows):
        chosen = np.repeat(np.arange(len(points[part])), count[part])
        drawn.append(
            draw_effects_at(density, density.proposals(points[part], places[part]), chosen, rng)
        )
        density.advance(len(chosen))
    joined = map(np.concatenate, zip(*drawn, strict=True), (1, 0, 0, 0, 1))
    return np.repeat(points, count, axis=0), DrawnEffects(*joined)


def _corrected(sample: Sample, log_ratio: Floats) -> tuple[Floats, dict[str, float]]:
    """Weights of draws, by the exact density over theirs, and diagnostics of both steps."""
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
