"""Log posterior of the population of sites, with the sites' curves integrated out.

Given the population, the sites are independent. So their curves are integrated out one site at a
time, by Gauss-Hermite quadrature round the mode of each, and what is left is a density of few
dimensions. Nothing in it grows with the number of patients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import logsumexp

from bayescal._base.arrays import Floats, blocks
from bayescal._base.newton import Mode, by_differences, maximise
from bayescal.inference.density import CurveDensity
from bayescal.model.curve import expit_in_place
from bayescal.model.problem import Problem
from bayescal.model.sites.problem import MOST_SITE_ROWS, SitesProblem
from bayescal.model.sites.summary import Summary

__all__ = ["PopulationDensity"]

QUADRATURE_NODES = 4
"""Quadrature nodes in each direction in which a site's curve can differ."""
SITE_PROPOSALS = 8
"""Proposals of a site's curve for each draw of the population, of which one is kept."""
SITE_STEPS = 2
SITE_LONGEST_STEP = 1.0
LEAST_CURVE_MEAN = 1e-15
"""Means of a curve nearer to 0 or 1 are of no posterior probability, and have no logarithm."""
MOST_OFF = 30.0
"""Coordinates beyond it have no posterior probability, and an exponential that may overflow."""


@dataclass(frozen=True)
class Spread:
    """Normal laws of the sites' coordinates round the average site, one for each of n points.

    Attributes
    ----------
    mean : ndarray of shape (n, d)
        The average site.
    precision : ndarray of shape (n, r, r)
        Inverse covariance of the coordinates that differ between sites.
    log_det : ndarray of shape (n,)
        Logarithm of the determinant of the precision.
    """

    mean: Floats
    precision: Floats
    log_det: Floats

    def part(self, rows: slice) -> Spread:
        """Some of the points."""
        return Spread(self.mean[rows], self.precision[rows], self.log_det[rows])


class SiteLikelihood(ABC):
    """Likelihood of one site's curve, and its mode under a spread of the sites.

    Parameters
    ----------
    problem : Problem
    columns : list of int
        Columns of the coordinates that differ between sites.
    """

    def __init__(self, problem: Problem, columns: list[int]) -> None:
        self.curve, self.prior, self.columns = problem.curve, problem.prior, columns
        shape = (len(self.curve.positive), self.curve.size)
        self._combination = np.array(self.curve.combination, dtype=np.float64).reshape(shape)
        self._positive = np.array(self.curve.positive, dtype=bool)
        centre = self._mode()
        everything = list(range(self.curve.size))
        gradient, information = self.derivatives(centre[None], everything)
        self._information = information[0][columns]
        self._pull = gradient[0][columns] + self._information @ centre

    @abstractmethod
    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood at working coordinates of shape (n, d)."""

    @abstractmethod
    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, k) and expected information (n, k, k) by the curve's coefficients.

        These are of shape (n, 1 + k), with the weight of the offset first.
        """

    @abstractmethod
    def _mode(self) -> Floats:
        """Most probable coordinates (d,) under the prior of the average site."""

    def derivatives(self, u: Floats, columns: list[int]) -> tuple[Floats, Floats]:
        """Gradient (n, r) and expected information (n, r, r) by some coordinates, at (n, d)."""
        coefficients = self.curve.with_offset(u)
        gradient, information = self._by_coefficient(coefficients)
        slopes = np.where(self._positive, coefficients[:, 1:], 1.0)
        jacobian = slopes[:, :, None] * self._combination[:, columns]
        by_column = np.einsum("nk,nkr->nr", gradient, jacobian)
        return by_column, jacobian.transpose(0, 2, 1) @ information @ jacobian

    def modes(self, spread: Spread) -> tuple[Floats, Floats]:
        """Most probable coordinates (n, d), and Cholesky factors (n, r, r) of their covariance."""
        u, columns = spread.mean.copy(), self.columns
        others = np.delete(np.arange(u.shape[1]), columns)
        centre = spread.mean[:, columns]
        pull = self._pull - u[:, others] @ self._information[:, others].T
        pull += np.einsum("nrs,ns->nr", spread.precision, centre)
        own = self._information[:, columns]
        u[:, columns] = _solve(spread.precision + own, pull)
        np.clip(u, -MOST_OFF, MOST_OFF, out=u)
        for last in range(SITE_STEPS, -1, -1):
            gradient, information = self.derivatives(u, columns)
            information += spread.precision
            if not last:
                break
            gradient -= np.einsum("nrs,ns->nr", spread.precision, u[:, columns] - centre)
            u[:, columns] += np.clip(
                _solve(information, gradient), -SITE_LONGEST_STEP, SITE_LONGEST_STEP
            )
            np.clip(u, -MOST_OFF, MOST_OFF, out=u)
        return u, np.linalg.cholesky(np.linalg.inv(information))

    def log_ratios(self, spread: Spread, standard: Floats) -> tuple[Floats, Floats]:
        """Points round each mode, and their density relative to the normal law there.

        Parameters
        ----------
        spread : Spread
            Of n points.
        standard : ndarray of shape (nodes, r) or (n, nodes, r)
            Where, in standard deviations from the mode.

        Returns
        -------
        points : ndarray of shape (n, nodes, d)
        log_ratio : ndarray of shape (n, nodes)
        """
        modes, factor = self.modes(spread)
        shift = standard @ factor.transpose(0, 2, 1)
        points = np.repeat(modes[:, None], standard.shape[-2], axis=1)
        points[..., self.columns] += shift
        np.clip(points, -MOST_OFF, MOST_OFF, out=points)
        from_average = points[..., self.columns] - spread.mean[:, None, self.columns]
        values = self.log_likelihood(points.reshape(-1, modes.shape[1]))
        squared = np.einsum("nmr,nrs,nms->nm", from_average, spread.precision, from_average)
        log_ratio = values.reshape(shift.shape[:2]) - squared / 2 + (standard**2).sum(axis=-1) / 2
        log_det = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return points, log_ratio + (log_det + spread.log_det / 2)[:, None]


