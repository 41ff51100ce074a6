"""Events, and cases without one by a time, where it is known how many events come by then.

A share Q of those with the event by the horizon has it by that time, and a share V of the others
has a competing event.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.model.likelihood.law import Likelihood

__all__ = ["Shared", "late_of", "log_without", "tilted", "untilted"]


def log_without(g: Floats, share: Floats, other: Floats) -> Floats:
    """Log probability of no event by a time, of no kind: 1 - g Q - (1 - g) V.

    Parameters
    ----------
    g : ndarray of shape (n, entries)
        Curves.
    share, other : ndarray of shape (entries,)
        Q and V.
    """
    return np.asarray(np.log(1 - other - g * (share - other)))


def late_of(g: Floats, share: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How fast `log_without` falls by the log-odds of the curve, and the derivative of that.

    Parameters
    ----------
    g : ndarray of shape (..., entries)
        Curves.
    share, other : ndarray that can be broadcast to it
        Q and V.
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


class Shared(Likelihood):
    """Events, and cases without one by a time by which it would have come with probability g R.

    Parameters
    ----------
    ratio : ndarray of shape (rows,)
        R: 1 where a case was followed to the horizon.
    """

    name = "shared"

    def __init__(self, ratio: Floats) -> None:
        self.ratio = ratio

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.log_density`."""
        g, rest = expit(log_odds), expit(-log_odds)
        value = (trials - hits) * np.log(self._without(g, rest))
        some = hits > 0
        value[..., some] += hits[some] * np.log(g[..., some])
        return np.asarray(value)

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `Likelihood.derivatives`."""
        g, rest = expit(log_odds), expit(-log_odds)
        late = g * rest * self.ratio / self._without(g, rest)
        slope = hits * rest - (trials - hits) * late
        bend = -hits * g * rest - (trials - hits) * late * (rest - g + late)
        value = self.log_density(log_odds[None], trials, hits, nuisance)[0]
        return value, slope[None], bend[None, None]

    def _without(self, g: Floats, rest: Floats) -> Floats:
        return rest + g * (1 - self.ratio)

    def draw(
        self, generator: np.random.Generator, trials: Floats, probability: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.draw`."""
        cases = np.rint(trials).astype(np.int64)
        return np.asarray(generator.binomial(cases, probability * self.ratio), np.float64)

    def pymc_log_density(
        self, hits: Floats, trials: Floats, log_odds: Floats, *_: Floats
    ) -> Floats:
        """As `Likelihood.log_density`, of one curve."""
        return np.asarray(self.log_density(log_odds[None], trials, hits, np.empty((1, 0)))[0])
