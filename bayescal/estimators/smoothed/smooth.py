"""SmoothECE: calibration error of kernel-smoothed residuals, with a bandwidth of its own choosing.

It is linear in the residuals up to the last step, so that many outcomes or many weightings at the
same scores are many rows of residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal._base.docstrings import documented
from bayescal.data.validate import as_scores
from bayescal.estimators.door import Core, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.metric import Metric, as_metric, positions
from bayescal.estimators.registry import estimator
from bayescal.estimators.smoothed._cosines import (
    MOST_CELLS,
    Line,
    area_at,
    as_bandwidth,
    cosines,
    fixed_points,
    open_line,
    too_small,
)
from bayescal.estimators.smoothed._local_mean import local_mean

__all__ = ["SmoothCurve", "logit_smooth_ece", "smooth_ece", "smooth_ece_curve"]

BLOCK = 1 << 16
SMOOTH_NARROWEST = 1e-3
SMOOTH_FLAT = 10.0
"""Bandwidth, in lengths of the line, at which nothing but the mean residual is left."""


def _weighted(metric: Metric) -> Callable[..., Floats]:
    """SmoothECE of many weightings of the cases, for the register."""

    def values(
        scores: Floats,
        outcomes: Floats,
        weights: NDArray[Any],
        *,
        bandwidth: float | None,
        metric: Metric = metric,
    ) -> Floats:
        residual = outcomes - scores

        def residuals(rows: NDArray[Any]) -> Floats:
            shares: Floats = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
            return shares * residual

        areas = _areas(_line(scores, bandwidth, metric), bandwidth, weights, residuals)
        return np.where(weights.any(axis=1), areas, np.nan)

    return values


def _core(metric: Metric) -> Core:
    """Core of `smooth_ece` and `logit_smooth_ece`."""

    def core(
        scores: Floats,
        weights: Floats | None,
        *,
        bandwidth: float | None,
        metric: Metric = metric,
    ) -> Statistic:
        line = _line(scores, bandwidth, metric)
        share: Any = 1 / scores.size if weights is None else weights / weights.sum()

        def residuals(outcomes: NDArray[Any]) -> Floats:
            gap: Floats = outcomes.astype(np.float64)
            gap -= scores  # of 32 bits without a copy of 64
            gap *= share
            return gap

        return lambda outcomes: _areas(line, bandwidth, outcomes, residuals)

    return core


_IDENTITY, _LOGIT = _core("identity"), _core("logit")


@estimator(
    "SmoothECE",
    prepare=_IDENTITY,
    paper="Błasiok & Nakkiran 2024",
    estimates="calibration error after smoothing with a bandwidth equal to it",
    bound="between half the lower distance to calibration and twice its square root",
    span=(0, 1),
    cost="n",
    weighted=_weighted("identity"),
)
def smooth_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """SmoothECE: the calibration error that is left after smoothing the residuals.

    smECE_sigma = integral over t from 0 to 1 of |sum_i w_i (y_i - s_i) K_sigma(t, s_i)|, with w_i
    the share of each case and K_sigma the Gaussian kernel reflected at 0 and 1. SmoothECE is the
    bandwidth sigma* at which smECE_sigma* = sigma*, so that it has nothing to choose.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    bandwidth : float, optional
        Bandwidth. Without it, sigma*.
    metric : {"identity", "logit"} or callable
        How near scores are to each other. A function h, increasing, of an array of scores smooths
        over h(s), along the real line and without mirrors; "logit" is that of the log-odds.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, `bandwidth` is not
        positive or too small to resolve, or `metric` does not increase.

    Notes
    -----
    In a metric, smECE_sigma = integral over the real line of |sum_i w_i (y_i - s_i)
    phi_sigma(t - h(s_i))|, and its fixed point is bounded by the distance to calibration in the
    metric min(|h(s) - h(s')|, 2), up to factors (Theorem 19; the paper prints max for min).

    The kernel is diagonal in the cosines of [0, 1]: their coefficients are computed once, and
    each bandwidth damps them. Areas are good to 1e-9, and sigma* is computed by Newton steps, since
    the derivative of the area in sigma is known from the slopes where the residual changes sign.

    The authors' package relplot 1.0.3 gives scores within one cell of its grid from 0 or 1 half
    their mass, where reflection gives them all of it. With 36 % of the scores at 1 it says .0711
    where the definition gives .0450; without scores at the ends the two differ by their grid,
    some .2 %. It searches sigma among multiples of 1/1024 and reports the area there.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.smooth_ece(y_true, y_prob), 4)
    0.0247
    >>> round(estimators.smooth_ece(y_true, y_prob, bandwidth=0.1), 4)
    0.0076
    >>> import numpy as np
    >>> variance_stable = lambda score: 2 * np.arcsin(np.sqrt(score))
    >>> round(estimators.smooth_ece(y_true, y_prob, metric=variance_stable), 4)
    0.0357
    """
    sigma, by = _bandwidth(bandwidth), as_metric(metric)
    cases = read(y_true, y_prob, sample_weight, single=by == "identity")
    return evaluate(_IDENTITY, cases, bandwidth=sigma, metric=by)


@estimator(
    "SmoothECE over log-odds",
    prepare=_LOGIT,
    paper="Błasiok & Nakkiran 2024",
    estimates="calibration error after smoothing over log-odds with a bandwidth equal to it",
    span=(0, 1),
    cost="n",
    weighted=_weighted("logit"),
)
def logit_smooth_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """SmoothECE in the logit metric: the residuals are smoothed over log-odds.

    smECE_sigma = integral over the real line of |sum_i w_i (y_i - s_i) phi_sigma(t - logit s_i)|,
    with phi_sigma the normal density, not reflected; its fixed point is defined as in
    `smooth_ece`. Residuals stay on the probability scale; only closeness is measured in
    log-odds, so that .001 and .01 are as far apart as .5 and .91.

    Parameters
    ----------
    %(replicates)s
    %(scores_inside)s
    bandwidth : float, optional
        Bandwidth in log-odds. Without it, the fixed point.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `smooth_ece`.

    Notes
    -----
    relplot's logit kernel holds scores to [.001, .999] and scales the bandwidth by 4 over the
    range of the log-odds, so that its value depends on the extremes. probcal's `smooth_ece` is
    this one, on a lattice.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section on general metrics.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.logit_smooth_ece([0, 0, 1, 0], [0.001, 0.01, 0.02, 0.4]), 4)
    0.343
    >>> round(estimators.smooth_ece([0, 0, 1, 0], [0.001, 0.01, 0.02, 0.4]), 4)
    0.213
    """
    cases = read(y_true, y_prob, sample_weight, single=True)
    return evaluate(_LOGIT, cases, bandwidth=_bandwidth(bandwidth))


class SmoothCurve(NamedTuple):
    """A smoothed reliability curve.

    Attributes
    ----------
    score : ndarray of shape (points,)
    outcome : ndarray of shape (points,)
        Local mean outcome.
    density : ndarray of shape (points,)
        Density of the scores, or of their log-odds in the logit metric.
    bandwidth : float
        The bandwidth.
    """

    score: Floats
    outcome: Floats
    density: Floats
    bandwidth: float


@documented
def smooth_ece_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float | None = None,
    grid: ArrayLike | None = None,
    metric: Metric = "identity",
    sample_weight: ArrayLike | None = None,
) -> SmoothCurve:
    """Reliability curve and density of scores, smoothed as SmoothECE smooths (Błasiok & Nakkiran).

    outcome(t) = sum_i w_i y_i K_sigma(t, s_i) / density(t), with density(t) = sum_i w_i
    K_sigma(t, s_i) and the kernel of `smooth_ece` or `logit_smooth_ece`.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    bandwidth : float, optional
        Bandwidth, at least 1e-6. Without it the fixed point of SmoothECE, or .001 if that is
        smaller.
    grid : array-like of shape (points,), optional
        Scores at which to evaluate. By default 201 equally spaced ones.
    metric : {"identity", "logit"} or callable
        Whether to smooth over scores, their log-odds, or an increasing function of them, as in
        `smooth_ece`.
    %(weights)s

    Returns
    -------
    SmoothCurve

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out
        of range.

    Notes
    -----
    Far from every score the outcome is that of the nearest ones, and the density says how little
    it rests on. Cases closer than bandwidth / 128 are put together at their mean score, which moves
    the curve by less than 1e-6 where there are data.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> curve = estimators.smooth_ece_curve(y_true, y_prob, grid=[0.1, 0.5, 0.9])
    >>> curve.outcome.round(2)
    array([0.14, 0.49, 0.91])
    """
    metric = as_metric(metric)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    outcomes, scores = cases.outcomes[0], cases.scores
    points = np.linspace(0, 1, 201) if grid is None else as_scores(grid, "grid")
    weights = cases.weight / cases.weight.sum()
    bandwidth = _bandwidth(bandwidth)
    if bandwidth is None:
        line, residuals = _line(scores, None, metric), weights * (outcomes - scores)
        bandwidth = max(float(fixed_points(line, residuals[None])[0]), SMOOTH_NARROWEST)
    elif bandwidth < 1e-6:
        raise too_small(bandwidth, 1e-6)
    if metric == "identity":
        rate, density = local_mean(scores, outcomes, weights, points, bandwidth, mirrors=True)
    else:
        size = scores.size
        position = positions(np.concatenate([scores, points]), metric)
        position, at = position[:size], position[size:]
        rate, density = local_mean(position, outcomes, weights, at, bandwidth, mirrors=False)
    return SmoothCurve(points, rate, density, bandwidth)


def _areas(
    line: Line,
    bandwidth: float | None,
    rows: NDArray[Any],
    residuals: Callable[[NDArray[Any]], Floats],
) -> Floats:
    """SmoothECE of the residuals that are made of each row, a few rows at a time."""
    values = np.empty(rows.shape[0])
    for part in blocks(values.size, line.cells(bandwidth or line.floor), BLOCK):
        values[part] = smooth_of_residuals(line, residuals(rows[part]), bandwidth)
    return values


def smooth_of_residuals(line: Line, residuals: Floats, bandwidth: float | None) -> Floats:
    """SmoothECE of each row of residuals, at a bandwidth or at the fixed point."""
    if bandwidth is None:
        return fixed_points(line, residuals)
    narrowest = line.narrowest
    if bandwidth < narrowest:
        line = line.without_gaps(bandwidth, MOST_CELLS)
    cells = line.cells(bandwidth / 2)
    if cells > MOST_CELLS:
        raise too_small(bandwidth, narrowest)
    coefs = cosines(line.position, residuals, cells)
    return area_at(coefs, np.full(coefs.shape[0], min(bandwidth / line.length, SMOOTH_FLAT)))[0]


def _line(scores: Floats, bandwidth: float | None, metric: Metric) -> Line:
    """Scores between mirrors at 0 and 1, or a function of them without mirrors."""
    if metric == "identity":
        return Line(scores, 1.0)
    return open_line(positions(scores, metric), bandwidth or 1.0)[0]


def _bandwidth(bandwidth: Any) -> float | None:
    """A positive number, or None for the fixed point."""
    return None if bandwidth is None else as_bandwidth(bandwidth)
