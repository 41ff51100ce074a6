"""The engine of curves made of stretches: exact sums over partitions, and draws from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal._base.sampling.importance import Sample
from bayescal.model.partition.paths import draw_partitions, partition_sums
from bayescal.model.partition.prior import PartitionPrior
from bayescal.model.partition.stretches import stretch_evidences
from bayescal.model.pieces import PIECES_PRIOR
from bayescal.model.problem import Problem

__all__ = ["sample_pieces"]


def sample_pieces(
    problem: Problem,
    draws: int,
    priors: Sequence[PartitionPrior] = (PIECES_PRIOR,),
) -> list[Sample]:
    """Posterior draws of shifts and slopes by cell, under one or several priors.

    The evidences of the stretches are computed once for all priors.

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
    table = problem.table
    stretches = stretch_evidences(
        table.score,
        table.trials,
        table.hits,
        np.array(problem.frame.cells[1:-1]),
        hinges=any(prior.hinge > 0 for prior in priors),
    )
    samples = []
    for index, prior in enumerate(priors):
        sums = partition_sums(stretches, prior)
        drawn = draw_partitions(sums, draws, problem.rng(f"curve {index}" if index else "curve"))
        u = np.hstack([drawn.shift, drawn.slope])
        samples.append(Sample(u, sums.log_evidence, 0.0, -np.inf, float(draws)))
    return samples
