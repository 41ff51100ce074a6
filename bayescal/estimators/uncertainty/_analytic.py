"""Intervals in closed form, for the estimators that have one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.estimators.binned.bins import BINS_SAME, Bins, bins_of
from bayescal.estimators.binned.debiased import debiased_core
from bayescal.estimators.clinical.intervals import (
    calibration_in_the_large_interval,
    calibration_intercept_interval,
    calibration_slope_interval,
    observed_expected_interval,
)
from bayescal.estimators.door import Cases

__all__ = ["ANALYTIC"]


def _l2_interval(
    cases: Cases,
    level: float,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: int = 2,
    ties: str = "together",
    signed: bool = False,
) -> tuple[float, float]:
    """Interval of the debiased square error (Sun et al. 2024), rooted unless `signed`.

    With U = outcome - score, m_b and q_b the means of U and U^2 in bin b, and T the debiased
    square error, n var(T) is sum_b w_b (4 m_b^2 q_b - 3 m_b^4) - (sum_b w_b m_b^2)^2 where the
    model is not calibrated. Where it is, var(T) is
    2 / n^2 sum_b sum_{j != k in b} v_j v_k / (n_b - 1)^2, with v = score (1 - score).
    """
    if p != 2:
        raise InputError("debiased_ece has an analytic interval for p=2 only.")
    options: dict[str, Any] = {"n_bins": n_bins, "binning": binning, "ties": ties}
    outcomes, scores, weights = cases.outcomes[0], cases.scores, cases.weights
    bins = bins_of(scores, weights, **options)
    statistic = debiased_core(scores, weights, p=2, signed=True, **options)
    square = float(statistic(cases.outcomes)[0])
    sd = _sd(bins, outcomes - scores)
    one_sided, two_sided = ndtri(level) * sd, ndtri((1 + level) / 2) * sd
    floored = max(square, 0)
    lower = float(np.median([floored - two_sided, floored / 2, floored - one_sided]))
    if square < ndtri(level) * _sd_if_calibrated(bins, scores):
        lower = 0
    ends = max(lower, 0), floored + two_sided
    return ends if signed else (math.sqrt(ends[0]), math.sqrt(ends[1]))


def _sd(bins: Bins, residual: Floats) -> float:
    """Standard error of the square where the model is not calibrated."""
    n, gap = bins.mass.sum(), _mean(bins, residual)
    share = bins.mass / n
    apart = share @ (4 * gap**2 * _mean(bins, residual**2) - 3 * gap**4) - (share @ gap**2) ** 2
    return math.sqrt(max(apart, 0) / n)


def _sd_if_calibrated(bins: Bins, scores: Floats) -> float:
    """Standard error of the square, given the scores, where the model is calibrated."""
    cases, chance = np.maximum(bins.mass, 2), scores * (1 - scores)
    pairs = (cases * _mean(bins, chance)) ** 2 - cases * _mean(bins, chance**2)
    return math.sqrt(2 * max((pairs / (cases - 1) ** 2).sum(), 0)) / float(bins.mass.sum())


def _mean(bins: Bins, values: Floats) -> Floats:
    """Mean over each bin of several cases, 0 in others."""
    several = bins.mass >= 2 - BINS_SAME
    means: Floats = several * (bins.shares @ values) / np.where(bins.mass > 0, bins.mass, 1)
    return means


def _of(interval: Callable[..., tuple[float, float]]) -> Callable[..., tuple[float, float]]:
    """A public interval function as `(cases, level) -> (lower, upper)`."""
    return lambda cases, level: interval(cases, ci_prob=level)


ANALYTIC: dict[str, Callable[..., tuple[float, float]]] = {
    "calibration_in_the_large": _of(calibration_in_the_large_interval),
    "calibration_intercept": _of(calibration_intercept_interval),
    "calibration_slope": _of(calibration_slope_interval),
    "debiased_ece": _l2_interval,
    "observed_expected": _of(observed_expected_interval),
}
"""By name of the estimator: `(cases, level, **options) -> (lower, upper)`."""
