"""What a site's summaries say of its curve, at the scores that the site is taken to have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import binomial_mle
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem
from bayescal.multilevel.known import KnownSite

__all__ = ["MOST_KNOWN_ROWS", "Summary", "scores_of_known"]

# Most rows of scores over which the mean of a curve is taken.
MOST_KNOWN_ROWS = 32


def scores_of_known(pooled: Problem, site: KnownSite) -> CalibrationData:
    """The scores that a site without patients is taken to have, without outcomes.

    Those of all sites with patients, moved in log-odds so that their mean is the site's mean risk,
    where that is known.

    Parameters
    ----------
    pooled : Problem
        Of all scores.

    Returns
    -------
    CalibrationData
        With no events.
    """
    table, score = pooled.table, pooled.data.score
    if site.mean_risk is not None:
        x = logit(table.score)
        target = site.mean_risk * table.trials
        (shift,), _ = binomial_mle(np.ones((x.size, 1)), table.trials, target, x)
        score = expit(x + shift)
    none = np.zeros(score.size)
    data = pooled.data
    return CalibrationData(none, score, data.trials, weight_type=data.weight_type)


@dataclass(frozen=True)
class Summary:
    """The likelihood of a site's curve given its summaries alone.

    It depends on two numbers of a curve: its mean over the site's scores, and its slope, that of
    the weighted least-squares line through its log-odds.

    Attributes
    ----------
    problem : Problem
        Of the scores that the site is taken to have, without outcomes.
    """

    site: KnownSite
    problem: Problem

    @cached_property
    def weight(self) -> Floats:
        """Share of the patients at each score, of shape (rows,)."""
        return np.asarray(self.problem.trials / self.problem.trials.sum())

    @cached_property
    def columns(self) -> Floats:
        """Offset and basis of the curve's log-odds at the scores, of shape (1 + k, rows)."""
        offset, basis = self.problem.curve.basis(self.problem.score, self.problem.frame)
        return np.vstack([offset, basis.T])

    @cached_property
    def mean_score(self) -> float:
        """Mean of the predicted probabilities, as they came in."""
        return float(self.weight @ self.problem.stated)

    @cached_property
    def line(self) -> Floats:
        """What the offset and each coefficient add to the slope, of shape (1 + k,)."""
        score, x = self.problem.score, self.problem.log_odds
        information = self.weight * score * (1 - score)
        from_mean = x - np.average(x, weights=information)
        spread = information @ from_mean**2
        if not spread > 0:  # one score, at which every slope is as good
            return np.append(1.0, np.zeros(len(self.columns) - 1))
        return np.asarray(self.columns @ (information * from_mean) / spread)

    @cached_property
    def counts(self) -> tuple[float, float] | None:
        """Cases and events of the binomial law of the events; None where they are not known.

        Given the scores, the number of events varies less than if all patients had the mean risk:
        it counts as that of more patients, of equal risks.
        """
        if self.site.observed is None or self.site.n is None:
            return None
        mean, score = self.mean_score, self.problem.score
        factor = mean * (1 - mean) / float(self.weight @ (score * (1 - score)))
        return factor * self.site.n, factor * self.site.observed

    def log_likelihood(self, mean: Any, slope: Any, log: Any, log1p: Any) -> Any:
        """Log likelihood of curves, of numbers or of PyMC variables, without constants.

        Parameters
        ----------
        mean, slope : ndarray of shape (n,), or variable
            Of each curve at the site's scores.
        log, log1p : callable
            Those of NumPy or PyTensor.

        Returns
        -------
        ndarray of shape (n,), or variable
        """
        value = 0.0 * mean
        if self.counts is not None:
            cases, events = self.counts
            value = value + events * log(mean) + (cases - events) * log1p(-mean)
        ratio, of_slope = self.site.observed_expected, self.site.calibration_slope
        if ratio is not None:
            value = value - ((log(mean / self.mean_score) - ratio.mean) / ratio.error) ** 2 / 2
        if of_slope is not None:
            at = log(slope) if of_slope.is_log else slope
            value = value - ((at - of_slope.mean) / of_slope.error) ** 2 / 2
        return value

    def derivatives(self, mean: Floats, slope: Floats) -> tuple[Floats, Floats]:
        """Gradient and expected information by mean and by slope, each of shape (2, n)."""
        gradient, information = np.zeros((2, 2, mean.size))
        if self.counts is not None:
            cases, events = self.counts
            information[0] = cases / (mean * (1 - mean))
            gradient[0] = (events / cases - mean) * information[0]
        ratio, of_slope = self.site.observed_expected, self.site.calibration_slope
        if ratio is not None:
            precision = 1 / ratio.error**2
            gradient[0] -= (np.log(mean / self.mean_score) - ratio.mean) * precision / mean
            information[0] += precision / mean**2
        if of_slope is not None:
            rate = 1 / slope if of_slope.is_log else np.ones(slope.size)
            at = np.log(slope) if of_slope.is_log else slope
            gradient[1] = (of_slope.mean - at) / of_slope.error**2 * rate
            information[1] = rate**2 / of_slope.error**2
        return gradient, information
