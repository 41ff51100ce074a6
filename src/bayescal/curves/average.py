"""The union of the families' coordinates: what an averaged posterior is stored in.

Each draw belongs to one family and is zero in the coordinates that family lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._validate import Floats
from bayescal.curves._curve import Curve, Frame
from bayescal.curves.beta import BETA
from bayescal.curves.spline import DEVIATIONS, deviation_columns, spline_frame

__all__ = ["AVERAGE"]


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
