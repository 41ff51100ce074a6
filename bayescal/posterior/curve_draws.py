"""Draws of a calibration curve at the scores of a population, for functionals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import log_odds_of, maximise
from bayescal.model.curve import expit_in_place
from bayescal.posterior.population import Population

FLOOR = 1e-15
WEIGHT_FLOOR = 1e-12  # keeps a line defined in a draw that gives all its weight to one score
# Of Newton's steps, and the step that ends them: it leaves an error of the order of its square.
# Single precision is three times faster, and all that the first steps need. Where it settles it is
# off by some 1e-6, so that one step in double precision is enough.
PRECISIONS = ((np.float32, 1e-3), (np.float64, 1e-5))
MOST_STEPS, LINE_LONGEST, SHIFT_LONGEST = 50, 3.0, 5.0
FARTHEST_HAZARD = 30.0  # hazards are taken from exp(-30) to 30, where nothing overflows


class Link(NamedTuple):
    """A scale on which a curve is compared with a line.

    `slopes`: from the scale, events w g and weights w to the first two derivatives of the log
    likelihood, linear in events and weights; it may overwrite the scale. `value`: from the scale
    and risks g to that of one case. It is concave, so that Newton's steps climb.
    """

    of: Callable[[Floats], Floats]  # from probabilities to the scale
    slopes: Callable[[Floats, Any, Any], tuple[Floats, Floats]]
    value: Callable[[Floats, Floats], Floats]


def _slopes_of_logit(x: Floats, events: Any, weight: Any) -> tuple[Floats, Floats]:
    p = expit_in_place(x)
    expected = p * weight
    p -= 1
    p *= expected
    return np.subtract(events, expected, out=expected), p


def _slopes_of_cloglog(x: Floats, events: Any, weight: Any) -> tuple[Floats, Floats]:
    hazard = _hazard(x)
    p = -np.expm1(-hazard)
    seen = events * hazard / p
    first = seen - weight * hazard
    return first, first - seen * hazard * (1 - p) / p


def _hazard(x: Floats) -> Floats:
    return np.exp(np.clip(x, -FARTHEST_HAZARD, np.log(FARTHEST_HAZARD)))


def _value_of_cloglog(x: Floats, g: Floats) -> Floats:
    hazard = _hazard(x)
    return np.asarray(g * np.log(-np.expm1(-hazard)) - (1 - g) * hazard)


LOGIT = Link(logit, _slopes_of_logit, lambda x, g: g * x - np.logaddexp(0, x))
CLOGLOG = Link(lambda p: np.log(-np.log1p(-p)), _slopes_of_cloglog, _value_of_cloglog)


def nearest_line(
    curve: Floats, weight: Floats, score: Floats, link: Link = LOGIT
) -> tuple[Floats, Floats]:
    """(a, b) minimising E_w KL(g || inverse link of a + b link(s)), one pair a draw.

    `curve` (draws, rows): g at each score; `weight`, `score` (rows,): weights sum to 1 over the
    rows; scores lie strictly between 0 and 1; returns `intercept, slope` (draws,).
    """
    if np.ptp(score, axis=-1).min() == 0:
        raise InputError(
            "intercept and slope need at least two distinct scores; every score here is the same. "
            "calibration_in_the_large is still defined."
        )
    x = link.of(score)
    centre, scale = x.mean(axis=-1, keepdims=True), x.std(axis=-1, keepdims=True)
    z = (x - centre) / np.where(scale > 0, scale, 1)
    if weight.min() < WEIGHT_FLOOR:
        weight = np.maximum(weight, WEIGHT_FLOOR)
    weights = np.broadcast_to(weight, curve.shape)
    events, powers = weights * curve, np.stack([np.ones_like(z), z, z * z], axis=-1)
    # The first step is from the diagonal, where what an event and a case add is common to draws.
    added = zip(link.slopes(x.copy(), 1.0, 0.0), link.slopes(x.copy(), 0.0, 1.0), strict=True)
    first, second = (
        _moments(events, of_event[..., None] * powers)
        + _moments(weights, of_case[..., None] * powers)
        for of_event, of_case in added
    )
    line = np.stack([centre, scale]).reshape(2, -1) + _newton_step(first, second)
    for kind, close in PRECISIONS:
        given: Any = (each.astype(kind, copy=False) for each in (powers, events, weights))
        unsettled = _settle(line, close, partial(_line_step, link, *given))
    for row in np.union1d(unsettled, np.flatnonzero(~np.isfinite(line).all(axis=0))):
        of_row = np.broadcast_to(z, curve.shape)[row], curve[row], weights[row]
        line[:, row] = _one_line(*of_row, link)
    slope = line[1] / scale[..., 0]
    return line[0] - slope * centre[..., 0], slope


def _settle(
    point: Floats, close: float, step_of: Callable[[Floats, Any], Floats]
) -> NDArray[np.intp]:
    """Move points (d, draws) by Newton's steps until one is short; those of which none was."""
    unsettled = np.arange(point.shape[1])
    for _ in range(MOST_STEPS):
        some = slice(None) if unsettled.size == point.shape[1] else unsettled
        step = step_of(point[:, some], some)
        point[:, some] += step
        unsettled = unsettled[~(np.abs(step).max(axis=0) < close)]
        if not unsettled.size:
            break
    return unsettled


