"""Draws of a curve, in parts: one for each table that was fitted, so one for each imputation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.sampling import Sample
from bayescal.data.table import CalibrationData
from bayescal.model.mixture import sample_prior
from bayescal.model.problem import Problem

__all__ = [
    "CHAINS",
    "SAMPLE_STATS",
    "Averaged",
    "OneOf",
    "Part",
    "at_centre",
    "one_table",
    "worst_of",
]

CHAINS = 4
SAMPLE_STATS = ("pareto_k", "ess", "log_evidence", "log_evidence_error")

WORST: dict[str, Callable[[Sequence[float]], float]] = {
    "pareto_k": max, "ess": min, "log_evidence_error": max,
    "site_ess": min, "r_hat": max, "ess_bulk": min, "ess_tail": min, "divergences": sum,
}  # fmt: skip


@dataclass(frozen=True)
class Averaged:
    """Of which family each draw of the curve is, and which draws are of exact calibration.

    Attributes
    ----------
    weights : mapping of str to float
        Prior probability of each family mixed, exact calibration included.
    asked : mapping of str to float
        The same of the families asked for; others stand for some where there are few scores.
    prob_calibrated : float
        The posterior probability of exact calibration.
    family : ndarray of int of shape (draws,)
        Index of the family of each draw among `families`.
    exact : ndarray of bool of shape (draws,)
        Draws in which the model is exactly calibrated, so many as that is probable: their distances
        are 0. What is read off the curve itself, which is given that it is not, uses all draws.
    """

    weights: Mapping[str, float]
    asked: Mapping[str, float]
    prob_calibrated: float
    family: NDArray[np.intp]
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

    Attributes
    ----------
    title : str
        The level's name, or what stands in its place.
    key : dict
        Which it is, as JSON has it: at some levels, the average, a new level, or each case with its
        own.
    several : Any
        All curves, whose `tree` is stored with it.
    is_new : bool
        Whether it is of a level that has not been seen: then it is not estimated but predicted.
    has_outcomes : bool
        Whether those of the part's table were observed.
    """

    title: str
    key: Mapping[str, Any]
    several: Any
    is_new: bool = False
    has_outcomes: bool = True


@dataclass(frozen=True, eq=False)
class Part:
    """Draws of the curve of one table, and what was fitted.

    Attributes
    ----------
    u : ndarray of shape (draws, d)
        Working coordinates, chain by chain.
    stats : dict
        Of importance sampling: pareto_k, ess, log_evidence and log_evidence_error. Of NUTS, what
        the sampler told of each draw, of shape (chains, draws).
    prior : ndarray of shape (draws, d), optional
        Prior draws of the coordinates, where they are not those of the problem's prior.
    of_several : float, optional
        Of one of several curves, the probability that it is exactly calibrated, as in some draws.
    rows : Problem, optional
        Where functionals are evaluated, if not at the rows of the problem: those of cases of which
        each has the curve of its own group.
    law : Bootstrap, optional
        Of the weights of rows, where it is not that of the cases or clusters of the table.
    one_of : OneOf, optional
        Which of several curves this is.
    """

    problem: Problem
    u: Floats
    chains: int
    engine: str
    stats: Mapping[str, Any]
    averaged: Averaged | None = None
    prior: Floats | None = None
    of_several: float | None = None
    rows: Problem | None = None
    law: Any = None
    one_of: OneOf | None = None

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
            return self.prior, None
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
