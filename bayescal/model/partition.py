"""Sums over all ways to cut the scores into stretches, on the diagonal or off it. Arrays only.

In a stretch the curve is logit g = x + shift + slope * x with x = logit s, of one of four types:
shifted, a line, or a line that meets the diagonal at the stretch's left or right end. Evidences
are relative to that of the diagonal on the same cells.

A partition is a path from the first cell to the last. The sums run over where a stretch starts,
for each of three ways in which it can end: on the diagonal; off it with the diagonal next; or off
it otherwise. The path that never leaves the diagonal is left out of everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, logit, roots_legendre, stdtrit

from bayescal.core.arrays import Floats, blocks, by_group, log_sum
from bayescal.core.sampling import even_uniforms
from bayescal.model.cells import DEGREES as PRIOR_DEGREES
from bayescal.model.cells import (
    PRIOR_SCALES,
    WIDEST,
    Cover,
    Nodes,
    PartitionPrior,
    cell_of,
    cover_of_stretches,
    gauss_of_groups,
    log_prior,
    ranges,
    stretch_nodes,
)
from bayescal.model.curve import expit_in_place
from bayescal.model.law import BINOMIAL, tilted, untilted

SHIFT, LINE, LEFT, RIGHT = range(4)
TYPES = 4
STRETCHES_STEPS = 16

# Square of the last step to the mode, in posterior standard deviations. Points are spread far more
# widely, so that nearer is no better: log evidences move by less than .001.
NEAR_MODE = 0.01

# So that no cell is empty where all cases left early.
NO_CASE = 1e-9

# Of cases that had no event by some time, in a block of cells.
RATIOS_OF_BLOCK, NODES_OF_BLOCK = 3, 6

# Of a block of cells that is too wide.
MOST_PARTS = 64
LONGEST_STEP = 2.0  # in log-odds, anywhere in the stretch
STRETCHES_DEGREES = 5

# With fewer directions the evidence of stretches was 1 to 6 % too large, most with few cases; with
# ten it is exact to less than 1 %.
RINGS, SPOKES, LEVELS = 6, 10, 16
ON, BEFORE_ON, OFF = range(3)  # how a stretch ends
SMOOTHING = 0.4

# Axes of the steps that are summed over: the left neighbour, and the start.
BOTH = (-2, -1)
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Late:
    """Cases that have had no event by a time by which it would have come with probability g R."""

    x: Floats  # (entries,): log-odds of their scores, ascending
    weight: Floats  # (entries,): the weight is below zero of cases that came under observation then
    ratio: Floats  # (entries,)
    g: Floats  # (entries,): a curve near those that matter
    constant: float  # of the log likelihood

    def log_likelihood(self, g: Floats) -> Floats:
        """Of curves by their values at these scores."""
        return np.asarray(np.log(1 - g * self.ratio) @ self.weight) + self.constant


@dataclass(frozen=True)
class Stretches:
    """Evidences and points of all stretches.

    `index` (cells, cells): the stretch from the first cell (row) to the last (column), or -1.
    """

    cells: int
    index: Index
    log_evidence: Floats  # (TYPES, stretches): relative to the diagonal
    weight: tuple[Floats, ...]  # (stretches, points): of the points, of sum 1
    shift: tuple[Floats, ...]  # (stretches, points): the points, as coefficients of x
    slope: tuple[Floats, ...]  # (stretches, points)
    log_diagonal: float  # log likelihood of all outcomes on the diagonal


def stretch_evidences(
    score: Floats,
    trials: Floats,
    hits: Floats,
    edges: Floats,
    hinges: bool = False,
    late: Late | None = None,
) -> Stretches:
    """Integrate the likelihood of every stretch over its shift and slope.

    Scores ascend inside (0, 1); trials are positive and need not be whole. With `hinges` also over
    lines that meet the diagonal at an end; `late` are further cases, known to have had no event by
    some time.
    """
    x = logit(score)
    cell = cell_of(x, edges)
    cells = edges.size + 1
    first, last = np.triu_indices(cells)
    cover = cover_of_stretches(x, cell, first, last)
    of_late, log_diagonal = None, BINOMIAL.of_calibrated(score, trials, hits)
    if late is not None:
        log_diagonal += float(late.log_likelihood(expit(late.x)))
        of_late = _late_nodes(late, edges, cover, x)
        trials = trials + NO_CASE
    known = stretch_nodes(x, trials, hits, cover)
    likelihood = _OfStretches(known, of_late)
    # The log-odds at which the height of a line is little correlated with its slope.
    information = BINOMIAL.spread(trials, BINOMIAL.mean(x))
    sums = [
        np.append(0.0, np.cumsum(np.bincount(cell, information * v))) for v in (x, np.ones_like(x))
    ]
    centre = np.divide(*(below[last + 1] - below[first] for below in sums))
    ends = np.concatenate([[x[0]], edges, [x[-1]]])
    ones = np.ones(first.size)
    parts = [_integrate_slope(likelihood, 0 * ones, ones), _integrate_line(likelihood, centre)]
    if hinges:
        parts += [_integrate_slope(likelihood, ones, -end) for end in (ends[first], ends[last + 1])]
    else:
        none = np.zeros((first.size, 1))
        parts += 2 * [(np.full(first.size, -np.inf), none, none, none)]
    log_evidence, weight, shift, slope = zip(*parts, strict=True)
    index = np.full((cells, cells), -1)
    index[first, last] = np.arange(first.size)
    return Stretches(cells, index, np.array(log_evidence), weight, shift, slope, log_diagonal)


class _OfStretches:
    """Log likelihood ratio of all stretches at once, against the diagonal.

    Its nodes are those of cases whose outcome is known, of all stretches, and then of cases that
    had no event by some time, whose `hits` are ratios; `x` and `stretch` are of each node.
    """

    def __init__(self, known: Nodes, late: Nodes | None) -> None:
        self.known, self.late = known, late
        of_each = [known] if late is None else [known, late]
        self.x = np.concatenate([nodes.x for nodes in of_each])
        stretches = np.arange(known.size.size)
        self.stretch = np.concatenate([np.repeat(stretches, nodes.size) for nodes in of_each])
        self._of_known, self._of_late = slice(known.x.size), slice(known.x.size, None)
        self.hits, self.hits_x = (
            np.add.reduceat(each, known.start) for each in (known.hits, known.hits * known.x)
        )
        if late is not None:
            self._less, self._taken = -late.hits.astype(np.float32), -late.weight
        self.at_zero = self._sum(self._costs(self.x.copy()))

    def reach(self, variable: Floats) -> Floats:
        """The largest absolute value of a variable in each stretch."""
        return self._over(np.maximum, np.abs(variable))

    def derivatives(self, delta: Floats, *variables: Floats) -> list[Floats]:
        """Slope by each variable, then information times all products of two, by stretch."""
        mean = expit_in_place(self.x + delta)
        own = mean[self._of_known]
        slope = self.known.weight * own
        information = slope - slope * own
        np.subtract(self.known.hits, slope, out=slope)
        if self.late is not None:
            g, r, weight = mean[self._of_late], self.late.hits, self.late.weight
            fall = g * (1 - g) * r / (1 - g * r)
            bend = np.maximum(fall * (1 - 2 * g + fall) * weight, 0)
            slope = np.concatenate([slope, -fall * weight])
            information = np.concatenate([information, bend])
        slopes = [self._sum(slope * v) for v in variables]
        products = [
            self._sum(information * v * w)
            for k, v in enumerate(variables)
            for w in variables[: k + 1]
        ]
        return slopes + products

    def ratio(
        self, shift: Floats, slope: Floats, middle: Floats, directions: Floats, z: Floats
    ) -> Floats:
        """The ratio at points of every stretch, of shape (points, stretches).

        In log-odds the curve is `middle` (nodes,) from the diagonal at the mode, and moves by
        `directions` (d, nodes) for each unit of z (points, d).
        """
        out = shift * self.hits + slope * self.hits_x + self.at_zero
        path = np.vstack([directions, self.x + middle])
        steps = np.column_stack([z, np.ones(len(z))])
        for part in blocks(len(z), path.shape[1]):
            out[part] -= self._sum(self._costs(steps[part] @ path))
        return np.asarray(out)

    def _costs(self, log_odds: Floats) -> Floats:
        """What nodes take off the log likelihood, of curves (..., nodes); written over them."""
        own = log_odds[..., self._of_known]
        np.multiply(BINOMIAL.cost_near(own), self.known.weight, out=own)
        if self.late is not None:  # in single precision: the sums are weights of points
            late = log_odds[..., self._of_late]
            without = expit_in_place(late.astype(np.float32))
            without *= self._less
            np.multiply(np.log1p(without, out=without), self._taken, out=late)
        return log_odds

    def _sum(self, values: Floats) -> Floats:
        return self._over(np.add, values)

    def _over(self, operation: np.ufunc, values: Floats) -> Floats:
        """Over the nodes of each stretch, along the last axis."""
        known = operation.reduceat(values[..., self._of_known], self.known.start, axis=-1)
        if self.late is None:
            return np.asarray(known)
        late = operation.reduceat(values[..., self._of_late], self.late.start, axis=-1)
        return np.asarray(operation(known, late))


def _late_nodes(late: Late, edges: Floats, cover: Cover, x: Floats) -> Nodes:
    """Nodes of the cases of each stretch, whose `hits` are ratios.

    In each block of cells three ratios, those of a Gauss rule of `tilted` ones, and two scores at
    each. A block that is too wide is cut; one without cases has nodes without weight.
    """
    begin = np.concatenate([[0], np.searchsorted(late.x, edges), [late.x.size]])
    made = []
    for low, high in zip(cover.low, cover.high, strict=True):
        size = begin[high + 1] - begin[low]
        entry, block = ranges(begin[low], size), np.repeat(np.arange(low.size), size)
        middle = x[cover.start[low]]
        part = (late.x[entry] - middle[block]) / WIDEST
        part = np.clip(part, 0, MOST_PARTS - 1).astype(np.intp)
        key = (block * MOST_PARTS + part) * 2 + (late.weight[entry] < 0)
        order = np.argsort(key, kind="stable")
        start = np.flatnonzero(np.diff(key[order], prepend=-1))
        nodes = (
            _nodes_of_groups(late, entry[order], start)
            if start.size
            else np.empty((3, 0, NODES_OF_BLOCK))
        )
        empty = np.flatnonzero(size == 0)
        none = np.zeros((3, empty.size, NODES_OF_BLOCK))
        none[0] = middle[empty, None]
        of_block = np.concatenate([block[order][start], empty])
        order = np.argsort(of_block, kind="stable")
        columns = np.concatenate([nodes, none], axis=1)[:, order].reshape(3, -1)
        made.append((*columns, NODES_OF_BLOCK * np.bincount(of_block, minlength=low.size)))
    return cover.nodes(made)


def _nodes_of_groups(late: Late, entry: Index, start: Index) -> Floats:
    """Log-odds, weight and ratio of the nodes of groups, of shape (3, groups, nodes)."""
    g, x, ratio = late.g[entry], late.x[entry], late.ratio[entry]
    weight, sign = np.abs(late.weight[entry]), np.sign(late.weight[entry])[start]
    level = np.add.reduceat(weight * g, start) / np.add.reduceat(weight, start)
    at_entries = np.repeat(level, np.diff(start, append=entry.size))
    t, total, split = gauss_of_groups(tilted(ratio, at_entries), weight, start, RATIOS_OF_BLOCK)
    shared, safe = weight[:, None] * split, np.where(total > 0, total, 1)
    mean, square = (np.add.reduceat(shared * each[:, None], start) / safe for each in (x, x * x))
    ratios = untilted(t, level[:, None])
    away = np.sqrt(np.maximum(square - mean**2, 0))
    low, high = (edge.reduceat(x, start)[:, None] for edge in (np.minimum, np.maximum))
    at = np.clip(np.hstack([mean - away, mean + away]), low, high)
    shares = np.tile(sign[:, None] * total / 2, 2)
    return np.stack([at, shares, np.tile(ratios, 2)])


Part = tuple[Floats, Floats, Floats, Floats]


def _integrate_slope(likelihood: _OfStretches, slope: Floats, shift: Floats) -> Part:
    """Over one number t, with delta = t * (shift + slope * x)."""
    stretch = likelihood.stretch
    variable = shift[stretch] + slope[stretch] * likelihood.x
    reach = likelihood.reach(variable)
    t = np.zeros(shift.size)
    for _ in range(STRETCHES_STEPS):
        slope_t, information = likelihood.derivatives(t[stretch] * variable, variable)
        precision = information + _ridge(t)
        slope_t -= _ridge(t) * t
        step = slope_t / precision
        longest = np.abs(step) * reach
        t += step * np.minimum(1, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        if (step * slope_t).max() < NEAR_MODE:
            break
    z, log_volume = _levels()
    scale = 1 / np.sqrt(precision)
    points = t + z * scale
    middle, direction = t[stretch] * variable, scale[stretch] * variable
    density = likelihood.ratio(points * shift, points * slope, middle, direction[None], z)
    density += log_prior(points)
    density += log_volume - np.log(precision) / 2
    return _weighted(density, points * shift, points * slope)


def _integrate_line(likelihood: _OfStretches, centre: Floats) -> Part:
    """Over the height a at the centre c and the slope b: delta = a + b (x - c)."""
    stretch = likelihood.stretch
    variable = likelihood.x - centre[stretch]
    ones = np.ones(variable.size)
    reach = likelihood.reach(variable)
    a, b = np.zeros((2, centre.size))
    for _ in range(STRETCHES_STEPS):
        slope_a, slope_b, p, r, q = likelihood.derivatives(
            a[stretch] + b[stretch] * variable, ones, variable
        )
        p, q = p + _ridge(a), q + _ridge(b)
        slope_a -= _ridge(a) * a
        slope_b -= _ridge(b) * b
        determinant = p * q - r * r
        step_a = (q * slope_a - r * slope_b) / determinant
        step_b = (p * slope_b - r * slope_a) / determinant
        longest = np.abs(step_a) + np.abs(step_b) * reach
        damping = np.minimum(1, LONGEST_STEP / np.maximum(longest, LONGEST_STEP))
        a += damping * step_a
        b += damping * step_b
        if (step_a * slope_a + step_b * slope_b).max() < NEAR_MODE:
            break
    z, log_volume = _rings()
    scale_a, scale_b, tilt = 1 / np.sqrt(p), np.sqrt(p / determinant), r / p
    points_b = b + z[:, 1:] * scale_b
    points_a = a + z[:, :1] * scale_a - (points_b - b) * tilt
    shift = points_a - points_b * centre
    middle = a[stretch] + b[stretch] * variable
    directions = np.stack([scale_a[stretch], scale_b[stretch] * (variable - tilt[stretch])])
    density = likelihood.ratio(shift, points_b, middle, directions, z)
    density += log_prior(points_a) + log_prior(points_b)
    density += log_volume[:, None] - np.log(determinant) / 2
    return _weighted(density, shift, points_b)


def _ridge(x: Floats) -> Floats:
    """Weight of the prior in a step to the mode: that of a wide, heavy-tailed prior at x.

    The peak of the prior is left to the weights of the points, which are spread widely enough.
    """
    return np.asarray(1 / (PRIOR_SCALES[1] ** 2 + x * x / PRIOR_DEGREES))


def _weighted(log_density: Floats, shift: Floats, slope: Floats) -> Part:
    """Evidence, weights of sum 1, and the points, one row a stretch."""
    evidence = log_sum(log_density, axis=0)
    weight = np.ascontiguousarray(np.exp(log_density - evidence).T)
    return evidence, weight, np.ascontiguousarray(shift.T), np.ascontiguousarray(slope.T)


@cache
def _probabilities(size: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes in (0, 1), and their log weights."""
    node, weight = roots_legendre(size)
    return (node + 1) / 2, np.log(weight / 2)


