"""The union of the families' coordinates: what an averaged posterior is stored in.

Each draw belongs to one family and is zero in the coordinates that family lacks.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.beta import BETA
from bayescal.model.curve import Curve, Frame
from bayescal.model.pieces import PIECES, cells_of
from bayescal.model.spline import deviation_columns, spline_frame, with_deviations

__all__ = ["AVERAGE", "average_of", "in_average"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    offset, line = BETA.basis(score, frame)
    return offset, np.hstack([line, deviation_columns(score, frame)])


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


AVERAGE = Curve(
    name="average",
    formula="a mixture of the families compared",
    coordinates=BETA.coordinates,
    basis=_basis,
    combination=BETA.combination,
    positive=BETA.positive,
    derived=_derived,
    shape_frame=spline_frame,
    sized=with_deviations,
    in_cells=True,
)


def _frame_with_cells(score: Floats, trials: Floats, centre: float) -> Frame:
    return replace(spline_frame(score, trials, centre), cells=cells_of(score, trials))


def average_of(families: Collection[str]) -> Curve:
    """The average's curve, with cells of the scores when `pieces` is among the families."""
    return replace(AVERAGE, shape_frame=_frame_with_cells) if PIECES.name in families else AVERAGE


def in_average(curve: Curve, draws: Floats, frame: Frame) -> Floats:
    """A family's draws in the union of coordinates, zero where it has none.

    Parameters
    ----------
    curve : Curve
    draws : ndarray of shape (draws, d)
        Its own working coordinates.
    frame : Frame
        Of the average.

    Returns
    -------
    ndarray of shape (draws, d)
        With as many columns as the average has at that frame.
    """
    names = AVERAGE.at(frame).coordinates
    united = np.zeros((draws.shape[0], len(names)))
    for column, coordinate in enumerate(curve.at(frame).coordinates):
        united[:, names.index(coordinate)] = draws[:, column]
    if curve.name == "temperature":  # a line through one half, wherever the centre is
        united[:, 0] = (np.exp(draws[:, 0]) - 1) * logit(frame.centre)
    return united
