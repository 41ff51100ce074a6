"""MultilevelDraws: draws of several related curves, whatever the groups are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import PROB_UNLIKE, SHARE_UNLIKE, unlike_scales
from bayescal.posterior.words import verdict_of


class ProbCalibrated(NamedTuple):
    """Probabilities that every curve is the diagonal, and that the average, or first period, is."""

    every_site: float
    average_site: float


AXIS_OF_DRAWS = {
    "average": 0, "groups": 1, "scales": 1, "correlation": 0, "following": 0, "explanation": 0,
    "share_unlike": 0, "unlike": 1,
}  # fmt: skip


@dataclass(frozen=True)
class MultilevelDraws:
    """What was fitted to several groups, and draws of equal weight, chain by chain.

    Attributes
    ----------
    average : ndarray of shape (draws, d)
        Working coordinates of the average: of a curve without effects, but for those of the last
        level of a walk. Of ordered periods alone, of one curve for all of them, were there no
        change, which is not paired with the other draws.
    groups : ndarray of shape (groups, draws, d)
        Of each group, in the order of the problem's labels.
    scales : ndarray of shape (terms, draws, r)
        Of each term, the scale of its effects in each coordinate that they move. There are none of
        ordered periods alone, which need not have a walk.
    stats : dict of str to float
        Of importance sampling: pareto_k, ess, log_evidence and log_evidence_error, and of single
        sites site_ess. Of NUTS: r_hat, ess_bulk, ess_tail and divergences.
    correlation : ndarray of shape (draws,), optional
        Of shift and log slope, where a term has it; zero where only one coordinate differs.
    effects : tuple of ndarray of shape (levels, draws, r)
        Of each term, the effect of each level, where they were drawn by term; levels without a
        group are drawn as well. They are not stored.
    following : ndarray of shape (draws, d), optional
        Of the period after the last; beside other terms, without their effects.
    explanation : ndarray of int of shape (draws,), optional
        Of ordered periods: 0 for no change, k for a sudden change into the period of index k, and
        the number of periods for a walk.
    log_evidence : ndarray of shape (periods + 1,), optional
        Of each explanation.
    share_unlike : ndarray of shape (draws,), optional
        Of a robust term that stands alone, the share of levels that are unlike the others.
    unlike : ndarray of bool of shape (groups, draws), optional
        Of a robust term, whether the level of a group is unlike the others.
    two_scales : bool
        Whether half of the prior weight was on narrow scales of all effects.
    """

    problem: MultilevelProblem
    average: Floats
    groups: Floats
    scales: Floats
    chains: int
    engine: str
    stats: dict[str, float]
    correlation: Floats | None = None
    effects: tuple[Floats, ...] = ()
    following: Floats | None = None
    explanation: NDArray[np.intp] | None = None
    log_evidence: Floats | None = None
    share_unlike: Floats | None = None
    unlike: NDArray[np.bool_] | None = None
    two_scales: bool = False

    @classmethod
    def of_effects(
        cls,
        problem: MultilevelProblem,
        start: Floats,
        scales: Floats,
        effects: tuple[Floats, ...],
        engine: str,
        chains: int,
        stats: dict[str, float],
    ) -> MultilevelDraws:
        """Draws of groups that are sums of effects, where `start` has none.

        With a walk the average is that of its last level, and the level after it follows by a step
        of the median time.
        """
        u, average, following = np.repeat(start[None], len(problem.labels), axis=0), start, None
        moved = slice(problem.columns[0], problem.columns[-1] + 1)
        for term, scale, each in zip(problem.terms, scales, effects, strict=True):
            for group, level in zip(u, term.of_group, strict=True):
                group[:, moved] += each[level]
            if term.kind == "walk":
                step = problem.pooled.rng(f"next {term.name}").standard_normal(scale.shape)
                average, following = start.copy(), start.copy()
                average[:, problem.columns] += each[-1]
                following[:, problem.columns] += each[-1]
                following[:, problem.columns] += step * scale * np.sqrt(np.median(term.elapsed))
        return cls(
            *(problem, average, u, scales, chains, engine, stats),
            effects=effects,
            following=following,
        )

    @property
    def size(self) -> int:
        """Number of draws, over all chains."""
        return len(self.average)

    @property
    def verdict(self) -> str:
        """Whether the draws can be trusted: "ok", or what is wrong."""
        if self.problem.is_walk:
            return verdict_of(self.stats, "use longer periods, or curve='logistic'")
        return verdict_of(self.stats)

    def in_order(self) -> Floats:
        """Coordinates of the groups in the order of the levels of the first term."""
        return self.groups[np.argsort(self.problem.terms[0].of_group)]

    @property
    def start(self) -> Floats:
        """Coordinates (draws, d) that the groups depart from: the average, in the first period."""
        problem, walk = self.problem, self.problem.walk
        if problem.is_walk:
            return np.asarray(self.in_order()[0])
        if walk is None:
            return self.average
        start: Floats = self.average.copy()
        start[:, problem.columns] -= self.effects[problem.terms.index(walk)][-1]
        return start

    def from_diagonal(self) -> MultilevelDraws:
        """The same departures, from exact calibration."""
        start, following = self.start, self.following
        return replace(
            self,
            average=np.zeros_like(start) if self.problem.is_walk else self.average - start,
            groups=self.groups - start,
            following=None if following is None else following - start,
        )

    def at_diagonal(self) -> MultilevelDraws:
        """As many draws in which every curve is exactly calibrated, and a new one will be."""
        none = self._with(lambda _, values: np.zeros_like(values))
        return replace(none, correlation=self.correlation, explanation=self.explanation)

    def taken(self, rows: NDArray[np.intp]) -> MultilevelDraws:
        """Some of the draws, in this order."""
        some = self._with(lambda name, values: np.take(values, rows, AXIS_OF_DRAWS[name]))
        return replace(some, effects=tuple(each[:, rows] for each in self.effects))

    def beside(self, other: MultilevelDraws) -> MultilevelDraws:
        """These draws, then those of another fit of the same groups."""
        both = self._with(
            lambda name, values: np.concatenate([values, getattr(other, name)], AXIS_OF_DRAWS[name])
        )
        return replace(both, effects=())

    def _with(self, of: Callable[[str, NDArray[Any]], NDArray[Any]]) -> MultilevelDraws:
        """The same, with what `of` makes of the name and the values of every array of draws."""
        changed: dict[str, Any] = {}
        for name in AXIS_OF_DRAWS:
            values = getattr(self, name)
            if values is not None:
                changed[name] = of(name, values)
        return replace(self, **changed)

    def of_new_level(self, axis: str) -> Floats:
        """Coordinates (draws, d) of a group with a level of an axis that has not been seen.

        Its own effects, and those of interactions with it, are new; others are zero, but for those
        of the last level of a walk, or of the next where the axis is that of the walk. A level of a
        robust term is like the others or unlike them.
        """
        problem = self.problem
        if self.correlation is not None:
            return levels_round(self, f"new {axis}")[0]
        walk = problem.walk
        follows = self.following if walk is not None and axis in walk.axes else self.average
        assert follows is not None
        drawn, rng = follows.copy(), problem.pooled.rng(f"new {axis}")
        for term, scales in zip(problem.terms, self.scales, strict=True):
            if axis in term.axes and term is not walk:
                if term.robust:
                    unlike = rng.random(len(scales)) < PROB_UNLIKE
                    unlike &= scales.any(axis=1)  # else all curves are exactly calibrated
                    farther = unlike_scales(problem.prior_of_unlike, problem.varying, scales)
                    scales = np.where(unlike[:, None], farther, scales)
                drawn[:, problem.columns] += scales * rng.standard_normal(scales.shape)
        return drawn


class Explained(NamedTuple):
    """Draws of all components, and how probable these are; None where NUTS drew."""

    drawn: MultilevelDraws
    prob_calibrated: ProbCalibrated | None


def levels_round(drawn: MultilevelDraws, purpose: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Levels drawn round averages, one for each draw, and which of them are unlike the others."""
    problem, scales, correlation = drawn.problem, drawn.scales[0], drawn.correlation
    rng, unlike = problem.pooled.rng(purpose), np.zeros(drawn.size, dtype=bool)
    standard = rng.standard_normal(scales.shape)
    assert correlation is not None  # sites have it
    if drawn.share_unlike is not None:
        unlike = rng.random(drawn.size) < drawn.share_unlike
        farther = unlike_scales(problem.prior_of_unlike, problem.varying, scales)
        scales = np.where(unlike[:, None], farther, scales)
        correlation = np.where(unlike, 0.0, correlation)
    if scales.shape[1] > 1:
        own = np.sqrt((1 - correlation) * (1 + correlation))
        standard[:, 1] = correlation * standard[:, 0] + own * standard[:, 1]
    levels = drawn.average.copy()
    levels[:, problem.columns] += scales * standard
    return levels, unlike


