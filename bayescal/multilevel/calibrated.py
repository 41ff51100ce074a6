"""Exact calibration of several curves: how probable it is, and one set of draws that knows it.

Three components explain the data: every curve is exactly calibrated; the average is, and the levels
differ from it; nothing is. The last has the family at two scales of its prior, the one in use and
one of modest errors, and the effects of levels have two scales, the ones in use and narrow ones.
Evidence says how many draws are of each, and every number is read from these draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning
from bayescal.core.sampling import resample
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import MODEST, Normal, Prior
from bayescal.multilevel.changes import (
    PROB_CONSTANT,
    draw_terms,
    explanation_prior,
    explanation_probabilities,
)
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.followed import identity_of_times
from bayescal.multilevel.problem import MultilevelProblem

# An "every" of .1 wins against one cell of twelve that is off by .9 in log-odds. Without it, the
# interval score of TCE at calibrated hospitals is 4 % larger. Tried on 163 sets of 6 to 15 sites.
# Prior probabilities that every curve is exactly calibrated, and that the average alone is.
EVERY, AVERAGE = 0.01, 0.11
# Prior probability that ordered periods begin exactly calibrated.
BEGINS = 0.2
# With a half, the odd cell of twelve has 1.4 times the interval score; with neither, TCE near
# calibration is too large.
# Scales of effects, as a share of those in use, that have half of the prior probability.
NARROW_SCALES = 0.25
# Standard deviation of each coordinate of an average that is held at exact calibration.
ON_DIAGONAL = 1e-3
# How many times fewer proposals than draws serve a fit whose average is known, and the least.
FEWER, LEAST_PROPOSALS = 4, 1000
# Least share of the draws that a component has for its diagnostics to matter.
SHARE_THAT_MATTERS = 0.05
# Largest Monte Carlo error of a log evidence that shares of components are read from.
MOST_UNCERTAIN = 0.5


class ProbCalibrated(NamedTuple):
    """Probabilities that every curve is the diagonal, and that the average, or first period, is."""

    every_site: float
    average_site: float


class Explained(NamedTuple):
    """Draws of all components, and how probable these are; None where NUTS drew."""

    drawn: MultilevelDraws
    prob_calibrated: ProbCalibrated | None


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
    of no change from exact calibration; that of a calibrated average is of a fit with it. Other
    scales of priors weigh the draws of `fit`, in which nothing is exactly calibrated, anew.
    """
    if "log_evidence" not in fit.stats:
        return Explained(fit, None)
    proposals = min(max(fit.size // FEWER, LEAST_PROPOSALS), fit.size)
    pinned = draw_terms(_with_exact_average(fit.problem), fit.size, proposals)
    if fit.problem.is_walk:
        return _of_walk(fit, pinned)
    free = at_two_scales(fit.problem, fit.start) * with_narrow_effects(fit)
    average, every = with_narrow_effects(pinned), np.ones(fit.size)
    exact = identity_log_likelihood(fit.problem)
    components = [
        _Component(pinned.at_diagonal(), every, float(np.log(EVERY)) + exact),
        _Component(pinned.from_diagonal(), average, _log_joint(AVERAGE, pinned, average)),
        _Component(fit, free, _log_joint(1 - EVERY - AVERAGE, fit, free)),
    ]
    share = _shares(components)
    _warn_of(pinned.stats, float(share[1]))
    drawn = _mixed(components, fit.problem.pooled.rng("components"))
    return Explained(
        replace(drawn, problem=fit.problem, stats=fit.stats),
        ProbCalibrated(float(share[0]), float(share[:2].sum())),
    )


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
    share = _shares(components)
    _warn_of(pinned.stats, float(share[0]))
    drawn = replace(
        _mixed(components, problem.pooled.rng("components")),
        problem=problem,
        stats=fit.stats,
        average=fit.average,
        log_evidence=np.logaddexp(*log_joint),
    )
    first = float(share[0])
    return Explained(
        drawn, ProbCalibrated(first * float(explanation_probabilities(pinned)[0]), first)
    )


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
    return replace(problem, pooled=replace(pooled, prior=prior), unlike=problem.prior_of_unlike)


def at_two_scales(problem: MultilevelProblem, start: Floats) -> Floats:
    """Weights (draws,) for half of the prior weight on the second scale of the average's prior.

    The second scale acts at the centre of the first.
    """
    pooled = problem.pooled
    names, prior = pooled.curve.coordinates, pooled.prior
    modest = modest_scale(prior).with_others(pooled.curve.priors)
    ratio = modest.logpdf(names, start) - prior.logpdf(names, start)
    return np.asarray((1 + np.exp(ratio)) / 2)


def with_narrow_effects(drawn: MultilevelDraws) -> Floats:
    """Weights (draws,) for half of the prior weight on narrow scales of all effects.

    Nothing but the scales depends on their prior.
    """
    log_ratio = np.zeros(drawn.size)
    for term, scales in zip(drawn.problem.terms, drawn.scales, strict=True):
        prior, names = term.prior, drawn.problem.varying
        narrow = prior.scaled(NARROW_SCALES).logpdf(scales, names)
        log_ratio += narrow - prior.logpdf(scales, names)
    return np.asarray((1 + np.exp(log_ratio)) / 2)


def modest_scale(prior: Prior) -> Prior:
    """The second prior of the average: modest errors, or smaller ones if `prior` says so."""
    kept = {
        name: getattr(prior, name)
        for name in ("shift", "log_slope", "asymmetry")
        if getattr(prior, name).sigma <= getattr(MODEST, name).sigma
    }
    if "shift" in kept:
        kept["centre"] = prior.centre
    return replace(MODEST, others=prior.others, **kept)


def _shares(components: list[_Component]) -> Floats:
    """Posterior probabilities of the components."""
    return np.asarray(softmax([each.log_joint for each in components]))


def _mixed(components: list[_Component], rng: np.random.Generator) -> MultilevelDraws:
    """Draws of the components in proportion to their probabilities, in random order."""
    share, size = _shares(components), components[0].weights.size
    counts = np.bincount(resample(share, size, rng), minlength=share.size)
    parts = [
        each.drawn.taken(resample(each.weights, int(count), rng))
        for each, count in zip(components, counts, strict=True)
        if count
    ]
    order: NDArray[np.intp] = rng.permutation(size)
    return reduce(MultilevelDraws.beside, parts).taken(order)


def _warn_of(stats: Mapping[str, float], share: float) -> None:
    """Warn if the evidence of a calibrated average is uncertain where numbers depend on it."""
    error = stats["log_evidence_error"]
    if share >= SHARE_THAT_MATTERS and error > MOST_UNCERTAIN:
        warnings.warn(
            "the draws depend on the evidence that the average is exactly calibrated, whose "
            f"logarithm has a Monte Carlo error of {error:.1f}. Fit with more draws.",
            DiagnosticWarning,
            stacklevel=2,
        )


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
