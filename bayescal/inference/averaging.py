"""The average: components mixed by evidence, and the draws that distances are read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal._base.arrays import Floats
from bayescal._base.sampling.importance import Sample, mix_samples
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import CURVES, in_average
from bayescal.model.mixture import Shares, components_of, recentred, shares_of
from bayescal.posterior.averaged.draws import Averaged, DistanceDraws
from bayescal.posterior.one_sided import side_shares
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Drawn

__all__ = ["Mixture"]


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
    components : tuple of Component
    """

    def __init__(self, samples: FamilySamples, weights: Mapping[str, float]) -> None:
        self._samples, self.problem = samples, samples.problem
        self.components = components_of(weights, self.problem)

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """Draws and evidence of each component, in its own coordinates."""
        return tuple(self._samples.of(each) for each in self.components)

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
        return float(self.shares.posterior[self._of(family)].sum())

    def log_evidence_of(self, family: str) -> float:
        """Log evidence of a family: of its mean over the scales, by prior weight."""
        chosen = self._of(family)
        if not chosen:
            return self._samples[family].log_evidence
        evidence = np.array([self.samples[k].log_evidence for k in chosen])
        return float(logsumexp(evidence + self._log_prior(chosen)))

    @property
    def log_evidence_of_rest(self) -> float:
        """Log evidence of all that is not exact calibration."""
        rest = [k for k, each in enumerate(self.components) if not each.is_exact]
        evidence = np.array([self.samples[k].log_evidence for k in rest])
        return float(logsumexp(evidence + self._log_prior(rest)))

    def family(self, family: str) -> Sample:
        """Draws of one family in its own coordinates at the average's centre, its scales mixed."""
        chosen = self._of(family)
        if len(chosen) < 2:
            return self.samples[chosen[0]] if chosen else self._samples[family]
        return self._mixed(chosen, self._log_prior(chosen), f"scales of {family}", family)[0]

    def posterior(self) -> CalibrationPosterior:
        """Draws of the curve given that calibration is not exact, and draws of distances.

        Mixed into the curve, exact calibration would pull every interval onto one point.

        Returns
        -------
        CalibrationPosterior
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
        with np.errstate(divide="ignore"):
            log_weights = np.log(share) - evidence
        sample, part = self._mixed(range(len(share)), log_weights, purpose)
        return sample.draws, part

    @cached_property
    def sides(self) -> tuple[Floats, Floats]:
        """Shares of the often-calibrated stretches above, and below, the diagonal, by row."""
        return side_shares(self.problem, self._samples.often_calibrated.draws)

    @property
    def often_calibrated(self) -> Floats:
        """Draws of stretches that are often calibrated, in the union of coordinates."""
        own = self._samples.often_calibrated.draws
        return in_average(CURVES["pieces"], own, self.problem.curve, self.problem.frame)

    def _of(self, family: str) -> list[int]:
        return [k for k, each in enumerate(self.components) if each.family == family]

    def _log_prior(self, chosen: Sequence[int]) -> Floats:
        """Of some components, scaled to sum to 1."""
        weight = np.array([self.components[k].prior for k in chosen])
        return np.asarray(np.log(weight / weight.sum()))

    def _mixed(
        self, chosen: Sequence[int], log_weights: Floats, purpose: str, family: str = ""
    ) -> tuple[Sample, NDArray[np.intp]]:
        """Some components mixed, in the coordinates of the average, or of the family they are of.

        All at the average's centre.
        """
        draws, curve = self._samples.draws, self.problem.curve
        numbered = np.arange(draws, dtype=np.float64)[:, None]
        parts = [replace(self.samples[k], draws=numbered) for k in chosen]
        mixed, part = mix_samples(parts, log_weights, draws, self.problem.rng(purpose))
        index = mixed.draws[:, 0].astype(np.intp)
        size = self.problem.of_family(CURVES[family]).curve.size if family else curve.size
        u = np.empty((draws, size))
        for number, k in enumerate(chosen):
            rows, of = np.flatnonzero(part == number), self.components[k]
            own = recentred(
                CURVES[of.family],
                self.samples[k].draws[index[rows]],
                self._samples.at(of).problem.frame,
                self.problem.frame,
            )
            u[rows] = (
                own if family else in_average(CURVES[of.family], own, curve, self.problem.frame)
            )
        return replace(mixed, draws=u), part
