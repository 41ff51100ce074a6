"""The log likelihood of times to an event, of a curve alone: the steps of Q integrated out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import maximise
from bayescal.data.rows import Rows
from bayescal.model.cells import cell_of, gauss_rule
from bayescal.model.curve import bounded_probability, expit_in_place
from bayescal.model.families import LOGISTIC
from bayescal.model.law import tilted, untilted
from bayescal.model.partition import Late
from bayescal.model.problem import GaussRules, Problem
from bayescal.model.rows import (
    NO_RATES,
    LikelihoodRows,
    OutcomeNodes,
    at_nodes,
    columns_at,
    every_row,
    merged_rows,
    outcome_nodes,
    sums_of_bounded,
)
from bayescal.model.times import (
    GroupNodes,
    Partial,
    RowsGivenSteps,
    Shares,
    Steps,
    entries_of,
    grid_of,
    law_of,
    once,
    panels_of,
    steps_of,
    sums_of_late,
    timing_of,
)

NODES_OF_PANEL = 3

# To 0 and 1, of a curve that is expanded at.
NEAREST = 1e-12
LEAST_CURVATURE = 0.05

# Of log density, by a Newton step and by the curvature.
MOST_GAIN_OF_TIMES = 3.0

# By a Newton step up to which another expansion moves log densities by less than .005 between
# curves that matter, and evidences by less than .02; measured with 200 to 30 000 cases.
SMALL_GAIN = 0.1
KNOWN_NODES, NODES_OF_BIN, FEW_ENTRIES = 48, 6, 160
LONGEST_OF_LINE = 3.0

COARSE_ENTRIES, COARSE_NODES = 48, 4


class Correction:
    """Nodes for the cases that are known in part, and the integral over the steps of Q.

    A case without an event by the time of which Q and V are known has the probability (1 - V) (1 -
    g R), with R = (Q - V) / (1 - V). Nodes have a log-odds `x`, a `weight`, a `ratio` R and a curve
    `g` each; without `nodes` they are the entries.
    What integrating over the steps adds is Laplace's approximation, after a Newton step from here
    for each curve, with the curvature of the curve `g` that it is expanded at; how the curvature
    moves with the curve and with the step (`turn`) is told by its trace. Within the posterior of a
    curve both are small; what is more than `MOST_GAIN_OF_TIMES` is of a curve that is far away, and
    is not believed.
    """

    def __init__(
        self,
        steps: Steps,
        partial: Partial,
        g: Floats,
        nodes: GroupNodes | None = None,
        turn: Floats | None = None,
    ) -> None:
        g = np.clip(g, NEAREST, 1 - NEAREST)
        self.steps, self.partial, self.nodes = steps, partial, nodes
        shares = steps.shares(partial)
        value, gradient, bend = shares.late(g, partial.weight)
        self._inverse, self._log_det = _inverse(steps.information - bend)
        ratio, told = _ratio(shares), self._columns(shares)
        self.x, at_nodes = self.mean_of_entries(np.stack([partial.x, logit(g)]))
        self.g = np.asarray(expit(at_nodes))
        if nodes is None:
            self.weight, self.ratio, told = partial.weight, ratio, partial.weight * told
        else:
            t = self.mean_of_entries(tilted(ratio, g)[None])[0]
            self.weight, told = nodes.weight, nodes.sums(told)
            self.ratio = np.clip(untilted(t, self.g), ratio.min(), ratio.max())
        ends = np.cumsum([len(each.slope) + 1 for each in shares.each])
        *self._alone, self._squares = np.split(told.astype(np.float32), ends)
        self._less = -self.ratio.astype(np.float32)
        (here,), (fall,), self._trace_here = self._told(self.g[None])
        self.constant = value - float(here)
        self._gradient = steps.slope + gradient + fall
        if turn is None:
            turn = shares.slope_of_trace(g, partial.weight, self._inverse)
            turn += steps.slope_of_trace(self._inverse)
        self.turn = turn

    def log_likelihood(self, g: Floats) -> Floats:
        """Of the cases, the steps integrated out, of curves by their values at the nodes.

        `g`: of shape (n, nodes). With what the events say of the steps, but not of curves.
        """
        value, most = np.empty(len(g)), MOST_GAIN_OF_TIMES
        for part in blocks(len(g), self.weight.size):
            given, trace, step, gain = self._moved(g[part])
            log_det = (trace - self._trace_here + step @ self.turn) / 2
            value[part] = given + np.minimum(gain, most) - np.clip(log_det, -most, most)
        return np.asarray(value + (self.constant + self.steps.constant - self._log_det))

    def serves(self, g: Floats) -> bool:
        """Whether a Newton step from these steps is small, of one curve by its values at nodes."""
        return float(self._moved(g[None])[-1][0]) < SMALL_GAIN

    def _moved(self, g: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """What nodes tell of each curve, as `_told` has it, the Newton step, and what it gains."""
        given, fall, trace = self._told(g)
        slope = self._gradient - fall
        step = slope @ self._inverse
        return given, trace, step, np.vecdot(slope, step) / 2

    def given_steps(self, g: Floats) -> Floats:
        """Log likelihood of the cases given the steps, of curves as before."""
        return np.asarray(np.log(1 - g * self.ratio) @ self.weight + self.constant)

    def _told(self, g: Floats) -> tuple[Floats, Floats, Floats]:
        """What nodes tell of each of n curves, where V, and what is constant, are left out.

        Their log probability; how fast it falls by a and c, of shape (n, size); and the trace of
        their information times the inverse of that of all. Of each node in single precision, which
        of a million cases is wrong by some .002; the log probability is summed in double.
        """
        g = g.astype(np.float32, copy=False)
        without = g * self._less
        without += 1
        rates = [g / without]
        if len(self._alone) > 1:
            rates.append((1 - g) / without)
        value = np.log(without, out=without).astype(np.float64) @ self.weight
        told = [rate @ alone.T for rate, alone in zip(rates, self._alone, strict=True)]
        trace = np.sum([each[:, -1] for each in told], axis=0)
        for (i, j), square in zip(_pairs(len(rates)), self._squares, strict=True):
            trace += (rates[i] * rates[j]) @ square
        return value, np.hstack([each[:, :-1] for each in told]), trace

    def mean_of_entries(self, values: Floats) -> Floats:
        """Means over the entries that nodes stand for, of values of shape (columns, entries).

        A curve that is linear in columns has nearly its mean log-odds at the means of these.
        """
        if self.nodes is None:
            return values
        return np.asarray(self.nodes.sums(values) / self.nodes.weight)

    def likeliest(self, g: Floats) -> Correction:
        """The same nodes at the likeliest steps with a curve, by its values at the entries."""
        steps = self.steps.likeliest(self.partial, g)
        return Correction(steps, self.partial, g, self.nodes, self.turn)

    def late(self, effect: float) -> Late | None:
        """The nodes by log-odds, where so many cases count as one; None without any."""
        if not self.x.size:
            return None
        order = np.argsort(self.x, kind="stable")
        weight, constant = self.weight[order] / effect, self.constant / effect
        return Late(self.x[order], weight, self.ratio[order], self.g[order], constant)

    def _columns(self, shares: Shares) -> Floats:
        """Of each entry what `_told` needs for each rate, and for each product of two.

        Rates are how much Q, and V, take off the log probability, times 1 - V; what is told is
        divided by it.
        """
        kept, slopes = 1 - shares.other, [each.slope for each in shares.each]
        ends = np.cumsum([0, *map(len, slopes)])
        of = [slice(low, high) for low, high in pairwise(ends)]
        columns = []
        for each, slope, own in zip(shares.each, slopes, of, strict=True):
            columns += [slope, each.bend_along(self._inverse[own, own])[None]]
        for i, j in _pairs(len(slopes)):
            square = (slopes[i] * (self._inverse[of[i], of[j]] @ slopes[j])).sum(axis=0)
            columns.append((square * (1 if i == j else 2) / kept)[None])
        return np.concatenate(columns) / kept


def _ratio(shares: Shares) -> Floats:
    """R of each entry."""
    return (shares.value - shares.other) / (1 - shares.other)


def _pairs(causes: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(causes), 2))


def _inverse(information: Floats) -> tuple[Floats, float]:
    """Inverse of a matrix, and half the log of its determinant.

    Curvatures that are not positive, far from the mode, are raised to `LEAST_CURVATURE`.
    """
    values, vectors = np.linalg.eigh(information)
    values = np.maximum(values, LEAST_CURVATURE)
    return (vectors / values) @ vectors.T, float(np.log(values).sum()) / 2


@dataclass(frozen=True)
class TimesRows:
    """Cases whose outcome is known, and nodes of those that are known in part.

    With an `effect`, every case counts as one over it, but for the `log_diagonal`: the log
    likelihood of exact calibration.
    """

    problem: Problem
    known: LikelihoodRows | OutcomeNodes  # the second of curves with a floor and a ceiling
    columns: Floats  # (1 + k, nodes): offset and basis
    correction: Correction
    effect: float = 1.0
    log_diagonal: float = 0.0

    @property
    def size(self) -> int:
        """Number of rows and nodes."""
        return self.known.size + self.correction.weight.size

    def log_likelihood(self, coefficients: Floats, rates: Floats) -> Floats:
        """Of n curves, by the weight of the offset and their coefficients, and by their rates."""
        value = self.known.log_likelihood(coefficients, rates)
        for part in blocks(len(value), self.size):
            g = self._curves(self.columns, coefficients[part], rates[part])
            value[part] += self.correction.log_likelihood(g)
        return np.asarray(value / self.effect + (1 - 1 / self.effect) * self.log_diagonal)

    def tempered(self, effect: float, log_diagonal: float) -> TimesRows:
        """The same with every case counted as one over the effect."""
        return replace(self, effect=self.effect * effect, log_diagonal=log_diagonal)

    def derivatives(self, coefficients: Floats, rates: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and information by the coefficients and the rates, given the steps."""
        ratio, weight = self.correction.ratio, self.correction.weight
        value, gradient, information = self.known.derivatives(coefficients, rates)
        if rates.size:
            low, high = map(float, rates)
            late = sums_of_bounded(self.columns, weight, coefficients, low, high, ratio)
        else:
            late = sums_of_late(self.columns, weight, coefficients, ratio, np.zeros(ratio.size))
        effect = self.effect
        return (
            (value + late[0]) / effect,
            (gradient + late[1]) / effect,
            (information - late[2]) / effect,
        )

    def expanded_at(self, coefficients: Floats, rates: Floats) -> TimesRows:
        """The same, expanded at the likeliest steps given one curve, as in `log_likelihood`."""
        if self.correction.serves(self._curves(self.columns, coefficients, rates)[0]):
            return self
        columns = columns_at(self.problem, self.correction.partial.x)
        g = self._curves(columns, coefficients, rates, "f8")[0]
        return replace(self, correction=self.correction.likeliest(g))

    @staticmethod
    def _curves(
        columns: Floats, coefficients: Floats, rates: Floats, precision: str = "f4"
    ) -> Floats:
        """Curves (n, nodes), in single precision if only weights of points follow from them.

        Log likelihoods of a million cases then differ by .0005 among curves that matter.
        """
        g = expit_in_place((coefficients @ columns).astype(precision))
        low, high = np.split(rates.astype(precision), 2, axis=1)
        return bounded_probability(g, low, high) if rates.shape[1] else g


