"""Log posterior of the scales of effects, with all effects integrated out by Laplace's method.

Given the scales, the average and the effects have a density that is nearly normal: a normal prior
times a binomial likelihood. The effects of the largest term are independent given all else, so
that their information is a block for each level. These are eliminated, and what is left is the
information of the average and of the smaller terms (Rue, Martino & Chopin, 2009).

A level of a robust term has one of two laws: that of levels that are like the others, or a wider
one. So each level is integrated out under both, and the rest sees the two as copies of the level,
whose weights are the probabilities of the laws, as in the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp, softmax

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import Mode, by_differences, maximise
from bayescal.core.progress import Advance, silent
from bayescal.model.prior import Normal, StudentT
from bayescal.multilevel.layout import (
    Layout,
    covariance_factor,
    inverses,
    products,
    right,
    solve_lower,
    solve_upper,
    squared,
    sums_of,
    times,
)
from bayescal.multilevel.likelihood import EVERY, MOST_OFF, Told
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import log_weights_of_shares, shares_of, unlike_scales

# Numbers that a block of scales may need at a time.
EFFECTS_ROOM = 1 << 22
# Scales that are taken at a time even if they need more: one by one, the axis of points is idle.
LEAST_POINTS = 8
# Newton's steps on the likelihood itself. Before it there is one on the quadratic that is kept: two
# gave the same evidence and effective sizes, of 6 to 500 sites, 16 and 64 cells, sites by periods,
# rare events and sites spread as Student's t with 2 degrees. Without the one on the likelihood the
# effective size of the last was 570 of 2000, not 850.
FIRST_STEPS, EFFECTS_STEPS = 30, 1
EFFECTS_LONGEST_STEP = 2.0
# Most that twice the last step is taken to gain: a quadratic does not reach further.
MOST_GAIN = 1.0
# Share of the points that are proposed with scales from their prior, where levels may be unlike
# the others, and how much wider common coordinates are then spread, as a ratio of variances.
SHELF, WIDER = 0.25, 2.0
# Where narrow scales are, in standard deviations of the prior in use, and their share of the points
# proposed. Without it k-hat of 2 x 2 x 4 cells that differ was .6 to .7, not .3 to .5.
NARROW_AT, NARROW_SHELF = -1.1, 0.2
# Share of the information of a level that is added in each direction: of one score or of counts
# there is none in some.
LEAST_OF_INFORMATION = 1e-9
# Most levels of which each is tried as the one that is unlike the others, and the least share of
# the draws of a peak that is kept: more levels leave no doubt of where the rest is.
MOST_STARTS, LEAST_SHARE = 16, 0.01
# Share of the proposals of the rest that are as wide as if all levels were unlike the others.
WIDE = 0.1
# Share of the proposals round peaks at which certain levels are unlike the others for sure, and
# the most levels that need them: of twelve cells k-hat is .4 without, as the rest is better known.
HELD, MOST_HELD = 0.4, 6
# Mean squared distance, in standard deviations, up to which two peaks are one.
SAME_PEAK = 0.1
# Most cases of a group whose likelihood at a proposal is read in single precision: it is then right
# to .005, and draws vary by a hundred times as much.
MOST_IN_SINGLE = 1e5
LOG_2_PI = float(np.log(2 * np.pi))


Teller: TypeAlias = Callable[[Floats], Told]


@dataclass(frozen=True)
class Given:
    """What the effects are conditional on, at n points.

    Scales (terms, n, r), and coordinates (n, c) that effects do not move. Of the effects of a level
    of the largest term, by each of its laws, inverse covariance (r, r, laws * n) and its log
    determinant.
    """

    scales: Floats
    common: Floats
    precision: Floats
    log_det: Floats

    @property
    def size(self) -> int:
        """Number of points."""
        return len(self.common)

    @property
    def laws(self) -> int:
        """How many laws the effects of a level may have."""
        return self.log_det.size // max(self.size, 1)

    def each_law(self, points: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where points stand by each law."""
        return (self.size * np.arange(self.laws)[:, None] + points).ravel()

    def at(self, points: NDArray[np.intp], kind: Any = np.float64) -> Given:
        """Some of the points, each as often as its index; scales apart, in a precision."""
        own, common = self.each_law(points), self.common.astype(kind, copy=False)
        precision = self.precision.astype(kind, copy=False)[..., own]
        log_det = self.log_det.astype(kind, copy=False)[own]
        return Given(self.scales[:, points], common[points], precision, log_det)


