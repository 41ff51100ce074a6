"""Replicates of the curves of several models on the same resampled patients.

Each model has a fit of its own, of whose draws none belongs to one of another model. What two
models are said to be depends on the same patients, though, and on which sites were seen. Replicates
show how: patients are drawn again by the Bayesian bootstrap, the same for all models, and the
curves of each follow their weights by one step of Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from bayescal.core.arrays import Floats, blocks
from bayescal.data.times import FollowUp
from bayescal.model.draws import OneOf, Part
from bayescal.model.likelihood.times.steps import Steps, steps_of
from bayescal.model.likelihood.times.told import told_of
from bayescal.model.problem import Problem
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.followed import shared_steps
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior

# Of coordinates, for derivatives.
DERIVATIVE_STEP = 1e-4


class Told(NamedTuple):
    """What each patient tells of the log-odds of a curve.

    Attributes
    ----------
    slope, information : ndarray of shape (n,)
        First derivative of the log density, and the expected square of it.
    """

    slope: Floats
    information: Floats


class Patients(Protocol):
    """What was seen of the patients."""

    def told(
        self, members: NDArray[np.intp], score: Floats, risk: Floats, steps: Steps | None
    ) -> Told:
        """What some of them tell of a curve, with its values at their scores."""


class KnownCases(NamedTuple):
    """Patients whose outcomes are known.

    Attributes
    ----------
    outcome : ndarray of shape (n,)
    """

    outcome: Floats

    def told(
        self, members: NDArray[np.intp], score: Floats, risk: Floats, steps: Steps | None
    ) -> Told:
        """Observed less expected; nothing is asked of times."""
        return Told(self.outcome[members] - risk, risk * (1 - risk))


class FollowedCases(NamedTuple):
    """Patients who were followed, some of whom left before the horizon.

    Attributes
    ----------
    followed : FollowUp
        An entry for each patient, in their order.
    """

    followed: FollowUp

    def told(
        self, members: NDArray[np.intp], score: Floats, risk: Floats, steps: Steps | None
    ) -> Told:
        """The slope at the likeliest steps of Q, which are taken as they are."""
        assert steps is not None
        at = np.full(self.followed.row.size, -1)
        at[members] = np.arange(members.size)
        told = told_of(self.followed.in_rows(at), score, risk, steps)
        return Told(told.slope, told.spread)


class Given(NamedTuple):
    """Weights of the rows that were drawn already, of shape (draws, rows)."""

    weight: Floats

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws; nothing is drawn."""
        return self.weight[part]

    def worth(self, values: Floats) -> float:
        """One: it is not asked of weights that are given."""
        return 1.0


@dataclass(frozen=True)
class Slopes:
    """How a curve follows the weights of its patients.

    Attributes
    ----------
    centre : ndarray of shape (d,)
        Coordinates that it departs from.
    gradient : ndarray of shape (patients, d)
        Of the log likelihood of each patient.
    alone, shrunk : ndarray of shape (d, d)
        Covariance of the coordinates by these patients alone, and as the posterior has it.
    """

    centre: Floats
    gradient: Floats
    alone: Floats
    shrunk: Floats


def slopes_of(
    problem: Problem,
    drawn: Floats,
    score: Floats,
    weight: Floats,
    patients: Patients,
    members: NDArray[np.intp],
    steps: Steps | None,
) -> Slopes:
    """The slopes of one curve.

    Parameters
    ----------
    problem : Problem
        Of the curve.
    drawn : ndarray of shape (draws, d)
        Its coordinates.
    score, weight : ndarray of shape (members,)
        Of the patients.
    members : ndarray of int
        Which of the patients they are.
    steps : Steps, optional
        Of times to an event.
    """
    centre, size = drawn.mean(axis=0), drawn.shape[1]
    moved = DERIVATIVE_STEP * np.eye(size)
    at = np.concatenate([centre[None], centre + moved, centre - moved])
    risk = problem.probability(at)[:, problem.rows_of(score)]
    up, down = np.split(logit(risk[1:]), 2)
    design = ((up - down) / (2 * DERIVATIVE_STEP)).T
    inside = problem.inside(score)
    told = patients.told(members, inside, risk[0], steps)
    information = (design.T * (weight * told.information)) @ design
    return Slopes(
        centre,
        design * told.slope[:, None],
        np.linalg.inv(information + np.eye(size)),
        np.atleast_2d(np.cov(drawn.T)),
    )


def drawn_weights(
    weight: Floats, labels: NDArray[np.generic], draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, Floats]]:
    """Weights of patients by the Bayesian bootstrap, of shape (draws, patients), in blocks.

    Parameters
    ----------
    weight : ndarray of shape (patients,)
        How many cases each stands for.
    labels : ndarray of shape (patients,)
        Cases that are drawn together have the same label.
    """
    units, row = np.unique(labels, return_inverse=True)
    alone = units.size == weight.size
    for part in blocks(draws, weight.size):
        size = part.stop - part.start
        if alone:
            yield part, rng.standard_gamma(weight, (size, weight.size))
        else:
            yield part, rng.standard_exponential((size, units.size))[:, row] * weight


