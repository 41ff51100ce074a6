"""Draws of several curves, some exactly calibrated, and each curve as a part of a posterior.

Three components explain the data: every curve is exactly calibrated; the average is, and the levels
differ from it; nothing is. The last has the family at two scales of its prior, the one in use and
one of modest errors, and the effects of levels have two scales, the ones in use and narrow ones.
Evidence says how many draws are of each, and every number is read from these draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning
from bayescal.core.sampling import resample
from bayescal.core.text import count
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.data.weights import effective_size
from bayescal.model.draws import OneOf, Part
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import MODEST, Normal, Prior
from bayescal.model.problem import Problem
from bayescal.multilevel.changes import (
    PROB_CONSTANT,
    changes_of_prior,
    draw_terms,
    explanation_prior,
    explanation_probabilities,
)
from bayescal.multilevel.draws import (
    Explained,
    MultilevelDraws,
    ProbCalibrated,
    effects_of_prior,
    sites_of_prior,
)
from bayescal.multilevel.followed import identity_of_times
from bayescal.multilevel.mixture import OwnProblem
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.sample import draw_if_likely
from bayescal.multilevel.tree import multilevel_tree, read_draws, read_explained

if TYPE_CHECKING:
    import xarray as xr

# An "every" of .1 wins against one cell of twelve that is off by .9 in log-odds. Without it, the
# interval score of TCE at calibrated hospitals is 4 % larger. Tried on 163 sets of 6 to 15 sites.
# Prior probabilities that every curve is exactly calibrated, and that the average alone is.
EVERY, AVERAGE = 0.01, 0.11
# Prior probability that ordered periods begin exactly calibrated.
BEGINS = 0.2
# Standard deviation of each coordinate of an average that is held at exact calibration.
ON_DIAGONAL = 1e-3
# Draws for each proposal of the scales where the average is known, which few draws are of.
MORE_DRAWS_A_PROPOSAL = 4
# By how much less likely, as a logarithm, a calibrated average must be for none of its draws to be
# needed: with Laplace's integrals, which are some units off, its share is then below 1e-6.
UNLIKELY = 20.0
# Least share of the draws that a component has for its diagnostics to matter.
SHARE_THAT_MATTERS = 0.05
# Largest Monte Carlo error of a log evidence that shares of components are read from.
MOST_UNCERTAIN = 0.5


class _Component(NamedTuple):
    """Draws, with weights, and prior probability times evidence of their model, as a logarithm."""

    drawn: MultilevelDraws
    weights: Floats
    log_joint: float


def prior_of(problem: MultilevelProblem) -> ProbCalibrated:
    """Prior probabilities of exact calibration."""
    if problem.is_walk:
        return ProbCalibrated(BEGINS * PROB_CONSTANT, BEGINS)
    return ProbCalibrated(EVERY, EVERY + AVERAGE)


def explained(fit: MultilevelDraws) -> Explained:
    """Draws of all components, and the probabilities of exact calibration.

    The evidence that every curve is exactly calibrated is its likelihood, of ordered periods that
    of no change from exact calibration; that of a calibrated average is of a fit with it. In `fit`
    nothing is exactly calibrated; other scales of priors by which it was not drawn weigh it anew.
    """
    if "log_evidence" not in fit.stats:
        return Explained(fit, None)
    with_exact = _with_exact_average(fit.problem)
    if fit.problem.is_walk:
        return _of_walk(fit, draw_terms(with_exact, fit.size))
    free, even = at_two_scales(fit.problem, fit.start), np.ones(fit.size)
    if not fit.two_scales:
        free = free * np.exp(fit.problem.log_at_two_scales(fit.scales))
    of_fit = _log_joint(1 - EVERY - AVERAGE, fit, free)
    pinned = draw_if_likely(
        *(with_exact, fit.size, MORE_DRAWS_A_PROPOSAL), two_scales=True, least=of_fit - UNLIKELY
    )
    exact = float(np.log(EVERY)) + identity_log_likelihood(fit.problem)
    components = [_Component(fit.at_diagonal(), even, exact)]
    if pinned is not None:
        of_pinned = _log_joint(AVERAGE, pinned, even)
        components.append(_Component(pinned.from_diagonal(), even, of_pinned))
    components.append(_Component(fit, free, of_fit))
    drawn, share = _mixed(fit, components)
    return Explained(drawn, ProbCalibrated(float(share[0]), float(share[:-1].sum())))


def _of_walk(fit: MultilevelDraws, pinned: MultilevelDraws) -> Explained:
    """Of ordered periods: those that begin exactly calibrated, and those that do not.

    Without a change all periods of the first are exactly calibrated. One curve for all periods, the
    average, is another model: it stays as it was fitted.
    """
    problem, even = fit.problem, np.ones(fit.size)
    assert fit.log_evidence is not None and pinned.log_evidence is not None
    free = at_two_scales(problem, fit.start)
    log_evidence = [
        pinned.log_evidence,
        fit.log_evidence + _log_mean_by_explanation(fit, free),
    ]
    log_joint = np.add(np.log([[BEGINS], [1 - BEGINS]]), log_evidence)
    begins, other = logsumexp(log_joint + np.log(explanation_prior(problem)), axis=1)
    components = [_Component(pinned.from_diagonal(), even, begins), _Component(fit, free, other)]
    drawn, (first, _) = _mixed(fit, components)
    drawn = replace(drawn, average=fit.average, log_evidence=np.logaddexp(*log_joint))
    every = float(first * explanation_probabilities(pinned)[0])
    return Explained(drawn, ProbCalibrated(every, float(first)))


def _log_mean_by_explanation(fit: MultilevelDraws, weights: Floats) -> Floats:
    """Log of the mean weight of the draws of each explanation; zero of one without draws."""
    assert fit.explanation is not None and fit.log_evidence is not None
    count = np.bincount(fit.explanation, minlength=fit.log_evidence.size)
    total = np.bincount(fit.explanation, weights, fit.log_evidence.size)
    return np.log(np.where(count > 0, total, 1) / np.maximum(count, 1))


def _log_joint(prior: float, drawn: MultilevelDraws, weights: Floats) -> float:
    """Of a fit whose draws are weighed anew: the mean weight corrects its evidence."""
    return float(np.log(prior) + drawn.stats["log_evidence"] + np.log(weights.mean()))


def _with_exact_average(problem: MultilevelProblem) -> MultilevelProblem:
    """The same problem with the average, or the first period, held at exact calibration.

    Levels unlike the others are spread as they were.
    """
    pooled, law = problem.pooled, Normal(0.0, ON_DIAGONAL)
    prior = replace(pooled.prior, shift=law, log_slope=law, asymmetry=law)
    return replace(problem, pooled=replace(pooled, prior=prior), against=problem)


def at_two_scales(problem: MultilevelProblem, start: Floats) -> Floats:
    """Weights (draws,) for half of the prior weight on the second scale of the average's prior.

    The second scale acts at the centre of the first.
    """
    pooled = problem.pooled
    names, prior = pooled.curve.coordinates, pooled.prior
    modest = modest_scale(prior).with_others(pooled.curve.priors)
    ratio = modest.logpdf(names, start) - prior.logpdf(names, start)
    return np.asarray((1 + np.exp(ratio)) / 2)


def with_scales_in_use(fit: MultilevelDraws) -> MultilevelDraws:
    """Draws by the prior in use of all effects alone, of those by two scales: no weight is above 2.

    Nothing but the scales depends on their prior.
    """
    if not fit.two_scales:
        return fit
    weights = np.exp(-fit.problem.log_at_two_scales(fit.scales))
    left = effective_size(weights) / fit.size
    log_evidence = fit.stats["log_evidence"] + float(np.log(weights.mean()))
    stats = fit.stats | {"log_evidence": log_evidence, "ess": fit.stats["ess"] * left}
    rows = resample(weights, fit.size, fit.problem.pooled.rng("scales in use"))
    return replace(fit.taken(rows), stats=stats, two_scales=False)


def modest_scale(prior: Prior) -> Prior:
    """The second prior of the average: modest errors, or smaller ones if `prior` says so."""
    kept = {}
    for name in ("shift", "log_slope", "asymmetry"):
        if getattr(prior, name).sigma <= getattr(MODEST, name).sigma:
            kept[name] = getattr(prior, name)
    if "shift" in kept:
        kept["centre"] = prior.centre
    return replace(MODEST, others=prior.others, **kept)


def _mixed(fit: MultilevelDraws, components: list[_Component]) -> tuple[MultilevelDraws, Floats]:
    """Draws of the components in proportion to their probabilities, in random order, and these.

    Where they depend on the evidence of a calibrated average, it may be too uncertain.
    """
    share = np.asarray(softmax([each.log_joint for each in components]))
    rng = fit.problem.pooled.rng("components")
    for each, own in zip(components, share, strict=True):
        error, is_pinned = each.drawn.stats["log_evidence_error"], each.drawn.problem.against
        if is_pinned and own >= SHARE_THAT_MATTERS and error > MOST_UNCERTAIN:
            warnings.warn(
                "the draws depend on the evidence that the average is exactly calibrated, whose "
                f"logarithm has a Monte Carlo error of {error:.1f}. Fit with more draws.",
                DiagnosticWarning,
                stacklevel=3,
            )
    counts = np.bincount(resample(share, fit.size, rng), minlength=share.size)
    parts = [
        each.drawn.taken(resample(each.weights, int(own), rng))
        for each, own in zip(components, counts, strict=True)
        if own
    ]
    order: NDArray[np.intp] = rng.permutation(fit.size)
    drawn = reduce(MultilevelDraws.beside, parts).taken(order)
    return replace(drawn, problem=fit.problem, stats=fit.stats, two_scales=False), share


def identity_log_likelihood(problem: MultilevelProblem) -> float:
    """Log likelihood of exact calibration at every site."""
    value = identity_of_times(problem) if problem.pooled.of_times else 0.0
    for site in problem.tables.values() if not problem.pooled.of_times else ():
        table = site.table
        value += BINOMIAL.of_calibrated(table.score, table.trials, table.hits)
    for summary in problem.summaries.values():
        calibrated = np.array([summary.mean_score]), np.ones(1)
        value += float(summary.log_likelihood(*calibrated, np.log, np.log1p)[0])
    return value


# Axes that name their levels by themselves; those of a factor are named with the factor.
SELF_NAMED = ("site", "period")


@dataclass(frozen=True, eq=False)
class Curves:
    """Draws of several curves of one table; each curve of them is a part of a posterior.

    In those of the fit nothing is exactly calibrated; `known` is what was stored of `explained`.
    """

    fit: MultilevelDraws
    known: Explained | None = None

    @classmethod
    def of_tree(cls, tree: xr.DataTree) -> Curves:
        """Read back what `tree` wrote."""
        free = read_draws(tree)
        return cls(free, read_explained(tree, free.problem))

    @property
    def problem(self) -> MultilevelProblem:
        """The tables, the family of curves, the terms and the priors."""
        return self.fit.problem

    @cached_property
    def free(self) -> MultilevelDraws:
        """The draws of the fit by the prior in use of all effects."""
        return with_scales_in_use(self.fit)

    @cached_property
    def explained(self) -> Explained:
        """The draws that every number is read from, some of them exactly calibrated."""
        return explained(self.fit) if self.known is None else self.known

    @property
    def drawn(self) -> MultilevelDraws:
        """The draws of `explained`."""
        return self.explained.drawn

    @cached_property
    def prior(self) -> MultilevelDraws:
        """As many prior draws, which are the same whenever they are asked for."""
        of_prior = effects_of_prior
        if self.problem.is_walk:
            of_prior = changes_of_prior
        elif self.free.correlation is not None:
            of_prior = sites_of_prior
        return of_prior(self.problem, self.free.size, self.free.chains)

    @cached_property
    def tree(self) -> xr.DataTree:
        """The tree of all curves."""
        return multilevel_tree(self.free, self.explained)

    def part(self, key: Mapping[str, Any]) -> Part:
        """One curve, or that of each case's own group.

        By {"at": levels}, {"own": levels}, {"average": True}, or {"new": axis} with or without its
        "scores".
        """
        kinds = {"at": self._at, "own": self._own, "average": self._average, "new": self._new}
        return kinds[next(iter(key))](key)

    def _at(self, key: Mapping[str, Any]) -> Part:
        """The cases with some levels, whose curve is the mixture of those of their groups."""
        problem, levels = self.problem, key["at"]
        groups = problem.groups_with(levels)
        seen = [k for k in groups if problem.labels[k] not in problem.summaries]
        if len(groups) > 1 and problem.has_outcomes:
            groups = seen
        named = [each if axis in SELF_NAMED else f"{axis} {each}" for axis, each in levels.items()]
        title = ", ".join(named) or "All cases"
        which = OneOf(title, key, self, has_outcomes=len(seen) == len(groups))
        together = problem.together(title, levels, groups)
        return self._part(which, together, partial(_side_by_side, groups=groups))

    def _own(self, key: Mapping[str, Any]) -> Part:
        """The cases with some levels, each row with the curve of its own group."""
        problem, levels = self.problem, key["own"]
        data = problem.data.select(**levels) if levels else problem.data
        at = {cell: k for k, cell in enumerate(problem.cells)}
        groups = [at[tuple((levels | cell)[axis] for axis in problem.axes)] for cell in data.cells]
        if len(groups) < 2:
            return self._at({"at": levels})
        whose = f"The patients of {', '.join(levels.values())}" if levels else "These patients"
        which = OneOf(f"{whose}, with their own curves", key, self)
        together = problem.together(which.title, levels, groups)
        rows = OwnProblem.of(together, tuple(problem.groups[problem.labels[k]] for k in groups))
        part = self._part(which, together, partial(_side_by_side, groups=groups))
        return replace(part, rows=rows, law=rows.weights(data))

    def _average(self, key: Mapping[str, Any]) -> Part:
        problem = self.problem
        title = f"The average of {counted(problem)}"
        if problem.is_walk:
            title = f"One curve for {counted(problem)}"
        elif problem.walk is not None:
            title += f", in {problem.walk.levels[-1]}"
        which = OneOf(title, key, self, has_outcomes=problem.has_outcomes)
        exact = None if problem.is_walk else "average_site"
        return self._part(which, problem.pooled, attrgetter("average"), exact)

    def _new(self, key: Mapping[str, Any]) -> Part:
        axis, pooled, walk = key["new"], self.problem.pooled, self.problem.walk
        title = f"A new {axis}" if axis in SELF_NAMED else f"A new level of {axis}"
        if walk is not None and axis == walk.name:
            title = f"The next {axis}"
            last = self.part({"at": {axis: walk.levels[-1]}}).problem
            is_walk = self.problem.is_walk
            pooled = last if is_walk else replace(pooled, data=last.data, seed=last.seed)
        if "scores" in key:
            scores = as_scores(key["scores"], "scores")
            pooled = replace(pooled, data=CalibrationData(np.zeros(scores.size), scores))
        which = OneOf(title, key, self, is_new=True, has_outcomes=False)
        return self._part(which, pooled, partial(_of_new_level, axis=axis))

    def _part(
        self,
        which: OneOf,
        problem: Problem,
        of: Callable[[MultilevelDraws], Floats],
        exact: str | None = "every_site",
    ) -> Part:
        """The part whose coordinates `of` takes from draws of all curves.

        `exact` says which of the probabilities of exact calibration is that of the curve, if any.
        """
        known, drawn = self.explained.prob_calibrated, self.drawn
        return Part(
            *(problem, of(drawn), drawn.chains, drawn.engine, drawn.stats),
            prior=partial(self._drawn_before, of),
            of_several=None if known is None or exact is None else getattr(known, exact),
            one_of=which,
        )

    def _drawn_before(self, of: Callable[[MultilevelDraws], Floats]) -> Floats:
        """The same of prior draws, which few ask for."""
        return of(self.prior)


def counted(problem: MultilevelProblem) -> str:
    """How many curves there are, of what."""
    walk = None if problem.is_walk else problem.walk
    axes = [(name, each) for name, each in problem.axes.items() if not walk or name != walk.name]
    if len(axes) > 1:
        return f"{len(problem.labels)} cells"
    ((name, each),) = axes
    return (
        count(len(each), name) if name in SELF_NAMED else f"{count(len(each), 'level')} of {name}"
    )


def _side_by_side(drawn: MultilevelDraws, groups: list[int]) -> Floats:
    """Coordinates of groups, as (draws, groups * d)."""
    return np.asarray(drawn.groups[groups].transpose(1, 0, 2).reshape(drawn.size, -1))


def _of_new_level(drawn: MultilevelDraws, axis: str) -> Floats:
    """Coordinates of a level that has not been seen, of shape (draws, d)."""
    if drawn.problem.is_walk:
        assert drawn.following is not None
        return drawn.following
    if drawn.engine == "prior" and drawn.correlation is not None:
        return np.asarray(drawn.groups[0])  # a prior draw of a level: all are alike
    return drawn.of_new_level(axis)
