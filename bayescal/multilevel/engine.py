"""Which fast engine draws several curves."""

from __future__ import annotations

from bayescal.core.versions import one_blas_thread
from bayescal.multilevel.changes import draw_changes
from bayescal.multilevel.draws import DrawnLater, MultilevelDraws
from bayescal.multilevel.factorised.sample import draw_population, draw_sites
from bayescal.multilevel.followed import over_steps
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["draw_terms", "evidence_of_terms"]


@one_blas_thread
def draw_terms(
    problem: MultilevelProblem, draws: int, proposals: int | None = None
) -> MultilevelDraws:
    """Posterior draws by the fast engine of these terms.

    Scales, and of sites the average, are chosen from as many proposals, by default as many as
    draws; effects are drawn anew for each draw. Changes with time have as many as draws.
    """
    if problem.is_walk:
        return draw_changes(problem, draws)
    if problem.terms[0].correlated:
        return over_steps(draw_sites(problem, draws, proposals))
    from bayescal.multilevel.blocks.sample import draw_effects  # loads sparse matrices

    return over_steps(draw_effects(problem, draws, proposals))


def evidence_of_terms(problem: MultilevelProblem, draws: int, proposals: int) -> DrawnLater:
    """The same draws, of which as few as possible are made before the evidence is known.

    Of sites whose outcomes are known, the draws of the sites come later; of all else, nothing does.
    """
    if problem.is_walk or problem.pooled.of_times or not problem.terms[0].correlated:
        drawn = draw_terms(problem, draws, proposals)
        return DrawnLater(drawn.stats, lambda rows: drawn if rows is None else drawn.taken(rows))
    with one_blas_thread:
        population = draw_population(problem, draws, proposals)
    return DrawnLater(population.stats, one_blas_thread(population.make))
