"""Curves of several models in one population, on the same resampled patients.

All models have curves of one family: draws of an average over families do not move with patients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.model.times import steps_of
from bayescal.multilevel.replicates import (
    Patients,
    drawn_weights,
    mass_of,
    replicate_view,
    slopes_of,
)
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["SamePopulation"]


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
