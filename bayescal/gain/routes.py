"""Draws of a gain, by the curve E[y | before] or by the Bayesian bootstrap of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.sampling import resample
from bayescal.core.versions import one_blas_thread
from bayescal.data.rows import levels_of
from bayescal.data.table import CalibrationData
from bayescal.gain._terms import (
    Terms,
    as_happened,
    curve_terms,
    divergence,
    infinite_log_gain,
    log_gains,
    log_score,
    mean,
    net_benefit_name,
    treated,
    with_infinite_log_gain,
)
from bayescal.gain.paired import Alike, PairedPredictions, of_equal_cells, of_neighbours
from bayescal.inference.averaging import FamilySamples, Mixture, in_order, prior_probabilities
from bayescal.inference.density import CurveDensity
from bayescal.model.curve import expit_in_place
from bayescal.model.curves import CURVES, average_of
from bayescal.model.draws import WEIGHTS
from bayescal.model.law import BINOMIAL
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.intervals import among_few
from bayescal.posterior.population import ClusterBootstrap, draw_population
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "Posterior",
    "Refit",
    "Views",
    "by_curve",
    "by_pairs",
    "by_view",
    "calibration_mixture",
    "in_shares",
    "quantiles",
]

EVIDENCE_DRAWS = 1000

# One curve of the predictions before, and of those after.
Views = tuple[CalibrationPosterior, CalibrationPosterior]


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains, each of shape (draws,), and what was fitted before and after, if any was.

    `exact` says which side is exactly calibrated in each draw: 0 neither, 1 before, 2 after.
    """

    draws: Terms
    before: Mixture | CalibrationPosterior | None = None
    after: tuple[Mixture | CalibrationPosterior, ...] = ()
    exact: NDArray[np.intp] | None = None

    def interval(self, name: str, tail: float) -> tuple[float, float]:
        """Equal-tailed interval of a gain, with this probability on either side.

        Where a side is exactly calibrated, the fall in TCE is the largest or the least that is
        possible. Its interval holds that of each such hypothesis that is more probable than the
        tail, as that of TCE itself begins at 0 if exact calibration is.
        """
        values = self.draws[name]
        parts = [values]
        if name == "tce" and self.exact is not None:
            each = [values[self.exact == side] for side in (1, 2)]
            parts += [part for part in each if part.size > tail * values.size]
        lower, upper = zip(*(quantiles(part, tail, 1 - tail) for part in parts), strict=True)
        return min(lower), max(upper)


