"""When `after` is a map of `before`: one posterior of the curve gives every term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayescal._validate import Floats
from bayescal.comparison.averaging import mix_families, posterior_probabilities
from bayescal.comparison.ladder import sample_family
from bayescal.curves import AVERAGE
from bayescal.data import CalibrationData, Edges
from bayescal.gain._terms import Terms, curve_terms
from bayescal.gain._triples import Triples
from bayescal.population import draw_population
from bayescal.priors import Prior
from bayescal.settings import Settings

__all__ = ["Posterior", "by_curve", "inside", "joined"]

FAMILIES = ("logistic", "beta", "spline")
ATOM = 0.1  # prior probability that E[y | before] is `before` itself, and that it is `after`


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains.

    Attributes
    ----------
    draws : dict of ndarray of shape (draws,)
        When neither prediction is exactly calibrated.
    atoms : dict of str to (float, dict)
        Probability that "before", "after", or "both", is exactly calibrated, and the draws of at
        least "tce" if it is.
    pareto_k : float
        The largest of the fits; NaN when there was none.
    """

    draws: Terms
    atoms: dict[str, tuple[float, Terms]]
    pareto_k: float


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
    data = CalibrationData(
        triples.outcome, triples.before, triples.weight, weight_type=triples.weight_type
    )
    settings = Settings.at_fit(data, AVERAGE, prior, random_state=seed)
    samples = {name: sample_family(settings, data, name, draws) for name in FAMILIES}
    mixed, _ = mix_families(settings, samples, dict.fromkeys(FAMILIES, 1.0), draws)
    exact, first, row = np.unique(triples.before, return_index=True, return_inverse=True)
    mapped = triples.after[0, first]
    trials, hits = (
        np.bincount(row, values).astype(np.float64)
        for values in (triples.weight, triples.weight * triples.outcome)
    )
    before, after = settings.edges.inside(exact), inside(triples.after[0]).inside(mapped)
    group = np.unique(mapped, return_inverse=True)[1]
    blocks: list[dict[str, Terms]] = []
    for part, population in draw_population(
        "bootstrap", before, trials, draws, settings.rng("population")
    ):
        curves = {
            "curve": AVERAGE.probability(mixed.draws[part], before, settings.frame),
            "before": np.broadcast_to(before, population.weight.shape),
            "after": np.broadcast_to(after, population.weight.shape),
        }
        blocks.append(
            {
                name: curve_terms(curve, population.weight, before, after, group, thresholds)
                for name, curve in curves.items()
            }
        )
    evidence = {name: sample.log_evidence for name, sample in samples.items()}
    evidence |= {"before": _log_likelihood(hits, trials, before)}
    evidence |= {"after": _log_likelihood(hits, trials, after)}
    share = (1 - 2 * ATOM) / len(FAMILIES)
    prior_probability = dict.fromkeys(FAMILIES, share) | {"before": ATOM, "after": ATOM}
    probability = posterior_probabilities(evidence, prior_probability)
    return Posterior(
        joined([block["curve"] for block in blocks]),
        {
            name: (probability[name], joined([block[name] for block in blocks]))
            for name in ("before", "after")
        },
        mixed.pareto_k,
    )


def inside(score: Floats) -> Edges:
    """How scores of exactly 0 and 1 are read when an infinite loss would follow."""
    return CalibrationData(np.zeros(score.size), score).edges()


def joined(blocks: Sequence[Terms]) -> Terms:
    """Blocks of draws, one after the other."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _log_likelihood(hits: Floats, trials: Floats, curve: Floats) -> float:
    return float(hits @ np.log(curve) + (trials - hits) @ np.log1p(-curve))
