"""Perfect calibration: g(s) = s."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame

__all__ = ["IDENTITY"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit(score), np.empty((score.size, 0))


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


IDENTITY = Curve(
    name="identity",
    formula="logit s",
    coordinates=(),
    basis=_basis,
    combination=(),
    positive=(),
    derived=_derived,
)
