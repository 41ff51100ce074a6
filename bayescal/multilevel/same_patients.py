"""Curves of several models at the same sites, on the same resampled patients.

Each model has a fit of its own, of whose draws none belongs to one of another model. What two
models are said to be depends on the same patients, though, and on which sites were seen. Replicates
show how: patients are drawn again by the Bayesian bootstrap, the same for all models, and the
curves of each follow their weights by one step of Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.model.problem import Problem
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.followed import shared_steps
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.replicates import (
    DERIVATIVE_STEP,
    Patients,
    Slopes,
    drawn_weights,
    mass_of,
    replicate_view,
    slopes_of,
)
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["SamePatients", "given_free"]


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
