"""The parametric families, each a basis on the log-odds scale and what people call it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.symbolic import functions_for, logit_of
from bayescal.model.curve import Curve, Frame
from bayescal.model.lapse import RATES, Rate
from bayescal.model.prior import Normal

__all__ = [
    "BETA",
    "IDENTITY",
    "INTERCEPT",
    "LAPSE",
    "LOGISTIC",
    "NEAR_CURVE",
    "NOISE",
    "RATE_PRIORS",
    "TEMPERATURE",
    "line_basis",
    "slope_of",
]


def line_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    """Offset and basis of a shift at the centre and a slope on the log-odds."""
    of, centre = functions_for(score), logit(frame.centre)
    one = of.ones_like(score)
    return centre * one, of.stack([one, logit_of(score) - centre], axis=-1)


def slope_of(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The slope itself, from its logarithm."""
    return {"slope": exp(u["log_slope"])}


def _identity_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit_of(score), functions_for(score).zeros((score.shape[0], 0))


# Perfect calibration: g(s) = s.
IDENTITY = Curve(
    name="identity",
    formula="logit s",
    coordinates=(),
    basis=_identity_basis,
    combination=(),
    positive=(),
    meaning="exact calibration",
    update="do not update the model",
)


def _intercept_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit_of(score), functions_for(score).ones_like(score)[:, None]


# A constant shift in log-odds: calibration-in-the-large and nothing else.
INTERCEPT = Curve(
    name="intercept",
    formula="logit s + shift",
    coordinates=("shift",),
    basis=_intercept_basis,
    combination=((1.0,),),
    positive=(False,),
    meaning="risks too high, or too low, throughout",
    update="update the intercept",
)


def _temperature_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return functions_for(score).zeros_like(score), logit_of(score)[:, None]


def _through_one_half(u: Floats, frame: Frame) -> dict[str, Floats]:
    """A line through one half, wherever the centre of the average is."""
    return {"log_slope": u[:, 0], "shift": (np.exp(u[:, 0]) - 1) * logit(frame.centre)}


# Temperature scaling: a slope on the log-odds through one half.
TEMPERATURE = Curve(
    name="temperature",
    formula="slope * logit s",
    coordinates=("log_slope",),
    basis=_temperature_basis,
    combination=((1.0,),),
    positive=(True,),
    derived=slope_of,
    in_average=_through_one_half,
    meaning="predictions too extreme, or too moderate",
)


# Logistic recalibration (Cox, Platt): a shift and a slope on the log-odds.
LOGISTIC = Curve(
    name="logistic",
    formula="logit m + shift + slope * (logit s - logit m)",
    coordinates=("shift", "log_slope"),
    basis=line_basis,
    combination=((1.0, 0.0), (0.0, 1.0)),
    positive=(False, True),
    derived=slope_of,
    meaning="an intercept and a slope",
    update="update intercept and slope (logistic recalibration)",
)


# A logistic curve very near the diagonal, so that exact calibration does not stand for it.
NEAR_CURVE = replace(
    LOGISTIC,
    name="near",
    priors=(("shift", Normal(0.0, 0.05)), ("log_slope", Normal(0.0, 0.05))),
    meaning="off by a few per cent, which matters to nobody",
    update="",
)


def _beta_basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    of, m = functions_for(score), frame.centre
    one = of.ones_like(score)
    columns = [one, of.log(score) - np.log(m), np.log1p(-m) - of.log1p(-score)]
    return logit(m) * one, of.stack(columns, axis=-1)


def _beta_derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """Parameters of logit g = alpha log s - beta log(1 - s) - c."""
    _, alpha, beta = BETA.coefficients([u[name] for name in BETA.coordinates], exp)
    m = frame.centre
    at_centre = float(logit(m)) + u["shift"]
    c = -(at_centre - alpha * float(np.log(m)) + beta * float(np.log1p(-m)))
    return {"curve_alpha": alpha, "curve_beta": beta, "curve_c": c}


# The beta family of Kull et al. and Dong et al. (eq. 12): slopes of their own at each end.
BETA = Curve(
    name="beta",
    formula="logit m + shift + alpha * log(s / m) - beta * log((1 - s) / (1 - m))",
    coordinates=("shift", "log_slope", "asymmetry"),
    basis=_beta_basis,
    combination=((1.0, 0.0, 0.0), (0.0, 1.0, 0.5), (0.0, 1.0, -0.5)),
    positive=(False, True, True),
    derived=_beta_derived,
    meaning="both, and a difference between low and high risks",
    update="recalibrate with a beta curve",
)


RATE_PRIORS = tuple((name, Rate()) for name in RATES)
# Without the mass near 0, where `noise` would be exact calibration under another name.
NOISE_PRIORS = tuple((name, Rate(a=1.0, b=5.0)) for name in RATES)

# g = guess + (1 - guess - lapse) s: exact calibration where some labels are wrong.
NOISE = Curve(
    name="noise",
    formula="logit(guess + (1 - guess - lapse) s)",
    coordinates=RATES,
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    priors=NOISE_PRIORS,
    meaning="a calibrated model, and wrong labels",
)

# g = guess + (1 - guess - lapse) h(s), with h logistic; without both it is `logistic`.
LAPSE = Curve(
    name="lapse",
    formula="logit(guess + (1 - guess - lapse) h), h as in logistic",
    coordinates=("shift", "log_slope", *RATES),
    basis=line_basis,
    combination=((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
    positive=(False, True),
    priors=RATE_PRIORS,
    meaning="an intercept, a slope, and risks that stay away from 0 and 1",
    update="recalibrate with an intercept, a slope, a floor and a ceiling",
)