class TableLikelihood(SiteLikelihood):
    """Of the patients of a site."""

    def __init__(self, problem: Problem, columns: list[int]) -> None:
        self.density = CurveDensity(replace(problem, most_rows=MOST_SITE_ROWS))
        basis = self.density.basis
        self._products = (basis[:, :, None] * basis[:, None, :]).reshape(basis.shape[0], -1)
        super().__init__(problem, columns)

    def log_likelihood(self, u: Floats) -> Floats:
        return self.density.log_likelihood(u)

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        density = self.density
        fitted = expit_in_place(coefficients @ density.columns)
        gradient = density.events_basis - (fitted * density.trials) @ density.basis
        fitted *= 1 - fitted
        fitted *= density.trials
        k = gradient.shape[1]
        return gradient, (fitted @ self._products).reshape(-1, k, k)

    def _mode(self) -> Floats:
        return self.density.mode().point


class SummaryLikelihood(SiteLikelihood):
    """Of what is known of a site without its patients: see `Summary`."""

    def __init__(self, summary: Summary, columns: list[int]) -> None:
        self.summary = summary
        super().__init__(summary.problem, columns)

    def log_likelihood(self, u: Floats) -> Floats:
        values = np.empty(len(u))
        for part in blocks(len(u), MOST_SITE_ROWS):
            coefficients = self.curve.with_offset(u[part])
            mean = self._inside(self._fitted(coefficients) @ self.summary.weight)
            slope = coefficients @ self.summary.line
            values[part] = self.summary.log_likelihood(mean, slope, np.log, np.log1p)
        return values

    def _by_coefficient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        summary, fitted = self.summary, self._fitted(coefficients)
        mean = self._inside(fitted @ summary.weight)
        fitted *= 1 - fitted
        fitted *= summary.weight
        by_mean, by_slope = fitted @ summary.columns[1:].T, summary.line[1:]
        gradient, information = summary.derivatives(mean, coefficients @ summary.line)
        total = gradient[0, :, None] * by_mean + gradient[1, :, None] * by_slope
        products = information[0, :, None, None] * by_mean[:, :, None] * by_mean[:, None, :]
        products += information[1, :, None, None] * np.outer(by_slope, by_slope)
        return total, products

    def _mode(self) -> Floats:
        names, size = self.curve.coordinates, self.curve.size
        everything = list(range(size))

        def objective(u: Floats) -> tuple[float, Floats, Floats]:
            value = self.log_likelihood(u[None])[0] + self.prior.logpdf(names, u[None])[0]
            gradient, information = (each[0] for each in self.derivatives(u[None], everything))
            slopes = [self.prior.of(name).slope_and_curvature(u[k]) for k, name in enumerate(names)]
            first, second = np.transpose(slopes)
            return float(value), gradient + first, np.diag(second) - information

        return maximise(objective, np.zeros(size), longest=SITE_LONGEST_STEP).point

    def _fitted(self, coefficients: Floats) -> Floats:
        return expit_in_place(coefficients @ self.summary.columns)

    def _inside(self, mean: Floats) -> Floats:
        return np.clip(mean, LEAST_CURVE_MEAN, 1 - LEAST_CURVE_MEAN)


