"""How far scores are from calibrated ones: a linear programme, a monotone path and a partition."""

from __future__ import annotations

from bisect import bisect
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.data.table import Table
from bayescal.estimators.metric import Metric, positions

__all__ = [
    "Cells",
    "best_partition",
    "bounded_error",
    "cells_of",
    "lower_distance",
    "smooth_error",
]

MOST_CUTS = 512
PROGRAMMES_TOLERANCE = 1e-9
FARTHEST_LOG_ODDS, FINE = 27.7, 1 << 16


class Cells(NamedTuple):
    """Cases by score, in ascending order.

    Attributes
    ----------
    score : ndarray of shape (cells,)
        Mean score of each cell.
    share : ndarray of shape (cells,)
        Of the cases.
    starts : ndarray of int of shape (cells,)
        Where each begins among the distinct scores.
    """

    score: Floats
    share: Floats
    starts: NDArray[np.intp]
    table: Table

    def events(self, outcomes: NDArray[Any]) -> Floats:
        """Share of the cases that are events in each cell, of shape (replicates, cells)."""
        hits = self.table.hits(outcomes)
        if self.starts.size < hits.shape[1]:
            hits = np.add.reduceat(hits, self.starts, axis=1)
        return hits / self.table.total


def cells_of(table: Table, most: int, metric: Metric = "identity") -> Cells:
    """Distinct scores if there are no more than `most`, else equal intervals of the metric."""
    score, trials, starts = table.score, table.trials, np.arange(table.score.size)
    if score.size > most:
        spot = score
        if metric != "identity":
            spot = positions(score, metric)
            spot = (spot - spot[0]) / (np.ptp(spot) or 1.0)
        cell = np.minimum((spot * most).astype(np.intp), most - 1)
        starts = np.flatnonzero(np.concatenate([[True], cell[1:] != cell[:-1]]))
        sums = np.add.reduceat(trials * score, starts)
        trials = np.add.reduceat(trials, starts)
        score = np.minimum(sums / trials, 1)
    return Cells(score, trials / table.total, starts, table)


def lower_distance(
    score: Floats,
    share: Floats,
    events: Floats,
    resolution: int,
    metric: Metric = "identity",
    outcome_cost: float = np.inf,
) -> float:
    """Least transport from (score, outcome) to calibrated (u, outcome), u on a grid or a score.

    By duality it is the largest sum of share_y(s) h_y(s) over functions h_0 and h_1 of slope at
    most 1 in the metric, no farther apart than the cost of another outcome, with
    (1 - u) h_0(u) + u h_1(u) <= 0 at every u. Without another metric or outcome that implies
    -u <= h_0(u) <= u and u - 1 <= h_1(u) <= 1 - u. Heights, and shares, are counted in units that
    make them about 1.
    """
    u = np.union1d(_grid(resolution, metric), score)
    at = np.searchsorted(u, score)
    gain = np.zeros((2, u.size))
    gain[:, at] = resolution * (share - events), resolution * events
    gap = np.diff(positions(u, metric))
    steps, slopes = u.size - 1, 2 * (u.size - 1)
    rise = sparse.diags_array(
        [np.full(steps, -1.0), np.ones(steps)], offsets=[0, 1], shape=(steps, u.size)
    )
    below = [sparse.diags_array(1 - u), sparse.diags_array(u)]
    rules, most = [below], [np.zeros(u.size)]
    if metric == "identity" and np.isinf(outcome_cost):
        height = resolution * np.concatenate([u, 1 - u])
    else:
        height = np.full(2 * u.size, np.inf)
    if np.isfinite(outcome_cost):
        same = sparse.eye_array(u.size)
        rules += [[same, -same], [-same, same]]
        most += 2 * [np.full(u.size, resolution * outcome_cost)]
    bounds = np.concatenate([height, np.ones(slopes)])
    solved = linprog(
        -np.concatenate([gain.ravel(), np.zeros(slopes)]),
        A_eq=sparse.hstack(
            [
                sparse.block_diag([rise, rise]),
                sparse.diags_array(np.tile(-resolution * gap, 2)),
            ],
            format="csc",
        ),
        b_eq=np.zeros(slopes),
        A_ub=sparse.hstack(
            [
                sparse.block_array(rules, format="csc"),
                sparse.csc_array((len(rules) * u.size, slopes)),
            ],
            format="csc",
        ),
        b_ub=np.concatenate(most),
        bounds=np.stack([-bounds, bounds], axis=1),
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": PROGRAMMES_TOLERANCE,
            "dual_feasibility_tolerance": PROGRAMMES_TOLERANCE,
        },
    )
    if solved.status != 0:
        raise RuntimeError(f"the linear programme was not solved: {solved.message}")
    return max(0.0, -float(solved.fun) / resolution**2)


def _grid(resolution: int, metric: Metric) -> Floats:
    """Scores at equal steps; in a metric, also at equal steps of it."""
    even = np.linspace(0, 1, resolution + 1)
    if metric == "identity":
        return even
    fine = np.union1d(expit(np.linspace(-FARTHEST_LOG_ODDS, FARTHEST_LOG_ODDS, FINE)), even)
    position = positions(fine, metric)
    steps = np.linspace(position[0], position[-1], resolution + 1)
    return np.union1d(even, np.interp(steps, position, fine))


