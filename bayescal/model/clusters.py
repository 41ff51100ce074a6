"""How much less, or more, clusters of cases tell of a curve than independent cases would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import fit_logistic
from bayescal.data.clusters import Clusters
from bayescal.data.rows import Rows, add_up
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.times import Steps, told_by_cases
from bayescal.model.times_rows import likeliest_line

__all__ = ["Design"]


# No direction counts as better known than by five times the cases.
LEAST_EFFECT = 0.2
# Share of the information of the posterior below which a direction is left as it is.
SMALL_INFORMATION = 1e-3
USUAL_LEVEL = 0.975


@dataclass(frozen=True)
class Sandwich:
    """Information on coefficients, and the covariance of the score of clusters, beside it.

    `effect` (d,): variance of each coefficient over that of independent cases; `contraction` (d,
    d): C, which makes log L(b_hat + C (b - b_hat)) as curved as the sandwich says; `degrees` of
    freedom of the covariance, infinite where every cluster is one case.
    """

    effect: Floats
    contraction: Floats
    degrees: float
    inflation: float  # of variances, so that a normal 95 % interval is as long as Student's


def sandwich(problem: Problem, basis: Floats, fitted: Floats, precision: Floats) -> Sandwich:
    """Design effects of the coefficients of a curve, at one point.

    The covariance of the score is that of independent cases plus the products of residuals of
    different cases of one cluster. It is drawn towards the covariance that equal correlations on
    the log-odds would give, the more so the fewer clusters there are for each coefficient. Liang &
    Zeger (1986), Biometrika 73; Bell & McCaffrey (2002), Survey Methodology 28; Ribatet, Cooley &
    Davison (2012), Statistica Sinica 22. `basis` (rows, d) has the derivatives of the curve's
    log-odds, `precision` is that of the prior.
    """
    told = _told_of_times(problem, fitted) if problem.of_times else _told(problem, fitted)
    between = _Between(told, basis)
    weight = share_alike(len(precision), between.degrees)
    extra = (1 - weight) * between.seen() + weight * between.alike()
    return flattened(_information(problem, basis, fitted), extra, precision, between.degrees)


def share_alike(size: int, degrees: float) -> float:
    """Weight of the covariance that equal correlations would give, for so many coefficients."""
    return (size + 1) / (degrees + size + 1)


def flattened(information: Floats, extra: Floats, precision: Floats, degrees: float) -> Sandwich:
    """Design effects, where the score has `extra` covariance beside that of independent cases.

    All matrices are (d, d), on the coefficients; `degrees` of freedom are those of `extra`.
    """
    factor = np.linalg.cholesky(information + precision)
    ridge = SMALL_INFORMATION * np.eye(len(precision))

    def whitened(matrix: Floats) -> Floats:
        half = np.linalg.solve(factor, matrix)
        return np.asarray(np.linalg.solve(factor, half.T))

    base = whitened(information) + ridge
    root, inverse = _powers(base, 0.5, -0.5)
    more = inverse @ whitened(extra) @ inverse
    values, vectors = np.linalg.eigh(np.eye(len(precision)) + (more + more.T) / 2)
    values = np.maximum(values, LEAST_EFFECT)
    inflation = inflation_of(degrees)
    outward = np.linalg.solve(factor.T, inverse)
    variance = np.sum((outward @ vectors) ** 2 * values, axis=1)
    shrunk = (vectors / np.sqrt(inflation * values)) @ vectors.T
    return Sandwich(
        effect=variance / np.sum(outward**2, axis=1),
        contraction=outward @ shrunk @ root @ factor.T,
        degrees=degrees,
        inflation=inflation,
    )


class _Told(NamedTuple):
    """What the cases of each cluster that are alike tell of the log-odds of the curve."""

    clusters: Clusters
    row: NDArray[np.intp]  # (entries,): of the problem
    residual: Floats  # (entries,): sums of the slopes of these cases, and of their squares
    own: Floats  # (entries,)
    spread: Floats  # (entries,): expected square of the slope of one case


def _told(problem: Problem, fitted: Floats) -> _Told:
    """By cases with known outcomes: their residuals from the curve."""
    clusters = problem.clusters
    assert clusters is not None
    row = problem.merged(clusters.row)
    p, spread = fitted[row], BINOMIAL.spread(np.ones_like(fitted), fitted)[row]
    others = clusters.square_trials - clusters.square_hits
    own = clusters.square_hits * (1 - p) ** 2 + others * p**2
    return _Told(clusters, row, clusters.hits - clusters.trials * p, own, spread)


def _told_of_times(problem: Problem, fitted: Floats) -> _Told:
    """By followed cases, with the steps of Q at their likeliest values."""
    clusters, followed = problem.data.followed_clusters, problem.data.follow_up
    assert clusters is not None and followed is not None
    row, entry = problem.merged(followed.row), clusters.row
    told = told_by_cases(problem, fitted[row])
    slope = told.slope[entry]
    own = clusters.square_trials * slope**2
    return _Told(clusters, row[entry], clusters.trials * slope, own, told.spread[entry])


def _information(problem: Problem, basis: Floats, fitted: Floats) -> Floats:
    """Of independent cases, on the coefficients."""
    followed = problem.data.follow_up
    if not problem.of_times or followed is None:
        return np.asarray((basis.T * BINOMIAL.spread(problem.trials, fitted)) @ basis)
    return information_of_times(problem, problem.merged(followed.row), basis, fitted)


def information_of_times(
    problem: Problem,
    row: NDArray[np.intp],
    basis: Floats,
    fitted: Floats,
    steps: Steps | None = None,
) -> Floats:
    """Of independent cases with times to an event, on the coefficients; none of it negative.

    `row` (entries,): of each entry of the follow-up, in `basis` and `fitted`; `basis`, `fitted`
    (rows, d): as in `sandwich`; `steps`: of one of several groups: the steps of Q that these have
    in common.
    """
    followed = problem.data.follow_up
    assert followed is not None
    weight = followed.weight * problem.data.weight_scale
    curvature = told_by_cases(problem, fitted[row], steps).curvature
    information = (basis.T * add_up(row, weight * curvature, fitted.size)) @ basis
    values, vectors = np.linalg.eigh(information)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


class _Between:
    """Products of different cases of one cluster, summed over the clusters."""

    def __init__(self, told: _Told, basis: Floats) -> None:
        clusters, row, rows = told.clusters, told.row, len(basis)
        self.basis = basis
        weight, squares = clusters.trials * told.spread, clusters.square_trials * told.spread**2
        information = clusters.sums(weight)
        leverage = information / information.sum() if clusters.strata == 1 else 0.0 * information
        grow = 1 / np.sqrt(1 - np.minimum(leverage, 1 - 1e-9))
        score = clusters.matrix(told.residual, row, rows) @ basis
        self.score = clusters.centred(score) * grow[:, None]
        self.residual = clusters.centred(clusters.sums(told.residual)) * grow
        self.of_shift = clusters.matrix(weight, row, rows) @ basis
        self.own, self.own_of_shift = (add_up(row, each, rows) for each in (told.own, squares))
        pairs = information**2 - clusters.sums(squares)
        excess = float(self.residual @ self.residual - self.own.sum())
        self.variance = max(excess / pairs.sum(), 0.0) if pairs.sum() > 0 else 0.0
        part = clusters.sums(clusters.square_trials * told.spread) + self.variance * pairs
        layers = clusters.strata / clusters.size
        self.degrees = degrees_of(part, pairs, information**2, layers)

    def seen(self) -> Floats:
        """As observed."""
        return np.asarray(self.score.T @ self.score - (self.basis.T * self.own) @ self.basis)

    def alike(self) -> Floats:
        """As of a shift of each cluster's log-odds that varies with one variance."""
        own = (self.basis.T * self.own_of_shift) @ self.basis
        return np.asarray(self.variance * (self.of_shift.T @ self.of_shift - own))


