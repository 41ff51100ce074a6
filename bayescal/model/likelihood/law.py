"""What a likelihood is: the law of the outcomes of the cases that share a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal.model.lapse.rate import Rate
from bayescal.model.share import Beta

__all__ = ["Likelihood"]

LEAST_INFORMATION_OF_A_CASE = 1e-9


class Likelihood(ABC):
    """The law of the events among the cases of a row, given the curve.

    The curve is given by its log-odds. A law may have coordinates of its own, which no curve
    depends on (nuisance coordinates), such as the sensitivity of a judge. They are fitted with
    those of the curve, under a prior that the law states, and arrays of them have one column for
    each.

    A new law is a subclass with `name`, `log_density`, `derivatives`, `draw` and
    `pymc_log_density`, and its line in `LIKELIHOODS`.

    Attributes
    ----------
    name : str
    of_cases : bool
        Whether the cases of a row are independent, so that its log density is a sum over them. Then
        rows may be merged or replaced by nodes, and a case can be left out. If not, the likelihood
        is summed over every row of the table, and leave-one-out leaves out rows.
    is_linear : bool
        Whether the log density is hits * log-odds less a function of the trials: the binomial law.
        Sums over the events are then exact, and engines that are written for it serve.
    """

    name: ClassVar[str]
    of_cases: ClassVar[bool] = True
    is_linear: ClassVar[bool] = False

    @property
    def priors(self) -> tuple[tuple[str, Rate | Beta], ...]:
        """Names of the nuisance coordinates, and the prior of each; none by default.

        Each is read at a standard normal number (`from_normal`) by the fast engine.
        """
        return ()

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the nuisance coordinates."""
        return tuple(name for name, _ in self.priors)

    @abstractmethod
    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """Log density of each row, without coefficients that no parameter changes.

        Parameters
        ----------
        log_odds : ndarray of shape (n, rows)
            Of n curves. It may be used as working memory.
        trials, hits : ndarray of shape (rows,)
            Cases, and those recorded as events; need not be whole numbers.
        nuisance : ndarray of shape (n, nuisance coordinates)

        Returns
        -------
        ndarray of shape (n, rows)
        """

    @abstractmethod
    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Log density of each row of one curve, its gradient and its Hessian.

        By the log-odds first, then by the nuisance coordinates.

        Parameters
        ----------
        log_odds, trials, hits : ndarray of shape (rows,)
        nuisance : ndarray of shape (nuisance coordinates,), or (nuisance coordinates, 1)

        Returns
        -------
        value : ndarray of shape (rows,)
        gradient : ndarray of shape (1 + nuisance coordinates, rows)
        hessian : ndarray of shape (1 + nuisance coordinates, 1 + nuisance coordinates, rows)
        """

    @abstractmethod
    def draw(
        self, generator: np.random.Generator, trials: Any, probability: Floats, nuisance: Floats
    ) -> Any:
        """Simulated events of rows.

        Parameters
        ----------
        generator : numpy.random.Generator
        trials : ndarray of int that can be broadcast to (n, rows)
        probability : ndarray of shape (n, rows)
            The curves.
        nuisance : ndarray of shape (n, nuisance coordinates)

        Returns
        -------
        ndarray of int of shape (n, rows)
        """

    @abstractmethod
    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, *nuisance: Any) -> Any:
        """The log density of each row as a PyTensor expression."""

    def information(self, log_odds: Floats, trials: Floats, hits: Floats, at: Floats) -> Floats:
        """Information of each row on the log-odds of one curve, positive."""
        hessian = self.derivatives(log_odds, trials, hits, at)[2]
        return np.asarray(np.maximum(-hessian[0, 0], LEAST_INFORMATION_OF_A_CASE * trials))

    def of_tables(self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats) -> Floats:
        """Log likelihood of several tables of the same rows under several curves.

        Parameters
        ----------
        log_odds : ndarray of shape (n, rows)
        trials, hits : ndarray of shape (tables, rows)
        nuisance : ndarray of shape (n, nuisance coordinates)

        Returns
        -------
        ndarray of shape (tables, n)
        """
        if self.of_cases:
            event, other = (self.log_case(hit, log_odds, nuisance) for hit in (True, False))
            return np.asarray(hits @ event.T + (trials - hits) @ other.T)
        tables = zip(trials, hits, strict=True)
        each = [self.log_density(log_odds.copy(), *table, nuisance).sum(axis=1) for table in tables]
        return np.stack(each)

    def recorded(self, probability: Floats, nuisance: Floats) -> Floats:
        """Probability that a case is recorded as an event, for a law of single cases.

        Parameters
        ----------
        probability : ndarray of shape (n, rows)
            The curves.
        nuisance : ndarray of shape (n, nuisance coordinates)
        """
        return probability

    def log_case(self, hit: bool, log_odds: Floats, nuisance: Floats) -> Floats:
        """Log probability of what was recorded of one case, of shape (n, rows)."""
        ones = np.ones(log_odds.shape[-1])
        return self.log_density(log_odds.copy(), ones, ones * hit, nuisance)

    def _pymc_draw(
        self,
        trials: Floats,
        log_odds: Floats,
        *nuisance: Floats,
        rng: np.random.Generator,
        size: Any = None,
    ) -> Floats:
        """Events of each row, for prior and posterior predictive draws of PyMC."""
        cases, curve = np.rint(trials).astype(np.int64), np.asarray(expit(log_odds))
        if size is not None:
            curve = np.broadcast_to(curve, size)
        drawn = self.draw(rng, cases, np.atleast_2d(curve), np.array([nuisance], np.float64))
        return np.asarray(drawn, np.float64).reshape(curve.shape)

    def simulate(self, generator: np.random.Generator, trials: Any, probability: Floats) -> Any:
        """Events of rows as `draw`, with nuisance coordinates from their priors."""
        own = self.sample_nuisance(generator, len(probability))
        return self.draw(generator, trials, probability, own)

    def sample_nuisance(self, generator: np.random.Generator, size: int) -> Floats:
        """Prior draws of the nuisance coordinates, of shape (size, nuisance coordinates)."""
        own = [law.sample(generator, size) for _, law in self.priors]
        return np.reshape(own, (len(own), size)).T

    def observe(
        self, name: str, rows: tuple[Any, Any, Any], nuisance: Sequence[Any], **options: Any
    ) -> None:
        """Observe rows in the open PyMC model.

        Parameters
        ----------
        name : str
        rows : tuple of (trials, log-odds, hits)
            Data, variables and numbers of shape (rows,).
        nuisance : sequence of PyMC variables
        **options
            Such as `dims`.
        """
        import pymc as pm

        trials, log_odds, hits = rows
        pm.CustomDist(
            name,
            *(trials, log_odds, *nuisance),
            logp=self.pymc_log_density,
            random=self._pymc_draw,
            observed=hits,
            **options,
        )

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; `from_dict` reads it back."""
        return {"name": self.name}

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> Likelihood:
        """Read back what `to_dict` wrote."""
        return cls()
