"""Distance to calibration, by linear programmes (Blasiok et al. 2023)."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count
from bayescal.core.optimise import log_odds_of
from bayescal.core.text import documented, shortened
from bayescal.data.rows import Levels, levels_of
from bayescal.estimators import registry
from bayescal.estimators.registry import OutcomesLike, Statistic

# The name of a function of the score, or the function itself.
Metric: TypeAlias = str | Callable[[Floats], Any]

METRICS: dict[str, Callable[[Floats], Any]] = {"identity": np.copy, "logit": log_odds_of}
METRIC_LARGEST = 1e9


def as_metric(metric: Any) -> Metric:
    """A metric that is known, or a function."""
    if callable(metric):
        function: Callable[[Floats], Any] = metric
        return function
    if isinstance(metric, str) and metric in METRICS:
        return metric
    raise InputError(
        "metric must be one of 'identity', 'logit', or an increasing function of scores, got "
        f"{shortened(repr(metric))}."
    )


def positions(scores: Floats, metric: Metric) -> Floats:
    """H of each score; log-odds of scores nearer than 1e-12 to 0 or 1 are those of 1e-12."""
    if isinstance(metric, str):
        return np.asarray(METRICS[metric](scores))
    try:
        values = np.asarray(metric(scores.copy()), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"metric does not take an array of scores: {error}") from error
    if values.shape != scores.shape or not (np.abs(values) <= METRIC_LARGEST).all():
        raise InputError(
            "metric must give a number from -1e9 to 1e9 for each score. Where it is infinite at 0 "
            "or 1, clip the scores."
        )
    order = np.argsort(scores, kind="stable")
    if (np.diff(values[order]) < 0).any():
        raise InputError("metric must increase with the score.")
    return values


MOST_CUTS = 512
PROGRAMMES_TOLERANCE = 1e-9
FARTHEST_LOG_ODDS, FINE = 27.7, 1 << 16


class Cells(NamedTuple):
    """Cases by score, ascending: mean score, share of cases, and first of the distinct scores."""

    score: Floats
    share: Floats
    starts: NDArray[np.intp]
    table: Levels

    def events(self, outcomes: NDArray[Any]) -> Floats:
        """Share of the cases that are events in each cell, of shape (replicates, cells)."""
        hits = self.table.hits(outcomes)
        if self.starts.size < hits.shape[1]:
            hits = np.add.reduceat(hits, self.starts, axis=1)
        return hits / self.table.total


def cells_of(table: Levels, most: int, metric: Metric = "identity") -> Cells:
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
    from scipy.optimize import linprog

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

    As `bounded_error` of the scores' own distances, at most 1 in all. With the running sum R of the
    residuals, ending at T >= 0 (else signs change), T + min over rising paths M from 0 to T of the
    integral of |R - M| over the scores.
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

    M takes values of the path alone. Whether it is above the middle one in a stretch depends only
    on which values are, and splits the stretch in two, each with half of them; all are split at
    once.
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


FINEST, FINEST_IN_METRIC = 1 << 20, 1 << 16
CHEAPEST, DEAREST = 1e-3, 1e3
RESOLUTIONS = (16, 8192)


class DistanceBounds(NamedTuple):
    """What the distance to calibration lies between.

    Attributes
    ----------
    lower, upper : float or ndarray
        One for each replicate when outcomes have leading dimensions.
    """

    lower: Any
    upper: Any


def _over_cells(
    scores: Floats,
    weights: Floats | None,
    distance: Callable[[Cells, Floats], float],
    most: int,
    metric: Metric = "identity",
) -> Statistic:
    """A distance of each set of outcomes, of so many cells at most."""
    cells = cells_of(levels_of(scores, weights), most, metric)
    return lambda outcomes: np.array([distance(cells, each) for each in cells.events(outcomes)])


def _lower_core(
    scores: Floats,
    weights: Floats | None,
    *,
    resolution: int,
    metric: Metric = "identity",
    outcome_cost: float = math.inf,
) -> Statistic:
    """Core of `lower_distance_to_calibration`."""

    def distance(cells: Cells, events: Floats) -> float:
        return lower_distance(cells.score, cells.share, events, resolution, metric, outcome_cost)

    return _over_cells(scores, weights, distance, resolution, metric)


def _weak_core(scores: Floats, weights: Floats | None, *, metric: Metric = "identity") -> Statistic:
    """Core of `weak_calibration_error`."""

    def distance(cells: Cells, events: Floats) -> float:
        residual = events - cells.share * cells.score
        if metric == "identity":
            return smooth_error(cells.score, residual)
        return bounded_error(np.diff(positions(cells.score, metric)), residual)

    most = FINEST if metric == "identity" else FINEST_IN_METRIC
    return _over_cells(scores, weights, distance, most, metric)


def _partition_core(scores: Floats, weights: Floats | None) -> Statistic:
    def distance(cells: Cells, events: Floats) -> float:
        return best_partition(cells.score, cells.share, events)

    return _over_cells(scores, weights, distance, FINEST)


@registry.estimator(
    "Lower distance to calibration",
    prepare=_lower_core,
    paper="Blasiok, Gopalan, Hu & Nakkiran 2023",
    estimates="least mean move of the scores to calibrated ones, outcomes known",
    span=(0, 1),
    bound="below the distance to calibration, and TCE of order 1 in the population",
    cost="n log n, and a linear programme",
    dear="Cases are summed in cells after the sort; the linear programme takes as long for "
    "any number of cases.",
)
def lower_distance_to_calibration(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    resolution: int = 1024,
    metric: Metric = "identity",
    outcome_cost: float = math.inf,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Lower distance to calibration: the least mean move that makes the scores calibrated.

    min E|s - u| over all joint laws of score s, outcome y and a new score u that leave the law of
    (s, y) as it is and have P(y = 1 | u) = u. The move may depend on chance and on the outcome.

    With an `outcome_cost` c, outcomes may change as well: min E|s - u| + c P(v != y) over joint
    laws of (s, y) and (u, v) with P(v = 1 | u) = u. With c = 1 that is the distance to calibration
    as Błasiok & Nakkiran define it in any metric.

    Parameters
    ----------
    %(replicated_cases)s
    resolution : int
        Intervals of the grid of new scores, from 16 to 8192.
    metric : {"identity", "logit"} or callable
        An increasing function h, so that a move costs |h(s) - h(u)|, as in `smooth_ece`.
    outcome_cost : float
        What it costs to change an outcome, more than 0; without limit by default.
    %(weights)s

    Returns
    -------
    float or ndarray
        From 0 to 1, in another metric to the distance of 0 from 1; one for each replicate when
        `y_true` has leading dimensions.

    Notes
    -----
    A linear programme, solved for each replicate. New scores are the grid's points and the scores
    themselves, which makes the value too large by at most 1 / (2 resolution^2), or 5e-7. More
    distinct scores than `resolution` are first put together in its intervals, each at its mean,
    which changes the value by at most 1 / (2 resolution), and in practice by far less.

    It is the distance of the sample, and so above 0 for a calibrated model: about 0.02 for 200
    uniform scores, 0.005 for 10,000. Within a factor of 2 either way it is
    `weak_calibration_error`, which is much faster.

    Where moves cost |s - u|, a cost of 1 or more for an outcome changes nothing: the two functions
    of the dual programme are between -u and u, and u - 1 and 1 - u, and so no more than 1 apart.
    The authors show as much up to a constant (Claim 33).

    In another metric the grid has as many equal steps of the metric too, and the bound of the error
    does not hold.

    References
    ----------
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023.
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, definitions 1 and 6.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.lower_distance_to_calibration([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.lower_distance_to_calibration([0, 1], [0.45, 0.55]), 4)
    0.045
    >>> round(
    ...     estimators.lower_distance_to_calibration([0, 1], [0.05, 0.55], metric="logit"), 4
    ... )
    1.1389
    """
    cost = registry.as_between(outcome_cost, "outcome_cost", CHEAPEST, math.inf)
    return registry.evaluate(
        _lower_core,
        registry.read_ranked(y_true, y_prob, sample_weight),
        resolution=as_count(resolution, "resolution", *RESOLUTIONS),
        metric=as_metric(metric),
        outcome_cost=math.inf if cost > DEAREST else cost,
    )