@one_blas_thread
def by_curve(
    pairs: PairedPredictions, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains, where the curve is near the predictions before or near those after.

    The hypotheses of the averaged fit of either side have half of the prior probability. They
    explain the same outcomes, so that evidence weighs them against each other.
    """
    pairs = pairs.collapsed(thresholds)
    sides = [
        calibration_mixture(table, prior, seed, draws)
        for table in (pairs.table_before, pairs.tables_after[0])
    ]
    problem, updated = (side.problem for side in sides)
    alike = of_equal_cells(pairs, problem, updated, thresholds)
    scores = alike.means(pairs.before), alike.means(pairs.after[0])
    curves, exact = _draws_of_both(sides, scores, draws)
    populations = draw_population(
        *("bootstrap", scores[0], alike.trials, draws, problem.rng("population")),
        bootstrap=alike.of_clusters(pairs.clusters),
    )
    drawn = ((curves(part), population.weight) for part, population in populations)
    logs = log_gains(*scores, lambda: _happened(pairs, alike))
    return Posterior(_gains(pairs, alike, thresholds, logs, drawn), sides[0], (sides[1],), exact)


@one_blas_thread
def by_view(views: Views, pairs: PairedPredictions, thresholds: Sequence[float]) -> Posterior:
    """Posterior of the gains for one curve of several, of cases with all of its scores.

    In as many draws as the predictions after are exactly calibrated the curve is the map.
    """
    (curves,) = views[0].tables
    alike = Alike.of(curves.problem.rows_of(pairs.before), pairs.weight, curves.problem.score.size)
    after = alike.means(pairs.after[0])
    exact = [~view.tables[0].u.any(axis=1) for view in views]
    is_map = np.asarray(exact[1] & ~exact[0])
    drawn = (
        (np.where(is_map[part, None], after, each.curve), each.population.weight)
        for part, each in curves.draws("bootstrap")
    )
    first, second = pairs.before, pairs.after[0]

    def happened() -> Floats:
        known = log_score(pairs.outcome, second) - log_score(pairs.outcome, first)
        return np.where(np.isnan(pairs.outcome), _happened(pairs, alike)[alike.row], known)

    # A site has few cases in a row: the mean of their logarithms costs nothing.
    event, other = map(alike.means, log_gains(first, second, happened))
    return Posterior(_gains(pairs, alike, thresholds, (event, other), drawn), views[0], views[1:])


def _happened(pairs: PairedPredictions, alike: Alike) -> Floats:
    """What the log score of each row gained by its known outcomes."""
    return as_happened(pairs.outcome, pairs.before, pairs.after[0], alike.means)


def _gains(
    pairs: PairedPredictions,
    alike: Alike,
    thresholds: Sequence[float],
    logs: tuple[Floats, Floats],
    drawn: Iterable[tuple[Floats, Floats]],
) -> Terms:
    """The gains under blocks of curves and of populations, both of shape (draws, rows)."""
    first, second = pairs.before, pairs.after[0]
    before, after = alike.means(first), alike.means(second)
    group = levels_of(after).row
    moved = {
        threshold: alike.means(treated(second, threshold) - treated(first, threshold))
        for threshold in thresholds
    }
    blocks = [
        curve_terms(curve, weight, before, after, group, logs, moved) for curve, weight in drawn
    ]
    infinite = infinite_log_gain(pairs.outcome, first, pairs.after)
    return with_infinite_log_gain(joined(blocks), infinite)


def in_shares(parts: Sequence[Posterior], cases: Floats, rng: np.random.Generator) -> Posterior:
    """Posterior for the cases of several groups together; parts are of draws of one fit."""
    names = parts[0].draws
    share = rng.dirichlet(cases, size=len(next(iter(names.values())))).T
    each = {name: np.stack([part.draws[name] for part in parts]) for name in names}
    return Posterior({name: np.sum(share * values, axis=0) for name, values in each.items()})


def _draws_of_both(
    sides: Sequence[Mixture], scores: Sequence[Floats], draws: int
) -> tuple[Callable[[slice], Floats], NDArray[np.intp]]:
    """Curves at the rows, of each side so many as its evidence says, and `exact` of a `Posterior`.

    The curves are a function that gives a block of them, of shape (draws, rows).
    """
    rng = sides[0].problem.rng("sides")
    share = softmax([side.log_evidence for side in sides])
    of_side = resample(np.asarray(share), draws, rng)
    fitted = [side.posterior().tables[0] for side in sides]
    u = [of.distances.u for of in fitted]
    is_exact = [of.exact for of in fitted if of.exact is not None]
    exact = np.where(np.choose(of_side, is_exact), of_side + 1, 0)
    at = [side.problem.curves_at(score) for side, score in zip(sides, scores, strict=True)]

    def curves(part: slice) -> Floats:
        drawn = np.empty((part.stop - part.start, scores[0].size))
        for k, own in enumerate(u):
            mine = of_side[part] == k
            if mine.any():
                drawn[mine] = at[k].probability(own[part][mine])
        return drawn

    return curves, exact


def quantiles(values: Floats, *levels: float) -> list[float]:
    """Quantiles of draws, which are themselves draws where some are infinite."""
    if np.isfinite(values).all():
        return [float(value) for value in np.quantile(values, levels)]
    return [float(value) for value in np.quantile(values, levels, method="inverted_cdf")]


def joined(blocks: Sequence[Terms]) -> Terms:
    """Blocks of draws, one after the other."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def calibration_mixture(
    data: CalibrationData, prior: Prior, seed: int, draws: int = EVIDENCE_DRAWS
) -> Mixture:
    """The mixture of `bayescal.compare`, each of its families drawn when it is asked for."""
    names = in_order(tuple(WEIGHTS))
    problem = prepare(data, curve=average_of(names), prior=prior, random_state=seed)
    return Mixture(FamilySamples(problem, names), prior_probabilities(names), draws)


FAMILY = CURVES["beta"]
# The side that is exactly calibrated.
BEFORE, AFTER = 1, 2
# Cases for one where predictions stand in place of outcomes: they are not drawn, and the prior,
# which shrinks a curve of few cases, is to have no say.
CERTAIN = 1e4
# Draws whose curves are fitted together, at least.
AT_ONCE = 32


