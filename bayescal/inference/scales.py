"""Where to propose from if a curve has deviations: a mode for each of their scales."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.optimise import Mode
from bayescal.model.curve import Curve
from bayescal.model.prior import Prior

__all__ = ["DENSITY_NEAR", "laplace_evidence", "middle_of", "modes_by_scale", "prior_covariance"]

DENSITY_NEGLIGIBLE = (
    1e-3  # posterior probability of a scale below which nothing is proposed round it
)
DENSITY_NEAR = 1e-3  # what a mode may lack in log density, to propose round it
LEAST_PRECISION = 1e-6
DENSITY_LEAST = 0.05  # share of the proposals of every other scale


class Rough(Protocol):
    """What is needed of the density of a curve with deviations."""

    prior: Prior

    def at(self, tau: float) -> Self:
        """The density with the scale of the deviations fixed."""

    def mode(self, start: Floats | None, tolerance: float) -> Mode:
        """Its mode."""


class ByCoefficients(Rough, Protocol):
    """What is needed of a density of the coordinates of a curve without a floor or a ceiling."""

    curve: Curve

    def near_mode(self) -> Mode:
        """Its mode, to within what proposals need."""

    def jacobian(self, u: Floats) -> Floats:
        """Derivative of the coefficients by the coordinates, (k, d), at one point."""


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


def middle_of(density: ByCoefficients) -> tuple[Floats, Floats]:
    """Coefficients at the mode of the likeliest scale, and their covariance under the prior."""
    scales: list[ByCoefficients] = [density]
    if density.curve.is_rough:
        scales = [density.at(tau) for tau, _ in density.prior.roughness]
    modes = [each.near_mode() for each in scales]
    best = int(np.argmax([laplace_evidence(mode) for mode in modes]))
    at = modes[best].point
    return density.curve.with_offset(at[None])[0, 1:], prior_covariance(scales[best], at)


def prior_covariance(density: ByCoefficients, at: Floats) -> Floats:
    """Covariance of the coefficients (k, k) under the prior, at one point of shape (d,)."""
    bends = [
        density.prior.of(name).slope_and_curvature(value)[1]
        for name, value in zip(density.curve.coordinates, at, strict=True)
    ]
    jacobian = density.jacobian(at)
    variance = 1 / np.maximum(-np.array(bends), LEAST_PRECISION)
    return np.asarray((jacobian * variance) @ jacobian.T)
