"""When `after` is a map of `before`: draws of the curve E[y | before] give every term."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.sampling import resample
from bayescal.core.versions import one_blas_thread
from bayescal.data.rows import levels_of
from bayescal.data.table import CalibrationData
from bayescal.gain._terms import (
    Terms,
    as_happened,
    curve_terms,
    infinite_log_gain,
    log_gains,
    log_score,
    treated,
    with_infinite_log_gain,
)
from bayescal.gain.paired import Alike, PairedPredictions, of_equal_cells
from bayescal.inference.averaging import FamilySamples, Mixture, in_order, prior_probabilities
from bayescal.model.curves import average_of
from bayescal.model.draws import WEIGHTS
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.population import draw_population
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "Posterior",
    "Views",
    "by_curve",
    "by_view",
    "calibration_mixture",
    "in_shares",
    "joined",
    "quantiles",
]

EVIDENCE_DRAWS = 1000

# One curve of the predictions before, and of those after.
Views = tuple[CalibrationPosterior, CalibrationPosterior]


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains, each of shape (draws,); and the mixtures fitted before and after, if any.

    `exact` says which side is exactly calibrated in each draw: 0 neither, 1 before, 2 after.
    """

    draws: Terms
    before: Mixture | None = None
    after: tuple[Mixture, ...] = ()
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
    return Posterior(_gains(pairs, alike, thresholds, (event, other), drawn))


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
