"""Fixed populations that the averaged posterior is judged on, each with its numbers of patients.

They were written down before the averaged posterior with one distribution for each distance was
run on any of them, and differ from those of `truths.py`, which methods were chosen with.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from one_posterior_kinds import MappedScores, TwoGroups, over_normal, whole_percent
from truths import RoundedScores, on_log_odds, on_probability


def population(name, law, description, on, curve) -> Truth:
    return Truth(name, description, law, on(curve))


def calibrated(name, law) -> Truth:
    return Truth(f"calibrated, {name}", "g = s", law, on_log_odds(lambda x: x))


UPPER_FIFTH = -1 + 1.2 * 0.8416
CELLS: dict[Truth, tuple[int, ...]] = {
    population(
        "treated from .4",
        LogitNormalScores(-0.6, 1.1),
        "logit g = x, less .5 from s = .4; x = logit s ~ Normal(-.6, 1.1)",
        on_log_odds,
        lambda x: x - 0.5 * (x >= logit(0.4)),
    ): (400, 1500, 6000),
    population(
        "missed events",
        BetaScores(1.2, 3),
        "g = .88 s; s ~ Beta(1.2, 3)",
        on_probability,
        lambda s: 0.88 * s,
    ): (300, 1000, 4000),
    population(
        "false events",
        LogitNormalScores(-1.8, 1.0),
        "g = .03 + .94 s; logit s ~ Normal(-1.8, 1)",
        on_probability,
        lambda s: 0.03 + 0.94 * s,
    ): (500, 3000),
    population(
        "three hospitals",
        LogitNormalScores(-0.4, 1.3),
        "g = mean of expit(x - .9), expit(x), expit(x + .9); x = logit s ~ Normal(-.4, 1.3)",
        on_log_odds,
        lambda x: logit((expit(x - 0.9) + expit(x) + expit(x + 0.9)) / 3),
    ): (1000, 8000),
    population(
        "other link",
        LogitNormalScores(-1.2, 1.0),
        "g = 1 - exp(-exp(.85 x - .1)); x = logit s ~ Normal(-1.2, 1)",
        on_log_odds,
        lambda x: logit(-np.expm1(-np.exp(np.clip(0.85 * x - 0.1, -30, 3)))),
    ): (400, 2000),
    population(
        "S-shaped",
        BetaScores(2, 2),
        "g = s + .05 sin(2 pi s); s ~ Beta(2, 2)",
        on_probability,
        lambda s: s + 0.05 * np.sin(2 * np.pi * s),
    ): (300, 1500, 5000),
    population(
        "ends too extreme",
        LogitNormalScores(-0.5, 1.0),
        "logit g = x - .12 x |x|; x = logit s ~ Normal(-.5, 1), |x| counted up to 3",
        on_log_odds,
        lambda x: x - 0.12 * x * np.minimum(np.abs(x), 3),
    ): (600, 2500),
    population(
        "recent drift",
        LogitNormalScores(-1.5, 0.9),
        "g = .7 s + .3 expit(x + 1); x = logit s ~ Normal(-1.5, .9)",
        on_log_odds,
        lambda x: logit(0.7 * expit(x) + 0.3 * expit(x + 1)),
    ): (500, 2000),
    population(
        "steeper upper fifth",
        LogitNormalScores(-1.0, 1.2),
        "g = s in the lower four fifths, then logit g 1.7 times as steep; "
        "logit s ~ Normal(-1, 1.2)",
        on_log_odds,
        lambda x: x + 0.7 * np.maximum(x - UPPER_FIFTH, 0),
    ): (1000, 4000),
    population(
        "dip",
        LogitNormalScores(0.0, 1.2),
        "g = s - .12 exp(-(x / .35)^2); x = logit s ~ Normal(0, 1.2)",
        on_log_odds,
        lambda x: logit(expit(x) - 0.12 * np.exp(-((x / 0.35) ** 2))),
    ): (2000, 10_000),
    population(
        "capped",
        BetaScores(1.5, 2.5),
        "g = s, but at most one half; s ~ Beta(1.5, 2.5)",
        on_probability,
        lambda s: np.minimum(s, 0.5),
    ): (300, 2000),
    population(
        "whole percents",
        MappedScores(LogitNormalScores(-1.4, 0.9), whole_percent),
        "logit g = 1.25 x + .2; s in whole percents, logit s ~ Normal(-1.4, .9)",
        on_log_odds,
        lambda x: 1.25 * x + 0.2,
    ): (800, 3000),
    population(
        "two in a hundred, too high",
        LogitNormalScores(-4.0, 1.1),
        "logit g = x - .4; x = logit s ~ Normal(-4, 1.1)",
        on_log_odds,
        lambda x: x - 0.4,
    ): (1000, 5000, 20_000),
    population(
        "few patients",
        LogitNormalScores(-0.3, 1.5),
        "logit g = .7 x - .2; x = logit s ~ Normal(-.3, 1.5)",
        on_log_odds,
        lambda x: 0.7 * x - 0.2,
    ): (100, 250),
    population(
        "risks that vary more",
        LogitNormalScores(0.6, 0.8),
        "g = mean of expit(1.1 x + z), z ~ Normal(0, 1.2); x = logit s ~ Normal(.6, .8)",
        on_log_odds,
        lambda x: over_normal(1.1 * x, 1.2),
    ): (700, 3500),
    calibrated("two groups", TwoGroups(0.3, (-2.0, 0.5), (0.8, 0.6))): (150, 600, 2500, 10_000),
    calibrated("massed at the ends", BetaScores(0.45, 0.6)): (300, 3000),
    calibrated("one in fifty", LogitNormalScores(-4.1, 0.8)): (1000, 6000),
    calibrated("ten values", RoundedScores(9, 0.4)): (500,),
}
