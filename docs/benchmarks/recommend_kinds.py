"""Kinds of populations that recommended updates are judged on: curves and scores drawn at random.

The kinds, and their constants, were written down before any recommendation was made on them;
nothing was chosen on them. The method was chosen on those of `one_posterior_kinds.py`. The
calibrated populations have 20 % and 50 % events.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from one_posterior_kinds import MappedScores, TwoGroups
from truths import on_log_odds

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
EXACT = 0.15
"""Share of the populations of a kind that are calibrated, where some are."""


def scores(rng):
    """A law of scores: normal log-odds, Beta, or two groups; the mean risk is 5 to 70 %."""
    centre, spread = rng.uniform(-2.8, 0.8), rng.uniform(0.5, 1.7)
    mean, size = rng.uniform(0.06, 0.7), np.exp(rng.uniform(np.log(1.5), np.log(15)))
    laws = (
        LogitNormalScores(centre, spread),
        BetaScores(mean * size, (1 - mean) * size),
        TwoGroups(rng.uniform(0.2, 0.6), (centre - 0.8, centre + 0.8), (0.6 * spread, spread)),
    )
    return laws[rng.choice(3, p=[0.5, 0.25, 0.25])]


def median(law) -> float:
    """Log-odds of the median score."""
    return float(logit(np.clip(law.quantiles(np.array([0.5]), np.array([0.5]))[0][0], 1e-6, 1)))


def exact(name: str, law) -> Truth:
    return Truth(name, "calibrated", law, on_log_odds(lambda x: x))


def hospital(rng) -> Truth:
    """Another hospital: more or fewer events, and effects that are a little weaker."""
    law = scores(rng)
    middle = median(law)
    if rng.random() < EXACT:
        return exact("hospital", law)
    shift, slope = rng.normal(-0.1, 0.35), rng.lognormal(-0.1, 0.15)
    return Truth(
        "hospital",
        "shift and slope",
        law,
        on_log_odds(lambda x: middle + shift + slope * (x - middle)),
    )


def baseline(rng) -> Truth:
    """Other times: events became rarer or more frequent, everyone's odds by the same factor."""
    law = scores(rng)
    shift = 0.0 if rng.random() < EXACT else rng.laplace(0, 0.3)
    return Truth("baseline", "a shift", law, on_log_odds(lambda x: x + shift))


def missing(rng) -> Truth:
    """A risk factor that the model does not know, rarer or more frequent at high scores."""
    law = scores(rng)
    middle = median(law)
    effect, share, lean = rng.normal(0, 1.2), rng.normal(-1, 0.8), rng.normal(0, 0.5)
    base = -rng.uniform(0.3, 1.2) * effect * expit(share)

    def curve(x):
        has = expit(share + lean * (x - middle))
        return logit(has * expit(x + base + effect) + (1 - has) * expit(x + base))

    return Truth("missing", "an unknown risk factor", law, on_log_odds(curve))


def learner(rng) -> Truth:
    """A learning algorithm that is too sure of itself: true log-odds flatten at both ends."""
    law = scores(rng)
    reach, slope = rng.uniform(1.2, 5), rng.uniform(0.75, 1.15)
    shift = rng.normal(0, 0.15)
    return Truth(
        "learner",
        "flat at both ends",
        law,
        on_log_odds(lambda x: shift + slope * reach * np.tanh(x / reach)),
    )


def guideline(rng) -> Truth:
    """From a score on, patients are examined more, and more events are found; or fewer."""
    law = scores(rng)
    level = rng.uniform(0.3, 0.95)
    start = logit(law.quantiles(np.array([level]), np.array([1 - level]))[0][0])
    change, rest = rng.normal(0.1, 0.45), rng.normal(0, 0.08) * (rng.random() < 0.5)
    return Truth(
        "guideline",
        "other odds from a score on",
        law,
        on_log_odds(lambda x: x + rest + change * (x >= start)),
    )


def noisy(rng) -> Truth:
    """Predictors measured with more error than when the model was made."""
    centre, spread = rng.uniform(-2.5, 0.5), rng.uniform(0.6, 1.6)
    error = 0.0 if rng.random() < EXACT else rng.uniform(0.1, 0.8)
    kept = 1 / (1 + error**2)
    shift, sd = rng.normal(0, 0.1), spread * np.sqrt(1 - kept)
    law = LogitNormalScores(centre, spread)

    def curve(x):
        true = centre + shift * (error > 0) + kept * (x - centre)
        return logit(expit(true[..., None] + sd * NODES) @ WEIGHTS)

    if error == 0:
        return exact("noisy", law)
    return Truth("noisy", "errors of measurement", law, on_log_odds(curve))


def refitted(rng) -> Truth:
    """Recalibrated on 100 to 2000 earlier patients, so that what is left is small."""
    law = scores(rng)
    middle = median(law)
    patients = np.exp(rng.uniform(np.log(100), np.log(2000)))
    error = 1 / np.sqrt(0.15 * patients)
    shift, slope = error * rng.normal(), 1 + error * rng.normal()
    return Truth(
        "refitted",
        "a small error",
        law,
        on_log_odds(lambda x: middle + shift + slope * (x - middle)),
    )


KINDS = (hospital, baseline, missing, learner, guideline, noisy, refitted)


def calibrated(rate: float, form: str) -> Truth:
    """A calibrated population with this share of events."""
    if form == "normal":
        centre = brentq(lambda m: expit(m + NODES) @ WEIGHTS - rate, -8, 8)
        law = LogitNormalScores(float(centre), 1.0)
    else:
        law = MappedScores(
            BetaScores(4 * rate, 4 * (1 - rate)), lambda s: np.clip(s, 1e-4, 1 - 1e-4)
        )
    return exact(f"calibrated, {form}", law)


RATES, FORMS, CALIBRATED_SIZES = (0.2, 0.5), ("normal", "beta"), (50, 100, 200, 400)


def drawn(kind, n: int, run: int, seed: int) -> tuple[Truth, np.random.Generator]:
    """A population of a kind, and the source of its patients."""
    rng = np.random.default_rng([seed, n, run, *kind.__name__.encode()])
    return kind(rng), rng
