"""Exact sums over all partitions of the cells into stretches, and draws of partitions.

A partition is a path from the first cell to the last. The sums run over where a stretch starts,
for each of three ways in which it can end: on the diagonal; off it with the diagonal next; or off
it otherwise. The path that never leaves the diagonal is left out of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, by_group, log_sum
from bayescal.core.sampling import even_uniforms
from bayescal.model.partition.cells import PartitionPrior
from bayescal.model.partition.stretches import LEFT, LINE, RIGHT, SHIFT, TYPES, Stretches

__all__ = [
    "PartitionDraws",
    "PartitionSums",
    "assemble",
    "draw_partitions",
    "partition_sums",
    "sums_by_prior",
    "type_weights",
]

ON, BEFORE_ON, OFF = range(3)  # how a stretch ends
SMOOTHING = 0.4
# Axes of the steps that are summed over: the left neighbour, and the start.
BOTH = (-2, -1)

Index = NDArray[np.intp]


@dataclass(frozen=True)
class PartitionSums:
    """Evidence of all partitions off the diagonal, and what draws of them need.

    `log_evidence`: log likelihood of the single outcomes, given that the curve leaves the diagonal
    somewhere.
    """

    log_evidence: float
    by_setting: Floats  # (settings,): the same at each combination of m and rho
    probability: Floats  # (settings,): posterior probability of each combination
    _steps: Floats
    _stretches: Stretches
    _points: tuple[_Points, ...]
    _prior: PartitionPrior


@dataclass(frozen=True)
class PartitionDraws:
    """Draws of curves made of stretches: logit g = x + shift[cell] + slope[cell] * x."""

    shift: Floats  # (draws, cells): both exactly zero on the diagonal
    slope: Floats  # (draws, cells)
    setting: Index  # (draws,): the combination of m and rho that each draw is from


def partition_sums(stretches: Stretches, prior: PartitionPrior) -> PartitionSums:
    """Sum likelihood times prior over all partitions but the one that is all diagonal."""
    (sums,) = sums_by_prior(stretches, [prior])
    return sums


def sums_by_prior(stretches: Stretches, priors: Sequence[PartitionPrior]) -> list[PartitionSums]:
    """The sums of `partition_sums` under each prior, in one pass where their hinges are the same.

    `stretches`: one set serves every prior.
    """
    if len({prior.hinge for prior in priors}) > 1:
        return [partition_sums(stretches, prior) for prior in priors]
    k = stretches.cells
    grids = [prior.grid(k) for prior in priors]
    end, rho = (np.concatenate(each) for each in zip(*grids, strict=True))
    stay = np.log1p(-end)
    off = _off_diagonal(stretches, priors[0].hinge)
    # steps[setting, end state, stop - 1, left neighbour, start]: log weight of all paths whose
    # last stretch is cells start..stop-1; the left neighbour is ON, or off the diagonal or none
    steps = np.full((end.size, 3, k, 2, k), -np.inf)
    starts = np.full((end.size, 3, k), -np.inf)  # of a stretch: on, off after on, off otherwise
    starts[:, 0, 0] = np.log(rho / (1 + rho))
    starts[:, 2, 0] = -np.log1p(rho)
    to_on, from_on, to_off = np.log(end * rho), np.log(end), np.log(end * (1 - rho))
    for stop in range(1, k + 1):
        before = np.arange(stop)
        length = stay[:, None] * (stop - 1 - before)
        steps[:, ON, stop - 1, 0, :stop] = starts[:, 0, :stop] + length
        start = starts[:, 1:, :stop] + length[:, None]
        steps[:, BEFORE_ON:, stop - 1, :, :stop] = start[:, None] + off[:, :, stop - 1, :stop]
        if stop < k:
            reached = log_sum(steps[:, :, stop - 1, :, :stop], BOTH)
            starts[:, 0, stop] = reached[:, BEFORE_ON] + to_on
            starts[:, 1, stop] = reached[:, ON] + from_on
            starts[:, 2, stop] = reached[:, OFF] + to_off
    steps[:, ON, k - 1, 0, 0] = -np.inf  # the diagonal throughout
    total = log_sum(log_sum(steps[:, :, k - 1], BOTH)[:, [ON, OFF]], axis=1)
    diagonal = rho / (1 + rho) * np.exp((k - 1) * stay)
    by_setting = total - np.log1p(-diagonal) + stretches.log_diagonal
    borders = np.cumsum([ends.size for ends, _ in grids])[:-1]
    parts = zip(np.split(by_setting, borders), np.split(steps, borders), priors, strict=True)
    points = tuple(_Points(stretches, type_) for type_ in range(TYPES))
    return [_of_prior(*part, stretches, points) for part in parts]


def _of_prior(
    by_setting: Floats,
    steps: Floats,
    prior: PartitionPrior,
    stretches: Stretches,
    points: tuple[_Points, ...],
) -> PartitionSums:
    total = log_sum(by_setting, axis=0)
    log_evidence = float(total - np.log(by_setting.size))
    probability = np.exp(by_setting - total)
    return PartitionSums(log_evidence, by_setting, probability, steps, stretches, points, prior)


def draw_partitions(sums: PartitionSums, draws: int, rng: np.random.Generator) -> PartitionDraws:
    """Draw partitions and curves, each stretch from the last to the first.

    Draws that have come the same way so far divide evenly among the ways on.
    """
    steps, stretches = sums._steps, sums._stretches
    k = stretches.cells
    setting = np.sort(_systematic(sums.probability, draws, rng))
    tables = _Tables(steps.reshape(-1, 2 * k))
    last = np.stack([log_sum(steps[:, :, k - 1], BOTH)[:, state] for state in (ON, OFF)], axis=1)
    largest = last.max(axis=1)
    either, off = (np.exp(each - largest)[setting] for each in (np.logaddexp(*last.T), last[:, 1]))
    state = np.where(even_uniforms(by_group(setting), rng) * either < off, OFF, ON)
    stop = np.full(draws, k)
    active = np.arange(draws)
    rows: list[list[Index]] = []
    while active.size:
        row = (setting[active] * 3 + state) * k + stop - 1
        neighbour, start = np.divmod(tables.draw(row, rng), k)
        rows.append([active, start, stop, state, neighbour])
        left = np.where(neighbour == 0, ON, OFF)
        state = np.where(state == ON, BEFORE_ON, left)
        unfinished = start > 0
        active, state, stop = active[unfinished], state[unfinished], start[unfinished]
    draw, start, stop, state, neighbour = (np.concatenate(part) for part in zip(*rows, strict=True))
    shift, slope = _coefficients(sums, start, stop, state, neighbour, rng)
    mixed = rng.permutation(draws)
    return assemble(mixed[draw], start, stop, shift, slope, setting[np.argsort(mixed)], k)


def assemble(
    draw: Index,
    start: Index,
    stop: Index,
    shift: Floats,
    slope: Floats,
    setting: Index,
    cells: int,
) -> PartitionDraws:
    """Coefficients by cell, from those of the stretches of every draw, in any order."""
    at = np.full(setting.size * cells, -1)
    at[draw * cells + start] = np.arange(draw.size)
    order = at[at >= 0]
    length = (stop - start)[order]
    return PartitionDraws(
        np.repeat(shift[order], length).reshape(-1, cells),
        np.repeat(slope[order], length).reshape(-1, cells),
        setting,
    )


def type_weights(on_left: bool, on_right: bool, hinge: float) -> Floats:
    """Probability of each type of a stretch off the diagonal, given its neighbours.

    A hinge whose neighbour is not on the diagonal is a line.
    """
    weights = np.zeros(TYPES)
    weights[SHIFT] = weights[LINE] = (1 - hinge) / 2
    weights[LEFT if on_left else LINE] += hinge / 2
    weights[RIGHT if on_right else LINE] += hinge / 2
    return weights


def _by_type(stretches: Stretches, neighbour: int, state: int, hinge: float) -> Floats:
    """Log of prior probability times evidence, of shape (TYPES, stretches)."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(type_weights(neighbour == 0, state == BEFORE_ON, hinge))
    return np.asarray(log_weights[:, None] + stretches.log_evidence)