@one_blas_thread
def by_pairs(
    pairs: PairedPredictions, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from weights of the cases, the same on both sides.

    Scores and net benefit are averages over the weighted cases. The calibration error of each side
    is that of a beta curve fitted again to each weighting (Newton & Raftery 1994), so that the two
    errors of a draw share everything but the scores. As often as the evidence says, a side is
    exactly calibrated: the curve of the other is then fitted to its predictions, in place of the
    outcomes. Repeats in `after` are averaged within each draw.
    """
    alike = of_neighbours(pairs, thresholds)
    law = alike.of_clusters(pairs.clusters)

    rng = np.random.default_rng([seed, *b"pairs"])
    updated = np.mean(pairs.after, axis=0)
    before = _Side(pairs, alike, pairs.before, pairs.table_before, prior, thresholds, updated)
    tables = zip(pairs.after, pairs.tables_after, strict=True)
    after = [
        _Side(pairs, alike, score, table, prior, thresholds, pairs.before)
        for score, table in tables
    ]
    first_mixture = calibration_mixture(pairs.table_before, prior, seed)
    mixtures = tuple(calibration_mixture(table, prior, seed) for table in pairs.tables_after)
    exact = _exact_sides(first_mixture, mixtures, draws, rng)
    blocks: list[Terms] = []
    done = 0
    for weight in _weightings(alike.trials, law, draws, rng):
        part = exact[done : done + len(weight)]
        done += len(weight)
        first = before.terms(weight, part == BEFORE, part == AFTER)
        second = _average([side.terms(weight, part == AFTER, part == BEFORE) for side in after])
        blocks.append({name: second[name] - values for name, values in first.items()})
    gains = joined(blocks)
    worth = _average([side.worth for side in after])
    for name, values in before.worth.items():
        each, cases = worth[name] - values, alike.trials
        if each.any():
            size = float(np.sqrt(cases @ each**2 / cases[each != 0].sum()))
            size = float(np.copysign(size, cases @ each))  # exchanged predictions change its sign
            gains[name] = among_few(gains[name], size, float(cases.sum()), rng)
    if law is not None:
        stretch = {name: law.stretch(worth[name] - each) for name, each in before.worth.items()}
        gains = _stretched(gains, stretch)
    for score, name in (("brier", "brier"), ("log", "log_score")):
        gains[f"{score}_refinement"] = gains[name] - gains[f"{score}_calibration"]
    infinite = infinite_log_gain(pairs.outcome, pairs.before, pairs.after)
    gains = with_infinite_log_gain(gains, infinite)
    return Posterior(gains, first_mixture, mixtures, exact)


def _exact_sides(
    before: Mixture, after: Sequence[Mixture], draws: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Which side is exactly calibrated in each draw, (draws,): 0 for neither.

    As where gains follow from one curve: the curve is near the predictions before or near those
    after, and evidence weighs the two.
    """
    both = [before.log_evidence, float(np.mean([side.log_evidence for side in after]))]
    share = softmax(both) * [
        before.prob_calibrated,
        float(np.mean([side.prob_calibrated for side in after])),
    ]
    order = np.argsort(-share)  # so that exchanged predictions have the same draws
    sides = np.array([0, *np.array([BEFORE, AFTER])[order]])
    return sides[resample(np.array([1 - share.sum(), *share[order]]), draws, rng)]


def _stretched(gains: Terms, stretch: dict[str, float]) -> Terms:
    """Draws from clusters, moved from their mean as few clusters ask; errors as the Brier score."""
    each = stretch | {"log_calibration": stretch["log_score"]}
    return {
        name: np.asarray(
            values.mean() + each.get(name, stretch["brier"]) * (values - values.mean())
        )
        for name, values in gains.items()
    }


def _weightings(
    cases: Floats, law: ClusterBootstrap | None, draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Draws of the population of cases, of shape (block, rows), a block at a time."""
    block: list[Floats] = []
    for part, population in draw_population("bootstrap", cases, cases, draws, rng, bootstrap=law):
        block.append(population.weight)
        if part.stop == draws or sum(map(len, block)) >= AT_ONCE:
            yield np.concatenate(block)
            block = []


def _average(repeats: Sequence[Terms]) -> Terms:
    return {name: np.mean([terms[name] for terms in repeats], axis=0) for name in repeats[0]}


class _Side:
    """One set of predictions: what they are worth, and their curve, under any weights.

    Losses are of the rows of cases. Curves are of the rows of the problem, whose trials and events
    are sums of the same weights.
    """

    def __init__(
        self,
        pairs: PairedPredictions,
        alike: Alike,
        score: Floats,
        table: CalibrationData,
        prior: Prior,
        thresholds: Sequence[float],
        other: Floats,
    ) -> None:
        self.refit = Refit(table, prior)
        problem = self.refit.problem
        self.score, self.share = problem.stated, problem.trials / problem.n
        self.total = float(pairs.weight.sum())
        outcome = pairs.outcome
        row = problem.rows_of(score[alike.one])
        column = row + self.share.size * outcome[alike.one]
        shape = (alike.trials.size, 2 * self.share.size)
        entries = (np.ones(shape[0]), (np.arange(shape[0]), column))
        self.member = sparse.csr_array(entries, shape=shape).T.tocsr()
        expected = (alike.means(other), (row, np.arange(shape[0])))
        self.by_other = sparse.csr_array(expected, shape=(self.share.size, shape[0]))
        worth = {"brier": -((score - outcome) ** 2), "log_score": log_score(outcome, score)}
        for threshold in thresholds:
            benefit = net_benefit(outcome, 1.0, threshold) * treated(score, threshold)
            worth[net_benefit_name(threshold)] = benefit
        self.worth = {name: alike.means(values) for name, values in worth.items()}

    def terms(
        self, weight: Floats, is_exact: NDArray[np.bool_], is_other_exact: NDArray[np.bool_]
    ) -> Terms:
        """Of a block of draws, larger is better: minus the loss, and minus the error."""
        mass, curve = self._refitted(weight, is_other_exact)
        curve[is_exact] = self.score
        score = self.score
        return {
            "tce": -mean(mass, np.abs(curve - score)),
            "brier_calibration": -mean(mass, (curve - score) ** 2),
            "log_calibration": -mean(mass, divergence(curve, score)),
        } | {name: weight @ values for name, values in self.worth.items()}

    def _refitted(self, weight: Floats, is_other_exact: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Mass of every row of the problem, and the curve there, of shape (draws, rows)."""
        others, events = np.split((self.member @ weight.T).T, 2, axis=1)
        mass = others + events
        events[is_other_exact] = (self.by_other @ weight[is_other_exact].T).T
        cases = np.where(is_other_exact, CERTAIN, 1.0)[:, None] * self.total
        return mass, self.refit.curves(cases * mass, cases * events)


REFIT_STEPS = 50
REFIT_CLOSE = 1e-4
REFIT_LONGEST = 1.0


class Refit:
    """A beta curve fitted again to every weighting of the same cases, all at once.

    The mode of the cases themselves is where each search starts; rows of the curves are those of
    `problem`.
    """

    def __init__(self, data: CalibrationData, prior: Prior) -> None:
        self.problem = problem = prepare(data, curve=FAMILY, prior=prior, random_state=0)
        self.start = CurveDensity(problem).mode().point
        self._offset, self._basis = FAMILY.basis(problem.score, problem.frame)
        products = self._basis[:, :, None] * self._basis[:, None, :]
        self._products = products.reshape(problem.score.size, -1)
        self._positive, self._combination = np.array(FAMILY.positive), np.array(FAMILY.combination)
        self._priors = [prior.of(name) for name in FAMILY.coordinates]

    def curves(self, trials: Floats, hits: Floats) -> Floats:
        """The curve at every score, for weightings of the rows, all of shape (replicates, rows).

        By a step of Fisher scoring, then Newton steps where the surface is concave.
        """
        u, left = np.tile(self.start, (len(trials), 1)), np.arange(len(trials))
        fitted = self.at(u[:1])
        for turn in range(REFIT_STEPS):
            step = self._step(u[left], trials, hits, fitted, newton=turn > 0)
            longest = np.abs(step).max(axis=1)
            u[left] += step * np.minimum(1.0, REFIT_LONGEST / np.maximum(longest, 1e-300))[:, None]
            far = longest > REFIT_CLOSE
            if not far.any():
                break
            if not far.all():
                left, trials, hits = left[far], trials[far], hits[far]
            fitted = self.at(u[left])
        return self.at(u)

    def at(self, u: Floats) -> Floats:
        """The curve at coordinates of shape (replicates, d)."""
        log_odds: Floats = self._coefficients(u) @ self._basis.T + self._offset
        return expit_in_place(log_odds)

    def _coefficients(self, u: Floats) -> Floats:
        linear = u @ self._combination.T
        return np.asarray(np.where(self._positive, np.exp(linear), linear))

    def _step(
        self, u: Floats, trials: Floats, hits: Floats, fitted: Floats, *, newton: bool
    ) -> Floats:
        coefficients = self._coefficients(u)
        jacobian = np.where(self._positive, coefficients, 1.0)[:, :, None] * self._combination
        score = (hits - trials * fitted) @ self._basis
        spread = BINOMIAL.spread(trials, fitted) @ self._products
        information = spread.reshape(len(u), *2 * self._basis.shape[1:])
        gradient = np.einsum("ikd,ik->id", jacobian, score)
        curvature = jacobian.transpose(0, 2, 1) @ information @ jacobian
        for k, prior in enumerate(self._priors):
            slope, bend = prior.slope_and_curvature(u[:, k])
            gradient[:, k] += slope
            curvature[:, k, k] += np.abs(bend)
        if newton:
            bends = np.where(self._positive, score * coefficients, 0.0)
            bent = np.einsum("ik,kd,ke->ide", bends, self._combination, self._combination)
            concave = np.linalg.eigvalsh(curvature - bent)[:, :1, None] > 0
            curvature = np.where(concave, curvature - bent, curvature)
        return np.asarray(np.linalg.solve(curvature, gradient[..., None])[..., 0])
