"""Replicates of a curve on resampled patients: what several models have in common.

Patients are drawn again by the Bayesian bootstrap, the same for all models, and a curve follows
their weights by one step of Newton's method.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from bayescal.core.arrays import Floats, blocks
from bayescal.data.times import FollowUp
from bayescal.model.draws import OneOf, Part
from bayescal.model.problem import Problem
from bayescal.model.times import Steps, told_of
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "DERIVATIVE_STEP",
    "FollowedCases",
    "Given",
    "KnownCases",
    "Patients",
    "Slopes",
    "drawn_weights",
    "mass_of",
    "replicate_view",
    "slopes_of",
]

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
