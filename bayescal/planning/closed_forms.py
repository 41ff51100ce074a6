"""Closed forms of the precision of O/E, c-statistic and slope, and of the size that it needs."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level

__all__ = [
    "c_statistic_error",
    "c_statistic_size",
    "half_width",
    "observed_expected_size",
    "observed_expected_width",
    "slope_size",
    "slope_variance",
]

LEAST_LEVEL = 1e-6


def half_width(ci_prob: float) -> float:
    """Standard errors on either side of an estimate, such as 1.96 for 0.95."""
    level = as_level(ci_prob)
    if level < LEAST_LEVEL:
        raise InputError(f"ci_prob must be at least {LEAST_LEVEL:g}, got {level:g}.")
    return float(ndtri((1 + level) / 2))


def observed_expected_size(prevalence: float, width: float, half: float) -> float:
    """Cases at which the interval of O/E has a width, where O/E is 1."""
    error = math.asinh(width / 2) / half
    return (1 - prevalence) / (prevalence * error**2)


def observed_expected_width(events: Floats, n: float, half: float) -> Floats:
    """Width of the interval of O/E where it is 1, expected events taken as known."""
    error = np.sqrt((1 - events / n) / np.maximum(events, 1e-300))
    return np.asarray(2 * np.sinh(np.minimum(half * error, 700)))


def c_statistic_size(prevalence: float, c: float, width: float, half: float) -> float:
    """Cases at which the interval of the c-statistic has a width, by Newcombe's formula."""
    variance, even = (width / (2 * half)) ** 2 * prevalence * (1 - prevalence), c * (1 - c)
    concordant = (1 - c) / (2 - c) + c / (1 + c)
    linear = even * concordant / 2
    return (linear + math.sqrt(linear**2 + 4 * variance * even * (1 - concordant))) / (2 * variance)


def c_statistic_error(trials: Floats, hits: Floats) -> Floats:
    """Standard error of the c-statistic by DeLong, of tables of ascending scores.

    Shapes: `trials`, `hits` (tables, rows); result (tables,).
    """
    others = trials - hits
    events, rest = hits.sum(axis=1), others.sum(axis=1)
    below = np.cumsum(others, axis=1) - others / 2
    above = events[:, None] - np.cumsum(hits, axis=1) + hits / 2
    defined = (events > 1) & (rest > 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = _variance_of_mean(below / rest[:, None], hits) + _variance_of_mean(
            above / events[:, None], others
        )
    return np.where(defined, np.sqrt(np.where(defined, variance, 0)), np.inf)


def _variance_of_mean(values: Floats, cases: Floats) -> Floats:
    total = cases.sum(axis=1)
    mean = np.vecdot(values, cases) / total
    spread = np.vecdot((values - mean[:, None]) ** 2, cases)
    return np.asarray(spread / (total * (total - 1)))


def slope_variance(log_odds: Floats, weight: Floats) -> float:
    """Variance of the slope of a logistic regression, times the number of cases.

    Shapes: `log_odds`, `weight` (rows,).
    """
    each = weight * expit(log_odds) * expit(-log_odds)
    centre = each @ log_odds / each.sum()
    return float(1 / (each @ (log_odds - centre) ** 2))


def slope_size(log_odds: Floats, weight: Floats, width: float, half: float) -> float:
    """Cases at which the interval of the calibration slope has a width."""
    return slope_variance(log_odds, weight) * (2 * half / width) ** 2
