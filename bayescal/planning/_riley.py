"""Sample sizes by the closed forms of Riley et al."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, as_number, check_choice
from bayescal.core.optimise import clipped
from bayescal.core.text import shortened
from bayescal.planning.setting import as_nodes
from bayescal.validation.truths import LogitNormalScores, population

__all__ = [
    "CLOSED_FORMS",
    "c_statistic_error",
    "c_statistic_size",
    "half_width",
    "observed_expected_size",
    "observed_expected_width",
    "riley",
    "slope_error",
    "slope_size",
    "slope_variance",
]

LEAST_LEVEL = 1e-6
MODE_STEPS = 50
MODE_CONVERGED = 1e-6
LEAST_VARIANCE = 1e-12
SEPARATED = 1e-3


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


def slope_error(score: Floats, trials: Floats, hits: Floats) -> Floats:
    """Standard error of the slope of a logistic regression in each study, of shape (studies,).

    Infinite where the estimate does not exist.
    """
    x = np.broadcast_to(logit(clipped(score)), trials.shape)
    total = trials.sum(axis=1, keepdims=True)
    line = _line(trials / total, x, hits / total)
    each = trials * line * (1 - line)
    mean = np.vecdot(each, x) / np.maximum(each.sum(axis=1), LEAST_VARIANCE)
    information = np.vecdot(each, (x - mean[:, None]) ** 2)
    events = hits.sum(axis=1)
    solved = (events > 0) & (events < total[:, 0]) & (information > SEPARATED)
    return np.where(solved, 1 / np.sqrt(np.maximum(information, SEPARATED)), np.inf)


def _line(weight: Floats, x: Floats, events: Floats) -> Floats:
    """Probabilities of the line in log-odds with the same sums of events.

    Shapes: `weight`, `x`, `events` (studies, rows).
    """
    mean = np.vecdot(weight, x)[:, None]
    spread = np.sqrt(np.vecdot(weight, (x - mean) ** 2))[:, None]
    z = (x - mean) / np.maximum(spread, LEAST_VARIANCE)
    first, second = events.sum(axis=1), np.vecdot(events, z)
    # From a line without slope Newton steps do not overshoot far.
    a, b = logit(clipped(first)), np.zeros(len(x))
    line = expit(a[:, None] + b[:, None] * z)
    for _ in range(MODE_STEPS):
        each = weight * line * (1 - line)
        miss, miss_z = first - np.vecdot(weight, line), second - np.vecdot(weight * line, z)
        mass = np.maximum(each.sum(axis=1), LEAST_VARIANCE)
        of_z, of_square = np.vecdot(each, z), np.vecdot(each, z * z)
        area = np.maximum(of_square * mass - of_z**2, LEAST_VARIANCE)
        step = np.clip((mass * miss_z - of_z * miss) / area, -1, 1)
        up = np.clip((of_square * miss - of_z * miss_z) / area, -1, 1)
        a, b = a + up, b + step
        line = expit(a[:, None] + b[:, None] * z)
        if max(np.abs(step).max(), np.abs(up).max()) < MODE_CONVERGED:
            break
    return np.asarray(line)


CLOSED_FORMS = ("observed_expected", "c_statistic", "calibration_slope")
LEAST_RISK = 1e-12


def riley(
    *,
    prevalence: float | None = None,
    c_statistic: float | None = None,
    log_odds: Any = None,
    scores: Any = None,
    widths: Mapping[str, float],
    ci_prob: float = 0.95,
) -> dict[str, float]:
    """Sizes at which intervals have a width, by the closed forms of Riley et al. (2021).

    They take a calibrated model, and give the size at which the expected information makes the
    interval as narrow as wanted; a study of that size misses the width about every second time.
    `bayescal.plan` simulates the studies and gives a size with assurance.

    Parameters
    ----------
    prevalence : float in (0, 1), optional
        Share of events, for O/E and c-statistic; by default the mean of `scores`, if given.
    c_statistic : float in (0.5, 1), optional
        For its own interval.
    log_odds : (float, float), or distribution of SciPy, optional
        Mean and standard deviation of normal log-odds of the scores, or their distribution, for
        the slope.
    scores : array-like of shape (n,), law of scores, or distribution of SciPy, optional
        The scores themselves, instead of `log_odds`.
    widths : mapping of str to float
        Wanted widths of the intervals of "observed_expected", "c_statistic" and
        "calibration_slope"; any of them.
    ci_prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    dict of str to float
        Cases needed for each of `widths`, not rounded.

    Raises
    ------
    InputError
        If a width is not positive, or what a measure needs is missing.

    Notes
    -----
    The width of O/E is exp(1.96 se) - exp(-1.96 se), at O/E = 1, with se^2 = (1 - prevalence) /
    (n prevalence). The c-statistic is by Newcombe's variance, the slope by the expected
    information of a logistic regression on the log-odds.

    References
    ----------
    Riley et al. (2021), Minimum sample size for external validation of a clinical prediction model
    with a binary outcome, Statistics in Medicine 40.

    Examples
    --------
    >>> from bayescal import planning
    >>> sizes = planning.riley(
    ...     prevalence=0.018,
    ...     c_statistic=0.8,
    ...     log_odds=(-5, 2.5),
    ...     widths={"observed_expected": 1.0, "c_statistic": 0.1, "calibration_slope": 0.2},
    ... )
    >>> {name: round(n) for name, n in sizes.items()}
    {'observed_expected': 905, 'c_statistic': 4251, 'calibration_slope': 4554}
    """
    half = half_width(ci_prob)
    wanted = _as_widths(widths)
    if log_odds is not None and scores is not None:
        raise InputError("log_odds and scores were both given: pass one of them.")
    score, weight = _nodes(log_odds, scores)
    share = as_level(prevalence, "prevalence") if prevalence is not None else None
    if share is not None and not LEAST_RISK <= share <= 1 - LEAST_RISK:
        raise InputError(f"prevalence must be from {LEAST_RISK:g} to 1 - 1e-12, got {share:g}.")
    if share is None and scores is not None:
        share = float(weight @ score)
    sizes = {}
    for name, width in wanted.items():
        if name == "calibration_slope":
            if not score.size:
                raise InputError("log_odds is missing: the slope needs it, or scores.")
            if np.ptp(score) == 0:
                raise InputError("scores are all equal, and then there is no slope.")
            sizes[name] = slope_size(logit(score), weight, width, half)
            continue
        if share is None:
            raise InputError(f"prevalence is missing: {name} needs it.")
        if name == "observed_expected":
            sizes[name] = observed_expected_size(share, width, half)
        else:
            sizes[name] = c_statistic_size(share, _as_c(c_statistic), width, half)
    return sizes


def _as_widths(widths: Any) -> dict[str, float]:
    if not isinstance(widths, Mapping) or not widths:
        raise InputError(
            "widths must be a mapping of measures to widths, such as {'calibration_slope': 0.2}, "
            f"got {shortened(repr(widths))}."
        )
    wanted = {check_choice(name, CLOSED_FORMS, "widths"): widths[name] for name in widths}
    for name, value in wanted.items():
        wanted[name] = width = as_number(value, f"widths[{name!r}]")
        if not 1e-6 <= width <= 1e6:
            raise InputError(f"widths[{name!r}] must be from 1e-6 to 1e6, got {width:g}.")
    return wanted


def _as_c(value: Any) -> float:
    if value is None:
        raise InputError("c_statistic is missing: its own width needs it.")
    c = as_level(value, "c_statistic")
    if c <= 0.5:
        raise InputError(f"c_statistic must be above 0.5, got {c:g}.")
    return c


def _nodes(log_odds: Any, scores: Any) -> tuple[Floats, Floats]:
    """Scores and their weights; none where neither is given."""
    if scores is not None:
        score, weight = as_nodes(scores, "scores")
        return np.clip(score, LEAST_RISK, 1 - LEAST_RISK), weight
    if log_odds is None:
        return np.empty(0), np.empty(0)
    if hasattr(log_odds, "ppf"):
        from scipy.special import expit

        score, weight = as_nodes(log_odds, "log_odds", log_odds=True)
        return np.asarray(expit(np.clip(score, -700, 700))), weight
    try:
        mean, sd = (as_number(value, "log_odds") for value in log_odds)
    except (TypeError, ValueError):
        raise InputError(
            "log_odds must be a mean and a standard deviation, or a distribution of SciPy, got "
            f"{shortened(repr(log_odds))}."
        ) from None
    if not 0 < sd <= 100 or abs(mean) > 100:
        raise InputError(
            f"log_odds must be a mean from -100 to 100 and a standard deviation of at most 100, "
            f"got {shortened(repr(log_odds))}."
        )
    score, _, weight = population(LogitNormalScores(mean, sd))
    return np.clip(score, LEAST_RISK, 1 - LEAST_RISK), weight
