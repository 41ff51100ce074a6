"""The fast engine: posterior densities sampled round their modes, and exact sums.

Sums are over partitions of the scores into stretches, and over risks at a few scores.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, logsumexp, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import Mode, maximise
from bayescal.core.sampling import (
    BAD_K,
    GOOD_ESS,
    GOOD_K,
    Sample,
    importance_sample,
    resample,
    smooth_rows,
)
from bayescal.core.versions import one_blas_thread
from bayescal.model.cells import PartitionPrior
from bayescal.model.clusters import cluster_design, is_separated, sandwich
from bayescal.model.curve import RATES
from bayescal.model.law import BINOMIAL
from bayescal.model.partition import draw_partitions, partition_sums, stretch_evidences
from bayescal.model.pieces import PIECES_PRIOR
from bayescal.model.prior import JointPrior, Rate
from bayescal.model.problem import Problem
from bayescal.model.rows import (
    NO_RATES,
    LikelihoodRows,
    OutcomeNodes,
    at_nodes,
    every_row,
    few_outcomes,
    merged_rows,
    outcome_nodes,
)
from bayescal.model.saturated import ANY_RISKS, RiskPrior, RiskSums
from bayescal.model.times import entries_of
from bayescal.model.times_rows import Correction, TimesRows, correction_of, times_rows

ENOUGH_OF_DRAWS = 0.2


def sample_pieces(problem: Problem, draws: int, prior: PartitionPrior = PIECES_PRIOR) -> Sample:
    """Posterior draws (draws, 2 * cells) of shifts, then slopes, by cell.

    The evidence is of the single outcomes, given that the curve leaves the diagonal, without Monte
    Carlo error: k-hat is minus infinity. Of clusters every case counts as one over the design
    effect of the number of events. Times are taken at the likeliest steps, then weighted.
    """
    effect, nodes, late = variance_factor(problem), None, None
    trials, hits = problem.table.trials, problem.table.hits
    if problem.of_times:
        entries, nodes = entries_of(problem), correction_of(problem)
        trials, hits, late = entries.events + entries.free, entries.events, nodes.late(effect)
    stretches = stretch_evidences(
        problem.table.score,
        trials / effect,
        hits / effect,
        np.array(problem.frame.cells[1:-1]),
        hinges=prior.hinge > 0,
        late=late,
    )
    sums, rng = partition_sums(stretches, prior), problem.rng("curve")
    drawn = draw_partitions(sums, draws, rng)
    u = np.hstack([drawn.shift, drawn.slope])
    if nodes is not None:
        return _over_steps(
            problem, nodes, effect, u, sums.log_evidence, stretches.log_diagonal, rng
        )
    log_evidence = sums.log_evidence + (effect - 1) * stretches.log_diagonal
    return Sample(u, log_evidence, 0.0, -np.inf, float(draws))


def _over_steps(
    problem: Problem,
    nodes: Correction,
    effect: float,
    u: Floats,
    log_evidence: float,
    log_diagonal: float,
    rng: np.random.Generator,
) -> Sample:
    """Draws at the likeliest steps, weighted as if the steps were integrated out."""
    draws, g = len(u), problem.probability(u, expit(nodes.x))
    exact = _expanded_at(nodes, g.mean(axis=0))
    log_ratio = (exact.log_likelihood(g) - nodes.given_steps(g)) / effect
    smooth, pareto_k = smooth_rows(log_ratio[None])
    share = np.exp(smooth[0] - logsumexp(smooth[0]))
    ess = float(1 / np.sum(share**2))
    log_evidence += float(logsumexp(log_ratio) - np.log(draws))
    if effect != 1:
        log_evidence += (1 - 1 / effect) * _log_diagonal(log_diagonal, nodes, effect)
    error = float(np.sqrt(max(1 / ess - 1 / draws, 0)))
    # The weights are bounded: how many draws they are worth says whether to trust them.
    k = -np.inf if ess > ENOUGH_OF_DRAWS * draws else float(pareto_k[0])
    return Sample(u[resample(share, draws, rng)], log_evidence, error, k, ess)


def _log_diagonal(told: float, nodes: Correction, effect: float) -> float:
    """Log likelihood of exact calibration, from what stretches say of it with cases as fewer.

    They hold the steps where nodes do.
    """
    exact, calibrated = nodes.likeliest(expit(nodes.partial.x)), expit(nodes.x)[None]
    added = exact.log_likelihood(calibrated) - nodes.given_steps(calibrated)
    return effect * told + float(added[0])


def _expanded_at(nodes: Correction, g: Floats) -> Correction:
    """The nodes at the likeliest steps with a curve, by its values there."""
    if nodes.serves(g):
        return nodes
    order = np.argsort(nodes.x, kind="stable")
    return nodes.likeliest(np.interp(nodes.partial.x, nodes.x[order], g[order]))


def variance_factor(problem: Problem) -> float:
    """By how much clusters enlarge the variance of the number of events; 1 without clusters."""
    if problem.clusters is None or problem.clusters.are_single:
        return 1.0
    design = cluster_design(problem)
    return design.effect * design.inflation


# Independent draws for each draw that is asked for; an average chooses among them.
POINTS_A_DRAW = 4


def sample_saturated(problem: Problem, draws: int, prior: RiskPrior = ANY_RISKS) -> Sample:
    """Posterior draws (draws, scores) of the error at each score.

    Evidence is of the single outcomes, given that the curve leaves the diagonal. It is exact, and
    draws are independent: k-hat is minus infinity. Of clusters every case counts as one over the
    design effect of the number of events.
    """
    table, effect = problem.table, variance_factor(problem)
    trials, hits = table.trials / effect, table.hits / effect
    on_diagonal = float(hits @ np.log(table.score) + (trials - hits) @ np.log1p(-table.score))
    sums = RiskSums(problem.stated, trials, hits, prior)
    points: Floats = sums.draw(POINTS_A_DRAW * draws, problem.rng("risks 0"))
    evidence = sums.log_evidence + (effect - 1) * on_diagonal
    weights = np.full(len(points), 1 / len(points))
    return Sample(points[:draws], evidence, 0.0, -np.inf, float(draws), points, weights)


# Posterior probability of a scale below which nothing is proposed round it.
DENSITY_NEGLIGIBLE = 1e-3
NEAR = 1e-3  # what a mode may lack in log density, to propose round it
LEAST_PRECISION = 1e-6
LEAST_OF_SCALE = 0.05  # share of the proposals of every other scale
# Of the prior's precision, which keeps the top of the likelihood where there are data.
PULL = 0.01
# Past it the exponential of a slope could overflow; of other likelihoods steps are shorter.
LONGEST_STEP, LONGEST_BOUNDED_STEP = 5.0, 2.0
DENSITY_TOLERANCE = 1e-12
# Rates near 0 are skewed, however often they are proposed again.
BOUNDED_ESS = 0.3
LEAST_SPREAD = 1e-9
PILOT, PILOT_ESS, WIDER, AT_PEAK = 256, 0.1, 1.2, 0.3


class Nodes(NamedTuple):
    """How many nodes of a Gauss rule stand for the rows of a table.

    They are doubled as long as a check at the mode and round it asks for it; past `most` the rows
    themselves cost less. It is made so many standard `deviations` from the mode, of an information
    of at least `least`, and no farther than `longest`; the log likelihood may change by `error`.
    """

    first: int = 32
    most: int = 128
    error: float = 1e-7
    deviations: float = 4.0
    least: float = LEAST_PRECISION
    longest: float = LONGEST_STEP


CURVE_NODES = Nodes()
BOUNDED_NODES = Nodes(32, 256, 1e-6, 3.0, 0.05, np.inf)

AnyRows: TypeAlias = LikelihoodRows | OutcomeNodes | TimesRows


@dataclass(frozen=True)
class Adjustment:
    """The log likelihood of clusters: log L(b_hat + C (b - b_hat)) + m (b - b_hat) + a constant.

    b are the coefficients, in which log-odds are linear, b_hat is the top, and m the slope that
    clusters leave there, if it is not the top of L. The constant leaves exact calibration as it is,
    which all families share (Ribatet, Cooley & Davison, 2012, Statistica Sinica 22).
    """

    top: Floats
    contraction: Floats
    linear: Floats | float = 0.0
    constant: float = 0.0

    def read_at(self, coefficients: Floats) -> Floats:
        """Where the likelihood of independent cases is read, for coefficients (..., k)."""
        return np.asarray(self.top + (coefficients - self.top) @ self.contraction.T)

    def beside(self, coefficients: Floats) -> Floats:
        """What is added to the likelihood read there, for coefficients (..., k)."""
        return np.asarray(((coefficients - self.top) * self.linear).sum(axis=-1) + self.constant)

    def calibrated_as(self, density: CurveDensity) -> Adjustment:
        """The same, with the constant for this density of independent cases."""
        calibrated = density.curve.with_offset(np.zeros((1, density.curve.size)))
        both = np.repeat(calibrated, 2, axis=0)
        both[1, 1:] = self.read_at(calibrated[0, 1:])
        own, read = density.of_coefficients(both, NO_RATES)
        beside = float(self.beside(calibrated[0, 1:]))
        return replace(self, constant=float(self.constant + own - read - beside))


class CurveDensity:
    """Log posterior density of a curve's working coordinates, unnormalised.

    The likelihood is of the single outcomes, without binomial coefficients. Events enter that of a
    curve that is linear in log-odds by exact sums; trials, and all else, by the nodes of a Gauss
    rule, as many as it takes to agree with every row of the table. A spline has the merged rows of
    the problem instead, times to an event rows of their own; `rows` that are given are not checked.

    The points of a curve with a floor and a ceiling have a standard normal number in the place of
    each of these rates, whose prior is then the standard normal law: in these the posterior has
    tails on both sides, where the data say little and where they say much. Rates come last.

    Clusters flatten the likelihood by the sandwich; where that is not defined, and of rates, every
    case counts as one over the design effect.
    """

    def __init__(
        self, problem: Problem, nodes: Nodes = CURVE_NODES, rows: LikelihoodRows | None = None
    ) -> None:
        self.curve, self.prior, self._rng = problem.curve, problem.prior, problem.rng("pilot")
        names, bounded = self.curve.coordinates, self.curve.is_bounded
        self.rates = [_law_of(problem, name) for name in RATES] if bounded else []
        self.size = len(names) - len(self.rates)  # of coordinates that log-odds depend on
        self.joint = JointPrior(self.prior, names[: self.size])
        self._log_constant = len(self.rates) * np.log(2 * np.pi) / 2
        self.good_ess = BOUNDED_ESS if bounded else GOOD_ESS
        self.positive = np.array(self.curve.positive, dtype=bool)
        combination = np.array(self.curve.combination, dtype=np.float64)
        combination = combination.reshape(self.positive.size, len(names))
        self.combination = combination[:, : self.size]
        self.adjustment: Adjustment | None = None
        self.peak: Mode | None = None
        self.at_scales: list[tuple[Mode, float]] | None = None  # of a rough curve, where known
        self.rows: AnyRows
        if rows is not None:
            self.rows = rows
        elif not problem.likelihood.is_linear:
            self._expand_at_likeliest(times_rows(problem))
        elif bounded:
            self._choose(outcome_nodes(problem), partial(few_outcomes, problem), BOUNDED_NODES)
        elif self.curve.is_rough or self.curve.in_cells:
            self.rows = merged_rows(problem, every_row(problem))
        else:
            self._choose(every_row(problem), partial(at_nodes, problem), nodes)
        if problem.clusters is not None and not problem.clusters.are_single and names:
            self._read_clusters(problem)

    def _choose(self, every: Any, few: Callable[[Any, int], AnyRows], nodes: Nodes) -> None:
        """Double the nodes until they agree with every row, at the mode and round it."""
        start, count = None, nodes.first
        while True:
            self.rows = few(every, count) if count <= nodes.most else every
            self.peak = peak = self.mode(start, NEAR)
            if self.rows is every:
                return
            curvature, directions = np.linalg.eigh(peak.information)
            steps = nodes.deviations / np.sqrt(np.maximum(curvature, nodes.least))
            around = np.clip(steps[:, None] * directions.T, -nodes.longest, nodes.longest)
            at = self._read(peak.point + np.concatenate([0 * peak.point[None], around, -around]))
            error = self.rows.log_likelihood(*at) - every.log_likelihood(*at)
            if (peak.converged or self.rates) and np.abs(error).max() <= nodes.error:
                return
            count, start = 2 * count, peak.point if peak.converged else None

    def _expand_at_likeliest(self, rows: TimesRows) -> None:
        """Rows of times to an event, expanded at the mode."""
        self.rows, rough = rows, self.curve.is_rough
        at_scales = modes_by_scale(self) if rough else [(self.mode(None, NEAR), 1.0)]
        peak = max(at_scales, key=lambda each: each[1])[0]
        self.rows = rows.expanded_at(*self._read(peak.point[None]))
        if self.rows is rows:
            self.peak, self.at_scales = (None, at_scales) if rough else (peak, None)
        elif not rough:
            self.peak = self.mode(peak.point, NEAR)

    def _read_clusters(self, problem: Problem) -> None:
        table, peak, self.at_scales = problem.table, self.peak, None
        if not self.rates and not is_separated(table):
            self.adjustment, self.peak = _adjustment_of(self, problem), None
            return
        design = cluster_design(problem)
        effect = design.effect
        if self.rates:
            effect = max(effect, design.slope_effect) * design.inflation
        if isinstance(self.rows, OutcomeNodes):
            log_diagonal = BINOMIAL.of_calibrated(table.score, table.trials, table.hits)
        else:
            on_diagonal = self.curve.with_offset(np.zeros((1, self.curve.size)))
            none = np.zeros((1, len(self.rates)))
            log_diagonal = float(self.rows.log_likelihood(on_diagonal, none)[0])
        linear, self.peak = isinstance(self.rows, LikelihoodRows), None
        self.rows = self.rows.tempered(effect, log_diagonal)
        if peak is not None and not linear:
            self.peak = self.mode(peak.point, NEAR)

    def of_coefficients(self, coefficients: Floats, rates: Floats) -> Floats:
        """Log likelihood of n curves, by the weight of the offset and their coefficients."""
        change = self.adjustment
        if change is None:
            return self.rows.log_likelihood(coefficients, rates)
        beside = change.beside(coefficients[:, 1:])
        read = coefficients.copy()
        read[:, 1:] = change.read_at(coefficients[:, 1:])
        return self.rows.log_likelihood(read, rates) + beside

    def log_likelihood(self, u: Floats) -> Floats:
        """Log likelihood of the outcomes at coordinates `u` of shape (n, d)."""
        return self.of_coefficients(self.curve.with_offset(u), u[:, self.size :])

    def __call__(self, v: Floats) -> Floats:
        """Log density at points `v` of shape (n, d)."""
        prior = self.joint.logpdf(v[:, : self.size])
        if self.rates:
            normal = v[:, self.size :]
            prior -= np.vecdot(normal, normal) / 2 + self._log_constant
        return self.of_coefficients(*self._read(v)) + prior

    def derivatives(self, v: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and exact Hessian at one point `v` of shape (d,)."""
        k, d = self.combination.shape
        coefficients = self.combination @ v[:d]
        np.exp(coefficients, out=coefficients, where=self.positive)
        rates = np.array(list(map(Rate.from_normal, self.rates, v[d:])))
        value, by_part, information = self.by_coefficients(coefficients, rates)
        jacobian, bend = np.zeros((by_part.size, v.size)), np.zeros((v.size, v.size))
        jacobian[:k, :d] = self.jacobian(coefficients)
        slope = np.where(self.positive, by_part[:k] * coefficients, 0.0)
        bend[:d, :d] = (self.combination.T * slope) @ self.combination
        for index, law in enumerate(self.rates):
            first, second = law.derivatives_from_normal(v[d + index])
            jacobian[k + index, d + index] = first
            bend[d + index, d + index] = by_part[k + index] * second - 1
        gradient = jacobian.T @ by_part
        gradient[d:] -= v[d:]
        hessian = bend - jacobian.T @ information @ jacobian
        prior, slope, curvature = self.joint.derivatives(v[:d])
        gradient[:d] += slope
        hessian.ravel()[: d * v.size : v.size + 1] += curvature
        value += prior - float(v[d:] @ v[d:] / 2 + self._log_constant)
        return value, gradient, hessian

    def by_coefficients(
        self, coefficients: Floats, rates: Floats = NO_RATES[0]
    ) -> tuple[float, Floats, Floats]:
        """Log likelihood, its gradient and the information by coefficients (k,), then by rates.

        Of times at the steps of Q of the expansion.
        """
        change = self.adjustment
        if change is None:
            return self.rows.derivatives(coefficients, rates)
        value, gradient, information = self.rows.derivatives(change.read_at(coefficients), rates)
        by, beside = change.contraction, float(change.beside(coefficients))
        return value + beside, by.T @ gradient + change.linear, by.T @ information @ by

    def jacobian(self, coefficients: Floats) -> Floats:
        """Derivative of the coefficients (k,) by the coordinates that log-odds depend on."""
        return np.where(self.positive, coefficients, 1.0)[:, None] * self.combination

    def mode(self, start: Floats | None = None, tolerance: float = DENSITY_TOLERANCE) -> Mode:
        """The posterior mode, climbed to from exact calibration unless a start is given.

        A step that would gain less than the tolerance in log density is not taken. Rates start at
        the median of their priors.
        """
        origin = np.zeros(self.curve.size) if start is None else start
        linear = isinstance(self.rows, LikelihoodRows)
        longest = LONGEST_STEP if linear else LONGEST_BOUNDED_STEP
        return maximise(self.derivatives, origin, tolerance=tolerance, longest=longest)

    def near_mode(self) -> Mode:
        """The posterior mode to within what proposals round it need."""
        if self.peak is None:
            self.peak = self.mode(tolerance=NEAR)
        return self.peak

    def proposals(self) -> list[tuple[Mode, float]]:
        """Where to propose from: modes, and of bounded curves the mean of a small sample.

        Where the data say little of a floor its density is skewed, and the mode far from the mean.
        """
        if self.curve.is_rough:
            return self.at_scales or modes_by_scale(self)
        peak = self.near_mode()
        if not self.rates:
            return [(peak, 1.0)]
        pilot = importance_sample(self, peak, PILOT, self._rng, PILOT_ESS).draws
        covariance = WIDER * np.cov(pilot.T)
        spread = np.linalg.eigvalsh(covariance)
        if spread[0] <= LEAST_SPREAD * spread[-1]:  # a few points have all the weight
            return [(peak, 1.0)]
        information = np.asarray(np.linalg.inv(covariance), np.float64)
        mean = Mode(pilot.mean(axis=0), peak.value, information, peak.converged)
        return [(mean, 1 - AT_PEAK), (peak, AT_PEAK)]

    def stored(self, v: Floats) -> Floats:
        """The coordinates of points, rates in the place of normal numbers."""
        return np.hstack([v[:, : self.size], self._read(v)[1]]) if self.rates else v

    def adjusted_by(self, adjustment: Adjustment | None) -> CurveDensity:
        """The density of cases in clusters, which flatten the likelihood of independent ones."""
        density = copy(self)
        density.adjustment, density.peak, density.at_scales = adjustment, None, None
        return density

    def at(self, tau: float) -> CurveDensity:
        """The same density with the scale of the deviations fixed."""
        density = copy(self)
        density.joint, density.peak = replace(self.joint, tau=tau), None
        return density

    def _read(self, v: Floats) -> tuple[Floats, Floats]:
        """Weight of the offset and coefficients of h, and the rates, of points (n, d)."""
        rates = np.empty((len(v), len(self.rates)))
        for index, law in enumerate(self.rates):
            rates[:, index] = law.from_normal(v[:, self.size + index])
        return self.curve.with_offset(v), rates