class PopulationDensity:
    """Log posterior density of the population, the sites' curves integrated out.

    Points have the coordinates of the average site, then a standard normal point for each scale,
    and for the correlation if two coordinates differ between sites.

    Parameters
    ----------
    problem : SitesProblem
    """

    def __init__(self, problem: SitesProblem) -> None:
        self.problem, self.pooled = problem, problem.pooled
        self.names = problem.pooled.curve.coordinates
        self.size = len(self.names) + len(problem.varying) + (len(problem.varying) > 1)
        self.sites = {label: self._site(label) for label in problem.labels}

    def _site(self, label: str) -> SiteLikelihood:
        """What is known of a site, as a function of its coordinates."""
        problem = self.problem
        if label in problem.summaries:
            return SummaryLikelihood(problem.summaries[label], problem.columns)
        return TableLikelihood(problem.sites[label], problem.columns)

    def spread(self, points: Floats) -> Spread:
        """The law of the sites' coordinates at points of shape (n, size)."""
        scales, correlation = self.heterogeneity(points)
        return Spread(points[:, : len(self.names)], *_precision(scales, correlation))

    def heterogeneity(self, points: Floats) -> tuple[Floats, Floats]:
        """Scales (n, r) and correlations (n,), zero where one coordinate differs."""
        varying, d, prior = self.problem.varying, len(self.names), self.problem.heterogeneity
        scales = prior.scales(points[:, d : d + len(varying)], varying)
        if len(varying) == 1:
            return scales, np.zeros(len(points))
        return scales, prior.correlations(points[:, -1])

    def __call__(self, points: Floats, nodes: int = QUADRATURE_NODES) -> Floats:
        """Log density at points of shape (n, size)."""
        d, spread = len(self.names), self.spread(points)
        density = self.pooled.prior.logpdf(self.names, points[:, :d])
        density = density - np.vecdot(points[:, d:], points[:, d:]) / 2
        density -= (self.size - d) / 2 * np.log(2 * np.pi)
        standard, log_weight = _nodes(nodes, len(self.problem.varying))
        for part in blocks(len(points), MOST_SITE_ROWS):
            there = spread.part(part)
            for site in self.sites.values():
                _, log_ratio = site.log_ratios(there, standard)
                density[part] += logsumexp(log_ratio + log_weight, axis=1)
        return np.asarray(density)

    def mode(self) -> Mode:
        """The mode of Laplace's approximation, by finite differences."""
        differences = by_differences(lambda points: self(points, nodes=1))
        return maximise(differences, np.zeros(self.size), tolerance=1e-3, longest=SITE_LONGEST_STEP)

    def draw_sites(
        self, points: Floats, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], float]:
        """One draw of every site's coordinates for each point, and the least share that counts.

        Each is one of a few proposals round the mode, taken with probability proportional to its
        density over that of the proposals.
        """
        spread, r = self.spread(points), len(self.problem.varying)
        drawn = {label: np.empty((len(points), len(self.names))) for label in self.sites}
        least = 1.0
        for label, site in self.sites.items():
            counts = 0.0
            for part in blocks(len(points), MOST_SITE_ROWS):
                there = spread.part(part)
                standard = rng.standard_normal((len(there.mean), SITE_PROPOSALS, r))
                proposed, log_ratio = site.log_ratios(there, standard)
                weight = np.exp(log_ratio - log_ratio.max(axis=1, keepdims=True))
                ladder = weight.cumsum(axis=1)
                limit = rng.random(len(weight)) * ladder[:, -1]
                chosen = (ladder < limit[:, None]).sum(axis=1)
                drawn[label][part] = proposed[np.arange(len(weight)), chosen]
                counts += (ladder[:, -1] ** 2 / (weight**2).sum(axis=1)).sum()
            least = min(least, counts / (SITE_PROPOSALS * len(points)))
        return drawn, float(least)


def _precision(scales: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Inverse covariances of one or two coordinates, and the logarithms of their determinants."""
    n, r = scales.shape
    precision = np.empty((n, r, r))
    left = (1 - correlation) * (1 + correlation)
    for i in range(r):
        for j in range(r):
            share = 1.0 if i == j else -correlation
            precision[:, i, j] = share / (scales[:, i] * scales[:, j] * left)
    return precision, -2 * np.log(scales).sum(axis=1) - np.log(left)


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrices, vectors[..., None])[..., 0])


def _nodes(count: int, r: int) -> tuple[Floats, Floats]:
    """Nodes (count^r, r) of a Gauss-Hermite product rule, and the logarithms of their weights."""
    at, weight = hermegauss(count)
    grid = np.meshgrid(*[at] * r, indexing="ij")
    weights = np.meshgrid(*[weight / weight.sum()] * r, indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, r), np.log(np.prod(weights, axis=0)).ravel()