def times_rows(problem: Problem, *, exact: bool = False) -> TimesRows:
    """Nodes for the cases of a problem of times to an event, or every row of an `exact` one."""
    curve, known_cases = problem.curve, problem.of_cases(*cases_known(problem))
    if exact:
        partial = entries_of(problem).partial
        correction = Correction(steps_of(problem), partial, expit(partial.x))
    else:
        correction = correction_of(problem)
    columns = correction.mean_of_entries(columns_at(problem, correction.partial.x))
    known: LikelihoodRows | OutcomeNodes
    if curve.is_bounded:
        known = outcome_nodes(known_cases, None if exact else KNOWN_NODES)
    else:
        known = every_row(known_cases)
        if curve.is_rough and not exact:
            known = merged_rows(known_cases, known)
        elif not exact:
            known = at_nodes(known_cases, known, KNOWN_NODES)
    return TimesRows(problem, known, columns, correction)


@once
def cases_known(problem: Problem) -> tuple[Rows, GaussRules]:
    """Cases whose outcome is known, by row of the table, and their Gauss rules when made."""
    entries = entries_of(problem)
    return Rows(problem.table.score, entries.events + entries.free, entries.events), {}


@once
def correction_of(problem: Problem) -> Correction:
    """Nodes for the cases that are known in part, at a smooth curve: one for all families."""
    partial, timing = grid_of(problem), timing_of(problem)
    nodes = None
    if partial.size > FEW_ENTRIES:
        panel = cell_of(partial.x, panels_of(problem))
        t = tilted(_ratio(timing.steps.shares(partial)), timing.curve)
        nodes = GroupNodes.of(panel, partial.weight, t, NODES_OF_PANEL)
    return Correction(timing.steps, partial, timing.curve, nodes)


