"""Times to an event: what each followed case tells, and when events come.

The steps of Q, the share of the events that have come by a time, have their likeliest values with
those of a smooth curve; at these each case has a log density and derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks, by_group
from bayescal.core.optimise import maximise
from bayescal.data.rows import add_up
from bayescal.data.times import FollowUp
from bayescal.model.cells import cell_edges, cell_of, gauss_of_groups, gauss_rule
from bayescal.model.curve import expit_in_place
from bayescal.model.law import TimeToEvent, late_of, log_without
from bayescal.model.problem import Problem
from bayescal.model.rows import NO_RATES, LikelihoodRows

# Of time, in an interval.
BINS_OF_INTERVAL = 4

# Entries past which those of neighbouring scores and times are put on two times.
MOST_ENTRIES = 1500
TIMES_OF_INTERVAL = 3

# In log-odds.
WIDEST_ROW, WIDEST_PANEL = 0.025, 0.15
STEPS_ROUNDS, NEAR_STEPS, NEAR_CURVE = 4, 1e-10, 1e-2
LONGEST_OF_STEPS = 3.0
Z_NODES = 24

# Bumps of the smooth curve: where, and how wide, in z; and the prior of their heights.
BUMPS, BUMP_SD, SD_OF_BUMPS = np.arange(-2.25, 2.5, 0.75), 0.75, 0.5


@dataclass(frozen=True)
class Partial:
    """Cases of which it is known that they had no event of any kind by some time.

    `weight` (entries,): effective cases; below zero where a case came under observation at that
    time, and so is one of those without an event by then.
    """

    row: NDArray[np.intp]  # (entries,): of the table
    x: Floats  # (entries,): log-odds of the scores
    step: Floats  # (entries,): that time, as steps of the grid of `FollowUp`; need not be whole
    weight: Floats

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.weight.size

    def bins(self, law: TimeToEvent) -> NDArray[np.intp]:
        """Bin of each entry, by its time and the sign of its weight."""
        interval, fraction = law.located(self.step)
        within = np.minimum((fraction * BINS_OF_INTERVAL).astype(np.intp), BINS_OF_INTERVAL - 1)
        return np.asarray((interval * BINS_OF_INTERVAL + within) * 2 + (self.weight < 0))


@dataclass(frozen=True)
class Entries:
    """All followed cases of a table, by row.

    `events` and `free` (rows,): cases with the event by the horizon, and those known to have none.
    `in_interval` (rows, classes): the events by interval; with competing events also the free cases
    by the interval of theirs, those without any last.
    """

    events: Floats
    free: Floats
    in_interval: tuple[Floats, ...]
    partial: Partial


def law_of(problem: Problem) -> TimeToEvent:
    """The likelihood of a problem of times to an event."""
    assert isinstance(problem.likelihood, TimeToEvent)
    return problem.likelihood


Made = TypeVar("Made")


def once(make: Callable[[Problem], Made]) -> Callable[[Problem], Made]:
    """What depends on the table of a problem alone, and on how it is read: made once, and kept."""

    @wraps(make)
    def known(problem: Problem) -> Made:
        followed, kept = problem.data.follow_up, law_of(problem).kept
        assert followed is not None
        of_table, rows = (followed.row, followed.weight), problem.table
        numbers = problem.most_rows, problem.data.weight_scale, float(rows.score @ rows.trials)
        key = make.__name__, *map(id, of_table), problem.edges, numbers
        stored = kept.get(key)
        if stored is None or any(a is not b for a, b in zip(stored[0], of_table, strict=True)):
            kept[key] = stored = of_table, make(problem)
        made: Made = stored[1]
        return made

    return known


@once
def entries_of(problem: Problem) -> Entries:
    """The followed cases of a problem's table, on the scale of effective cases."""
    followed, law = problem.data.follow_up, law_of(problem)
    assert followed is not None
    weight, rows = followed.weight * problem.data.weight_scale, problem.table.score.size
    event, early = followed.event, followed.left_early & (followed.exit > 0)
    free = ~event & ~followed.left_early
    interval = law.located(np.maximum(followed.exit, 1))[0]
    counted = [(event, interval, law.size)]
    if law.competes:
        none = np.where(followed.other, interval, law.size)
        counted.append((free, none, law.size + 1))
    late = followed.entry > 0
    row = np.concatenate([followed.row[early], followed.row[late]])
    step = np.concatenate([followed.exit[early], followed.entry[late]]).astype(np.float64)
    signed = np.concatenate([weight[early], -weight[late]])
    return Entries(
        add_up(followed.row[event], weight[event], rows),
        add_up(followed.row[free], weight[free], rows),
        tuple(
            add_up(followed.row[some] * size + at[some], weight[some], rows * size).reshape(
                rows, size
            )
            for some, at, size in counted
        ),
        Partial(row, np.asarray(logit(problem.table.score))[row], step, signed),
    )


