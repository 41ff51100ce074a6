"""What a likelihood is: the law of the outcomes of the cases that share a score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["Likelihood"]


class Likelihood(ABC):
    """The law of the events among the cases of a row, given the curve.

    Attributes
    ----------
    name : str
    is_linear : bool
        Whether the log density is hits * log-odds less a function of the trials: the binomial law.
        Sums over the events are then exact, and engines that are written for it serve.
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False

    def draw(self, generator: np.random.Generator, trials: Any, probability: Floats) -> Any:
        """Simulated events of rows, all of whose cases are followed to their outcome.

        Parameters
        ----------
        generator : numpy.random.Generator
        trials : ndarray of int that can be broadcast to (n, rows)
        probability : ndarray of shape (n, rows)
            The curves.

        Returns
        -------
        ndarray of int of shape (n, rows)
        """
        return generator.binomial(trials, probability)

    def of_tables(self, log_odds: Floats, trials: Floats, hits: Floats) -> Floats:
        """Log likelihood of several tables of such cases, of the same rows, under several curves.

        Parameters
        ----------
        log_odds : ndarray of shape (n, rows)
        trials, hits : ndarray of shape (tables, rows)

        Returns
        -------
        ndarray of shape (tables, n)
        """
        return np.asarray(hits @ log_odds.T - trials @ np.logaddexp(0, log_odds).T)

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; `from_dict` reads it back."""

    @classmethod
    @abstractmethod
    def from_dict(cls, described: dict[str, Any]) -> Likelihood:
        """Read back what `to_dict` wrote."""
