"""Priors by name, by parts, and from evidence."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import shortened
from bayescal.model.evidence import from_posterior, from_studies
from bayescal.model.heterogeneity import Heterogeneity
from bayescal.model.lapse import Rate
from bayescal.model.prior import CLINICAL, Normal, Prior, StudentT

__all__ = [
    "MODEST",
    "PRESETS",
    "Heterogeneity",
    "Normal",
    "Prior",
    "Rate",
    "StudentT",
    "as_prior",
    "from_posterior",
    "from_studies",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__


# Coordinates whose prior may be given by its standard deviation alone.
SCALED = ("shift", "log_slope", "asymmetry")

# The presets: "neutral" by default; "clinical" follows the spread between external validations.
PRESETS: dict[str, Prior] = {
    "neutral": Prior(name="neutral"),
    "clinical": CLINICAL,
}

# A log slope of .3 in place of .2: on 200 data sets a cell, slopes from .5 to 1.4 and 200 to 1000
# cases, interval scores of the slope are .81 to .97 of those with .2, and a slope of .6 is covered
# in .84, .88 and .94 (.79, .82 and .92). Of calibrated models the score is up to 1.06 times as
# large.
# Errors of the size that a competent model has at its next hospital.
#
# The presets allow much larger errors. Against these a model with a small error is easily taken
# for exactly calibrated, so the sensitivity of P(calibrated) is shown against this prior too.
#
# The log slope counts both how slopes differ between hospitals and that new models are often too
# extreme; with scores whose log-odds have a standard deviation of 1.1 it moves risks about as far
# as the shift does. With 0.2 the average drew slopes of 0.5 to 0.7, and of 1.4, too close to 1.
MODEST = Prior(
    shift=Normal(0.0, 0.35),
    log_slope=Normal(0.0, 0.3),
    asymmetry=Normal(0.0, 0.25),
    roughness=((0.15, 1.0),),
    centre="mean",
    name="modest",
)


def as_prior(prior: str | Prior | Mapping[str, Any]) -> Prior:
    """A preset by name, a Prior, or a mapping that changes parts of the neutral preset.

    Parameters
    ----------
    prior : {"neutral", "clinical"}, Prior, or mapping
        A mapping may set shift, log_slope, asymmetry, roughness, centre, name and others. A number
        for shift, log_slope or asymmetry is the standard deviation of a normal prior with mean 0.

    Returns
    -------
    Prior

    Raises
    ------
    InputError
        If the name or a key is unknown, or a standard deviation is not positive.

    Examples
    --------
    >>> from bayescal.model.priors import Normal, as_prior
    >>> as_prior({"shift": Normal(0, 0.3)}).log_slope
    StudentT(nu=3.0, mu=0.0, sigma=0.35)
    >>> as_prior({"shift": 0.3}).shift
    Normal(mu=0.0, sigma=0.3)
    """
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, Mapping):
        known = ("shift", "log_slope", "asymmetry", "roughness", "centre", "name", "others")
        for key in prior:
            check_choice(key, known, "the prior's keys")
        return Prior(**{key: _with_scale(key, value) for key, value in prior.items()})
    return PRESETS[check_choice(prior, PRESETS, "prior")]


def _with_scale(key: str, value: Any) -> Any:
    """A part of a prior; a number in place of a distribution is the scale of a normal one."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if key not in SCALED or not is_number:
        return value
    try:
        return Normal(0.0, float(value))
    except InputError:
        raise InputError(
            f"prior[{key!r}] must be a positive number, the standard deviation of a normal prior "
            f"with mean 0, or a distribution of bayescal.priors, got {shortened(repr(value))}."
        ) from None
