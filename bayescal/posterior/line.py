"""The line in log-odds nearest to a curve: intercept and slope, and the shift at slope one.

Every draw of a curve has its own weights of the scores. Where the scores are common to all draws,
the sums that the equations need are expanded in powers round the solution of one curve: they are
then a matrix product, and all draws are solved at once without a sum over the scores. Draws that
are too far from that curve are solved by Newton steps on the sums themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import maximise
from bayescal.model.curve import expit_in_place

__all__ = ["Expansion", "Totals", "nearest_line", "nearest_shift"]

FLOOR = 1e-15
WEIGHT_FLOOR = 1e-12  # keeps a line defined in a draw that gives all its weight to one score
LINE_CLOSE = 1e-4  # a Newton step this short leaves an error of the order of its square
LINE_STEPS = 25
LINE_LONGEST = 3.0
POWERS = 5  # of an expansion
TARGETS = 2  # sums of the curve, alone and times z
EXPANDED_STEPS = 4
EXPANSION_NEGLIGIBLE = 1e-4  # what the last power of an expansion may move
EXPANSION_START = 0.1  # and what it may move where the expansion is at least a start


@dataclass(frozen=True)
class Expansion:
    """What a line and a shift predict at scores, in powers of how far both are from one curve's.

    Attributes
    ----------
    curve, weight, score : ndarray of shape (rows,)
        The curve, strictly inside (0, 1), whose own line and shift it is round; weights sum to 1.
    inside : ndarray of shape (rows,)
        The scores whose log-odds the line is of: those of 0 and 1 moved.
    """

    curve: Floats
    weight: Floats
    score: Floats
    inside: Floats

    @cached_property
    def z(self) -> Floats:
        """Log-odds of the scores, with mean 0 and standard deviation 1, of shape (rows,)."""
        return _standardised(self.inside)[0]

    @cached_property
    def line(self) -> Floats:
        """Intercept and slope in z, of shape (2,)."""
        z, centre, scale = _standardised(self.inside)
        weight = np.maximum(self.weight, WEIGHT_FLOOR)[None]
        target = _sums(weight * self.curve, [np.ones_like(z), z])
        start = np.array([[centre[0], scale[0]]])
        return np.asarray(_newton(z, target, weight, start)[0][0])

    @cached_property
    def shift(self) -> float:
        """The shift at slope one."""
        target = np.clip(self.curve @ self.weight, FLOOR, 1 - FLOOR)
        odds = 1 / self.score - 1
        return float(_shift(odds, target[None], self.weight[None], np.zeros(1))[0])

    @cached_property
    def columns(self) -> Floats:
        """What `sums` adds up under the weights, of shape (rows, columns).

        The score; p_j for every power j, round the shift; and round the line p_j z^k for every
        power j and k up to j + 1.
        """
        round_shift = _powers(expit(logit(self.score) + self.shift))
        round_line = _powers(expit(self.line[0] + self.line[1] * self.z))
        of_line = [p * self.z**k for j, p in enumerate(round_line) for k in range(j + 2)]
        return np.stack([self.score, *round_shift, *of_line], axis=1)

    def sums(self, curve: Floats, weight: Floats) -> Floats:
        """All that lines and shifts of a block of draws need, of shape (draws, sums).

        Sums over the scores: of the curve, alone and times z, and of `columns`.

        Parameters
        ----------
        curve : ndarray of shape (draws, rows)
        weight : ndarray of shape (rows,) or (draws, rows)
        """
        own = _sums(weight * curve, [np.ones_like(self.z), self.z])
        shared = weight @ self.columns
        return np.hstack([own, np.broadcast_to(shared, (len(own), shared.shape[-1]))])


@dataclass(frozen=True)
class Totals:
    """Draws of curves, block by block, as far as sums over scores that all share describe them.

    Attributes
    ----------
    curve, weight : sequence of ndarray of shape (draws, rows)
        Weights also of shape (rows,).
    sums : sequence of ndarray of shape (draws, sums)
        As `Expansion.sums` gives them.
    """

    expansion: Expansion
    curve: Sequence[Floats]
    weight: Sequence[Floats]
    sums: Sequence[Floats]

    @cached_property
    def events(self) -> Floats:
        """Expected events a case, E_w g, of shape (draws,)."""
        return np.array(self._columns[0])

    @cached_property
    def predicted(self) -> Floats:
        """Predicted events a case, E_w s, of shape (draws,)."""
        return np.array(self._columns[TARGETS])

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        _check_scores(self.expansion.inside)
        z, centre, scale = _standardised(self.expansion.inside)
        of_line = self._columns[TARGETS + 1 + POWERS + 1 :]
        line, solved = _line_by_expansion(self.expansion, self._columns[:TARGETS].T, of_line)
        for rows, curve, weight in self._unsolved(solved):
            line[rows] = _lines(z, curve, weight, line[rows])
        return _unstandardised(line, centre, scale)

    @cached_property
    def shift(self) -> Floats:
        """The shift that gives each draw its expected events."""
        target = np.clip(self.events, FLOOR, 1 - FLOOR)
        of_shift = self._columns[TARGETS + 1 : TARGETS + 1 + POWERS + 1]
        shift, solved = _shift_by_expansion(self.expansion, target, of_shift)
        odds = 1 / self.expansion.score - 1
        for rows, _, weight in self._unsolved(solved):
            shift[rows] = _shift(odds, target[rows], weight, shift[rows])
        return shift

    @cached_property
    def _columns(self) -> Floats:
        """The sums of all draws, of shape (sums, draws)."""
        return np.ascontiguousarray(np.concatenate(self.sums).T)

    def _unsolved(
        self, solved: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
        """The other draws with their curves and weights, block by block."""
        start = 0
        for curve, weight in zip(self.curve, self.weight, strict=True):
            rest = np.flatnonzero(~solved[start : start + len(curve)])
            if rest.size:
                yield start + rest, curve[rest], np.broadcast_to(weight, curve.shape)[rest]
            start += len(curve)


def nearest_line(curve: Floats, weight: Floats, score: Floats) -> tuple[Floats, Floats]:
    """(a, b) minimising E_w KL(g || expit(a + b logit s)), one pair a draw.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    weight, score : ndarray of shape (rows,) or (draws, rows)
        Weights sum to 1 over the rows.

    Returns
    -------
    intercept, slope : ndarray of shape (draws,)
    """
    _check_scores(score)
    z, centre, scale = _standardised(score)
    start = np.broadcast_to(np.concatenate([centre, scale], axis=-1), (len(curve), 2))
    line = _lines(z, curve, np.broadcast_to(weight, curve.shape), start)
    return _unstandardised(line, centre, scale)


def _check_scores(score: Floats) -> None:
    if np.ptp(score, axis=-1).min() == 0:
        raise InputError(
            "intercept and slope need at least two distinct scores; every score here is the same. "
            "calibration_in_the_large is still defined."
        )


def _standardised(score: Floats) -> tuple[Floats, Floats, Floats]:
    """Log-odds with mean 0 and standard deviation 1 over the rows; the mean and deviation."""
    x = logit(score)
    centre, scale = x.mean(axis=-1, keepdims=True), x.std(axis=-1, keepdims=True)
    return (x - centre) / np.where(scale > 0, scale, 1), centre, scale


def _unstandardised(line: Floats, centre: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Intercept and slope in log-odds of lines in z."""
    slope = line[:, 1] / scale[..., 0]
    return line[:, 0] - slope * centre[..., 0], slope


