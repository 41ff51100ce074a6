"""The average: components mixed by evidence, and the draws that distances are read from."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import DiagnosticWarning
from bayescal.core.sampling import (
    Sample,
    even_choice,
    of_mixture,
    resample,
    shares_of_parts,
)
from bayescal.core.versions import one_blas_thread
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import CURVES, Curve, in_average
from bayescal.model.mixture import (
    MODEST_SCALE,
    NOWHERE,
    Component,
    Shares,
    components_of,
    recentred,
    shares_of,
)
from bayescal.posterior.averaged.draws import Averaged, DistanceDraws
from bayescal.posterior.one_sided import one_sided, side_shares, sureness
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Drawn

__all__ = ["Evidence", "Mixture"]

FEW_ROWS = 10
"""Scores at which curves are compared before some of them are chosen."""

LEAST_EFFECTIVE = 0.02
"""Effective draws, as a share of all, below which a component is left out of an average."""

CHOICE = 3
"""How many points of a component, for each draw of it, are chosen from."""


class Evidence(NamedTuple):
    """Log evidence of a family, its Monte Carlo error, and the worst k-hat of its samples."""

    log: float
    error: float
    pareto_k: float

    @classmethod
    def of(cls, sample: Sample) -> Evidence:
        """That of one sample."""
        return cls(sample.log_evidence, sample.log_evidence_error, sample.pareto_k)


class Mixture:
    """The components of an average on one table, with their samples.

    Parameters
    ----------
    samples : FamilySamples
        Of the families, under the prior in use.
    weights : mapping of str to float
        Prior probability of each family, exact calibration included.

    Attributes
    ----------
    problem : Problem
        Of the average: one centre and one set of knots for all families.
    """

    def __init__(self, samples: FamilySamples, weights: Mapping[str, float]) -> None:
        self._samples, self.problem = samples, samples.problem
        self.components = components_of(weights, self.problem)

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """Draws and evidence of each component, in its own coordinates.

        One whose draws are worth far too few has a log evidence of minus infinity: it is left out,
        and its weight goes to the others. Its evidence cannot be believed either.
        """
        samples = [self._samples.of(each) for each in self.components]
        few = [
            not each.is_exact and sample.ess < LEAST_EFFECTIVE * len(sample.draws)
            for each, sample in zip(self.components, samples, strict=True)
        ]
        if any(few) and not all(
            lost or each.is_exact for each, lost in zip(self.components, few, strict=True)
        ):
            self._warn_of_few(samples, few)
            samples = [
                replace(sample, log_evidence=-np.inf) if lost else sample
                for sample, lost in zip(samples, few, strict=True)
            ]
        return tuple(samples)

    def _warn_of_few(self, samples: Sequence[Sample], few: Sequence[bool]) -> None:
        names = [
            f"{each.family} ({each.scale}), {sample.ess:.0f} of {len(sample.draws)}"
            for each, sample, lost in zip(self.components, samples, few, strict=True)
            if lost
        ]
        warnings.warn(
            "the average leaves out families whose draws are worth too few, and their weight goes "
            f"to the others: {'; '.join(names)}.",
            DiagnosticWarning,
            stacklevel=2,
        )

    @cached_property
    def shares(self) -> Shares:
        """How many of the draws are of each component."""
        return shares_of(self.components, np.array([each.log_evidence for each in self.samples]))

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration."""
        return self.probability_of("identity")

    def probability_of(self, family: str) -> float:
        """Posterior probability of a family, summed over its scales."""
        mine = [each.family == family for each in self.components]
        return float(self.shares.posterior[mine].sum())

    def evidence_of(self, family: str) -> Evidence:
        """The evidence of a family: the mean over its scales, by prior weight."""
        chosen = [
            k
            for k, each in enumerate(self.components)
            if each.family == family and np.isfinite(self.samples[k].log_evidence)
        ]
        if not chosen:
            return Evidence.of(self._samples[family])
        evidence = np.array([self.samples[k].log_evidence for k in chosen])
        joint = evidence + self._log_prior(chosen)
        errors = np.array([self.samples[k].log_evidence_error for k in chosen])
        return Evidence(
            float(logsumexp(joint)),
            float(np.linalg.norm(softmax(joint) * errors)),
            max(self.samples[k].pareto_k for k in chosen),
        )

    @property
    def log_evidence_of_rest(self) -> float:
        """Log evidence of all that is not exact calibration."""
        rest = [k for k, each in enumerate(self.components) if not each.is_exact]
        evidence = np.array([self.samples[k].log_evidence for k in rest])
        return float(logsumexp(evidence + self._log_prior(rest)))

    @one_blas_thread
    def posterior(self) -> CalibrationPosterior:
        """Draws of the curve given that calibration is not exact, and draws of distances.

        Mixed into the curve, exact calibration would pull every interval onto one point.
        """
        curved = [k for k, each in enumerate(self.components) if not each.is_exact]
        sample, part = self._mixed(curved, self._log_prior(curved), "average")
        distances = DistanceDraws(*self.curves(self.shares.distances, "distances"), *self.sides)
        averaged = Averaged(
            self.components, self.prob_calibrated, np.array(curved)[part], distances
        )
        return CalibrationPosterior.of_draws(Drawn.of_sample(self.problem, sample, averaged))

    def curves(self, share: Floats, purpose: str) -> tuple[Floats, NDArray[np.intp]]:
        """Draws in the union of coordinates, so many of each component as `share` says.

        Parameters
        ----------
        share : ndarray of shape (components,)
        purpose : str
            Of the random stream.

        Returns
        -------
        u : ndarray of shape (draws, coordinates of the average)
        part : ndarray of shape (draws,)
            The component of each draw.
        """
        evidence = np.array([each.log_evidence for each in self.samples])
        log_weights = np.full(len(share), -np.inf)
        some = share > 0
        log_weights[some] = np.log(share[some]) - evidence[some]
        sample, part = self._mixed(range(len(share)), log_weights, purpose)
        return sample.draws, part

    def smooth_curves(self) -> Floats:
        """Draws of the smooth families under the prior in use, by prior weight and evidence.

        Where there are few distinct scores, a risk of its own for each stands for `spline`.

        Returns
        -------
        ndarray of shape (draws, coordinates of the average)
            In the union.
        """
        smooth = [
            k
            for k, each in enumerate(self.components)
            if (CURVES[each.family].coordinates or each.scale == NOWHERE)
            and each.scale != MODEST_SCALE
        ]
        weight: defaultdict[str, float] = defaultdict(float)
        for each in self.components:
            weight[each.stands_for] += each.prior
        log_prior = np.log([weight[self.components[k].stands_for] for k in smooth])
        return self._mixed(smooth, log_prior, "average")[0].draws

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        """Shares of the often-calibrated curves above, and below, the diagonal, by row."""
        often = [k for k, each in enumerate(self.components) if each.is_often]
        if not often:
            pieces = self.problem.of_family(CURVES["pieces"])
            return side_shares(pieces, self._samples.often_calibrated.draws)
        samples = [self.samples[k] for k in often]
        weight = shares_of_parts(samples, self._log_prior(often))
        families = [self.problem.of_family(CURVES[self.components[k].family]) for k in often]
        each = [
            side_shares(family, sample.draws)
            for family, sample in zip(families, samples, strict=True)
        ]
        above, below = (np.asarray(weight @ np.stack(side)) for side in zip(*each, strict=True))
        return above, below

    def _log_prior(self, chosen: Sequence[int]) -> Floats:
        """Of some components, scaled to sum to 1."""
        weight = np.array([self.components[k].prior for k in chosen])
        return np.asarray(np.log(weight / weight.sum()))

    def _mixed(
        self, chosen: Sequence[int], log_weights: Floats, purpose: str
    ) -> tuple[Sample, NDArray[np.intp]]:
        """Some components mixed, in the coordinates of the average and at its centre.

        The draws of a component are chosen once, from its weighted points, and evenly: chosen a
        second time and at random, they would lose how evenly the points are spread.
        """
        problem, samples = self.problem, [self.samples[k] for k in chosen]
        draws, rng = self._samples.draws, problem.rng(purpose)
        part = resample(shares_of_parts(samples, log_weights), draws, rng)
        u = np.empty((draws, problem.curve.size))
        for number, k in enumerate(chosen):
            rows, component = np.flatnonzero(part == number), self.components[k]
            if not rows.size:
                continue
            points, weights = samples[number].weighted
            some = slice(None, None, max(len(points) // (CHOICE * rows.size), 1))
            features = self._features(k, self._errors[k][some], purpose)
            picked = even_choice(features, weights[some], rows.size, rng)
            curve, frame = self._curve_of(component), self._samples.at(component).frame
            at_centre = recentred(curve, points[some][picked], frame, problem.frame)
            u[rows] = in_average(curve, at_centre, problem.curve, problem.frame)
        return of_mixture(samples, log_weights, u), part

    def _features(self, k: int, error: Floats, purpose: str) -> Floats:
        """What draws of a component are mostly read for, of shape (features, points).

        Of distances: the mean error, the largest, and the signed error. Of curves: the signed
        error, and how it grows and bends with the log-odds.
        """
        rows, weight = self._nodes
        if purpose == "distances":
            if self.components[k].is_often:
                side = sureness(*(each[rows] for each in self.sides))
                error = one_sided(error, np.zeros(rows.size), side)
            distance = np.abs(error)
            return np.stack([distance @ weight, distance.max(axis=1), error @ weight])
        x = self.problem.log_odds[rows]
        powers = np.vander(x - weight @ x, 3, increasing=True)
        return np.asarray((error @ (weight[:, None] * powers)).T)

    def _curve_of(self, component: Component) -> Curve:
        """The family of a component."""
        return CURVES[component.family]

    @cached_property
    def _errors(self) -> list[Floats]:
        """Curve minus score at the nodes, of the points of each component."""
        rows, errors = self._nodes[0], []
        score, stated = self.problem.score[rows], self.problem.stated[rows]
        for component, sample in zip(self.components, self.samples, strict=True):
            curve, frame = self._curve_of(component), self._samples.at(component).frame
            drawn = curve.at_scores(score, frame, stated).probability(sample.weighted[0])
            errors.append(np.asarray(drawn - stated))
        return errors

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.intp], Floats]:
        """A few rows that stand for all, the outer ones among them, and their shares of cases."""
        trials = self.problem.trials
        middle = (np.cumsum(trials) - trials / 2) / trials.sum()
        inner = np.searchsorted(middle, (np.arange(FEW_ROWS) + 0.5) / FEW_ROWS)
        rows = np.unique([0, *np.minimum(inner, trials.size - 1), trials.size - 1])
        between = np.searchsorted((rows[1:] + rows[:-1]) / 2, np.arange(trials.size))
        return rows, np.bincount(between, trials, rows.size) / trials.sum()
