"""What a posterior will be after more cases: simulated data sets, and the draws weighted anew."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from bayescal.core.arrays import Floats, blocks
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws
from bayescal.posterior.population import Population

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
        own = self._of.problem.trials
        if self._is_known:
            return np.asarray(np.broadcast_to(own / own.sum(), cases.shape))
        return np.asarray((own + cases) / (own.sum() + cases.sum(axis=1, keepdims=True)))
