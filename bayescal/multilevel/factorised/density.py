"""Log posterior of the population of sites, with the sites' curves integrated out.

Given the population, the sites are independent. So their curves are integrated out one site at a
time, by Gauss-Hermite quadrature round the mode of each, and what is left is a density of few
dimensions. Nothing in it grows with the number of patients.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import Mode, by_differences, maximise
from bayescal.core.progress import Advance, silent
from bayescal.core.sampling import EVEN_POINTS, even_points
from bayescal.multilevel.factorised.likelihood import (
    SITE_LONGEST_STEP,
    SITE_NODES,
    SiteLikelihood,
    Spread,
    SummaryLikelihood,
    of_tables,
)
from bayescal.multilevel.followed import densities_of
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import log_weights_of_shares, unlike_scales

__all__ = ["PopulationDensity"]

QUADRATURE_NODES = 4
"""Quadrature nodes in each direction in which a site's curve can differ."""
POINTS, ROOM = 256, 1 << 18
"""Points of the population that are taken at a time, and numbers that a block of them needs."""
SHELF, WIDER = 0.25, 2.0
"""Share of the points that are proposed with scales from their prior, and how much wider the
average is then spread, as a ratio of variances."""
DRAWN = 1024
"""Draws of the population for which random numbers are made at a time."""


