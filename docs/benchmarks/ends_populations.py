"""Populations with mass at the ends of the score scale, each with its curve.

They were written down, and the version before was run on them, before the placing of knots and
cells was changed and the family `lapse` was added. Constants were chosen on other populations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayescal.validation.simulate import BetaScores, LogitNormalScores, Truth
from one_posterior_kinds import MappedScores
from truths import on_log_odds, on_probability


@dataclass(frozen=True)
class StatedScores:
    """A few scores, each with its share of the cases."""

    values: tuple[float, ...]
    shares: tuple[float, ...]

    def draw(self, n, random_state=None):
        rng = np.random.default_rng(random_state)
        return rng.choice(self.values, n, p=self.shares)

    def quantiles(self, lower, upper):
        ends = np.cumsum(self.shares)
        index = np.searchsorted(ends, np.clip(lower, 0, 1 - 1e-12))
        s = np.take(self.values, np.minimum(index, len(self.values) - 1))
        return s, 1 - s


def population(name, law, description, on, curve) -> Truth:
    return Truth(name, description, law, on(curve))


STATED = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
STATED_SHARES = (0.07, 0.10, 0.18, 0.25, 0.22, 0.18)
STATED_TRUE = (0.16, 0.41, 0.60, 0.71, 0.77, 0.89)
POPULATIONS: tuple[Truth, ...] = (
    population(
        "softened network, noise",
        BetaScores(0.15, 0.22),
        "g = .03 + .92 expit(x / 2.2); x = logit s, s ~ Beta(.15, .22)",
        on_probability,
        lambda s: 0.03 + 0.92 * expit(logit(s) / 2.2),
    ),
    population(
        "label noise",
        BetaScores(0.3, 0.5),
        "g = .02 + .96 s; s ~ Beta(.3, .5)",
        on_probability,
        lambda s: 0.02 + 0.96 * s,
    ),
    population(
        "stated confidences",
        StatedScores(STATED, STATED_SHARES),
        "scores 0, .5, .8, .9, .95, 1 in shares of .07, .10, .18, .25, .22, .18; "
        "g = .16, .41, .60, .71, .77, .89",
        on_probability,
        lambda s: np.interp(s, STATED, STATED_TRUE),
    ),
    population(
        "saturated network",
        BetaScores(0.25, 0.12),
        "logit g = x / 2 + .3; x = logit s, s ~ Beta(.25, .12)",
        on_log_odds,
        lambda x: x / 2 + 0.3,
    ),
    population(
        "floor",
        LogitNormalScores(-4.0, 2.2),
        "g = .04 + .96 s; logit s ~ Normal(-4, 2.2)",
        on_probability,
        lambda s: 0.04 + 0.96 * s,
    ),
    population(
        "ceiling, tilted",
        BetaScores(0.5, 0.2),
        "g = .93 expit(.8 x - .2); x = logit s, s ~ Beta(.5, .2)",
        on_probability,
        lambda s: 0.93 * expit(0.8 * logit(s) - 0.2),
    ),
    population(
        "jump in the lower tail",
        BetaScores(0.35, 0.6),
        "g = s, but .06 below s = .02; s ~ Beta(.35, .6)",
        on_probability,
        lambda s: np.where(s < 0.02, 0.06, s),
    ),
    population(
        "two decimals, noise",
        MappedScores(BetaScores(0.2, 0.25), lambda s: np.round(s, 2)),
        "g = .025 + .94 s; s ~ Beta(.2, .25) in whole percents, 0 and 1 included",
        on_probability,
        lambda s: 0.025 + 0.94 * s,
    ),
    population(
        "calibrated, massed",
        BetaScores(0.2, 0.35),
        "g = s; s ~ Beta(.2, .35)",
        on_log_odds,
        lambda x: x,
    ),
    population(
        "wide, asymmetric",
        LogitNormalScores(0.5, 3.0),
        "log g = -.05 + .7 log s; logit s ~ Normal(.5, 3)",
        on_probability,
        lambda s: np.exp(-0.05) * s**0.7,
    ),
)
JUMPS = ("jump in the lower tail",)
"""Populations whose E90 and Emax are not asked to be covered."""
