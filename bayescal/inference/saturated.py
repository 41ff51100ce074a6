"""The engine of the saturated family: evidence in closed form, and independent draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.sampling import Sample
from bayescal.inference.pieces import variance_factor
from bayescal.model.problem import Problem
from bayescal.model.saturated.family import ANY_RISKS
from bayescal.model.saturated.law import RiskPrior, RiskSums

__all__ = ["sample_saturated"]

POINTS_A_DRAW = 4
"""Independent draws for each draw that is asked for; an average chooses among them."""


def sample_saturated(
    problem: Problem, draws: int, priors: Sequence[RiskPrior] = (ANY_RISKS,)
) -> list[Sample]:
    """Posterior draws of the error at each score, under one or several priors.

    Where cases come in clusters, every case counts as one over the design effect of the number of
    events.

    Parameters
    ----------
    problem : Problem
        Its frame holds the scores.
    draws : int
        Under each prior.

    Returns
    -------
    list of Sample
        One for each prior, with draws of shape (draws, scores). The log evidence is of the single
        outcomes, given that the curve leaves the diagonal. It is exact and the draws are
        independent, so there is no Monte Carlo error and k-hat is minus infinity.
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