def mass_of(problem: Problem, score: Floats, weights: Iterator[tuple[slice, Floats]]) -> Floats:
    """Weight of patients in each row of a problem, of shape (draws, rows)."""
    row = problem.rows_of(score)
    shape = (row.size, problem.score.size)
    member = sparse.csr_array((np.ones(row.size), (np.arange(row.size), row)), shape=shape)
    return np.concatenate([weight @ member for _, weight in weights])


def replicate_view(
    title: str, problem: Problem, u: Floats, mass: Floats, several: Any, drawn: Any
) -> CalibrationPosterior:
    """The view whose draws are replicates, each over patients of its own weights.

    Parameters
    ----------
    several : Any
        What has a tree of all curves.
    drawn : MultilevelDraws or Part
        Chains, engine and statistics of the draws.
    """
    law, which = Given(mass / mass.sum(axis=1, keepdims=True)), OneOf(title, {}, several)
    about = drawn.chains, drawn.engine, drawn.stats
    return CalibrationPosterior([Part(problem, u, *about, prior=u, law=law, one_of=which)])


@dataclass(frozen=True)
class SamePopulation:
    """Replicates of the curves of several models, as many as each has draws.

    Attributes
    ----------
    posts : sequence of CalibrationPosterior
        One a model, of one family of curves each, with equal numbers of draws.
    patients : Patients
        What was seen of each.
    scores : sequence of ndarray of shape (n,)
        One a model.
    weight : ndarray of shape (n,)
    unit : ndarray of shape (n,)
        Cases that are drawn together have the same label: a patient, or a cluster.
    title : str
    seed : int
    """

    posts: Sequence[CalibrationPosterior]
    patients: Patients
    scores: Sequence[Floats]
    weight: Floats
    unit: NDArray[Any]
    title: str
    seed: int

    def replicates(self) -> list[CalibrationPosterior]:
        """Replicates of the curves, one a model."""
        views = []
        for post, score in zip(self.posts, self.scores, strict=True):
            problem, drawn = post.problem, post._parts[0]
            steps = steps_of(problem) if problem.of_times else None
            members = np.arange(score.size)
            slopes = slopes_of(problem, drawn.u, score, self.weight, self.patients, members, steps)
            size, expected = len(drawn.u), self.weight @ slopes.gradient
            change = [each @ slopes.gradient - expected for _, each in self._weights(size)]
            u = slopes.centre + np.concatenate(change) @ slopes.shrunk
            mass = mass_of(problem, score, self._weights(size))
            views.append(replicate_view(self.title, problem, u, mass, post, drawn))
        return views

    def _weights(self, size: int) -> Any:
        """Weights of the patients, the same whenever they are asked for, and for every model."""
        rng = np.random.default_rng([self.seed, 0])
        return drawn_weights(self.weight, self.unit, size, rng)


def given_free(post: MultilevelPosterior) -> MultilevelPosterior:
    """The same fit, given that nothing in it is exactly calibrated.

    Draws that are exactly calibrated have the outcomes that a model expects: in a difference of two
    models patients would have other outcomes for each.
    """
    stats = {name: value for name, value in post._free.stats.items() if name != "log_evidence"}
    return MultilevelPosterior([Curves(replace(post._free, stats=stats))])


