"""Distances between scores, |h(s) - h(s')|, by an increasing function h of the score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.log_odds import log_odds_of
from bayescal._base.text import shortened

__all__ = ["Metric", "as_metric", "positions"]

Metric: TypeAlias = str | Callable[[Floats], Any]
"""The name of a function of the score, or the function itself."""

METRICS: dict[str, Callable[[Floats], Any]] = {"identity": np.copy, "logit": log_odds_of}
METRIC_LARGEST = 1e9


def as_metric(metric: Any) -> Metric:
    """A metric that is known, or a function."""
    if callable(metric):
        function: Callable[[Floats], Any] = metric
        return function
    if isinstance(metric, str) and metric in METRICS:
        return metric
    raise InputError(
        "metric must be one of 'identity', 'logit', or an increasing function of scores, got "
        f"{shortened(repr(metric))}."
    )


def positions(scores: Floats, metric: Metric) -> Floats:
    """H of each score.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    metric : {"identity", "logit"} or callable
        Log-odds of scores nearer than 1e-12 to 0 or 1 are those of 1e-12.

    Returns
    -------
    ndarray of shape (n,)
    """
    if isinstance(metric, str):
        values: Floats = METRICS[metric](scores)
        return values
    try:
        values = np.asarray(metric(scores.copy()), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"metric does not take an array of scores: {error}") from error
    if values.shape != scores.shape or not (np.abs(values) <= METRIC_LARGEST).all():
        raise InputError(
            "metric must give a number from -1e9 to 1e9 for each score. Where it is infinite at 0 "
            "or 1, clip the scores."
        )
    order = np.argsort(scores, kind="stable")
    if (np.diff(values[order]) < 0).any():
        raise InputError("metric must increase with the score.")
    return values
