"""The engine of curves made of stretches: exact sums over partitions, and draws from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal._base.sampling.importance import Sample
from bayescal.model.clusters.design import cluster_design
from bayescal.model.partition.paths import draw_partitions, partition_sums
from bayescal.model.partition.prior import PartitionPrior
from bayescal.model.partition.stretches import stretch_evidences
from bayescal.model.pieces import PIECES_PRIOR
from bayescal.model.problem import Problem

__all__ = ["sample_pieces", "variance_factor"]


def sample_pieces(
    problem: Problem,
    draws: int,
    priors: Sequence[PartitionPrior] = (PIECES_PRIOR,),
) -> list[Sample]:
    """Posterior draws of shifts and slopes by cell, under one or several priors.

    The evidences of the stretches are computed once for all priors. Where cases come in clusters,
    every case counts as one over the design effect of the number of events.

    Parameters
    ----------
    problem : Problem
        Its frame holds the cells.
    draws : int
        Under each prior.
    priors : sequence of PartitionPrior

    Returns
    -------
    list of Sample
        One for each prior, with draws of shape (draws, 2 * cells): shifts, then slopes. The
        log evidence is of the single outcomes, given that the curve leaves the diagonal. Neither
        it nor the draws come from importance weights of whole curves, so it has no Monte Carlo
        error and k-hat is minus infinity.
    """
    table, effect = problem.table, variance_factor(problem)
    stretches = stretch_evidences(
        table.score,
        table.trials / effect,
        table.hits / effect,
        np.array(problem.frame.cells[1:-1]),
        hinges=any(prior.hinge > 0 for prior in priors),
    )
    samples = []
    for index, prior in enumerate(priors):
        sums = partition_sums(stretches, prior)
        drawn = draw_partitions(sums, draws, problem.rng(f"curve {index}" if index else "curve"))
        u = np.hstack([drawn.shift, drawn.slope])
        log_evidence = sums.log_evidence + (effect - 1) * stretches.log_diagonal
        samples.append(Sample(u, log_evidence, 0.0, -np.inf, float(draws)))
    return samples


def variance_factor(problem: Problem) -> float:
    """By how much clusters enlarge the variance of the number of events; 1 without clusters."""
    if problem.clusters is None or problem.clusters.are_single:
        return 1.0
    design = cluster_design(problem)
    return design.effect * design.inflation