def smooth_error(score: Floats, residual: Floats) -> float:
    """Largest sum of residual w(score) over functions w of slope and size at most 1.

    It is `bounded_error` of the scores' own distances, which are at most 1 in all, so that w need
    not reach both 1 and -1. With the running sum R of
    the residuals, ending at T >= 0 (else all signs are changed), it is
    T + min over rising paths M from 0 to T of the integral of |R - M| over the scores.
    """
    path = np.cumsum(residual)
    total = path[-1]
    if total < 0:
        path, total = -path, -total
    gap, path = np.diff(score), path[:-1]
    clipped = np.clip(path, 0, total)
    return float(total + gap @ np.abs(path - clipped) + _monotone_misfit(clipped, gap))


def bounded_error(gap: Floats, residual: Floats) -> float:
    """Largest sum of residual w over w of size at most 1 that change by at most each gap.

    By duality it is the least total variation of a path M from 0 to the sum of the residuals, plus
    the integral over the gaps of |R - M|, with R the running sum of the residuals. The least cost
    of a path up to each gap is a convex function of its height, whose slopes go from -1 to 1 after
    each step; its corners are kept in order, each with the change of the slope there.
    """
    path = np.cumsum(residual)
    corners, weights = [0.0], [2.0]
    low, high = np.zeros((2, gap.size))
    for step, (height, cost) in enumerate(zip(path[:-1].tolist(), gap.tolist(), strict=True)):
        at = bisect(corners, height)
        corners.insert(at, height)
        weights.insert(at, 2 * cost)
        low[step] = _cut(corners, weights, 0, cost)
        high[step] = _cut(corners, weights, -1, cost)
    level = total = float(path[-1])
    varied = misfit = 0.0
    for step in range(gap.size - 1, -1, -1):
        nearest = min(max(level, low[step]), high[step])
        varied += abs(level - nearest)
        misfit += gap[step] * abs(path[step] - nearest)
        level = nearest
    return float(varied + abs(level) + misfit) if gap.size else abs(total)


def _cut(corners: list[float], weights: list[float], end: int, weight: float) -> float:
    """Take weight off corners at one end, and give the corner where it is used up."""
    while len(weights) > 1 and weights[end] <= weight:
        weight -= weights.pop(end)
        corners.pop(end)
    weights[end] -= weight
    return corners[end]


def _monotone_misfit(values: Floats, weights: Floats) -> float:
    """Least weighted sum of |values - M| over paths M that never fall.

    M takes values of the path alone. Whether it is above the middle one of those that it may have
    in a stretch depends only on which values are, and splits the stretch in two, each with half
    of them; all stretches are split at once.
    """
    if values.size == 0:
        return 0.0
    new = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    weight = np.add.reduceat(weights, new)
    levels, rank = np.unique(values[new], return_inverse=True)
    size, low, high = np.array([[rank.size], [0], [levels.size - 1]])
    cost = 0.0
    while size.size:
        middle, stop = (low + high) // 2, np.cumsum(size)
        split = _split(np.where(rank > np.repeat(middle, size), weight, -weight), stop - size)
        size = np.stack([split, size - split], axis=1).ravel()
        low = np.stack([low, middle + 1], axis=1).ravel()
        high = np.stack([middle, high], axis=1).ravel()
        unsettled = (low < high) & (size > 0)
        settled, level = np.repeat(~unsettled, size), np.repeat(low, size)
        distance = np.abs(levels[rank[settled]] - levels[level[settled]])
        cost += float(weight[settled] @ distance)
        rank, weight = rank[~settled], weight[~settled]
        size, low, high = size[unsettled], low[unsettled], high[unsettled]
    return cost


def _split(steps: Floats, start: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many steps to take in each stretch, from none to all, to come down the farthest."""
    size = np.diff(start, append=steps.size)
    before = np.cumsum(steps) - steps
    last = start + size - 1
    least = np.minimum.reduceat(before, start)
    lowest = np.flatnonzero(before == np.repeat(least, size))
    first = lowest[np.searchsorted(lowest, start)]
    return np.where(before[last] + steps[last] < least, size, first - start)


def best_partition(score: Floats, share: Floats, events: Floats) -> float:
    """Least mean |score - mean outcome of its bin| over bins of neighbouring cells.

    Bins are cut anywhere between 512 cells or fewer, else at 512 spots of equal shares.
    """
    cases, sums, hits = (
        np.concatenate([[0.0], np.cumsum(values)]) for values in (share, share * score, events)
    )
    cuts = np.arange(cases.size)
    if score.size > MOST_CUTS:
        cuts = np.unique(np.searchsorted(cases, np.linspace(0, cases[-1], MOST_CUTS + 1)))
    best = np.zeros(cuts.size)
    for stop in range(1, cuts.size):
        first, last = cuts[:stop], cuts[stop]
        mass = cases[last] - cases[first]  # 0 of weights below the rounding of their sum
        rate = np.minimum((hits[last] - hits[first]) / np.where(mass > 0, mass, 1), 1)
        middle = np.clip(np.searchsorted(score, rate), first, last)
        below = rate * (cases[middle] - cases[first]) - (sums[middle] - sums[first])
        above = (sums[last] - sums[middle]) - rate * (cases[last] - cases[middle])
        best[stop] = np.min(best[:stop] + below + above)
    return float(best[-1])
