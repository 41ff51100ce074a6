"""The prior of a share of which a count is known, such as the sensitivity of a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, betaln, ndtr, xlog1py, xlogy

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened

__all__ = ["Beta"]

NEAREST = 1e-12
"""How near to 0 and 1 a share is read."""


@dataclass(frozen=True)
class Beta:
    """Beta distribution of a share.

    Parameters
    ----------
    a, b : float
        Positive: as many cases with and without, and a little more.

    Examples
    --------
    >>> from bayescal.model.priors import Beta
    >>> Beta(90.5, 10.5)
    Beta(a=90.5, b=10.5)
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value < 1e9:
                raise InputError(
                    f"{name} must be a positive number, at most 1e9, got {shortened(repr(value))}."
                )

    @property
    def mean(self) -> float:
        """The mean."""
        return self.a / (self.a + self.b)

    def logpdf(self, x: Floats) -> Floats:
        """Log density at `x`, of the same shape; minus infinity outside [0, 1]."""
        share = np.asarray(x, np.float64)
        inside = np.clip(share, 0, 1)
        density = xlogy(self.a - 1, inside) + xlog1py(self.b - 1, -inside) - betaln(self.a, self.b)
        return np.where(share == inside, density, -np.inf)

    def slope_and_curvature(self, x: Any) -> tuple[Any, Any]:
        """First and second derivative of the log density at `x`, inside (0, 1)."""
        slope = (self.a - 1) / x - (self.b - 1) / (1 - x)
        return slope, -(self.a - 1) / x**2 - (self.b - 1) / (1 - x) ** 2

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Independent draws of shape (size,)."""
        return rng.beta(self.a, self.b, size)

    def from_normal(self, z: Floats) -> Floats:
        """The shares at the same probabilities as standard normal numbers."""
        lower = betaincinv(self.a, self.b, ndtr(z))
        upper = betaincinv(self.b, self.a, ndtr(-z))
        share = np.where(np.asarray(z) < 0, lower, 1 - upper)
        return np.asarray(np.clip(share, NEAREST, 1 - NEAREST))

    def derivatives_from_normal(self, z: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of `from_normal`."""
        share = self.from_normal(z)
        log_normal = -(np.asarray(z) ** 2) / 2 - np.log(2 * np.pi) / 2
        first = np.asarray(np.exp(log_normal - self.logpdf(share)))
        return first, first * (-z - first * self.slope_and_curvature(share)[0])

    def to_pymc(self, name: str) -> Any:
        """The PyMC variable of this name; call it inside a model."""
        import pymc as pm

        return pm.Beta(name, self.a, self.b)
