"""One simulated experiment: a truth from the prior, data from the truth, a posterior from the data.

Simulation-based calibration asks of each truth how it ranks among the posterior draws. What is
drawn, fitted and ranked is up to the experiment; another one (an average over families, say) need
only answer the same four questions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal._validate import Floats
from bayescal.data import CalibrationData
from bayescal.functionals import CurveDraws, tce
from bayescal.inference.importance import sample_importance
from bayescal.population import Population
from bayescal.settings import Settings

__all__ = ["ENGINE_DRAWS", "Experiment", "OneFamily", "ranks"]

ENGINE_DRAWS = 4000
"""What `bayescal.fit` draws by default."""

PLACES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Experiment(Protocol):
    """What simulation-based calibration needs to know of a model and its engine."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of what is ranked."""
        ...

    @property
    def depends_on(self) -> dict[str, Any]:
        """All that decides the outcome of the experiment, JSON-ready."""
        ...

    def truth(self, rng: np.random.Generator) -> Floats:
        """Coordinates from the prior, of shape (d,)."""
        ...

    def observe(self, truth: Floats, rng: np.random.Generator) -> CalibrationData:
        """Outcomes of that truth, at the scores of the experiment."""
        ...

    def posterior(self, data: CalibrationData, draws: int, seed: int) -> tuple[Floats, float]:
        """Posterior draws of shape (draws, d), and the Pareto k-hat of the fit."""
        ...

    def evaluate(self, u: Floats) -> Floats:
        """The quantities at each draw, of shape (draws, quantities)."""
        ...


@dataclass(frozen=True)
class OneFamily:
    """One family of curves under its prior, by the importance engine, at fixed scores.

    Attributes
    ----------
    settings : Settings
        Its centre and edges are read off the scores, so they are the same for every simulation.
    score, trials : ndarray of shape (rows,)
    """

    settings: Settings
    score: Floats
    trials: Floats

    @property
    def quantities(self) -> tuple[str, ...]:
        """The coordinates, TCE at these very scores, and the curve at a few of them."""
        at_scores = tuple(f"g({score:.3g})" for score in self._places)
        return (*self.settings.curve.coordinates, "tce", *at_scores)

    @property
    def depends_on(self) -> dict[str, Any]:
        """The settings apart from the seed, and the scores."""
        settings = self.settings.to_attributes()
        del settings["seed"]
        table = np.concatenate([self.score, self.trials]).tobytes()
        return settings | {"scores": hashlib.sha256(table).hexdigest()}

    def truth(self, rng: np.random.Generator) -> Floats:
        """Coordinates from the prior, of shape (d,)."""
        names = self.settings.curve.coordinates
        drawn = self.settings.prior.sample(names, rng, 1)
        return np.array([drawn[name][0] for name in names])

    def observe(self, truth: Floats, rng: np.random.Generator) -> CalibrationData:
        """Outcomes of that truth, at the scores of the experiment."""
        hits = rng.binomial(self.trials.astype(np.int64), self._curve(truth[None], self._inside)[0])
        return CalibrationData.from_counts(self.score, self.trials, hits)

    def posterior(self, data: CalibrationData, draws: int, seed: int) -> tuple[Floats, float]:
        """Posterior draws of shape (draws, d), and the Pareto k-hat of the fit.

        The engine gives its draws in random order, so the first few are a random sample of them.
        """
        sample = sample_importance(replace(self.settings, seed=seed), data, ENGINE_DRAWS)
        return sample.draws[:draws], sample.pareto_k

    def evaluate(self, u: Floats) -> Floats:
        """The quantities at each draw, of shape (draws, quantities)."""
        population = Population(self._inside, self.trials / self.trials.sum(), self.trials)
        error = tce(CurveDraws(self._curve(u, self._inside), population))
        return np.column_stack([u, error, self._curve(u, self._places)])

    @cached_property
    def _inside(self) -> Floats:
        return self.settings.edges.inside(self.score)

    @cached_property
    def _places(self) -> Floats:
        cases = np.repeat(self._inside, self.trials.astype(np.int64))
        return np.unique(np.quantile(cases, PLACES, method="inverted_cdf"))

    def _curve(self, u: Floats, score: Floats) -> Floats:
        return self.settings.curve.probability(u, score, self.settings.frame)


def ranks(
    experiment: Experiment, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """Run the experiment once.

    Parameters
    ----------
    experiment : Experiment
    draws : int
        Posterior draws that the truth is ranked among.
    rng : numpy.random.Generator

    Returns
    -------
    rank : ndarray of shape (quantities,)
        How many draws lie below the truth, from 0 to `draws`; ties are broken at random.
    pareto_k : float
    """
    truth = experiment.truth(rng)
    data = experiment.observe(truth, rng)
    drawn, pareto_k = experiment.posterior(data, draws, int(rng.integers(2**31)))
    values = experiment.evaluate(np.vstack([truth, drawn]))
    below = np.sum(values[1:] < values[0], axis=0)
    ties = np.sum(values[1:] == values[0], axis=0)
    return below + rng.integers(ties + 1), pareto_k
