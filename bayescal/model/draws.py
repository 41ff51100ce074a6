"""The hypotheses of an average, and draws of a curve in parts, one for each imputation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp, softmax

from bayescal.core.arrays import Floats
from bayescal.core.sampling import Sample
from bayescal.data.table import CalibrationData
from bayescal.model.curves import CURVES, EXACT, NEAR, in_average
from bayescal.model.pieces import OFTEN_CALIBRATED
from bayescal.model.problem import Problem
from bayescal.model.saturated import SATURATED, SOME_RISKS_EXACT

# Prior odds of the hypotheses other than exact calibration.
WEIGHTS = {"near": 2.0, "pieces": 7.0, "noise": 1.0, "beta": 3.0, "lapse": 3.0, "spline": 3.0}

# Those of a family that has none by default, where it is asked for by name.
NAMED = 3.0


class Shares(NamedTuple):
    """Shares of the hypotheses, each of shape (hypotheses,) and of sum 1.

    `posterior`: by prior weight and evidence; that of exact calibration is its posterior
    probability.
    """

    posterior: Floats
    curves: Floats  # of the draws of the curve: the same, given that calibration is not exact


def weighed(names: Iterable[str], *, are_named: bool) -> dict[str, float]:
    """Prior odds of families other than exact calibration.

    `are_named`: whether the user asked for these: then each has some weight.
    """
    return {name: WEIGHTS.get(name, NAMED if are_named else 0.0) for name in names if name != EXACT}


def on_scores(weights: Mapping[str, float], problem: Problem) -> dict[str, float]:
    """The weights where there are few distinct scores, or these weights.

    `weights`: of the families that were asked for; `problem`: of the average.
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

    `weights`: prior probability of each, all positive; `log_evidence` (hypotheses,).
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


def in_union(own: Problem, u: Floats, union: Problem) -> Floats:
    """A family's draws in the coordinates of an average, at its centre.

    At another centre they are the same curves, with another shift. `own`: the problem of the
    family, of whose coordinates `u` (draws, d) are; `union`: that of the average; returns (draws,
    coordinates of the average).
    """
    curve, centre = own.curve, union.frame.centre
    if own.frame.centre != centre and "shift" in curve.coordinates:
        at, unbounded = np.array([centre]), u.copy()
        unbounded[:, curve.rates] = 0
        gap = curve.log_odds(unbounded, at, own.frame) - curve.log_odds(unbounded, at, union.frame)
        u = u.copy()
        u[:, curve.coordinates.index("shift")] += gap[:, 0]
    return in_average(curve, u, union.curve, union.frame)


