"""Several curves of times to an event: when events come, which all groups have in common.

The fast engines draw the curves given the likeliest steps of Q. These draws are then weighted by
what integrating over the steps adds to their likelihood, all groups together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.sampling import Sample, resample
from bayescal.model.curve import expit_in_place
from bayescal.model.law import log_without
from bayescal.model.rows import columns_at
from bayescal.model.times import Partial
from bayescal.model.times_rows import Correction
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem

ROOM_OF_STEPS = 1 << 22
EVEN_WEIGHTS = 1e-9


def log_over_steps(problem: MultilevelProblem, groups: Sequence[Floats] | Floats) -> Floats:
    """What integrating over the steps of Q adds to the log likelihood of all groups.

    And what all nodes add to the coarse ones, which `densities` has. Where cases come in
    clusters, both are those of the curves at which the likelihood of independent cases is read;
    exact calibration has what it has without clusters.
    """
    if not problem.adjustments:
        return _of_curves(problem, _curves(problem, groups))
    still = [np.zeros((1, problem.pooled.curve.size))] * len(problem.labels)
    calibrated = _curves(problem, still)
    added = _of_curves(problem, calibrated) - _of_curves(problem, _read(problem, calibrated))
    return np.asarray(_of_curves(problem, _read(problem, _curves(problem, groups))) + added)


def _curves(problem: MultilevelProblem, groups: Sequence[Floats] | Floats) -> list[Floats]:
    """Coefficients of the curve of each group, after that of the offset."""
    return [problem.pooled.curve.with_offset(u) for u in groups]


def _read(problem: MultilevelProblem, curves: Sequence[Floats]) -> list[Floats]:
    """Where the likelihood of independent cases is read, for the curves of groups of clusters."""
    read = [each.copy() for each in curves]
    for k, adjustment in problem.adjustments.items():
        read[k][:, 1:] = adjustment.read_at(read[k][:, 1:])
    return read


def _of_curves(problem: MultilevelProblem, curves: Sequence[Floats]) -> Floats:
    """What integrating over the steps adds for independent cases, by coefficients."""
    shared, size = problem.shared_steps, len(curves[0])
    every, coarse = (_Stacked(problem, nodes) for nodes in (shared.partial, shared.coarse))
    rooms = max(every.partial.size, 1), ROOM_OF_STEPS
    first = every.values(curves, next(iter(blocks(size, *rooms))))
    correction = Correction(shared.steps, every.partial, first.mean(axis=0))
    fewer = shared.steps.shares(coarse.partial)
    added = np.empty(size)
    for some in blocks(size, *rooms):
        at_nodes, at_few = every.values(curves, some), coarse.values(curves, some)
        added[some] = correction.log_likelihood(at_nodes)
        added[some] -= log_without(at_few, fewer.value, fewer.other) @ coarse.partial.weight
    return added


class _Stacked:
    """Nodes of all groups, one group after the other."""

    def __init__(self, problem: MultilevelProblem, nodes: dict[int, Partial]) -> None:
        names, each = ("row", "x", "step", "weight"), list(nodes.values())
        columns = (np.concatenate([getattr(part, name) for part in each]) for name in names)
        self.partial = Partial(*columns)
        self._columns = {k: columns_at(problem.pooled, part.x) for k, part in nodes.items()}

    def values(self, curves: Sequence[Floats], some: slice) -> Floats:
        """Curves of the groups at the nodes, by the coefficients of some of the draws."""
        each = [curves[k][some] @ columns for k, columns in self._columns.items()]
        return expit_in_place(np.hstack(each))


def over_steps(drawn: MultilevelDraws) -> MultilevelDraws:
    """Draws given the likeliest steps of Q, weighted by what integrating over the steps adds.

    Draws of outcomes that are known are as they were, and those of which no case left early.
    """
    problem, stats = drawn.problem, drawn.stats
    if not problem.pooled.of_times:
        return drawn
    rows, log_mean, left = _weighed(problem, log_over_steps(problem, drawn.groups))
    added = {"log_evidence": stats["log_evidence"] + log_mean, "ess": stats["ess"] * left}
    return replace(drawn if rows is None else drawn.taken(rows), stats=stats | added)


def over_steps_of_sample(
    problem: MultilevelProblem, sample: Sample, groups: Sequence[Floats]
) -> Sample:
    """The same of a sample, of whose draws `groups` has the coordinates of each group."""
    if not problem.pooled.of_times:
        return sample
    rows, log_mean, left = _weighed(problem, log_over_steps(problem, groups))
    draws, log_evidence = sample.draws, sample.log_evidence + log_mean
    if rows is not None:
        draws = draws[rows]
    return Sample(
        draws, log_evidence, sample.log_evidence_error, sample.pareto_k, sample.ess * left
    )


def _weighed(
    problem: MultilevelProblem, log_weight: Floats
) -> tuple[NDArray[np.intp] | None, float, float]:
    """Which draws are kept, if not all, the log mean weight, and the share of draws it leaves."""
    largest = float(log_weight.max())
    weights = np.exp(log_weight - largest)
    left = float(weights.sum() ** 2 / (weights**2).sum()) / weights.size
    rows = None
    if np.ptp(weights) > EVEN_WEIGHTS:
        rows = resample(weights, weights.size, problem.pooled.rng("steps"))
    return rows, largest + float(np.log(weights.mean())), left


def identity_of_times(problem: MultilevelProblem) -> float:
    """Log likelihood of exact calibration of every group, the steps of Q integrated out."""
    still = [np.zeros((1, problem.pooled.curve.size))] * len(problem.labels)
    groups = [problem.labels.index(label) for label in problem.tables]
    value = float(log_over_steps(problem, still)[0])
    for density in problem.densities(groups).values():
        value += float(density.log_likelihood(still[0])[0])
    return value
