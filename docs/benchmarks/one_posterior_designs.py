"""Clusters, imputations and sampling weights that the averaged posterior is judged on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bayescal.validation.simulate import LogitNormalScores, Truth
from imputation_coverage import imputed
from one_posterior_kinds import MappedScores, of_predictors, over_normal
from truths import on_log_odds

SCORE_SD = 0.4
"""Standard deviation between clusters of the mean log-odds of their patients."""


@dataclass(frozen=True)
class Design:
    """A population, and how a study of it gives the arguments of `bayescal.compare`."""

    group: str
    name: str
    truth: Truth
    sample: Callable[[np.random.Generator], dict[str, Any]]


def clusters(name, count, size, effect, centre, spread, line=None) -> Design:
    """Clusters with normal effects on the log-odds; without a line the scores are calibrated."""
    shift, slope = line or (0.0, 1.0)

    def marginal(x):
        return over_normal(centre + shift + slope * (x - centre), effect)

    law = LogitNormalScores(centre, spread)
    if line is None:
        law = MappedScores(law, lambda s: expit(marginal(logit(s))))
    curve = (lambda x: x) if line is None else marginal

    def sample(rng):
        cluster = np.repeat(np.arange(count), size)
        within = np.sqrt(spread**2 - SCORE_SD**2) * rng.standard_normal(cluster.size)
        x = centre + SCORE_SD * rng.standard_normal(count)[cluster] + within
        effects = effect * rng.standard_normal(count)[cluster]
        risk = expit(centre + shift + slope * (x - centre) + effects)
        y = (rng.random(cluster.size) < risk).astype(int)
        score = expit(marginal(x) if line is None else x)
        return {"y_true": y, "y_prob": score, "cluster": cluster}

    words = f"{count} clusters of {size}, effects with standard deviation {effect:g}"
    return Design("clusters", name, Truth(name, words, law, on_log_odds(curve)), sample)


def imputations(name, n, count, correlation, true, model, chance) -> Design:
    """The second of two predictors is missing, given the first and the outcome."""
    covariance = np.array([[1, correlation], [correlation, 1]])
    truth = of_predictors(name, f"n = {n}, {count} imputations", true, model, covariance)

    def sample(rng):
        x1, x2 = np.linalg.cholesky(covariance) @ rng.standard_normal((2, n))
        y = (rng.random(n) < expit(true @ np.array([np.ones(n), x1, x2]))).astype(int)
        missing = rng.random(n) < expit(chance @ np.array([np.ones(n), x1, y]))
        filled = imputed(y, x1, np.where(missing, 0.0, x2), missing, rng, count)
        return {"y_true": y, "imputations": expit(model[0] + model[1] * x1 + model[2] * filled)}

    return Design("imputations", name, truth, sample)


def weights(name, n, law, curve, chance) -> Design:
    """Patients take part with a chance that depends on outcome and score."""
    truth = Truth(name, f"{n} patients", law, on_log_odds(curve))

    def sample(rng):
        y, s = truth.sample(40 * n, rng)
        included = chance(y, s)
        rows = np.flatnonzero(rng.random(y.size) < included)[:n]
        assert rows.size == n
        weight = 1 / included[rows]
        return {
            "y_true": y[rows],
            "y_prob": s[rows],
            "sample_weight": weight,
            "weight_type": "sampling",
        }

    return Design("weights", name, truth, sample)


def by_outcome(y, s):
    return np.where(y == 1, 0.5, 0.1)


def by_risk(y, s):
    return 0.08 + 0.6 * s


DESIGNS = (
    clusters("40 clusters of 30", 40, 30, 0.35, -1.2, 1.1, (0.25, 0.85)),
    clusters("15 clusters of 80", 15, 80, 0.45, -0.5, 1.2, (-0.1, 0.7)),
    clusters("120 clusters of 10", 120, 10, 0.6, -1.8, 0.9, (-0.35, 1.1)),
    clusters("calibrated, 30 clusters of 40", 30, 40, 0.4, -1.0, 1.0),
    clusters("calibrated, 15 clusters of 200", 15, 200, 0.3, -1.5, 1.2),
    imputations(
        "5 imputations, too extreme", 800, 5, 0.4,
        np.array([-1.0, 0.6, 0.6]), np.array([-0.9, 0.8, 1.0]), np.array([-1.6, 0.8, 0.8]),
    ),
    imputations(
        "3 imputations, too high", 2000, 3, -0.3,
        np.array([-1.5, 0.5, 0.9]), np.array([-1.3, 0.6, 0.8]), np.array([-1.2, 0.6, -0.5]),
    ),
    imputations(
        "calibrated, 5 imputations", 800, 5, 0.2,
        np.array([-0.8, 0.7, 0.8]), np.array([-0.8, 0.7, 0.8]), np.array([-1.6, 0.8, 0.8]),
    ),
    weights(
        "events oversampled, too low", 900, LogitNormalScores(-1.8, 1.0),
        lambda x: x + 0.35, by_outcome,
    ),
    weights(
        "high risks oversampled, too extreme", 600, LogitNormalScores(-1.0, 1.3),
        lambda x: 0.7 * x - 0.2, by_risk,
    ),
    weights(
        "calibrated, events oversampled", 600, LogitNormalScores(-1.5, 1.0),
        lambda x: x, by_outcome,
    ),
    weights(
        "calibrated, high risks oversampled", 1500, LogitNormalScores(-1.2, 1.1),
        lambda x: x, by_risk,
    ),
)  # fmt: skip