def _off_diagonal(stretches: Stretches, hinge: float) -> Floats:
    """Log evidence of each stretch, types summed: (end state, left neighbour, last, first)."""
    k = stretches.cells
    out = np.full((2, 2, k, k), -np.inf)
    for neighbour in (0, 1):
        for state in (BEFORE_ON, OFF):
            evidence = log_sum(_by_type(stretches, neighbour, state, hinge), axis=0)
            out[state - 1, neighbour] = np.where(
                stretches.index >= 0, evidence[stretches.index], -np.inf
            ).T
    return out


def _coefficients(
    sums: PartitionSums,
    start: Index,
    stop: Index,
    state: Index,
    neighbour: Index,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Shift and slope of each stretch drawn."""
    stretches, prior = sums._stretches, sums._prior
    shift, slope = np.zeros((2, start.size))
    index = stretches.index[start, stop - 1]
    kind = np.full(start.size, -1)
    for side in (0, 1):
        for end in (BEFORE_ON, OFF):
            mine = np.flatnonzero((neighbour == side) & (state == end))
            if mine.size:
                by_type = _by_type(stretches, side, end, prior.hinge).T
                kind[mine] = _Tables(by_type).draw(index[mine], rng)
    for type_ in range(TYPES):
        mine = np.flatnonzero(kind == type_)
        if mine.size:
            shift[mine], slope[mine] = sums._points[type_].draw(index[mine], rng)
    return shift, slope


class _Points:
    """The weighted points of all stretches of one type; draws under any prior are of the same."""

    def __init__(self, stretches: Stretches, type_: int) -> None:
        self._log_weight = stretches.log_weight[type_]
        self._values = stretches.shift[type_], stretches.slope[type_]

    @cached_property
    def _tables(self) -> _Tables:
        return _Tables(self._log_weight)

    @cached_property
    def _means(self) -> list[Floats]:
        weight = np.exp(self._log_weight)
        return [np.einsum("ij,ij->i", weight, values) for values in self._values]

    def draw(self, row: Index, rng: np.random.Generator) -> list[Floats]:
        """Shifts and slopes of the stretches given, from their weighted points, smoothed.

        Two points are drawn and combined so that mean and covariance stay as they are.
        """
        order = by_group(row)
        first, second = (self._tables.draw_in(order, row, rng, axis) for axis in (1, 2))
        drawn = []
        for values, means in zip(self._values, self._means, strict=True):
            mean = means[row]
            kept = np.sqrt(1 - SMOOTHING**2) * (values[row, first] - mean)
            drawn.append(mean + kept + SMOOTHING * (values[row, second] - mean))
        return drawn


class _Tables:
    """Discrete distributions, one a row of log weights; rows without weight cannot be drawn."""

    def __init__(self, log_weight: Floats) -> None:
        top = log_weight.max(axis=1, keepdims=True)
        weight = np.exp(log_weight - np.where(np.isfinite(top), top, 0.0))
        cumulative = np.cumsum(weight, axis=1)
        cumulative /= np.where(cumulative[:, -1:] > 0, cumulative[:, -1:], 1.0)
        self.columns = log_weight.shape[1]
        self.cumulative = (cumulative + np.arange(cumulative.shape[0])[:, None]).ravel()

    def draw(self, row: Index, rng: np.random.Generator) -> Index:
        """One column for each of the rows given, evenly among those of one row."""
        return self.draw_in(by_group(row), row, rng, 0)

    def draw_in(self, order: Index, row: Index, rng: np.random.Generator, axis: int) -> Index:
        """The same, where the order by rows is known; another number of each draw by axis."""
        below_one = (1 - 1e-9) * even_uniforms(order, rng, axis)  # or it may reach the next row
        wanted, position = row + below_one, np.empty(row.size, dtype=np.intp)
        # A search is fast where the last one ended.
        position[order] = np.searchsorted(self.cumulative, wanted[order], side="right")
        return np.asarray(position - row * self.columns)


def _systematic(probability: Floats, draws: int, rng: np.random.Generator) -> Index:
    """Indices in proportion to their probability, in random order."""
    cumulative = np.cumsum(probability)
    steps = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    index = np.minimum(np.searchsorted(cumulative, steps), probability.size - 1)
    return np.asarray(rng.permutation(index))