@cache
def _levels() -> tuple[Floats, Floats]:
    """Quantiles of a Student-t for quadrature in its probability, and their log volumes."""
    probability, log_weight = _probabilities(LEVELS)
    z = stdtrit(STRETCHES_DEGREES, probability)[:, None]
    half = (STRETCHES_DEGREES + 1) / 2
    constant = gammaln(half) - gammaln(STRETCHES_DEGREES / 2)
    constant -= np.log(STRETCHES_DEGREES * np.pi) / 2
    log_density = constant - half * np.log1p(z**2 / STRETCHES_DEGREES)
    return z, log_weight[:, None] - log_density


@cache
def _rings() -> tuple[Floats, Floats]:
    """Points on rings for quadrature in the probability of a Student-t in the plane, log volumes.

    Every other ring is turned by half a spoke. The points mirror in either axis.
    """
    probability, log_weight = _probabilities(RINGS)
    ring, spoke = np.divmod(np.arange(RINGS * SPOKES), SPOKES)
    square = STRETCHES_DEGREES * ((1 - probability[ring]) ** (-2 / STRETCHES_DEGREES) - 1)
    angle = (spoke + 0.5 + 0.5 * (ring % 2)) * 2 * np.pi / SPOKES
    points = np.sqrt(square)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    log_density = -(STRETCHES_DEGREES + 2) / 2 * np.log1p(square / STRETCHES_DEGREES) - np.log(
        2 * np.pi
    )
    return points, log_weight[ring] - np.log(SPOKES) - log_density