@dataclass(frozen=True)
class Expansion:
    """The log density of all effects to the second order, at n points.

    Effects of levels have laws * n points: those of the first law, then those of the second.

    Attributes
    ----------
    levels : ndarray of shape (L, r, laws * n)
        Effects of the largest term.
    rest : ndarray of shape (n, R)
        The average and the effects of the smaller terms, position by position.
    of_groups : ndarray of shape (groups, r, r, laws * n)
        Information of the coordinates of each group.
    factor : ndarray of shape (L, r, r, laws * n)
        Lower factors F of the covariances F F' of the levels, given the rest.
    weight : ndarray of shape (L, laws * n)
        Probability of each law.
    root : ndarray of shape (n, R, R)
        Lower Cholesky factor of the information of the rest, the levels integrated out.
    slope : tuple of ndarray
        F' times the gradient by the levels, (L, r, laws * n), and the gradient by the rest.
    log_levels : ndarray of shape (n,)
        Log integral over the levels, given the rest.
    """

    layout: Layout
    given: Given
    levels: Floats
    rest: Floats
    of_groups: Floats
    factor: Floats
    weight: Floats
    root: Floats
    slope: tuple[Floats, Floats]
    log_levels: Floats

    def steps(self) -> tuple[Floats, Floats, Floats]:
        """Newton's step of the levels, at most so long, and of the rest, and twice its gain."""
        whitened = solve_lower(self.root, self.slope[1])
        rest = solve_upper(self.root, whitened)
        levels = times(self.factor, self.slope[0] - self.pulled(rest))
        np.clip(levels, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP, out=levels)
        return levels, rest, np.vecdot(whitened, whitened)

    def pulled(self, rest: Floats) -> Floats:
        """By how much a move of the rest (n, R) pulls each level back: F times it."""
        moved = self.layout.of_groups(rest, self.factor.shape[1])
        moved = products(self.of_groups, np.tile(moved, self.given.laws))
        return times(self.factor, sums_of(self.layout.of_level, moved), transposed=True)

    def at(self, points: NDArray[np.intp]) -> Expansion:
        """Some of the points, without their slopes."""
        own = self.given.each_law(points)
        return replace(
            self,
            given=self.given.at(points),
            levels=self.levels[..., own],
            rest=self.rest[points],
            of_groups=self.of_groups[..., own],
            factor=self.factor[..., own],
            weight=self.weight[..., own],
            root=self.root[points],
            slope=(np.empty(0), np.empty(0)),
            log_levels=self.log_levels[points],
        )


class Peak(NamedTuple):
    """Most probable effects at n points, how sharp the peak is, and the log integral below it."""

    at: Expansion
    levels: Floats
    rest: Floats
    log_integral: Floats


