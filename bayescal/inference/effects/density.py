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
from bayescal.inference.sites.density import MOST_OFF, TableLikelihood
from bayescal.model.effects.problem import EffectsProblem

__all__ = ["EffectsDensity"]

EFFECTS_ROOM = 1 << 20
"""Numbers that a block of scales may need at a time."""
FIRST_STEPS, EFFECTS_STEPS = 30, 1
EFFECTS_LONGEST_STEP = 2.0
LEAST_DEGREES = 4


@dataclass(frozen=True)
class Peaks:
    """Most probable latent variables at n points, and how sharp the peaks are.

    Attributes
    ----------
    scale : ndarray of shape (n, latents)
        What each standard normal is multiplied by; one for the average.
    mode : ndarray of shape (n, latents)
    factor : ndarray of shape (n, latents, latents)
        Lower Cholesky factor of the information there.
    log_integral : ndarray of shape (n,)
        Laplace's approximation of the log likelihood, the latent variables integrated out.
    """

    scale: Floats
    mode: Floats
    factor: Floats
    log_integral: Floats


class EffectsDensity:
    """Log posterior density of the scales, as standard normal points.

    Points have two coordinates a term (or one, where the family has a shift or a slope alone).
    Latent variables are the average's coordinates and then, term by term and coordinate by
    coordinate, the standard normals behind the effects.

    Parameters
    ----------
    problem : EffectsProblem
    """

    def __init__(self, problem: EffectsProblem) -> None:
        from scipy import sparse

        self.problem, self.prior = problem, problem.pooled.prior
        self.names, self.varying = problem.pooled.curve.coordinates, problem.varying
        self.size = len(problem.terms) * len(self.varying)
        self.groups = [TableLikelihood(each, problem.columns) for each in problem.groups.values()]
        self._design = self._of_latents()
        self.latents = self._design.shape[2]
        self._flat = self._design.reshape(-1, self.latents)
        pairs = [
            sparse.kron(sparse.csr_array(each), sparse.csr_array(each)) for each in self._design
        ]
        self._pairs = sparse.csr_array(sparse.vstack(pairs).T)
        rows = max(group.density.trials.size for group in self.groups)
        self._width = 3 * self.latents**2 + len(self._pairs.indices) // self.latents + 8 * rows
        origin = self.scale(np.zeros((1, self.size)))
        self._keep_quadratic(origin, self._climb(origin, np.zeros((1, self.latents)), FIRST_STEPS))

    def _keep_quadratic(self, scale: Floats, z: Floats) -> None:
        """Keep the likelihood's second-order expansion, by coordinates of groups, and the prior's.

        From it the mode under any other scales follows at once, but for what is left to Newton.
        """
        u = self._coordinates(scale, z)
        gradient, information = self._by_group(u)
        pull = gradient + (information @ u[..., None])[..., 0]
        self._pull = pull.ravel() @ self._flat
        self._information = self._by_latents(information)[0]
        slope, self._precision = self._prior_derivatives(z)
        self._prior_pull = slope + self._precision * z

    def _of_latents(self) -> Floats:
        """Coordinates by latent variable, scales of one, of shape (groups, d, latents)."""
        d, parts = len(self.names), []
        average = np.tile(np.eye(d), (len(self.groups), 1, 1))
        for term in self.problem.terms:
            of_group = term.design[list(term.of_group)]
            for column in self.problem.columns:
                part = np.zeros((len(self.groups), d, term.innovations))
                part[:, column] = of_group
                parts.append(part)
        return np.concatenate([average, *parts], axis=2)

    def scales(self, points: Floats) -> list[Floats]:
        """Scales of each term, of shape (n, r), at points of shape (n, size)."""
        r = len(self.varying)
        return [
            term.prior.scales(points[:, r * number : r * (number + 1)], self.varying)
            for number, term in enumerate(self.problem.terms)
        ]

    def scale(self, points: Floats) -> Floats:
        """What each latent variable is multiplied by, of shape (n, latents)."""
        parts = [np.ones((len(points), len(self.names)))]
        for term, scales in zip(self.problem.terms, self.scales(points), strict=True):
            parts.append(np.repeat(scales, term.innovations, axis=1))
        return np.concatenate(parts, axis=1)

    def effects(self, scaled: Floats) -> tuple[Floats, ...]:
        """Effects of the levels of each term, (levels, n, r), from scaled latent variables."""
        r, start, effects = len(self.varying), len(self.names), []
        for term in self.problem.terms:
            end = start + r * term.innovations
            standard = scaled[:, start:end].reshape(-1, r, term.innovations)
            effects.append((standard @ term.design.T).transpose(2, 0, 1))
            start = end
        return tuple(effects)

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, size)."""
        density = -np.vecdot(points, points) / 2 - self.size / 2 * np.log(2 * np.pi)
        for part in blocks(len(points), self._width, EFFECTS_ROOM):
            density[part] += self.peaks(points[part]).log_integral
        return np.asarray(density)

    def mode(self) -> Mode:
        """The most probable scales, by finite differences."""
        return maximise(by_differences(self), np.zeros(self.size), tolerance=1e-3, longest=1.0)

    def peaks(self, points: Floats) -> Peaks:
        """Where the latent variables peak at points of shape (n, size)."""
        scale = self.scale(points)
        mode = self._climb(scale, self._start(scale), EFFECTS_STEPS)
        information = self._derivatives(scale, mode)[1]
        factor: Floats = np.asarray(np.linalg.cholesky(information), np.float64)
        log_det = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        value = self.log_joint(scale, mode) + self.latents / 2 * np.log(2 * np.pi) - log_det
        return Peaks(scale, mode, factor, np.asarray(value, np.float64))

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
        rng : numpy.random.Generator

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
        scale = np.repeat(peaks.scale, count, axis=0)
        value = self.log_joint(scale, z.reshape(-1, k)).reshape(n, count)
        half = (degrees + k) / 2
        proposed = gammaln(half) - gammaln(degrees / 2) - k / 2 * np.log(degrees * np.pi)
        proposed = proposed - half * np.log1p((standard**2).sum(axis=2) / degrees)
        log_det = np.log(np.diagonal(peaks.factor, axis1=1, axis2=2)).sum(axis=1)
        log_ratio = value - proposed - (log_det + peaks.log_integral)[:, None]
        return z * peaks.scale[:, None], log_ratio

    def log_joint(self, scale: Floats, z: Floats) -> Floats:
        """Log of prior times likelihood at latent variables of shape (n, latents)."""
        d, u = len(self.names), self._coordinates(scale, z)
        value = self.prior.logpdf(self.names, z[:, :d])
        value = (
            value - np.vecdot(z[:, d:], z[:, d:]) / 2 - (self.latents - d) / 2 * np.log(2 * np.pi)
        )
        for number, group in enumerate(self.groups):
            value += group.density.log_likelihood(u[:, number])
        return np.asarray(value)

    def _coordinates(self, scale: Floats, z: Floats) -> Floats:
        """Working coordinates of every group, of shape (n, groups, d)."""
        u = ((scale * z) @ self._flat.T).reshape(-1, len(self.groups), len(self.names))
        return np.clip(u, -MOST_OFF, MOST_OFF)

    def _by_group(self, u: Floats) -> tuple[Floats, Floats]:
        """Gradient and expected information of each group by its own coordinates."""
        everything = list(range(len(self.names)))
        gradient, information = np.empty(u.shape), np.empty((*u.shape, len(everything)))
        for number, group in enumerate(self.groups):
            parts = group.derivatives(u[:, number], everything)
            gradient[:, number], information[:, number] = parts
        return gradient, information

    def _by_latents(self, information: Floats) -> Floats:
        """Information of latent variables of scale one, of shape (n, latents, latents)."""
        n, k = len(information), self.latents
        return np.asarray((self._pairs @ information.reshape(n, -1).T).T.reshape(n, k, k))

    def _derivatives(self, scale: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Gradient (n, latents) and expected information (n, latents, latents) at `z`."""
        gradient, information = self._by_group(self._coordinates(scale, z))
        slope, precision = self._prior_derivatives(z)
        total = self._scaled(scale, self._by_latents(information), precision)
        return gradient.reshape(len(z), -1) @ self._flat * scale + slope, total

    def _scaled(self, scale: Floats, information: Floats, precision: Floats) -> Floats:
        """Information by latent variables, once they are scaled, with that of the prior."""
        total = information * scale[:, :, None] * scale[:, None, :]
        index = np.arange(self.latents)
        total[:, index, index] += precision
        return total

    def _start(self, scale: Floats) -> Floats:
        """The modes, were the likelihood the quadratic that is kept."""
        information = self._scaled(scale, self._information, self._precision)
        pull = scale * self._pull + self._prior_pull
        return np.asarray(np.linalg.solve(information, pull[..., None])[..., 0])

    def _prior_derivatives(self, z: Floats) -> tuple[Floats, Floats]:
        """Slope of the log prior, and the precision of the normal law with this slope."""
        slope, precision = -z, np.ones(z.shape)
        for column, name in enumerate(self.names):
            law = self.prior.of(name)
            slope[:, column], curvature = law.slope_and_curvature(z[:, column])
            off = z[:, column] - law.mu
            at_mean = np.abs(off) < 1e-9
            ratio = -slope[:, column] / np.where(at_mean, 1.0, off)
            precision[:, column] = np.where(at_mean, -curvature, ratio)
        return slope, precision

    def _climb(self, scale: Floats, z: Floats, steps: int) -> Floats:
        for _ in range(steps):
            gradient, information = self._derivatives(scale, z)
            step = np.linalg.solve(information, gradient[..., None])[..., 0]
            z = z + np.clip(step, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
        return z