class PopulationDensity:
    """Log posterior density of the population, the sites' curves integrated out.

    Points have the coordinates of the average site, then a standard normal point for each scale,
    and for the correlation if two coordinates differ between sites.

    Attributes
    ----------
    advance : callable
        Hears how many points have been evaluated, or drawn for all sites.
    """

    advance: Advance = staticmethod(silent)

    def __init__(self, problem: MultilevelProblem) -> None:
        self.problem, self.pooled = problem, problem.pooled
        self.names = problem.pooled.curve.coordinates
        self.size = len(self.names) + len(problem.varying) + (len(problem.varying) > 1)
        tables = [k for k, label in enumerate(problem.labels) if label not in problem.summaries]
        self.is_robust = problem.terms[0].robust
        densities = densities_of(problem, tables, SITE_NODES)
        self.parts: list[SiteLikelihood] = of_tables(self.pooled, problem.columns, densities)
        for label, summary in problem.summaries.items():
            number = problem.labels.index(label)
            self.parts.append(SummaryLikelihood(summary, problem.columns, number))
        for part in self.parts:
            part.keep_quadratics()

    def spread(self, points: Floats) -> Spread:
        """The law of the sites' coordinates at points of shape (n, size)."""
        scales, correlation = self.heterogeneity(points)
        return Spread(points[:, : len(self.names)].T.copy(), *_precision(scales, correlation))

    def laws(self, points: Floats) -> list[Spread]:
        """The law of sites that are like the others and, if there may be any, of those unlike."""
        like = self.spread(points)
        if not self.is_robust:
            return [like]
        scales, correlation = self.heterogeneity(points)
        scales = unlike_scales(self.problem.prior_of_unlike, self.problem.varying, scales)
        return [like, Spread(like.mean, *_precision(scales, np.zeros_like(correlation)))]

    def heterogeneity(self, points: Floats) -> tuple[Floats, Floats]:
        """Scales (n, r) and correlations (n,), zero where one coordinate differs."""
        varying, d, prior = self.problem.varying, len(self.names), self.problem.heterogeneity
        scales = prior.scales(points[:, d : d + len(varying)], varying)
        if len(varying) == 1:
            return scales, np.zeros(len(points))
        return scales, prior.correlations(points[:, -1])

    def __call__(self, points: Floats, nodes: int = QUADRATURE_NODES) -> Floats:
        """Log density at points of shape (n, size)."""
        return self._told(points, nodes)[0]

    def of_robust(self, points: Floats) -> tuple[Floats, Floats]:
        """Log density at points, and how much likelier each site is, were it unlike the others.

        Of shapes (n,) and (n, sites), the second on the log scale.
        """
        density, (like, unlike) = self._told(points, QUADRATURE_NODES)
        return density, (unlike - like).T

    def _told(self, points: Floats, nodes: int) -> tuple[Floats, Floats]:
        """Log density at points, and the integrals that it is made of."""
        d = len(self.names)
        density = self.pooled.prior.logpdf(self.names, points[:, :d])
        density = density - np.vecdot(points[:, d:], points[:, d:]) / 2
        density -= (self.size - d) / 2 * np.log(2 * np.pi)
        integrals = self.log_integrals(points, nodes)
        like, *unlike = integrals
        density += like.sum(axis=0)
        if unlike:
            density += logsumexp(log_weights_of_shares(unlike[0] - like)[1], axis=0)
        return np.asarray(density), integrals

    def log_integrals(self, points: Floats, nodes: int = QUADRATURE_NODES) -> Floats:
        """Log likelihoods (laws, sites, n) of sites under each law, their curves integrated out."""
        laws = self.laws(points)
        integrals = np.empty((len(laws), len(self.problem.labels), len(points)))
        standard, log_weight = _nodes(nodes, len(self.problem.varying))
        for some in blocks(len(points), room=POINTS):
            for of_law, law in zip(integrals, laws, strict=True):
                there = law.part(some)
                for part in self.parts:
                    width = there.log_det.size * log_weight.size * part.width
                    for sites in blocks(part.size, width, ROOM):
                        own = part.of(sites)
                        _, log_ratio = own.log_ratios(there, standard)
                        of_law[own.numbers, some] = _log_sums(log_ratio, log_weight)
            self.advance(some.stop - some.start)
        return integrals

    def mode(self) -> Mode:
        """The mode of Laplace's approximation, by finite differences."""
        differences = by_differences(lambda points: self(points, nodes=1))
        return maximise(differences, np.zeros(self.size), tolerance=1e-3, longest=SITE_LONGEST_STEP)

    def peaks(self) -> list[tuple[Mode, float]]:
        """Where to propose points, and the share of each place: the mode and, if any, a shelf.

        Where sites may be unlike the others there is a shelf beside the mode: sites that differ
        much and are all like each other can also be sites that differ little and are often
        unlike. Points with scales from their prior cover it.
        """
        mode, d = self.mode(), len(self.names)
        if not self.is_robust:
            return [(mode, 1.0)]
        shelf, information = mode.point.copy(), np.eye(self.size)
        shelf[d:] = 0.0
        information[:d, :d] = mode.information[:d, :d] / WIDER
        return [(mode, 1 - SHELF), (Mode(shelf, mode.value, information, True), SHELF)]

    def draw_sites(
        self,
        points: Floats,
        share: Floats | None,
        log_ratio: Floats | None,
        rng: np.random.Generator,
    ) -> tuple[Floats, NDArray[np.bool_], float]:
        """One draw of every site for each point.

        Whether a site is like the others is drawn first. Its curve is one of a few proposals spread
        evenly round the mode of its law, taken with probability proportional to its density over
        that of the proposals.

        Parameters
        ----------
        share : ndarray of shape (n,), optional
            Of sites that are unlike the others, if there may be any.
        log_ratio : ndarray of shape (n, sites), optional
            How much likelier each site is, were it unlike the others, on the log scale.

        Returns
        -------
        drawn : ndarray of shape (sites, n, d)
        unlike : ndarray of bool of shape (sites, n)
            Whether a site is unlike the others.
        least : float
            The least share of a site's proposals that count.
        """
        size, sites, r = len(points), len(self.problem.labels), len(self.problem.varying)
        laws, unlike = self.laws(points), np.zeros((sites, size), dtype=bool)
        if share is not None and log_ratio is not None:
            unlike = rng.random((sites, size)) < expit(logit(share) + log_ratio.T)
        drawn, least = np.empty((sites, size, len(self.names))), 1.0
        for number, site in sorted(self._one_by_one(), key=lambda each: each[0]):
            law, counts = laws[0].or_else(laws[-1], unlike[number]), 0.0
            standard, uniform = _of_choice(size, r, rng)
            for some in blocks(size, EVEN_POINTS * site.width, ROOM):
                each = site.log_ratios(law.part(some), standard[..., some])
                proposed, log_ratios = each[0][0], each[1][0]
                weight = np.exp(log_ratios - log_ratios.max(axis=0))
                ladder = weight.cumsum(axis=0)
                chosen = (ladder < uniform[some] * ladder[-1]).sum(axis=0)
                drawn[number, some] = proposed[:, chosen, np.arange(chosen.size)].T
                counts += (ladder[-1] ** 2 / (weight**2).sum(axis=0)).sum()
            least = min(least, counts / (EVEN_POINTS * size))
            self.advance(size // sites)
        return drawn, unlike, float(least)

    def _one_by_one(self) -> Iterator[tuple[int, SiteLikelihood]]:
        """Every site with its number: each has its own stretch of the random numbers."""
        for part in self.parts:
            for position, number in enumerate(part.numbers):
                yield int(number), part.of(slice(position, position + 1))


def _of_choice(size: int, r: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Points (r, 4, size) that curves of a site are proposed at, and a number that picks one."""
    standard, uniform = np.empty((r, EVEN_POINTS, size)), np.empty(size)
    for some in blocks(size, room=DRAWN):
        points = even_points((1, r, some.stop - some.start), np.inf, rng)[0]
        standard[..., some] = points.transpose(0, 2, 1)
        uniform[some] = rng.random(some.stop - some.start)
    return standard, uniform


def _precision(scales: Floats, correlation: Floats) -> tuple[Floats, Floats]:
    """Inverse covariances of one or two coordinates, and the logarithms of their determinants."""
    n, r = scales.shape
    precision = np.empty((r, r, n))
    left = (1 - correlation) * (1 + correlation)
    for i in range(r):
        for j in range(r):
            share = 1.0 if i == j else -correlation
            precision[i, j] = share / (scales[:, i] * scales[:, j] * left)
    return precision, -2 * np.log(scales).sum(axis=1) - np.log(left)


def _log_sums(log_values: Floats, log_weight: Floats) -> Floats:
    """Log of the weighted sum of exponentials over the middle axis of values (S, nodes, n)."""
    largest = log_values.max(axis=1)
    ratio = log_values - largest[:, None]
    np.exp(ratio, out=ratio)
    return np.asarray(np.log(np.exp(log_weight) @ ratio) + largest)


def _nodes(count: int, r: int) -> tuple[Floats, Floats]:
    """Nodes (r, nodes, 1) of a Gauss-Hermite product rule, and logarithms of their weights.

    In two directions twelve nodes are exact to the degree of four in each.
    """
    if (count, r) == (4, 2):
        return _twelve_nodes()
    at, weight = hermegauss(count)
    grid = np.meshgrid(*[at] * r, indexing="ij")
    weights = np.meshgrid(*[weight / weight.sum()] * r, indexing="ij")
    return np.stack(grid).reshape(r, -1, 1), np.log(np.prod(weights, axis=0)).ravel()


def _twelve_nodes() -> tuple[Floats, Floats]:
    """Nodes (2, 12, 1) of a rule for a normal law in the plane, exact to degree seven.

    References
    ----------
    Stroud (1971), Approximate calculation of multiple integrals, Prentice-Hall, rule E2(r2) 7-1.
    """
    root, on_axes = np.sqrt(5), np.sqrt(6) * np.array([[1, -1, 0, 0], [0, 0, 1, -1]])
    corners = np.array([[1, 1, -1, -1], [1, -1, 1, -1]])
    near, far = (np.sqrt((9 + sign * 3 * root) / 4) for sign in (-1, 1))
    weight = np.repeat([1 / 36, (5 + 2 * root) / 45, (5 - 2 * root) / 45], 4)
    points = np.concatenate([on_axes, near * corners, far * corners], axis=1)
    return points[..., None], np.log(weight)
