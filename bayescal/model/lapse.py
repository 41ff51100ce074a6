"""A floor and a ceiling of a curve, g = guess + (1 - guess - lapse) h, and the prior of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, xlog1py, xlogy

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened

__all__ = ["RATES", "Rate", "bounded_log_odds", "bounded_probability"]


# The coordinates that are the floor, and the distance of the ceiling from one.
RATES = ("guess", "lapse")


def bounded_probability(h: Floats, guess: Floats, lapse: Floats) -> Floats:
    """The curve g between its floor and its ceiling, from h in [0, 1]."""
    curve = np.asarray((1 - guess - lapse) * h)
    curve += guess
    return curve


def bounded_log_odds(log_odds: Floats, guess: Floats, lapse: Floats) -> Floats:
    """Log-odds of g, from those of h, without the loss of digits near 0 and 1."""
    with np.errstate(divide="ignore"):
        event = np.logaddexp(np.log(guess), np.log1p(-lapse) + log_odds)
        other = np.logaddexp(np.log1p(-guess), np.log(lapse) + log_odds)
    return np.asarray(event - other)


@dataclass(frozen=True)
class Rate:
    """A rate in [0, most]: `most` times a variable with the law of Kumaraswamy.

    P(rate < x) = 1 - (1 - (x / most)^a)^b. With a below 1 it may be so small that it does not
    matter: by default it is below .001 with probability .25, and above .05 with .18.

    Parameters
    ----------
    most : float in (0, 0.5)
        The largest rate; two of them then never add up to one.
    a, b : float
        Positive.

    References
    ----------
    Kumaraswamy (1980), A generalized probability density function for double-bounded random
    processes, Journal of Hydrology 46.

    Examples
    --------
    >>> from bayescal.model.priors import Rate
    >>> Rate(most=0.1)
    Rate(most=0.1, a=0.4, b=3.0)
    """

    # With .2, scores of 0 of which a larger share have the event were beyond any floor.
    most: float = 0.4
    a: float = 0.4
    b: float = 3.0

    def __post_init__(self) -> None:
        for name, largest in (("most", 0.5), ("a", 1e3), ("b", 1e6)):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < largest:
                none = value == 0 and name == "most"
                advice = " For no such rate, leave the curves noise and lapse out." if none else ""
                raise InputError(
                    f"{name} must be a positive number below {largest:g}, got "
                    f"{shortened(repr(value))}.{advice}"
                )

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape; minus infinity outside [0, most]."""
        share = np.asarray(x, np.float64) / self.most
        inside = np.clip(share, 0, 1)
        density = np.log(self.a * self.b / self.most) + xlogy(self.a - 1, inside)
        density = density + xlog1py(self.b - 1, -(inside**self.a))
        return np.where(share == inside, density, -np.inf)

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """First and second derivative of the log density at `x`, inside (0, most)."""
        power = (x / self.most) ** self.a
        pull = (self.b - 1) * self.a * power / (1 - power)
        slope = (self.a - 1 - pull) / x
        return slope, -slope / x - pull * self.a / (1 - power) / x**2

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        return self.from_normal(rng.standard_normal(size))

    def from_normal(self, z: Floats) -> Floats:
        """The rates at the same probabilities as standard normal numbers."""
        return np.asarray(self.most * self._root(z) ** (1 / self.a))

    def to_normal(self, x: Floats) -> Floats:
        """The standard normal numbers at the same probabilities as rates in (0, most)."""
        share = np.asarray(x, np.float64) / self.most
        return np.asarray(-ndtri(np.exp(self.b * np.log1p(-(share**self.a)))))

    def derivatives_from_normal(self, z: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of `from_normal`."""
        root, hazard = self._root(z), np.exp(-(z**2) / 2 - log_ndtr(-z)) / np.sqrt(2 * np.pi)
        relative = (1 - root) * hazard / self.b / root
        first = self.from_normal(z) * relative / self.a
        return first, first * ((1 / self.a - 1) * relative + hazard - z - hazard / self.b)

    def _root(self, z: Floats) -> Floats:
        """(rate / most)^a."""
        return np.asarray(-np.expm1(log_ndtr(-z) / self.b))

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        share = pm.Kumaraswamy(f"{name}_share", self.a, self.b)
        return pm.Deterministic(name, self.most * share)
