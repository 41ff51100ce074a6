"""Draws of a curve, evaluated: at scores, and over draws of the population, all in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import as_order, check_choice
from bayescal.core.optimise import clipped
from bayescal.core.versions import one_blas_thread
from bayescal.model.curve import between
from bayescal.model.draws import Part
from bayescal.model.problem import Problem
from bayescal.posterior.departures import Departure
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws, as_risks, refuse_infinite
from bayescal.posterior.imputed import in_turn, widened, widening_of
from bayescal.posterior.population import (
    POPULATIONS,
    Bootstrap,
    ClusterBootstrap,
    Population,
    draw_population,
)

__all__ = [
    "CurvesOfTable",
    "FunctionalCall",
    "FunctionalCalls",
    "by_imputation",
    "evaluate",
    "key_of",
    "means_of",
    "read",
]

# What is asked once is not kept: fresh memory takes as long as the numbers in it.
MOST_WEIGHTS = 1 << 20  # weights
# Most numbers of curves that are kept: those of 40 hospitals in 24 months need a gigabyte.
MOST_OBSERVED = 1 << 24
FINE = expit(np.linspace(-27, 27, 1001))

# The name of a functional, and its options.
FunctionalCall = tuple[str, dict[str, Any]]
FunctionalCalls = Sequence[FunctionalCall]


class Key(NamedTuple):
    """A functional, its options in one form, and its population: the same of the same numbers."""

    name: str
    options: tuple[tuple[str, Any], ...]
    population: str


@dataclass(frozen=True, eq=False)
class CurvesOfTable:
    """Curves at any scores, and functionals of them over one stream of population draws.

    What was computed is kept: asking twice costs nothing and gives the same numbers. `exact` marks
    draws that are exactly calibrated; `bootstrap` is the law of the population "bootstrap", by
    default that of the cases. With `is_mean` one curve is evaluated over every draw of the
    population: the mean of the draws, or `mean` (log-odds, curve).
    """

    problem: Problem
    u: Floats  # (draws, d): working coordinates of the curves
    exact: NDArray[np.bool_] | None = None
    bootstrap: Bootstrap | None = None
    departure: Departure | None = None
    is_mean: bool = False
    mean: tuple[Floats, Floats] | None = None
    _known: dict[Key, Floats] = field(default_factory=dict, repr=False)
    _populations: dict[str, list[tuple[slice, Population]]] = field(
        default_factory=dict, repr=False
    )

    @classmethod
    def of(cls, part: Part, departure: Departure | None = None) -> CurvesOfTable:
        """The curves of a part of a posterior."""
        problem, clusters, law = part.rows or part.problem, part.problem.clusters, part.law
        if law is None and clusters is not None and not clusters.are_single:
            law = ClusterBootstrap.of(clusters, problem.merged(clusters.row), problem.score.size)
        exact = None if part.averaged is None else part.averaged.exact
        return cls(problem, part.u, exact, law, departure)

    @cached_property
    @one_blas_thread
    def observed(self) -> Floats:
        """The curves at the scores of the data, of shape (draws, rows)."""
        values = np.empty((len(self.u), self.problem.stated.size))
        for part in blocks(*values.shape):
            values[part] = self._at_table.probability(self.u[part])
        return values

    @cached_property
    def _at_table(self) -> Any:
        """The family at the scores of the data."""
        return self.problem.curves_at()

    def of_mean(self, mean: tuple[Floats, Floats] | None = None) -> CurvesOfTable:
        """The mean of the curves, or the curve given, over the same draws of the population."""
        alone = replace(self, exact=None, is_mean=True, mean=mean, _known={})
        alone.__dict__["observed"] = self.observed
        return alone

    @property
    def distances(self) -> CurvesOfTable:
        """What distances are read from: these draws, exactly calibrated in those of `exact`."""
        return self if self.exact is None or not self.exact.any() else self._with_exact

    # What holds itself stays in memory until the garbage collector finds it, and the next ones take
    # fresh memory: of 1 024 levels 3 GB where 1 is enough, and a quarter more time.
    @cached_property
    def _with_exact(self) -> CurvesOfTable:
        observed, u = self.observed.copy(), self.u.copy()
        observed[self.exact], u[self.exact] = self.problem.stated, 0.0
        others = replace(self, u=u, exact=None, _known={})
        others.__dict__["observed"] = observed
        return others

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

    def draws(self, population: str) -> Iterator[tuple[slice, CurveDraws]]:
        """The curves over their draws of the population, a block of draws at a time."""
        for part, drawn in self.populations(population):
            yield part, self.at(part, drawn)

    def populations(self, population: str) -> Iterator[tuple[slice, Population]]:
        """Draws of the population, a block at a time: the same whenever they are asked for.

        From the second time on the curves are kept, and few weights of common scores.
        """
        check_choice(population, POPULATIONS, "population")
        if self._populations.get(population):
            yield from self._populations[population]
            return
        problem, size, kept = self.problem, len(self.u), list[tuple[slice, Population]]()
        again, numbers = population in self._populations, size * problem.score.size
        few = again and population != "beta" and numbers <= MOST_WEIGHTS
        if again and numbers <= MOST_OBSERVED:
            _ = self.observed  # kept from here on
        self._populations[population] = []
        for each in draw_population(
            *(population, problem.score, problem.trials, size, problem.rng("population")),
            *(problem.is_merged, self.bootstrap, problem.stated),
        ):
            if few:
                kept.append(each)
            yield each
        self._populations[population] = kept

    def at(self, part: slice, drawn: Population) -> CurveDraws:
        """The curves of a block of draws at the scores of a population, after a departure."""
        draws = CurveDraws(self._curves(part, drawn.score), drawn)
        return draws if self.departure is None else self.departure.of(draws, self.shift[part])

    def _curves(self, part: slice, score: Floats) -> Floats:
        """Of a block of draws, at the scores that all share or at those of each."""
        of_table = score.ndim == 1
        if self.is_mean:
            if not of_table:
                return np.asarray(np.interp(logit(score), *self.mean_curve))
            return np.broadcast_to(self._mean_observed, (part.stop - part.start, score.size))
        if of_table:
            if "observed" in self.__dict__:
                return self.observed[part]
            return np.asarray(self._at_table.probability(self.u[part]))
        return self.problem.curve.at_scores(score, self.problem.frame).probability(self.u[part])

    @cached_property
    def shift(self) -> Floats:
        """By how much the departure shifts each curve, in log-odds, of shape (draws,)."""
        if self.departure is None:
            return np.zeros(len(self.u))
        return self.departure.shift_of(self.observed, self.problem)

    @cached_property
    def on_sample(self) -> Population:
        """The scores of the data themselves."""
        ((_, population), *_) = self.populations("sample")
        return population

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
        parts = blocks(len(self.u), FINE.size)
        total = sum(at.probability(self.u[part]).sum(axis=0) for part in parts)
        log_odds = np.append(self._log_odds, logit(FINE))
        mean = np.append(self._mean_observed, total / len(self.u))
        order = np.argsort(log_odds)
        return log_odds[order], mean[order]

    @property
    def _log_odds(self) -> Floats:
        """Of the scores of the data; those as they came in, where each can have its own risk."""
        problem = self.problem
        return np.asarray(logit(problem.stated)) if problem.frame.scores else problem.log_odds


@one_blas_thread
def evaluate(
    asked: Sequence[tuple[CurvesOfTable, FunctionalCalls]], population: str
) -> list[list[Floats]]:
    """Draws of functionals of several sets of curves, in one pass over those of the population.

    `asked`: as many draws of each, of one table and seed. What each knows already is not computed
    again; what is computed is kept there.
    """
    keys: list[list[tuple[CurvesOfTable, Key]]] = []
    missing: dict[CurvesOfTable, dict[Key, Floats]] = {}
    for curves, wanted in asked:
        keys.append([])
        for name, options in wanted:
            of = curves.distances if FUNCTIONALS[name].is_distance else curves
            key = key_of(name, options, population)
            keys[-1].append((of, key))
            if key not in of._known:
                refuse_infinite(name, of.problem.data)
                missing.setdefault(of, {})[key] = np.empty(len(of.u))
    for part, drawn in next(iter(missing)).populations(population) if missing else ():
        for of, computed in missing.items():
            draws = of.at(part, drawn)
            for key, values in computed.items():
                functional = FUNCTIONALS[key.name]
                elsewhere = functional.on_sample and drawn.score.ndim > 1
                on = of.at(part, of.on_sample) if elsewhere else draws
                values[part] = functional.compute(on, **dict(key.options))
    for of, computed in missing.items():
        of._known.update(computed)
    return [[of._known[key].copy() for of, key in each] for each in keys]


def read(
    tables: Sequence[CurvesOfTable],
    wanted: FunctionalCalls,
    population: str,
    *,
    is_widened: bool = True,
) -> list[Floats]:
    """Draws of functionals over one table, or over those of all imputations in turn.

    Distances are multiplied by what widens TCE, so that they stay in order.
    """
    each = [evaluate([(table, wanted)], population)[0] for table in tables]
    if len(each) == 1:
        return each[0]
    both, factor = [], np.ones(1)
    if is_widened and any(FUNCTIONALS[name].is_distance for name, _ in wanted):
        errors = [evaluate([(table, [("tce", {})])], population)[0][0] for table in tables]
        factor = widening_of(np.stack(errors))
    for (name, _), values in zip(wanted, map(np.stack, zip(*each, strict=True)), strict=True):
        if is_widened and FUNCTIONALS[name].is_distance:
            values = np.minimum(values * factor, 1)
        elif is_widened:
            values = widened(values)
        both.append(in_turn(values))
    return both


def means_of(tables: Sequence[CurvesOfTable]) -> tuple[CurvesOfTable, ...]:
    """The mean of the curves of all imputations, over the population of each."""
    if len(tables) == 1:
        return (tables[0].of_mean(),)
    curves = [table.mean_curve for table in tables]
    at = np.unique(np.concatenate([log_odds for log_odds, _ in curves]))
    mean = np.mean([np.interp(at, *curve) for curve in curves], axis=0)
    return tuple(table.of_mean((at, mean)) for table in tables)


def by_imputation(tables: Sequence[CurvesOfTable], names: Sequence[str]) -> dict[str, Floats]:
    """Draws of functionals, each of shape (imputations, draws)."""
    wanted = [(name, dict[str, Any]()) for name in names]
    each = [evaluate([(table, wanted)], "bootstrap")[0] for table in tables]
    return {name: np.stack(own) for name, *own in zip(names, *each, strict=True)}


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
    return Key(of, tuple(sorted(norm.items())), kind)
