"""How much calibration differs between sites: the prior of the scales and of their correlation."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, gammaln, ndtr, stdtrit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import shortened

__all__ = ["VARYING", "Heterogeneity", "as_heterogeneity"]

# Coordinates that differ between sites; any other is common to all of them.
VARYING = ("shift", "log_slope")
LARGEST_PARAMETER = 1e6
# Standard normal points beyond which a probability of the t law would round to one.
FARTHEST_POINT = 7.0
LEAST_SCALE, LARGEST_SCALE = 1e-4, 50.0
# Beyond these, sites are alike, or unlike, or perfectly correlated, and only rounding differs.
LARGEST_CORRELATION = 1 - 1e-6


@dataclass(frozen=True)
class Heterogeneity:
    """A prior on how far the sites' curves lie from the curve of the average site.

    The shift and the logarithm of the slope of a site are normal round those of the average site;
    of robust effects those of sites that are like each other.
    Their standard deviations between sites have half-t priors, and their correlation has the
    prior of Lewandowski, Kurowicka and Joe.

    Parameters
    ----------
    shift : float
        Scale of the half-t prior of the standard deviation of the shift (log-odds).
    log_slope : float
        Scale of the half-t prior of the standard deviation of the log slope.
    nu : float
        Degrees of freedom of both half-t priors.
    correlation : float
        Shape eta of the correlation's prior, with density proportional to (1 - r^2)^(eta - 1): 1 is
        uniform, and larger values prefer correlations near zero.

    Raises
    ------
    InputError
        If a parameter is not a positive number.

    References
    ----------
    Gelman (2006), Prior distributions for variance parameters in hierarchical models, Bayesian
    Analysis 1. Lewandowski, Kurowicka & Joe (2009), Journal of Multivariate Analysis 100.

    Examples
    --------
    >>> from bayescal.model.priors import Heterogeneity
    >>> Heterogeneity(shift=0.5)
    Heterogeneity(shift=0.5, log_slope=0.15, nu=3.0, correlation=2.0)
    """

    shift: float = 0.3
    log_slope: float = 0.15
    nu: float = 3.0
    correlation: float = 2.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
            if not (number and 0 < value < LARGEST_PARAMETER):
                raise InputError(
                    f"{name} of the heterogeneity prior must be a positive number below 1e6, got "
                    f"{shortened(repr(value))}."
                )

    def scaled(self, factor: float) -> Heterogeneity:
        """The same prior with both scales multiplied."""
        return replace(self, shift=factor * self.shift, log_slope=factor * self.log_slope)

    def scales(self, standard: Floats, names: Sequence[str]) -> Floats:
        """Standard deviations between sites at standard normal points of shape (n, names).

        The map from a standard normal variable to the half-t law, so that the prior of the points
        is standard normal and the whole line is used.
        """
        unit = stdtrit(self.nu, (1 + ndtr(np.minimum(standard, FARTHEST_POINT))) / 2)
        scale = np.array([getattr(self, name) for name in names])
        return np.asarray(np.clip(unit * scale, LEAST_SCALE, LARGEST_SCALE))

    def logpdf(self, scales: Floats, names: Sequence[str]) -> Floats:
        """Log density of standard deviations of shape (n, names), of shape (n,)."""
        scale = np.array([getattr(self, name) for name in names])
        kernel = np.log1p(np.square(scales / scale) / self.nu)
        half = (self.nu + 1) / 2
        constant = np.log(2) + gammaln(half) - gammaln(self.nu / 2) - np.log(self.nu * np.pi) / 2
        return np.asarray((constant - half * kernel - np.log(scale)).sum(axis=-1))

    def correlations(self, standard: Floats) -> Floats:
        """Correlations at standard normal points of shape (n,)."""
        unit = betaincinv(self.correlation, self.correlation, ndtr(standard))
        return np.asarray(np.clip(2 * unit - 1, -LARGEST_CORRELATION, LARGEST_CORRELATION))

    def to_dict(self) -> dict[str, float]:
        """A JSON-ready description."""
        return {name: float(value) for name, value in asdict(self).items()}


def as_heterogeneity(
    given: Heterogeneity | Mapping[str, Any] | None, default: Heterogeneity | None = None
) -> Heterogeneity:
    """A heterogeneity prior, or a mapping that changes parts of the default one."""
    usual = Heterogeneity() if default is None else default
    if given is None:
        return usual
    if isinstance(given, Heterogeneity):
        return given
    if isinstance(given, Mapping):
        known = tuple(asdict(Heterogeneity()))
        for key in given:
            check_choice(key, known, "the keys of prior")
        return replace(usual, **given)
    raise InputError(
        "prior of a term must be a bc.priors.Heterogeneity or a mapping such as "
        f"{{'shift': 0.5}}, got {shortened(repr(given))}."
    )
