"""Intervals of several averages over the same fits, so that priors over families cost nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal._hull import hull
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
    evidence = {name: samples[name].log_evidence for name in names}
    posterior = {
        key: posterior_probabilities(evidence, {name: weights.get(name, 0.0) for name in names})
        for key, weights in weightings.items()
    }
    score = settings.edges.inside(data.score)
    trials = data.trials * data.weight_scale
    curves = {
        name: CURVES[name].probability(samples[name].draws, score, settings.frame)
        for name in names
        if name != "identity"
    }
    means = {key: _mean_curve(curves, probability) for key, probability in posterior.items()}
    error = {name: np.empty(draws) for name in curves}
    of_mean = {key: np.empty(draws) for key in means}
    for part, population in draw_population(
        "bootstrap", score, trials, draws, settings.rng("population")
    ):
        for name, curve in curves.items():
            error[name][part] = tce(CurveDraws(curve[part], population))
        for key, mean in means.items():
            repeated = np.broadcast_to(mean, population.weight.shape)
            of_mean[key][part] = tce(CurveDraws(repeated, population))
    return {
        key: _interval(error, of_mean[key], probability, ci_prob)
        for key, probability in posterior.items()
    }


def _mean_curve(curves: Mapping[str, Floats], probability: Mapping[str, float]) -> Floats:
    means = [curve.mean(axis=0) for curve in curves.values()]
    return np.average(means, axis=0, weights=[probability[name] for name in curves])


def _interval(
    error: Mapping[str, Floats],
    of_mean: Floats,
    probability: Mapping[str, float],
    ci_prob: float,
) -> tuple[float, float]:
    """As `CalibrationPosterior.interval`, from every family's draws and its probability."""
    curved = [name for name in error if probability[name] > 0]
    values = np.concatenate([error[name] for name in curved])
    weight = np.repeat([probability[name] for name in curved], of_mean.size)
    weight /= weight.sum()
    if "identity" in probability and probability["identity"] > 0:
        of_mean = np.tile(of_mean, len(curved))
        return hull(values, of_mean, probability["identity"], ci_prob, weight)
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail], weights=weight, method="inverted_cdf")
    return float(lower), float(upper)
