"""One simulated experiment: a truth from the prior, data from the truth, a posterior from the data.

Simulation-based calibration asks of each truth how it ranks among the posterior draws. What is
drawn, fitted and ranked is up to the experiment; another one need only answer the same questions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.data.data import CalibrationData
from bayescal.inference.averaging import Mixture
from bayescal.inference.density import sample_importance
from bayescal.inference.samples import FamilySamples
from bayescal.model.mixture import sample_prior
from bayescal.model.problem import Problem
from bayescal.posterior.functionals import CurveDraws, tce
from bayescal.posterior.population import Population

__all__ = ["ENGINE_DRAWS", "AverageOfFamilies", "Experiment", "Facts", "OneFamily", "ranks"]

ENGINE_DRAWS = 4000
"""What `bayescal.fit` draws by default."""

Facts = dict[str, float]
"""Numbers kept of a fit, by name."""

QUANTILES_RANKED = (0.05, 0.25, 0.5, 0.75, 0.95)


class Experiment(Protocol):
    """What simulation-based calibration needs to know of a model and its engine."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities that are ranked."""
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

    def posterior(self, data: CalibrationData, draws: int, seed: int) -> tuple[Floats, Facts]:
        """Posterior draws of shape (draws, d), and what else is kept of the fit."""
        ...

    def evaluate(self, u: Floats) -> Floats:
        """The quantities at each draw, of shape (draws, quantities)."""
        ...


@dataclass(frozen=True)
class OneFamily:
    """One family of curves under its prior, by the importance engine, at fixed scores.

    Attributes
    ----------
    problem : Problem
        Its centre and edges are read off the scores, so they are the same for every simulation.
    score, trials : ndarray of shape (rows,)
    """

    problem: Problem
    score: Floats
    trials: Floats

    @property
    def quantities(self) -> tuple[str, ...]:
        """The coordinates, TCE at these scores, and the curve at a few of them."""
        at_scores = tuple(f"g({score:.3g})" for score in self._places)
        return (*self._coordinates, "tce", *at_scores)

    @property
    def depends_on(self) -> dict[str, Any]:
        """The problem apart from the seed, and the scores."""
        described = self.problem.to_attributes()
        del described["seed"]
        table = np.concatenate([self.score, self.trials]).tobytes()
        return described | {"scores": hashlib.sha256(table).hexdigest()}

    def truth(self, rng: np.random.Generator) -> Floats:
        """Coordinates from the prior, of shape (d,)."""
        return np.asarray(self.problem.sample_prior(rng, 1)[0])

    def observe(self, truth: Floats, rng: np.random.Generator) -> CalibrationData:
        """Outcomes of that truth, at the scores of the experiment."""
        curve, own = self._curve(truth[None], self._inside), self.problem.nuisance(truth[None])
        hits = self.problem.likelihood.draw(rng, self.trials.astype(np.int64), curve, own)[0]
        return CalibrationData.from_counts(self.score, self.trials, hits)

    def posterior(self, data: CalibrationData, draws: int, seed: int) -> tuple[Floats, Facts]:
        """Posterior draws of shape (draws, d), and the Pareto k-hat of the fit.

        The engine gives its draws in random order, so the first few are a random sample of them.
        """
        sample = sample_importance(replace(self.problem, data=data, seed=seed), ENGINE_DRAWS)
        return sample.draws[:draws], {"pareto_k": sample.pareto_k}

    def evaluate(self, u: Floats) -> Floats:
        """The quantities at each draw, of shape (draws, quantities)."""
        population = Population(self._inside, self.trials / self.trials.sum(), self.trials)
        error = tce(CurveDraws(self._curve(u, self._inside), population))
        kept = u[:, : len(self._coordinates)]
        return np.column_stack([kept, error, self._curve(u, self._places)])

    @property
    def _coordinates(self) -> tuple[str, ...]:
        """Coordinates but for shifts and slopes by cell, which come last."""
        names = self.problem.curve.coordinates
        return tuple(name for name in names if not name.startswith("cell_"))

    @cached_property
    def _inside(self) -> Floats:
        return self.problem.inside(self.score)

    @cached_property
    def _places(self) -> Floats:
        cases = np.repeat(self._inside, self.trials.astype(np.int64))
        return np.unique(np.quantile(cases, QUANTILES_RANKED, method="inverted_cdf"))

    def _curve(self, u: Floats, score: Floats) -> Floats:
        return self.problem.curve.probability(u, score, self.problem.frame)


@dataclass(frozen=True)
class AverageOfFamilies(OneFamily):
    """The average over families, from its prior weights on, at fixed scores.

    Attributes
    ----------
    problem : Problem
        Of the average.
    score, trials : ndarray of shape (rows,)
    weights : dict of str to float
        Prior probability of each family.
    """

    weights: dict[str, float]

    @property
    def quantities(self) -> tuple[str, ...]:
        """TCE at these scores, and the curve at a few of them.

        The coordinates are left out: which of them a draw has depends on its family.
        """
        return super().quantities[len(self._coordinates) :]

    @property
    def depends_on(self) -> dict[str, Any]:
        """The problem apart from the seed, the scores and the weights."""
        return super().depends_on | {"weights": self.weights, "mixture": "scales"}

    def truth(self, rng: np.random.Generator) -> Floats:
        """A component from its prior weight, then its coordinates, in the union of coordinates."""
        weights = {name: weight for name, weight in self.weights.items() if weight > 0}
        return np.asarray(sample_prior(weights, self.problem, rng, 1)[0][0])

    def posterior(self, data: CalibrationData, draws: int, seed: int) -> tuple[Floats, Facts]:
        """Draws of the mixture, its worst Pareto k-hat, and the probability of each family."""
        problem = replace(self.problem, data=data, seed=seed)
        samples = FamilySamples(problem, list(self.weights))
        mixture = Mixture(samples, self.weights, ENGINE_DRAWS)
        share = mixture.shares.posterior
        (curves,) = mixture.posterior().curves_of_draws.parts
        u = curves.distances.u
        facts = {f"prob_{name}": mixture.probability_of(name) for name in self.weights}
        each = zip(mixture.samples.values(), share, strict=True)
        pareto_k = max(sample.pareto_k for sample, weight in each if weight >= 0.01)
        return u[:draws], {"pareto_k": pareto_k} | facts

    def evaluate(self, u: Floats) -> Floats:
        """The quantities at each draw, of shape (draws, quantities)."""
        return super().evaluate(u)[:, len(self._coordinates) :]


def ranks(
    experiment: Experiment, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Facts]:
    """Run the experiment once.

    Parameters
    ----------
    draws : int
        Posterior draws that the truth is ranked among.

    Returns
    -------
    rank : ndarray of shape (quantities,)
        How many draws lie below the truth, from 0 to `draws`; ties are broken at random.
    facts : dict of str to float
        What else is kept of the fit.
    """
    truth = experiment.truth(rng)
    data = experiment.observe(truth, rng)
    drawn, facts = experiment.posterior(data, draws, int(rng.integers(2**31)))
    values = experiment.evaluate(np.vstack([truth, drawn]))
    below = np.sum(values[1:] < values[0], axis=0)
    ties = np.sum(values[1:] == values[0], axis=0)
    return below + rng.integers(ties + 1), facts
