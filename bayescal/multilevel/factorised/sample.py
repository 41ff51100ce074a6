"""Draws of several sites: their population by importance sampling, then site by site."""

from __future__ import annotations

from bayescal.core.progress import PATIENCE, bar
from bayescal.core.sampling import Sample, importance_sample
from bayescal.model.draws import CHAINS, SAMPLE_STATS
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.factorised.density import PopulationDensity
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import draw_shares

__all__ = ["draw_sites"]

# Of 100 sites of 200 patients and a beta curve it halves the time, as two of three rounds did not
# serve. Where one round does, it adds a tenth. 1000 points are no better than 512.
PILOT = 512
"""Points of a first round by which the others are spread: a scale may be nearly zero, and the
density falls more slowly on that side than at its mode."""
ENOUGH_OF_POPULATION = 0.3
"""Effective share of the proposals of the population from which no others are tried."""


def draw_sites(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Equal-weight posterior draws of the population and of every site.

    Those of the population are chosen from as many proposals, by default from as many as draws.
    """
    density = PopulationDensity(problem)
    work = PILOT + draws + (draws if proposals is None else proposals)
    title = f"Fitting {len(problem.labels):,} sites"
    with bar(title, work, patience=PATIENCE) as density.advance:
        population = importance_sample(
            density.of_robust if density.is_robust else density,
            *(density.peaks(), draws, density.pooled.rng("population of sites")),
            *(ENOUGH_OF_POPULATION, proposals),
            pilot=PILOT,
        )
        return _with_sites(density, population)


def _with_sites(density: PopulationDensity, population: Sample) -> MultilevelDraws:
    """Draws of the population, and for each one of every site."""
    problem, pooled, share = density.problem, density.pooled, None
    if population.beside is not None:
        share = draw_shares(population.beside.T, pooled.rng("share of unlike sites"))
    sites, unlike, least = density.draw_sites(
        population.draws, share, population.beside, pooled.rng("sites")
    )
    scales, correlation = density.heterogeneity(population.draws)
    average = population.draws[:, : pooled.curve.size]
    stats = {name: float(getattr(population, name)) for name in SAMPLE_STATS}
    return MultilevelDraws(
        *(problem, average, sites, scales[None], CHAINS, "importance"),
        stats | {"site_ess": least},
        correlation,
        share_unlike=share,
        unlike=None if share is None else unlike,
    )
