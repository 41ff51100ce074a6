"""Which fast engine draws several curves."""

from __future__ import annotations

from bayescal.core.versions import one_blas_thread
from bayescal.multilevel.changes import draw_changes
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.followed import over_steps
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["draw_terms"]


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
    from bayescal.multilevel.nested.sample import draw_effects  # loads sparse matrices

    return over_steps(draw_effects(problem, draws, proposals))