@dataclass(frozen=True)
class PartitionSums:
    """Evidence of all partitions off the diagonal, and what draws of them need."""

    log_evidence: float  # log likelihood of the single outcomes, off the diagonal somewhere
    by_setting: Floats  # (settings,): the same at each combination of m and rho
    probability: Floats  # (settings,): posterior probability of each combination
    steps: Floats  # log weight of all paths to a stretch: see `partition_sums`
    stretches: Stretches
    hinge: float


@dataclass(frozen=True)
class PartitionDraws:
    """Draws of curves made of stretches: logit g = x + shift[cell] + slope[cell] * x."""

    shift: Floats  # (draws, cells): both exactly zero on the diagonal
    slope: Floats  # (draws, cells)
    setting: Index  # (draws,): the combination of m and rho that each draw is from


def partition_sums(stretches: Stretches, prior: PartitionPrior) -> PartitionSums:
    """Sum likelihood times prior over all partitions but the one that is all diagonal."""
    k = stretches.cells
    end, rho = prior.grid(k)
    stay = np.log1p(-end)
    off = _off_diagonal(stretches, prior.hinge)
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
    summed = log_sum(by_setting, axis=0)
    log_evidence, probability = float(summed - np.log(end.size)), np.exp(by_setting - summed)
    return PartitionSums(log_evidence, by_setting, probability, steps, stretches, prior.hinge)


