"""The fast engine: importance sampling of a curve's coordinates round the posterior mode."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import Mode, maximise
from bayescal.core.sampling import BAD_K, GOOD_ESS, GOOD_K, Sample, importance_sample
from bayescal.core.versions import one_blas_thread
from bayescal.inference.clusters import Adjustment, adjustment_of
from bayescal.inference.general import DENSITY_NEAR, GeneralDensity, middle_of, modes_by_scale
from bayescal.inference.pieces import sample_pieces, sample_saturated
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.likelihood.rows import LikelihoodRows, at_nodes, every_row, merged_rows
from bayescal.model.prior import JointPrior
from bayescal.model.problem import Problem

__all__ = ["CurveDensity", "Nodes", "density_of", "sample_importance"]

DENSITY_LONGEST_STEP = 5.0  # past it the exponential of a slope could overflow
DENSITY_TOLERANCE = 1e-12
LEAST_PRECISION = 1e-6
MOST_GAUSS_NODES = 128
"""Nodes past which the rows themselves cost less."""
CHECKED_DEVIATIONS = 4.0
"""How far from the mode the likelihood of nodes is checked."""


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
            coefficients = self.curve.with_offset(_round(self.peak))
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


def _round(mode: Mode) -> Floats:
    """The mode, and points on either side of it in every direction, of shape (1 + 2 d, d)."""
    variance, directions = np.linalg.eigh(mode.information)
    deviation = 1 / np.sqrt(np.maximum(variance, LEAST_PRECISION))
    steps = CHECKED_DEVIATIONS * deviation[:, None] * directions.T
    steps = np.clip(steps, -DENSITY_LONGEST_STEP, DENSITY_LONGEST_STEP)
    return np.concatenate([mode.point[None], mode.point + steps, mode.point - steps])
