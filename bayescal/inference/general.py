"""The posterior density of a curve of times to an event, or with a floor and a ceiling."""

from __future__ import annotations

from copy import copy
from typing import Protocol, Self

import numpy as np
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import Mode, maximise
from bayescal.core.sampling import GOOD_ESS, importance_sample
from bayescal.inference.clusters import FlattenedTimes, flattened_times
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curve import Curve
from bayescal.model.lapse import RATES, Rate
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.outcomes import OutcomeNodes, outcome_nodes
from bayescal.model.likelihood.times.rows import TimesRows, times_rows
from bayescal.model.prior import JointPrior, Prior
from bayescal.model.problem import Problem

__all__ = [
    "DENSITY_NEAR",
    "GeneralDensity",
    "laplace_evidence",
    "middle_of",
    "modes_by_scale",
    "prior_covariance",
]


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


FIRST_NODES, MOST_OUTCOME_NODES = 32, 256
NODES_ERROR = 1e-6
"""Most by which nodes may change the log likelihood where it is checked."""
CHECKED_ROUND = 3.0
"""How far from the mode that is, in standard deviations."""
BOUNDED_NEAR = 1e-3
BOUNDED_ESS = 0.3
LONGEST_BOUNDED_STEP = 2.0
FIRST_RATE = 0.0
"""Where the climb to the mode begins: of rates the median of their priors."""
LEAST_INFORMATION = 0.05
LEAST_SPREAD = 1e-9
PILOT, PILOT_ESS, WIDER, AT_PEAK = 256, 0.1, 1.2, 0.3