def _line_step(
    link: Link, powers: Any, events: Any, weight: Any, line: Floats, some: Any
) -> Floats:
    """A Newton step of some lines, by passes in the precision of their curves."""
    line = line.astype(powers.dtype)
    if powers.ndim == 2:
        at = line.T @ powers[:, :2].T
    else:
        powers = powers[some]
        at = np.vecdot(powers[..., :2], line.T[:, None])
    first, second = link.slopes(at, events[some], weight[some])
    return _newton_step(_moments(first, powers), _moments(second, powers))


def _newton_step(first: Floats, second: Floats) -> Floats:
    """The step (2, draws) of lines, from moments (3, draws) of the two derivatives."""
    (r0, r1, _), (i0, i1, i2) = first, second
    step = np.stack([i1 * r1 - i2 * r0, i1 * r0 - i0 * r1])
    with np.errstate(over="ignore"):
        step /= np.maximum(i0 * i2 - i1**2, 1e-300)
    return np.asarray(np.clip(step, -LINE_LONGEST, LINE_LONGEST))


def _moments(values: Any, powers: Any) -> Floats:
    """Sums over the rows of the values times each power, of shape (powers, draws)."""
    sums = values @ powers if powers.ndim == 2 else (values[:, None] @ powers)[:, 0]
    return np.asarray(sums.T, dtype=np.float64)


def _one_line(z: Floats, g: Floats, weight: Floats, link: Link) -> Floats:
    """One line, by steps that are cut while they do not climb."""
    basis = np.column_stack([np.ones_like(z), z])

    def objective(line: Floats) -> tuple[float, Floats, Floats]:
        at = basis @ line
        value = float(weight @ link.value(at, g))
        first, second = link.slopes(at.copy(), weight * g, weight)
        return value, basis.T @ first, (basis.T * second) @ basis

    return maximise(objective, np.zeros(2), tolerance=1e-20).point


def nearest_shift(target: Floats, weight: Floats, score: Floats) -> Floats:
    """The shift a that makes E_w expit(logit s + a) the expected events, one number a draw.

    By Newton's method on the log-odds of the mean.
    `target` (draws,): expected events a case, E_w g; `weight`, `score` (rows,): weights sum to 1
    over the rows; returns (draws,).
    """
    weights = np.broadcast_to(weight, (target.size, weight.shape[-1]))
    goal, against = log_odds_of(target), 1 / score - 1  # odds against the event
    # Without a shift what is predicted are the scores.
    shift = _shift_step(goal, np.vecdot(weights, score), np.vecdot(weights, score**2))
    for kind, close in PRECISIONS:
        given: Any = (each.astype(kind, copy=False) for each in (against, weights))
        _settle(shift, close, partial(_shifted, goal, *given))
    return np.asarray(shift[0])


def _shifted(goal: Floats, against: Any, weight: Any, shift: Floats, some: Any) -> Floats:
    """A Newton step of some shifts, by passes in the precision of the weights."""
    with np.errstate(over="ignore"):
        odds = np.exp(-shift).astype(weight.dtype).T
        predicted = odds * (against if against.ndim == 1 else against[some])
    predicted += 1
    np.reciprocal(predicted, out=predicted)
    mass = predicted * weight[some]
    return _shift_step(goal[some], np.vecdot(predicted, weight[some]), np.vecdot(mass, predicted))


def _shift_step(goal: Floats, mean: Floats, square: Floats) -> Floats:
    """The step (1, draws) of shifts from the means of what is predicted and of its square."""
    mean = np.clip(mean.astype(np.float64), FLOOR, 1 - FLOOR)
    slope = np.maximum(mean - square, 1e-300)
    step = (goal - logit(mean)) * mean * (1 - mean) / slope
    return np.asarray(np.clip(step, -SHIFT_LONGEST, SHIFT_LONGEST))[None]


ERROR_LEVELS = (0.5, 0.9)  # of E50 and E90


