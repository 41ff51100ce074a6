"""What a calibration curve family is: a basis on the log-odds scale, and its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped
from bayescal.model.cells import cell_of
from bayescal.model.prior import Distribution

__all__ = ["Curve", "CurveAtScores", "Frame"]


# The coordinates that are the floor, and the distance of the ceiling from one.
RATES = ("guess", "lapse")


def bounded_probability(h: Floats, guess: Floats, lapse: Floats) -> Floats:
    """The curve g between its floor and its ceiling, from h in [0, 1]."""
    curve = np.asarray((1 - guess - lapse) * h)
    curve += guess
    return curve


def bounded_log_odds(log_odds: Floats, guess: Floats, lapse: Floats) -> Floats:
    """Log-odds of g, from those of h, without the loss of digits near 0 and 1."""
    with np.errstate(divide="ignore"):
        event = np.logaddexp(np.log(guess), np.log1p(-lapse) + log_odds)
        other = np.logaddexp(np.log1p(-guess), np.log(lapse) + log_odds)
    return np.asarray(event - other)


def between(
    score: Floats, scores: Floats
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], Floats]:
    """The neighbours of each score among ascending ones, and how far it is to the right one."""
    right = np.clip(np.searchsorted(scores, score), 0, scores.size - 1)
    left = np.where(scores[right] > score, np.maximum(right - 1, 0), right)
    gap = scores[right] - scores[left]
    share = np.clip((score - scores[left]) / np.where(gap > 0, gap, 1), 0, 1)
    return (left, right), share


@dataclass(frozen=True)
class Frame:
    """The constants of a family at one fit; they depend on scores and trials, never on outcomes.

    Attributes
    ----------
    centre : float
        Score m at which `shift` acts.
    knots : tuple of float
        Log-odds between which a spline bends.
    deviations : tuple of tuples of float, of shape (knots, deviations)
        Values at the knots of a spline's deviations from a line, of unit prior scale.
    cells : tuple of float
        Log-odds at which cells of the scores begin and end, for curves made of stretches.
    scores : tuple of float
        The distinct scores, ascending, for a family with a risk of its own at each.
    """

    centre: float
    knots: tuple[float, ...] = ()
    deviations: tuple[tuple[float, ...], ...] = ()
    cells: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> Frame:
        """The frame that a tree's attribute describes."""
        lists = {name: tuple(read[name]) for name in ("knots", "cells", "scores")}
        return cls(read["centre"], deviations=tuple(map(tuple, read["deviations"])), **lists)

    @cached_property
    def sized(self) -> list[tuple[Curve, Curve]]:
        """Families, and what `Curve.at` made of each at this frame."""
        return []


def _only_centre(score: Floats, trials: Floats, centre: float) -> Frame:
    return Frame(centre)


