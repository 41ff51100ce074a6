"""The beta family of Kull et al. and Dong et al. (eq. 12): slopes of their own at each end."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame

__all__ = ["BETA"]


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    m = frame.centre
    columns = [
        np.ones(score.size),
        np.log(score) - np.log(m),
        np.log1p(-m) - np.log1p(-score),
    ]
    return np.full(score.size, logit(m)), np.column_stack(columns)


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    _, alpha, beta = BETA.coefficients([u[name] for name in BETA.coordinates], exp)
    m = frame.centre
    at_centre = float(logit(m)) + u["shift"]
    c = -(at_centre - alpha * float(np.log(m)) + beta * float(np.log1p(-m)))
    return {"alpha": alpha, "beta": beta, "c": c}


BETA = Curve(
    name="beta",
    formula="logit m + shift + alpha * log(s / m) - beta * log((1 - s) / (1 - m))",
    coordinates=("shift", "log_slope", "asymmetry"),
    basis=_basis,
    combination=((1.0, 0.0, 0.0), (0.0, 1.0, 0.5), (0.0, 1.0, -0.5)),
    positive=(False, True, True),
    derived=_derived,
)
