"""Outcomes that are known: the events of a row are binomial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import softplus, softplus_near

__all__ = ["BINOMIAL", "Binomial", "Likelihood"]


class Likelihood:
    """The law of the events among the cases of a row, given the curve.

    `is_linear`: whether the log density is hits * log-odds less a function of the trials: the
    binomial law. Sums over the events are then exact, and engines that are written for it serve.
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False

    def draw(self, generator: np.random.Generator, trials: Any, probability: Floats) -> Any:
        """Simulated events of rows, all of whose cases are followed to their outcome.

        `probability` (n, rows): the curves; returns (n, rows).
        """
        return generator.binomial(trials, probability)

    def of_tables(self, log_odds: Floats, trials: Floats, hits: Floats) -> Floats:
        """Log likelihood of several tables of such cases, of the same rows, under several curves.

        `log_odds` (n, rows); `trials`, `hits` (tables, rows); returns (tables, n).
        """
        return np.asarray(hits @ log_odds.T - trials @ np.logaddexp(0, log_odds).T)


class Binomial(Likelihood):
    """hits ~ Binomial(trials, g), of the single outcomes: without binomial coefficients.

    In log-odds the log density is hits * log-odds - trials * `cost`. Engines that add the events up
    before they know the curve take the two terms apart.
    """

    name: ClassVar[str] = "binomial"
    is_linear: ClassVar[bool] = True

    def log_density(self, log_odds: Floats, trials: Floats, hits: Floats) -> Floats:
        """Log density of each row of n curves, of shape (n, rows)."""
        return np.asarray(hits * log_odds - trials * softplus(log_odds.copy()))

    def log_case(self, hit: bool, log_odds: Floats) -> Floats:
        """Log probability of the outcome of one case, of shape (n, rows)."""
        return -self.cost_near(-log_odds if hit else log_odds.copy())

    def observe(self, name: str, seen: Sequence[Any], hits: Floats, **options: Any) -> None:
        """Observe events in the open PyMC model.

        `seen` (n,): trials, log-odds and, where there are any, weights; `hits` (n,); `**options`:
        such as `dims`.
        """
        import pymc as pm

        pm.CustomDist(
            name,
            *seen,
            logp=self.pymc_log_density,
            random=self._pymc_draw,
            observed=hits,
            **options,
        )

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, weight: Any = 1) -> Any:
        """The log density of each row as a PyTensor expression; finite at any log-odds."""
        import pytensor.tensor as pt

        return weight * (hits * log_odds - trials * pt.softplus(log_odds))

    def _pymc_draw(
        self,
        trials: Floats,
        log_odds: Floats,
        weight: Any = None,
        *,
        rng: np.random.Generator,
        size: Any = None,
    ) -> Floats:
        """Events of each row, for prior and posterior predictive draws of PyMC."""
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


# The law of every problem that names no other.
BINOMIAL = Binomial()
