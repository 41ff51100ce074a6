"""Events, and cases without one by a time, where it is known how many events come by then."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.model.likelihood.law import Likelihood

__all__ = ["Shared"]


class Shared(Likelihood):
    """Events, and non-events by the time that a share Q of all events has come by.

    Parameters
    ----------
    share : ndarray of shape (rows,)
        1 where a case was followed to the horizon.
    """

    name = "shared"

    def __init__(self, share: Floats) -> None:
        self.share = share

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.log_density`."""
        g, rest = expit(log_odds), expit(-log_odds)
        value = (trials - hits) * np.log(rest + g * (1 - self.share))
        some = hits > 0
        value[..., some] += hits[some] * np.log(g[..., some])
        return np.asarray(value)

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `Likelihood.derivatives`."""
        g, rest = expit(log_odds), expit(-log_odds)
        without = rest + g * (1 - self.share)
        late = g * rest * self.share / without
        slope = hits * rest - (trials - hits) * late
        bend = -hits * g * rest - (trials - hits) * late * (rest - g + late)
        value = self.log_density(log_odds[None], trials, hits, nuisance)[0]
        return value, slope[None], bend[None, None]

    def draw(
        self, generator: np.random.Generator, trials: Floats, probability: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.draw`."""
        cases = np.rint(trials).astype(np.int64)
        return np.asarray(generator.binomial(cases, probability * self.share), np.float64)

    def pymc_log_density(
        self, hits: Floats, trials: Floats, log_odds: Floats, *_: Floats
    ) -> Floats:
        """As `Likelihood.log_density`, of one curve."""
        return np.asarray(self.log_density(log_odds[None], trials, hits, np.empty((1, 0)))[0])
