"""Log posterior of the scales of effects, with all effects integrated out at once.

Given the scales, the average and the effects have a density that is nearly normal: a normal prior
times a binomial likelihood. So they are integrated out by Laplace's approximation round their
mode, as in INLA (Rue, Martino & Chopin, 2009), and what is left is a density of few dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayescal._base.arrays import Floats, blocks
from bayescal._base.newton import Mode, by_differences, maximise
from bayescal._base.sampling.chi_square import student_stretch
from bayescal.model.prior import Normal, StudentT
from bayescal.multilevel.factorised.likelihood import MOST_OFF, of_tables
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["EffectsDensity"]

EFFECTS_ROOM = 1 << 20
"""Numbers that a block of scales may need at a time."""
FIRST_STEPS, EFFECTS_STEPS = 30, 1
EFFECTS_LONGEST_STEP = 2.0
LEAST_DEGREES = 4


@dataclass(frozen=True)
class Given:
    """What the latent variables are conditional on, at n points.

    Attributes
    ----------
    scale : ndarray of shape (n, latents)
        What each standard normal is multiplied by; one for the average.
    common : ndarray of shape (n, c)
        Coordinates that effects do not move.
    """

    scale: Floats
    common: Floats

    def repeated(self, count: int) -> Given:
        """Each point several times."""
        return Given(np.repeat(self.scale, count, axis=0), np.repeat(self.common, count, axis=0))


@dataclass(frozen=True)
class Peaks:
    """Most probable latent variables at n points, and how sharp the peaks are.

    Attributes
    ----------
    mode : ndarray of shape (n, latents)
    factor : ndarray of shape (n, latents, latents)
        Lower Cholesky factor of the information there.
    log_integral : ndarray of shape (n,)
        Laplace's approximation of the log likelihood, the latent variables integrated out.
    """

    given: Given
    mode: Floats
    factor: Floats
    log_integral: Floats


class EffectsDensity:
    """Log posterior density of the scales, and of coordinates that effects do not move.

    Points have a standard normal coordinate for each scale, term by term, and then the coordinates
    that are common to all groups. Latent variables are the average of the other coordinates and
    then, term by term and coordinate by coordinate, the standard normals behind the effects.
    """

    def __init__(self, problem: MultilevelProblem) -> None:
        from scipy import sparse

        self.problem, self.prior = problem, problem.pooled.prior
        self.names, self.varying = problem.pooled.curve.coordinates, problem.varying
        self.columns = problem.columns
        self.others = [k for k in range(len(self.names)) if k not in self.columns]
        self.common = tuple(self.names[k] for k in self.others)
        self.scales_size = len(problem.terms) * len(self.varying)
        self.size = self.scales_size + len(self.common)
        groups = dict(enumerate(problem.groups.values()))
        self.groups, self.parts = len(groups), of_tables(groups, self.columns)
        self._design = self._of_latents()
        self.latents = self._design.shape[2]
        self._flat = self._design.reshape(-1, self.latents)
        pairs = [
            sparse.kron(sparse.csr_array(each), sparse.csr_array(each)) for each in self._design
        ]
        self._pairs = sparse.csr_array(sparse.vstack(pairs).T)
        rows = sum(part.size * part.width for part in self.parts)
        self._width = 3 * self.latents**2 + len(self._pairs.indices) // self.latents + 2 * rows
        self._keep_quadratic(self.given(np.zeros((1, self.size))))

    def _keep_quadratic(self, given: Given) -> None:
        """Keep the likelihood's second-order expansion, by coordinates of groups, and the prior's.

        From it the mode at any other point follows at once, but for what is left to Newton.
        """
        z = self._climb(given, np.zeros((1, self.latents)), FIRST_STEPS)
        u = self._coordinates(given, z)
        gradient, information = self._by_group(u, slice(None))
        own = information[:, :, self.columns]
        pull = gradient[:, :, self.columns] + np.vecdot(own, np.moveaxis(u, -1, 0)[:, :, None])
        self._pull = pull.ravel() @ self._flat
        crossed = own[0][:, :, self.others].reshape(len(self._flat), len(self.others))
        self._crossed = crossed.T @ self._flat
        self._information = self._by_latents(own[..., self.columns])[0]
        slope, self._precision = self._prior_derivatives(z)
        self._prior_pull = slope + self._precision * z

    def _of_latents(self) -> Floats:
        """Moved coordinates by latent variable, scales of one, of shape (groups, r, latents)."""
        r = len(self.varying)
        parts = [np.tile(np.eye(r), (self.groups, 1, 1))]
        for term in self.problem.terms:
            of_group = term.design[list(term.of_group)]
            for column in range(r):
                part = np.zeros((self.groups, r, term.innovations))
                part[:, column] = of_group
                parts.append(part)
        return np.concatenate(parts, axis=2)

    def scales(self, points: Floats) -> list[Floats]:
        """Scales of each term, of shape (n, r), at points of shape (n, size)."""
        r = len(self.varying)
        return [
            term.prior.scales(points[:, r * number : r * (number + 1)], self.varying)
            for number, term in enumerate(self.problem.terms)
        ]

    def given(self, points: Floats) -> Given:
        """What the latent variables are conditional on, at points of shape (n, size)."""
        parts = [np.ones((len(points), len(self.varying)))]
        for term, scales in zip(self.problem.terms, self.scales(points), strict=True):
            parts.append(np.repeat(scales, term.innovations, axis=1))
        return Given(np.concatenate(parts, axis=1), points[:, self.scales_size :])

    def average(self, points: Floats, scaled: Floats) -> Floats:
        """Coordinates of the average, (n, d), from points and scaled latent variables."""
        average = np.empty((len(points), len(self.names)))
        average[:, self.columns] = scaled[:, : len(self.varying)]
        average[:, self.others] = points[:, self.scales_size :]
        return average

    def effects(self, scaled: Floats) -> tuple[Floats, ...]:
        """Effects of the levels of each term, (levels, n, r), from scaled latent variables."""
        r, effects = len(self.varying), []
        start = r
        for term in self.problem.terms:
            end = start + r * term.innovations
            standard = scaled[:, start:end].reshape(-1, r, term.innovations)
            effects.append((standard @ term.design.T).transpose(2, 0, 1))
            start = end
        return tuple(effects)

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, size)."""
        standard, common = np.split(points, [self.scales_size], axis=1)
        density = -np.vecdot(standard, standard) / 2 - self.scales_size / 2 * np.log(2 * np.pi)
        density = density + self.prior.logpdf(self.common, common)
        for part in blocks(len(points), self._width, EFFECTS_ROOM):
            density[part] += self.peaks(points[part]).log_integral
        return np.asarray(density)

    def mode(self) -> Mode:
        """The most probable point, by finite differences."""
        return maximise(by_differences(self), np.zeros(self.size), tolerance=1e-3, longest=1.0)

    def peaks(self, points: Floats) -> Peaks:
        """Where the latent variables peak at points of shape (n, size)."""
        given = self.given(points)
        mode = self._climb(given, self._start(given), EFFECTS_STEPS)
        information = self._derivatives(given, mode)[1]
        factor: Floats = np.asarray(np.linalg.cholesky(information), np.float64)
        log_det = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        value = self.log_joint(given, mode) + self.latents / 2 * np.log(2 * np.pi) - log_det
        return Peaks(given, mode, factor, np.asarray(value, np.float64))

    def draw_latents(
        self, peaks: Peaks, count: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Student-t proposals of the latent variables round each peak.

        Parameters
        ----------
        peaks : Peaks
            Of n points.
        count : int
            Proposals for each.

        Returns
        -------
        scaled : ndarray of shape (n, count, latents)
            Latent variables times their scales.
        log_ratio : ndarray of shape (n, count)
            Log of their density over that of the proposals and over Laplace's integral.
        """
        n, k = peaks.mode.shape
        degrees = max(LEAST_DEGREES, k)
        stretch = student_stretch(rng.standard_normal(n * count), degrees).reshape(n, count, 1)
        standard = rng.standard_normal((n, count, k)) * stretch
        off = np.linalg.solve(peaks.factor.transpose(0, 2, 1), standard.transpose(0, 2, 1))
        z = peaks.mode[:, None] + off.transpose(0, 2, 1)
        value = self.log_joint(peaks.given.repeated(count), z.reshape(-1, k)).reshape(n, count)
        half = (degrees + k) / 2
        proposed = gammaln(half) - gammaln(degrees / 2) - k / 2 * np.log(degrees * np.pi)
        proposed = proposed - half * np.log1p((standard**2).sum(axis=2) / degrees)
        log_det = np.log(np.diagonal(peaks.factor, axis1=1, axis2=2)).sum(axis=1)
        log_ratio = value - proposed - (log_det + peaks.log_integral)[:, None]
        return z * peaks.given.scale[:, None], log_ratio

    def log_joint(self, given: Given, z: Floats) -> Floats:
        """Log of prior times likelihood at latent variables of shape (n, latents)."""
        r, u = len(self.varying), self._coordinates(given, z)
        value = self.prior.logpdf(self.varying, z[:, :r])
        value = value - np.vecdot(z[:, r:], z[:, r:]) / 2
        value -= (self.latents - r) / 2 * np.log(2 * np.pi)
        for part in self.parts:
            value += part.log_likelihood(u[part.numbers]).sum(axis=0)
        return np.asarray(value)

    def _coordinates(self, given: Given, z: Floats) -> Floats:
        """Working coordinates of every group, of shape (groups, d, n)."""
        u = np.empty((self.groups, len(self.names), len(z)))
        moved = self._flat @ (given.scale * z).T
        u[:, self.columns] = moved.reshape(self.groups, -1, len(z))
        u[:, self.others] = given.common.T
        return np.clip(u, -MOST_OFF, MOST_OFF)

    def _by_group(self, u: Floats, columns: slice) -> tuple[Floats, Floats]:
        """Gradient and information of each group by some of its coordinates, (n, groups, ...)."""
        shape = (u.shape[2], self.groups, len(self.names[columns]))
        gradient, information = np.empty(shape), np.empty((*shape, shape[-1]))
        for part in self.parts:
            slope, curvature = part.derivatives(u[part.numbers], columns)
            gradient[:, part.numbers] = np.moveaxis(slope, -1, 0)
            information[:, part.numbers] = np.moveaxis(curvature, -1, 0)
        return gradient, information

    def _by_latents(self, information: Floats) -> Floats:
        """Information of latent variables of scale one, of shape (n, latents, latents)."""
        n, k = len(information), self.latents
        return np.asarray((self._pairs @ information.reshape(n, -1).T).T.reshape(n, k, k))

    def _derivatives(self, given: Given, z: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, latents) and expected information (n, latents, latents) at `z`."""
        gradient, information = self._by_group(self._coordinates(given, z), self.parts[0].moved)
        slope, precision = self._prior_derivatives(z)
        total = self._scaled(given.scale, self._by_latents(information), precision)
        return gradient.reshape(len(z), -1) @ self._flat * given.scale + slope, total

    def _scaled(self, scale: Floats, information: Floats, precision: Floats) -> Floats:
        """Information by latent variables, once they are scaled, with that of the prior."""
        total = information * scale[:, :, None] * scale[:, None, :]
        index = np.arange(self.latents)
        total[:, index, index] += precision
        return total

    def _start(self, given: Given) -> Floats:
        """The modes, were the likelihood the quadratic that is kept."""
        information = self._scaled(given.scale, self._information, self._precision)
        pull = self._pull - given.common @ self._crossed
        pull = given.scale * pull + self._prior_pull
        return np.asarray(np.linalg.solve(information, pull[..., None])[..., 0])

    def _prior_derivatives(self, z: Floats) -> tuple[Floats, Floats]:
        """Slope of the log prior, and the precision of the normal law with this slope."""
        slope, precision = -z, np.ones(z.shape)
        for column, name in enumerate(self.varying):
            law = self.prior.of(name)
            assert isinstance(law, Normal | StudentT)  # only a shift and slopes vary
            slope[:, column], curvature = law.slope_and_curvature(z[:, column])
            off = z[:, column] - law.mu
            at_mean = np.abs(off) < 1e-9
            ratio = -slope[:, column] / np.where(at_mean, 1.0, off)
            precision[:, column] = np.where(at_mean, -curvature, ratio)
        return slope, precision

    def _climb(self, given: Given, z: Floats, steps: int) -> Floats:
        for _ in range(steps):
            gradient, information = self._derivatives(given, z)
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
            z = z + np.clip(step, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
        return z
