"""What a posterior will be after more cases: simulated data sets, and the draws weighted anew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayescal.core.arrays import Floats, blocks
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws
from bayescal.posterior.population import Population
from bayescal.posterior.populations.bootstrap import Mixture

__all__ = ["N_FUTURES", "Futures"]

N_FUTURES = 2000


class Futures:
    """Simulated data sets of more cases, each of a curve and a population of the posterior.

    Parameters
    ----------
    population : {"bootstrap", "sample"}
    """

    def __init__(self, of: CurvesOfTable, population: str, rng: np.random.Generator) -> None:
        size = min(N_FUTURES, len(of.u))
        self._of, self._rng = of, rng
        self._is_known = population == "sample"
        self._index = np.sort(rng.choice(len(of.u), size, replace=False))
        self._weight = np.concatenate(
            [
                np.broadcast_to(draws.population.weight, draws.curve.shape)[
                    self._index[inside] - part.start
                ]
                for part, draws in of.draws(population)
                if (inside := (self._index >= part.start) & (self._index < part.stop)).any()
            ]
        )
        problem = of.problem
        self._log_odds = problem.curves_at().log_odds(of.u)

    def after(self, n_more: int) -> Iterator[CurveDraws]:
        """Posterior means after data sets of `n_more` cases, a block of data sets at a time.

        The curve and the population are independent, given the data. The mean curve is that of the
        draws, each weighted by the likelihood of the new outcomes; the mean population is exact.

        Yields
        ------
        CurveDraws
            One row a data set: its mean curve and its mean population.
        """
        curves = self._of.observed
        law = self._of.problem.likelihood
        for part in blocks(len(self._index), len(curves)):
            cases = self._rng.multinomial(n_more, self._weight[part]).astype(np.float64)
            chance = curves[self._index[part]]
            counted = cases.astype(np.int64)
            drawn = law.draw(self._rng, counted, chance)
            log_weight = law.of_tables(self._log_odds, cases, drawn.astype(np.float64))
            weight = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
            yield CurveDraws(
                weight @ curves, Population(self._of.problem.stated, self._population(cases))
            )

    def _population(self, cases: Floats) -> Floats:
        """Mean weights of the rows after new cases, of shape (data sets, rows)."""
        if self._is_known:
            own = self._of.problem.trials
            return np.asarray(np.broadcast_to(own / own.sum(), cases.shape))
        trials = self._trials
        log_share = np.stack([_log_chance(cases, each) for each in trials], axis=1)
        share = np.exp(log_share - logsumexp(log_share, axis=1, keepdims=True))
        size = trials.sum(axis=1) + cases.sum(axis=1, keepdims=True)
        own = share / size
        return np.asarray(own @ trials + own.sum(axis=1, keepdims=True) * cases)

    @property
    def _trials(self) -> Floats:
        """Cases of each row, in each of the populations that the draws are from."""
        law = self._of.bootstrap
        return law.trials if isinstance(law, Mixture) else self._of.problem.trials[None]


def _log_chance(cases: Floats, trials: Floats) -> NDArray[np.float64]:
    """Log of the Dirichlet-multinomial chance of new cases by row, but for a constant."""
    total, some = trials.sum(), trials > 0
    known = gammaln(cases[:, some] + trials[some]).sum(axis=1) - gammaln(trials[some]).sum()
    log_chance = known + gammaln(total) - gammaln(total + cases.sum(axis=1))
    return np.asarray(np.where(cases[:, ~some].any(axis=1), -np.inf, log_chance))
