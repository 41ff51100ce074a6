"""When `after` is a map of `before`: one posterior of the curve gives every term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.clusters.clusters import Clusters
from bayescal.data.data import CalibrationData
from bayescal.data.table import levels_of
from bayescal.gain._readings import Readings, known_side, signed_distance
from bayescal.gain._terms import (
    Terms,
    curve_terms,
    infinite_log_gain,
    log_gains,
    log_score,
    mean,
    merged,
    with_infinite_log_gain,
)
from bayescal.gain.triples import Triples, of_equal_cells
from bayescal.inference.averaging import mix_families, posterior_probabilities
from bayescal.inference.ladder import in_order, prior_probabilities
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import average_of, smooth_families
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.population import draw_population

__all__ = ["Posterior", "by_curve", "calibration_samples", "joined", "prob_calibrated"]

Curve = Callable[[slice], Floats]


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains, over families that are not exact calibration.

    Attributes
    ----------
    draws : dict of ndarray of shape (draws,)
    readings : Readings
        For the interval and the estimate of the fall in TCE.
    before : FamilySamples or None
        The families fitted to the predictions before, where they were.
    """

    draws: Terms
    readings: Readings
    before: FamilySamples | None = None


def by_curve(
    triples: Triples, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from the curve E[y | before].

    Parameters
    ----------
    triples : Triples
        `after` must be a map of `before`.
    thresholds : sequence of float
    prior : Prior
    draws, seed : int

    Returns
    -------
    Posterior
    """
    samples = calibration_samples(triples.table_before, prior, draws, seed)
    families = smooth_families()
    problem = samples.problem.of_family(average_of(families))
    mixed, _ = mix_families(problem, samples, dict.fromkeys(families, 1.0), draws)
    updated = prepare(triples.tables_after[0], prior=prior, random_state=seed)
    alike = of_equal_cells(triples, problem, updated, thresholds)
    scores, mapped = alike.means(triples.before), alike.means(triples.after[0])
    table = _Table(scores, mapped, levels_of(mapped).row, alike.trials)
    outcome = triples.outcome
    happened = log_score(outcome, triples.after[0]) - log_score(outcome, triples.before)
    logs = log_gains(scores, mapped, alike.means(happened))
    at_scores = problem.curve.at_scores(problem.inside(scores), problem.frame)

    def curve(part: slice) -> Floats:
        return at_scores.probability(mixed.draws[part])

    sides = table.sides(curve, draws)
    gains, ends = [], []
    for part, population in draw_population(
        "bootstrap", table.before, table.trials, draws, problem.rng("population")
    ):
        drawn = curve(part)
        gains.append(
            curve_terms(
                drawn, population.weight, table.before, table.after, table.group, logs, thresholds
            )
        )
        ends.append(table.ends(drawn, population.weight, sides))
    readings = Readings(**joined(ends), estimate=sides.estimate)
    terms = joined(gains)
    infinite = infinite_log_gain(outcome, triples.before, triples.after)
    return Posterior(with_infinite_log_gain(terms, infinite), readings, samples)


@dataclass(frozen=True)
class _Sides:
    """Where the curve is known to be above (1) or below (-1) the score, and the estimate."""

    before: Floats
    after: Floats
    estimate: float


@dataclass(frozen=True)
class _Table:
    """Distinct scores before, in rows; those with equal scores after form a group."""

    before: Floats
    after: Floats
    group: NDArray[np.intp]
    trials: Floats

    def sides(self, curve: Curve, draws: int) -> _Sides:
        """Read off all draws of the curve, on the patients as they are."""
        above: list[Floats] = [np.zeros(self.before.size), np.zeros(int(self.group.max()) + 1)]
        total = np.zeros(self.before.size)
        rng = np.random.default_rng(0)  # nothing is drawn of this population
        for part, population in draw_population("sample", self.before, self.trials, draws, rng):
            drawn = curve(part)
            weight = np.broadcast_to(population.weight, drawn.shape)
            mass, hits, score = merged(drawn, weight, self.after, self.group)
            above[0] += (drawn > self.before).sum(axis=0)
            above[1] += (hits > mass * score).sum(axis=0)
            total += drawn.sum(axis=0)
        middle = total[None] / draws
        weight = self.trials[None] / self.trials.sum()
        mass, hits, score = merged(middle, weight, self.after, self.group)
        estimate = mean(weight, np.abs(middle - self.before)) - np.abs(hits - mass * score).sum()
        before, after = (known_side(count / draws) for count in above)
        return _Sides(before, after, float(estimate[0]))

    def ends(self, curve: Floats, weight: Floats, sides: _Sides) -> Terms:
        """Draws for the ends of the interval of the fall in TCE; see `Readings`."""
        mass, hits, score = merged(curve, weight, self.after, self.group)
        one = np.ones_like(mass)
        error_before = mean(weight, np.abs(curve - self.before))
        error_after = np.abs(hits - mass * score).sum(axis=1)
        moved = mean(weight, np.abs(self.before - self.after))
        merges = score.size < self.before.size  # the error may then fall by more
        return {
            "low": signed_distance(weight, sides.before, curve - self.before) - error_after,
            "high": error_before - signed_distance(one, sides.after, hits - mass * score),
            "least": -moved,
            "most": np.full_like(moved, np.inf) if merges else moved,
        }


def joined(blocks: Sequence[Terms]) -> Terms:
    """Blocks of draws, one after the other."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def calibration_samples(
    data: CalibrationData,
    prior: Prior,
    draws: int,
    seed: int,
    clusters: Clusters | None = None,
) -> FamilySamples:
    """The smooth families, exact calibration and stretches, each drawn when it is asked for.

    Parameters
    ----------
    data : CalibrationData
    prior : Prior
    draws, seed : int
    clusters : Clusters, optional
        Of the cases of the table.

    Returns
    -------
    FamilySamples
    """
    names = in_order(smooth_families())
    curve = average_of(names)
    problem = prepare(data, curve=curve, prior=prior, random_state=seed, cluster=clusters)
    return FamilySamples(problem, names, draws)


def prob_calibrated(samples: FamilySamples) -> float:
    """Posterior probability of exact calibration, as in `compare` of the same families.

    Parameters
    ----------
    samples : FamilySamples

    Returns
    -------
    float
    """
    evidence = {name: sample.log_evidence for name, sample in samples.items()}
    return posterior_probabilities(evidence, prior_probabilities(list(samples)))["identity"]
