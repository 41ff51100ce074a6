"""The prior of a curve made of stretches: where they end, of which type, how far off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayescal.core.arrays import Floats

__all__ = ["PartitionPrior", "draw_prior", "log_prior"]

DEGREES = 4
PRIOR_SCALES = (0.25, 0.7)  # in log-odds; even odds
_CONSTANT = float(gammaln(2.5) - gammaln(2) - 0.5 * np.log(DEGREES * np.pi)) - np.log(2)


@dataclass(frozen=True)
class PartitionPrior:
    """How many stretches a curve has, and how often they lie on the diagonal.

    After each of k cells the stretch ends with probability m / k, at most 0.9. After a stretch off
    the diagonal the next lies on it with probability rho; after one on it, never. The first lies
    on it with probability rho / (1 + rho), so that the prior reads the same from both ends.

    Attributes
    ----------
    ends : tuple of float
        Values of m, of equal probability.
    rho : tuple of float in (0, 1)
        Values of equal probability.
    hinge : float in [0, 1)
        Probability that a stretch off the diagonal meets it at an end, half of it for either end;
        without a stretch on the diagonal there it is a line. The rest is shared evenly by shifts
        and lines.
    """

    ends: tuple[float, ...] = (1.0, 3.0, 8.0)
    rho: tuple[float, ...] = (0.05, 0.2, 0.5)
    hinge: float = 0.5

    def grid(self, cells: int) -> tuple[Floats, Floats]:
        """Probability that a stretch ends, and rho, for each combination of the two."""
        end, rho = np.meshgrid(np.minimum(np.array(self.ends) / cells, 0.9), self.rho)
        return end.ravel(), rho.ravel()


def log_prior(x: Floats) -> Floats:
    """Log density of a shift or a slope: half Student-t4 of scale .25, half of scale .7."""
    density = np.zeros_like(x)
    for scale in PRIOR_SCALES:
        spread = 1 + (x / scale) ** 2 / DEGREES
        density += 1 / (scale * spread**2 * np.sqrt(spread))  # the power -(DEGREES + 1) / 2
    return np.asarray(_CONSTANT + np.log(density))


def draw_prior(rng: np.random.Generator, size: int) -> Floats:
    """Draws of a shift or a slope."""
    scale = rng.choice(PRIOR_SCALES, size)
    return np.asarray(scale * rng.standard_t(DEGREES, size))
