"""A constant shift in log-odds: calibration-in-the-large and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame

__all__ = ["INTERCEPT"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit(score), np.ones((score.size, 1))


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


INTERCEPT = Curve(
    name="intercept",
    formula="logit s + shift",
    coordinates=("shift",),
    basis=_basis,
    combination=((1.0,),),
    positive=(False,),
    derived=_derived,
)
