"""Outcomes that are known: the events of a row are binomial."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.logistic import softplus, softplus_near
from bayescal.model.likelihood.law import Likelihood

__all__ = ["BINOMIAL", "Binomial"]


class Binomial(Likelihood):
    """hits ~ Binomial(trials, g), of the single outcomes: without binomial coefficients.

    In log-odds the log density is hits * log-odds - trials * `cost`. Engines that add the events up
    before they know the curve take the two terms apart.
    """

    name: ClassVar[str] = "binomial"
    is_linear: ClassVar[bool] = True

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.log_density`."""
        return np.asarray(hits * log_odds - trials * softplus(log_odds.copy()))

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `Likelihood.derivatives`."""
        fitted = self.mean(log_odds)
        value = self.log_density(log_odds, trials, hits, nuisance)
        bend = -self.spread(trials, fitted)
        return value, (hits - trials * fitted)[None], bend[None, None]

    def draw(
        self, generator: np.random.Generator, trials: Any, probability: Floats, nuisance: Floats
    ) -> Any:
        """As `Likelihood.draw`."""
        return generator.binomial(trials, probability)

    def log_case(self, hit: bool, log_odds: Floats, nuisance: Floats) -> Floats:
        """As `Likelihood.log_case`."""
        return -self.cost_near(-log_odds if hit else log_odds.copy())

    def of_tables(self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats) -> Floats:
        """As `Likelihood.of_tables`."""
        return np.asarray(hits @ log_odds.T - trials @ np.logaddexp(0, log_odds).T)

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, *nuisance: Any) -> Any:
        """As `Likelihood.pymc_log_density`; finite at any log-odds."""
        import pytensor.tensor as pt

        return hits * log_odds - trials * pt.softplus(log_odds)

    def _pymc_draw(
        self,
        trials: Floats,
        log_odds: Floats,
        *nuisance: Floats,
        rng: np.random.Generator,
        size: Any = None,
    ) -> Floats:
        """As `Likelihood._pymc_draw`."""
        cases = np.rint(trials).astype(np.int64)
        return np.asarray(rng.binomial(cases, expit(log_odds), size).astype(np.float64))

    def cost(self, log_odds: Floats) -> Floats:
        """log(1 + odds) of a case; the log-odds are used as working memory."""
        return softplus(log_odds)

    def cost_near(self, log_odds: Floats) -> Floats:
        """The same in a third of the time, right to 1e-16."""
        return softplus_near(log_odds)

    def of_calibrated(self, score: Floats, trials: Floats, hits: Floats) -> float:
        """Log likelihood of exact calibration, from the scores themselves."""
        return float(hits @ np.log(score) + (trials - hits) @ np.log1p(-score))

    def mean(self, log_odds: Floats) -> Floats:
        """Expected events of a case: the derivative of the cost."""
        return np.asarray(expit(log_odds))

    def spread(self, trials: Floats, fitted: Floats) -> Floats:
        """Variance of the events, which is also the information on the log-odds."""
        return np.asarray(trials * fitted * (1 - fitted))


BINOMIAL = Binomial()
"""The law of every problem that names no other."""