def degrees_of(part: Floats, pairs: Floats, both: Floats, layers: float) -> float:
    """Satterthwaite's: clusters count by what they add to the variance of the total.

    `part` (clusters,): what each adds; `pairs`, `both` (clusters,): products of the spreads of
    different cases of a cluster, and of all; `layers`: strata over clusters.
    """
    noise = float(np.sum(part[both > 0] ** 2 * pairs[both > 0] / both[both > 0]))
    total = float(part.sum())
    if noise <= 1e-12 * total**2:
        return np.inf
    return max(total**2 / noise * (1 - layers), 1.0)


def inflation_of(degrees: float) -> float:
    """Square of Student's 97.5 % quantile over the normal one."""
    if np.isinf(degrees):
        return 1.0
    return float((stdtrit(degrees, USUAL_LEVEL) / ndtri(USUAL_LEVEL)) ** 2)


def _powers(matrix: Floats, *powers: float) -> list[Floats]:
    """Powers of a positive definite matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return [np.asarray((vectors * values**power) @ vectors.T) for power in powers]


ONE_CASE_A_CLUSTER = (
    "outcomes are separated by the scores or of one class, so that nothing says how alike the "
    "cases of a cluster are: each cluster counts as one case"
)


@dataclass(frozen=True)
class Design:
    """Clusters, and how many independent cases would tell as much.

    `effect`: design effect of the number of events: the variance of observed less expected, over
    that of independent cases.
    """

    clusters: int
    strata: int
    effect: float
    slope_effect: float  # design effect of the calibration slope
    degrees: float  # degrees of freedom of the estimated variance
    inflation: float  # of variances, for the degrees of freedom
    n: float  # cases that the likelihood would count, and these over the design effect
    effective_n: float
    separated: bool = False  # whether the scores separate the outcomes, or these are of one class

    @classmethod
    def mean(cls, each: Sequence[Design]) -> Design:
        """That of several imputations: the mean of their effects."""
        names = ("effect", "slope_effect", "degrees", "inflation", "effective_n")
        means: dict[str, Any] = {
            name: float(np.mean([getattr(one, name) for one in each])) for name in names
        }
        return replace(each[0], **means, separated=any(one.separated for one in each))

    @property
    def verdict(self) -> str:
        """Whether the design effects can be trusted: "ok", or why not."""
        return ONE_CASE_A_CLUSTER if self.separated else "ok"

    def to_dict(self) -> dict[str, float]:
        """What a reader of diagnostics is told."""
        return {
            "clusters": self.clusters,
            "strata": self.strata,
            "design_effect": self.effect,
            "design_effect_slope": self.slope_effect,
            "effective_n": self.effective_n,
            "separated": self.separated,
        }

    def __str__(self) -> str:
        strata = f" in {self.strata} strata" if self.strata > 1 else ""
        return (
            f"{self.clusters:,} clusters{strata}; effective n "
            f"{min(self.effective_n, self.n):,.0f} of {self.n:,.0f}"
            f"{', one a cluster' if self.separated else ''}"
        )


def is_separated(table: Rows) -> bool:
    """Whether a threshold on the scores parts the outcomes, which have then no best logistic curve.

    True also of one class; False of both classes at one score.
    """
    with_event, without = table.score[table.hits > 0], table.score[table.hits < table.trials]
    if not with_event.size or not without.size:
        return True
    apart = with_event.min() >= without.max() or with_event.max() <= without.min()
    return bool(apart and table.score[0] < table.score[-1])


def cluster_design(problem: Problem) -> Design:
    """Design effects of a table with clusters, round its logistic recalibration.

    Where there is no such recalibration, since the outcomes are separated, every cluster counts as
    one case.
    `problem`: with clusters; of any family.
    """
    clusters = problem.clusters
    assert clusters is not None
    if is_separated(problem.table):
        effective = min(float(clusters.size), problem.n)
        effect = problem.n / effective
        return Design(
            *(clusters.size, clusters.strata, effect, effect, np.inf, 1.0, problem.n, effective),
            separated=not clusters.are_single,
        )
    x, trials = problem.log_odds, problem.trials
    basis = np.stack([np.ones_like(x), x])
    if problem.of_times:
        coef = likeliest_line(problem)
    else:
        start = np.array([0.0, 1.0])
        coef = fit_logistic(basis, trials, (basis @ problem.hits)[None], start=start)[0][0]
    fitted = BINOMIAL.mean(coef @ basis)
    weight = BINOMIAL.spread(trials, fitted)
    total = weight.sum()
    middle = weight @ x / total if total > 0 else 0.0
    about = sandwich(problem, np.column_stack([basis[0], x - middle]), fitted, np.eye(2))
    effect, slope_effect = map(float, about.effect)
    return Design(
        clusters.size,
        clusters.strata,
        effect,
        slope_effect,
        about.degrees,
        about.inflation,
        problem.n,
        problem.n / effect,
    )
