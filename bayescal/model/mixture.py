"""The mixture that an averaged posterior is: its components, and how their draws are weighed.

Exact calibration, stretches that are often and that are rarely calibrated, and every smooth family
at two scales of its prior. The weights follow the evidence. Three in ten of the draws of distances
are kept for "no score is exactly calibrated", because evidence favours calibration wrongly at
times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import count
from bayescal.model.curves import CURVES, Curve, Frame, in_average
from bayescal.model.pieces import OFTEN_CALIBRATED, RARELY_CALIBRATED
from bayescal.model.priors import MODEST, Prior
from bayescal.model.problem import Problem
from bayescal.model.saturated.family import (
    ANY_RISKS,
    CASES_A_SCORE,
    MOST_SCORES,
    NO_RISK_EXACT,
    SATURATED,
    SOME_RISKS_EXACT,
)

__all__ = [
    "HEDGE",
    "MODEST_SCALE",
    "NOWHERE",
    "OFTEN",
    "RARELY",
    "RISKS",
    "Component",
    "Shares",
    "components_of",
    "families_on",
    "modest_scale",
    "recentred",
    "sample_prior",
    "shares_of",
]

HEDGE = 0.3
"""Share of the draws of distances in which no score is exactly calibrated."""

OFTEN_SHARE = 0.75
"""Of the stretches: how much of their prior weight is of those that are often calibrated."""

OWN_SCALE, MODEST_SCALE, OFTEN, RARELY = "prior", "modest", "often calibrated", "rarely calibrated"
NOWHERE = "nowhere calibrated"

STANDS_FOR = {OFTEN: "pieces", NOWHERE: "spline"}
"""Whose weight `saturated` has at either scale, where there are few distinct scores."""

RISKS = {OFTEN: SOME_RISKS_EXACT, NOWHERE: NO_RISK_EXACT}
"""Its prior there."""

SHARE_BY_SCORE = 0.5
"""How much of the weight of `pieces` it has then. Stretches keep the rest: risks of many points
that err together say more than each by itself."""


@dataclass(frozen=True)
class Component:
    """A family under one prior.

    Attributes
    ----------
    scale : str
        "prior" or "modest": the prior in use, or a second one of smaller errors. "often
        calibrated", "rarely calibrated" or "nowhere calibrated": how often stretches, or the risks
        of single scores, lie on the diagonal.
    prior : float
        Prior probability.
    """

    family: str
    scale: str
    prior: float

    @property
    def is_exact(self) -> bool:
        """Whether it is exact calibration."""
        return self.family == "identity"

    @property
    def is_often(self) -> bool:
        """Whether its curves are often calibrated in parts, so that errors count by side."""
        return self.scale == OFTEN

    @property
    def stands_for(self) -> str:
        """The family that was asked for: of `saturated`, the one whose weight it has."""
        return STANDS_FOR.get(self.scale, self.family) if self.is_by_score else self.family

    @property
    def is_by_score(self) -> bool:
        """Whether each score has a risk of its own."""
        return self.family == SATURATED.name

    def problem(self, problem: Problem) -> Problem:
        """The problem of this family, from that of the average."""
        if self.scale == MODEST_SCALE:
            problem = problem.with_prior(modest_scale(problem.prior))
        return problem.of_family(CURVES[self.family])


class Shares(NamedTuple):
    """Shares of the components, each of shape (components,) and of sum 1.

    Attributes
    ----------
    posterior : ndarray
        By prior weight and evidence; that of exact calibration is its posterior probability.
    distances : ndarray
        Of the draws that distances are read from: the same, but for the hedge.
    curves : ndarray
        Of the draws of the curve: the same, given that calibration is not exact.
    """

    posterior: Floats
    distances: Floats
    curves: Floats


def components_of(weights: Mapping[str, float], problem: Problem) -> tuple[Component, ...]:
    """The components of an average over families with these prior weights.

    A smooth family has half its weight at each scale, or all of it at one where the second prior is
    nowhere narrower. Where there are few distinct scores, `saturated` has the weight of `spline`,
    nowhere calibrated, and half of that of `pieces`, often calibrated.

    Parameters
    ----------
    weights : mapping of str to float
        Prior probability of each family; those of weight zero have no component.
    problem : Problem
        Of the average.
    """
    parts = []
    few = bool(problem.frame.scores)
    for name, weight in weights.items():
        scales: dict[str, float] = {OWN_SCALE: 1.0}
        if few and name == STANDS_FOR[NOWHERE]:
            parts.append(Component(SATURATED.name, NOWHERE, weight))
            continue
        if few and name == STANDS_FOR[OFTEN]:
            parts.append(Component(SATURATED.name, OFTEN, SHARE_BY_SCORE * weight))
            weight *= 1 - SHARE_BY_SCORE
        if name == "pieces":
            scales = {OFTEN: OFTEN_SHARE, RARELY: 1 - OFTEN_SHARE}
        elif _has_two_scales(problem.of_family(CURVES[name]).curve, problem.prior):
            scales = {OWN_SCALE: 0.5, MODEST_SCALE: 0.5}
        parts += [Component(name, scale, weight * share) for scale, share in scales.items()]
    return tuple(part for part in parts if part.prior > 0)


def families_on(problem: Problem, names: Sequence[str]) -> tuple[str, ...]:
    """The families that are compared on a table: `saturated` in place of `spline` on some.

    Parameters
    ----------
    problem : Problem
        Of the average.
    names : sequence of str
        Those that were asked for, in order.
    """
    if problem.frame.scores:
        replaced = (STANDS_FOR[NOWHERE], SATURATED.name)
        return (*(name for name in names if name not in replaced), SATURATED.name)
    if SATURATED.name in names:
        raise InputError(
            f"'saturated' was asked for, which has a risk for each of at most {MOST_SCORES} "
            f"distinct scores with {CASES_A_SCORE} cases each or more on average, and there are "
            f"{count(problem.data.n, 'case')} of {problem.data.score.size} distinct scores. Leave "
            "it out: 'spline' takes its place."
        )
    return tuple(names)


def shares_of(components: Sequence[Component], log_evidence: Floats) -> Shares:
    """How many of the draws are of each component.

    Parameters
    ----------
    log_evidence : ndarray of shape (components,)
    """
    log_joint = np.log([each.prior for each in components]) + log_evidence
    exact = np.array([each.is_exact for each in components])
    often = np.array([each.is_often for each in components])

    def among(chosen: NDArray[np.bool_]) -> Floats:
        if not chosen.any():
            return among(~exact)
        return np.asarray(softmax(np.where(chosen, log_joint, -np.inf)))

    posterior = among(np.ones_like(exact))
    distances = (1 - HEDGE) * posterior + HEDGE * among(~exact & ~often)
    return Shares(posterior, distances, among(~exact))


def modest_scale(prior: Prior) -> Prior:
    """The second prior of the smooth families: modest errors, or smaller ones if `prior` says so.

    Each coordinate has the narrower of the two laws, so that a prior that is nowhere wider than
    `MODEST` is its own second scale.

    Parameters
    ----------
    prior : Prior
        The one in use.
    """
    kept = {
        name: getattr(prior, name)
        for name in ("shift", "log_slope", "asymmetry")
        if getattr(prior, name).sigma <= getattr(MODEST, name).sigma
    }
    if _mean_square(prior.roughness) <= _mean_square(MODEST.roughness):
        kept["roughness"] = prior.roughness
    if "shift" in kept:
        kept["centre"] = prior.centre
    return replace(MODEST, others=prior.others, **kept)


def recentred(curve: Curve, u: Floats, frame: Frame, to: Frame) -> Floats:
    """A family's draws at another centre: the same curves, with another shift.

    Parameters
    ----------
    curve : Curve
        The family.
    u : ndarray of shape (draws, d)
        Its working coordinates.
    frame, to : Frame
        Where they were drawn, and where they are wanted.

    Returns
    -------
    ndarray of shape (draws, d)
    """
    own = curve.at(frame)
    if frame.centre == to.centre or "shift" not in own.coordinates:
        return u
    at, unbounded = np.array([to.centre]), u.copy()
    unbounded[:, own.rates] = 0
    gap = own.log_odds(unbounded, at, frame) - own.log_odds(unbounded, at, to)
    moved = u.copy()
    moved[:, own.coordinates.index("shift")] += gap[:, 0]
    return moved


def sample_prior(
    components: Sequence[Component], problem: Problem, rng: np.random.Generator, size: int
) -> tuple[Floats, NDArray[np.intp]]:
    """Prior draws in the union of coordinates, and the component of each.

    Parameters
    ----------
    components : sequence of Component
        Their prior probabilities are scaled to sum to 1.
    problem : Problem
        Of the average.

    Returns
    -------
    u : ndarray of shape (size, coordinates of the average)
    part : ndarray of shape (size,)
    """
    weight = np.array([each.prior for each in components])
    part = rng.choice(len(components), size, p=weight / weight.sum())
    u = np.zeros((size, problem.curve.size))
    for index, component in enumerate(components):
        rows = np.flatnonzero(part == index)
        if not rows.size:
            continue
        own = component.problem(problem)
        partition = OFTEN_CALIBRATED if component.is_often else RARELY_CALIBRATED
        risks = RISKS.get(component.scale, ANY_RISKS)
        drawn = own.sample_prior(rng, rows.size, partition, risks)
        curve = CURVES[component.family]
        at_centre = recentred(curve, drawn, own.frame, problem.frame)
        u[rows] = in_average(curve, at_centre, problem.curve, problem.frame)
    return u, part


def _has_two_scales(curve: Curve, prior: Prior) -> bool:
    """Whether the second prior says anything else of this family's coordinates."""
    second = modest_scale(prior).with_others(curve.priors)
    prior = prior.with_others(curve.priors)
    smooth = [name for name in curve.coordinates if not name.startswith("deviation")]
    differs = any(prior.of(name) != second.of(name) for name in smooth)
    return differs or (curve.is_rough and prior.roughness != second.roughness)


def _mean_square(roughness: tuple[tuple[float, float], ...]) -> float:
    return sum(weight * tau**2 for tau, weight in roughness)
