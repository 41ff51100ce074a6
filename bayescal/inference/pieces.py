"""The engine of curves made of stretches: exact sums over partitions, and draws from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logsumexp, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.sampling.importance import Sample, importance_sample, resample
from bayescal._base.sampling.pareto import smooth_rows
from bayescal._base.sampling.points import lattice_points
from bayescal.inference.general import GeneralDensity
from bayescal.model.clusters.design import cluster_design
from bayescal.model.curve import expit_in_place
from bayescal.model.families import BETA, IDENTITY
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.likelihood.times.correction import Correction
from bayescal.model.likelihood.times.entries import entries_of
from bayescal.model.likelihood.times.late import late_of
from bayescal.model.likelihood.times.rows import correction_of
from bayescal.model.partition.cells import cell_of
from bayescal.model.partition.paths import draw_partitions, sums_by_prior
from bayescal.model.partition.prior import PartitionPrior
from bayescal.model.partition.stretches import stretch_evidences
from bayescal.model.pieces import PIECES_PRIOR
from bayescal.model.problem import Problem

__all__ = ["sample_pieces", "variance_factor"]

NUISANCE_NODES = 2, 2, 3
"""Powers of two of points spread as the prior, exact calibration, and the beta family say."""
ENOUGH, MOST_POINTS = 5.0, 64
"""Effective number of points from which no more are added, and most of them."""
PILOT_DRAWS = 256
ENOUGH_OF_DRAWS = 0.2
PROPOSED_WIDER = 1.5


def sample_pieces(
    problem: Problem,
    draws: int,
    priors: Sequence[PartitionPrior] = (PIECES_PRIOR,),
) -> list[Sample]:
    """Posterior draws of shifts and slopes by cell, under one or several priors.

    The evidences of the stretches are computed once for all priors. Nuisance coordinates of the
    likelihood are integrated out over points that are the same for all stretches. Where cases come
    in clusters,
    every case counts as one over the design effect of the number of events.

    Parameters
    ----------
    problem : Problem
        Its frame holds the cells.
    draws : int
        Under each prior.

    Returns
    -------
    list of Sample
        One for each prior, with draws of shape (draws, 2 * cells): shifts, then slopes; nuisance
        coordinates of the likelihood before them. The
        log evidence is of the single outcomes, given that the curve leaves the diagonal. Neither
        it nor the draws come from importance weights of whole curves, so it has no Monte Carlo
        error and k-hat is minus infinity.
    """
    if problem.of_times:
        return _of_times(problem, draws, priors)
    if not problem.likelihood.is_linear:
        return _under_law(problem, draws, priors)
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


def _under_law(problem: Problem, draws: int, priors: Sequence[PartitionPrior]) -> list[Sample]:
    """The same under any likelihood: a mixture over points of its nuisance coordinates.

    Points are added until several of them matter, under each prior.
    """
    table, law = problem.table, problem.likelihood
    size, rng, proposals = len(law.priors), problem.rng("nuisance"), _proposals(problem)
    normal, sums = np.empty((0, size)), []
    while True:
        more = _points(proposals, rng)
        normal = np.concatenate([normal, more])
        for own in _from_normal(law, more):
            stretches = stretch_evidences(
                *(table.score, table.trials, table.hits, np.array(problem.frame.cells[1:-1])),
                hinges=any(prior.hinge > 0 for prior in priors),
                law=(law, own),
            )
            sums.append(sums_by_prior(stretches, priors))
        log_weight = _log_weights(proposals, normal)
        evidence = np.array([[each.log_evidence for each in of_point] for of_point in sums])
        log_joint = log_weight[:, None] + evidence
        log_evidence = logsumexp(log_joint, axis=0)
        share = np.exp(log_joint - log_evidence)
        if not size or (1 / np.sum(share**2, axis=0)).min() >= ENOUGH or len(sums) >= MOST_POINTS:
            break
    samples, nuisance = [], _from_normal(law, normal)
    for index in range(len(priors)):
        stream = problem.rng(f"curve {index}" if index else "curve")
        part = resample(share[:, index], draws, stream)
        u = np.empty((draws, size + 2 * (len(problem.frame.cells) - 1)))
        for k in np.unique(part):
            rows = np.flatnonzero(part == k)
            drawn = draw_partitions(sums[k][index], rows.size, stream)
            own = np.broadcast_to(nuisance[k], (rows.size, size))
            u[rows] = np.hstack([own, drawn.shift, drawn.slope])
        error = float(np.linalg.norm(share[:, index] - 1 / len(share)))
        samples.append(Sample(u, float(log_evidence[index]), error, -np.inf, float(draws)))
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
        late=late_of(nodes, effect),
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


Normals = list[tuple[Floats, Floats]]
"""Means and covariances."""


def _proposals(problem: Problem) -> Normals:
    """Normal laws of the nuisance coordinates, read at normal numbers.

    The prior; the posterior of exact calibration; and that of the beta family, which binds them
    less.
    """
    rng, size = problem.rng("pilot of nuisance"), len(problem.likelihood.priors)
    laws = [(np.zeros(size), np.eye(size))]
    for family in (IDENTITY, BETA) if size else ():
        density = GeneralDensity(problem.of_family(family))
        drawn = importance_sample(density, density.proposals(), PILOT_DRAWS, rng, density.good_ess)
        normal = drawn.draws[:, density.at_rates]
        covariance = PROPOSED_WIDER * np.cov(normal.T).reshape(size, size)
        laws.append((normal.mean(axis=0), covariance))
    return laws


def _points(laws: Normals, rng: np.random.Generator) -> Floats:
    """So many points of each law as `NUISANCE_NODES` says, evenly spread; one of no coordinate."""
    points = []
    for (mean, covariance), power in zip(laws, NUISANCE_NODES, strict=False):
        if not mean.size:
            return np.empty((1, 0))
        even = ndtri(np.clip(lattice_points(power, mean.size, rng), 1e-9, 1 - 1e-9))
        points.append(mean + even @ np.linalg.cholesky(covariance).T)
    return np.concatenate(points)


def _log_weights(laws: Normals, points: Floats) -> Floats:
    """Log share of the prior, the first of the laws, that each point stands for."""
    if not points.shape[1]:
        return np.zeros(1)
    proposed = [_normal_log_density(points, *law) for law in laws]
    mixed = logsumexp(np.array(proposed) + np.log(2) * np.array(NUISANCE_NODES)[:, None], axis=0)
    log_weight = proposed[0] - mixed
    return np.asarray(log_weight - logsumexp(log_weight))


def _from_normal(law: Likelihood, points: Floats) -> Floats:
    """Nuisance coordinates at normal numbers, of shape (points, nuisance coordinates)."""
    own = [prior.from_normal(z) for (_, prior), z in zip(law.priors, points.T, strict=True)]
    return np.reshape(own, (len(own), len(points))).T


def _normal_log_density(z: Floats, mean: Floats, covariance: Floats) -> Floats:
    """At points of shape (n, d)."""
    away, log_det = z - mean, np.linalg.slogdet(2 * np.pi * covariance)[1]
    return np.asarray(-(np.vecdot(away, np.linalg.solve(covariance, away.T).T) + log_det) / 2)


def variance_factor(problem: Problem) -> float:
    """By how much clusters enlarge the variance of the number of events; 1 without clusters."""
    if problem.clusters is None or problem.clusters.are_single:
        return 1.0
    design = cluster_design(problem)
    return design.effect * design.inflation
