"""Times to an event: what each followed case tells, and when events come.

The steps of Q, the share of the events that have come by a time, have their likeliest values with
those of a smooth curve; at these each case has a log density and derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import maximise
from bayescal.data.rows import add_up
from bayescal.data.times import FollowUp
from bayescal.model.cells import cell_edges, cell_of, gauss_of_groups, gauss_rule
from bayescal.model.law import TimeToEvent, late_of, log_without
from bayescal.model.problem import Problem

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
        found = kept.get(key)
        if found is None or any(a is not b for a, b in zip(found[0], of_table, strict=True)):
            kept[key] = found = of_table, make(problem)
        made: Made = found[1]
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
    order, start = in_order(key + law.located(partial.step)[0], partial.weight)
    weight, row = partial.weight[order], partial.row[order]
    step, total, split = gauss_of_groups(
        partial.step[order], np.abs(weight), start, TIMES_OF_INTERVAL
    )
    shared = np.abs(weight)[:, None] * split
    x = mean_of_nodes(partial.x[order], shared, total, start)
    some = np.flatnonzero(total)
    total *= np.sign(weight[start])[:, None]
    of = row[start][some // TIMES_OF_INTERVAL]
    return Partial(of, x.ravel()[some], step.ravel()[some], total.ravel()[some])


def mean_of_nodes(values: Floats, shared: Floats, total: Floats, start: NDArray[np.intp]) -> Floats:
    """Means of a value over what nodes stand for, no farther out than those of the entries.

    `values` (entries,): in groups that begin at `start`; `shared` (entries, count): weight that
    each entry gives to the nodes of its group; may be below zero; `total` (groups, count): weight
    of the nodes.
    """
    low, high = (edge.reduceat(values, start)[:, None] for edge in (np.minimum, np.maximum))
    sums = np.add.reduceat(shared * values[:, None], start)
    return np.clip(sums / np.where(total > 0, total, 1), low, high)


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


def in_order(key: NDArray[np.intp], weight: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Entries in the order of a key and of the sign of their weight, and where groups begin."""
    signed = key * 2 + (weight < 0)
    order = np.argsort(signed, kind="stable")
    return order, np.flatnonzero(np.diff(signed[order], prepend=-1))