class Peaks(NamedTuple):
    """Peaks of the effects at n points: one, or several where levels may be unlike the others.

    `share` (peaks, n) is how much of the integral is near each; 0 for one that is there already.
    """

    each: list[Peak]
    share: Floats
    log_integral: Floats

    @property
    def places(self) -> Floats:
        """Where the density was expanded, (n, peaks, all effects): a step from each peak.

        In single precision, as there are many.
        """
        each = []
        for peak, *_ in self.each:
            n = peak.given.size
            levels = peak.levels.reshape(peak.levels.size // n, n).T
            each.append(np.hstack([levels, peak.rest], dtype=np.float32, casting="same_kind"))
        return np.stack(each, axis=1)


class EffectsDensity:
    """Log posterior density of the scales, and of coordinates that effects do not move.

    Points have a standard normal coordinate for each scale, term by term, one for the correlation
    of shift and slope if they have one, and then the coordinates that are common to all groups.
    `starts` say which levels are unlike the others where a peak is looked for, None as they are.
    """

    advance: Advance = staticmethod(silent)
    starts: tuple[Floats | None, ...] = (None,)
    sets: Floats = np.empty((0, 0))  # of proposals in which certain levels are unlike

    def __init__(self, problem: MultilevelProblem, *, two_scales: bool = False) -> None:
        self.problem, self.prior, self.two_scales = problem, problem.pooled.prior, two_scales
        self.names, self.varying = problem.pooled.curve.coordinates, problem.varying
        self.columns, r = problem.columns, len(problem.varying)
        self.moved = slice(self.columns[0], self.columns[-1] + 1)
        self.others = np.setdiff1d(np.arange(len(self.names)), self.columns)
        self.common = tuple(np.array(self.names)[self.others].tolist())
        self.correlated = r > 1 and problem.terms[0].correlated
        self.laws = 1 + (problem.robust_term is not None)
        self.scales_size = len(problem.terms) * r + self.correlated
        self.size = self.scales_size + len(self.common)
        self.groups = len(problem.labels)
        self.parts = problem.likelihoods
        self.layout = Layout(problem)
        self.steps = EFFECTS_STEPS + (self.laws > 1 and self.layout.levels <= MOST_STARTS)
        self.shares = shares_of(self.layout.levels, alone=problem.terms[0].correlated)
        self.rest_size = r * self.layout.positions
        rows, cases = 0, 0.0
        for part in self.parts:
            rows, cases = rows + part.size * part.width, max(cases, part.most_cases)
        self.rows = self.laws * rows
        self.kind: Any = np.float32 if cases <= MOST_IN_SINGLE else np.float64
        pairs = self.groups if self.layout.is_level else self.layout.levels * self.rest_size
        self.width = self.laws * (2 * r * rows + 4 * r * r * pairs) + 2 * self.rest_size**2
        # Prior precision of the rest by each term, at a scale of one.
        size = self.layout.positions
        self._structures = np.zeros((len(problem.terms), size, size))
        for k in self.layout.rest:
            start = self.layout.starts[k]
            own = slice(start, start + problem.terms[k].innovations)
            self._structures[k, own, own] = self.layout.structure(k)
        self._keep_quadratic()

    def heterogeneity(self, points: Floats) -> tuple[Floats, Floats]:
        """Scales (terms, n, r) and correlations (n,) at points of shape (n, size)."""
        r, terms = len(self.varying), self.problem.terms
        scales = np.empty((len(terms), len(points), r))
        for k, term in enumerate(terms):
            scales[k] = term.prior.scales(points[:, r * k : r * (k + 1)], self.varying)
        if not self.correlated:
            return scales, np.zeros(len(points))
        return scales, terms[0].prior.correlations(points[:, self.scales_size - 1])

    def given(self, points: Floats) -> Given:
        """What the effects are conditional on, at points of shape (n, size)."""
        scales, correlation = self.heterogeneity(points)
        common, inner = points[:, self.scales_size :], self.layout.inner
        by_law = scales[0 if inner is None else inner]
        if self.laws > 1:
            far = unlike_scales(self.problem.prior_of_unlike, self.varying, by_law)
            by_law = np.concatenate([by_law, far])
            correlation = np.concatenate([correlation, np.zeros_like(correlation)])
        return Given(scales, common, *inverses(by_law, correlation))

    def average(self, points: Floats, rest: Floats) -> Floats:
        """Coordinates (n, d) without effects, from points and the rest (n, R)."""
        average = np.empty((len(points), len(self.names)))
        average[:, self.columns] = rest[:, : len(self.varying)]
        average[:, self.others] = points[:, self.scales_size :]
        return average

    def effects(self, levels: Floats, rest: Floats) -> tuple[Floats, ...]:
        """Effects of the levels of each term, (levels, n, r), from levels and the rest (n, R)."""
        by_position = rest.reshape(len(rest), -1, len(self.varying)).transpose(1, 0, 2)
        return self.layout.effects(levels, by_position)

    def __call__(self, points: Floats) -> Floats:
        """Log density at points of shape (n, size)."""
        return self.with_places(points)[0]

    def with_places(self, points: Floats) -> tuple[Floats, Floats]:
        """Log density at points of shape (n, size), and places of the effects near their peaks."""
        standard, common = np.split(points, [self.scales_size], axis=1)
        density = -np.vecdot(standard, standard) / 2 - self.scales_size / 2 * LOG_2_PI
        density = density + self.prior.logpdf(self.common, common)
        if self.two_scales:
            density += self.problem.log_at_two_scales(self.heterogeneity(points)[0])
        places = []
        for part in blocks_of_points(len(points), self.width):
            peaks = self.peaks(points[part])
            density[part] += peaks.log_integral
            places.append(peaks.places)
            self.advance(len(points[part]))
        return np.asarray(density), np.concatenate(places)

    def places(self) -> list[tuple[Mode, float]]:
        """Where to propose points, and the share of each place: the mode and shelves, if any.

        Where levels may be unlike the others there is a shelf beside the mode: levels that differ
        much and are all like each other can also be levels that differ little and are often
        unlike. Points with scales from their prior cover it. So do points near narrow scales where
        these have half of the prior weight.
        """
        mode = maximise(by_differences(self), np.zeros(self.size), tolerance=1e-3, longest=1.0)
        shelves = [(0.0, SHELF)] * (self.laws > 1) + [(NARROW_AT, NARROW_SHELF)] * self.two_scales
        information, scales = np.eye(self.size), self.scales_size
        information[scales:, scales:] = mode.information[scales:, scales:] / WIDER
        places, left = [], 1.0
        for at, share in shelves:
            shelf = mode.point.copy()
            shelf[:scales] = at
            shelf[scales - self.correlated : scales] = 0.0
            places.append((Mode(shelf, mode.value, information, True), share))
            left -= share
        return [(mode, left), *places]

    def peaks(self, points: Floats, places: Floats | None = None) -> Peaks:
        """Where the effects peak at points of shape (n, size), from places that are known."""
        given = self.given(points)
        each: list[Peak] = []
        log_integral = np.empty((len(self.starts), given.size))
        for k, start in enumerate(self.starts):
            peak = self._peak(given, start, None if places is None else places[:, k])
            log_integral[k] = peak.log_integral
            for earlier in each:
                off = np.einsum("nji,nj->ni", earlier.at.root, peak.rest - earlier.rest)
                same = np.vecdot(off, off) < SAME_PEAK * self.rest_size
                log_integral[k, same] = -np.inf
            each.append(peak)
        total = logsumexp(log_integral, axis=0)
        return Peaks(each, np.exp(log_integral - total), total)

    def proposals(self, points: Floats, places: Floats) -> Peaks:
        """The same peaks, and of few levels a wide one: how wide, were all unlike the others.

        A level that may be unlike the others leaves the rest a narrow law, and a wide one beside it
        that matters where there are next to no others.
        """
        peaks = self.peaks(points, places)
        if self.laws == 1 or self.layout.levels > MOST_STARTS:
            return peaks
        at = peaks.each[0].at
        unlike = np.repeat([[0.0, 1.0]], len(points), axis=1) + np.zeros((self.layout.levels, 1))
        prior = self._prior_of_rest(at.given, at.rest)[1]
        wide = replace(at, root=self._root_of_rest(prior, at.of_groups, at.factor, unlike))
        sure = [self._peak(at.given, start, certain=True) for start in self.sets]
        each = [*peaks.each, peaks.each[0]._replace(at=wide), *sure]
        of_held = HELD * _shares_of(sure) if sure else np.zeros((0, len(points)))
        left = 1 - WIDE - of_held.sum(axis=0)
        share = [left * peaks.share, np.full((1, len(points)), WIDE), of_held]
        return Peaks(each, np.concatenate(share), peaks.log_integral)

    def _peak(
        self,
        given: Given,
        unlike: Floats | None,
        near_peak: Floats | None = None,
        *,
        certain: bool = False,
    ) -> Peak:
        """The peak that is reached from where some levels are unlike the others.

        Or from `near_peak`, of shape (n, all effects).
        """
        weight = None
        if near_peak is not None:
            levels, rest = np.split(near_peak.astype(np.float64), [-self.rest_size], axis=1)
            near = levels.T.reshape(*self._levels.shape[:2], self.laws * given.size), rest
        else:
            own = np.repeat(np.arange(self.laws), given.size)
            if unlike is not None:
                weight = np.stack([1 - unlike, unlike], axis=-1)[:, own]
            near = self._levels[..., own], np.repeat(self._rest, given.size, axis=0)
            near = self._climb(given, *near, 1, self._quadratic, weight, certain=certain)
            weight = weight if certain else None
            near = self._climb(given, *near, self.steps, self.told, weight, certain=certain)
        at = self.expansion(given, *near, self.told, weight)
        of_levels, of_rest, gain = at.steps()
        value = at.log_levels + self.log_prior_of_rest(given, at.rest)
        value += np.minimum(gain, MOST_GAIN) / 2 + self.rest_size / 2 * LOG_2_PI
        value -= np.log(np.diagonal(at.root, axis1=1, axis2=2)).sum(axis=1)
        near_by = np.sqrt(MOST_GAIN / np.maximum(gain, MOST_GAIN))
        return Peak(at, at.levels + of_levels, at.rest + near_by[:, None] * of_rest, value)

    def look_for_peaks(self, points: Floats) -> None:
        """Keep the starts from which, at these points, peaks are reached that others do not reach.

        Where few levels may be unlike the others, it is often not certain which one is, and each
        answer has a place of the rest of its own.
        """
        if self.laws == 1 or self.layout.levels > MOST_STARTS:
            return
        one = np.eye(self.layout.levels)
        sets = np.vstack([0 * one[0], one, one.sum(axis=0)])
        self.starts = (None, *sets)
        share = self.peaks(points).share.mean(axis=1)
        kept = [each for each, own in zip(sets, share[1:], strict=True) if own > LEAST_SHARE]
        self.starts = (None, *kept)
        if self.layout.levels <= MOST_HELD:
            share = _shares_of(
                [self._peak(self.given(points), each, certain=True) for each in sets]
            )
            self.sets = sets[share.mean(axis=1) > LEAST_SHARE]

    def told(self, u: Floats, columns: slice | None = None) -> Told:
        """What the data say at coordinates (groups, d, N), with derivatives by some of them."""
        moved = self.moved if columns is None else columns
        r, n = len(range(u.shape[1])[moved]), u.shape[2]
        told = Told(*(np.empty((self.groups, *[r] * order, n)) for order in range(3)))
        for part in self.parts:
            for every, own in zip(told, part.told(u[part.numbers], moved), strict=True):
                every[part.numbers] = own
        return told

    def log_likelihood(self, given: Given, levels: Floats, rest: Floats) -> Floats:
        """Of each group, (groups, N), at effects of levels (L, r, N) and the rest (n, R)."""
        u = self._coordinates(given, levels, rest)
        value = np.empty((self.groups, u.shape[2]), u.dtype)
        for part in self.parts:
            value[part.numbers] = part.log_likelihood(u[part.numbers])
        return value

    def log_prior_of_levels(self, given: Given, levels: Floats) -> Floats:
        """Log prior density (L, N) of effects (L, r, N) of the levels of the largest term."""
        pulled = (products(given.precision, levels) * levels).sum(axis=1)
        return np.asarray((given.log_det - levels.shape[1] * LOG_2_PI - pulled) / 2)

    def log_prior_of_rest(self, given: Given, rest: Floats) -> Floats:
        """Log prior density (n,) of the average and the smaller terms, of shape (n, R)."""
        r = len(self.varying)
        value = self.prior.logpdf(self.varying, rest[:, :r])
        apart = rest.reshape(len(rest), -1, r)
        for k in self.layout.rest:
            scales, term = given.scales[k], self.layout.terms[k]
            pulled = np.einsum("npc,npc->nc", apart, self._structures[k] @ apart)
            value = value - (pulled / scales**2).sum(axis=1) / 2
            value -= term.innovations * (r / 2 * LOG_2_PI + np.log(scales).sum(axis=1))
            if term.kind == "walk":
                value -= r * np.log(term.elapsed).sum() / 2
        return np.asarray(value)

    def mixed(self, log_integral: Floats, size: int) -> tuple[Floats, Floats, Floats]:
        """Log integrals (L, laws * n) over levels, their law unknown.

        Their sum over all levels (n,); how much likelier each level is, were it unlike the others,
        (L, n), empty of one law; and log weights (shares, n) of the shares of unlike levels.
        """
        like = log_integral[:, :size]
        log_ratio = log_integral[:, size:] - like if self.laws > 1 else like[:0]
        if self.laws == 1:
            return like.sum(axis=0), log_ratio, np.zeros((1, size))
        log_weight = log_weights_of_shares(log_ratio, self.shares)
        return like.sum(axis=0) + logsumexp(log_weight, axis=0), log_ratio, log_weight

    def _weights(self, log_ratio: Floats, log_weight: Floats) -> Floats:
        """Probability (L, laws * n) of each law of each level, by the mean of the shares."""
        weight = np.exp(log_weight - log_weight.max(axis=0))
        share = self.shares[0] @ weight / weight.sum(axis=0)
        unlike = expit(logit(share) + log_ratio)
        return np.concatenate([1 - unlike, unlike], axis=1)

    def _coordinates(self, given: Given, levels: Floats, rest: Floats) -> Floats:
        """Working coordinates of every group, of shape (groups, d, N)."""
        laws = given.laws
        u = np.empty((self.groups, len(self.names), laws * given.size), levels.dtype)
        moved = np.tile(self.layout.of_groups(rest, len(self.varying)).astype(u.dtype), laws)
        if self.layout.inner is not None:
            moved += levels[self.layout.level]
        u[:, self.columns] = moved
        u[:, self.others] = np.tile(given.common.T, laws)
        return np.clip(u, -MOST_OFF, MOST_OFF)

    def expansion(
        self,
        given: Given,
        levels: Floats,
        rest: Floats,
        told: Teller,
        weight: Floats | None = None,
    ) -> Expansion:
        """The log density to the second order round some effects, by weights of laws if given."""
        layout, size, r = self.layout, given.size, len(self.varying)
        value, gradient, information = told(self._coordinates(given, levels, rest))
        own = sums_of(layout.of_level, information) + given.precision
        factor = covariance_factor(own)
        slope = sums_of(layout.of_level, gradient) - products(given.precision, levels)
        slope = times(factor, slope, transposed=True)
        log_integral = sums_of(layout.of_level, value) + self.log_prior_of_levels(given, levels)
        log_integral += np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=-1)
        log_integral += np.minimum((slope**2).sum(axis=1), MOST_GAIN) / 2 + r / 2 * LOG_2_PI
        total, *mixed = self.mixed(log_integral, size)
        if weight is None:
            weight = np.ones((layout.levels, size)) if self.laws == 1 else self._weights(*mixed)
        apart = None
        if layout.inner is None:
            total = value.sum(axis=0)
        else:
            gradient = gradient - products(information, times(factor, slope)[layout.level])
            apart = gradient[..., size:] - gradient[..., :size] if self.laws > 1 else None
            gradient = self._together(gradient, weight[layout.level][:, None])
        slope_of_prior, prior = self._prior_of_rest(given, rest)
        of_rest = _by_point(sums_of(layout.of_position, gradient)) + slope_of_prior
        root = self._root_of_rest(prior, information, factor, weight, apart)
        return Expansion(
            *(layout, given, levels, rest, information, factor, weight, root),
            (slope, of_rest),
            total,
        )

    def _together(self, values: Floats, weight: Floats) -> Floats:
        """The mean over laws, of values (..., laws * n)."""
        if self.laws == 1:
            return values
        values = values * weight
        return np.asarray(values.reshape(*values.shape[:-1], self.laws, -1).sum(axis=-2))

    def _root_of_rest(
        self,
        prior: Floats,
        information: Floats,
        factor: Floats,
        weight: Floats,
        apart: Floats | None = None,
    ) -> Floats:
        """Lower Cholesky factor (n, R, R) of the rest's information, the levels integrated out.

        It is what groups say, and the prior, which is overwritten. By `apart`, (groups, r, n), the
        gradients of two laws differ.
        """
        layout, r = self.layout, len(self.varying)
        by_group = weight[layout.level][:, None, None] if layout.inner is not None else weight
        inside = information
        if layout.is_level:
            inside = information - squared(right(information, factor))
        first, second = layout.met
        inside = self._together(inside, by_group)
        if layout.is_level and apart is not None:
            inside = _of_mixtures(inside, apart, weight[layout.level])
        prior[first, :, second] += sums_of(layout.of_two, inside)
        left = _by_point(prior).reshape(-1, self.rest_size, self.rest_size)
        if not (layout.is_level or layout.inner is None):
            size, levels, n = layout.positions, layout.levels, len(left)
            both = sums_of(layout.of_both, information).reshape(levels, size, r, r, -1)
            both = both.transpose(0, 1, 3, 2, 4).reshape(levels, size * r, r, -1)
            pull = right(both, factor) * np.sqrt(weight)[:, None, None]
            pull = pull.reshape(*pull.shape[:-1], self.laws, n).transpose(4, 3, 0, 2, 1)
            pull = pull.reshape(n, -1, self.rest_size)
            left -= pull.transpose(0, 2, 1) @ pull
        return np.asarray(np.linalg.cholesky(left), np.float64)

    def _prior_of_rest(self, given: Given, rest: Floats) -> tuple[Floats, Floats]:
        """Slope of the log prior of the rest, (n, R), and its precision, (R', r, R', r, n).

        That of the average is of the normal law with this slope.
        """
        r, size, n = len(self.varying), self.layout.positions, given.size
        apart = rest.reshape(n, size, r)
        slope, precision = np.zeros_like(apart), np.zeros((size, r, size, r, n))
        for k in self.layout.rest:
            slope -= self._structures[k] @ apart / given.scales[k][:, None] ** 2
        for column, name in enumerate(self.varying):
            law, average = self.prior.of(name), apart[:, 0, column]
            assert isinstance(law, Normal | StudentT)  # only a shift and slopes vary
            slope[:, 0, column], curvature = law.slope_and_curvature(average)
            off = average - law.mu
            at_mean = np.abs(off) < 1e-9
            ratio = -slope[:, 0, column] / np.where(at_mean, 1.0, off)
            own = np.tensordot(self._structures, given.scales[:, :, column] ** -2.0, (0, 0))
            own[0, 0] = np.where(at_mean, -curvature, ratio)
            precision[:, column, :, column] = own
        return slope.reshape(n, -1), precision

    def _keep_quadratic(self) -> None:
        """Keep the second-order expansion of each group's likelihood, by each law of its level.

        From it the mode at any other point follows at once, but for what is left to Newton.
        """
        given = self.given(np.zeros((1, self.size)))
        none = np.zeros((self.layout.levels, len(self.varying), self.laws))
        start = none, np.zeros((1, self.rest_size))
        self._levels, self._rest = self._climb(given, *start, FIRST_STEPS, self.told)
        at = self._coordinates(given, self._levels, self._rest)
        self._kept = at, *self.told(at, EVERY)

    def _quadratic(self, u: Floats) -> Told:
        """What the data say, were the log likelihood the quadratic that is kept."""
        own = np.repeat(np.arange(self.laws), u.shape[2] // self.laws)
        at, value, gradient, information = self._kept
        off, information = u - at[..., own], information[..., own]
        value, gradient = value[..., own], gradient[..., own]
        pulled = products(information, off)
        value = value + ((gradient - pulled / 2) * off).sum(axis=1)
        moved = self.moved
        return Told(value, (gradient - pulled)[:, moved], information[:, moved, moved])

    def _climb(
        self,
        given: Given,
        levels: Floats,
        rest: Floats,
        steps: int,
        told: Teller,
        weight: Floats | None = None,
        *,
        certain: bool = False,
    ) -> tuple[Floats, Floats]:
        for step in range(steps):
            first = None if step and not certain else weight
            of_levels, of_rest, _ = self.expansion(given, levels, rest, told, first).steps()
            levels = levels + of_levels
            rest = rest + np.clip(of_rest, -EFFECTS_LONGEST_STEP, EFFECTS_LONGEST_STEP)
        return levels, rest


def blocks_of_points(size: int, width: int) -> Iterator[slice]:
    """Blocks of as many points as fit where one needs `width` numbers, and of a few at least."""
    return blocks(size, width, max(EFFECTS_ROOM, LEAST_POINTS * width))


def _shares_of(peaks: list[Peak]) -> Floats:
    """Shares (peaks, n) of peaks in what is below all of them."""
    return np.asarray(softmax([peak.log_integral for peak in peaks], axis=0))


def _of_mixtures(inside: Floats, apart: Floats, weight: Floats) -> Floats:
    """Information (L, r, r, n) of two normal laws together, from the mean of theirs.

    The variance of a mixture has that between the laws, whose gradients are `apart`: without it,
    proposals are too narrow where it is not certain which levels are unlike the others. The inverse
    of a sum of variances (Sherman & Morrison), so that it stays positive.
    """
    first, second = np.split(weight, 2, axis=1)
    both, r = (first * second)[:, None], inside.shape[1]
    ridge = LEAST_OF_INFORMATION * (1 + np.trace(inside, axis1=1, axis2=2))[:, None, None]
    factor = covariance_factor(inside + ridge * np.eye(r)[..., None])
    off = times(factor, apart, transposed=True)
    both = both / (1 + both * (off**2).sum(axis=1, keepdims=True))
    return np.asarray(inside - (both * apart)[:, :, None] * apart[:, None])


def _by_point(values: Floats) -> Floats:
    """Values (..., n) of each point together, of shape (n, all of them)."""
    return np.ascontiguousarray(values.reshape(-1, values.shape[-1]).T)
