"""Smoothed calibration curves: what share of the cases with a score had the event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, SeparationError
from bayescal.data.validate import (
    as_outcome_batch,
    as_scores,
    as_weights,
    check_choice,
    check_same_order,
)
from bayescal.estimators._replicates import BLOCK
from bayescal.estimators._table import Curve, Table, tabulate
from bayescal.estimators.integrated._loess import loess, lowess
from bayescal.estimators.integrated._regression import BASES, regression

__all__ = ["Smoother", "flexible_curve", "no_curve", "smoother_of"]

Smoother = Callable[[Table, Floats], Curve]
"""A table and the scores at which the curve is wanted, to a function of the events."""

SPANS = {"loess": 0.75, "lowess": 2 / 3}


def flexible_curve(
    y_true: Any,
    y_prob: Any,
    scores: Any = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    sample_weight: Any = None,
) -> Floats:
    """Probability of the event at given scores, by a smoother of the outcomes.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores.
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    scores : array-like of shape (n_scores,), optional
        Where the curve is wanted; at `y_prob` when not given.
    smoother : {"loess", "lowess", "rcs", "logistic", "beta", "isotonic"}
        "loess": local quadratics with tricube weights, fitted at the vertices of a k-d tree and
        joined by cubics, which is R's `loess` as it comes. "lowess": local lines at scores one
        hundredth of the range apart, joined by lines, which is R's `lowess` with `iter=0`.
        "rcs": logistic regression on a restricted cubic spline of the log-odds, with knots at
        Harrell's quantiles. "logistic": the same on the log-odds. "beta": on log s and
        log(1 - s). "isotonic": the non-decreasing curve of least squares.
    span : float, optional
        Share of the cases that a local fit uses, above 0 and at most 1: 3/4 for "loess" and 2/3
        for "lowess" unless given. The other smoothers do not use it.
    n_knots : int
        Knots of "rcs", from 3 to 7; equal ones count once. The other smoothers do not use it.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts. If any is not whole they are rescaled to Kish's effective sample size.

    Returns
    -------
    ndarray of shape (n_scores,) or (..., n_scores)
        Rows of NaN for replicates in which the curve does not exist.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, an option is out of
        range, or the one set of outcomes is separated by the scores, so that a regression has no
        maximum likelihood.

    Notes
    -----
    A local fit may leave [0, 1]. It is returned as it is, as R does. Beyond the observed scores
    the local and isotonic curves keep their end value; between them "isotonic" is linear.

    A local fit takes the highest power that the scores within its reach determine. R's `loess`
    fails, or uses a pseudo-inverse, where these are too few: when three quarters of the cases
    have one score, say. Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away by "rcs",
    "logistic" and "beta".

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Cleveland & Grosse, "Computational methods for local regression", Statistics and Computing 1,
    1991. Cleveland, "Robust Locally Weighted Regression and Smoothing Scatterplots", Journal of
    the American Statistical Association 74, 1979.

    Harrell, "Regression Modeling Strategies", second edition, 2015, section 2.4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> estimators.flexible_curve(y_true, y_prob, [0.1, 0.3, 0.6]).round(2)
    array([0.19, 0.27, 0.48])
    """
    smooth = smoother_of(smoother, span, n_knots)
    observed = as_scores(y_prob)
    outcomes = as_outcome_batch(y_true, observed.size)
    check_same_order(y_true, y_prob)
    at = observed if scores is None else as_scores(scores, "scores")
    table = tabulate(observed, as_weights(sample_weight, observed.size))
    curve = smooth(table, at)
    rows = outcomes.reshape(-1, observed.size)
    values = np.empty((rows.shape[0], at.size))
    step = max(1, BLOCK // observed.size)
    for start in range(0, rows.shape[0], step):
        part = slice(start, start + step)
        values[part] = curve(table.hits(rows[part]))
    if outcomes.ndim == 1 and np.isnan(values).any():
        raise no_curve(smoother)
    return values.reshape(*outcomes.shape[:-1], at.size)


def smoother_of(name: Any, span: Any, n_knots: Any) -> Smoother:
    """The smoother that options ask for; see `flexible_curve`."""
    check_choice(name, [*BASES, *SPANS, "isotonic"], "smoother")
    whole = isinstance(n_knots, (int, np.integer)) and not isinstance(n_knots, bool)
    if not whole or not 3 <= n_knots <= 7:
        raise InputError(f"n_knots must be a whole number from 3 to 7, got {n_knots!r}.")
    share = SPANS.get(name, 1.0) if span is None else span
    if not isinstance(share, (int, float, np.number)) or not 0 < share <= 1:
        raise InputError(f"span must be above 0 and at most 1, got {span!r}.")
    if name in BASES:
        return lambda table, at: regression(BASES[name](table, int(n_knots)), table, at)
    if name == "isotonic":
        return isotonic
    return partial(loess if name == "loess" else lowess, span=float(share))


def isotonic(table: Table, at: Floats) -> Curve:
    """Pool adjacent violators."""

    def curve(hits: Floats) -> Floats:
        values = np.empty((hits.shape[0], at.size))
        for value, rate in zip(values, hits / table.trials, strict=True):
            steps = isotonic_regression(rate, weights=table.trials).x
            value[:] = np.interp(at, table.score, steps)
        return values

    return curve


def no_curve(smoother: str) -> SeparationError:
    """What to say when the likelihood of a regression has no maximum."""
    return SeparationError(
        f"y_true is perfectly separated by the scores, or holds one class only, so the {smoother!r}"
        " curve does not exist. Pass smoother='loess', or use bayescal.fit for a posterior."
    )