def sample_prior(
    weights: Mapping[str, float], problem: Problem, rng: np.random.Generator, size: int
) -> tuple[Floats, NDArray[np.intp]]:
    """Prior draws in the union of coordinates, and the hypothesis of each.

    `weights`: prior probabilities, which are scaled to sum to 1; `problem`: of the average; returns
    `u` (size, coordinates of the average); `part` (size,).
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
        u[rows] = in_union(own, drawn, problem)
    return u, part


CHAINS = 4
SAMPLE_STATS = ("pareto_k", "ess", "log_evidence", "log_evidence_error")

WORST: dict[str, Callable[[Sequence[float]], float]] = {
    "pareto_k": max, "ess": min, "log_evidence_error": max,
    "site_ess": min, "r_hat": max, "ess_bulk": min, "ess_tail": min, "divergences": sum,
}  # fmt: skip


@dataclass(frozen=True)
class Averaged:
    """Of which family each draw of the curve is, and which draws are of exact calibration.

    In `exact` draws distances are 0; what is read off the curve itself, which is given that
    calibration is not exact, uses all draws. `weights` are the prior probabilities of what was
    mixed, `asked` those of the families asked for, for some of which others stand where there are
    few scores.
    """

    weights: Mapping[str, float]
    asked: Mapping[str, float]
    prob_calibrated: float  # the posterior probability of exact calibration
    family: NDArray[np.intp]  # (draws,): index of the family of each draw among `families`
    exact: NDArray[Any]

    @property
    def families(self) -> dict[str, float]:
        """Prior probability of the other families, given that calibration is not exact."""
        families = {name: each for name, each in self.weights.items() if name != "identity"}
        total = sum(families.values())
        return {name: weight / total for name, weight in families.items()}


@dataclass(frozen=True, eq=False)
class OneOf:
    """Which of several curves a part is of.

    `key`: which it is, as JSON has it: at some levels, the average, a new level, or each case with
    its own; `is_new`: whether it is of a level that has not been seen: then it is not estimated but
    predicted.
    """

    title: str  # the level's name, or what stands in its place
    key: Mapping[str, Any]
    several: Any  # all curves, whose `tree` is stored with it
    is_new: bool = False
    has_outcomes: bool = True  # whether those of the part's table were observed


@dataclass(frozen=True, eq=False)
class Part:
    """Draws of the curve of one table, and what was fitted.

    `stats` has pareto_k, ess, log_evidence and its error; of NUTS what the sampler told, (chains,
    draws). `prior` makes prior draws, where they are not of the problem's prior. `of_several`: of
    one of several curves, the probability of exact calibration. `rows`: where functionals are
    evaluated, if each case has the curve of its own group. `law`: of the weights of rows, if not
    that of the table.
    """

    problem: Problem
    u: Floats  # (draws, d): working coordinates, chain by chain
    chains: int
    engine: str
    stats: Mapping[str, Any]
    averaged: Averaged | None = None
    prior: Callable[[], Floats] | None = None
    of_several: float | None = None
    rows: Problem | None = None
    law: Any = None
    one_of: OneOf | None = None  # which of several curves this is

    @classmethod
    def of_sample(cls, problem: Problem, sample: Sample, averaged: Averaged | None = None) -> Part:
        """An importance sample."""
        stats = {name: getattr(sample, name) for name in SAMPLE_STATS}
        return cls(problem, sample.draws, CHAINS, "importance", stats, averaged)

    def on(self, data: CalibrationData) -> Part:
        """The same draws over other scores, whose cases are independent."""
        return replace(self, problem=replace(self.problem, data=data), law=None, rows=None)

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration; None where it was not considered."""
        if self.averaged is not None:
            return self.averaged.prob_calibrated
        return self.of_several

    def draw_prior(self) -> tuple[Floats, NDArray[np.intp] | None]:
        """As many prior draws of the coordinates as there are of the posterior.

        Of an average, given that calibration is not exact, and with the family of each.
        """
        if self.prior is not None:
            return self.prior(), None
        rng, size = self.problem.rng("prior"), len(self.u)
        if self.averaged is None:
            return self.problem.sample_prior(rng, size), None
        return sample_prior(self.averaged.families, self.problem, rng, size)


def one_table(problems: Sequence[Problem]) -> Problem:
    """The table of all imputations, with the settings of the first."""
    first = problems[0]
    if len(problems) == 1:
        return first
    moved = float(np.mean([each.edges.moved for each in problems]))
    data = CalibrationData.from_imputations([each.data for each in problems])
    return replace(first, data=data, edges=first.edges._replace(moved=moved))


def worst_of(each: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of numbers that say how far draws can be trusted, the worst; the evidence is the mean."""
    told = {
        name: worst([float(one[name]) for one in each])
        for name, worst in WORST.items()
        if all(name in one for one in each)
    }
    if all("log_evidence" in one for one in each):
        evidence = [float(one["log_evidence"]) for one in each]
        told["log_evidence"] = float(logsumexp(evidence) - np.log(len(each)))
    return told


def at_centre(drawn: dict[str, Floats], own: float, centre: float) -> dict[str, Floats]:
    """Coordinates, with the shift that the same curve, or line of it, has at another centre."""
    if own == centre or "shift" not in drawn:
        return drawn
    slope, bend = (drawn.get(name, np.zeros(1)) for name in ("log_slope", "asymmetry"))
    line = np.exp(slope + bend / 2) * np.log(centre / own)
    line -= np.exp(slope - bend / 2) * (np.log1p(-centre) - np.log1p(-own))
    return drawn | {"shift": drawn["shift"] + line - float(logit(centre) - logit(own))}
