"""Logistic recalibration (Cox, Platt): a shift and a slope on the log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame

__all__ = ["LOGISTIC"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    centre = logit(frame.centre)
    return np.full(score.size, centre), np.column_stack(
        [np.ones(score.size), logit(score) - centre]
    )


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {"slope": exp(u["log_slope"])}


LOGISTIC = Curve(
    name="logistic",
    formula="logit m + shift + slope * (logit s - logit m)",
    coordinates=("shift", "log_slope"),
    basis=_basis,
    combination=((1.0, 0.0), (0.0, 1.0)),
    positive=(False, True),
    derived=_derived,
)
