"""Hierarchical fits: the population of sites by importance sampling, then its sites."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import DiagnosticWarning, OutOfTimeError
from bayescal._base.sampling.importance import Sample, importance_sample
from bayescal.inference.nuts import taking_over
from bayescal.multilevel.factorised.density import PopulationDensity
from bayescal.multilevel.factorised.nuts import sample_sites_nuts
from bayescal.multilevel.posterior.hierarchical import HierarchicalPosterior
from bayescal.multilevel.posterior.tree import DrawnSites
from bayescal.multilevel.sites_problem import SitesProblem
from bayescal.posterior.tree import CHAINS, SAMPLE_STATS

__all__ = ["SitesSample", "fit_sites", "sample_sites"]


@dataclass(frozen=True)
class SitesSample:
    """Draws of equal weight of the population and of the sites.

    Attributes
    ----------
    population : Sample
        Its draws have the coordinates of the average site, then the standard normal points of the
        scales and of the correlation.
    scales : ndarray of shape (draws, r)
        Standard deviations between sites.
    correlation : ndarray of shape (draws,)
    sites : dict of str to ndarray of shape (draws, d)
        Working coordinates of each site.
    site_ess : float
        The smallest share, over sites, of a site's proposals that count.
    """

    population: Sample
    scales: Floats
    correlation: Floats
    sites: dict[str, Floats]
    site_ess: float


def sample_sites(problem: SitesProblem, draws: int) -> SitesSample:
    """Equal-weight posterior draws of the population and of every site.

    Parameters
    ----------
    problem : SitesProblem
    draws : int

    Returns
    -------
    SitesSample
    """
    density = PopulationDensity(problem)
    mode = density.mode()
    population = importance_sample(density, mode, draws, problem.pooled.rng("population of sites"))
    sites, least = density.draw_sites(population.draws, problem.pooled.rng("sites"))
    return SitesSample(population, *density.heterogeneity(population.draws), sites, least)


def fit_sites(
    problem: SitesProblem, draws: int, engine: str, sampler: Mapping[str, Any]
) -> HierarchicalPosterior:
    """The posterior of several sites, by whichever engine serves.

    Parameters
    ----------
    problem : SitesProblem
    draws : int
    engine : {"auto", "importance", "nuts"}
    sampler : mapping
        Options of NUTS.

    Returns
    -------
    HierarchicalPosterior

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted, or NUTS took over.
    """
    if engine != "nuts":
        posterior = HierarchicalPosterior.of_draws(_drawn(problem, sample_sites(problem, draws)))
        verdict = posterior.diagnostics["verdict"]
        if verdict == "ok":
            return posterior
        if engine == "importance":
            warnings.warn(f"{verdict}.", DiagnosticWarning, stacklevel=3)
            return posterior
        sampler, clause = taking_over(sampler)
        warnings.warn(f"{verdict}; {clause}.", DiagnosticWarning, stacklevel=3)
        try:
            drawn = sample_sites_nuts(problem, draws, sampler)
        except OutOfTimeError as error:
            told = f"{error} The draws are those of importance sampling."
            warnings.warn(told, DiagnosticWarning, stacklevel=3)
            return posterior
    else:
        drawn = sample_sites_nuts(problem, draws, sampler)
    posterior = HierarchicalPosterior.of_draws(drawn)
    verdict = posterior.diagnostics["verdict"]
    if verdict != "ok":
        warnings.warn(f"NUTS reports {verdict}.", DiagnosticWarning, stacklevel=3)
    return posterior


def _drawn(problem: SitesProblem, sample: SitesSample) -> DrawnSites:
    population = sample.population
    return DrawnSites(
        problem,
        population.draws[:, : problem.pooled.curve.size],
        sample.scales,
        sample.correlation,
        np.stack(list(sample.sites.values())),
        CHAINS,
        "importance",
        {name: float(getattr(population, name)) for name in SAMPLE_STATS}
        | {"site_ess": sample.site_ess},
    )
