"""Replicates of the curves of several models on the same resampled patients.

Each model has a fit of its own, of whose draws none belongs to one of another model. What two
models are said to be depends on the same patients, though, and on which sites were seen. Replicates
show how: patients are drawn again by the Bayesian bootstrap, the same for all models, and the
curves of each follow their weights by one step of Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from bayescal.core.arrays import Floats, Known, blocks
from bayescal.data.rows import numbered
from bayescal.data.times import FollowUp
from bayescal.model.draws import OneOf, Part
from bayescal.model.problem import Problem
from bayescal.model.times import Steps, steps_of, told_of
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior

# What was seen of each patient: the outcome, or an entry of the follow-up in their order.
Patients: TypeAlias = Floats | FollowUp
# Of coordinates, for derivatives.
DERIVATIVE_STEP = 1e-4


class Follows(NamedTuple):
    """How a curve follows the weights of its patients.

    It departs from `centre` (d,), as the gradient of the log likelihood changes (draws, d) with the
    weights; by the covariance of these patients `alone`, or `shrunk`, as the posterior has it.
    """

    centre: Floats
    change: Floats
    alone: Floats
    shrunk: Floats

    @property
    def coordinates(self) -> Floats:
        """Replicates of the coordinates, of shape (draws, d)."""
        return np.asarray(self.centre + self.change @ self.shrunk)


@dataclass(frozen=True)
class Resampled:
    """Patients drawn again, and the curves of several models that follow.

    `weight` (n,) is how many cases each stands for, and `unit` (n,) who are drawn together: a
    patient, or a cluster. All models have so many `draws`, and scores of their own.
    """

    patients: Patients
    scores: Sequence[Floats]
    weight: Floats
    unit: NDArray[Any]
    draws: int
    seed: int

    def weights(self, members: NDArray[np.intp], stream: int = 0) -> Iterator[Floats]:
        """Weights of some patients by the Bayesian bootstrap, (draws, members), in blocks.

        They are the same whenever they are asked for, and for every model.
        """
        rng, weight = np.random.default_rng([self.seed, stream]), self.weight[members]
        units, row = numbered(self.unit[members])
        for part in blocks(self.draws, weight.size):
            size = part.stop - part.start
            if units.size == weight.size:
                yield rng.standard_gamma(weight, (size, weight.size))
            else:
                yield rng.standard_exponential((size, units.size))[:, row] * weight

    def mass(
        self, model: int, problem: Problem, members: NDArray[np.intp], stream: int = 0
    ) -> Floats:
        """Weight of some patients in each row of a problem, of shape (draws, rows)."""
        row = problem.rows_of(self.scores[model][members])
        shape = (row.size, problem.score.size)
        member = sparse.csr_array((np.ones(row.size), (np.arange(row.size), row)), shape=shape)
        return np.concatenate([weight @ member for weight in self.weights(members, stream)])

    def follows(
        self,
        model: int,
        problem: Problem,
        drawn: Floats,
        members: NDArray[np.intp],
        steps: Steps | None,
        stream: int = 0,
    ) -> Follows:
        """How the curve of a problem, with draws (draws, d), follows some patients.

        Of times to an event at the likeliest steps of Q, which are taken as they are.
        """
        score, weight = self.scores[model][members], self.weight[members]
        centre, size = drawn.mean(axis=0), drawn.shape[1]
        moved = DERIVATIVE_STEP * np.eye(size)
        at = np.concatenate([centre[None], centre + moved, centre - moved])
        risk = problem.probability(at)[:, problem.rows_of(score)]
        up, down = np.split(logit(risk[1:]), 2)
        design = ((up - down) / (2 * DERIVATIVE_STEP)).T
        slope, told = self._told(members, problem.inside(score), risk[0], steps)
        information, gradient = (design.T * (weight * told)) @ design, design * slope[:, None]
        each = [one @ gradient for one in self.weights(members, stream)]
        return Follows(
            centre,
            np.concatenate(each) - weight @ gradient,
            np.linalg.inv(information + np.eye(size)),
            np.atleast_2d(np.cov(drawn.T)),
        )

    def _told(
        self, members: NDArray[np.intp], score: Floats, risk: Floats, steps: Steps | None
    ) -> tuple[Floats, Floats]:
        """First derivative of the log density by the log-odds, and its expected square."""
        if not isinstance(self.patients, FollowUp):
            return self.patients[members] - risk, risk * (1 - risk)
        assert steps is not None
        at = np.full(self.patients.row.size, -1)
        at[members] = np.arange(members.size)
        told = told_of(self.patients.in_rows(at), score, risk, steps)
        return told.slope, told.spread


class _Given(NamedTuple):
    """Weights of the rows that were drawn already, of shape (draws, rows)."""

    weight: Floats

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws; nothing is drawn."""
        return self.weight[part]

    def worth(self, values: Floats) -> float:
        """One: it is not asked of weights that are given."""
        return 1.0


def _view(
    title: str, problem: Problem, u: Floats, mass: Floats, several: Any, drawn: Any
) -> CalibrationPosterior:
    """The posterior whose draws are replicates, each over patients of its own weights."""
    law, which = _Given(mass / mass.sum(axis=1, keepdims=True)), OneOf(title, {}, several)
    about = drawn.chains, drawn.engine, drawn.stats
    return CalibrationPosterior([Part(problem, u, *about, prior=Known(u), law=law, one_of=which)])


