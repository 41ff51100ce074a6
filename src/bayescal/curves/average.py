"""The union of the families' coordinates: what an averaged posterior is stored in.

Each draw belongs to one family and is zero in the coordinates that family lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._validate import Floats
from bayescal.curves._curve import Curve, Frame
from bayescal.curves.beta import BETA
from bayescal.curves.spline import DEVIATIONS, deviation_columns, spline_frame

__all__ = ["AVERAGE", "in_average"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    offset, line = BETA.basis(score, frame)
    return offset, np.hstack([line, deviation_columns(score, frame)])


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


_SIZE = BETA.size + len(DEVIATIONS)

AVERAGE = Curve(
    name="average",
    formula="a mixture of the families compared",
    coordinates=(*BETA.coordinates, *DEVIATIONS),
    basis=_basis,
    combination=(
        *(row + (0.0,) * len(DEVIATIONS) for row in BETA.combination),
        *map(tuple, np.eye(_SIZE)[BETA.size :].tolist()),
    ),
    positive=(*BETA.positive, *(False for _ in DEVIATIONS)),
    derived=_derived,
    shape_frame=spline_frame,
)


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
    ndarray of shape (draws, AVERAGE.size)
    """
    united = np.zeros((draws.shape[0], AVERAGE.size))
    for column, coordinate in enumerate(curve.coordinates):
        united[:, AVERAGE.coordinates.index(coordinate)] = draws[:, column]
    if curve.name == "temperature":  # a line through one half, wherever the centre is
        united[:, 0] = (np.exp(draws[:, 0]) - 1) * logit(frame.centre)
    return united