def joined(each: Sequence[Entries]) -> Entries:
    """The followed cases of several tables, whose rows stand one after the other."""
    starts = np.cumsum([0, *(one.events.size for one in each)])
    parts = [one.partial for one in each]
    row = [part.row + start for part, start in zip(parts, starts, strict=False)]
    partial = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("x", "step", "weight")
    ]
    return Entries(
        np.concatenate([one.events for one in each]),
        np.concatenate([one.free for one in each]),
        tuple(map(np.concatenate, zip(*(one.in_interval for one in each), strict=True))),
        Partial(np.concatenate(row), *partial),
    )


@once
def grid_of(problem: Problem) -> Partial:
    """The entries of a problem that are known in part, or fewer in their place.

    Those of a narrow range of scores and one interval are put on three times, which keep their
    first six moments of time; each time has the mean log-odds that keeps what scores have to do
    with time. Q is linear in time within an interval, whatever its steps.
    """
    partial = entries_of(problem).partial
    if partial.size <= MOST_ENTRIES:
        return partial
    law = law_of(problem)
    key = cell_of(partial.x, _cut(_ends(problem), WIDEST_ROW)) * law.size
    interval = law.located(partial.step)[0]
    nodes = GroupNodes.of(key + interval, partial.weight, partial.step, TIMES_OF_INTERVAL)
    low, high = (nodes.over(choice, partial.x) for choice in (np.minimum, np.maximum))
    x = np.clip(nodes.sums(partial.x[None])[0] / nodes.weight, low, high)
    return Partial(nodes.over(np.minimum, partial.row), x, nodes.at, nodes.weight)


@once
def panels_of(problem: Problem) -> Floats:
    """Log-odds between panels of the scores, each a cell or, of a wide one, a part of it."""
    return _cut(_ends(problem), WIDEST_PANEL)


def _ends(problem: Problem) -> Floats:
    """Where cells of the scores begin and end."""
    score, trials = problem.table.score, problem.table.trials
    x = np.asarray(logit(score[[0, -1]]))
    return np.concatenate([x[:1], cell_edges(score, trials), x[1:]])


def _cut(ends: Floats, widest: float) -> Floats:
    """Inner ends of cells, with more of them in wide ones."""
    parts = np.maximum(np.ceil(np.diff(ends) / widest), 1).astype(int)
    each = zip(ends, ends[1:], parts, strict=False)
    return np.concatenate([np.linspace(low, high, n + 1)[1:] for low, high, n in each])[:-1]


