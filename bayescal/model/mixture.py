"""The mixture that an averaged posterior is: seven hypotheses about one curve.

    hypothesis   curve                                            prior probability
    identity     g = s: exactly calibrated                        a, .05 by default
    near         a shift and a log slope of Normal(0, .05)        2/19 of the rest
    pieces       stretches, often exactly on the diagonal         7/19
    noise        g = s where some labels are wrong                1/19
    beta         shift, log slope, asymmetry: the paper's curve   3/19
    lapse        shift, log slope, a floor and a ceiling          3/19
    spline       shift, log slope, smooth deviations              3/19

    w     = softmax(log prior + log evidence),  P(exactly calibrated) = w[identity]
    curve ~ of each hypothesis but the first so many draws as w says
    in a share w[identity] of the draws the model is exactly calibrated: every distance is 0

Signed numbers and the curve are read from all draws of the curve, which are given that the model is
not calibrated to the last digit: with exact calibration mixed in, one interval of O/E in eight
ended at exactly 1 in simulations of 50 000 cases. Distances, their probabilities, gains and
recommendations know the draws in which the model is exactly calibrated.

Where there are at most 20 distinct scores, with three cases each or more, smooth waves cannot be
told from risks of single scores: `saturated`, of which some are exactly right, has half of the
weight of `pieces`, and `lapse` that of `spline`. Scores of 0 and 1 are then read as they are.

The weights were chosen on 1 406 simulated data sets of over 70 kinds. `pieces` hold what is
calibrated in parts, `near` what is off by too little to matter, which exact calibration would take
for itself (of small errors at 50 000 cases, intervals of TCE covered .76 without it and .99 with),
`lapse` and `noise` wrong labels, and `spline` waves, where there are many patients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.model.curves import CURVES, EXACT, NEAR, Curve, Frame, in_average
from bayescal.model.pieces import OFTEN_CALIBRATED
from bayescal.model.problem import Problem
from bayescal.model.saturated.family import SATURATED, SOME_RISKS_EXACT

__all__ = [
    "WEIGHTS",
    "Shares",
    "on_scores",
    "problem_of",
    "recentred",
    "sample_prior",
    "shares_of",
    "weighed",
]

WEIGHTS = {"near": 2.0, "pieces": 7.0, "noise": 1.0, "beta": 3.0, "lapse": 3.0, "spline": 3.0}
"""Prior odds of the hypotheses other than exact calibration."""

NAMED = 3.0
"""Those of a family that has none by default, where it is asked for by name."""


class Shares(NamedTuple):
    """Shares of the hypotheses, each of shape (hypotheses,) and of sum 1.

    Attributes
    ----------
    posterior : ndarray
        By prior weight and evidence; that of exact calibration is its posterior probability.
    curves : ndarray
        Of the draws of the curve: the same, given that calibration is not exact.
    """

    posterior: Floats
    curves: Floats


def weighed(names: Iterable[str], *, are_named: bool) -> dict[str, float]:
    """Prior odds of families other than exact calibration.

    Parameters
    ----------
    names : iterable of str
    are_named : bool
        Whether the user asked for these: then each has some weight.
    """
    return {name: WEIGHTS.get(name, NAMED if are_named else 0.0) for name in names if name != EXACT}


def on_scores(weights: Mapping[str, float], problem: Problem) -> dict[str, float]:
    """The weights where there are few distinct scores, or these weights.

    Parameters
    ----------
    weights : mapping of str to float
        Of the families that were asked for.
    problem : Problem
        Of the average.
    """
    mixed = dict(weights)
    if not problem.frame.scores:
        return mixed
    if "pieces" in mixed:
        mixed["pieces"] /= 2
        mixed[SATURATED.name] = mixed["pieces"]
    if "spline" in mixed:
        takes = "lapse" if "lapse" in mixed else SATURATED.name
        mixed[takes] = mixed.get(takes, 0.0) + mixed.pop("spline")
    return mixed


def shares_of(weights: Mapping[str, float], log_evidence: Floats) -> Shares:
    """How many of the draws are of each hypothesis.

    Parameters
    ----------
    weights : mapping of str to float
        Prior probability of each, all positive.
    log_evidence : ndarray of shape (hypotheses,)
    """
    log_joint = np.log(list(weights.values())) + log_evidence
    exact = np.array([name == EXACT for name in weights])
    curves = softmax(np.where(exact, -np.inf, log_joint))
    return Shares(np.asarray(softmax(log_joint)), np.asarray(curves))


def problem_of(name: str, problem: Problem) -> Problem:
    """The problem of one hypothesis, from that of the average.

    `near` has a prior of its own, whatever the user's, which acts at the mean log-odds.
    """
    if name == NEAR:
        problem = problem.with_prior(replace(problem.prior, centre="mean"))
    return problem.of_family(CURVES[name])


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
    weights: Mapping[str, float], problem: Problem, rng: np.random.Generator, size: int
) -> tuple[Floats, NDArray[np.intp]]:
    """Prior draws in the union of coordinates, and the hypothesis of each.

    Parameters
    ----------
    weights : mapping of str to float
        Prior probabilities, which are scaled to sum to 1.
    problem : Problem
        Of the average.

    Returns
    -------
    u : ndarray of shape (size, coordinates of the average)
    part : ndarray of shape (size,)
    """
    share = np.array(list(weights.values()))
    part = rng.choice(share.size, size, p=share / share.sum())
    u = np.zeros((size, problem.curve.size))
    for index, name in enumerate(weights):
        rows = np.flatnonzero(part == index)
        if not rows.size:
            continue
        own = problem_of(name, problem)
        drawn = own.sample_prior(rng, rows.size, OFTEN_CALIBRATED, SOME_RISKS_EXACT)
        curve = CURVES[name]
        at_centre = recentred(curve, drawn, own.frame, problem.frame)
        u[rows] = in_average(curve, at_centre, problem.curve, problem.frame)
    return u, part
