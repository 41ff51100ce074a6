"""Draws of a curve, evaluated: at scores, and over draws of the population."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import as_order, check_choice
from bayescal.core.optimise import clipped
from bayescal.core.versions import one_blas_thread
from bayescal.model.problem import Problem
from bayescal.model.saturated.between import between
from bayescal.posterior.checks.undefined import refuse_infinite
from bayescal.posterior.departures import Departure
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws
from bayescal.posterior.line import Expansion, Totals
from bayescal.posterior.lost import as_risks
from bayescal.posterior.population import POPULATIONS, Population, draw_population
from bayescal.posterior.populations.bootstrap import Bootstrap

__all__ = ["CurvesOfTable", "FunctionalCalls", "Key", "SampledCurves", "evaluate", "key_of"]

MOST_KEPT = 1 << 20  # weights
FINE = expit(np.linspace(-27, 27, 1001))

FunctionalCalls = list[tuple[str, dict[str, Any]]]
"""Names of functionals, and the options of each."""

Key = tuple[Any, ...]
"""Name, options and population of a functional; that of the same numbers is the same."""


class SampledCurves(Protocol):
    """Draws of curves and of their functionals: of one table, or of several imputations of one."""

    @property
    def parts(self) -> tuple[CurvesOfTable, ...]:
        """The curves of each table."""

    def of_mean(self) -> SampledCurves:
        """The mean of the curves, over the same draws of the population."""

    def curve(self, scores: Floats) -> Floats:
        """The curves at these scores, of shape (draws, scores)."""

    def values(self, wanted: FunctionalCalls, population: str) -> dict[str, Floats]:
        """Functionals, each of shape (draws,)."""


@dataclass(frozen=True)
class CurvesOfTable:
    """Curves at any scores, and functionals of them over one stream of population draws.

    All functionals share the same draws of the population. What was computed is kept, so asking
    twice costs nothing and gives the same numbers.

    Attributes
    ----------
    u : ndarray of shape (draws, d)
        Working coordinates of the curves.
    averaged : bool
        Evaluate one curve instead, the mean of the draws, over every draw of the population.
    exact : ndarray of shape (draws,), optional
        Draws in which the model is exactly calibrated; see `distances`.
    far : CurvesOfTable, optional
        Curves that distances are read from in place of these, as of several curves.
    bootstrap : Bootstrap, optional
        What the population "bootstrap" draws; by default that of the cases.
    mean : tuple of ndarrays of shape (points,), optional
        Log-odds of scores, and a curve there to evaluate in place of the mean of the draws.
    departure : Departure, optional
        By which functionals are of other curves than these, or of other weights.
    """

    problem: Problem
    u: Floats
    averaged: bool = False
    exact: NDArray[np.bool_] | None = None
    far: CurvesOfTable | None = None
    bootstrap: Bootstrap | None = None
    mean: tuple[Floats, Floats] | None = None
    departure: Departure | None = None
    _known: dict[Key, Floats] = field(default_factory=dict, repr=False)
    _observed: list[Floats] = field(default_factory=list, repr=False)
    _populations: dict[str, list[tuple[slice, Population]]] = field(
        default_factory=dict, repr=False
    )

    @property
    def parts(self) -> tuple[CurvesOfTable, ...]:
        """The curves of each table, of which there is one."""
        return (self,)

    @property
    @one_blas_thread
    def observed(self) -> Floats:
        """The curves at the scores of the data, of shape (draws, rows), kept once computed."""
        if not self._observed:
            at, size = self.problem.stated, self.u.shape[0]
            curves, values = self.problem.curves_at(), np.empty((size, at.size))
            for part in blocks(size, at.size):
                values[part] = curves.probability(self.u[part])
            self._observed.append(values)
        return self._observed[0]

    def of_mean(self) -> CurvesOfTable:
        """The mean of the curves, over the same draws of the population."""
        return replace(self, averaged=True, exact=None, far=None, _known={})

    @cached_property
    def distances(self) -> CurvesOfTable:
        """What distances are read from: these draws, exactly calibrated in those of `exact`."""
        if self.far is not None:
            return self.far
        if self.exact is None or not self.exact.any():
            return self
        observed, u = self.observed.copy(), self.u.copy()
        observed[self.exact], u[self.exact] = self.problem.stated, 0.0
        return replace(self, u=u, exact=None, _known={}, _observed=[observed])

    @one_blas_thread
    def curve(self, scores: Floats) -> Floats:
        """The curves at these scores, of shape (draws, scores), as they predict.

        Where there are few distinct scores, the error between two of them is in proportion.
        """
        problem = self.problem
        if problem.frame.scores:
            errors = problem.curves_at().probability(self.u) - problem.stated
            (left, right), share = between(clipped(scores), problem.stated)
            low, high = errors[:, left], errors[:, right]
            return clipped(clipped(scores) + low + share * (high - low))
        return problem.curves_at(scores).probability(self.u)

    def values(self, wanted: FunctionalCalls, population: str) -> dict[str, Floats]:
        """Functionals, each of shape (draws,); those computed before as they were then."""
        evaluate([(self, wanted)], population)
        return {
            name: self._of(name)._known[key_of(name, options, population)].copy()
            for name, options in wanted
        }

    def _of(self, name: str) -> CurvesOfTable:
        """The curves that a functional is of."""
        return self.distances if FUNCTIONALS[name].is_distance else self

    def draws(self, population: str) -> Iterator[tuple[slice, CurveDraws]]:
        """The curves over their draws of the population, a block of draws at a time."""
        for part, drawn in self.populations(population):
            yield part, self._at(part, drawn)

    def populations(self, population: str) -> Iterator[tuple[slice, Population]]:
        """Draws of the population, a block at a time; few weights of common scores are kept."""
        check_choice(population, POPULATIONS, "population")
        if population in self._populations:
            yield from self._populations[population]
            return
        problem = self.problem
        rng, merged = problem.rng("population"), problem.is_merged
        draws, kept = self.u.shape[0], []
        few = population != "beta" and draws * problem.score.size <= MOST_KEPT
        for each in draw_population(
            population,
            problem.score,
            problem.trials,
            draws,
            rng,
            merged,
            self.bootstrap,
            problem.stated,
        ):
            if few:
                kept.append(each)
            yield each
        if few:
            self._populations[population] = kept

    def _missing(
        self, wanted: FunctionalCalls, population: str
    ) -> dict[Key, tuple[str, dict[str, Any]]]:
        keys = {key_of(name, options, population): (name, options) for name, options in wanted}
        return {key: item for key, item in keys.items() if key not in self._known}

    def _at(self, part: slice, drawn: Population) -> CurveDraws:
        """The curves of a block of draws at the scores of a population, after a departure."""
        draws = self._as_fitted(part, drawn)
        if self.departure is None:
            return draws
        return self.departure.of(draws, self.shift[part])

    @cached_property
    def shift(self) -> Floats:
        """By how much the departure shifts each curve, in log-odds, of shape (draws,)."""
        if self.departure is None:
            return np.zeros(len(self.u))
        return self.departure.shift_of(self.observed, self.problem)

    def _as_fitted(self, part: slice, drawn: Population) -> CurveDraws:
        """The curves of a block of draws at the scores of a population."""
        own = drawn.score.ndim == 1
        if self.averaged:
            curve = self._mean_at(drawn.score)
            if own:
                curve = np.broadcast_to(curve, (part.stop - part.start, curve.size))
            return CurveDraws(curve, drawn)
        if own:
            return CurveDraws(self.observed[part], drawn)
        at = self.problem.curve.at_scores(drawn.score, self.problem.frame)
        return CurveDraws(at.probability(self.u[part]), drawn)

    def _on_sample(self, part: slice) -> CurveDraws:
        """The curves of a block of draws at the observed scores."""
        (_, observed), *_ = self.populations("sample")
        return self._at(part, observed)

    @cached_property
    def _expansion(self) -> Expansion:
        """Of lines and shifts round the mean curve, over the sample."""
        problem = self.problem
        share = problem.trials / problem.n
        return Expansion(self._mean_observed, share, problem.stated, problem.score)

    def _mean_at(self, score: Floats) -> Floats:
        if score.ndim == 1:
            return self._mean_observed
        at, mean = self.mean_curve
        return np.asarray(np.interp(logit(score), at, mean))

    @cached_property
    def _mean_observed(self) -> Floats:
        if self.mean is not None:
            return np.interp(self._log_odds, *self.mean)
        return np.asarray(self.observed.mean(axis=0))

    @cached_property
    def mean_curve(self) -> tuple[Floats, Floats]:
        """Log-odds, ascending, and the mean curve there, for scores between those of the data."""
        if self.mean is not None:
            return self.mean
        at = self.problem.curve.at_scores(FINE, self.problem.frame)
        parts = blocks(self.u.shape[0], FINE.size)
        total = sum(at.probability(self.u[part]).sum(axis=0) for part in parts)
        log_odds = np.append(self._log_odds, logit(FINE))
        mean = np.append(self._mean_observed, total / self.u.shape[0])
        order = np.argsort(log_odds)
        return log_odds[order], mean[order]

    @property
    def _log_odds(self) -> Floats:
        """Of the scores of the data; those as they came in, where each can have its own risk."""
        problem = self.problem
        return np.asarray(logit(problem.stated)) if problem.frame.scores else problem.log_odds


@one_blas_thread
def evaluate(asked: Sequence[tuple[SampledCurves, FunctionalCalls]], population: str) -> None:
    """Compute functionals of several sets of curves in one pass over draws of the population.

    Parameters
    ----------
    asked : sequence of (SampledCurves, FunctionalCalls)
        As many draws of each, of one table and seed, or of one sequence of imputations. What each
        knows already is not computed again; what is computed is kept there.
    population : {"bootstrap", "sample", "beta"}
    """
    for tables in zip(*(each.parts for each, _ in asked), strict=True):
        of_table = [(part, wanted) for part, (_, wanted) in zip(tables, asked, strict=True)]
        _evaluate_table(of_table, population)


def _evaluate_table(
    asked: Sequence[tuple[CurvesOfTable, FunctionalCalls]], population: str
) -> None:
    """The same for one table, whose draws of the population all share."""
    own = [
        (of, [item for item in wanted if curves._of(item[0]) is of])
        for curves, wanted in asked
        for of in ((curves,) if curves.distances is curves else (curves, curves.distances))
    ]
    todo = [_Pass(of, missing) for of, w in own if (missing := of._missing(w, population))]
    for part, drawn in todo[0].of.populations(population) if todo else ():
        for each in todo:
            each.add(part, drawn)
    for each in todo:
        each.finish()


class _Pass:
    """Functionals of one set of curves, computed a block of draws after the other."""

    def __init__(self, of: CurvesOfTable, missing: dict[Key, tuple[str, dict[str, Any]]]) -> None:
        for name, _ in missing.values():
            refuse_infinite(name, of.problem.data)
        self.of = of
        self._missing = missing
        self._values = {key: np.empty(of.u.shape[0]) for key in missing}
        self._blocks: list[tuple[Floats, Floats, Floats]] = []
        self._first, self._numbers = 0, 0

    def add(self, part: slice, drawn: Population) -> None:
        """The next block of draws."""
        draws, own = self.of._at(part, drawn), drawn.score.ndim == 1
        on_sample = draws if own else self.of._on_sample(part)
        summed = False
        for key, (name, options) in self._missing.items():
            functional = FUNCTIONALS[name]
            if functional.by_totals and own:
                summed = True
                continue
            over = on_sample if functional.on_sample else draws
            self._values[key][part] = functional.compute(over, **options)
        if summed:
            weight = draws.population.weight
            sums = self.of._expansion.sums(draws.curve, weight)
            self._blocks.append((draws.curve, weight, sums))
            self._numbers += draws.curve.size
            if part.stop == len(self.of.u) or self._numbers > MOST_KEPT:
                self._sum_up(slice(self._first, part.stop))

    def finish(self) -> None:
        """Keep what was computed."""
        self.of._known.update(self._values)

    def _sum_up(self, part: slice) -> None:
        """Functionals of the blocks that were only summed, all at once."""
        totals = Totals(self.of._expansion, *zip(*self._blocks, strict=True))
        for key, (name, options) in self._missing.items():
            if FUNCTIONALS[name].by_totals:
                self._values[key][part] = FUNCTIONALS[name].compute(totals, **options)
        self._blocks, self._first, self._numbers = [], part.stop, 0


def key_of(name: str, options: dict[str, Any], population: str) -> Key:
    """What is the same number has the same key."""
    functional = FUNCTIONALS[name]
    check_choice(population, POPULATIONS, "population")
    kind = "sample" if functional.on_sample else population
    of = functional.same_as or name
    norm = {"p": 1, **options} if of == "tce" else options
    if "p" in norm:
        norm = norm | {"p": as_order(norm["p"], infinite=True)}
    if "threshold" in norm:
        norm = norm | {"threshold": as_risks(norm["threshold"])}
    return (of, *sorted(norm.items()), kind)
