"""Temperature scaling: a slope on the log-odds through one half."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame

__all__ = ["TEMPERATURE"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return np.zeros(score.size), logit(score)[:, None]


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {"slope": exp(u["log_slope"])}


TEMPERATURE = Curve(
    name="temperature",
    formula="slope * logit s",
    coordinates=("log_slope",),
    basis=_basis,
    combination=((1.0,),),
    positive=(True,),
    derived=_derived,
)