def _lines(z: Floats, curve: Floats, weight: Floats, start: Floats) -> Floats:
    """Lines in z, of shape (draws, 2), by Newton steps, or one by one where those fail."""
    weights = np.maximum(weight, WEIGHT_FLOOR)
    line, settled = _newton(z, _sums(weights * curve, [np.ones_like(z), z]), weights, start)
    for row in np.flatnonzero(~settled):
        line[row] = _one_line(np.broadcast_to(z, curve.shape)[row], curve[row], weights[row])
    return line


def _newton(
    z: Floats, target: Floats, weight: Floats, start: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Lines in z, of shape (draws, 2), and which of them have settled."""
    line = np.array(start)
    unsettled = np.arange(len(line))
    for _ in range(LINE_STEPS):
        every = unsettled.size == len(line)
        own = z if z.ndim == 1 else z[unsettled]
        weights = weight if every else weight[unsettled]
        fitted = _expit_of_line(line[unsettled], own)
        mass = fitted * weights
        np.subtract(1, fitted, out=fitted)
        residual = target[unsettled] - _sums(mass, [np.ones_like(own), own])
        fitted *= mass
        step = _solved(residual, _sums(fitted, [np.ones_like(own), own, own**2]))
        line[unsettled] += step
        unsettled = unsettled[~(np.abs(step).max(axis=1) < LINE_CLOSE)]
        if not unsettled.size:
            break
    settled = np.asarray(np.isfinite(line).all(axis=1))
    settled[unsettled] = False
    return line, settled


def _expit_of_line(line: Floats, z: Floats) -> Floats:
    log_odds = line[:, 1:] * z
    log_odds += line[:, :1]
    return expit_in_place(log_odds)


def _line_by_expansion(
    expansion: Expansion, target: Floats, sums: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Lines in z of all draws, and for which of them the expansion is exact enough.

    From the events, of shape (draws, 2), and the sums of the expansion, of shape (sums, draws).
    """
    by_power = np.split(sums, np.cumsum(np.arange(2, POWERS + 2)))
    step = _solved(target - by_power[0].T, by_power[1].T)
    a, b = step.T
    for _ in range(EXPANDED_STEPS - 1):
        slope = by_power[-1]
        value = _lowered(slope, a, b) + by_power[-2]
        for lower in by_power[-3::-1]:  # Horner's scheme
            slope = _lowered(slope, a, b) + value
            value = _lowered(value, a, b) + lower
        step = _solved(target - value.T, slope.T)
        a, b = a + step[:, 0], b + step[:, 1]
        if np.abs(step).max() < LINE_CLOSE:
            break
    top = by_power[-1]
    for _ in range(POWERS):
        top = _lowered(top, a, b)
    moved = np.abs(_solved(top.T, slope.T)).max(axis=1)
    close = (moved < EXPANSION_NEGLIGIBLE) & (np.abs(step).max(axis=1) < LINE_CLOSE)
    step = np.where(moved < EXPANSION_START, [a, b], 0).T
    return expansion.line + step, close


def _lowered(sums: Floats, a: Floats, b: Floats) -> Floats:
    """Sums of a + b z times each power of z, from sums of the powers; one power is lost."""
    return np.asarray(a * sums[:-1] + b * sums[1:])


def _powers(p: Floats) -> list[Floats]:
    """Coefficients of expit(x + t) in powers of t, from p = expit(x): its slope is p (1 - p)."""
    powers = [p]
    for j in range(POWERS):
        product = sum(powers[i] * powers[j - i] for i in range(j + 1))
        powers.append((powers[j] - product) / (j + 1))
    return powers


def _sums(values: Floats, columns: Sequence[Floats]) -> Floats:
    """Sums over the rows of the values times each column, of shape (draws, columns)."""
    if columns[0].ndim == 1:
        return np.asarray(values @ np.stack(columns, axis=1))
    return np.stack([np.einsum("ij,ij->i", values, column) for column in columns], axis=1)


def _solved(residual: Floats, information: Floats) -> Floats:
    """Newton step of a two-parameter regression for every draw at once."""
    (r0, r1), (i0, i1, i2) = residual.T, information.T
    determinant = np.maximum(i0 * i2 - i1**2, 1e-300)
    step = np.array([i2 * r0 - i1 * r1, i0 * r1 - i1 * r0])
    with np.errstate(over="ignore"):
        step /= determinant
    return np.asarray(np.clip(step, -LINE_LONGEST, LINE_LONGEST).T)


def _one_line(z: Floats, g: Floats, weight: Floats) -> Floats:
    basis = np.column_stack([np.ones_like(z), z])

    def negative_divergence(line: Floats) -> tuple[float, Floats, Floats]:
        eta = basis @ line
        fitted = expit(eta)
        value = weight @ (g * eta - np.logaddexp(0, eta))
        hessian = -(basis.T * (weight * fitted * (1 - fitted))) @ basis
        return float(value), basis.T @ (weight * (g - fitted)), hessian

    return maximise(negative_divergence, np.zeros(2), tolerance=1e-20).point


def nearest_shift(target: Floats, weight: Floats, score: Floats) -> Floats:
    """The shift a that makes E_w expit(logit s + a) the expected events, one number a draw.

    Parameters
    ----------
    target : ndarray of shape (draws,)
        Expected events a case, E_w g.
    weight, score : ndarray of shape (rows,) or (draws, rows)
        Weights sum to 1 over the rows.

    Returns
    -------
    ndarray of shape (draws,)
    """
    weights = np.broadcast_to(weight, (target.size, weight.shape[-1]))
    odds = 1 / score - 1  # against the event
    return _shift(odds, np.clip(target, FLOOR, 1 - FLOOR), weights, np.zeros(target.size))


def _shift_by_expansion(
    expansion: Expansion, target: Floats, sums: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Shifts of all draws, and for which of them the expansion is exact enough."""
    step = np.zeros(target.size)
    for _ in range(EXPANDED_STEPS):
        value, slope = sums[-1], np.zeros(target.size)
        for coefficient in sums[-2::-1]:
            slope = slope * step + value
            value = value * step + coefficient
        slope = np.maximum(slope, 1e-300)
        last = np.clip((target - value) / slope, -1, 1)
        step = step + last
    moved = np.abs(sums[-1] * step**POWERS / slope)
    close = (moved < EXPANSION_NEGLIGIBLE) & (np.abs(last) < LINE_CLOSE)
    return expansion.shift + np.where(moved < EXPANSION_START, step, 0), close


def _shift(odds: Floats, target: Floats, weight: Floats, start: Floats) -> Floats:
    """By Newton's method on the log-odds of the mean."""
    shift = np.array(start)
    unsettled = np.arange(shift.size)
    for _ in range(4 * LINE_STEPS):
        with np.errstate(over="ignore"):
            against = np.exp(-shift[unsettled, None]) * (
                odds if odds.ndim == 1 else odds[unsettled]
            )
        against += 1
        predicted = np.reciprocal(against, out=against)
        mass = predicted * weight[unsettled]
        mean = np.clip(mass.sum(axis=1), FLOOR, 1 - FLOOR)
        np.subtract(1, predicted, out=predicted)
        slope = np.maximum(np.einsum("ij,ij->i", mass, predicted), 1e-300)
        step = (logit(target[unsettled]) - logit(mean)) * mean * (1 - mean) / slope
        shift[unsettled] += np.clip(step, -5, 5)
        unsettled = unsettled[~(np.abs(step) < LINE_CLOSE)]
        if not unsettled.size:
            break
    return shift