def effects_of_prior(problem: MultilevelProblem, size: int, chains: int) -> MultilevelDraws:
    """Prior draws of groups whose terms are independent in shift and log slope."""
    rng, varying = problem.pooled.rng("prior of effects"), problem.varying
    r = len(varying)
    average = problem.pooled.sample_prior(rng, size)
    scales = [
        term.prior.scales(rng.standard_normal((size, r)), problem.varying) for term in problem.terms
    ]
    effects = [
        term.design @ rng.standard_normal((r, term.innovations, size)) for term in problem.terms
    ]
    scaled = tuple(
        each.transpose(1, 2, 0) * scale for each, scale in zip(effects, scales, strict=True)
    )
    term, unlike = problem.robust_term, None
    if term is not None:
        at = problem.terms.index(term)
        of_levels = rng.random((len(term.levels), size)) < PROB_UNLIKE
        unlike = of_levels[list(term.of_group)]
        farther = unlike_scales(problem.prior_of_unlike, varying, scales[at])
        scaled[at][:] *= np.where(of_levels[..., None], farther / scales[at], 1.0)
    drawn = MultilevelDraws.of_effects(
        problem, average, np.stack(scales), scaled, "prior", chains, {}
    )
    return replace(drawn, unlike=unlike)


def sites_of_prior(problem: MultilevelProblem, size: int, chains: int) -> MultilevelDraws:
    """Prior draws of the average and of a level of the one term; all levels are alike."""
    rng, prior, varying = problem.pooled.rng("prior"), problem.heterogeneity, problem.varying
    average = problem.pooled.sample_prior(rng, size)
    scales = prior.scales(rng.standard_normal((size, len(varying))), varying)
    correlation = prior.correlations(rng.standard_normal(size))
    is_robust = problem.terms[0].robust
    population = MultilevelDraws(
        *(problem, average, average[None], scales[None], chains, "prior", {}, correlation),
        share_unlike=rng.beta(*SHARE_UNLIKE, size) if is_robust else None,
    )
    one, unlike = levels_round(population, "prior of a site")
    return replace(
        population,
        groups=np.broadcast_to(one, (len(problem.labels), *one.shape)),
        unlike=np.broadcast_to(unlike, (len(problem.labels), size)) if is_robust else None,
    )