def draw_partitions(sums: PartitionSums, draws: int, rng: np.random.Generator) -> PartitionDraws:
    """Draw partitions and curves, each stretch from the last to the first.

    Draws that have come the same way so far divide evenly among the ways on.
    """
    steps, k = sums.steps, sums.stretches.cells
    setting = np.sort(_systematic(sums.probability, draws, rng))
    tables = _Tables(_relative(steps.reshape(-1, 2 * k)))
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
) -> Floats:
    """Shift and slope of each stretch drawn, of shape (2, stretches)."""
    stretches = sums.stretches
    coefficients = np.zeros((2, start.size))
    index = stretches.index[start, stop - 1]
    kind = np.full(start.size, -1)
    for side in (0, 1):
        for end in (BEFORE_ON, OFF):
            mine = np.flatnonzero((neighbour == side) & (state == end))
            if mine.size:
                by_type = _by_type(stretches, side, end, sums.hinge).T
                kind[mine] = _Tables(_relative(by_type)).draw(index[mine], rng)
    for type_ in range(TYPES):
        mine = np.flatnonzero(kind == type_)
        if mine.size:
            values = stretches.shift[type_], stretches.slope[type_]
            of_type = _smoothed(stretches.weight[type_], values, index[mine], rng)
            coefficients[:, mine] = of_type
    return coefficients


