"""Populations with a known curve: kinds in which predictions go wrong, drawn at random.

Nothing in the package was chosen on these draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

import bayescal as bc

BetaScores, LogitNormalScores = bc.simulate.BetaScores, bc.simulate.LogitNormalScores
Truth = bc.simulate.Truth

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class WholePercent:
    """Scores that are rounded to whole percents."""

    law: Any

    def draw(self, n, random_state=None):
        return np.clip(np.round(self.law.draw(n, random_state), 2), 0.01, 0.99)

    def quantiles(self, lower, upper):
        s = np.clip(np.round(self.law.quantiles(lower, upper)[0], 2), 0.01, 0.99)
        return s, 1 - s


def of_log_odds(name: str, law: Any, curve: Any) -> Truth:
    """A population whose curve is given as log-odds of the event at log-odds of the score."""
    return Truth(name, name, law, lambda log_s, log_q: curve(log_s - log_q))


def scores(rng: np.random.Generator) -> Any:
    """A law of scores: mostly normal log-odds, also Beta or whole percents."""
    normal = LogitNormalScores(rng.uniform(-2.6, 0.4), rng.uniform(0.6, 1.5))
    mean, size = rng.uniform(0.08, 0.6), np.exp(rng.uniform(np.log(2), np.log(20)))
    laws = (normal, BetaScores(mean * size, (1 - mean) * size), WholePercent(normal))
    return laws[rng.choice(3, p=[0.65, 0.2, 0.15])]


def middle_and_spread(law: Any) -> tuple[float, float]:
    level = np.array([0.16, 0.5, 0.84])
    low, middle, high = logit(np.clip(law.quantiles(level, 1 - level)[0], 1e-9, 1 - 1e-9))
    return float(middle), float(max((high - low) / 2, 0.1))


def calibrated(rng) -> Truth:
    """Exactly calibrated."""
    return of_log_odds("calibrated", scores(rng), lambda x: x)


def overfitted(rng) -> Truth:
    """A logistic model fitted to 150 to 5000 other patients, with 3 to 12 predictors."""
    count = int(rng.integers(3, 13))
    true = rng.standard_normal(count)
    true *= rng.uniform(0.6, 1.5) / np.linalg.norm(true)
    intercept = rng.uniform(-2.6, 0.2)
    patients = np.exp(rng.uniform(np.log(150), np.log(5000)))
    error = 1 / np.sqrt(patients * expit(intercept) * expit(-intercept))
    start, *model = np.r_[intercept, true] + error * rng.standard_normal(count + 1)
    variance, both = np.dot(model, model), true @ model
    rest = np.sqrt(max(true @ true - both**2 / variance, 0.0))
    slope, here = both / variance, intercept + rng.normal(0, 0.15)

    def curve(x):
        centre = here + slope * (x - start)
        return logit(expit(np.asarray(centre)[..., None] + rest * NODES) @ WEIGHTS)

    return of_log_odds("overfitted", LogitNormalScores(start, np.sqrt(variance)), curve)


def elsewhere(rng) -> Truth:
    """A published model in another place: a shift with heavy tails, a slope, asymmetry."""
    law = scores(rng)
    middle, _ = middle_and_spread(law)
    shift, slope = 0.25 * rng.standard_t(3), np.exp(rng.normal(-0.12, 0.2))
    asymmetry = rng.normal(0, 0.35)
    alpha, beta = slope * np.exp(asymmetry / 2), slope * np.exp(-asymmetry / 2)
    at, against = np.log(expit(middle)), np.log(expit(-middle))

    def log_odds(log_s, log_q):
        return middle + shift + alpha * (log_s - at) - beta * (log_q - against)

    return Truth("elsewhere", "elsewhere", law, log_odds)


def case_mix(rng) -> Truth:
    """Three groups of patients that the model does not know, unevenly spread over the scores."""
    law = scores(rng)
    middle, spread = middle_and_spread(law)
    share, lean, offset = rng.normal(0, 0.5, 3), rng.normal(0, 0.6, 3), rng.normal(0, 0.7, 3)

    def curve(x):
        weight = softmax(share + lean * ((x - middle) / spread)[:, None], axis=1)
        return logit((weight * expit(x[:, None] + offset)).sum(axis=1))

    return of_log_odds("case mix", law, curve)


def waves(rng) -> Truth:
    """A smooth error on the log-odds: four waves of random length and height."""
    law = scores(rng)
    middle, spread = middle_and_spread(law)
    height = rng.lognormal(np.log(0.18), 0.7) * rng.standard_normal(4) / np.sqrt(2)
    length, phase = rng.uniform(0.4, 3, 4), rng.uniform(0, 2 * np.pi, 4)

    def curve(x):
        z = ((x - middle) / spread)[:, None]
        return x + np.sin(length * z + phase) @ height

    return of_log_odds("waves", law, curve)


def threshold(rng) -> Truth:
    """Treated above a score, so that fewer of these have the event: the curve jumps."""
    law = scores(rng)
    level, effect = rng.uniform(0.4, 0.9), rng.uniform(0.2, 1.0)
    at = logit(law.quantiles(np.array([level]), np.array([1 - level]))[0][0])
    return of_log_odds("treated above a score", law, lambda x: x - effect * (x >= at))


def recorded(rng) -> Truth:
    """Events that are missed, and events that are none."""
    law = scores(rng)
    false, missed = rng.exponential(0.015), rng.exponential(0.03)
    return of_log_odds(
        "recorded wrongly", law, lambda x: logit(false + (1 - false - missed) * expit(x))
    )


KINDS = (calibrated, overfitted, elsewhere, case_mix, waves, threshold, recorded)


def drawn(kind: Any, n: int, run: int, seed: int) -> tuple[Truth, np.random.Generator]:
    """A population of a kind, and the source of its patients."""
    rng = np.random.default_rng([seed, n, run, *kind.__name__.encode()])
    return kind(rng), rng
