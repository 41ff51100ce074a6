"""How probable exact calibration is: of every site, and of the average site."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from bayescal._base.arrays import Floats
from bayescal.model.average import PRIOR_CALIBRATED
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["ProbCalibrated", "identity_log_likelihood", "prob_calibrated"]


class ProbCalibrated(NamedTuple):
    """Posterior probabilities of exact calibration.

    Attributes
    ----------
    every_site : float
        That the curve of every site is the diagonal.
    average_site : float
        That the curve of the average site is; the sites' own may differ from it.
    """

    every_site: float
    average_site: float


def prob_calibrated(drawn: MultilevelDraws) -> ProbCalibrated | None:
    """Compare three models: all sites calibrated, the average site calibrated, and neither.

    Each of the first two has prior probability 0.1. The evidence of the first is its likelihood.
    That of the second against the third is the Savage-Dickey ratio, the posterior over the prior
    density of the average site at the diagonal; for the posterior, the normal law with the mean
    and covariance of the draws stands in.

    Returns
    -------
    ProbCalibrated or None
        None where NUTS drew, which computes no evidence, and of factors and periods.

    References
    ----------
    Dickey (1971), The weighted likelihood ratio, linear hypotheses on normal location parameters,
    Annals of Mathematical Statistics 42.
    """
    if "log_evidence" not in drawn.stats or not drawn.problem.terms[0].correlated:
        return None
    problem, evidence = drawn.problem, drawn.stats["log_evidence"]
    names, zero = problem.pooled.curve.coordinates, np.zeros((1, problem.pooled.curve.size))
    at_zero = _normal_log_density(drawn.average, zero[0])
    ratio = at_zero - problem.pooled.prior.logpdf(names, zero)[0]
    logs = [identity_log_likelihood(problem), evidence + ratio, evidence]
    prior = [PRIOR_CALIBRATED, PRIOR_CALIBRATED, 1 - 2 * PRIOR_CALIBRATED]
    share = softmax(np.array(logs) + np.log(prior))
    return ProbCalibrated(float(share[0]), float(share[:2].sum()))


def identity_log_likelihood(problem: MultilevelProblem) -> float:
    """Log likelihood of exact calibration at every site."""
    value = 0.0
    for site in problem.tables.values():
        table = site.table
        value += BINOMIAL.of_calibrated(table.score, table.trials, table.hits)
    for summary in problem.summaries.values():
        calibrated = np.array([summary.mean_score]), np.ones(1)
        value += float(summary.log_likelihood(*calibrated, np.log, np.log1p)[0])
    return value


def _normal_log_density(draws: Floats, point: Floats) -> float:
    """At a point of shape (d,), of the normal law with the mean and covariance of the draws."""
    off, covariance = point - draws.mean(axis=0), np.atleast_2d(np.cov(draws.T))
    log_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
    return float(-(off @ np.linalg.solve(covariance, off) + log_det) / 2)
