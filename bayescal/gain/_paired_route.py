"""When `after` is no map of `before`: the Bayesian bootstrap of the paired predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.versions import one_blas_thread
from bayescal.data.table import CalibrationData
from bayescal.gain._curve_route import Posterior, joined
from bayescal.gain._refit import Refit
from bayescal.gain._terms import (
    Terms,
    divergence,
    infinite_log_gain,
    log_score,
    mean,
    net_benefit_name,
    treated,
    with_infinite_log_gain,
)
from bayescal.gain.alike import Alike, of_neighbours
from bayescal.gain.paired import PairedPredictions
from bayescal.model.priors import Prior
from bayescal.posterior.intervals import among_few
from bayescal.posterior.population import ClusterBootstrap, draw_population

__all__ = ["by_pairs"]

AT_ONCE = 32
"""Draws whose curves are fitted together, at least."""


@one_blas_thread
def by_pairs(
    pairs: PairedPredictions, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from weights of the cases, the same on both sides.

    Scores and net benefit are averages over the weighted cases; of clusters, their draws are
    stretched as few of them ask (`ClusterBootstrap.stretch`). The calibration error of each side
    is that of a beta curve fitted again to each weighting (the weighted likelihood bootstrap of
    Newton & Raftery, 1994), so that the two errors of a draw share everything but the scores.

    Parameters
    ----------
    pairs : PairedPredictions
        With several rows in `after`, gains are averaged over them within each draw.
    """
    alike = of_neighbours(pairs, thresholds)
    law = alike.of_clusters(pairs.clusters)

    rng = np.random.default_rng([seed, *b"pairs"])
    before = _Side(pairs, alike, pairs.before, pairs.table_before, prior, thresholds)
    tables = zip(pairs.after, pairs.tables_after, strict=True)
    after = [_Side(pairs, alike, score, table, prior, thresholds) for score, table in tables]
    blocks: list[Terms] = []
    for weight in _weightings(alike.trials, law, draws, rng):
        first, second = before.terms(weight), _average([side.terms(weight) for side in after])
        blocks.append({name: second[name] - values for name, values in first.items()})
    gains = joined(blocks)
    worth = _average([side.worth for side in after])
    for name, values in before.worth.items():
        each, cases = alike.means(worth[name] - values), alike.trials
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
    return Posterior(with_infinite_log_gain(gains, infinite))


def _stretched(gains: Terms, stretch: dict[str, float]) -> Terms:
    """Draws from clusters, moved from their mean as few clusters ask; errors as the Brier score."""
    each = stretch | {"log_calibration": stretch["log_score"]}
    return {
        name: _moved(values, each.get(name, stretch["brier"])) for name, values in gains.items()
    }


def _moved(values: Floats, stretch: float) -> Floats:
    """Draws whose deviations from their mean are so many times as large."""
    centre = values.mean()
    return np.asarray(centre + stretch * (values - centre))


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
    ) -> None:
        self.refit = Refit(table, prior)
        problem = self.refit.problem
        self.score, self.share = problem.stated, problem.trials / problem.n
        self.total = float(pairs.weight.sum())
        outcome = pairs.outcome
        column = problem.rows_of(score[alike.one]) + self.share.size * outcome[alike.one]
        shape = (alike.trials.size, 2 * self.share.size)
        entries = (np.ones(shape[0]), (np.arange(shape[0]), column))
        self.member = sparse.csr_array(entries, shape=shape).T.tocsr()
        worth = {"brier": -((score - outcome) ** 2), "log_score": log_score(outcome, score)}
        for threshold in thresholds:
            benefit = net_benefit(outcome, 1.0, threshold) * treated(score, threshold)
            worth[net_benefit_name(threshold)] = benefit
        self.worth = {name: alike.means(values) for name, values in worth.items()}

    def terms(self, weight: Floats) -> Terms:
        """Of a block of draws, larger is better: minus the loss, and minus the error."""
        mass, curve = self._refitted(weight)
        score = self.score
        return {
            "tce": -mean(mass, np.abs(curve - score)),
            "brier_calibration": -mean(mass, (curve - score) ** 2),
            "log_calibration": -mean(mass, divergence(curve, score)),
        } | {name: weight @ values for name, values in self.worth.items()}

    def _refitted(self, weight: Floats) -> tuple[Floats, Floats]:
        """Mass of every row of the problem, and the curve there, of shape (draws, rows)."""
        others, events = np.split((self.member @ weight.T).T, 2, axis=1)
        mass = others + events
        return mass, self.refit.curves(self.total * mass, self.total * events)
