"""Fits of crossed subgroups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal.data.subgroups.crossed import CrossedTable
from bayescal.inference.sites.fit import fit_sites
from bayescal.model.priors import Prior
from bayescal.model.subgroups.problem import SubgroupsProblem, prepare_subgroups
from bayescal.posterior.subgroups.posterior import SubgroupPosterior
from bayescal.posterior.subgroups.tree import DrawnSubgroups

__all__ = ["fit_crossed", "fit_subgroups"]


def fit_crossed(
    table: CrossedTable,
    *,
    curve: str = "logistic",
    draws: int = 4000,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    **options: Any,
) -> SubgroupPosterior:
    """The posterior of a table by crossed factors.

    Parameters
    ----------
    table : CrossedTable
    curve, draws, prior
        As in `bayescal.fit`.
    **options
        `edge` and `random_state`, as there.

    Returns
    -------
    SubgroupPosterior
    """
    problem = prepare_subgroups(table, curve=curve, prior=prior, **options)
    return fit_subgroups(problem, draws, "auto", {})


def fit_subgroups(
    problem: SubgroupsProblem, draws: int, engine: str, sampler: Mapping[str, Any]
) -> SubgroupPosterior:
    """The posterior of crossed subgroups, by whichever engine serves.

    Parameters
    ----------
    problem : SubgroupsProblem
    draws : int
    engine : {"auto", "importance", "nuts"}
    sampler : mapping
        Options of NUTS.

    Returns
    -------
    SubgroupPosterior

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted, or NUTS took over.
    """
    post = fit_sites(problem.of_cells, draws, engine, sampler)
    drawn = post._drawn
    scales = np.zeros((len(drawn.average), len(problem.terms), drawn.scales.shape[1]))
    scales[:, -1] = drawn.scales
    return SubgroupPosterior.of_draws(
        DrawnSubgroups(
            problem, drawn.average, scales, drawn.sites, drawn.chains, drawn.engine, drawn.stats
        )
    )