@dataclass(frozen=True)
class CurveDraws:
    """Draws of a calibration curve at the scores of a population.

    What several functionals need is worked out once and kept.

    Attributes
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    population : Population
        The scores and their weights.
    """

    curve: Floats
    population: Population

    @cached_property
    def error(self) -> Floats:
        """The curve minus the score, of shape (draws, rows)."""
        return self.curve - self.population.score

    @cached_property
    def distance(self) -> Floats:
        """Absolute errors, of shape (draws, rows), or (1, rows) where all draws are one curve."""
        one_curve = self.curve.strides[0] == 0 and self.population.score.ndim == 1
        error = (self.curve[:1] if one_curve else self.curve) - self.population.score
        return np.abs(error, out=error)

    @cached_property
    def largest(self) -> Floats:
        """The largest absolute error, of shape (draws,) or (1,)."""
        return np.asarray(self.distance.max(axis=1))

    @cached_property
    def ranked(self) -> tuple[Any, Floats]:
        """Absolute errors in ascending order, of shape (rows, draws) or (rows, 1), and beneath.

        That is the weight, or cases where they are whole, up to each, itself included.
        """
        error: Any = self.distance
        population = self.population
        counted = population.weight if population.trials is None else population.trials
        if len(error) > 1 and counted.ndim > 1:
            # Sorted as doubles, the error above and its weight below: a third of the time of an
            # order and of what it picks.
            pairs = np.stack([counted, error], axis=-1, dtype=np.float32, casting="same_kind")
            pairs.view(np.float64).sort(axis=1)
            error, beneath = pairs[..., 1].T, pairs[..., 0].T.astype(np.float64, order="C")
        else:
            order = np.argsort(error, axis=1)
            beneath = np.array(counted.T[order[0], :] if counted.ndim > 1 else counted[order].T)
            error = np.take_along_axis(error, order, axis=1).T
        for before, row in pairwise(beneath):  # `cumsum` takes three times as long
            row += before
        return error, beneath

    @cached_property
    def error_quantiles(self) -> Floats:
        """The quantiles `ERROR_LEVELS` of the absolute error, of shape (levels, draws).

        Of type 7 over patients for a sample, else the weighted inverse CDF. Where the cases of a
        row differ they are interpolated between rows.
        """
        total, share = self.ranked[1][-1], np.array(ERROR_LEVELS)[:, None]
        if self.population.merged:
            quantiles = self._interpolated(share * total)
        elif self.population.trials is None:
            quantiles = self._error_at(self._reaching(share * total))
        else:
            position = (total - 1) * share
            floor = np.floor(position)
            lower, upper = (self._error_at(self._reaching(floor + k)) for k in (1, 2))
            quantiles = lower + (position - floor) * (upper - lower)
        # Single precision may have rounded them up.
        quantiles = np.minimum(quantiles, self.largest)
        return np.array(np.broadcast_to(quantiles, (len(share), len(self.curve))))

    def _interpolated(self, level: Floats) -> Floats:
        """The errors at which the weight below is `level`, half the weight of a row below its own.

        Beyond the middles of the outer rows it is the least or the largest.
        """
        below = self.ranked[1]
        draw = np.arange(below.shape[1])

        def middle(row: NDArray[np.intp]) -> Floats:
            before = np.where(row > 0, below[row - 1, draw], 0)
            return np.asarray(before + below[row, draw]) / 2

        row = self._reaching(level)
        row += middle(row) < level
        lower, upper = np.maximum(row - 1, 0), np.minimum(row, len(below) - 1)
        start = middle(lower)
        gap = middle(upper) - start
        share = np.clip((level - start) / np.where(gap > 0, gap, 1), 0, 1)
        first, last = self._error_at(lower), self._error_at(upper)
        return np.asarray(first + share * (last - first))

    def _reaching(self, level: Floats) -> NDArray[np.intp]:
        """The first of the ordered rows with which the weight reaches each level."""
        below = self.ranked[1]
        rows = np.stack([np.count_nonzero(below < each, axis=0) for each in level])
        return np.asarray(np.minimum(rows, len(below) - 1))

    def _error_at(self, row: NDArray[np.intp]) -> Floats:
        """The absolute errors at ordered rows, of shape (levels, draws)."""
        error, _ = self.ranked
        of = np.arange(row.shape[1]) if error.shape[1] > 1 else 0
        return np.asarray(error[row, of], np.float64)

    @cached_property
    def events(self) -> Floats:
        """Expected events a case, E_w g, of shape (draws,)."""
        return self.mean(self.curve)

    @cached_property
    def predicted(self) -> Floats:
        """Predicted events a case, E_w s, of shape (draws,)."""
        return self.mean(self.population.score)

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        return nearest_line(self.curve, self.population.weight, self._inside)

    @cached_property
    def cloglog_line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in complementary log-log nearest to each draw."""
        return nearest_line(self.curve, self.population.weight, self._inside, CLOGLOG)

    @property
    def _inside(self) -> Floats:
        """The scores, strictly between 0 and 1."""
        population = self.population
        return population.score if population.inside is None else population.inside

    @cached_property
    def shift(self) -> Floats:
        """The shift in log-odds that gives each draw its expected events."""
        return nearest_shift(self.events, self.population.weight, self.population.score)

    def mean(self, values: Floats) -> Floats:
        """Average over the population, one number a draw."""
        weight = self.population.weight
        if values.ndim == 1:
            return self.each(weight @ values)
        if weight.ndim == 1:
            return np.asarray(np.broadcast_to(values, self.curve.shape) @ weight)
        return np.asarray(np.vecdot(np.broadcast_to(values, self.curve.shape), weight))

    def each(self, values: Floats) -> Floats:
        """One number a draw, of numbers that may be the same for all."""
        return np.array(np.broadcast_to(values, self.curve.shape[:1]))
