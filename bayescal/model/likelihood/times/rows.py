"""The log likelihood of times to an event, of a curve alone: the steps of Q integrated out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal._base.arrays import Floats, blocks
from bayescal._base.newton import maximise
from bayescal.model.curve import expit_in_place
from bayescal.model.families import LOGISTIC
from bayescal.model.lapse.bounds import bounded_log_odds
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.gauss import gauss_rule
from bayescal.model.likelihood.general import LawRows
from bayescal.model.likelihood.rows import basis_at
from bayescal.model.likelihood.times.entries import Entries, Partial, entries_of, law_of, merged
from bayescal.model.likelihood.times.shared import Shared, log_without
from bayescal.model.likelihood.times.steps import Steps, steps_of
from bayescal.model.problem import Problem

__all__ = [
    "FEW_ENTRIES",
    "Correction",
    "TimesRows",
    "at_nodes_of_times",
    "columns_at",
    "likeliest_line",
    "times_rows",
]

KNOWN_NODES, NODES_OF_BIN, FEW_ENTRIES = 48, 6, 160
LEAST_CURVATURE = 0.05
LONGEST_OF_LINE = 3.0
FAR_BELOW = 60.0
"""How much less likely a curve is than the likeliest where its correction does not matter."""
BESIDE_STEPS = 1e-3
MOST_GAIN_OF_TIMES = 3.0
"""Of log density, by a Newton step and by the curvature."""


class Correction:
    """What integrating over the steps of Q adds to the log likelihood at their likeliest values.

    Laplace's approximation, after a Newton step from there for each curve, with the curvature moved
    by as much. A constant where no case
    is known in part. Within the posterior of a curve the step gains little; what is more than
    `MOST_GAIN_OF_TIMES` is of a curve that is far away, and is not believed.

    Parameters
    ----------
    partial : Partial
        The entries that are known in part.
    g : ndarray of shape (entries,)
        A curve of the posterior, for the curvature there.
    """

    def __init__(self, steps: Steps, partial: Partial, g: Floats) -> None:
        self.shares, self.partial, self.steps = steps.shares(partial), partial, steps
        weight, slope = partial.weight[:, None], self.shares.slope
        self._upper = row, column = np.triu_indices(steps.at.size)
        cause = np.repeat(np.arange(len(slope)), [each.shape[1] for each in slope])
        every = np.hstack(slope)
        self._slope, self._blocks = [weight * each for each in slope], []
        for pair in combinations_with_replacement(range(len(slope)), 2):
            mine = np.flatnonzero((cause[row] == pair[0]) & (cause[column] == pair[1]))
            outer = weight * every[:, row[mine]] * every[:, column[mine]]
            bend = None
            if pair[0] == pair[1]:
                own = self.shares.each[pair[0]].bend
                bend = weight * own[:, *np.triu_indices(own.shape[1])]
            self._blocks.append((pair, mine, outer, bend))
        self._g = g
        at_mode = self._information_at(self.shares.rates(g[None]))
        self._log_det = float(np.linalg.slogdet(at_mode)[1][0]) / 2

    def __call__(self, g: Floats) -> Floats:
        """Of curves by their values at the entries, of shape (n, entries)."""
        rates = self.shares.rates(g)
        slope, information = self._slope_at(rates), self._information_at(rates)
        log_det, step, gain = _newton_step(slope, information)
        log_det += step @ self._turn
        log_det = np.clip(
            log_det, self._log_det - MOST_GAIN_OF_TIMES, self._log_det + MOST_GAIN_OF_TIMES
        )
        gain = np.minimum(gain, MOST_GAIN_OF_TIMES)
        return np.asarray(self.steps.constant + gain - log_det)

    def log_without(self, g: Floats) -> Floats:
        """Log probability of each entry given the steps, of curves by their values there."""
        return log_without(g, self.shares.value, self.shares.other)

    @property
    def at_most(self) -> float:
        """More than it is of any curve."""
        return self.steps.constant - self._log_det + 2 * MOST_GAIN_OF_TIMES

    @cached_property
    def _turn(self) -> Floats:
        """Slope of the log determinant by a and c, halved: the step moves the curvature, too."""
        steps, slope = self.steps, np.zeros(self.steps.at.size)
        for k in range(slope.size) if self.partial.size else ():
            for sign in (-1, 1):
                at = steps.at.copy()
                at[k] += sign * BESIDE_STEPS
                shares = steps.shares(self.partial, at)
                information = steps.of_events(at)[2]
                information -= shares.late(self._g, self.partial.weight)[2]
                slope[k] += sign * np.linalg.slogdet(information)[1] / (4 * BESIDE_STEPS)
        return slope

    def _slope_at(self, rates: Sequence[Floats]) -> Floats:
        """Of the log density by a and c, for curves by the `rates` of `Shares`."""
        by = [rate @ slope for rate, slope in zip(rates, self._slope, strict=True)]
        return np.asarray(self.steps.slope - np.hstack(by))

    def _information_at(self, rates: Sequence[Floats]) -> Floats:
        """Its negative Hessian."""
        upper = np.empty((len(rates[0]), self._upper[0].size))
        for (first, second), mine, outer, bend in self._blocks:
            upper[:, mine] = (rates[first] * rates[second]) @ outer
            if bend is not None:
                upper[:, mine] += rates[first] @ bend
        upper += self.steps.information[self._upper]
        size = self.steps.at.size
        information = np.empty((len(upper), size, size))
        information[:, self._upper[0], self._upper[1]] = upper
        information[:, self._upper[1], self._upper[0]] = upper
        return information


def _newton_step(slope: Floats, information: Floats) -> tuple[Floats, Floats, Floats]:
    """Half the log determinant of each curve's information, a Newton step, and what it gains.

    Curvatures that are not positive, far from the mode, are raised to `LEAST_CURVATURE`.
    """
    try:
        root = np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(information)
        values = np.maximum(values, LEAST_CURVATURE)
        along = np.einsum("nij,ni->nj", vectors, slope)
        step = np.asarray(np.einsum("nij,nj->ni", vectors, along / values))
        log_det = np.log(values).sum(axis=1)
    else:
        step = np.asarray(np.linalg.solve(information, slope[..., None])[..., 0])
        log_det = 2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(log_det) / 2, step, np.vecdot(slope, step) / 2


@dataclass(frozen=True)
class TimesRows(LawRows):
    """Sums over cases whose outcome is known, then over those that are known in part.

    Attributes
    ----------
    known : int
        Rows of the first kind.
    correction : Correction
    constant : float
        What merging the rows of a table would change on the diagonal.
    effect, log_diagonal : float
        Cases that count as one, and the log likelihood of exact calibration, if not 1.
    """

    known: int
    correction: Correction
    constant: float
    effect: float = 1.0
    log_diagonal: float = 0.0

    def log_likelihood(self, coefficients: Floats, others: Floats) -> Floats:
        """As `LawRows.log_likelihood`."""
        value = np.empty(len(coefficients))
        for part in blocks(len(value), self.size):
            log_odds = coefficients[part] @ self.columns
            rates = others[part, : self.bounds]
            if self.bounds:
                log_odds = bounded_log_odds(log_odds, rates[:, :1], rates[:, 1:])
            value[part] = self._of_log_odds(log_odds)
        return value

    def _of_log_odds(self, log_odds: Floats) -> Floats:
        known, hits, trials = self.known, self.hits, self.trials
        x = log_odds[:, :known]
        value = x @ hits[:known] - BINOMIAL.cost_near(x.copy()) @ trials[:known]
        g = expit_in_place(np.ascontiguousarray(log_odds[:, known:]))
        value += self.correction.log_without(g) @ trials[known:]
        near = value > value.max() - FAR_BELOW
        correction = np.full(value.size, self.correction.at_most)
        correction[near] = self.correction(g[near])
        value += correction + self.constant
        return np.asarray(value / self.effect + (1 - 1 / self.effect) * self.log_diagonal)

    def tempered(self, effect: float, log_diagonal: float) -> TimesRows:
        """The same with every case counted as one over the effect.

        Parameters
        ----------
        log_diagonal : float
            Log likelihood of exact calibration, which stays as it is.
        """
        return replace(self, effect=self.effect * effect, log_diagonal=log_diagonal)

    def derivatives(self, coefficients: Floats, others: Floats) -> tuple[float, Floats, Floats]:
        """As `LawRows.derivatives`, given the steps."""
        value, gradient, hessian = super().derivatives(coefficients, others)
        return value / self.effect, gradient / self.effect, hessian / self.effect

    def expanded_at(self, coefficients: Floats, others: Floats) -> TimesRows:
        """The same, expanded at the likeliest steps given one curve, as in `log_likelihood`."""
        partial = self.correction.partial
        if not partial.size:
            return self
        log_odds = coefficients @ self.columns[:, self.known :]
        if self.bounds:
            log_odds = bounded_log_odds(log_odds, others[:, :1], others[:, 1:2])
        g = expit(log_odds)[0]
        correction = Correction(self.correction.steps.likeliest(partial, g), partial, g)
        return replace(self, law=_law_of(self.known, correction), correction=correction)


def times_rows(problem: Problem, *, exact: bool = False) -> TimesRows:
    """Nodes for the cases of a problem of times to an event.

    Parameters
    ----------
    exact : bool
        Whether to take every row instead.
    """
    entries, law = entries_of(problem), law_of(problem)
    steps, bounds = steps_of(problem), 2 * problem.curve.is_bounded
    rough = problem.curve.is_rough
    known, of_known, constant = _known(problem, entries, exact)
    partial = entries.partial
    if not exact and partial.size > FEW_ENTRIES:
        bins = partial.bins(law)
        if rough:
            size = int(bins.max()) + 1
            group = problem.merged(partial.row) * size + bins
            of_partial = _weighted_columns(problem, partial, group)
            partial = merged(partial, group)
        else:
            partial = at_nodes_of_times(partial, bins)
            of_partial = columns_at(problem, partial.x)
    else:
        of_partial = columns_at(problem, partial.x)
    correction = Correction(steps, partial, expit(partial.x))
    hits = np.concatenate([of_known[0], np.zeros(partial.size)])
    trials = np.concatenate([of_known[1], partial.weight])
    every, size = np.hstack([known, of_partial]), known.shape[1]
    given = _law_of(size, correction)
    return TimesRows(given, bounds, every, trials, hits, size, correction, constant)


def likeliest_line(problem: Problem) -> Floats:
    """Intercept and slope of the likeliest logistic recalibration, of shape (2,).

    At the likeliest steps with a smooth curve.
    """
    line = problem.of_family(LOGISTIC)
    rows = times_rows(line)

    def objective(coefficients: Floats) -> tuple[float, Floats, Floats]:
        return rows.derivatives(coefficients, np.empty(0))

    start = line.curve.with_offset(np.zeros((1, line.curve.size)))[0, 1:]
    best = maximise(objective, start, longest=LONGEST_OF_LINE).point
    at = np.array([-1.0, 1.0])
    low, high = np.append(1.0, best) @ columns_at(line, at)
    return np.array([(low + high) / 2, (high - low) / 2])


def _law_of(known: int, correction: Correction) -> Shared:
    """The law of so many rows with known outcomes, and of the entries, given the steps."""
    shares = correction.shares
    return Shared(
        np.concatenate([np.ones(known), shares.value]),
        np.concatenate([np.zeros(known), shares.other]),
    )


def _known(problem: Problem, entries: Entries, exact: bool) -> tuple[Floats, Floats, float]:
    """Columns, events and trials of the cases whose outcome is known, and a constant.

    The log likelihood is linear in the log-odds of the events, so that of a curve that is linear in
    its coefficients one row stands for all of them.
    """
    table, rough = problem.table, problem.curve.is_rough
    trials = entries.events + entries.free
    x, some = np.asarray(logit(table.score)), trials > 0
    columns, constant = columns_at(problem, x), 0.0
    had = entries.events > 0
    if problem.curve.is_bounded:
        sides = [_of_one_outcome(problem, cases, exact) for cases in (entries.events, entries.free)]
        weight = np.concatenate([sides[0][1], sides[1][1]])
        events = np.concatenate([sides[0][1], np.zeros(sides[1][1].size)])
        return np.hstack([sides[0][0], sides[1][0]]), np.stack([events, weight]), 0.0
    number = float(entries.events.sum())
    of_events = (columns @ entries.events / max(number, 1e-300))[:, None][:, : int(had.any())]
    if exact or not (rough and problem.is_merged):
        x, weight = x[some], trials[some]
        if not exact and not rough and weight.size > KNOWN_NODES:
            x, weight = gauss_rule(x, weight, KNOWN_NODES)
        at = columns_at(problem, x)
    else:
        weight = problem.sum_of_rows(trials)
        kept = weight > 0
        means = problem.mean_of_rows(np.column_stack([columns.T, x]), trials)[kept]
        weight, at = weight[kept], means[:, :-1].T
        cost = float(weight @ BINOMIAL.cost(means[:, -1].copy()))
        constant = cost - float(trials @ BINOMIAL.cost(x.copy()))
    both = np.hstack([of_events, at])
    one = of_events.shape[1]
    hits = np.append(np.full(one, number), np.zeros(weight.size))
    return both, np.stack([hits, np.append(np.zeros(one), weight)]), constant


def _of_one_outcome(problem: Problem, cases: Floats, exact: bool) -> tuple[Floats, Floats]:
    """Nodes of the cases of one outcome."""
    x, weight = np.asarray(logit(problem.table.score[cases > 0])), cases[cases > 0]
    if not exact and weight.size > KNOWN_NODES:
        x, weight = gauss_rule(x, weight, KNOWN_NODES)
    return columns_at(problem, x), weight


def columns_at(problem: Problem, x: Floats) -> Floats:
    """Offset and basis at log-odds, of shape (1 + k, entries)."""
    if not x.size:
        return np.empty((1 + len(problem.curve.positive), 0))
    offset, basis = basis_at(problem, x)
    return np.vstack([offset, basis.T])


def _weighted_columns(problem: Problem, partial: Partial, group: NDArray[np.intp]) -> Floats:
    """Means of offset and basis over the entries of each group."""
    offset, basis = problem.curve.basis(problem.table.score, problem.frame)
    columns = np.column_stack([offset, basis])[partial.row]
    keys, at = np.unique(group, return_inverse=True)
    total = np.bincount(at, partial.weight, keys.size)
    sums = [np.bincount(at, partial.weight * column, keys.size) for column in columns.T]
    return np.stack(sums) / total


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