class GeneralDensity:
    """Log posterior density of a curve of times to an event, or with a floor and a ceiling.

    It is unnormalised. Its points have a standard normal number in the place of each of these
    rates, whose prior is then the standard normal law. In these the posterior has tails on both
    sides, where the data say little and where they say much. Where cases come in clusters, every
    case counts as one over the larger of the design effects.
    """

    def __init__(self, problem: Problem) -> None:
        self.curve, self.prior, self._rng = problem.curve, problem.prior, problem.rng("pilot")
        names = self.curve.coordinates
        self.at_rates = [k for k, name in enumerate(names) if name in RATES]
        self.at_linear = [k for k, name in enumerate(names) if name not in RATES]
        self.linear = tuple(names[k] for k in self.at_linear)
        self._of_linear = JointPrior(self.prior, self.linear)
        self.laws = [_law_of(problem, names[k]) for k in self.at_rates]
        # Rates near 0 are skewed, however often they are proposed again.
        self.good_ess = BOUNDED_ESS if self.curve.is_bounded else GOOD_ESS
        self._log_constant = len(self.laws) * np.log(2 * np.pi) / 2
        self.positive = np.array(self.curve.positive, dtype=bool)
        shape = (self.positive.size, self.curve.size)
        combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self.combination = combination[:, self.at_linear]
        self.nodes: OutcomeNodes | TimesRows | FlattenedTimes
        self.nodes, self.peak = self._chosen(problem)
        if problem.clusters is not None and not problem.clusters.are_single and self.curve.size:
            self._read_clusters(problem)

    def _read_clusters(self, problem: Problem) -> None:
        """Flatten the likelihood of times by the sandwich; in any other, cases count as fewer."""
        nodes, start, bounded = self.nodes, None, self.curve.is_bounded
        if isinstance(nodes, TimesRows) and not bounded and not is_separated(problem.table):
            self.nodes = flattened_times(nodes, problem, *middle_of(self))
        else:
            design, table = cluster_design(problem), problem.table
            effect = design.effect
            if bounded:
                effect = max(effect, design.slope_effect) * design.inflation
            if isinstance(nodes, TimesRows):
                on_diagonal = self.curve.with_offset(np.zeros((1, self.curve.size)))
                none = np.zeros((1, len(self.laws)))
                log_diagonal = float(nodes.log_likelihood(on_diagonal, none)[0])
            else:
                log_diagonal = BINOMIAL.of_calibrated(table.score, table.trials, table.hits)
            assert isinstance(nodes, OutcomeNodes | TimesRows)
            self.nodes = nodes.tempered(effect, log_diagonal)
            start = None if self.peak is None else self.peak.point
        self.peak = None if self.peak is None else self._mode(start)

    def _chosen(self, problem: Problem) -> tuple[OutcomeNodes | TimesRows, Mode | None]:
        """Nodes, doubled until they agree with every row at the mode and round it, and the mode."""
        if problem.of_times:
            return self._at_likeliest(times_rows(problem))
        every, count, start = outcome_nodes(problem), FIRST_NODES, None
        while True:
            is_last = count > MOST_OUTCOME_NODES or 2 * count >= every.size
            self.nodes = every if is_last else outcome_nodes(problem, count)
            peak = self._mode(start)
            if is_last:
                return self.nodes, peak
            points = self._round(peak)
            coefficients, rates = self._read(points)
            error = self.nodes.log_likelihood(coefficients, rates)
            error -= every.log_likelihood(coefficients, rates)
            if np.abs(error).max() <= NODES_ERROR:
                return self.nodes, peak
            count, start = 2 * count, peak.point

    def _at_likeliest(self, rows: TimesRows) -> tuple[TimesRows, Mode | None]:
        """Rows of times to an event, expanded at the mode, and the mode."""
        self.nodes, rough = rows, self.curve.is_rough
        at_scales = modes_by_scale(self) if rough else [(self._mode(None), 1.0)]
        peak = max(at_scales, key=lambda each: each[1])[0]
        self.nodes = rows.expanded_at(*self._read(peak.point[None]))
        return self.nodes, None if rough else self._mode(peak.point)

    def __call__(self, v: Floats) -> Floats:
        """Log density at points `v` of shape (n, d)."""
        prior = self._of_linear.logpdf(v[:, self.at_linear])
        normal = v[:, self.at_rates]
        prior -= np.vecdot(normal, normal) / 2 + self._log_constant
        return self.nodes.log_likelihood(*self._read(v)) + prior

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the outcomes at coordinates `u` of shape (n, d)."""
        return self.nodes.log_likelihood(self.curve.with_offset(u), u[:, self.at_rates])

    def derivatives(self, v: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and exact Hessian at one point `v` of shape (d,)."""
        coefficients, rates = self._read(v[None])
        linear, normal = np.array(self.at_linear, dtype=np.intp), v[self.at_rates]
        value, by_part, curvature = self.nodes.derivatives(coefficients[0, 1:], rates[0])
        k = self.positive.size
        jacobian, bend = np.zeros((k + normal.size, v.size)), np.zeros((v.size, v.size))
        jacobian[:k] = self.jacobian(v)
        slope = np.where(self.positive, by_part[:k] * coefficients[0, 1:], 0.0)
        bend[np.ix_(linear, linear)] = (self.combination.T * slope) @ self.combination
        for index, (column, law) in enumerate(zip(self.at_rates, self.laws, strict=True)):
            first, second = law.derivatives_from_normal(v[column])
            jacobian[k + index, column] = first
            bend[column, column] = by_part[k + index] * second - 1
        gradient = jacobian.T @ by_part
        gradient[self.at_rates] -= normal
        hessian = jacobian.T @ curvature @ jacobian + bend
        value += float(self._of_linear.logpdf(v[None, self.at_linear])[0])
        value -= float(normal @ normal / 2 + self._log_constant)
        slope_of_prior, its_bend = self._of_linear.slope_and_curvature(v[self.at_linear])
        gradient[linear] += slope_of_prior
        hessian[linear, linear] += its_bend
        return value, gradient, hessian

    def jacobian(self, v: Floats) -> Floats:
        """Derivative of the coefficients of h by the point, (k, d)."""
        coefficients = self.curve.with_offset(v[None])[0, 1:]
        jacobian = np.zeros((coefficients.size, v.size))
        scale = np.where(self.positive, coefficients, 1.0)
        jacobian[:, self.at_linear] = scale[:, None] * self.combination
        return jacobian

    def proposals(self) -> list[tuple[Mode, float]]:
        """Where to propose from: modes, and of bounded curves the mean of a small sample.

        Where the data say little of a floor its density is skewed, and the mode far from the mean.
        """
        if self.peak is None:
            return modes_by_scale(self)
        if not self.curve.is_bounded:
            return [(self.peak, 1.0)]
        pilot = importance_sample(self, self.peak, PILOT, self._rng, PILOT_ESS).draws
        covariance = WIDER * np.cov(pilot.T)
        spread = np.linalg.eigvalsh(covariance)
        if spread[0] <= LEAST_SPREAD * spread[-1]:  # a few points have all the weight
            return [(self.peak, 1.0)]
        information = np.asarray(np.linalg.inv(covariance), np.float64)
        mean = Mode(pilot.mean(axis=0), self.peak.value, information, self.peak.converged)
        return [(mean, 1 - AT_PEAK), (self.peak, AT_PEAK)]

    def stored(self, v: Floats) -> Floats:
        """The coordinates of points, rates in the place of normal numbers."""
        u = v.copy()
        u[:, self.at_rates] = self._read(v)[1]
        return u

    def at(self, tau: float) -> GeneralDensity:
        """The same density with the scale of the deviations fixed."""
        density = copy(self)
        density.prior = self.prior.at(tau)
        density._of_linear = JointPrior(density.prior, self.linear)
        return density

    def mode(self, start: Floats | None, tolerance: float) -> Mode:
        """The posterior mode, climbed to from exact calibration unless a start is given."""
        if start is None:
            start = np.full(self.curve.size, FIRST_RATE)
        longest = LONGEST_BOUNDED_STEP
        return maximise(self.derivatives, start, tolerance=tolerance, longest=longest)

    def near_mode(self) -> Mode:
        """The posterior mode to within what proposals round it need."""
        return self._mode(None) if self.peak is None else self.peak

    def _mode(self, start: Floats | None) -> Mode:
        return self.mode(start, BOUNDED_NEAR)

    def _read(self, v: Floats) -> tuple[Floats, Floats]:
        """Weight of the offset and coefficients of h, and the rates, of points (n, d)."""
        rates = np.empty((len(v), len(self.laws)))
        for index, (column, law) in enumerate(zip(self.at_rates, self.laws, strict=True)):
            rates[:, index] = law.from_normal(v[:, column])
        return self.curve.with_offset(v), rates

    def _round(self, mode: Mode) -> Floats:
        """The mode, and points on either side of it in every direction, of shape (1 + 2 d, d)."""
        information, directions = np.linalg.eigh(mode.information)
        deviation = 1 / np.sqrt(np.maximum(information, LEAST_INFORMATION))
        steps = CHECKED_ROUND * deviation[:, None] * directions.T
        return np.concatenate([mode.point[None], mode.point + steps, mode.point - steps])


def _law_of(problem: Problem, name: str) -> Rate:
    law = problem.prior.of(name)
    if isinstance(law, Rate):
        return law
    raise InputError(
        f"the prior of {name} must be a Rate of bayescal.priors, got {law!r}: it is a rate near 0."
    )