@dataclass(frozen=True)
class SamePatients:
    """Replicates of the curves of several models, as many as each has draws.

    Attributes
    ----------
    posts : sequence of MultilevelPosterior
        One a model, by `given_free`, with equal numbers of draws, of the same patients.
    patients : Patients
        What was seen of each.
    weight : ndarray of shape (n,)
    scores : sequence of ndarray of shape (n,)
        One a model.
    site : ndarray of str of shape (n,)
    unit : ndarray of shape (n,)
        Cases that are drawn together have the same label: a patient, or a cluster.
    seed : int
    """

    posts: Sequence[MultilevelPosterior]
    patients: Patients
    scores: Sequence[Floats]
    weight: Floats
    site: NDArray[Any]
    unit: NDArray[Any]
    seed: int

    def at(self, label: str | None) -> list[CalibrationPosterior]:
        """Replicates of the curve of one site, one a model; of all sites together for None."""
        names = self.labels if label is None else (label,)
        views = []
        for k, post in enumerate(self.posts):
            like = post.at() if label is None else post.at(site=label)
            mass = self._mass_of(k, like.problem, names)
            u = np.concatenate([self._coordinates(k, name) for name in names], axis=1)
            views.append(self._view(like, post, u, mass))
        return views

    def average(self) -> list[CalibrationPosterior]:
        """Replicates of the curve of the average site, one a model."""
        views = []
        for k, post in enumerate(self.posts):
            like = post.average()
            mass = self._mass_of(k, like.problem, self.labels)
            views.append(self._view(like, post, self._average(k), mass))
        return views

    def new(self) -> list[CalibrationPosterior]:
        """Replicates of the curve of a new site, which is like one of those seen."""
        chosen = np.random.default_rng([self.seed, *b"new site"]).integers(
            len(self.labels), size=self._size
        )
        views = []
        for k, post in enumerate(self.posts):
            like = post.new()
            centre = np.mean([self._slopes[k][name].centre for name in self.labels], axis=0)
            u, mass = self._average(k).copy(), np.empty((self._size, like.problem.score.size))
            for number, name in enumerate(self.labels):
                own = chosen == number
                u[own] += self._coordinates(k, name)[own] - centre
                mass[own] = self._mass(k, like.problem, name)[own]
            views.append(self._view(like, post, u, mass))
        return views

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites."""
        return self.posts[0].labels

    @property
    def _size(self) -> int:
        return self.posts[0].draws

    def _view(
        self, like: CalibrationPosterior, post: MultilevelPosterior, u: Floats, mass: Floats
    ) -> CalibrationPosterior:
        """The view whose draws are replicates."""
        return replicate_view(like._title, like.problem, u, mass, post, post._free)

    def _members(self, label: str) -> NDArray[np.intp]:
        return np.flatnonzero(self.site == label)

    def _weights(self, label: str) -> Iterator[tuple[slice, Floats]]:
        """Weights of the patients of a site, of shape (draws, patients), a block at a time.

        They are the same whenever they are asked for, and for every model.
        """
        members = self._members(label)
        rng = np.random.default_rng([self.seed, self.labels.index(label)])
        yield from drawn_weights(self.weight[members], self.unit[members], self._size, rng)

    def _mass(self, model: int, problem: Problem, label: str) -> Floats:
        """Weight of the patients of a site in each row of a problem, of shape (draws, rows)."""
        score = self.scores[model][self._members(label)]
        return mass_of(problem, score, self._weights(label))

    def _mass_of(self, model: int, problem: Problem, labels: Sequence[str]) -> Floats:
        """The same of the patients of several sites."""
        total = np.zeros((self._size, problem.score.size))
        for label in labels:
            total += self._mass(model, problem, label)
        return total

    def _change(self, model: int, label: str) -> Floats:
        """By how much the gradient of a site's log likelihood changes, of shape (draws, d)."""
        gradient = self._slopes[model][label].gradient
        expected = self.weight[self._members(label)] @ gradient
        each = [weight @ gradient for _, weight in self._weights(label)]
        return np.asarray(np.concatenate(each) - expected)

    def _coordinates(self, model: int, label: str) -> Floats:
        """Replicates of a site's coordinates, of shape (draws, d)."""
        slopes = self._slopes[model][label]
        return np.asarray(slopes.centre + self._change(model, label) @ slopes.shrunk)

    def _average(self, model: int) -> Floats:
        """Replicates of the average, of shape (draws, d): other sites, with other patients.

        Sites count by the precision that they have in the average, and one that is unlike the
        others as little as that is probable.
        """
        drawn = self.posts[model]._free
        between = np.full(drawn.average.shape[1], DERIVATIVE_STEP)
        between[drawn.problem.columns] += np.mean(drawn.scales[0] ** 2, axis=0)
        times = np.random.default_rng([self.seed, *b"sites"]).standard_exponential(
            (self._size, len(self.labels))
        )
        sums = np.zeros((self._size, between.size))
        total = np.zeros((self._size, between.size, between.size))
        for number, name in enumerate(self.labels):
            slopes = self._slopes[model][name]
            precision = np.linalg.inv(np.diag(between) + slopes.alone)
            if drawn.unlike is not None:
                precision = precision * (1 - drawn.unlike[number].mean() + DERIVATIVE_STEP)
            own = slopes.centre + self._change(model, name) @ slopes.alone
            sums += times[:, [number]] * (own @ precision)
            total += times[:, [number], None] * precision
        return np.asarray(np.linalg.solve(total, sums[:, :, None])[:, :, 0])

    @cached_property
    def _slopes(self) -> list[dict[str, Slopes]]:
        return [
            {name: self._slopes_of(model, name) for name in self.labels}
            for model in range(len(self.posts))
        ]

    def _slopes_of(self, model: int, label: str) -> Slopes:
        post, members = self.posts[model], self._members(label)
        drawn = post._free.groups[post.problem.labels.index(label)]
        steps = shared_steps(post.problem).steps if post.problem.pooled.of_times else None
        score, weight = self.scores[model][members], self.weight[members]
        of_cases = (score, weight, self.patients, members, steps)
        return slopes_of(post.at(site=label).problem, drawn, *of_cases)
