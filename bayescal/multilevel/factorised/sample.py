"""Draws of several sites: their population by importance sampling, then site by site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from bayescal.core.progress import PATIENCE, bar
from bayescal.core.sampling import Sample, importance_sample
from bayescal.model.draws import CHAINS, SAMPLE_STATS
from bayescal.multilevel.draws import DrawnLater, MultilevelDraws
from bayescal.multilevel.factorised.density import PopulationDensity
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import draw_shares

__all__ = ["draw_population", "draw_sites"]

ENOUGH_OF_POPULATION = 0.3
"""Effective share of the proposals of the population from which no others are tried."""


def draw_sites(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Equal-weight posterior draws of the population and of every site.

    Those of the population are chosen from as many proposals, by default from as many as draws.
    """
    density = PopulationDensity(problem)
    with _shown(density, draws + (draws if proposals is None else proposals)):
        return _with_sites(density, _population(density, draws, proposals))


def draw_population(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> DrawnLater:
    """The same draws, those of the sites made when they are asked for."""
    density = PopulationDensity(problem)
    with _shown(density, draws if proposals is None else proposals):
        population = _population(density, draws, proposals)

    def make(rows: NDArray[np.intp] | None) -> MultilevelDraws:
        with _shown(density, draws if rows is None else len(rows)):
            return _with_sites(density, population, rows)

    return DrawnLater(_stats_of(population), make)


@contextmanager
def _shown(density: PopulationDensity, work: int) -> Iterator[None]:
    """Progress of the work on a density."""
    title = f"Fitting {len(density.problem.labels):,} sites"
    with bar(title, work, patience=PATIENCE) as density.advance:
        yield


def _population(density: PopulationDensity, draws: int, proposals: int | None) -> Sample:
    """Draws of the population, with how likely each site is to be unlike the others."""
    return importance_sample(
        density.of_robust if density.is_robust else density,
        *(density.peaks(), draws, density.pooled.rng("population of sites")),
        *(ENOUGH_OF_POPULATION, proposals),
    )


def _stats_of(population: Sample) -> dict[str, float]:
    return {name: float(getattr(population, name)) for name in SAMPLE_STATS}


def _with_sites(
    density: PopulationDensity, population: Sample, rows: NDArray[np.intp] | None = None
) -> MultilevelDraws:
    """Draws of the population, or some of them, and for each one of every site."""
    problem, pooled, share = density.problem, density.pooled, None
    if population.beside is not None:
        share = draw_shares(population.beside.T, pooled.rng("share of unlike sites"))
    sites, unlike, least = density.draw_sites(
        population.draws, share, population.beside, pooled.rng("sites"), rows
    )
    some = slice(None) if rows is None else rows
    scales, correlation = density.heterogeneity(population.draws[some])
    average = population.draws[some, : pooled.curve.size]
    return MultilevelDraws(
        *(problem, average, sites, scales[None], CHAINS, "importance"),
        _stats_of(population) | {"site_ess": least},
        correlation,
        share_unlike=None if share is None else share[some],
        unlike=None if share is None else unlike,
    )
