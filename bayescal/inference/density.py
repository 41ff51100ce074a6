"""The fast engine: posterior densities, and importance sampling round their modes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import Mode, maximise
from bayescal.core.sampling import BAD_K, GOOD_ESS, GOOD_K, Sample, importance_sample
from bayescal.core.versions import one_blas_thread
from bayescal.inference.clusters import Adjustment, FlattenedTimes, adjustment_of, flattened_times
from bayescal.inference.pieces import sample_pieces, sample_saturated
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curve import RATES
from bayescal.model.law import BINOMIAL
from bayescal.model.prior import JointPrior, Rate
from bayescal.model.problem import Problem
from bayescal.model.rows import (
    LikelihoodRows,
    OutcomeNodes,
    at_nodes,
    every_row,
    merged_rows,
    outcome_nodes,
)
from bayescal.model.times_rows import TimesRows, times_rows

__all__ = [
    "DENSITY_NEAR",
    "CurveDensity",
    "GeneralDensity",
    "Nodes",
    "density_of",
    "laplace_evidence",
    "middle_of",
    "modes_by_scale",
    "prior_covariance",
    "sample_importance",
]


# Posterior probability of a scale below which nothing is proposed round it.
DENSITY_NEGLIGIBLE = 1e-3
DENSITY_NEAR = 1e-3  # what a mode may lack in log density, to propose round it
LEAST_PRECISION = 1e-6
DENSITY_LEAST = 0.05  # share of the proposals of every other scale


def modes_by_scale(density: CurveDensity | GeneralDensity) -> list[tuple[Mode, float]]:
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


def middle_of(density: CurveDensity | GeneralDensity) -> tuple[Floats, Floats]:
    """Coefficients at the mode of the likeliest scale, and their covariance under the prior."""
    scales: list[CurveDensity | GeneralDensity] = [density]
    if density.curve.is_rough:
        scales = [density.at(tau) for tau, _ in density.prior.roughness]
    modes = [each.near_mode() for each in scales]
    best = int(np.argmax([laplace_evidence(mode) for mode in modes]))
    at = modes[best].point
    return density.curve.with_offset(at[None])[0, 1:], prior_covariance(scales[best], at)


def prior_covariance(density: CurveDensity | GeneralDensity, at: Floats) -> Floats:
    """Covariance of the coefficients (k, k) under the prior, at one point of shape (d,)."""
    bends = [
        density.prior.of(name).slope_and_curvature(value)[1]
        for name, value in zip(density.curve.coordinates, at, strict=True)
    ]
    jacobian = density.jacobian(at)
    variance = 1 / np.maximum(-np.array(bends), LEAST_PRECISION)
    return np.asarray((jacobian * variance) @ jacobian.T)


FIRST_NODES, MOST_OUTCOME_NODES = 32, 256
# Most by which nodes may change the log likelihood where it is checked.
NODES_ERROR = 1e-6
# How far from the mode that is, in standard deviations.
CHECKED_ROUND = 3.0
BOUNDED_NEAR = 1e-3
BOUNDED_ESS = 0.3
LONGEST_BOUNDED_STEP = 2.0
# Where the climb to the mode begins: of rates the median of their priors.
FIRST_RATE = 0.0
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
            coefficients, rates = self._read(_round(peak, CHECKED_ROUND, LEAST_INFORMATION))
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


def _law_of(problem: Problem, name: str) -> Rate:
    law = problem.prior.of(name)
    if isinstance(law, Rate):
        return law
    raise InputError(
        f"the prior of {name} must be a Rate of bayescal.priors, got {law!r}: it is a rate near 0."
    )


DENSITY_LONGEST_STEP = 5.0  # past it the exponential of a slope could overflow
DENSITY_TOLERANCE = 1e-12
# Nodes past which the rows themselves cost less.
MOST_GAUSS_NODES = 128
# How far from the mode the likelihood of nodes is checked.
CHECKED_DEVIATIONS = 4.0


class Nodes(NamedTuple):
    """How many nodes stand for the rows of a table.

    Attributes
    ----------
    first : int
        Nodes to begin with; they are doubled as long as a check at the mode asks for it.
    error : float
        Most by which they may change the log likelihood where it is checked.
    """

    first: int = 32
    error: float = 1e-7


CURVE_NODES = Nodes()


class CurveDensity:
    """Log posterior density of a curve's working coordinates, unnormalised.

    The likelihood is of the single outcomes, without binomial coefficients. The events enter it by
    exact sums. The trials are those of the nodes of a Gauss rule, as many as it takes to agree with
    every row of the table; a spline has the merged rows of the problem instead.

    Parameters
    ----------
    rows : LikelihoodRows, optional
        Rows to take in place of these, without a check.
    """

    good_ess = GOOD_ESS

    def __init__(
        self, problem: Problem, nodes: Nodes = CURVE_NODES, rows: LikelihoodRows | None = None
    ) -> None:
        if rows is None and not problem.likelihood.is_linear:
            raise InputError(
                f"outcomes of the law {problem.likelihood.name!r} reached an engine that is "
                "written for outcomes that are known. Fit one curve, without sites or periods."
            )
        self.curve, self.prior = problem.curve, problem.prior
        self._of_coordinates = JointPrior(self.prior, self.curve.coordinates)
        shape = (len(self.curve.positive), self.curve.size)
        self.combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self.positive = np.array(self.curve.positive, dtype=bool)
        self.adjustment: Adjustment | None = None
        self.peak: Mode | None = None
        if rows is not None:
            self.rows = rows
        elif self.curve.is_rough or self.curve.in_cells:
            self.rows = merged_rows(problem, every_row(problem))
        else:
            self._choose_nodes(problem, nodes)
        if problem.clusters is not None and not problem.clusters.are_single and self.curve.size:
            self._read_clusters(problem)

    def _read_clusters(self, problem: Problem) -> None:
        """Flatten the likelihood by the sandwich, or count clusters where that is not defined."""
        if is_separated(problem.table):
            on_diagonal = self.curve.with_offset(np.zeros((1, self.curve.size)))
            self.rows = self.rows.tempered(cluster_design(problem).effect, on_diagonal)
        else:
            self.adjustment = adjustment_of(self, problem, *middle_of(self))
        self.peak = None

    def _choose_nodes(self, problem: Problem, nodes: Nodes) -> None:
        """Double the nodes until they agree with every row, at the mode and round it."""
        every, start, count = every_row(problem), None, nodes.first
        while True:
            self.rows = at_nodes(problem, every, count) if count <= MOST_GAUSS_NODES else every
            self.peak = self.mode(start, DENSITY_NEAR)
            if self.rows is every:
                return
            beside = CHECKED_DEVIATIONS, LEAST_PRECISION, DENSITY_LONGEST_STEP
            coefficients = self.curve.with_offset(_round(self.peak, *beside))
            errors = self.rows.log_likelihood(coefficients) - every.log_likelihood(coefficients)
            if self.peak.converged and np.abs(errors).max() <= nodes.error:
                return
            count, start = 2 * count, self.peak.point if self.peak.converged else None

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the outcomes at points `u` of shape (n, d)."""
        coefficients = self.curve.with_offset(u)
        if self.adjustment is None:
            return self.rows.log_likelihood(coefficients)
        beside = self.adjustment.beside(coefficients[:, 1:])
        coefficients[:, 1:] = self.adjustment.read_at(coefficients[:, 1:])
        return self.rows.log_likelihood(coefficients) + beside

    def __call__(self, u: Floats) -> Floats:
        """Log density at points `u` of shape (n, d)."""
        return self.log_likelihood(u) + self._of_coordinates.logpdf(u)

    def derivatives(self, u: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and exact Hessian at one point `u` of shape (d,)."""
        coefficients = self.curve.with_offset(u[None])[0, 1:]
        value, by_coefficient, information = self.by_coefficients(coefficients)
        jacobian = self._jacobian_at(coefficients)
        bend = np.where(self.positive, by_coefficient * coefficients, 0.0)
        gradient = jacobian.T @ by_coefficient
        hessian = (self.combination.T * bend) @ self.combination
        hessian -= jacobian.T @ information @ jacobian
        value += float(self._of_coordinates.logpdf(u[None])[0])
        slope, curvature = self._of_coordinates.slope_and_curvature(u)
        gradient += slope
        hessian[np.diag_indices(u.size)] += curvature
        return float(value), gradient, hessian

    def by_coefficients(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        """Log likelihood, its gradient and the information by the coefficients, of shape (k,)."""
        change = self.adjustment
        at = coefficients if change is None else change.read_at(coefficients)
        value, gradient, information = self.rows.derivatives(at)
        if change is None:
            return value, gradient, information
        by, beside = change.contraction, float(change.beside(coefficients))
        return value + beside, by.T @ gradient + change.linear, by.T @ information @ by

    def jacobian(self, u: Floats) -> Floats:
        """Derivative of the coefficients by the coordinates, (k, d), at one point."""
        return self._jacobian_at(self.curve.with_offset(u[None])[0, 1:])

    def _jacobian_at(self, coefficients: Floats) -> Floats:
        return np.where(self.positive, coefficients, 1.0)[:, None] * self.combination

    def mode(self, start: Floats | None = None, tolerance: float = DENSITY_TOLERANCE) -> Mode:
        """The posterior mode, climbed to from perfect calibration unless a start is given.

        A step that would gain less than the tolerance in log density is not taken.
        """
        origin = np.zeros(self.curve.size) if start is None else start
        return maximise(self.derivatives, origin, tolerance=tolerance, longest=DENSITY_LONGEST_STEP)

    def adjusted_by(self, adjustment: Adjustment | None) -> CurveDensity:
        """The density of cases in clusters, which flatten the likelihood of independent ones."""
        density = copy(self)
        density.adjustment, density.peak = adjustment, None
        return density

    def near_mode(self) -> Mode:
        """The posterior mode to within what proposals round it need."""
        if self.peak is None:
            self.peak = self.mode(tolerance=DENSITY_NEAR)
        return self.peak

    def proposals(self) -> list[tuple[Mode, float]]:
        """Modes to propose round, one for each scale of deviations, and the share of each."""
        return modes_by_scale(self) if self.curve.is_rough else [(self.near_mode(), 1.0)]

    def stored(self, u: Floats) -> Floats:
        """The coordinates of points: these."""
        return u

    def at(self, tau: float) -> CurveDensity:
        """The same density with the scale of the deviations fixed."""
        density = copy(self)
        density.prior, density.peak = self.prior.at(tau), None
        density._of_coordinates = JointPrior(density.prior, self.curve.coordinates)
        return density


class _Pivoted:
    """The same density in coordinates that are nearly independent.

    `shift` acts at the centre, which may lie far from the data; there it trades off against the
    slopes along a bend. Here it is exchanged for the curve's log-odds at the score where the data
    inform most (and zero still means calibrated). The change has unit Jacobian.
    """

    def __init__(self, density: CurveDensity | GeneralDensity, problem: Problem) -> None:
        self.density, self.curve = density, problem.curve
        self.active = "shift" in self.curve.coordinates and self.curve.size > 1
        weight = problem.trials * problem.score * (1 - problem.score)
        pivot = expit(np.average(problem.log_odds, weights=weight))
        _, basis = self.curve.basis(np.array([pivot]), problem.frame)
        self.at_pivot = basis[0]
        self.calibrated = self._slopes(np.zeros((1, self.curve.size)))

    def __call__(self, v: Floats) -> Floats:
        return self.density(self.to_coordinates(v))

    def to_coordinates(self, v: Floats) -> Floats:
        """Working coordinates of pivoted points, both of shape (n, d)."""
        u = v.copy()
        if self.active:
            u[:, 0] -= self._slopes(v) - self.calibrated
        return u

    def carried(self, mode: Mode) -> Mode:
        """A mode of the density and its information, carried over exactly."""
        if not self.active:
            return mode
        point = mode.point.copy()
        point[0] += (self._slopes(mode.point[None]) - self.calibrated)[0]
        jacobian = np.eye(point.size)
        jacobian[0, 1:] = -(self.density.jacobian(mode.point)[1:, 1:].T @ self.at_pivot[1:])
        information = jacobian.T @ mode.information @ jacobian
        return Mode(point, mode.value, information, mode.converged)

    def _slopes(self, u: Floats) -> Floats:
        """What the coefficients other than the shift add at the pivot."""
        return np.asarray(self.curve.with_offset(u)[:, 2:] @ self.at_pivot[1:])


def density_of(problem: Problem) -> CurveDensity | GeneralDensity:
    """The posterior density of a family that has one."""
    own = problem.curve.is_bounded or not problem.likelihood.is_linear
    return GeneralDensity(problem) if own else CurveDensity(problem)


@one_blas_thread
def sample_importance(problem: Problem, draws: int) -> Sample:
    """Equal-weight posterior draws of the working coordinates.

    Returns
    -------
    Sample
        With the evidence, its Monte Carlo error, and Pareto k-hat.
    """
    if problem.curve.in_cells:
        return sample_pieces(problem, draws)[0]
    if problem.curve.per_score:
        return sample_saturated(problem, draws)[0]
    rng, density = problem.rng("curve"), density_of(problem)
    modes = density.proposals()
    pivoted = _Pivoted(density, problem)
    carried = [(pivoted.carried(mode), share) for mode, share in modes]
    heavy = sum(not name.startswith("deviation") for name in problem.curve.coordinates)
    sample = importance_sample(pivoted, carried, draws, rng, density.good_ess, heavy=heavy)
    sample = _mapped(sample, pivoted.to_coordinates)
    if sample.pareto_k > (BAD_K if len(modes) > 1 else GOOD_K):
        unpivoted = importance_sample(density, modes, draws, rng, density.good_ess, heavy=heavy)
        sample = min(sample, unpivoted, key=lambda drawn: drawn.pareto_k)
    return _mapped(sample, density.stored)


def _mapped(sample: Sample, to: Callable[[Floats], Floats]) -> Sample:
    """A sample with its draws, and what they were chosen from, in other coordinates."""
    proposals = None if sample.proposals is None else to(sample.proposals)
    return replace(sample, draws=to(sample.draws), proposals=proposals)


def _round(mode: Mode, deviations: float, least: float, longest: float = np.inf) -> Floats:
    """The mode, and points on either side of it in every direction, of shape (1 + 2 d, d).

    Parameters
    ----------
    deviations : float
        How far, in standard deviations, from an information of at least `least`.
    longest : float
        The longest step in any coordinate.
    """
    information, directions = np.linalg.eigh(mode.information)
    deviation = 1 / np.sqrt(np.maximum(information, least))
    steps = np.clip(deviations * deviation[:, None] * directions.T, -longest, longest)
    return np.concatenate([mode.point[None], mode.point + steps, mode.point - steps])
