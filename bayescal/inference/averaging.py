"""The average: samples of its families, mixed by evidence, and draws from the mixture."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning, InputError, as_items, as_number, check_choice
from bayescal.core.sampling import Sample, even_choice, of_mixture, resample, shares_of_parts
from bayescal.core.versions import one_blas_thread
from bayescal.inference.density import sample_importance, sample_pieces, sample_saturated
from bayescal.model.curves import CURVES, EXACT, NEAR, PRIOR_CALIBRATED
from bayescal.model.draws import (
    Averaged,
    Part,
    Shares,
    in_union,
    on_scores,
    problem_of,
    shares_of,
    weighed,
)
from bayescal.model.pieces import OFTEN_CALIBRATED
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem
from bayescal.model.saturated import SATURATED, SOME_RISKS_EXACT
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "PRIOR_CALIBRATED",
    "FamilySamples",
    "Mixture",
    "in_order",
    "prior_probabilities",
]


def in_order(curves: Sequence[str] | None) -> list[str]:
    """The families asked for, and exact calibration, in the order of the registry.

    By default all of which the mixture can be made; those in `WEIGHTS` have weight. A risk of its
    own for each score has no place among curves.
    """
    mixed = [name for name, curve in CURVES.items() if not curve.per_score]
    if curves is None:
        return mixed
    asked = as_items(curves, "curves")
    for name in asked:
        check_choice(name, mixed, "curves")
    return [name for name in mixed if name in asked or name == EXACT]


def prior_probabilities(
    names: Sequence[str],
    prior_calibrated: float = PRIOR_CALIBRATED,
    weights: Mapping[str, float] | None = None,
    *,
    are_named: bool = False,
) -> dict[str, float]:
    """Prior probability of each family asked for, identity included; see `compare`."""
    others = [name for name in names if name != EXACT]
    raw = weighed(others, are_named=are_named)
    if weights is not None:
        raw = _given(weights, others)
    total = sum(raw.values())
    if not total > 0:
        asked = ", ".join(name for name in CURVES if name != EXACT)
        raise InputError(
            "curve= or curves= names no family other than identity with any weight, so there is "
            f"nothing to compare it with. Name one of {asked}, with a weight above 0."
        )
    shares = {name: (1 - prior_calibrated) * w / total for name, w in raw.items()}
    return {EXACT: prior_calibrated} | shares


def _given(weights: Mapping[str, float], others: Sequence[str]) -> dict[str, float]:
    """The weights that the user gave, checked."""
    raw = {name: as_number(weights.get(name, 0.0), "curves") for name in others}
    if any(not (np.isfinite(w) and w >= 0) for w in raw.values()):
        raise InputError(
            f"the prior weights of curves must be non-negative numbers, got {dict(weights)!r}."
        )
    return raw


# Of each family. Against eight times as many, the mean of TCE differs by .013 posterior standard
# deviations and its upper end by .062; half as many cost hardly less, since stretches cost most.
POINTS_OF_FAMILY = 2048

# Of `near`, whose two coordinates are nearly normal.
FEW_POINTS_OF_FAMILY = 512

# Families that every prior leaves as they are.
OWN_PRIOR = (NEAR, "pieces", SATURATED.name)


class FamilySamples(Mapping[str, Sample]):
    """Samples of families by name, none of them drawn twice.

    Parameters
    ----------
    problem : Problem
        Of the average: one set of knots and cells for all families.
    names : sequence of str
        The families asked for, in order; see `on_scores`.
    """

    def __init__(self, problem: Problem, names: Sequence[str]) -> None:
        self.problem = problem
        self._names = tuple(on_scores(dict.fromkeys(names, 0.0), problem))
        self._drawn: dict[str, Sample] = {}
        self._problems: dict[str, Problem] = {}
        self._relatives = [self]

    def __getitem__(self, name: str) -> Sample:
        if name not in self._drawn:
            self._drawn[name] = self._sampled(name)
        return self._drawn[name]

    def problem_of(self, name: str) -> Problem:
        """The problem of one family."""
        if name not in self._problems:
            self._problems[name] = problem_of(name, self.problem)
        return self._problems[name]

    def _sampled(self, name: str) -> Sample:
        problem = self.problem_of(name)
        if name == "pieces":
            return sample_pieces(problem, POINTS_OF_FAMILY, OFTEN_CALIBRATED)
        if name == SATURATED.name:
            return sample_saturated(problem, POINTS_OF_FAMILY, SOME_RISKS_EXACT)
        return sample_importance(
            problem, FEW_POINTS_OF_FAMILY if name == NEAR else POINTS_OF_FAMILY
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def draw_all(self) -> FamilySamples:
        """The same, with every family drawn now."""
        for name in self:
            self[name]
        return self

    def under(self, prior: Prior) -> FamilySamples:
        """The same families under another prior, made once for each prior.

        Those whose prior is their own are shared.
        """
        for relative in self._relatives:
            if relative.problem.prior == prior:
                return relative
        other = FamilySamples(self.problem.with_prior(prior), self._names)
        other._relatives = self._relatives
        self._relatives.append(other)
        for name in OWN_PRIOR:
            if name in self._drawn:
                other._drawn[name] = self._drawn[name]
        return other

    def nearer_edges(self, factor: float) -> FamilySamples:
        """The same families with scores of 0 and 1 read this many times nearer to certainty."""
        problem = self.problem.with_edges(self.problem.edges.nearer(factor))
        return FamilySamples(problem, self._names)


# Scores at which curves are compared before some of them are chosen.
FEW_ROWS = 10

# Effective draws, as a share of all, below which a family is left out of an average.
LEAST_EFFECTIVE = 0.02

# How many points of a family, for each draw of it, are chosen from.
CHOICE = 3


class Mixture:
    """The mixture of families on one table, with their samples.

    Parameters
    ----------
    samples : FamilySamples
        Of the families, under the prior in use.
    weights : mapping of str to float
        Prior probability of each family asked for, exact calibration included.
    draws : int
        Of the mixture.

    Attributes
    ----------
    problem : Problem
        Of the average: one centre and one set of knots for all families.
    weights : dict of str to float
        Of the families mixed; see `on_scores`.
    """

    def __init__(self, samples: FamilySamples, weights: Mapping[str, float], draws: int) -> None:
        self._samples, self.problem, self._draws = samples, samples.problem, draws
        self._asked = dict(weights)
        mixed = on_scores(weights, self.problem)
        self.weights = {name: weight for name, weight in mixed.items() if weight > 0}

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """Draws and evidence of each family with weight, in its own coordinates.

        One whose draws are worth far too few has a log evidence of minus infinity: it is left out,
        and its weight goes to the others. Its evidence cannot be believed either.
        """
        samples = {name: self._samples[name] for name in self.weights}
        curved = [name for name in samples if name != EXACT]
        few = [
            name
            for name in curved
            if samples[name].ess < LEAST_EFFECTIVE * len(samples[name].weighted[0])
        ]
        if few and len(few) < len(curved):
            told = [
                f"{name}, {samples[name].ess:.0f} of {len(samples[name].draws)}" for name in few
            ]
            warnings.warn(
                "the average leaves out families whose draws are worth too few, and their weight "
                f"goes to the others: {'; '.join(told)}.",
                DiagnosticWarning,
                stacklevel=2,
            )
            samples |= {name: replace(samples[name], log_evidence=-np.inf) for name in few}
        return samples

    @cached_property
    def shares(self) -> Shares:
        """How many of the draws are of each family."""
        evidence = np.array([sample.log_evidence for sample in self.samples.values()])
        return shares_of(self.weights, evidence)

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration."""
        return self.probability_of(EXACT)

    def probability_of(self, family: str) -> float:
        """Posterior probability of a family."""
        return float(dict(zip(self.weights, self.shares.posterior, strict=True)).get(family, 0.0))

    @property
    def log_evidence(self) -> float:
        """Log evidence of all families, exact calibration among them."""
        parts, weight = self.samples.values(), np.array(list(self.weights.values()))
        return float(logsumexp([part.log_evidence for part in parts] + np.log(weight)))

    @property
    def log_evidence_of_rest(self) -> float:
        """Log evidence of all that is not exact calibration."""
        parts, log_prior = self._curved
        return float(logsumexp([sample.log_evidence for sample in parts.values()] + log_prior))

    @property
    def _curved(self) -> tuple[dict[str, Sample], Floats]:
        """The families other than exact calibration, and their log weights, scaled to sum to 1."""
        parts = {name: sample for name, sample in self.samples.items() if name != EXACT}
        weight = np.array([self.weights[name] for name in parts])
        return parts, np.asarray(np.log(weight / weight.sum()))

    @one_blas_thread
    def posterior(self) -> CalibrationPosterior:
        """Draws of the curve given that calibration is not exact, of which some are exact.

        So many as exact calibration is probable are marked, evenly over all sizes of the error:
        in these every distance is 0. However probable it is, no draw of the curve is lost to it.
        """
        parts, log_prior = self._curved
        problem, rng = self.problem, self.problem.rng("average")
        part = resample(shares_of_parts([*parts.values()], log_prior), self._draws, rng)
        u, size = np.empty((self._draws, problem.curve.size)), np.empty(self._draws)
        for number, (name, sample) in enumerate(parts.items()):
            rows = np.flatnonzero(part == number)
            if rows.size:
                drawn, size[rows] = self._drawn_of(name, sample, rows.size, rng)
                u[rows] = in_union(self._samples.problem_of(name), drawn, problem)
        mixed = of_mixture([*parts.values()], log_prior, u)
        exact = _marked(size, self.prob_calibrated, rng)
        averaged = Averaged(self.weights, self._asked, self.prob_calibrated, part, exact)
        return CalibrationPosterior([Part.of_sample(problem, mixed, averaged)])

    def _drawn_of(
        self, name: str, sample: Sample, draws: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draws of one family in its own coordinates, and the mean error of each.

        They are chosen once, from its weighted points, and evenly: chosen a second time and at
        random, they would lose how evenly the points are spread.
        """
        points, weights = sample.weighted
        some = slice(None, None, max(len(points) // (CHOICE * draws), 1))
        features = self._features(name, points[some])
        picked = even_choice(features, weights[some], draws, rng)
        return points[some][picked], features[1, picked]

    def _features(self, name: str, points: Floats) -> Floats:
        """What draws are mostly read for: the signed error, its size, and how it grows.

        Of shape (3, points), the last with the log-odds of the score.
        """
        rows, weight = self._nodes
        problem = self.problem
        score, stated = problem.score[rows], problem.stated[rows]
        at = CURVES[name].at_scores(score, self._samples.problem_of(name).frame, stated)
        error = at.probability(points) - stated
        x = problem.log_odds[rows]
        growth = weight * (x - weight @ x)
        return np.stack([error @ weight, np.abs(error) @ weight, error @ growth])

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.intp], Floats]:
        """A few rows that stand for all, the outer ones among them, and their shares of cases."""
        trials = self.problem.trials
        middle = (np.cumsum(trials) - trials / 2) / trials.sum()
        inner = np.searchsorted(middle, (np.arange(FEW_ROWS) + 0.5) / FEW_ROWS)
        rows = np.unique([0, *np.minimum(inner, trials.size - 1), trials.size - 1])
        between = np.searchsorted((rows[1:] + rows[:-1]) / 2, np.arange(trials.size))
        return rows, np.bincount(between, trials, rows.size) / trials.sum()


def _marked(size: Floats, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A share of the draws, evenly over all values of `size`."""
    rank = np.empty(size.size)
    rank[np.argsort(size)] = np.arange(size.size) + rng.random()
    return np.asarray(np.floor((rank + 1) * share) > np.floor(rank * share))