@dataclass(frozen=True)
class Share:
    """Q of one kind of event at entries, and its derivatives by a and c.

    `steps`, `by_score` (entries, classes): the steps of Q, and the derivatives of Q by their scores
    a + c z.
    """

    value: Floats  # (entries,)
    z: Floats  # (entries,)
    steps: Floats
    by_score: Floats

    @property
    def slope(self) -> Floats:
        """First derivatives, of shape (entries, 2 classes)."""
        return np.hstack([self.by_score, self.z[:, None] * self.by_score])

    def summed_bend(self, weight: Floats) -> Floats:
        """Weighted sum of the second derivatives, of shape (2 classes, 2 classes)."""
        powers = weight * _powers(self.z)
        cross = (self.steps.T * powers[:, None]) @ self.by_score
        return _by_a_and_c(powers @ self.by_score, cross + cross.transpose(0, 2, 1))

    def bend_along(self, matrix: Floats) -> Floats:
        """Trace of the second derivatives of each entry times a symmetric matrix."""
        k, total = self.steps.shape[1], np.zeros(self.z.size)
        first, beside, second = matrix[:k, :k], matrix[:k, k:], matrix[k:, k:]
        for power, block in enumerate((first, beside + beside.T, second)):
            along = self.by_score @ np.diag(block) - 2 * np.vecdot(
                self.steps @ block, self.by_score
            )
            total += self.z**power * along
        return total


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

    @property
    def slope(self) -> list[Floats]:
        """First derivatives of each, by its own coordinates."""
        return [each.slope for each in self.each]

    def rates(self, g: Floats) -> list[Floats]:
        """How much Q and V take off the log probability of an entry, of curves by g there."""
        without = 1 - (self.other + g * (self.value - self.other))
        return [rate / without for rate in (g, 1 - g)[: len(self.each)]]

    def late(self, g: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
        """Log probability of the entries, its gradient and Hessian by all a and c."""
        rates = self.rates(g)
        by = np.hstack(
            [rate[:, None] * slope for rate, slope in zip(rates, self.slope, strict=True)]
        )
        bends = [each.summed_bend(r * weight) for each, r in zip(self.each, rates, strict=True)]
        value = float(log_without(g, self.value, self.other) @ weight)
        return value, -weight @ by, -_block_diagonal(bends) - (by.T * weight) @ by


def _powers(z: Floats) -> Floats:
    """1, z and z squared, of shape (3, n)."""
    return np.stack([np.ones_like(z), z, z * z])


def _by_a_and_c(alone: Floats, crossed: Floats) -> Floats:
    """The matrix of what is `alone` (3, k) on diagonals, less what is `crossed` (3, k, k).

    Of a, of a with c, and of c, which are sums with 1, z and z squared; of shape (2 k, 2 k).
    """
    k = alone.shape[1]
    blocks = -crossed
    blocks[:, range(k), range(k)] += alone
    return np.asarray(blocks[[[0, 1], [1, 2]]].transpose(0, 2, 1, 3).reshape(2 * k, 2 * k))


class EventSums(NamedTuple):
    """What the likelihood of the steps needs of one kind of event, and the prior of its a and c."""

    sums: Floats  # (2 classes,): cases by class, and the sums of their z
    z: Floats  # (nodes,): nodes of a Gauss rule of the z of all these cases
    total: Floats  # (nodes,)
    centre: Floats  # (2 classes,): of the normal prior
    precision: Floats  # (2 classes,)

    def log_density(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Of prior and events, with its gradient and its negative Hessian."""
        k, (events, z, total, centre, precision) = at.size // 2, self
        q, away = at[:k] + z[:, None] * at[k:], at - centre
        highest = q.max(axis=1)
        q = np.exp(q - highest[:, None])
        sums = q.sum(axis=1)
        q /= sums[:, None]
        log_sum = np.log(sums) + highest
        value = float(events @ at - total @ log_sum) - float(precision @ away**2) / 2
        powers = total * _powers(z)
        fitted = powers @ q
        slope = events - fitted[:2].ravel() - precision * away
        information = _by_a_and_c(fitted, (q.T * powers[:, None]) @ q)
        information.ravel()[:: at.size + 1] += precision
        return value, slope, information


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
        self._ends = np.cumsum([each.centre.size for each in events])[:-1]
        self.at = np.concatenate([each.centre for each in events]) if at is None else at
        self.constant, self.slope, self.information = self.of_events(self.at)

    def of_events(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Log density of prior and events, its gradient and its negative Hessian."""
        own = zip(self._of, np.split(at, self._ends), strict=True)
        value, slope, information = zip(
            *(each.log_density(mine) for each, mine in own), strict=True
        )
        return sum(value), np.concatenate(slope), _block_diagonal(information)

    def shares(self, partial: Partial, at: Floats | None = None) -> Shares:
        """Q and V of entries, at these or other values."""
        return self.shares_of(partial)(self.at if at is None else at)

    def shares_of(self, partial: Partial) -> Callable[[Floats], Shares]:
        """The same at any values, with what does not depend on them done once."""
        z = np.asarray(self.law.standardised(partial.x))
        passed = [self.law.passed(partial.step, each.centre.size // 2) for each in self._of]

        def shares(at: Floats) -> Shares:
            each = []
            for own, of_own in zip(np.split(at, self._ends), passed, strict=True):
                k = own.size // 2
                steps = own[:k] + z[:, None] * own[k:]
                steps -= steps.max(axis=1, keepdims=True)
                np.exp(steps, out=steps)
                steps /= steps.sum(axis=1, keepdims=True)
                value = np.vecdot(of_own, steps)
                each.append(Share(value, z, steps, steps * (of_own - value[:, None])))
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
        steps = steps.likeliest(partial, expit(reference.log_odds(curve)))
        if not partial.size:
            break
        before, curve = curve, reference.mode(curve, steps.shares(partial))
        if np.abs(before - curve).max() < NEAR_CURVE:
            break
    return Timing(steps, np.asarray(expit(reference.log_odds(curve))))


def _event_sums(in_interval: Floats, z: Floats, law: TimeToEvent) -> EventSums:
    centre, precision = law.prior_of_steps(in_interval.shape[1])
    total = in_interval.sum(axis=1)
    some = total > 0
    nodes, weight = z[some], total[some]
    if weight.size > Z_NODES:
        nodes, weight = gauss_rule(nodes, weight, Z_NODES)
    sums = np.concatenate([in_interval.sum(axis=0), z @ in_interval])
    return EventSums(sums, nodes, weight, centre, precision)


class _Reference:
    """A smooth curve, linear in log s, log(1 - s) and bumps, under a wide prior.

    `diagonal` (k,): the prior mean: exact calibration.
    """

    def __init__(self, law: TimeToEvent, score: Floats, entries: Entries, partial: Partial) -> None:
        self.entries, self.partial = entries, partial
        self.basis, self.of_partial = (
            _smooth_basis(law, x) for x in (np.asarray(logit(score)), partial.x)
        )
        self.diagonal = np.zeros(self.basis.shape[1])
        self.diagonal[1:3] = 1
        self.precision = np.ones(self.diagonal.size)
        self.precision[3:] = SD_OF_BUMPS**-2

    def log_odds(self, curve: Floats) -> Floats:
        """At the entries that are known in part."""
        return np.asarray(self.of_partial @ curve)

    def mode(self, start: Floats, shares: Shares) -> Floats:
        """The likeliest curve, given Q and V at these entries."""
        events, free, weight = self.entries.events, self.entries.free, self.partial.weight

        def objective(curve: Floats) -> tuple[float, Floats, Floats]:
            x, away = self.basis @ curve, curve - self.diagonal
            g = expit(x)
            value = (
                float(events @ x - (events + free) @ np.logaddexp(0, x))
                - float(away @ (self.precision * away)) / 2
            )
            slope = self.basis.T @ (events - (events + free) * g) - self.precision * away
            hessian = -(self.basis.T * ((events + free) * g * (1 - g))) @ self.basis
            hessian -= np.diag(self.precision)
            g = expit(self.of_partial @ curve)
            late, bend = late_of(g, shares.value, shares.other)
            value += float(log_without(g, shares.value, shares.other) @ weight)
            slope -= self.of_partial.T @ (late * weight)
            hessian -= (self.of_partial.T * (bend * weight)) @ self.of_partial
            return value, slope, hessian

        return maximise(objective, start, tolerance=NEAR_STEPS, longest=LONGEST_OF_STEPS).point


def _smooth_basis(law: TimeToEvent, x: Floats) -> Floats:
    """Basis of a smooth curve at log-odds, of shape (entries, k)."""
    z = law.standardised(x)[:, None]
    line = np.ones(x.size), -np.logaddexp(0, -x), np.logaddexp(0, x)
    return np.hstack([np.column_stack(line), np.exp(-(((z - BUMPS) / BUMP_SD) ** 2) / 2)])


def _block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Square matrices along the diagonal of one."""
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
        total = np.zeros(table.score.size)
        np.add.at(total, partial.row[~left], -partial.weight[~left])
        for column, row, weight in zip(
            late[:, ~left].T, partial.row[~left], partial.weight[~left], strict=True
        ):
            before[:, row] += column * weight / max(table.trials[row], total[row])
    density = [event[:, had] + before[:, had], other[:, free] + before[:, free]]
    density.append(late[:, left] + before[:, partial.row[left]])
    count = np.concatenate([entries.events[had], entries.free[free], partial.weight[left]])
    return np.hstack(density), count
