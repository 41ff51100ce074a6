"""What a calibration curve family is: a basis on the log-odds scale, and its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.partition.cells import cell_of

__all__ = ["Curve", "Frame"]


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
    """

    centre: float
    knots: tuple[float, ...] = ()
    deviations: tuple[tuple[float, ...], ...] = ()
    cells: tuple[float, ...] = ()


def _only_centre(score: Floats, trials: Floats, centre: float) -> Frame:
    return Frame(centre)


def _as_it_is(curve: Curve, frame: Frame) -> Curve:
    return curve


@dataclass(frozen=True)
class Curve:
    """A family of calibration curves, linear in its coefficients on the log-odds scale.

    logit g(s) = offset(s) + sum_k coef_k(u) x_k(s). Each coefficient is a linear combination of
    the working coordinates u, or the exponential of one. That is all either engine needs.

    Curves made of stretches add shift + slope * logit s, with a shift and a slope for each cell of
    the scores as their last coordinates.

    Attributes
    ----------
    name : str
    formula : str
        The log-odds of g(s), for people.
    coordinates : tuple of str
        Names of the working coordinates u; all zero is perfect calibration.
    basis : callable
        `(score, frame) -> (offset (rows,), X (rows, k))`.
    combination : tuple of k tuples of length d
        Weights of the coordinates in each coefficient.
    positive : tuple of k bools
        Whether a coefficient is the exponential of its combination.
    derived : callable
        `(coordinates by name, frame) -> values by name`, reported beside the coordinates.
    shape_frame : callable
        `(score, trials, centre) -> Frame`: the constants of a fit, read off the scores.
    sized : callable
        `(curve, frame) -> Curve`: the family with the coordinates of one fit, when their number
        depends on the scores. Numbered coordinates (name_1, name_2, ...) are one variable.
    in_cells : bool
        Whether it has a shift and a slope for each cell of its frame.
    """

    name: str
    formula: str
    coordinates: tuple[str, ...]
    basis: Callable[[Floats, Frame], tuple[Floats, Floats]]
    combination: tuple[tuple[float, ...], ...]
    positive: tuple[bool, ...]
    derived: Callable[[dict[str, Any], Frame, Callable[[Any], Any]], dict[str, Any]]
    shape_frame: Callable[[Floats, Floats, float], Frame] = _only_centre
    sized: Callable[[Curve, Frame], Curve] = _as_it_is
    in_cells: bool = False

    def at(self, frame: Frame) -> Curve:
        """The family with the coordinates that it has at one fit."""
        smooth = tuple(name for name in self.coordinates if not name.startswith("cell_"))
        curve = self.sized(replace(self, coordinates=smooth), frame)
        numbers = range(1, self._cells(frame) + 1)
        cells = [f"cell_{name}_{k}" for name in ("shift", "slope") for k in numbers]
        return replace(curve, coordinates=(*curve.coordinates, *cells))

    @property
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
    def is_rough(self) -> bool:
        """Whether it has deviations, whose scale tau is integrated over."""
        return any(name.startswith("deviation") for name in self.coordinates)

    @property
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

    def log_odds(self, u: Floats, score: Floats, frame: Frame) -> Floats:
        """Log-odds of the curve, shape (draws, rows), for draws `u` of shape (draws, d).

        `score` has shape (rows,), common to all draws, or (draws, rows).
        """
        log_odds = self._smooth_log_odds(self._smooth(u, frame), score, frame)
        if self._cells(frame):
            rows, delta = self._off_diagonal(u, score, frame)
            log_odds[rows] += delta
        return log_odds

    def probability(self, u: Floats, score: Floats, frame: Frame) -> Floats:
        """The curve itself, g(score), of shape (draws, rows); on the diagonal it is the score."""
        if not u.shape[1]:
            return np.broadcast_to(score, (u.shape[0], score.shape[-1]))
        smooth = self._smooth(u, frame)
        log_odds = self._smooth_log_odds(smooth, score, frame)
        calibrated = np.logical_not(
            smooth.any(axis=1)
        )  # without the rounding of a trip through log-odds
        if not self._cells(frame):
            curve = expit_in_place(log_odds)
            curve[calibrated] = score if score.ndim == 1 else score[calibrated]
            return curve
        rows, delta = self._off_diagonal(u, score, frame)
        log_odds[rows] += delta
        curve = expit_in_place(log_odds)
        nowhere_off = calibrated & ~u.any(axis=1)
        curve[nowhere_off] = score if score.ndim == 1 else score[nowhere_off]
        stretches = curve[rows]
        on = (delta == 0) & calibrated[rows][:, None]
        np.copyto(stretches, score if score.ndim == 1 else score[rows], where=on)
        curve[rows] = stretches
        return curve

    def _smooth(self, u: Floats, frame: Frame) -> Floats:
        """The coordinates that are not of single cells."""
        return u[:, : u.shape[1] - 2 * self._cells(frame)]

    def _smooth_log_odds(self, smooth: Floats, score: Floats, frame: Frame) -> Floats:
        """Log-odds without what single cells add, of shape (draws, rows)."""
        offset, basis = self.basis(score.ravel(), frame)
        log_odds = np.empty((smooth.shape[0], score.shape[-1]))
        log_odds[:] = offset.reshape(score.shape)
        if smooth.shape[1]:
            coefficients = np.stack(self.at(frame).coefficients(list(smooth.T)), axis=1)
            if score.ndim == 1:
                log_odds += coefficients @ basis.T
            else:
                basis = basis.reshape(*score.shape, -1)
                log_odds += np.einsum("ik,ijk->ij", coefficients, basis)
        return log_odds

    def _cells(self, frame: Frame) -> int:
        return max(len(frame.cells) - 1, 0) if self.in_cells else 0

    def _off_diagonal(self, u: Floats, score: Floats, frame: Frame) -> tuple[Any, Floats]:
        """Draws with stretches off the diagonal, and how far off they are at each score.

        Beyond the scores that were fitted they stay as far off as at the last of these.
        """
        cells = self._cells(frame)
        by_cell = u[:, u.shape[1] - 2 * cells :]
        off = by_cell.any(axis=1)
        rows = slice(None) if off.all() else np.flatnonzero(off)
        x = logit(score if score.ndim == 1 else score[rows])
        x = np.clip(x, frame.cells[0], frame.cells[-1])
        cell = cell_of(x, np.array(frame.cells[1:-1]))
        shift, slope = by_cell[rows, :cells], by_cell[rows, cells:]
        if score.ndim == 1:
            delta = slope[:, cell]
            delta *= x
            delta += shift[:, cell]
            return rows, delta
        return rows, np.take_along_axis(shift, cell, 1) + np.take_along_axis(slope, cell, 1) * x


def expit_in_place(log_odds: Floats) -> Floats:
    """1 / (1 + exp(-x)), written over x: three times faster than a general expit."""
    np.negative(log_odds, out=log_odds)
    with np.errstate(over="ignore"):
        np.exp(log_odds, out=log_odds)
    log_odds += 1
    return np.reciprocal(log_odds, out=log_odds)