def _smoothed(
    weight: Floats, values: tuple[Floats, ...], row: Index, rng: np.random.Generator
) -> Floats:
    """Shifts and slopes of the stretches given, from the weighted points of a type, smoothed.

    Two points are drawn and combined so that mean and covariance stay as they are.
    """
    order, tables = by_group(row), _Tables(weight)
    row = row[order]
    first, second = (tables.draw_ascending(row, rng, axis) for axis in (1, 2))
    drawn = np.empty((len(values), row.size))
    for own, points in zip(drawn, values, strict=True):
        mean = np.vecdot(weight, points)[row]
        kept = np.sqrt(1 - SMOOTHING**2) * (points[row, first] - mean)
        own[order] = mean + kept + SMOOTHING * (points[row, second] - mean)
    return drawn


def _relative(log_weight: Floats) -> Floats:
    """Weights over the largest of each row; rows without any stay so."""
    top = log_weight.max(axis=1, keepdims=True)
    top[~np.isfinite(top)] = 0.0
    return np.asarray(np.exp(log_weight - top))


class _Tables:
    """Discrete distributions, one a row of weights; rows without weight cannot be drawn."""

    def __init__(self, weight: Floats) -> None:
        cumulative = np.cumsum(weight, axis=1)
        cumulative /= np.where(cumulative[:, -1:] > 0, cumulative[:, -1:], 1.0)
        cumulative += np.arange(len(cumulative))[:, None]
        self.columns, self.cumulative = cumulative.shape[1], cumulative.ravel()

    def draw(self, row: Index, rng: np.random.Generator) -> Index:
        """One column for each of the rows given, evenly among those of one row."""
        order, drawn = by_group(row), np.empty(row.size, dtype=np.intp)
        drawn[order] = self.draw_ascending(row[order], rng, 0)
        return drawn

    def draw_ascending(self, row: Index, rng: np.random.Generator, axis: int) -> Index:
        """The same of ascending rows, where a search begins near the last one's end."""
        uniform = even_uniforms(np.arange(row.size), rng, axis)
        wanted = row + (1 - 1e-9) * uniform  # or it may reach the next row
        return np.asarray(
            np.searchsorted(self.cumulative, wanted, side="right") - row * self.columns
        )


def _systematic(probability: Floats, draws: int, rng: np.random.Generator) -> Index:
    """Indices in proportion to their probability, in random order."""
    cumulative = np.cumsum(probability)
    steps = (np.arange(draws) + rng.random()) / draws * cumulative[-1]
    index = np.minimum(np.searchsorted(cumulative, steps), probability.size - 1)
    return np.asarray(rng.permutation(index))
