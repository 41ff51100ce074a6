"""Log posterior of the scales of effects, with all effects integrated out by Laplace's method.

Given the scales, the average and the effects have a density that is nearly normal: a normal prior
times a binomial likelihood. The effects of the largest term are independent given all else, so
that their information is a block for each level. These are eliminated, and what is left is the
information of the average and of the smaller terms (Rue, Martino & Chopin, 2009).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import Mode, by_differences, maximise
from bayescal.core.progress import Advance, silent
from bayescal.model.prior import Normal, StudentT
from bayescal.multilevel.blocks.chain import Chain
from bayescal.multilevel.blocks.layout import Layout, sums_of
from bayescal.multilevel.blocks.triangular import solve_lower, solve_upper
from bayescal.multilevel.factorised.likelihood import MOST_OFF, SITE_NODES, of_tables
from bayescal.multilevel.factorised.small import covariance_factor, products
from bayescal.multilevel.followed import densities_of
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.robust import unlike_scales

__all__ = ["EffectsDensity", "Eliminated", "Given", "Peaks", "blocks_of_points"]

EFFECTS_ROOM = 1 << 21
"""Numbers that a block of scales may need at a time."""
LEAST_POINTS = 8
"""Scales that are taken at a time even if they need more: one by one, the axis of points is idle.
"""
FIRST_STEPS, EFFECTS_STEPS, LEVEL_STEPS = 30, 1, 4
EFFECTS_LONGEST_STEP = 2.0
MOST_GAIN = 1.0
"""Most that twice the last step is taken to gain: a quadratic does not reach further."""
LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Given:
    """What the effects are conditional on, at n points.

    Attributes
    ----------
    scales : ndarray of shape (terms, n, r)
    common : ndarray of shape (n, c)
        Coordinates that effects do not move.
    """

    scales: Floats
    common: Floats

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.common)

    def at(self, points: NDArray[np.intp]) -> Given:
        """Some of the points, each as often as its index."""
        return Given(self.scales[:, points], self.common[points])


@dataclass(frozen=True)
class Eliminated:
    """Information of all effects, with the levels of the largest term eliminated.

    Attributes
    ----------
    of_groups : ndarray of shape (groups, r, r, 1 or n)
        Of the coordinates of each group.
    factor : ndarray of shape (L, r, r, n)
        Lower factors F of the covariances F F' of the levels, given the rest.
    rest : ndarray of shape (n, R, R)
        Of the rest, the levels integrated out.
    """

    layout: Layout
    of_groups: Floats
    factor: Floats
    rest: Floats

    def steps(self, of_level: Floats, of_rest: Floats) -> tuple[Floats, Floats, Floats]:
        """Newton's step of levels (L, r, n) and rest (n, R), and twice what it gains, (n,)."""
        own, left = _times(self.factor, of_level, transposed=True), of_rest
        if len(own):
            back = _times(self.factor, own)[self.layout.level]
            moved = products(self.of_groups, back)
            left = of_rest - _by_point(sums_of(self.layout.of_position, moved))
        whitened = solve_lower(self.root, left)
        rest = solve_upper(self.root, whitened)
        gain: Floats = (own**2).sum(axis=(0, 1)) + np.vecdot(whitened, whitened)
        return _times(self.factor, own - self.pulled(rest)), rest, gain

    def pulled(self, rest: Floats) -> Floats:
        """By how much a move of the rest (n, R) pulls each level back: F times it, (L, r, n)."""
        moved = products(self.of_groups, self.layout.of_groups(rest, self.factor.shape[1]))
        return _times(self.factor, sums_of(self.layout.of_level, moved), transposed=True)

    def at(self, points: NDArray[np.intp]) -> Eliminated:
        """Some of the points."""
        of_groups, factor = self.of_groups[..., points], self.factor[..., points]
        return Eliminated(self.layout, of_groups, factor, self.rest[points])

    @cached_property
    def root(self) -> Floats:
        """Lower Cholesky factor of the information of the rest, of shape (n, R, R)."""
        return np.asarray(np.linalg.cholesky(self.rest), np.float64)

    @property
    def log_det(self) -> Floats:
        """Logarithm of the determinant of the information of all, of shape (n,)."""
        of_levels = -np.log(np.diagonal(self.factor, axis1=1, axis2=2)).sum(axis=(0, 2))
        of_rest = np.log(np.diagonal(self.root, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(2 * (of_levels + of_rest))


@dataclass(frozen=True)
class Peaks:
    """Most probable effects at n points, and how sharp the peaks are.

    Attributes
    ----------
    levels : ndarray of shape (L, r, n)
        Effects of the largest term.
    rest : ndarray of shape (n, R)
        The average and the effects of the smaller terms, position by position.
    log_integral : ndarray of shape (n,)
        Laplace's approximation of the log likelihood, all effects integrated out.
    """

    given: Given
    levels: Floats
    rest: Floats
    information: Eliminated | Chain
    log_integral: Floats


class EffectsDensity:
    """Log posterior density of the scales, and of coordinates that effects do not move.

    Points have a standard normal coordinate for each scale, term by term, and then the coordinates
    that are common to all groups.

    Attributes
    ----------
    unlike : tuple of int
        Levels of the term integrated level by level that are unlike the others.
    advance : callable
        Hears how many points have been evaluated.
    """

    unlike: tuple[int, ...] = ()
    advance: Advance = staticmethod(silent)

    def __init__(self, problem: MultilevelProblem) -> None:
        self.problem, self.prior = problem, problem.pooled.prior
        self.names, self.varying = problem.pooled.curve.coordinates, problem.varying
        self.columns = problem.columns
        self.others = [k for k in range(len(self.names)) if k not in self.columns]
        self.common = tuple(self.names[k] for k in self.others)
        self.scales_size = len(problem.terms) * len(self.varying)
        self.size = self.scales_size + len(self.common)
        self.groups = len(problem.labels)
        densities = densities_of(problem, range(self.groups), SITE_NODES)
        self.parts = of_tables(problem.pooled, self.columns, densities)
        self.layout = Layout(problem)
        r = len(self.varying)
        self.rest_size = r * self.layout.positions
        self.latents = r * self.layout.levels + self.rest_size
        self.rows = sum(part.size * part.width for part in self.parts)
        self._structures = self._of_terms()
        coupled = self.latents * self.rest_size
        self.narrow = 4 * r * self.latents + 2 * r * self.rows
        self.width = 4 * coupled + 2 * self.rest_size**2 + 2 * r * self.rows
        self._keep_quadratic(self.given(np.zeros((1, self.size))))

    def with_unlike(self, levels: tuple[int, ...]) -> EffectsDensity:
        """The same where some levels are unlike the others."""
        made = copy(self)
        made.unlike = levels
        made._keep_quadratic(made.given(np.zeros((1, made.size))))
        return made

    def _of_terms(self) -> Floats:
        """Prior precision of the rest by each term, at a scale of one: (terms, R', R')."""
        layout = self.layout
        structures = np.zeros((len(layout.terms), layout.positions, layout.positions))
        for k in layout.rest:
            own = slice(layout.starts[k], layout.starts[k] + layout.terms[k].innovations)
            structures[k, own, own] = layout.structure(k)
        return structures

    def scales(self, points: Floats) -> list[Floats]:
        """Scales of each term, of shape (n, r), at points of shape (n, size)."""
        r = len(self.varying)
        return [
            term.prior.scales(points[:, r * number : r * (number + 1)], self.varying)
            for number, term in enumerate(self.problem.terms)
        ]

    def given(self, points: Floats) -> Given:
        """What the effects are conditional on, at points of shape (n, size)."""
        return Given(np.stack(self.scales(points)), points[:, self.scales_size :])

    def average(self, points: Floats, rest: Floats) -> Floats:
        """Coordinates (n, d) without effects, from points and the rest (n, R)."""
        average = np.empty((len(points), len(self.names)))
        average[:, self.columns] = rest[:, : len(self.varying)]
        average[:, self.others] = points[:, self.scales_size :]
        return average

    def effects(self, levels: Floats, rest: Floats) -> tuple[Floats, ...]:
        """Effects of the levels of each term, (levels, n, r), from levels and the rest (n, R)."""
        by_position = rest.reshape(len(rest), -1, len(self.varying)).transpose(1, 0, 2)
        terms = range(len(self.problem.terms))
        return tuple(self.layout.effects_of(k, levels, by_position) for k in terms)

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, size)."""
        standard, common = np.split(points, [self.scales_size], axis=1)
        density = -np.vecdot(standard, standard) / 2 - self.scales_size / 2 * LOG_2_PI
        density = density + self.prior.logpdf(self.common, common)
        width = self.narrow if self.layout.is_chain else self.width
        for part in blocks_of_points(len(points), width):
            density[part] += self.peaks(points[part]).log_integral
            self.advance(len(points[part]))
        return np.asarray(density)

    def mode(self) -> Mode:
        """The most probable point, by finite differences."""
        return maximise(by_differences(self), np.zeros(self.size), tolerance=1e-3, longest=1.0)

    def peaks(self, points: Floats) -> Peaks:
        """Where the effects peak at points of shape (n, size)."""
        given = self.given(points)
        levels, rest = self._climb(given, *self._start(given), EFFECTS_STEPS)
        information, gradient = self._derivatives(given, levels, rest)
        value = self.log_likelihood(given, levels, rest).sum(axis=0)
        value += self.log_prior_of_levels(given, levels).sum(axis=0)
        value += self.log_prior_of_rest(given, rest)
        *steps, gain = information.steps(*gradient)
        value += (
            np.minimum(gain, MOST_GAIN) / 2 + self.latents / 2 * LOG_2_PI - information.log_det / 2
        )
        near = np.sqrt(MOST_GAIN / np.maximum(gain, MOST_GAIN))
        levels, rest = levels + near * steps[0], rest + near[:, None] * steps[1]
        return Peaks(given, levels, rest, information, value)

    def peaks_of_levels(self, given: Given, levels: Floats, rest: Floats) -> tuple[Floats, Floats]:
        """Modes (L, r, n) of the levels given the rest, and factors (L, r, r, n) of covariances."""
        precision = self.spread(given) ** -2.0
        for _ in range(LEVEL_STEPS):
            u = self._coordinates(given, levels, rest)
            of_groups = self._by_group(u, self.parts[0].moved)
            gradient, information = (sums_of(self.layout.of_level, each) for each in of_groups)
            gradient -= levels * precision
            for column in range(levels.shape[1]):
                information[:, column, column] += precision[:, column]
            factor = covariance_factor(information)
            step = _times(factor, _times(factor, gradient, transposed=True))
            levels = levels + np.clip(step, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
        return levels, factor

    def log_likelihood(self, given: Given, levels: Floats, rest: Floats) -> Floats:
        """Of each group, (groups, n), at effects of levels (L, r, n) and the rest (n, R)."""
        u = self._coordinates(given, levels, rest)
        value = np.empty((self.groups, u.shape[2]))
        for part in self.parts:
            value[part.numbers] = part.log_likelihood(u[part.numbers])
        return value

    def log_prior_of_levels(self, given: Given, levels: Floats) -> Floats:
        """Log prior density (L, ...) of effects (L, r, ...) of the levels of the largest term."""
        if self.layout.inner is None:
            return np.zeros((0, *levels.shape[2:]))
        value = np.zeros((len(levels), *levels.shape[2:]))
        spread = self.spread(given)
        for column in range(levels.shape[1]):
            scale = spread[:, column]
            value -= (levels[:, column] / scale) ** 2 / 2 + np.log(scale) + LOG_2_PI / 2
        return value

    def spread(self, given: Given) -> Floats:
        """Standard deviations (L or 1, r, n) of the effects of the levels of the largest term."""
        assert self.layout.inner is not None
        like = given.scales[self.layout.inner]
        if not self.unlike:
            return np.asarray(like.T[None])
        spread: Floats = np.repeat(like.T[None], self.layout.levels, axis=0)
        spread[list(self.unlike)] = unlike_scales(
            self.problem.prior_of_unlike, self.varying, like
        ).T
        return spread

    def log_prior_of_rest(self, given: Given, rest: Floats) -> Floats:
        """Log prior density (n,) of the average and the smaller terms, of shape (n, R)."""
        r = len(self.varying)
        value = self.prior.logpdf(self.varying, rest[:, :r])
        apart = rest.reshape(len(rest), -1, r)
        for k in self.layout.rest:
            scales = given.scales[k]
            pulled = np.einsum("npc,npc->nc", apart, self._structures[k] @ apart)
            size = self.layout.terms[k].innovations
            value = value - (pulled / scales**2).sum(axis=1) / 2 - r * size / 2 * LOG_2_PI
            value -= size * np.log(scales).sum(axis=1)
            if self.layout.terms[k].kind == "walk":
                value -= r * np.log(self.layout.terms[k].elapsed).sum() / 2
        return np.asarray(value)

    def _coordinates(self, given: Given, levels: Floats, rest: Floats) -> Floats:
        """Working coordinates of every group, of shape (groups, d, n)."""
        layout, r, n = self.layout, len(self.varying), given.size
        u = np.empty((self.groups, len(self.names), n))
        moved = layout.of_groups(rest, r)
        if layout.inner is not None:
            moved += levels[layout.level]
        u[:, self.columns] = moved
        u[:, self.others] = given.common.T
        return np.clip(u, -MOST_OFF, MOST_OFF)

    def _by_group(self, u: Floats, columns: slice) -> tuple[Floats, Floats]:
        """Gradient (groups, k, n) and information (groups, k, k, n) of each group."""
        shape = (self.groups, len(self.names[columns]))
        gradient = np.empty((*shape, u.shape[2]))
        information = np.empty((*shape, shape[1], u.shape[2]))
        for part in self.parts:
            gradient[part.numbers], information[part.numbers] = part.derivatives(
                u[part.numbers], columns
            )
        return gradient, information

    def _derivatives(
        self, given: Given, levels: Floats, rest: Floats
    ) -> tuple[Eliminated | Chain, tuple[Floats, Floats]]:
        """Expected information, and gradient by levels (L, r, n) and by the rest (n, R)."""
        u = self._coordinates(given, levels, rest)
        gradient, information = self._by_group(u, self.parts[0].moved)
        slope, precision = self._prior_of_average(rest)
        eliminated = self._eliminated(given, precision, information)
        return eliminated, self._pulls(given, slope, gradient, levels, rest)

    def _pulls(
        self,
        given: Given,
        slope: Floats,
        gradient: Floats,
        levels: Floats,
        rest: Floats,
    ) -> tuple[Floats, Floats]:
        """Gradient of the log density, from that of each group and `slope` of the average."""
        layout, r = self.layout, len(self.varying)
        of_level = sums_of(layout.of_level, gradient)
        if layout.inner is not None:
            of_level -= levels / self.spread(given) ** 2
        of_rest = _by_point(sums_of(layout.of_position, gradient))
        apart = rest.reshape(given.size, -1, r)
        for k in layout.rest:
            pulled = self._structures[k, 1:] @ apart / given.scales[k][:, None] ** 2
            of_rest[:, r:] -= pulled.reshape(given.size, -1)
        of_rest[:, :r] += slope
        return of_level, of_rest

    def _precision(self, given: Given, of_average: Floats) -> Floats:
        """Prior precision of the rest, of shape (n, R, R)."""
        r, size = len(self.varying), self.layout.positions
        precision = np.zeros((given.size, size, r, size, r))
        for column in range(r):
            weight = given.scales[:, :, column].T ** -2.0
            own = np.tensordot(weight, self._structures, 1)
            own[:, 0, 0] = of_average[:, column]
            precision[:, :, column, :, column] = own
        return precision.reshape(given.size, self.rest_size, self.rest_size)

    def _eliminated(
        self, given: Given, of_average: Floats, information: Floats
    ) -> Eliminated | Chain:
        """The levels eliminated, where groups have information (groups, r, r, 1 or n)."""
        layout, n, r = self.layout, given.size, len(self.varying)
        if layout.is_chain:
            return self._chain(given, of_average, information)
        prior = self._precision(given, of_average)
        size, at = layout.positions, information.shape[-1]
        own = np.repeat(sums_of(layout.of_level, information), n // at, axis=-1)
        if layout.inner is not None:
            spread = self.spread(given)
            for column in range(r):
                own[:, column, column] += spread[:, column] ** -2.0
        factor = covariance_factor(own)
        if layout.is_level:
            inside = information - _squared(_right(information, factor))
            rest = self._with_two(prior, inside)
            return Eliminated(layout, information, factor, rest)
        rest = self._with_two(prior, information)
        if layout.inner is not None:
            both = sums_of(layout.of_both, information).reshape(layout.levels, size, r, r, at)
            both = both.transpose(0, 1, 3, 2, 4).reshape(layout.levels, -1, r, at)
            pull = _right(both, factor).transpose(3, 0, 2, 1)
            pull = pull.reshape(n, layout.levels * r, self.rest_size)
            rest -= pull.transpose(0, 2, 1) @ pull
        return Eliminated(layout, information, factor, rest)

    def _chain(self, given: Given, of_average: Floats, information: Floats) -> Chain:
        """The same of a walk alone."""
        (term,), n = self.layout.terms, given.size
        own = np.zeros((len(term.levels), *information.shape[1:3], n))
        np.add.at(own, list(term.of_group), information)
        for column in range(len(self.varying)):
            own[0, column, column] += of_average[:, column]
        step = given.scales[0].T ** -2.0 / np.array(term.elapsed)[:, None, None]

        def dense() -> Floats:
            return self._with_two(self._precision(given, of_average), information)

        return Chain(own, step, dense)

    def _with_two(self, prior: Floats, information: Floats) -> Floats:
        """Precision (n, R, R) of the rest with the information of groups (groups, r, r, 1 or n)."""
        (first, second), r = self.layout.met, len(self.varying)
        total = prior.reshape(len(prior), self.layout.positions, r, -1, r).copy()
        two = sums_of(self.layout.of_two, information)
        total[:, first, :, second] += two.transpose(0, 3, 1, 2)
        return total.reshape(prior.shape)

    def _keep_quadratic(self, given: Given) -> None:
        """Keep the likelihood's second-order expansion, by coordinates of groups, and the prior's.

        From it the mode at any other point follows at once, but for what is left to Newton.
        """
        none = np.zeros((self.layout.levels, len(self.varying), 1))
        levels, rest = self._climb(given, none, np.zeros((1, self.rest_size)), FIRST_STEPS)
        u = self._coordinates(given, levels, rest)
        gradient, information = self._by_group(u, slice(None))
        own = information[:, self.columns]
        self._information = own[:, :, self.columns]
        self._crossed = own[:, :, self.others, 0]
        self._pull = gradient[:, self.columns] + np.einsum("gijn,gjn->gin", own, u)
        slope, self._of_average = self._prior_of_average(rest)
        self._slope = slope + self._of_average * rest[:, : len(self.varying)]

    def _start(self, given: Given) -> tuple[Floats, Floats]:
        """The modes, were the likelihood the quadratic that is kept."""
        layout, n = self.layout, given.size
        of_average = np.repeat(self._of_average, n, axis=0)
        eliminated = self._eliminated(given, of_average, self._information)
        pull = self._pull - self._crossed @ given.common.T
        zero = np.zeros((layout.levels, len(self.varying), n))
        none = np.zeros((n, self.rest_size))
        gradient = self._pulls(given, self._slope, pull, zero, none)
        return eliminated.steps(*gradient)[:2]

    def _prior_of_average(self, rest: Floats) -> tuple[Floats, Floats]:
        """Slope of the log prior, and the precision of the normal law with this slope, (n, r)."""
        slope, precision = np.empty((2, len(rest), len(self.varying)))
        for column, name in enumerate(self.varying):
            law = self.prior.of(name)
            assert isinstance(law, Normal | StudentT)  # only a shift and slopes vary
            slope[:, column], curvature = law.slope_and_curvature(rest[:, column])
            off = rest[:, column] - law.mu
            at_mean = np.abs(off) < 1e-9
            ratio = -slope[:, column] / np.where(at_mean, 1.0, off)
            precision[:, column] = np.where(at_mean, -curvature, ratio)
        return slope, precision

    def _climb(
        self, given: Given, levels: Floats, rest: Floats, steps: int
    ) -> tuple[Floats, Floats]:
        for _ in range(steps):
            information, gradient = self._derivatives(given, levels, rest)
            of_levels, of_rest, _ = information.steps(*gradient)
            levels = levels + np.clip(of_levels, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
            rest = rest + np.clip(of_rest, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
        return levels, rest


def blocks_of_points(size: int, width: int) -> Iterator[slice]:
    """Blocks of as many points as fit where one needs `width` numbers, and of a few at least."""
    return blocks(size, width, max(EFFECTS_ROOM, LEAST_POINTS * width))


def _by_point(values: Floats) -> Floats:
    """Values (k, r, n) of each point together, of shape (n, k * r)."""
    return np.ascontiguousarray(values.reshape(-1, values.shape[2]).T)


def _times(factor: Floats, values: Floats, *, transposed: bool = False) -> Floats:
    """Lower factors (L, r, r, n), or their transposes, times values of shape (L, r, n)."""
    product = np.zeros(values.shape)
    for i in range(values.shape[1]):
        for k in range(i + 1):
            if transposed:
                product[:, k] += factor[:, i, k] * values[:, i]
            else:
                product[:, i] += factor[:, i, k] * values[:, k]
    return product


def _right(values: Floats, factor: Floats) -> Floats:
    """Matrices (L, k, r, n) times lower factors (L, r, r, n)."""
    product = np.zeros((*values.shape[:3], factor.shape[-1]))
    for i in range(values.shape[2]):
        for k in range(i, values.shape[2]):
            product[:, :, i] += values[:, :, k] * factor[:, k, i, None]
    return product


def _squared(values: Floats) -> Floats:
    """Matrices (L, r, r, n) times their transposes."""
    squared = values[:, :, None, 0] * values[:, None, :, 0]
    for k in range(1, values.shape[2]):
        squared += values[:, :, None, k] * values[:, None, :, k]
    return np.asarray(squared)
