"""Fits of crossed subgroups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayescal.data.crossed import CrossedTable
from bayescal.model.priors import Prior
from bayescal.multilevel.factors.posterior import SubgroupPosterior
from bayescal.multilevel.factors.problem import SubgroupsProblem, prepare_subgroups
from bayescal.multilevel.factors.tree import DrawnSubgroups

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
    from bayescal.multilevel.blocks.fit import fit_effects  # loads sparse matrices

    drawn = fit_effects(problem.effects, draws, engine, sampler)
    return SubgroupPosterior.of_draws(DrawnSubgroups.of_effects(problem, drawn))