def _law_of(problem: Problem, name: str) -> Rate:
    law = problem.prior.of(name)
    if isinstance(law, Rate):
        return law
    raise InputError(
        f"the prior of {name} must be a Rate of bayescal.priors, got {law!r}: it is a rate near 0."
    )


def _adjustment_of(density: CurveDensity, problem: Problem) -> Adjustment:
    """The adjustment of a density of independent cases for the clusters of a table.

    The sandwich is that at the mode of the posterior of independent cases.
    """
    at, covariance = middle_of(density)
    precision: Floats = np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)
    rows = merged_rows(problem, every_row(problem))
    fitted = BINOMIAL.mean(rows.offset + rows.basis @ at)
    contraction = sandwich(problem, rows.basis, fitted, precision).contraction

    def pulled(coefficients: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, information = density.by_coefficients(coefficients)
        away = PULL * precision @ (coefficients - at)
        value -= float(away @ (coefficients - at)) / 2
        return value, gradient - away, -information - PULL * precision

    top = maximise(pulled, at, tolerance=1e-9).point
    return Adjustment(top, contraction).calibrated_as(density)


def modes_by_scale(density: CurveDensity) -> list[tuple[Mode, float]]:
    """The mode at each scale tau of the deviations, and the share of the proposals round it.

    The shares follow the posterior of tau by Laplace's approximation.
    """
    taus, weights = zip(*density.prior.roughness, strict=True)
    modes: list[Mode] = []
    for tau in taus:
        modes.append(density.at(tau).mode(modes[-1].point if modes else None, NEAR))
    share = softmax(np.log(weights) + [laplace_evidence(mode) for mode in modes])
    return [
        (mode, max(float(part), LEAST_OF_SCALE))
        for mode, part in zip(modes, share, strict=True)
        if part > DENSITY_NEGLIGIBLE
    ]


def laplace_evidence(mode: Mode) -> float:
    """Of a density, by the normal approximation round its mode."""
    log_det = np.linalg.slogdet(mode.information / (2 * np.pi))[1]
    return float(mode.value - log_det / 2)


def middle_of(density: CurveDensity) -> tuple[Floats, Floats]:
    """Coefficients at the mode of the likeliest scale, and their covariance under the prior."""
    scales = [density]
    if density.curve.is_rough:
        scales = [density.at(tau) for tau, _ in density.prior.roughness]
    best = max(scales, key=lambda each: laplace_evidence(each.near_mode()))
    at = best.near_mode().point
    return density.curve.with_offset(at[None])[0, 1:], prior_covariance(best, at)


def prior_covariance(density: CurveDensity, at: Floats) -> Floats:
    """Covariance of the coefficients (k, k) under the prior, at one point of shape (d,)."""
    curvature = density.joint.derivatives(at)[2]
    jacobian = density.jacobian(density.curve.with_offset(at[None])[0, 1:])
    variance = 1 / np.maximum(-curvature, LEAST_PRECISION)
    return np.asarray((jacobian * variance) @ jacobian.T)


class _Pivoted:
    """The same density in coordinates that are nearly independent.

    `shift` acts at the centre, which may lie far from the data; there it trades off against the
    slopes along a bend. Here it is exchanged for the curve's log-odds at the score where the data
    inform most (and zero still means calibrated). The change has unit Jacobian.
    """

    def __init__(self, density: CurveDensity, problem: Problem) -> None:
        self.density = density
        self.active = "shift" in density.curve.coordinates and density.curve.size > 1
        weight = problem.trials * problem.score * (1 - problem.score)
        pivot = expit(np.average(problem.log_odds, weights=weight))
        self.at_pivot = density.curve.basis(np.array([pivot]), problem.frame)[1][0, 1:]
        self.calibrated = float(density.positive[1:] @ self.at_pivot)

    def __call__(self, v: Floats) -> Floats:
        return self.density(self.moved(v, -1))

    def stored(self, v: Floats) -> Floats:
        """The coordinates of points."""
        return self.density.stored(self.moved(v, -1))

    def moved(self, v: Floats, sign: int) -> Floats:
        """Points (n, d) whose shift has more of what the slopes add at the pivot, or less."""
        if not self.active:
            return v
        moved, coefficients = v.copy(), self.density.curve.with_offset(v)
        moved[:, 0] += sign * (coefficients[:, 2:] @ self.at_pivot - self.calibrated)
        return moved

    def carried(self, of: tuple[Mode, float]) -> tuple[Mode, float]:
        """A mode of the density and its information, carried over exactly, with its share."""
        if not self.active:
            return of
        mode, share = of
        density, jacobian = self.density, np.eye(mode.point.size)
        slopes = density.jacobian(density.curve.with_offset(mode.point[None])[0, 1:])
        jacobian[0, 1 : density.size] = -(self.at_pivot @ slopes[1:, 1:])
        information = jacobian.T @ mode.information @ jacobian
        point = self.moved(mode.point[None], 1)[0]
        return Mode(point, mode.value, information, mode.converged), share


@one_blas_thread
def sample_importance(problem: Problem, draws: int) -> Sample:
    """Equal-weight posterior draws of the working coordinates, and their evidence."""
    if problem.curve.in_cells:
        return sample_pieces(problem, draws)
    if problem.curve.per_score:
        return sample_saturated(problem, draws)
    rng, density = problem.rng("curve"), CurveDensity(problem)
    modes, pivoted = density.proposals(), _Pivoted(density, problem)
    carried = list(map(pivoted.carried, modes))
    # Deviations have tails as light as their prior's.
    heavy, good_ess = problem.curve.size - density.joint.laws[1].size, density.good_ess
    sample = importance_sample(pivoted, carried, draws, rng, good_ess, heavy=heavy)
    if sample.pareto_k > (BAD_K if len(modes) > 1 else GOOD_K):
        unpivoted = importance_sample(density, modes, draws, rng, good_ess, heavy=heavy)
        if unpivoted.pareto_k < sample.pareto_k:
            return unpivoted.mapped(density.stored)
    return sample.mapped(pivoted.stored)