@registry.estimator(
    "Weak calibration error",
    prepare=_weak_core,
    paper="Kakade & Foster 2008; Blasiok, Gopalan, Hu & Nakkiran 2023",
    estimates="the largest mean of residuals weighed by a function of slope and size at most 1",
    span=(0, 1),
    bound="from half to twice the lower distance to calibration; below TCE in the population",
    dear="Running sums at a million heights are split in two some twenty times after the sort.",
)
def weak_calibration_error(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Smooth calibration error, or weak calibration: residuals against a Lipschitz function.

    max E[(y - s) w(s)] over w from [0, 1] to [-1, 1] with |w(s) - w(s')| <= d(s, s'), where
    d(s, s') = |s - s'| or, in another metric, |h(s) - h(s')|.

    Parameters
    ----------
    %(replicated_cases)s
    metric : {"identity", "logit"} or callable
        An increasing function h, as in `smooth_ece`.
    %(weights)s

    %(returns_share)s

    Notes
    -----
    It is no relative of `smooth_ece`, which smooths by a kernel, but for both being small together:
    with d the lower distance to calibration, d / 2 <= smooth calibration error <= 2 d.

    The maximum is exact, by its dual: the running sum of the residuals is fitted by a path that
    never falls, by halving the heights that it may have. More than 2^20 distinct scores are put
    together in as many intervals, which changes the value by at most 1e-6. In another metric it is
    as exact, up to 2^16 distinct scores; more are put together in as many intervals of the metric.

    In the metric of the log-odds it says by how much a map of the log-odds of slope at most 1 can
    lower the log score, up to constants and a root (section 5 of Błasiok & Nakkiran). Their Theorem
    22 prints d <= smooth calibration error for d / 2, which two cases refute: of outcomes 0 and 1
    at .45 and .55 the distance is .045 and this error .0225.

    References
    ----------
    Kakade & Foster, "Deterministic Calibration and Nash Equilibrium", Journal of Computer and
    System Sciences 74, 2008.
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023,
    section 7.
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, definition 14.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.weak_calibration_error([0, 1, 1, 1], [0.5] * 4), 4)
    0.25
    >>> round(estimators.weak_calibration_error([0, 1], [0.45, 0.55]), 4)
    0.0225
    >>> round(estimators.weak_calibration_error([0, 1], [0.45, 0.55], metric="logit"), 4)
    0.0903
    """
    cases = registry.read_ranked(y_true, y_prob, sample_weight)
    return registry.evaluate(_weak_core, cases, metric=as_metric(metric))


@documented
def distance_bounds(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    resolution: int = 1024,
    sample_weight: ArrayLike | None = None,
) -> DistanceBounds:
    """Bounds of the distance to calibration, which scores and outcomes alone do not settle.

    The distance is min E|s - u| over models u that see what the model of s saw and are calibrated.
    At least it is the lower distance, whose u may see the outcome too; at most
    min E|s - E[y | bin of s]| over ways to cut the scores into bins, whose u sees the score only.

    Parameters
    ----------
    %(replicated_cases)s
    resolution : int
        As in `lower_distance_to_calibration`.
    %(weights)s

    Returns
    -------
    DistanceBounds
        A named tuple (lower, upper), of the distance in the sample.

    Notes
    -----
    The upper bound is the least over all bins of neighbouring scores, by dynamic programming; more
    than 512 distinct scores may be cut at 512 places of equal shares. With all places open it is
    at most 4 times the root of the lower distance.

    Two cases, scored 1/2 - e without and 1/2 + e with the event, have the lower bound e (1 - 2 e)
    and the upper bound e, for e up to 1/4.

    References
    ----------
    Blasiok, Gopalan, Hu & Nakkiran, "A Unifying Theory of Distance from Calibration", STOC 2023.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> lower, upper = estimators.distance_bounds(y_true, y_prob)
    >>> round(lower, 4), round(upper, 4)
    (0.0034, 0.014)
    """
    cases = registry.read_ranked(y_true, y_prob, sample_weight)
    lower = registry.evaluate(
        _lower_core, cases, resolution=as_count(resolution, "resolution", *RESOLUTIONS)
    )
    return DistanceBounds(lower, registry.evaluate(_partition_core, cases))