def likeliest_line(problem: Problem) -> Floats:
    """Intercept and slope of the likeliest logistic recalibration, of shape (2,).

    At the likeliest steps with a smooth curve.
    """
    line = problem.of_family(LOGISTIC)
    rows = times_rows(line)

    def objective(coefficients: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, information = rows.derivatives(coefficients, NO_RATES[0])
        return value, gradient, -information

    start = line.curve.with_offset(np.zeros((1, line.curve.size)))[0, 1:]
    best = maximise(objective, start, longest=LONGEST_OF_LINE).point
    at = np.array([-1.0, 1.0])
    low, high = np.append(1.0, best) @ columns_at(line, at)
    return np.array([(low + high) / 2, (high - low) / 2])


def at_nodes_of_times(
    partial: Partial, bins: NDArray[np.intp], count: int = NODES_OF_BIN
) -> Partial:
    """Nodes of Gauss rules of the scores in each bin of time, at its mean time."""
    parts = []
    for each in np.unique(bins):
        mine = np.flatnonzero(bins == each)
        order = mine[np.argsort(partial.x[mine], kind="stable")]
        x, weight = partial.x[order], np.abs(partial.weight[order])
        sign = np.sign(partial.weight[order[0]])
        step = float(weight @ partial.step[order] / weight.sum())
        if x.size > count:
            x, weight = gauss_rule(x, weight, count)
        times = np.full(x.size, step)
        parts.append((np.full(x.size, partial.row[order[0]]), x, times, sign * weight))
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    return Partial(joined[0], joined[1], joined[2], joined[3])


def partial_of_group(problem: Problem, *, coarse: bool = False) -> Partial:
    """The entries of a group that are known in part, or nodes in their place.

    `coarse`: whether to take few nodes: draws that are made with them are weighted by more.
    """
    partial = entries_of(problem).partial
    few, count = (COARSE_ENTRIES, COARSE_NODES) if coarse else (FEW_ENTRIES, NODES_OF_BIN)
    if partial.size > few:
        partial = at_nodes_of_times(partial, partial.bins(law_of(problem)), count)
    return partial


def rows_given_steps(problem: Problem, partial: Partial, steps: Steps) -> RowsGivenSteps:
    """Rows of a group, given the steps of Q; `partial` as `partial_of_group` has them."""
    known_cases, shares = problem.of_cases(*cases_known(problem)), steps.shares(partial)
    known = at_nodes(known_cases, every_row(known_cases), KNOWN_NODES)
    return RowsGivenSteps(
        *(known.columns, known.trials, known.events, known.constant),
        late=columns_at(problem, partial.x),
        weight=partial.weight,
        share=shares.value,
        other=shares.other,
    )
