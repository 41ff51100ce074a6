"""A logistic curve with a floor and a ceiling, as where some labels are wrong.

Psychophysics calls the floor the guess rate, and what the ceiling lacks of one the lapse rate. The
two are not identified on most clinical scores; there the curve, not they, is what the data tell.
"""

from __future__ import annotations

from bayescal.model.curve import Curve
from bayescal.model.families import IDENTITY, line_basis
from bayescal.model.lapse.bounds import RATES
from bayescal.model.lapse.rate import Rate

__all__ = ["LAPSE", "NOISE", "RATE_PRIORS"]

RATE_PRIORS = tuple((name, Rate()) for name in RATES)
NOISE_PRIORS = tuple((name, Rate(a=1.0, b=5.0)) for name in RATES)
"""Without the mass near 0, where `noise` would be exact calibration under another name."""

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
"""g = guess + (1 - guess - lapse) s: exact calibration where some labels are wrong."""

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
"""g = guess + (1 - guess - lapse) h(s), with h logistic; without both it is `logistic`."""
