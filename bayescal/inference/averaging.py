"""The average: the families mixed by evidence, and one set of draws from the mixture."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning
from bayescal.core.sampling import Sample, even_choice, of_mixture, resample, shares_of_parts
from bayescal.core.versions import one_blas_thread
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import CURVES, EXACT, in_average
from bayescal.model.draws import Averaged, Part
from bayescal.model.mixture import Shares, on_scores, problem_of, recentred, shares_of
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Evidence", "Mixture"]

FEW_ROWS = 10
"""Scores at which curves are compared before some of them are chosen."""

LEAST_EFFECTIVE = 0.02
"""Effective draws, as a share of all, below which a family is left out of an average."""

CHOICE = 3
"""How many points of a family, for each draw of it, are chosen from."""


class Evidence(NamedTuple):
    """Log evidence of a family, its Monte Carlo error, and the k-hat of its sample."""

    log: float
    error: float
    pareto_k: float


class Mixture:
    """The mixture of families on one table, with their samples.

    Parameters
    ----------
    samples : FamilySamples
        Of the families, under the prior in use.
    weights : mapping of str to float
        Prior probability of each family asked for, exact calibration included.
    draws : int
        Of the mixture.

    Attributes
    ----------
    problem : Problem
        Of the average: one centre and one set of knots for all families.
    weights : dict of str to float
        Of the families mixed; see `on_scores`.
    """

    def __init__(self, samples: FamilySamples, weights: Mapping[str, float], draws: int) -> None:
        self._samples, self.problem, self._draws = samples, samples.problem, draws
        self._asked = dict(weights)
        mixed = on_scores(weights, self.problem)
        self.weights = {name: weight for name, weight in mixed.items() if weight > 0}

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """Draws and evidence of each family with weight, in its own coordinates.

        One whose draws are worth far too few has a log evidence of minus infinity: it is left out,
        and its weight goes to the others. Its evidence cannot be believed either.
        """
        samples = {name: self._samples[name] for name in self.weights}
        curved = [name for name in samples if name != EXACT]
        few = [
            name
            for name in curved
            if samples[name].ess < LEAST_EFFECTIVE * len(samples[name].weighted[0])
        ]
        if few and len(few) < len(curved):
            told = [
                f"{name}, {samples[name].ess:.0f} of {len(samples[name].draws)}" for name in few
            ]
            warnings.warn(
                "the average leaves out families whose draws are worth too few, and their weight "
                f"goes to the others: {'; '.join(told)}.",
                DiagnosticWarning,
                stacklevel=2,
            )
            samples |= {name: replace(samples[name], log_evidence=-np.inf) for name in few}
        return samples

    @cached_property
    def shares(self) -> Shares:
        """How many of the draws are of each family."""
        evidence = np.array([sample.log_evidence for sample in self.samples.values()])
        return shares_of(self.weights, evidence)

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration."""
        return self.probability_of(EXACT)

    def probability_of(self, family: str) -> float:
        """Posterior probability of a family."""
        return float(dict(zip(self.weights, self.shares.posterior, strict=True)).get(family, 0.0))

    def evidence_of(self, family: str) -> Evidence:
        """The evidence of a family."""
        sample = self._samples[family]
        return Evidence(sample.log_evidence, sample.log_evidence_error, sample.pareto_k)

    @property
    def log_evidence(self) -> float:
        """Log evidence of all families, exact calibration among them."""
        parts, weight = self.samples.values(), np.array(list(self.weights.values()))
        return float(logsumexp([part.log_evidence for part in parts] + np.log(weight)))

    @property
    def log_evidence_of_rest(self) -> float:
        """Log evidence of all that is not exact calibration."""
        parts, log_prior = self._curved
        return float(logsumexp([sample.log_evidence for sample in parts.values()] + log_prior))

    @property
    def _curved(self) -> tuple[dict[str, Sample], Floats]:
        """The families other than exact calibration, and their log weights, scaled to sum to 1."""
        parts = {name: sample for name, sample in self.samples.items() if name != EXACT}
        weight = np.array([self.weights[name] for name in parts])
        return parts, np.asarray(np.log(weight / weight.sum()))

    @one_blas_thread
    def posterior(self) -> CalibrationPosterior:
        """Draws of the curve given that calibration is not exact, of which some are exact.

        So many as exact calibration is probable are marked, evenly over all sizes of the error:
        in these every distance is 0. However probable it is, no draw of the curve is lost to it.
        """
        parts, log_prior = self._curved
        problem, rng = self.problem, self.problem.rng("average")
        part = resample(shares_of_parts([*parts.values()], log_prior), self._draws, rng)
        u, size = np.empty((self._draws, problem.curve.size)), np.empty(self._draws)
        for number, (name, sample) in enumerate(parts.items()):
            rows = np.flatnonzero(part == number)
            if rows.size:
                u[rows], size[rows] = self._drawn_of(name, sample, rows.size, rng)
        mixed = of_mixture([*parts.values()], log_prior, u)
        exact = _marked(size, self.prob_calibrated, rng)
        averaged = Averaged(self.weights, self._asked, self.prob_calibrated, part, exact)
        return CalibrationPosterior([Part.of_sample(problem, mixed, averaged)])

    def _drawn_of(
        self, name: str, sample: Sample, draws: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draws of one family in the coordinates of the average, and the mean error of each.

        They are chosen once, from its weighted points, and evenly: chosen a second time and at
        random, they would lose how evenly the points are spread.
        """
        problem, (points, weights) = self.problem, sample.weighted
        some = slice(None, None, max(len(points) // (CHOICE * draws), 1))
        features = self._features(name, points[some])
        picked = even_choice(features, weights[some], draws, rng)
        curve, frame = CURVES[name], problem_of(name, problem).frame
        at_centre = recentred(curve, points[some][picked], frame, problem.frame)
        return in_average(curve, at_centre, problem.curve, problem.frame), features[1, picked]

    def _features(self, name: str, points: Floats) -> Floats:
        """What draws are mostly read for: the signed error, its size, and how it grows.

        Of shape (3, points), the last with the log-odds of the score.
        """
        rows, weight = self._nodes
        problem = self.problem
        score, stated = problem.score[rows], problem.stated[rows]
        at = CURVES[name].at_scores(score, problem_of(name, problem).frame, stated)
        error = at.probability(points) - stated
        x = problem.log_odds[rows]
        growth = weight * (x - weight @ x)
        return np.stack([error @ weight, np.abs(error) @ weight, error @ growth])

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.intp], Floats]:
        """A few rows that stand for all, the outer ones among them, and their shares of cases."""
        trials = self.problem.trials
        middle = (np.cumsum(trials) - trials / 2) / trials.sum()
        inner = np.searchsorted(middle, (np.arange(FEW_ROWS) + 0.5) / FEW_ROWS)
        rows = np.unique([0, *np.minimum(inner, trials.size - 1), trials.size - 1])
        between = np.searchsorted((rows[1:] + rows[:-1]) / 2, np.arange(trials.size))
        return rows, np.bincount(between, trials, rows.size) / trials.sum()


def _marked(size: Floats, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A share of the draws, evenly over all values of `size`."""
    rank = np.empty(size.size)
    rank[np.argsort(size)] = np.arange(size.size) + rng.random()
    return np.asarray(np.floor((rank + 1) * share) > np.floor(rank * share))
