"""Smoothed calibration curves: what share of the cases with a score had the event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from bayescal._base.arrays import Floats, blocks
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError, SeparationError, as_flag
from bayescal._base.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.data.table import Table, tabulate
from bayescal.data.validate import as_count, as_scores, check_choice
from bayescal.estimators.door import DOOR_BLOCK, OutcomesLike, read
from bayescal.estimators.integrated._curve import Curve
from bayescal.estimators.integrated._loess import loess, lowess
from bayescal.estimators.integrated._regression import BASES, regression

__all__ = ["Smoother", "as_smoothing", "flexible_curve", "no_curve", "smoother_of", "span_of"]

Smoother = Callable[[Table, Floats], Curve]
"""A table and the scores at which the curve is wanted, to a function of the events."""

SPANS = {"loess": 0.75, "lowess": 2 / 3}


@documented
def flexible_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Probability of the event at given scores, by a smoother of the outcomes.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    scores : array-like of shape (n_scores,), optional
        Where the curve is wanted; at `y_prob`, or the rows of a table, when not given.
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
    clip : bool
        Cut the curve off at 0 and 1, which a local fit may leave.
    %(weights_by_kish)s

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
    A local fit may leave [0, 1]. It is returned as it is, as R does, unless `clip` is set. Beyond
    the observed scores the local and isotonic curves keep their end value; between them "isotonic"
    is linear.

    A local fit takes the highest power that the scores within its reach determine: one whose share
    of the fit can change by more than 100 for outcomes from 0 to 1 is left out. R's `loess` fails,
    or uses a pseudo-inverse, where scores are too few: when three quarters of the cases have one
    score, say. Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away by "rcs",
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
    smooth = smoother_of(**as_smoothing(smoother, span, n_knots, clip))
    cases = read(y_true, y_prob, sample_weight)
    if scores is not None:
        at = as_scores(scores, "scores")
    else:
        at = y_true.score if isinstance(y_true, CalibrationData) else cases.scores
    table = tabulate(cases.scores, cases.weights)
    curve = smooth(table, at)
    replicates, size = cases.outcomes.shape
    values = np.empty((replicates, at.size))
    for part in blocks(replicates, size, DOOR_BLOCK):
        values[part] = curve(table.hits(cases.outcomes[part]))
    if not cases.shape and np.isnan(values).any():
        raise no_curve(smoother)
    curves = cases.result(values)
    assert not isinstance(curves, float)
    return curves


def as_smoothing(smoother: Any, span: Any, n_knots: Any, clip: Any = False) -> dict[str, Any]:
    """Options of a smoother, each valid; see `flexible_curve`."""
    check_choice(smoother, [*BASES, *SPANS, "isotonic"], "smoother")
    knots = as_count(n_knots, "n_knots", 3, 7)
    if span is not None and (not isinstance(span, (int, float, np.number)) or not 0 < span <= 1):
        raise InputError(f"span must be above 0 and at most 1, got {shortened(repr(span))}.")
    return {"smoother": smoother, "span": span, "n_knots": knots, "clip": as_flag(clip, "clip")}


def smoother_of(smoother: str, span: float | None, n_knots: int, clip: bool = False) -> Smoother:
    """The smoother that options ask for."""
    if clip:
        plain = smoother_of(smoother, span, n_knots)
        return lambda table, at: _cut_off(plain(table, at))
    if smoother in BASES:
        return lambda table, at: regression(BASES[smoother](table, n_knots), table, at)
    if smoother == "isotonic":
        return isotonic
    local = loess if smoother == "loess" else lowess
    return partial(local, span=span_of(smoother, span))


def span_of(smoother: str, span: float | None) -> float:
    """Share of the cases in a local fit."""
    return SPANS[smoother] if span is None else float(span)


def _cut_off(curve: Curve) -> Curve:
    """The curve, cut off at 0 and 1."""
    return lambda hits: np.clip(curve(hits), 0, 1)


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
    """The error for a regression whose likelihood has no maximum."""
    return SeparationError(
        f"y_true is perfectly separated by the scores, or holds one class only, so the {smoother!r}"
        " curve does not exist. Pass smoother='loess', or use bayescal.fit for a posterior."
    )
