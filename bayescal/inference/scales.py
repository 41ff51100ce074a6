"""Where to propose from if a curve has deviations: a mode for each of their scales."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from scipy.special import softmax

from bayescal._base.arrays import Floats
from bayescal._base.newton import Mode
from bayescal.model.prior import Prior

__all__ = ["DENSITY_NEAR", "laplace_evidence", "modes_by_scale"]

DENSITY_NEGLIGIBLE = (
    1e-3  # posterior probability of a scale below which nothing is proposed round it
)
DENSITY_NEAR = 1e-3  # what a mode may lack in log density, to propose round it
DENSITY_LEAST = 0.05  # share of the proposals of every other scale


class Rough(Protocol):
    """What is needed of the density of a curve with deviations."""

    prior: Prior

    def at(self, tau: float) -> Self:
        """The density with the scale of the deviations fixed."""

    def mode(self, start: Floats | None, tolerance: float) -> Mode:
        """Its mode."""


def modes_by_scale(density: Rough) -> list[tuple[Mode, float]]:
    """The mode at each scale tau of the deviations, and the share of the proposals round it.

    The shares follow the posterior of tau by Laplace's approximation.
    """
    taus, weights = zip(*density.prior.roughness, strict=True)
    modes: list[Mode] = []
    for tau in taus:
        modes.append(density.at(tau).mode(modes[-1].point if modes else None, DENSITY_NEAR))
    share = softmax(np.log(weights) + [laplace_evidence(mode) for mode in modes])
    return [
        (mode, max(float(part), DENSITY_LEAST))
        for mode, part in zip(modes, share, strict=True)
        if part > DENSITY_NEGLIGIBLE
    ]


def laplace_evidence(mode: Mode) -> float:
    """Of a density, by the normal approximation round its mode."""
    log_det = np.linalg.slogdet(mode.information / (2 * np.pi))[1]
    return float(mode.value - log_det / 2)
