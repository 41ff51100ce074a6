"""When `after` is a map of `before`: one posterior of the curve gives every term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.versions import one_blas_thread
from bayescal.data.data import CalibrationData
from bayescal.data.table import levels_of
from bayescal.gain._counts import Counts
from bayescal.gain._terms import (
    Terms,
    as_happened,
    curve_terms,
    infinite_log_gain,
    log_gains,
    mean,
    merged,
    with_infinite_log_gain,
)
from bayescal.gain.alike import of_equal_cells
from bayescal.gain.paired import PairedPredictions
from bayescal.inference.averaging import Mixture
from bayescal.inference.candidates import in_order, prior_probabilities
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import average_of, smooth_families
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.population import draw_population

__all__ = [
    "MappedRows",
    "Posterior",
    "by_curve",
    "calibration_mixture",
    "exact_sides",
    "joined",
    "quantiles",
]

EVIDENCE_DRAWS = 1000


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains.

    Attributes
    ----------
    draws : dict of ndarray of shape (draws,)
        Of smooth curves; in those of the fall in TCE errors count as in an average.
    before : Mixture or None
        Fitted to the predictions before, where it was.
    after : tuple of Mixture
        Fitted to those after, where they were.
    exact : ndarray of shape (draws,), optional
        Of the draws of the fall in TCE, by which side is exactly calibrated; see `exact_sides`.
    """

    draws: Terms
    before: Mixture | None = None
    after: tuple[Mixture, ...] = ()
    exact: NDArray[np.intp] | None = None

    def interval(self, name: str, tail: float) -> tuple[float, float]:
        """Equal-tailed interval of a gain, with this probability on either side.

        Where a side is exactly calibrated, the fall in TCE is nearly the largest or the least that
        is possible. An interval of the fall holds that of each such case that is more probable
        than the tail: a quantile of all draws would end within the draws of that case.
        """
        values = self.draws[name]
        parts = [values]
        if name == "tce" and self.exact is not None:
            each = [values[self.exact == which] for which in np.unique(self.exact)]
            parts += [part for part in each if part.size > tail * values.size]
        lower, upper = zip(*(quantiles(part, tail, 1 - tail) for part in parts), strict=True)
        return min(lower), max(upper)


@one_blas_thread
def by_curve(
    pairs: PairedPredictions, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from the curve E[y | before].

    Parameters
    ----------
    pairs : PairedPredictions
        `after` must be a map of `before`. Clusters are weighed by the fit of the curve, and as a
        whole in the population.
    """
    mixture = calibration_mixture(pairs.table_before, prior, seed, draws)
    problem = mixture.problem
    updated = prepare(pairs.tables_after[0], prior=prior, random_state=seed)
    alike = of_equal_cells(pairs, problem, updated, thresholds)
    scores, mapped = alike.means(pairs.before), alike.means(pairs.after[0])
    table = MappedRows.of(scores, mapped, alike.trials)
    outcome = pairs.outcome

    def happened() -> Floats:
        return as_happened(outcome, pairs.before, pairs.after[0], alike.means)

    logs = log_gains(scores, mapped, happened)
    inside, at_scores = problem.inside(scores), problem.curves_at(scores)
    curves = mixture.smooth_curves()
    after = calibration_mixture(pairs.tables_after[0], prior, seed)
    counts = (
        Counts.of(mixture, inside, draws, seed, "before"),
        Counts.of(after, updated.inside(table.score_after), draws, seed, "after"),
    )
    gains = []
    for part, population in draw_population(
        *("bootstrap", table.before, table.trials, draws, problem.rng("population")),
        bootstrap=alike.of_clusters(pairs.clusters),
    ):
        drawn, weight = at_scores.probability(curves[part]), population.weight
        terms = curve_terms(drawn, weight, table.before, table.after, table.group, logs, thresholds)
        terms["tce"] = table.fall(drawn, weight, counts, part)
        gains.append(terms)
    infinite = infinite_log_gain(outcome, pairs.before, pairs.after)
    terms = with_infinite_log_gain(joined(gains), infinite)
    return Posterior(terms, mixture, (after,), exact_sides(counts))


@dataclass(frozen=True)
class MappedRows:
    """Distinct scores before, in rows; those with equal scores after form a group."""

    before: Floats
    after: Floats
    group: NDArray[np.intp]
    trials: Floats

    @classmethod
    def of(cls, before: Floats, after: Floats, trials: Floats) -> MappedRows:
        """Rows with these scores and as many cases."""
        return cls(before, after, levels_of(after).row, trials)

    @property
    def score_after(self) -> Floats:
        """The score after of each group."""
        score = np.zeros(int(self.group.max()) + 1)
        score[self.group] = self.after
        return score

    def fall(
        self, curve: Floats, weight: Floats, counts: tuple[Counts, Counts], part: slice
    ) -> Floats:
        """A block of draws of the fall in TCE, with errors as far as they count on either side.

        Where one side is exactly calibrated, the curve is the score of that side. No map changes
        the error by more than it moves the scores; one that merges scores may lower it by more.
        """
        exact = counts[0].exact[part], counts[1].exact[part]
        curve = curve.copy()
        curve[exact[1]] = self.after
        curve[exact[0]] = self.before
        known = exact[0] | exact[1]
        mass, hits, score = merged(curve, weight, self.after, self.group)
        before = counts[0].counted(curve - self.before, part, known)
        after = counts[1].counted(hits - mass * score, part, known)
        moved = mean(weight, np.abs(self.before - self.after))
        fall = mean(weight, np.abs(before)) - np.abs(after).sum(axis=1)
        merges = score.size < self.before.size
        return np.asarray(np.clip(fall, -moved, np.inf if merges else moved))


def exact_sides(counts: tuple[Counts, Counts]) -> NDArray[np.intp]:
    """Which side is exactly calibrated in each draw: 0 neither, 1 before, 2 after."""
    return np.where(counts[0].exact, 1, np.where(counts[1].exact, 2, 0))


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
    names = in_order(smooth_families())
    curve = average_of(names)
    problem = prepare(data, curve=curve, prior=prior, random_state=seed)
    return Mixture(FamilySamples(problem, names, draws), prior_probabilities(names))
