"""When `after` is no map of `before`: the Bayesian bootstrap of the triples themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal._validate import Floats
from bayescal.comparison.averaging import posterior_probabilities
from bayescal.comparison.ladder import AVERAGED, prior_weights, sample_family
from bayescal.curves import AVERAGE
from bayescal.data import CalibrationData
from bayescal.gain._curve_route import Posterior, inside, joined
from bayescal.gain._refit import Refit
from bayescal.gain._terms import Terms, divergence, log_score, mean, net_benefit_name, treated
from bayescal.gain._triples import Triples
from bayescal.population import draw_population
from bayescal.priors import Prior
from bayescal.settings import Settings

__all__ = ["by_pairs"]

DRAWS = 1000


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
        Its atoms are those of either side by itself: that `before`, or `after`, is exactly
        calibrated.
    """
    before = _Side(triples, triples.before, prior)
    after = [_Side(triples, row, prior) for row in triples.after]
    rng = np.random.default_rng([seed, *b"pairs"])
    blocks: list[Terms] = []
    errors: list[Terms] = []
    for part, population in draw_population("bootstrap", before.score, triples.weight, draws, rng):
        weight = np.broadcast_to(population.weight, (part.stop - part.start, before.score.size))
        first = before.terms(weight, thresholds)
        others = [side.terms(weight, thresholds) for side in after]
        second = {name: np.mean([other[name] for other in others], axis=0) for name in first}
        blocks.append({name: second[name] - values for name, values in first.items()})
        errors.append({"before": -first["tce"], "after": -second["tce"]})
    found = joined(blocks)
    for score in ("brier", "log"):
        whole = found["brier" if score == "brier" else "log_score"]
        found[f"{score}_refinement"] = whole - found[f"{score}_calibration"]
    error = joined(errors)
    exact_before = before.prob_calibrated(seed)
    exact_after = float(np.mean([side.prob_calibrated(seed) for side in after]))
    atoms = {
        "before": (exact_before * (1 - exact_after), {"tce": -error["after"]}),
        "after": (exact_after * (1 - exact_before), {"tce": error["before"]}),
        "both": (exact_before * exact_after, {"tce": np.zeros(draws)}),
    }
    return Posterior(found, atoms, float("nan"))


class _Side:
    """One set of predictions: what they are worth, and their curve, under any weights."""

    def __init__(self, triples: Triples, score: Floats, prior: Prior) -> None:
        self.outcome = triples.outcome
        self.score = inside(score).inside(score)
        self.total = float(triples.weight.sum())
        self.data = CalibrationData(
            triples.outcome, score, triples.weight, weight_type=triples.weight_type
        )
        self.prior = prior
        self.refit = Refit(triples.outcome, score, triples.weight, prior)

    def terms(self, weight: Floats, thresholds: Sequence[float]) -> Terms:
        """Larger is better: minus the loss, minus the error."""
        curve = self.refit.curves(self.total * weight)
        found = {
            "tce": -mean(weight, np.abs(curve - self.score)),
            "brier": -weight @ (self.score - self.outcome) ** 2,
            "log_score": weight @ log_score(self.outcome, self.score),
            "brier_calibration": -mean(weight, (curve - self.score) ** 2),
            "log_calibration": -mean(weight, divergence(curve, self.score)),
        }
        for threshold in thresholds:
            worth = self.outcome - (1 - self.outcome) * threshold / (1 - threshold)
            found[net_benefit_name(threshold)] = weight @ (worth * treated(self.score, threshold))
        return found

    def prob_calibrated(self, seed: int) -> float:
        """Posterior probability that these predictions are exactly calibrated."""
        settings = Settings.at_fit(self.data, AVERAGE, self.prior, random_state=seed)
        evidence = {
            name: sample_family(settings, self.data, name, DRAWS).log_evidence for name in AVERAGED
        }
        return posterior_probabilities(evidence, prior_weights(AVERAGED))["identity"]
