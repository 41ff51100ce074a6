"""Events, and cases without one by a time, where it is known how many events come by then.

A share Q of those with the event by the horizon has it by that time, and a share V of the others
has a competing event.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats

__all__ = ["Shared", "late_of", "log_without", "tilted", "untilted"]


def log_without(g: Floats, share: Floats, other: Floats) -> Floats:
    """Log probability of no event by a time, of no kind: 1 - g Q - (1 - g) V.

    `g` (n, entries): curves; `share`, `other` (entries,): Q and V.
    """
    return np.asarray(np.log(1 - other - g * (share - other)))


def late_of(g: Floats, share: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How fast `log_without` falls by the log-odds of the curve, and the derivative of that.

    `g` (..., entries): curves; `share`, `other`: Q and V.
    """
    late = g * (1 - g) * (share - other) / (1 - other - g * (share - other))
    return late, late * (1 - 2 * g + late)


def tilted(ratio: Floats, g: Floats) -> Floats:
    """The scale t = R / (1 - g R) of ratios R, on which Gauss rules are made.

    For a curve h near g, log(1 - h R) - log(1 - g R) = log(1 + (g - h) t), which is nearly linear
    in t, so that a few nodes serve however many cases there are.
    """
    return np.asarray(ratio / (1 - g * ratio))


def untilted(t: Floats, g: Floats) -> Floats:
    """The ratio R of which `tilted` is t."""
    return np.asarray(t / (1 + g * t))


class Shared:
    """Events, and cases without one by a time by which it would have come with probability g R.

    `ratio` (rows,): R: 1 where a case was followed to the horizon.
    """

    def __init__(self, ratio: Floats) -> None:
        self.ratio = ratio

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Log density of each row of one curve, and its first two derivatives by the log-odds.

        `log_odds`, `trials`, `hits` (rows,).
        """
        g, rest = expit(log_odds), expit(-log_odds)
        without, others = rest + g * (1 - self.ratio), trials - hits
        late = g * rest * self.ratio / without
        value, some = others * np.log(without), hits > 0
        value[some] += hits[some] * np.log(g[some])
        slope = hits * rest - others * late
        bend = -hits * g * rest - others * late * (rest - g + late)
        return value, slope, bend
