"""Intervals of several averages over the same fits, so that priors over families cost nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from bayescal._validate import Floats
from bayescal.comparison.averaging import posterior_probabilities
from bayescal.comparison.ladder import AVERAGED, prior_weights, sample_family
from bayescal.curves import AVERAGE, CURVES
from bayescal.data import CalibrationData
from bayescal.functionals import CurveDraws, tce
from bayescal.population import draw_population
from bayescal.priors import as_prior
from bayescal.settings import Settings

__all__ = ["WEIGHTINGS", "ladder_intervals"]

DRAWS = 1000
WEIGHTINGS = {"average": prior_weights(AVERAGED)} | {
    name: {name: 1.0} for name in AVERAGED if name != "identity"
}
"""The default average, and each of its families alone."""


def ladder_intervals(
    data: CalibrationData,
    rng: np.random.Generator,
    ci_prob: float,
    *,
    weightings: Mapping[str, Mapping[str, float]] = WEIGHTINGS,
    draws: int = DRAWS,
) -> dict[str, tuple[float, float]]:
    """Intervals of TCE under several prior weights of the families, from one fit of each.

    Parameters
    ----------
    data : CalibrationData
    rng : numpy.random.Generator
    ci_prob : float
    weightings : mapping of str to mapping
        Prior probabilities of the families, by a name for them.
    draws : int
        Of each family.

    Returns
    -------
    dict of str to (float, float)
        The hull where `identity` has some weight, equal-tailed intervals elsewhere.
    """
    settings = Settings.at_fit(data, AVERAGE, as_prior("neutral"), random_state=rng)
    wanted = {name for weights in weightings.values() for name in weights if weights[name] > 0}
    names = [name for name in CURVES if name in wanted]
    samples = {name: sample_family(settings, data, name, draws) for name in names}
    score = settings.edges.inside(data.score)
    trials = data.trials * data.weight_scale
    error = {name: np.zeros(draws) for name in names}
    curves = [name for name in names if name != "identity"]
    for part, population in draw_population(
        "bootstrap", score, trials, draws, settings.rng("population")
    ):
        for name in curves:
            points = samples[name].draws[part]
            curve = CURVES[name].probability(points, population.score, settings.frame)
            error[name][part] = tce(CurveDraws(curve, population))
    evidence = {name: samples[name].log_evidence for name in names}
    return {
        key: _hull(error, posterior_probabilities(evidence, _complete(names, weights)), ci_prob)
        for key, weights in weightings.items()
    }


def _complete(names: list[str], weights: Mapping[str, float]) -> dict[str, float]:
    return {name: weights.get(name, 0.0) for name in names}


def _hull(
    error: Mapping[str, Floats], probability: Mapping[str, float], ci_prob: float
) -> tuple[float, float]:
    """As `CalibrationPosterior.interval`, from every family's draws and its probability."""
    tail = (1 - ci_prob) / 2
    curved = [name for name in error if name != "identity" and probability[name] > 0]
    values = np.concatenate([error[name] for name in curved])
    weight = np.concatenate([np.full(error[name].size, probability[name]) for name in curved])
    weight /= weight.sum()
    quantile = partial(np.quantile, values, weights=weight, method="inverted_cdf")
    atom = probability.get("identity", 0.0)
    lower = 0.0 if atom >= tail else float(quantile((tail - atom) / (1 - atom)))
    return lower, float(quantile(1 - tail))
