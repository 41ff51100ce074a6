"""Exact sums: over partitions of the scores into stretches, and over risks at a few scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.sampling import Sample, resample, smooth_rows
from bayescal.model.cells import PartitionPrior, cell_of
from bayescal.model.clusters import cluster_design
from bayescal.model.curve import expit_in_place
from bayescal.model.partition import draw_partitions, stretch_evidences, sums_by_prior
from bayescal.model.pieces import PIECES_PRIOR
from bayescal.model.problem import Problem
from bayescal.model.saturated import ANY_RISKS, RiskPrior, RiskSums
from bayescal.model.times import entries_of
from bayescal.model.times_rows import Correction, correction_of

ENOUGH_OF_DRAWS = 0.2


def sample_pieces(
    problem: Problem,
    draws: int,
    priors: Sequence[PartitionPrior] = (PIECES_PRIOR,),
) -> list[Sample]:
    """Posterior draws (draws, 2 * cells) of shifts and slopes by cell, under one or several priors.

    The evidences of the stretches are computed once. They are of the single outcomes, given that
    the curve leaves the diagonal, without Monte Carlo error: k-hat is minus infinity. Of clusters
    every case counts as one over the design effect of the number of events.
    """
    if problem.of_times:
        return _of_times(problem, draws, priors)
    table, effect = problem.table, variance_factor(problem)
    stretches = stretch_evidences(
        table.score,
        table.trials / effect,
        table.hits / effect,
        np.array(problem.frame.cells[1:-1]),
        hinges=any(prior.hinge > 0 for prior in priors),
    )
    samples = []
    for index, sums in enumerate(sums_by_prior(stretches, priors)):
        drawn = draw_partitions(sums, draws, problem.rng(f"curve {index}" if index else "curve"))
        u = np.hstack([drawn.shift, drawn.slope])
        log_evidence = sums.log_evidence + (effect - 1) * stretches.log_diagonal
        samples.append(Sample(u, log_evidence, 0.0, -np.inf, float(draws)))
    return samples


def _of_times(problem: Problem, draws: int, priors: Sequence[PartitionPrior]) -> list[Sample]:
    """The same of times to an event: at the likeliest steps, then weighted as if integrated out."""
    entries, effect, nodes = entries_of(problem), variance_factor(problem), correction_of(problem)
    stretches = stretch_evidences(
        problem.table.score,
        (entries.events + entries.free) / effect,
        entries.events / effect,
        np.array(problem.frame.cells[1:-1]),
        hinges=any(prior.hinge > 0 for prior in priors),
        late=nodes.late(effect),
    )
    log_diagonal = _log_diagonal(stretches.log_diagonal, nodes, effect) if effect != 1 else 0.0
    sums = sums_by_prior(stretches, priors)
    streams = [problem.rng(f"curve {k}" if k else "curve") for k in range(len(priors))]
    drawn = [draw_partitions(of, draws, rng) for of, rng in zip(sums, streams, strict=True)]
    samples, exact = [], nodes
    for of, rng, each in zip(sums, streams, drawn, strict=True):
        u = np.hstack([each.shift, each.slope])
        g = _curves_at(problem, u, nodes.x)
        if exact is nodes:  # expanded once, at the mean curve under the first prior
            exact = _expanded_at(nodes, g.mean(axis=0))
        log_ratio = (exact.given_steps(g) + exact(g) - nodes.given_steps(g)) / effect
        smooth, pareto_k = smooth_rows(log_ratio[None])
        share = np.exp(smooth[0] - logsumexp(smooth[0]))
        ess = float(1 / np.sum(share**2))
        log_evidence = of.log_evidence + float(logsumexp(log_ratio) - np.log(draws))
        log_evidence += (1 - 1 / effect) * log_diagonal
        kept = resample(share, draws, rng)
        error = float(np.sqrt(max(1 / ess - 1 / draws, 0)))
        # The weights are bounded: how many draws they are worth says whether to trust them.
        trusted = ess > ENOUGH_OF_DRAWS * draws
        k = -np.inf if trusted else float(pareto_k[0])
        samples.append(Sample(u[kept], log_evidence, error, k, ess))
    return samples


def _log_diagonal(told: float, nodes: Correction, effect: float) -> float:
    """Log likelihood of exact calibration, from what stretches say of it with cases as fewer.

    They hold the steps where nodes do.
    """
    exact, calibrated = nodes.likeliest(expit(nodes.partial.x)), expit(nodes.x)[None]
    added = exact.given_steps(calibrated) + exact(calibrated) - nodes.given_steps(calibrated)
    return effect * told + float(added[0])


def _expanded_at(nodes: Correction, g: Floats) -> Correction:
    """The nodes at the likeliest steps with a curve, by its values there."""
    if not nodes.x.size:
        return nodes
    order = np.argsort(nodes.x, kind="stable")
    return nodes.likeliest(np.interp(nodes.partial.x, nodes.x[order], g[order]))


def _curves_at(problem: Problem, u: Floats, x: Floats) -> Floats:
    """The curves at log-odds of scores, of shape (draws, scores)."""
    ends = np.array(problem.frame.cells)
    cell = cell_of(np.clip(x, ends[0], ends[-1]), ends[1:-1])
    shift, slope = np.split(u, 2, axis=1)
    log_odds = slope[:, cell] * x
    log_odds += shift[:, cell]
    log_odds += x
    return expit_in_place(log_odds)


def variance_factor(problem: Problem) -> float:
    """By how much clusters enlarge the variance of the number of events; 1 without clusters."""
    if problem.clusters is None or problem.clusters.are_single:
        return 1.0
    design = cluster_design(problem)
    return design.effect * design.inflation


# Independent draws for each draw that is asked for; an average chooses among them.
POINTS_A_DRAW = 4


def sample_saturated(
    problem: Problem, draws: int, priors: Sequence[RiskPrior] = (ANY_RISKS,)
) -> list[Sample]:
    """Posterior draws (draws, scores) of the error at each score, under one or several priors.

    Evidence is of the single outcomes, given that the curve leaves the diagonal. It is exact, and
    draws are independent: k-hat is minus infinity. Of clusters every case counts as one over the
    design effect of the number of events.
    """
    table, effect = problem.table, variance_factor(problem)
    trials, hits = table.trials / effect, table.hits / effect
    on_diagonal = float(hits @ np.log(table.score) + (trials - hits) @ np.log1p(-table.score))
    samples = []
    for index, prior in enumerate(priors):
        sums = RiskSums(problem.stated, trials, hits, prior)
        points: Floats = sums.draw(POINTS_A_DRAW * draws, problem.rng(f"risks {index}"))
        weights = np.full(len(points), 1 / len(points))
        evidence = sums.log_evidence + (effect - 1) * on_diagonal
        samples.append(
            Sample(points[:draws], evidence, 0.0, -np.inf, float(draws), points, weights)
        )
    return samples