@dataclass(frozen=True)
class GroupNodes:
    """How entries are split among nodes: of a Gauss rule in each group of one sign of weights.

    `shared` (count, entries): weight that each entry in that order gives to the nodes of its group.
    """

    order: NDArray[np.intp]  # (entries,)
    start: NDArray[np.intp]  # (groups,): where groups begin in that order
    shared: Floats
    some: NDArray[np.intp]  # (nodes,): which of all nodes have weight
    at: Floats  # (nodes,): the nodes
    weight: Floats  # (nodes,)

    @classmethod
    def of(cls, group: NDArray[np.intp], weight: Floats, at: Floats, count: int) -> GroupNodes:
        """At most `count` nodes of each group of entries, which are `at` some place."""
        signed = group * 2 + (weight < 0)
        order = by_group(signed)
        start, own = np.flatnonzero(np.diff(signed[order], prepend=-1)), weight[order]
        nodes, total, split = gauss_of_groups(at[order], np.abs(own), start, count)
        some = np.flatnonzero(total)
        total *= np.sign(own[start])[:, None]
        return cls(order, start, own * split.T, some, nodes.ravel()[some], total.ravel()[some])

    def sums(self, values: Floats) -> Floats:
        """Weighted sums over what nodes stand for, of values of shape (columns, entries)."""
        each = values[:, None, self.order] * self.shared
        sums = np.add.reduceat(each, self.start, axis=-1).transpose(0, 2, 1)
        return np.asarray(sums.reshape(len(values), -1)[:, self.some])

    def over(self, choice: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Of each node, the smallest or the largest value in its group."""
        chosen: NDArray[Any] = choice.reduceat(values[self.order], self.start)
        return chosen[self.some // len(self.shared)]


@dataclass(frozen=True)
class Share:
    """Q of one kind of event at entries, and its derivatives by a and c.

    `steps`, `by_score` (classes, entries): the steps of Q, and the derivatives of Q by their scores
    a + c z.
    """

    value: Floats  # (entries,)
    z: Floats  # (entries,)
    steps: Floats
    by_score: Floats

    @property
    def slope(self) -> Floats:
        """First derivatives, of shape (2 classes, entries)."""
        return _with_z(self.by_score, self.z)

    def bend_along(self, matrix: Floats) -> Floats:
        """Trace of the second derivatives of each entry times a symmetric matrix."""
        return np.asarray((self.by_score * _bend_of_spread(self.steps, self.z, matrix)).sum(axis=0))


@dataclass(frozen=True)
class Shares:
    """Q at entries, and V with competing events: see `TimeToEvent`."""

    each: tuple[Share, ...]

    @property
    def value(self) -> Floats:
        """Q: the share of those with the event by the horizon who had it by then."""
        return self.each[0].value

    @property
    def other(self) -> Floats:
        """V: the share of the others who had a competing event by then."""
        return self.each[1].value if len(self.each) > 1 else np.zeros_like(self.value)

    def late(self, g: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
        """Log probability of the entries, its gradient and Hessian by all a and c."""
        by, bends = [], []
        for each, fall in zip(self.each, self._falls(g), strict=True):
            by.append(_with_z(fall, each.z))
            crossed = (_with_z(each.steps, each.z) * weight) @ by[-1].T
            bends.append(_by_a_and_c(_moments(by[-1], each.z, weight), crossed + crossed.T))
        slopes, value = np.concatenate(by), float(log_without(g, self.value, self.other) @ weight)
        return value, -slopes @ weight, -_block_diagonal(bends) - (slopes * weight) @ slopes.T

    def slope_of_trace(self, g: Floats, weight: Floats, matrix: Floats) -> Floats:
        """Gradient of the trace of the information of the entries times a fixed matrix.

        Given that no event has come the classes have probabilities, too, q less how fast the log
        probability falls by their scores, and the information of a kind of event is that of one
        draw from q, less that of one from these. Two kinds have in common the product of their
        falls.
        """
        falls = self._falls(g)
        left = [each.steps - fall for each, fall in zip(self.each, falls, strict=True)]
        ends = np.cumsum([0, *(2 * len(fall) for fall in falls)])
        own, gradient = [slice(*pair) for pair in pairwise(ends)], []
        for k, each in enumerate(self.each):
            block, beside = matrix[own[k], own[k]], np.zeros(1)
            more = np.zeros(1)
            for j in [1 - k] * (len(falls) - 1):
                beside = 2 * _of_scores(matrix[own[k], own[j]], each.z, falls[j])
                others = _bend_of_spread(left[j], each.z, matrix[own[j], own[j]])
                more = (falls[j] * others).sum(axis=0) + (falls[k] * beside).sum(axis=0)
            by_score = more * falls[k]
            for q, sign in ((each.steps, 1), (left[k], -1)):
                by_score += sign * _along(q, _bend_of_spread(q, each.z, block) + beside)
            gradient.append(_with_z(by_score, each.z) @ weight)
        return np.concatenate(gradient)

    def _falls(self, g: Floats) -> list[Floats]:
        """How fast the log probability of entries falls by the scores of each kind of event."""
        without = 1 - (self.other + g * (self.value - self.other))
        both = zip((g, 1 - g), self.each, strict=False)
        return [(rate / without) * each.by_score for rate, each in both]


def _with_z(by_score: Floats, z: Floats) -> Floats:
    """Derivatives by a and c, from those by the scores a + c z, of shape (2 classes, n)."""
    return np.concatenate([by_score, z * by_score])


def _of_scores(matrix: Floats, z: Floats, values: Floats) -> Floats:
    """A matrix by a and c, read as one by the scores a + c z of each entry, times values there."""
    both = matrix @ _with_z(values, z)
    k = len(both) // 2
    return np.asarray(both[:k] + z * both[k:])


def _bend_of_spread(q: Floats, z: Floats, matrix: Floats) -> Floats:
    """Derivative by q of the trace of the covariance of one draw from q times a matrix."""
    k = len(q)
    diagonals = [np.diag(matrix[i : i + k, j : j + k]) for i, j in ((0, 0), (0, k), (k, k))]
    alone = np.stack(diagonals, axis=1) @ np.stack([np.ones_like(z), 2 * z, z * z])
    return np.asarray(alone - 2 * _of_scores(matrix, z, q))


def _along(q: Floats, direction: Floats) -> Floats:
    """How q moves if the scores of its softmax move so."""
    return np.asarray(q * (direction - (q * direction).sum(axis=0)))


def _moments(by: Floats, z: Floats, weight: Floats) -> Floats:
    """Weighted sums of values that are `by` a and c, times 1, z and z squared; (3, classes)."""
    k = len(by) // 2
    return np.concatenate([by @ weight, by[k:] @ (weight * z)]).reshape(3, k)


def _by_a_and_c(alone: Floats, crossed: Floats) -> Floats:
    """The matrix of what is `alone` (3, k) on diagonals, less what is `crossed` (2 k, 2 k).

    Of a, of a with c, and of c, which are sums with 1, z and z squared.
    """
    k, matrix = alone.shape[1], -crossed
    np.einsum("ikjk->ijk", matrix.reshape(2, k, 2, k))[...] += alone[[[0, 1], [1, 2]]]
    return matrix


def _softmax(at: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Softmax of a + c z, of shape (classes, n), and the log of its denominator, of shape (n,)."""
    a, c = at.reshape(2, -1, 1)
    q = a + c * z
    highest = q.max(axis=0)
    q -= highest
    np.exp(q, out=q)
    total = q.sum(axis=0)
    q /= total
    return q, np.log(total) + highest


class EventSums(NamedTuple):
    """What the likelihood of the steps needs of one kind of event, and the prior of its a and c."""

    sums: Floats  # (2 classes,): cases by class, and the sums of their z
    z: Floats  # (nodes,): nodes of a Gauss rule of the z of all these cases
    total: Floats  # (nodes,)
    centre: Floats  # (2 classes,): of the normal prior
    precision: Floats  # (2 classes,)

    def log_density(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Of prior and events, with its gradient and its negative Hessian."""
        (q, log_sum), away = _softmax(at, self.z), at - self.centre
        pull, both = self.precision * away, _with_z(q, self.z)
        value = float(self.sums @ at - self.total @ log_sum) - float(pull @ away) / 2
        fitted = _moments(both, self.z, self.total)
        slope = self.sums - fitted[:2].ravel() - pull
        information = _by_a_and_c(fitted, (both * self.total) @ both.T)
        information.ravel()[:: at.size + 1] += self.precision
        return value, slope, information

    def slope_of_trace(self, at: Floats, matrix: Floats) -> Floats:
        """Gradient of the trace of the negative Hessian times a fixed matrix."""
        q = _softmax(at, self.z)[0]
        return _with_z(_along(q, _bend_of_spread(q, self.z, matrix)), self.z) @ self.total


class Steps:
    """The likelihood of the steps: a and c, given the curve, and values `at` which it is expanded.

    Of events it is that of the interval in which they came, whatever the curve. Of cases that are
    known in part it depends on both. `at` has the a and c of the events, then those of competing
    ones; `constant`, `slope` and `information` are of prior and events there.
    """

    def __init__(
        self, law: TimeToEvent, events: Sequence[EventSums], at: Floats | None = None
    ) -> None:
        self.law, self._of = law, events
        ends = np.cumsum([0, *(each.centre.size for each in events)])
        self._own = [slice(*pair) for pair in pairwise(ends)]
        self.at = np.concatenate([each.centre for each in events]) if at is None else at
        self.constant, self.slope, self.information = self.of_events(self.at)

    def of_events(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Log density of prior and events, its gradient and its negative Hessian."""
        each = (of.log_density(at[own]) for of, own in zip(self._of, self._own, strict=True))
        value, slope, information = zip(*each, strict=True)
        return sum(value), np.concatenate(slope), _block_diagonal(information)

    def slope_of_trace(self, matrix: Floats) -> Floats:
        """Gradient here of the trace of the information of the events times a fixed matrix."""
        each = zip(self._of, self._own, strict=True)
        return np.concatenate(
            [of.slope_of_trace(self.at[own], matrix[own, own]) for of, own in each]
        )

    def shares(self, partial: Partial, at: Floats | None = None) -> Shares:
        """Q and V of entries, at these or other values."""
        return self.shares_of(partial)(self.at if at is None else at)

    def shares_of(self, partial: Partial) -> Callable[[Floats], Shares]:
        """The same at any values, with what does not depend on them done once."""
        z = np.asarray(self.law.standardised(partial.x))
        passed = [
            np.ascontiguousarray(self.law.passed(partial.step, each.centre.size // 2).T)
            for each in self._of
        ]

        def shares(at: Floats) -> Shares:
            each = []
            for own, by_then in zip(self._own, passed, strict=True):
                steps = _softmax(at[own], z)[0]
                value = np.einsum("kn,kn->n", by_then, steps)
                each.append(Share(value, z, steps, steps * (by_then - value)))
            return Shares(tuple(each))

        return shares

    def likeliest(self, partial: Partial, g: Floats) -> Steps:
        """The same, at the likeliest values given a curve by its values at the entries."""
        shares = self.shares_of(partial)

        def objective(at: Floats) -> tuple[float, Floats, Floats]:
            value, slope, information = self.of_events(at)
            late, by, bend = shares(at).late(g, partial.weight)
            return value + late, slope + by, bend - information

        best = maximise(objective, self.at, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS)
        return Steps(self.law, self._of, best.point)


class Timing(NamedTuple):
    """Likeliest steps beside a smooth curve, and that curve at the entries known in part."""

    steps: Steps
    curve: Floats


@once
def timing_of(problem: Problem) -> Timing:
    """The steps of a problem, at their likeliest values with those of a smooth curve.

    They depend on the table and on how scores of 0 and 1 are read, not on the family or the prior,
    and are computed once. The entries are those of `grid_of`.
    """
    entries, score = entries_of(problem), problem.table.score
    return likeliest_steps(law_of(problem), score, entries, grid_of(problem))


def steps_of(problem: Problem) -> Steps:
    """The steps of `timing_of`."""
    return timing_of(problem).steps


def likeliest_steps(law: TimeToEvent, score: Floats, entries: Entries, partial: Partial) -> Timing:
    """The steps at their likeliest values with those of a smooth curve of all cases.

    `score` (rows,); `entries`: of these rows; `partial`: those of the entries that are known in
    part, or nodes in their place.
    """
    z = law.standardised(np.asarray(logit(score)))
    steps = Steps(law, [_event_sums(each, z, law) for each in entries.in_interval])
    reference = _Reference(law, score, entries, partial)
    curve = reference.diagonal
    for _ in range(STEPS_ROUNDS):
        steps = steps.likeliest(partial, reference.at_partial(curve))
        if not partial.size:
            break
        before, curve = curve, reference.mode(curve, steps.shares(partial))
        if np.abs(before - curve).max() < NEAR_CURVE:
            break
    return Timing(steps, reference.at_partial(curve))


def _event_sums(in_interval: Floats, z: Floats, law: TimeToEvent) -> EventSums:
    centre, precision = law.prior_of_steps(in_interval.shape[1])
    total = in_interval.sum(axis=1)
    some = total > 0
    nodes, weight = z[some], total[some]
    if weight.size > Z_NODES:
        nodes, weight = gauss_rule(nodes, weight, Z_NODES)
    sums = np.concatenate([in_interval.sum(axis=0), z @ in_interval])
    return EventSums(sums, nodes, weight, centre, precision)


def sums_of_late(
    columns: Floats, weight: Floats, coefficients: Floats, share: Floats, other: Floats
) -> tuple[float, Floats, Floats]:
    """Log probability of no event by a time, summed over nodes, with gradient and Hessian."""
    basis = columns[1:]
    g = expit(columns[0] + coefficients @ basis)
    late, bend = late_of(g, share, other)
    value = float(log_without(g, share, other) @ weight)
    return value, -basis @ (late * weight), -(basis * (bend * weight)) @ basis.T


@dataclass(frozen=True)
class RowsGivenSteps(LikelihoodRows):
    """Cases whose outcome is known, as of known outcomes, and those that are known in part."""

    late: Floats  # (1 + k, entries): offset and basis at the entries that are known in part
    weight: Floats  # (entries,): of these entries
    share: Floats  # (entries,): Q and V at them
    other: Floats  # (entries,)

    def log_likelihood(self, coefficients: Floats, rates: Floats = NO_RATES) -> Floats:
        """As `LikelihoodRows.log_likelihood`."""
        value = super().log_likelihood(coefficients)
        for part in blocks(len(value), self.weight.size):
            g = expit_in_place(coefficients[part] @ self.late)
            value[part] += log_without(g, self.share, self.other) @ self.weight
        return value

    def derivatives(
        self, coefficients: Floats, rates: Floats = NO_RATES[0]
    ) -> tuple[float, Floats, Floats]:
        """As `LikelihoodRows.derivatives`."""
        value, gradient, information = super().derivatives(coefficients)
        late = sums_of_late(self.late, self.weight, coefficients, self.share, self.other)
        return value + late[0], gradient + late[1], information - late[2]


class _Reference:
    """A smooth curve, linear in log s, log(1 - s) and bumps, under a wide prior.

    `diagonal` (k,): the prior mean: exact calibration.
    """

    def __init__(self, law: TimeToEvent, score: Floats, entries: Entries, partial: Partial) -> None:
        columns, late = (_smooth_columns(law, x) for x in (np.asarray(logit(score)), partial.x))
        events, none = entries.events, np.zeros(partial.size)
        self._rows = RowsGivenSteps(
            *(columns, events + entries.free, columns[1:] @ events, 0.0),
            *(late, partial.weight, none, none),
        )
        self.diagonal = np.zeros(len(columns) - 1)
        self.diagonal[1:3] = 1
        self._precision = np.ones(self.diagonal.size)
        self._precision[3:] = SD_OF_BUMPS**-2

    def at_partial(self, curve: Floats) -> Floats:
        """The curve at the entries that are known in part."""
        return np.asarray(expit(curve @ self._rows.late[1:]))

    def mode(self, start: Floats, shares: Shares) -> Floats:
        """The likeliest curve, given Q and V at these entries."""
        rows = replace(self._rows, share=shares.value, other=shares.other)

        def objective(curve: Floats) -> tuple[float, Floats, Floats]:
            value, slope, information = rows.derivatives(curve)
            pull = self._precision * (curve - self.diagonal)
            value -= float(pull @ (curve - self.diagonal)) / 2
            return value, slope - pull, -information - np.diag(self._precision)

        return maximise(objective, start, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS).point


def _smooth_columns(law: TimeToEvent, x: Floats) -> Floats:
    """Offset and basis of a smooth curve at log-odds, of shape (1 + k, entries)."""
    z = law.standardised(x)
    line = np.stack([np.zeros(x.size), np.ones(x.size), -np.logaddexp(0, -x), np.logaddexp(0, x)])
    return np.concatenate([line, np.exp(-(((z - BUMPS[:, None]) / BUMP_SD) ** 2) / 2)])


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Square matrices along the diagonal of one."""
    if len(blocks) == 1:
        return blocks[0]
    ends = np.cumsum([len(each) for each in blocks])
    matrix = np.zeros((ends[-1], ends[-1]))
    for end, each in zip(ends, blocks, strict=True):
        matrix[end - len(each) : end, end - len(each) : end] = each
    return matrix


class ToldByCase(NamedTuple):
    """What one case of each entry of the follow-up tells of the log-odds of the curve.

    `slope`: of a known outcome observed less expected; `curvature`, negative second derivative, is
    below zero of some that left early; `spread`: expected square of the slope.
    """

    slope: Floats
    curvature: Floats
    spread: Floats


def told_by_cases(problem: Problem, g: Floats, steps: Steps | None = None) -> ToldByCase:
    """What one case of each entry tells.

    `problem`: of times to an event; `g` (entries,): a curve, at the score of each entry of the
    follow-up; `steps`: of several groups those that they have in common; by default those of this
    problem.
    """
    followed = problem.data.follow_up
    assert followed is not None
    score = problem.table.score[followed.row]
    return told_of(followed, score, g, steps or steps_of(problem))


def told_of(followed: FollowUp, score: Floats, g: Floats, steps: Steps) -> ToldByCase:
    """What one case of each entry of a follow-up tells.

    `score`, `g` (entries,): the score of each entry, inside 0 and 1, and a curve there.
    """
    event, left = followed.event, followed.left_early
    until_left = _by_then(score, np.where(left, followed.exit, 0), steps)
    until_entry = _by_then(score, followed.entry, steps)
    known = ~left
    own, other = (
        np.where(known, end, share) for end, share in zip((1.0, 0.0), until_left, strict=True)
    )
    late, bend = late_of(g, own, other)
    early, early_bend = late_of(g, *until_entry)
    slope = np.where(event, 1 - g, -late) + early
    curvature = np.where(known, g * (1 - g), bend) - early_bend
    without = 1 - until_entry[1] - g * (until_entry[0] - until_entry[1])
    of_event = g * (own - until_entry[0]) / without
    competes = np.where(known, 0.0, (1 - g) * (other - until_entry[1]) / without)
    rest = 1 - of_event - competes
    spread = of_event * (1 - g + early) ** 2 + competes * (early - g) ** 2
    spread += rest * (early - late) ** 2
    return ToldByCase(slope, curvature, np.maximum(spread, 0.0))


def expected_outcomes(problem: Problem, g: Floats) -> Floats:
    """Probability that one case of each entry has the event by the horizon, given what was seen.

    It is 0 or 1 of a case whose outcome is known, and g (1 - Q) / (1 - g Q - (1 - g) V) of one that
    left before.
    `problem`: of times to an event; `g` (entries,): a curve, at the score of each entry of the
    follow-up.
    """
    followed = problem.data.follow_up
    assert followed is not None
    left = followed.left_early
    score = problem.table.score[followed.row]
    own, other = _by_then(score, np.where(left, followed.exit, 0), steps_of(problem))
    later = g * (1 - own) / (1 - other - g * (own - other))
    return np.asarray(np.where(left, later, followed.event))


def log_density_by_entry(
    problem: Problem,
    log_odds: Floats,
    some: slice = slice(None),
    steps: Steps | None = None,
) -> Floats:
    """Log density (draws, entries) of one case of each entry, or some; see `cases_of_times`."""
    followed = problem.data.follow_up
    assert followed is not None
    score, steps = problem.table.score[followed.row], steps or steps_of(problem)
    x, event = log_odds[:, followed.row[some]], followed.event[some]
    left, density = followed.left_early, -np.logaddexp(0, np.where(event, -x, x))
    for of, step, sign in ((left, followed.exit, 1), (followed.entry > 0, followed.entry, -1)):
        at = of[some]
        if at.any():
            shares = _by_then(score, np.where(of, step, 0), steps)
            own, other = (share[some][at] for share in shares)
            beside = sign * log_without(expit(x[:, at]), own, other)
            density[:, at] = beside if sign > 0 else density[:, at] + beside
    return np.asarray(density)


def _by_then(score: Floats, step: NDArray[np.intp], steps: Steps) -> tuple[Floats, Floats]:
    """Q and V of each entry at a time of its own, 0 at the start."""
    some, own, other = step > 0, np.zeros(step.size), np.zeros(step.size)
    if some.any():
        x = np.log(score[some]) - np.log1p(-score[some])
        row, one = np.zeros(x.size, np.intp), np.ones(x.size)
        shares = steps.shares(Partial(row, x, step[some].astype(np.float64), one))
        own[some], other[some] = shares.value, shares.other
    return own, other


def cases_of_times(
    problem: Problem, u: Floats, steps: Steps | None = None
) -> tuple[Floats, Floats]:
    """Log density of one case of each kind (draws, kinds), and how many cases there are of it.

    At the likeliest steps of Q, which several groups may have in common. That an event came in its
    interval has the same density under every curve, and is left out.
    """
    entries, table = entries_of(problem), problem.table
    log_odds = problem.curves_at(problem.data.score).log_odds(u)
    partial = entries.partial
    left = partial.weight > 0
    had, free = entries.events > 0, entries.free > 0
    shares = (steps or steps_of(problem)).shares(partial)
    event, other = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    g = np.exp(event[:, partial.row])
    late = log_without(g, shares.value, shares.other)
    before = np.zeros((len(u), table.score.size))
    if (~left).any():  # the mean, in each row, of what being without an event at entry tells
        row, weight = partial.row[~left], partial.weight[~left]
        total = np.maximum(table.trials, np.bincount(row, -weight, table.score.size))
        np.add.at(before.T, row, (late[:, ~left] * (weight / total[row])).T)
    density = [event[:, had] + before[:, had], other[:, free] + before[:, free]]
    density.append(late[:, left] + before[:, partial.row[left]])
    count = np.concatenate([entries.events[had], entries.free[free], partial.weight[left]])
    return np.hstack(density), count