def _nothing(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Curve:
    """A family of calibration curves, linear in its coefficients on the log-odds scale.

    logit g(s) = offset(s) + sum_k coef_k(u) x_k(s). Each coefficient is a linear combination of
    the working coordinates u, or the exponential of one. That is all either engine needs.

    Curves made of stretches add shift + slope * logit s, with a shift and a slope for each cell of
    the scores as their last coordinates. Curves with a risk of its own at each of a few scores have
    an error for each, the risk minus the score, as coordinates before these; between two scores
    the error changes in proportion to the score. If `guess` and `lapse` are among the coordinates,
    the curve is guess + (1 - guess - lapse) h(s), and the log-odds above are those of h.

    Attributes
    ----------
    name : str
    formula : str
        The log-odds of g(s), as text.
    coordinates : tuple of str
        Names of the working coordinates u; all zero is perfect calibration. The centre of the frame
        acts on `shift` alone: another centre is the same curve with another shift.
    basis : callable
        `(score, frame) -> (offset (rows,), X (rows, k))`.
    combination : tuple of k tuples of length d
        Weights of the coordinates in each coefficient.
    positive : tuple of k bools
        Whether a coefficient is the exponential of its combination.
    derived : callable
        `(coordinates by name, frame, exp) -> values by name`, reported beside the coordinates.
    shape_frame : callable
        `(score, trials, centre) -> Frame`: the constants of a fit, read off the scores.
    sized : callable, optional
        `(curve, frame) -> Curve`: the family with the coordinates of one fit, when their number
        depends on the scores. Numbered coordinates (name_1, name_2, ...) are one variable.
    in_cells : bool
        Whether it has a shift and a slope for each cell of its frame.
    per_score : bool
        Whether it has an error of its own at each of its frame's scores.
    has_prior : bool
        Whether there is a prior of its coordinates.
    priors : tuple of (str, Normal, StudentT or Rate) pairs
        Prior of each coordinate that is not one of `shift`, `log_slope`, `asymmetry` and the
        deviations, unless the user's prior names it.
    in_average : callable, optional
        `(u of shape (draws, d), frame) -> coordinates by name` of the average, each of shape
        (draws,), for a family whose coordinates mean something else there.
    meaning : str
        Which errors it describes, as text; by default its formula.
    update : str
        What recalibrating by it does, as an instruction; empty if `bayescal.recommend` leaves it
        out.
    """

    name: str
    formula: str
    coordinates: tuple[str, ...]
    basis: Callable[[Floats, Frame], tuple[Floats, Floats]]
    combination: tuple[tuple[float, ...], ...]
    positive: tuple[bool, ...]
    derived: Callable[[dict[str, Any], Frame, Callable[[Any], Any]], dict[str, Any]] = _nothing
    shape_frame: Callable[[Floats, Floats, float], Frame] = _only_centre
    sized: Callable[[Curve, Frame], Curve] | None = None
    in_cells: bool = False
    per_score: bool = False
    has_prior: bool = True
    priors: tuple[tuple[str, Distribution], ...] = ()
    in_average: Callable[[Floats, Frame], dict[str, Floats]] | None = None
    meaning: str = ""
    update: str = ""

    def at(self, frame: Frame) -> Curve:
        """The family with the coordinates that it has at one fit."""
        for curve, sized in frame.sized:
            if self is curve or self is sized:
                return sized
        curve = self
        if self.in_cells or self.per_score:
            numbered = ("error_", "cell_")
            smooth = tuple(name for name in self.coordinates if not name.startswith(numbered))
            curve = replace(self, coordinates=smooth)
        curve = curve if self.sized is None else self.sized(curve, frame)
        if self.in_cells or self.per_score:
            number, of_cells = self._numbered(frame)
            errors, numbers = [f"error_{k}" for k in range(1, number + 1)], range(1, of_cells + 1)
            cells = [f"cell_{name}_{k}" for name in ("shift", "slope") for k in numbers]
            curve = replace(curve, coordinates=(*curve.coordinates, *errors, *cells))
        frame.sized.append((self, curve))
        return curve

    @cached_property
    def variables(self) -> dict[str, list[str]]:
        """Coordinates of each variable of a tree: itself, or those numbered after its name."""
        variables: dict[str, list[str]] = {}
        for name in self.coordinates:
            stem, _, number = name.rpartition("_")
            variables.setdefault(stem if number.isdigit() else name, []).append(name)
        return variables

    @property
    def dims(self) -> dict[str, str]:
        """Dimension of each variable of numbered coordinates, as ArviZ names it."""
        return {
            name: "cell" if name.startswith("cell_") else f"{name}_dim_0"
            for name, numbered in self.variables.items()
            if numbered != [name]
        }

    @property
    def has_atoms(self) -> bool:
        """Whether parts of its curves can be exactly on the diagonal, and others not."""
        return self.in_cells or self.per_score

    @cached_property
    def is_rough(self) -> bool:
        """Whether it has deviations, whose scale tau is integrated over."""
        return "deviation_1" in self.coordinates

    @cached_property
    def is_bounded(self) -> bool:
        """Whether it has a floor and a ceiling."""
        return set(RATES) <= set(self.coordinates)

    @cached_property
    def rates(self) -> list[int]:
        """Where the floor and the ceiling are among the coordinates, if it has them."""
        return [self.coordinates.index(name) for name in RATES] if self.is_bounded else []

    @cached_property
    def size(self) -> int:
        """Number of working coordinates."""
        return len(self.coordinates)

    def coefficients(self, u: Sequence[Any], exp: Callable[[Any], Any] = np.exp) -> list[Any]:
        """Coefficients at working coordinates `u`.

        Works on numbers, arrays and symbolic variables alike, given their `exp`.
        """
        combined = [
            sum(weight * value for weight, value in zip(row, u, strict=True) if weight)
            for row in self.combination
        ]
        return [
            exp(value) if positive else value
            for value, positive in zip(combined, self.positive, strict=True)
        ]

    @cached_property
    def _combined(self) -> tuple[list[tuple[slice, slice]], NDArray[np.intp], Floats]:
        """What coefficients are made of, before the exponential.

        Most are a coordinate each: which runs of coefficients are which runs of coordinates. Then
        the coefficients that are not, and their weights, of shape (coordinates, so many).
        """
        matrix = np.array(self.combination, dtype=np.float64)
        is_one = (np.count_nonzero(matrix, axis=1) == 1) & (matrix.max(axis=1) == 1)
        single, others = np.flatnonzero(is_one), np.flatnonzero(~is_one)
        at = matrix[single].argmax(axis=1)
        starts = np.flatnonzero((np.diff(single, prepend=-2) != 1) | (np.diff(at, prepend=-2) != 1))
        runs = [
            (slice(to[0], to[-1] + 1), slice(of[0], of[-1] + 1))
            for to, of in zip(np.split(single, starts[1:]), np.split(at, starts[1:]), strict=True)
            if to.size
        ]
        return runs, others, np.ascontiguousarray(matrix[others].T)

    def with_offset(self, u: Floats) -> Floats:
        """Weight 1 of the offset, and the coefficients, of shape (draws, 1 + k), of many draws."""
        weights = np.ones((u.shape[0], 1 + len(self.positive)))
        if self.positive:
            coefficients, (runs, others, combination) = weights[:, 1:], self._combined
            for to, of in runs:
                coefficients[:, to] = u[:, of]
            if others.size:
                coefficients[:, others] = u @ combination
        for column, positive in enumerate(self.positive, start=1):
            if positive:
                np.exp(weights[:, column], out=weights[:, column])
        return weights

    def log_odds(self, u: Floats, score: Floats, frame: Frame) -> Floats:
        """Log-odds of the curve, shape (draws, rows), for draws `u` of shape (draws, d).

        `score` has shape (rows,), common to all draws, or (draws, rows).
        """
        return self.at_scores(score, frame).log_odds(u)

    def probability(self, u: Floats, score: Floats, frame: Frame) -> Floats:
        """The curve itself, g(score), of shape (draws, rows); on the diagonal it is the score."""
        return self.at_scores(score, frame).probability(u)

    def at_scores(self, score: Floats, frame: Frame, stated: Floats | None = None) -> CurveAtScores:
        """The family at fixed scores, for many draws: what does not depend on them is kept.

        `stated` are the scores that curves on the diagonal have, where they are read as others.
        """
        return CurveAtScores(self, score, frame, stated=stated)

    def _numbered(self, frame: Frame) -> tuple[int, int]:
        """How many errors of scores there are, and how many cells."""
        cells = max(len(frame.cells) - 1, 0) if self.in_cells else 0
        return len(frame.scores) if self.per_score else 0, cells


class CurveAtScores:
    """A family of curves at scores, of shape (rows,) or (draws, rows).

    `stated` are the same scores as they came in, which a curve on the diagonal has and errors are
    added to; log-odds are of the others, strictly inside (0, 1).
    """

    def __init__(
        self,
        curve: Curve,
        score: Floats,
        frame: Frame,
        stated: Floats | None = None,
    ) -> None:
        self.stated = score if stated is None else stated
        self._curve, (self._errors, self._cells) = curve.at(frame), curve._numbered(frame)
        self._rates = self._curve.rates
        if self._errors:
            self._neighbours, self._share = between(self.stated, np.array(frame.scores))
        offset, basis = curve.basis(score.ravel(), frame)
        columns = np.column_stack([offset, basis])
        self._columns = columns.reshape(*score.shape, columns.shape[1])
        if self._cells:
            x = np.clip(logit(score), frame.cells[0], frame.cells[-1])
            self._x, self._cell = x, cell_of(x, np.array(frame.cells[1:-1]))

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, d)."""
        log_odds, _ = self._without_bounds(u)
        if self._rates:
            rows, guess, lapse = self._bounds(u)
            log_odds[rows] = bounded_log_odds(log_odds[rows], guess, lapse)
        if self._errors:
            rows, risk = self._by_score(u)
            log_odds[rows] = logit(risk)
        return log_odds

    def probability(self, u: Floats) -> Floats:
        """The curves themselves, of shape (draws, rows); on the diagonal they are the score."""
        if not u.shape[1]:
            return np.broadcast_to(self.stated, (u.shape[0], self.stated.shape[-1]))
        log_odds, (off, delta) = self._without_bounds(u)
        curve = expit_in_place(log_odds)
        if self._rates:
            rows, guess, lapse = self._bounds(u)
            curve[rows] = bounded_probability(curve[rows], guess, lapse)
        # On the diagonal without the rounding of a trip through log-odds.
        smooth = u.shape[1] - 2 * self._cells - self._errors
        calibrated = np.logical_not(u[:, :smooth].any(axis=1))
        stated = np.broadcast_to(self.stated, curve.shape)
        if not self._cells:
            curve[calibrated] = stated[calibrated]
        else:
            nowhere_off = calibrated & np.logical_not(u[:, smooth:].any(axis=1))
            curve[nowhere_off] = stated[nowhere_off]
            stretches = curve[off]
            np.copyto(stretches, stated[off], where=(delta == 0) & calibrated[off][:, None])
            curve[off] = stretches
        if self._errors:
            rows, risk = self._by_score(u)
            curve[rows] = risk
        return curve

    def _without_bounds(self, u: Floats) -> tuple[Floats, tuple[Any, Floats]]:
        """Log-odds without floor, ceiling and errors; draws with stretches, and what they add."""
        weights = self._curve.with_offset(u[:, : u.shape[1] - 2 * self._cells - self._errors])
        if self.stated.ndim == 1:
            log_odds = weights @ self._columns.T
        else:
            log_odds = np.asarray(np.einsum("ik,ijk->ij", weights, self._columns))
        off, delta = slice(0), np.empty(0)
        if self._cells:
            off, delta = self._off_diagonal(u)
            log_odds[off] += delta
        return log_odds, (off, delta)

    def _bounds(self, u: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Draws with a floor or a ceiling, and both of these as columns."""
        rates = u[:, self._rates]
        rows = np.flatnonzero(rates.any(axis=1))
        return rows, rates[rows, :1], rates[rows, 1:]

    def _by_score(self, u: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Draws with errors of single scores, and their curves."""
        end = u.shape[1] - 2 * self._cells
        errors = u[:, end - self._errors : end]
        rows = np.flatnonzero(errors.any(axis=1))
        errors = errors[rows]
        if self.stated.ndim == 1:
            stated, share = self.stated, self._share
            low, high = errors[:, self._neighbours[0]], errors[:, self._neighbours[1]]
        else:
            stated, share = self.stated[rows], self._share[rows]
            low, high = (np.take_along_axis(errors, side[rows], 1) for side in self._neighbours)
        return rows, clipped(stated + low + share * (high - low))

    def _off_diagonal(self, u: Floats) -> tuple[Any, Floats]:
        """Draws with stretches off the diagonal, and how far off they are at each score.

        Beyond the scores that were fitted they stay as far off as at the last of these.
        """
        by_cell = u[:, u.shape[1] - 2 * self._cells :]
        off = by_cell.any(axis=1)
        rows = slice(None) if off.all() else np.flatnonzero(off)
        shift, slope = by_cell[rows, : self._cells], by_cell[rows, self._cells :]
        if self.stated.ndim == 1:
            delta = np.take(slope, self._cell, axis=1)
            delta *= self._x
            delta += np.take(shift, self._cell, axis=1)
            return rows, delta
        cell, x = self._cell[rows], self._x[rows]
        return rows, np.take_along_axis(shift, cell, 1) + np.take_along_axis(slope, cell, 1) * x


def expit_in_place(log_odds: Floats) -> Floats:
    """1 / (1 + exp(-x)), written over x: three times faster than a general expit."""
    np.negative(log_odds, out=log_odds)
    with np.errstate(over="ignore"):
        np.exp(log_odds, out=log_odds)
    log_odds += 1
    return np.reciprocal(log_odds, out=log_odds)
