"""When `after` is no map of `before`: the Bayesian bootstrap of the triples themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.decision import net_benefit
from bayescal.gain._curve_route import Posterior, inside, joined
from bayescal.gain._readings import Readings, known_side, signed_distance
from bayescal.gain._refit import Refit
from bayescal.gain._terms import Terms, divergence, log_score, mean, net_benefit_name, treated
from bayescal.gain.triples import Triples
from bayescal.model.priors import Prior
from bayescal.posterior.population import draw_population

__all__ = ["by_pairs"]

PILOT = 400


def by_pairs(
    triples: Triples, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from weights of the cases, the same on both sides.

    Scores and net benefit are averages over the weighted cases. The calibration error of each side
    is that of a beta curve fitted again to each weighting (the weighted likelihood bootstrap of
    Newton & Raftery, 1994), so that the two errors of a draw share everything but the scores.

    Parameters
    ----------
    triples : Triples
        With several rows in `after`, gains are averaged over them within each draw.
    thresholds : sequence of float
    prior : Prior
    draws, seed : int

    Returns
    -------
    Posterior
    """
    before = _Side(triples, triples.before, prior)
    after = [_Side(triples, row, prior) for row in triples.after]
    for weight in _weightings(triples.weight, PILOT, np.random.default_rng([seed, *b"pilot"])):
        for side in (before, *after):
            side.look(weight)
    blocks: list[Terms] = []
    ends: list[Terms] = []
    for weight in _weightings(triples.weight, draws, np.random.default_rng([seed, *b"pairs"])):
        first = before.terms(weight, thresholds)
        second = _average([side.terms(weight, thresholds) for side in after])
        blocks.append({name: second[name] - values for name, values in first.items()})
        unlimited = np.full(weight.shape[0], np.inf)
        ends.append(
            {
                "low": first["signed"] + second["tce"],
                "high": -first["tce"] - second["signed"],
                "least": -unlimited,
                "most": unlimited,
            }
        )
    gains = joined(blocks)
    del gains["signed"]
    for score, name in (("brier", "brier"), ("log", "log_score")):
        gains[f"{score}_refinement"] = gains[name] - gains[f"{score}_calibration"]
    estimate = before.error - float(np.mean([side.error for side in after]))
    return Posterior(gains, Readings(**joined(ends), estimate=estimate))


def _weightings(cases: Floats, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draws of the population of cases, of shape (block, n), a block at a time."""
    for part, population in draw_population("bootstrap", cases, cases, draws, rng):
        yield np.broadcast_to(population.weight, (part.stop - part.start, cases.size))


def _average(repeats: Sequence[Terms]) -> Terms:
    return {name: np.mean([terms[name] for terms in repeats], axis=0) for name in repeats[0]}


class _Side:
    """One set of predictions: what they are worth, and their curve, under any weights."""

    def __init__(self, triples: Triples, score: Floats, prior: Prior) -> None:
        self.outcome = triples.outcome
        self.score = inside(score).inside(score)
        self.total = float(triples.weight.sum())
        self.share = triples.weight / self.total
        self.refit = Refit(triples.outcome, score, triples.weight, prior)
        self.above, self.sum = np.zeros(score.size), np.zeros(score.size)

    def look(self, weight: Floats) -> None:
        """Count, in a block of pilot draws, where the curve is above the score."""
        curve = self.refit.curves(self.total * weight)
        self.above += (curve > self.score).sum(axis=0)
        self.sum += curve.sum(axis=0)

    @property
    def error(self) -> float:
        """Distance of the mean curve of the pilot draws."""
        return float(self.share @ np.abs(self.sum / PILOT - self.score))

    def terms(self, weight: Floats, thresholds: Sequence[float]) -> Terms:
        """Larger is better: minus the loss, minus the error; and the signed error itself."""
        curve = self.refit.curves(self.total * weight)
        values = {
            "tce": -mean(weight, np.abs(curve - self.score)),
            "signed": signed_distance(weight, known_side(self.above / PILOT), curve - self.score),
            "brier": -weight @ (self.score - self.outcome) ** 2,
            "log_score": weight @ log_score(self.outcome, self.score),
            "brier_calibration": -mean(weight, (curve - self.score) ** 2),
            "log_calibration": -mean(weight, divergence(curve, self.score)),
        }
        for threshold in thresholds:
            worth = net_benefit(self.outcome, 1.0, threshold)
            values[net_benefit_name(threshold)] = weight @ (worth * treated(self.score, threshold))
        return values