def replicates(
    posts: Sequence[CalibrationPosterior], cases: Resampled, title: str
) -> list[CalibrationPosterior]:
    """Replicates of the curves of several models in one population, one a model.

    All have curves of one family: draws of an average over families do not move with patients.
    """
    views, every = [], np.arange(cases.weight.size)
    for model, post in enumerate(posts):
        problem, drawn = post.problem, post._parts[0]
        steps = steps_of(problem) if problem.of_times else None
        u = cases.follows(model, problem, drawn.u, every, steps).coordinates
        views.append(_view(title, problem, u, cases.mass(model, problem, every), post, drawn))
    return views


def given_free(post: MultilevelPosterior) -> MultilevelPosterior:
    """The same fit, given that nothing in it is exactly calibrated.

    Draws that are exactly calibrated have the outcomes that a model expects: in a difference of two
    models patients would have other outcomes for each.
    """
    stats = {name: value for name, value in post._free.stats.items() if name != "log_evidence"}
    return MultilevelPosterior([Curves(replace(post._free, stats=stats))])


@dataclass(frozen=True)
class SamePatients:
    """Replicates of the curves of several models at the same sites, as many as each has draws.

    The posteriors, one a model, are those of `given_free`.
    """

    posts: Sequence[MultilevelPosterior]
    cases: Resampled
    site: NDArray[Any]

    def at(self, label: str | None) -> list[CalibrationPosterior]:
        """Replicates of the curve of one site, one a model; of all sites together for None."""
        names = self.labels if label is None else (label,)
        views = []
        for k, post in enumerate(self.posts):
            like = post.at() if label is None else post.at(site=label)
            u = np.concatenate([self._follows[k][name].coordinates for name in names], axis=1)
            views.append(self._view(like, post, u, self._mass(k, like.problem, names)))
        return views

    def average(self) -> list[CalibrationPosterior]:
        """Replicates of the curve of the average site, one a model."""
        views = []
        for k, post in enumerate(self.posts):
            like = post.average()
            mass = self._mass(k, like.problem, self.labels)
            views.append(self._view(like, post, self._average(k), mass))
        return views

    def new(self) -> list[CalibrationPosterior]:
        """Replicates of the curve of a new site, which is like one of those seen."""
        rng, size = np.random.default_rng([self.cases.seed, *b"new site"]), self.cases.draws
        chosen = rng.integers(len(self.labels), size=size)
        views = []
        for k, post in enumerate(self.posts):
            like, follows = post.new(), self._follows[k]
            centre = np.mean([follows[name].centre for name in self.labels], axis=0)
            u, mass = self._average(k).copy(), np.empty((size, like.problem.score.size))
            for number, name in enumerate(self.labels):
                own = chosen == number
                u[own] += follows[name].coordinates[own] - centre
                mass[own] = self._mass(k, like.problem, (name,))[own]
            views.append(self._view(like, post, u, mass))
        return views

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sites."""
        return self.posts[0].labels

    def _view(
        self, like: CalibrationPosterior, post: MultilevelPosterior, u: Floats, mass: Floats
    ) -> CalibrationPosterior:
        return _view(like._title, like.problem, u, mass, post, post._free)

    @cached_property
    def _members(self) -> dict[str, tuple[NDArray[np.intp], int]]:
        """The patients of each site, and the number of their stream of random numbers."""
        return {name: (np.flatnonzero(self.site == name), k) for k, name in enumerate(self.labels)}

    def _mass(self, model: int, problem: Problem, labels: Sequence[str]) -> Floats:
        """Weight of the patients of some sites in each row of a problem, (draws, rows)."""
        each = (self.cases.mass(model, problem, *self._members[label]) for label in labels)
        return np.asarray(reduce(np.add, each))

    def _average(self, model: int) -> Floats:
        """Replicates of the average, of shape (draws, d): other sites, with other patients.

        Sites count by the precision that they have in the average, and one that is unlike the
        others as little as that is probable.
        """
        drawn = self.posts[model]._free
        between = np.full(drawn.average.shape[1], DERIVATIVE_STEP)
        between[drawn.problem.columns] += np.mean(drawn.scales[0] ** 2, axis=0)
        times = np.random.default_rng([self.cases.seed, *b"sites"]).standard_exponential(
            (self.cases.draws, len(self.labels))
        )
        sums = np.zeros((self.cases.draws, between.size))
        total = np.zeros((self.cases.draws, between.size, between.size))
        for number, name in enumerate(self.labels):
            follows = self._follows[model][name]
            precision = np.linalg.inv(np.diag(between) + follows.alone)
            if drawn.unlike is not None:
                precision = precision * (1 - drawn.unlike[number].mean() + DERIVATIVE_STEP)
            own = follows.centre + follows.change @ follows.alone
            sums += times[:, [number]] * (own @ precision)
            total += times[:, [number], None] * precision
        return np.asarray(np.linalg.solve(total, sums[:, :, None])[:, :, 0])

    @cached_property
    def _follows(self) -> list[dict[str, Follows]]:
        """How the curve of each model at each site follows its patients."""
        each = []
        for model, post in enumerate(self.posts):
            steps = post.problem.shared_steps.steps if post.problem.pooled.of_times else None
            own = zip(self.labels, post._free.groups, strict=True)
            each.append(
                {
                    name: self.cases.follows(
                        model, post.problem.groups[name], drawn, members, steps, stream
                    )
                    for name, drawn in own
                    for members, stream in (self._members[name],)
                }
            )
        return each
