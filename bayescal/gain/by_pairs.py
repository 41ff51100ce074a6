"""When `after` is no map of `before`: the Bayesian bootstrap of the paired predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.sampling import resample
from bayescal.core.versions import one_blas_thread
from bayescal.data.table import CalibrationData
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
from bayescal.gain.by_curve import Posterior, calibration_mixture, joined
from bayescal.gain.paired import Alike, PairedPredictions, of_neighbours
from bayescal.gain.refit import Refit
from bayescal.inference.averaging import Mixture
from bayescal.inference.density import CurveDensity
from bayescal.model.curves import CURVES
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.posterior.intervals import among_few
from bayescal.posterior.population import ClusterBootstrap, draw_population

__all__ = ["by_pairs", "refit_of"]

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
        problem, self.refit = refit_of(table, prior)
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
        return mass, self.refit.curves(self.refit.modes(cases * mass, cases * events))


def refit_of(data: CalibrationData, prior: Prior) -> tuple[Problem, Refit]:
    """The problem of some cases, and its beta curve, which is fitted again to their weightings.

    Searches start where the curve of the cases themselves is most probable.
    """
    problem = prepare(data, curve=FAMILY, prior=prior, random_state=0)
    offset, basis = FAMILY.basis(problem.score, problem.frame)
    start = CurveDensity(problem).mode().point
    return problem, Refit(FAMILY, prior, offset[None], basis[None], start)
