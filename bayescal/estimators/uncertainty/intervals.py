"""Intervals for any estimator: the bootstrap in three forms, closed forms where there are some.

And what the estimator would say of a calibrated model, which is no interval for the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats, RandomState, random_generator
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import percent, rounded
from bayescal.data.clusters import Clusters
from bayescal.data.data import CalibrationData
from bayescal.data.validate import MOST_DRAWS, as_count, as_level, check_choice
from bayescal.estimators.door import Cases, OutcomesLike, read
from bayescal.estimators.uncertainty._analytic import ANALYTIC
from bayescal.estimators.uncertainty._bootstrap import bca_levels, known, resampled
from bayescal.estimators.uncertainty._resamples import (
    cells_of,
    cells_of_clusters,
    draw,
    draw_clusters,
)
from bayescal.estimators.uncertainty.applied import Applied, applied_of
from bayescal.estimators.uncertainty.simulated import (
    cases_by_score,
    estimates_on_simulated_outcomes,
)

__all__ = ["Interval", "Resamples", "estimator_interval"]

INTERVAL_METHODS = ("analytic", "basic", "bca", "consistency", "percentile")
FEWEST_RESAMPLES = 100


class Interval(NamedTuple):
    """An estimate and its interval.

    Attributes
    ----------
    estimate, lower, upper : float
    method : str
    ci_prob : float
    """

    estimate: float
    lower: float
    upper: float
    method: str
    ci_prob: float

    def __str__(self) -> str:
        ends = self.lower, self.upper
        middle, low, high = rounded((self.estimate, *ends), *ends)
        level = percent(self.ci_prob)
        if self.method == "consistency":
            return f"{middle} (if calibrated, {level} of estimates: {low} to {high})"
        return f"{middle} ({level} {self.method} interval: {low} to {high})"


@documented
def estimator_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    estimator: str | Callable[..., Any] = "ece",
    *,
    method: str = "percentile",
    ci_prob: float = 0.95,
    n_resamples: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Interval:
    """Interval for an estimate.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    estimator : str or callable
        The name of an estimator of this module, or `estimator(y_true, y_prob, **options)` that
        returns a number. One that takes no `sample_weight` gets resampled cases as rows.
    method : {"percentile", "basic", "bca", "consistency", "analytic"}
        See Notes.
    ci_prob : float in (0, 1)
        Probability of the interval.
    n_resamples : int
        Number of resamples, at least 100. "analytic" takes none.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers, a resample has Kish's effective number of cases.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds and equal cases, in any order, give equal intervals.
    **options
        Passed to the estimator, such as `n_bins`.

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), within the estimator's span.

    Raises
    ------
    InputError
        If the data, the estimator or an option is not what it must be; if the estimator is
        undefined on so many resamples that the tails of the interval are unknown; if "bca" meets
        sampling weights or a bias beyond every resample; if "analytic" is not known.

    Notes
    -----
    With q the quantiles of the estimate over resamples of the cases with replacement:

    * "percentile" is (q_lower, q_upper). A resample of a calibrated model is not calibrated, so an
      estimator that is biased upwards, as `ece` is, goes up once more: the interval can lie
      wholly above the estimate, and the true error below both.
    * "basic" is (2 estimate - q_upper, 2 estimate - q_lower), which takes the bias off.
    * "bca" moves the levels of the quantiles by the bias (the share of resamples below the
      estimate, ties half) and the acceleration (the skewness of the jackknife, over the distinct
      cases, or as many random ones as there are resamples).
    * "analytic" needs no resamples. For `debiased_ece` of order 2 it is the normal interval of Sun
      et al. for the square, which reaches down to 0 unless a one-sided test of calibration rejects;
      for `observed_expected`, `calibration_in_the_large`, `calibration_intercept` and
      `calibration_slope`, that of the function of the same name ending in `_interval`.
    * "consistency" simulates outcomes from the scores themselves. It is the central range of the
      estimate if the model were calibrated: where an estimate lies outside, these are not
      the data of a calibrated model. It is no interval for the true error. The scores stay as they
      are, where Broecker & Smith resample them too.

    No bootstrap interval of a calibration error covers well near calibration, where the error
    stops at its least value. The analytic one of `debiased_ece` does, for the error that is left
    after binning: nominal 95 % intervals covered .94 to 1.00 in a simulation of uniform scores, 15
    bins of equal width, 200, 1000 and 5000 cases and true errors of 0, .018, .036, .085 and .177.
    For the true error itself see `bayescal.compare`.

    References
    ----------
    Efron, "Better Bootstrap Confidence Intervals", JASA 82, 1987.
    Broecker & Smith, "Increasing the Reliability of Reliability Diagrams", Weather and
    Forecasting 22, 2007.
    Sun, Chaudhari, Barnett & Dobriban, "A Confidence Interval for the l2 Expected Calibration
    Error", arXiv:2408.08998, 2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 500, random_state=1)
    >>> for method in ("percentile", "basic", "consistency"):
    ...     print(estimators.estimator_interval(y_true, y_prob, method=method, random_state=1))
    0.06 (95 % percentile interval: 0.05 to 0.11)
    0.06 (95 % basic interval: 0.01 to 0.07)
    0.06 (if calibrated, 95 % of estimates: 0.04 to 0.08)
    """
    level = as_level(ci_prob)
    check_choice(method, INTERVAL_METHODS, "method")
    count = as_count(n_resamples, "n_resamples", FEWEST_RESAMPLES, MOST_DRAWS)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    applied = applied_of(estimator, options)
    estimate = applied.to_data(y_true if isinstance(y_true, CalibrationData) else cases)
    if method == "analytic":
        ends = _analytic(applied, cases, level)
        return _within_span(applied, estimate, ends, method, level)
    rng = random_generator(random_state)
    cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "consistency":
        score, trials = cases_by_score(cases.scores, cases.weights)
        calibrated = np.broadcast_to(score, (count, score.size))
        values = estimates_on_simulated_outcomes(applied, score, trials, calibrated, rng)
    else:
        values = resampled(applied, cells, draw(cells, count, rng))
    values = known(values, applied, tails[0])
    if method == "bca":
        tails = bca_levels(tails, values, estimate, applied, cells, count, rng)
    return _between_quantiles(applied, estimate, values, tails, method, level)


class Resamples:
    """Resamples of a table, drawn once, for the intervals of any number of estimators.

    Parameters
    ----------
    data : CalibrationData
        Of one group.
    clusters : Clusters, optional
        Of the cases in each of its rows: whole clusters are then drawn.

    Notes
    -----
    Of independent cases, an interval is that of `estimator_interval` with the same seed. All
    resamples stay in memory, which a table's few rows allow.
    """

    def __init__(
        self,
        data: CalibrationData,
        n_resamples: int,
        random_state: int | np.random.Generator,
        clusters: Clusters | None = None,
    ) -> None:
        self._data, rng = data, random_generator(random_state)
        if clusters is None:
            cases = read(data)
            self._cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
            weights = draw(self._cells, n_resamples, rng)
        else:
            self._cells = cells_of_clusters(clusters, data.score)
            weights = draw_clusters(clusters, self._cells.counts.size, n_resamples, rng)
        self._weights = list(weights)

    def interval(self, applied: Applied, method: str, ci_prob: float) -> Interval:
        """The interval of one estimator.

        Parameters
        ----------
        method : {"percentile", "basic"}
        """
        estimate = applied.to_data(self._data)
        tails = np.array([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        values = known(resampled(applied, self._cells, self._weights), applied, tails[0])
        return _between_quantiles(applied, estimate, values, tails, method, ci_prob)


def _between_quantiles(
    applied: Applied,
    estimate: float,
    values: Floats,
    tails: Floats,
    method: str,
    level: float,
) -> Interval:
    """From one quantile of the replicates to another, reflected at the estimate if "basic"."""
    lower, upper = np.quantile(values, tails)
    if method == "basic":
        lower, upper = 2 * estimate - upper, 2 * estimate - lower
    return _within_span(applied, estimate, (lower, upper), method, level)


def _analytic(applied: Applied, cases: Cases, level: float) -> tuple[float, float]:
    if applied.entry is None or applied.name not in ANALYTIC:
        raise InputError(
            f"estimator {applied.name!r} has no analytic interval; these have: "
            f"{', '.join(sorted(ANALYTIC))}. Use another method."
        )
    return ANALYTIC[applied.name](cases, level, **applied.options)


def _within_span(
    applied: Applied, estimate: float, ends: tuple[float, float], method: str, level: float
) -> Interval:
    lower, upper = np.clip(ends, *applied.span)
    return Interval(estimate, float(lower), float(upper), method, level)
