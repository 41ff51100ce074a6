"""Kinds of populations that the averaged posterior is judged on: curves and scores drawn at random.

Each kind is a way in which predictions go wrong, and gives a population for each random number
generator. The kinds, and their constants, were written down before the averaged posterior with
one distribution for each distance was run on any of them; nothing was chosen on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax
from scipy.stats import norm

from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from truths import on_log_odds

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class TwoGroups:
    """Scores of two groups of patients, each with normal log-odds."""

    share: float
    means: tuple[float, float]
    sds: tuple[float, float]

    def draw(self, n, random_state=None):
        rng = np.random.default_rng(random_state)
        group = (rng.random(n) < self.share).astype(int)
        return expit(rng.normal(np.take(self.means, group), np.take(self.sds, group)))

    def quantiles(self, lower, upper):
        ends = [
            m + side * 9 * s for m, s in zip(self.means, self.sds, strict=True) for side in (-1, 1)
        ]
        x = np.linspace(min(ends), max(ends), 8001)
        parts = [norm(m, s) for m, s in zip(self.means, self.sds, strict=True)]
        shares = (1 - self.share, self.share)
        below = sum(share * part.cdf(x) for share, part in zip(shares, parts, strict=True))
        above = sum(share * part.sf(x) for share, part in zip(shares, parts, strict=True))
        at = np.where(
            lower < 0.5, np.interp(lower, below, x), np.interp(upper, above[::-1], x[::-1])
        )
        return expit(at), expit(-at)


@dataclass(frozen=True)
class MappedScores:
    """Scores that are an increasing function of other scores."""

    law: Any
    function: Callable[[Any], Any]

    def draw(self, n, random_state=None):
        return self.function(self.law.draw(n, random_state))

    def quantiles(self, lower, upper):
        s = self.function(self.law.quantiles(lower, upper)[0])
        return s, 1 - s


def whole_percent(s):
    return np.clip(np.round(s, 2), 0.01, 0.99)


def over_normal(centre, sd):
    """Log-odds of the mean of expit(centre + sd * z), z standard normal, at each centre."""
    return logit(expit(np.asarray(centre)[..., None] + sd * NODES) @ WEIGHTS)


def of_predictors(name: str, description: str, true, model, covariance) -> Truth:
    """Scores of a logistic model on normal predictors; another logistic model is true.

    `true` and `model` are an intercept and a coefficient for each predictor.
    """
    true, model, covariance = (np.asarray(part, float) for part in (true, model, covariance))
    variance = model[1:] @ covariance @ model[1:]
    slope = true[1:] @ covariance @ model[1:] / variance
    rest = max(true[1:] @ covariance @ true[1:] - slope**2 * variance, 0.0)
    return Truth(
        name,
        description,
        LogitNormalScores(float(model[0]), float(np.sqrt(variance))),
        on_log_odds(lambda x: over_normal(true[0] + slope * (x - model[0]), np.sqrt(rest))),
    )


def scores(rng):
    """A law of scores: mostly normal log-odds, also Beta, two groups, or whole percents."""
    normal = LogitNormalScores(rng.uniform(-2.6, 0.4), rng.uniform(0.6, 1.5))
    mean, concentration = rng.uniform(0.08, 0.6), np.exp(rng.uniform(np.log(2), np.log(20)))
    apart = rng.uniform(0.8, 2.5)
    groups = TwoGroups(
        rng.uniform(0.1, 0.5),
        (normal.mean, normal.mean + apart),
        (0.7 * normal.sd, rng.uniform(0.4, 1.0)),
    )
    beta = BetaScores(mean * concentration, (1 - mean) * concentration)
    laws = (normal, beta, groups, MappedScores(normal, whole_percent))
    return laws[rng.choice(4, p=[0.55, 0.2, 0.15, 0.1])]


def log_odds_at(law, level):
    """Log-odds of the scores at a level of their law."""
    level = np.atleast_1d(level)
    return logit(np.clip(law.quantiles(level, 1 - level)[0], 1e-9, 1 - 1e-9))


def middle_and_spread(law) -> tuple[float, float]:
    low, middle, high = log_odds_at(law, np.array([0.16, 0.5, 0.84]))
    return float(middle), float(max((high - low) / 2, 0.1))


def development(rng) -> Truth:
    """A logistic model fitted to 150 to 5000 other patients, with 3 to 12 predictors."""
    count = int(rng.integers(3, 13))
    coefficients = rng.standard_normal(count)
    coefficients *= rng.uniform(0.6, 1.5) / np.linalg.norm(coefficients)
    intercept = rng.uniform(-2.6, 0.2)
    patients = np.exp(rng.uniform(np.log(150), np.log(5000)))
    error = 1 / np.sqrt(patients * expit(intercept) * expit(-intercept))
    model = np.r_[intercept, coefficients] + error * rng.standard_normal(count + 1)
    true = np.r_[intercept + rng.normal(0, 0.15), coefficients]
    return of_predictors("development", "overfitted", true, model, np.eye(count))


def case_mix(rng) -> Truth:
    """Three groups of patients that the model does not know, unevenly spread over the scores."""
    law = scores(rng)
    middle, spread = middle_and_spread(law)
    share, lean = rng.normal(0, 0.5, 3), rng.normal(0, 0.6, 3)
    offset = rng.normal(0, 0.7, 3)
    if rng.random() < 0.6:
        offset -= softmax(share) @ offset

    def curve(x):
        weight = softmax(share + lean * ((x - middle) / spread)[:, None], axis=1)
        return logit((weight * expit(x[:, None] + offset)).sum(axis=1))

    return Truth("case mix", "unknown groups", law, on_log_odds(curve))


def waves(rng) -> Truth:
    """A smooth error on the log-odds: four waves of random length and height."""
    law = scores(rng)
    middle, spread = middle_and_spread(law)
    height = rng.lognormal(np.log(0.18), 0.7) * rng.standard_normal(4) / np.sqrt(2)
    length, phase = rng.uniform(0.4, 3, 4), rng.uniform(0, 2 * np.pi, 4)

    def curve(x):
        z = ((x - middle) / spread)[:, None]
        return x + np.sin(length * z + phase) @ height

    return Truth("waves", "smooth error", law, on_log_odds(curve))


def stretches(rng) -> Truth:
    """Exactly calibrated but on one or two stretches of the scores; sometimes everywhere."""
    law = scores(rng)
    parts = []
    for _ in range(0 if rng.random() < 0.15 else int(rng.integers(1, 3))):
        start, width = rng.uniform(0, 0.9), rng.uniform(0.08, 0.5)
        levels = np.clip(start + width * np.array([0, 0.5, 1]), 1e-4, 1 - 1e-4)
        parts.append((log_odds_at(law, levels), int(rng.integers(3)), rng.normal(0, 0.6)))

    def curve(x):
        result = x.copy()
        for (low, middle, high), form, size in parts:
            shift, plateau = x + size, np.full_like(x, middle + size / 4)
            line = middle + np.exp(size) * (x - middle)
            inside = (x >= low) & (x <= high)
            result = np.where(inside, (shift, plateau, line)[form], result)
        return result

    return Truth("stretches", "wrong on stretches", law, on_log_odds(curve))


def treatment(rng) -> Truth:
    """Patients above a score are treated, which lowers their odds; the rest may be off, too."""
    law = scores(rng)
    (threshold,) = log_odds_at(law, rng.uniform(0.4, 0.95))
    effect = -abs(rng.normal(0, 0.6)) if rng.random() < 0.9 else 0.0
    shift = rng.uniform(0, 0.2) if rng.random() < 0.5 else 0.0
    sharpness = rng.choice([3.0, 30.0])

    def curve(x):
        return x + shift + effect * expit(np.clip(sharpness * (x - threshold), -50, 50))

    return Truth("treatment", "treated above a score", law, on_log_odds(curve))


def labels(rng) -> Truth:
    """Events that are missed and events that are none; scores may be massed near 0 and 1."""
    law = BetaScores(*rng.uniform(0.3, 1.2, 2)) if rng.random() < 0.5 else scores(rng)
    false, missed = rng.exponential(0.015), rng.exponential(0.03)
    slope = np.exp(rng.normal(-0.05, 0.15))

    def curve(x):
        return logit(np.clip(false + (1 - false - missed) * expit(slope * x), 1e-9, 1 - 1e-9))

    return Truth("labels", "outcomes recorded wrongly", law, on_log_odds(curve))


def updated(rng) -> Truth:
    """A model that was just recalibrated: exactly calibrated in one half, a small error else."""
    law = scores(rng)
    middle, spread = middle_and_spread(law)
    size = 0.0 if rng.random() < 0.5 else 1.0
    shift, bend = size * rng.normal(0, 0.12), size * rng.normal(0, 0.05)
    slope = np.exp(size * rng.normal(0, 0.1))

    def curve(x):
        z = (x - middle) / spread
        return middle + shift + slope * (x - middle) + bend * (np.minimum(z**2, 9) - 1)

    return Truth("updated", "half of them exact", law, on_log_odds(curve))


def transport(rng) -> Truth:
    """A published model elsewhere: shift with heavy tails, slope below 1, asymmetry."""
    law = scores(rng)
    middle, _ = middle_and_spread(law)
    if rng.random() < 0.1:
        return Truth("transport", "exact", law, on_log_odds(lambda x: x))
    shift, slope = 0.25 * rng.standard_t(3), np.exp(rng.normal(-0.12, 0.2))
    asymmetry = rng.normal(0, 0.35)
    alpha, beta = slope * np.exp(asymmetry / 2), slope * np.exp(-asymmetry / 2)
    at, against = np.log(expit(middle)), np.log(expit(-middle))

    def log_odds(log_s, log_q):
        return middle + shift + alpha * (log_s - at) - beta * (log_q - against)

    return Truth("transport", "elsewhere", law, log_odds)


KINDS = (development, case_mix, waves, stretches, treatment, labels, updated, transport)


def drawn(kind, n: int, run: int, seed: int) -> tuple[Truth, np.random.Generator]:
    """A population of a kind, and the source of its patients."""
    rng = np.random.default_rng([seed, n, run, *kind.__name__.encode()])
    return kind(rng), rng
