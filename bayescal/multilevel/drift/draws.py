"""DrawnDrift: draws of the curves of ordered periods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.multilevel.drift.problem import DriftProblem
from bayescal.multilevel.posterior.effect_draws import DrawnEffects
from bayescal.posterior.checks.verdict import verdict_of

__all__ = ["DrawnDrift", "paths"]


@dataclass(frozen=True)
class DrawnDrift:
    """What was fitted to ordered periods, and draws of equal weight, chain by chain.

    Attributes
    ----------
    problem : DriftProblem
    periods : ndarray of shape (periods, draws, d)
        Working coordinates of each period's curve.
    following : ndarray of shape (draws, d)
        Of the period after the last.
    single : ndarray of shape (draws, d)
        Of one curve for all periods, were there no change; not paired with the other draws.
    explanation : ndarray of int of shape (draws,)
        0 for no change, k for a sudden change into the period of index k, and the number of
        periods for a walk.
    log_evidence : ndarray of shape (periods + 1,)
        Of each explanation.
    chains : int
    engine : str
    stats : dict of str to float
        pareto_k, the worst of any explanation with at least a hundredth of the draws, ess,
        log_evidence and log_evidence_error.
    """

    problem: DriftProblem
    periods: Floats
    following: Floats
    single: Floats
    explanation: NDArray[np.intp]
    log_evidence: Floats
    chains: int
    engine: Literal["importance"]
    stats: dict[str, float]

    @property
    def probabilities(self) -> Floats:
        """Posterior probability of each explanation."""
        log = self.log_evidence + np.log(self.problem.explanation_prior)
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum())

    @property
    def verdict(self) -> str:
        """Whether the draws can be trusted: "ok", or what is wrong."""
        return verdict_of(self.stats, "use longer periods, or curve='logistic'")

    def of_prior(self) -> tuple[Floats, Floats]:
        """Prior draws of all periods and of the next, of the shapes of `periods`, `following`."""
        problem, size = self.problem, len(self.following)
        rng, places = problem.pooled.rng("prior of drift"), len(problem.labels)
        first = problem.pooled.sample_prior(rng, size)
        after = first.copy()
        for column, law in zip(problem.columns, problem.change_prior.values(), strict=True):
            after[:, column] += law.sample(rng, size)
        explanation = rng.choice(places + 1, size, p=problem.explanation_prior)
        walk = DrawnEffects(problem.walk, first, (), (), self.chains, "prior", {}).of_prior()
        return paths(problem, explanation, first, after, walk, np.arange(size))


def paths(
    problem: DriftProblem,
    explanation: NDArray[np.intp],
    before: Floats,
    after: Floats,
    walk: DrawnEffects,
    of_walk: NDArray[np.intp],
) -> tuple[Floats, Floats]:
    """Curves of all periods and of the next, from the curves of each explanation.

    Parameters
    ----------
    problem : DriftProblem
    explanation : ndarray of int of shape (draws,)
    before, after : ndarray of shape (draws, d)
        Curves of the draws with at most one change; others are not read.
    walk : DrawnEffects
    of_walk : ndarray of int of shape (draws,)
        The draw of the walk that each draw takes, where a walk explains it.

    Returns
    -------
    periods : ndarray of shape (periods, draws, d)
    following : ndarray of shape (draws, d)
    """
    places = len(problem.labels)
    changed = (explanation > 0) & (np.arange(places)[:, None] >= explanation)
    periods = np.where(changed[..., None], after, before)
    rows = np.flatnonzero(explanation == places)
    chosen = of_walk[rows]
    walked = np.repeat(walk.average[None, chosen], places, axis=0)
    walked[:, :, problem.columns] += walk.effects[0][:, chosen]
    periods[:, rows] = walked
    following = periods[-1].copy()
    step = problem.pooled.rng("next period").standard_normal((rows.size, len(problem.columns)))
    step *= walk.scales[0][chosen] * np.sqrt(problem.next_step)
    following[rows[:, None], problem.columns] += step
    return periods, following
