"""The posterior density of a curve with a floor and a ceiling."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.newton import Mode, maximise
from bayescal._base.sampling.importance import importance_sample
from bayescal.model.clusters.design import cluster_design
from bayescal.model.lapse.bounds import RATES
from bayescal.model.lapse.rate import Rate
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.outcomes import OutcomeNodes, outcome_nodes
from bayescal.model.problem import Problem

__all__ = ["BoundedDensity"]

FIRST_NODES, MOST_OUTCOME_NODES = 32, 256
NODES_ERROR = 1e-6
"""Most by which nodes may change the log likelihood where it is checked."""
CHECKED_ROUND = 3.0
"""How far from the mode that is, in standard deviations."""
BOUNDED_NEAR = 1e-3
LONGEST_BOUNDED_STEP = 2.0
FIRST_RATE = 0.0
"""Floor and ceiling where the climb to the mode begins: the median of their priors."""
LEAST_INFORMATION = 0.05
LEAST_SPREAD = 1e-9
PILOT, PILOT_ESS, WIDER, AT_PEAK = 256, 0.1, 1.2, 0.3


class BoundedDensity:
    """Log posterior density of a curve with a floor and a ceiling, unnormalised.

    Its points have a standard normal number in the place of each rate, whose prior is then the
    standard normal law: in these the posterior has tails on both sides, where the data say little
    and where they say much. Where cases come in clusters, every case counts as one over the larger
    of the design effects.

    Parameters
    ----------
    problem : Problem
        Of a family whose last coordinates are `guess` and `lapse`.
    """

    good_ess = 0.3  # rates near 0 are skewed, however often they are proposed again

    def __init__(self, problem: Problem) -> None:
        self.curve, self.prior, self._rng = problem.curve, problem.prior, problem.rng("pilot")
        self.linear = self.curve.coordinates[: -len(RATES)]
        self.laws = [_rate_law(problem, name) for name in RATES]
        self.positive = np.array(self.curve.positive, dtype=bool)
        shape = (self.positive.size, self.curve.size)
        combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self.combination = combination[:, : len(self.linear)]
        self.nodes, self.peak = self._chosen(problem)
        if problem.clusters is not None and not problem.clusters.are_single:
            design = cluster_design(problem)
            effect = max(design.effect, design.slope_effect) * design.inflation
            table = problem.table
            log_diagonal = BINOMIAL.of_calibrated(table.score, table.trials, table.hits)
            self.nodes = self.nodes.tempered(effect, log_diagonal)
            self.peak = self._mode(self.peak.point)

    def _chosen(self, problem: Problem) -> tuple[OutcomeNodes, Mode]:
        """Nodes, doubled until they agree with every row at the mode and round it, and the mode."""
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

    def __call__(self, v: Floats) -> Floats:
        """Log density at points `v` of shape (n, d)."""
        size = len(self.linear)
        prior = self.prior.logpdf(self.linear, v[:, :size])
        normal = v[:, size:]
        prior -= np.vecdot(normal, normal) / 2 + np.log(2 * np.pi)
        return self.nodes.log_likelihood(*self._read(v)) + prior

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the outcomes at coordinates `u` of shape (n, d)."""
        return self.nodes.log_likelihood(self.curve.with_offset(u), u[:, self.curve.rates])

    def derivatives(self, v: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and exact Hessian at one point `v` of shape (d,)."""
        size = len(self.linear)
        coefficients, rates = self._read(v[None])
        value, by_part, curvature = self.nodes.derivatives(coefficients[0, 1:], rates[0])
        k = self.positive.size
        jacobian, bend = np.zeros((k + len(RATES), v.size)), np.zeros((v.size, v.size))
        jacobian[:k] = self.jacobian(v)
        slope = np.where(self.positive, by_part[:k] * coefficients[0, 1:], 0.0)
        bend[:size, :size] = (self.combination.T * slope) @ self.combination
        for index, law in enumerate(self.laws):
            first, second = law.derivatives_from_normal(v[size + index])
            jacobian[k + index, size + index] = first
            bend[size + index, size + index] = by_part[k + index] * second - 1
        gradient = jacobian.T @ by_part
        gradient[size:] -= v[size:]
        hessian = jacobian.T @ curvature @ jacobian + bend
        value += float(self.prior.logpdf(self.linear, v[None, :size])[0])
        value -= float(v[size:] @ v[size:] / 2 + np.log(2 * np.pi))
        for index, name in enumerate(self.linear):
            slope_of_prior, its_bend = self.prior.of(name).slope_and_curvature(v[index])
            gradient[index] += slope_of_prior
            hessian[index, index] += its_bend
        return value, gradient, hessian

    def jacobian(self, v: Floats) -> Floats:
        """Derivative of the coefficients of h by the point, (k, d)."""
        coefficients = self.curve.with_offset(v[None])[0, 1:]
        jacobian = np.zeros((coefficients.size, v.size))
        scale = np.where(self.positive, coefficients, 1.0)
        jacobian[:, : len(self.linear)] = scale[:, None] * self.combination
        return jacobian

    def proposals(self) -> list[tuple[Mode, float]]:
        """Mean and precision of a small sample round the mode, and the mode, with shares of each.

        Where the data say little of a rate its density is skewed, and the mode far from the mean.
        """
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
        u[:, len(self.linear) :] = self._read(v)[1]
        return u

    def _mode(self, start: Floats | None) -> Mode:
        if start is None:
            start = np.r_[np.zeros(len(self.linear)), np.full(len(RATES), FIRST_RATE)]
        longest = LONGEST_BOUNDED_STEP
        return maximise(self.derivatives, start, tolerance=BOUNDED_NEAR, longest=longest)

    def _read(self, v: Floats) -> tuple[Floats, Floats]:
        """Weight of the offset and coefficients of h, and the rates, of points (n, d)."""
        normal = v[:, len(self.linear) :].T
        rates = [law.from_normal(z) for law, z in zip(self.laws, normal, strict=True)]
        return self.curve.with_offset(v), np.stack(rates, axis=1)

    def _round(self, mode: Mode) -> Floats:
        """The mode, and points on either side of it in every direction, of shape (1 + 2 d, d)."""
        information, directions = np.linalg.eigh(mode.information)
        deviation = 1 / np.sqrt(np.maximum(information, LEAST_INFORMATION))
        steps = CHECKED_ROUND * deviation[:, None] * directions.T
        return np.concatenate([mode.point[None], mode.point + steps, mode.point - steps])


def _rate_law(problem: Problem, name: str) -> Rate:
    law = problem.prior.of(name)
    if isinstance(law, Rate):
        return law
    raise InputError(
        f"the prior of {name} must be a Rate of bayescal.priors, got {law!r}: it is a rate near 0."
    )
