"""Sample sizes by the closed forms of Riley et al."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, as_number, check_choice
from bayescal.core.text import shortened
from bayescal.planning.closed_forms import (
    c_statistic_size,
    half_width,
    observed_expected_size,
    slope_size,
)
from bayescal.planning.laws import as_nodes
from bayescal.validation.truths import LogitNormalScores, population

__all__ = ["CLOSED_FORMS", "riley"]

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
