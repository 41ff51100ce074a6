"""The smooth reliability diagram as numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats, RandomState, random_generator
from bayescal._base.docstrings import documented
from bayescal.data.validate import as_level, as_scores, check_choice
from bayescal.estimators.door import Cases, OutcomesLike, read
from bayescal.estimators.smoothed._cosines import Line, cosines, series
from bayescal.estimators.smoothed._local_mean import local_mean, local_means
from bayescal.estimators.smoothed.smooth import SMOOTH_NARROWEST
from bayescal.estimators.uncertainty._resamples import cells_of, draw
from bayescal.estimators.uncertainty.intervals import Interval, estimator_interval

__all__ = ["SmoothReliability", "smooth_reliability"]

BOOTSTRAPS = ("basic", "bca", "percentile")
DIAGRAM_NODES = 64
"""Nodes of the integral, to the bandwidth."""


class SmoothReliability(NamedTuple):
    """The smooth reliability diagram of a set of scores.

    Attributes
    ----------
    score : ndarray of shape (points,)
    outcome : ndarray of shape (points,)
        Local mean outcome.
    lower, upper : ndarray of shape (points,)
        Pointwise range of it over resamples of the cases, at the same bandwidth.
    density : ndarray of shape (points,)
        Density of the scores.
    event_density, non_event_density : ndarray of shape (points,)
        The parts of it that are of the cases with and without the event, so that they add up to it
        and `outcome` is the first as a share of both.
    bandwidth : float
        Of the kernel: SmoothECE, or .001 if that is smaller.
    smooth_ece : Interval
        SmoothECE and its interval.
    shown_error : float
        What the diagram shows: the mean distance of the curve from the diagonal, over the density.
    ci_prob : float
        Of the range and the interval.
    """

    score: Floats
    outcome: Floats
    lower: Floats
    upper: Floats
    density: Floats
    event_density: Floats
    non_event_density: Floats
    bandwidth: float
    smooth_ece: Interval
    shown_error: float
    ci_prob: float


@documented
def smooth_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    grid: ArrayLike | None = None,
    method: str = "basic",
    ci_prob: float = 0.95,
    n_resamples: int = 200,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> SmoothReliability:
    """Numbers of the smooth reliability diagram, which `bayescal.plots.smooth_reliability` draws.

    With K the Gaussian kernel reflected at 0 and 1, at the bandwidth sigma that equals SmoothECE,
    and w_i the share of each case, density(t) = sum_i w_i K(t, s_i) and
    outcome(t) = sum_i w_i y_i K(t, s_i) / density(t) (equations 4 and 7 of the paper). The diagram
    shows the error integral |outcome(t) - t| density(t) dt (equation 8).

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    grid : array-like of shape (points,), optional
        Scores at which to evaluate. By default 201 equally spaced ones.
    method : {"basic", "percentile", "bca"}
        Of the interval of SmoothECE; see `estimator_interval`. The authors' package takes "basic".
    ci_prob : float in (0, 1)
        Probability of that interval, and share of the resamples in the range of the curve.
    n_resamples : int
        Number of resamples of the cases, at least 100.
    %(weights)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds and equal cases give equal numbers.

    Returns
    -------
    SmoothReliability

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, there is but one case,
        or an option is out of range.

    Notes
    -----
    The range of the curve shows how it moves when the cases are resampled. It is no confidence
    band of the true calibration curve, from which smoothing draws the curve away; see
    `bayescal.fit` for one.

    SmoothECE smooths residuals and the curve smooths outcomes, so that the error which is shown is
    not SmoothECE itself; they differ by at most sqrt(2 / pi) sigma (Lemma 13). The shown error is
    that of scores with normal noise of standard deviation sigma, reflected at 0 and 1. It is above
    0 for a calibrated model: if all scores are 1/2, and half the cases have the event, it is nearly
    .8 sigma at any small bandwidth.

    The text of the paper has the one-sided densities each of mass 1; the ratio that it states holds
    for their parts of the common density, which are given here.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, sections 1.1 and 4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> shown = estimators.smooth_reliability(y_true, y_prob, random_state=1)
    >>> round(shown.bandwidth, 4), round(shown.shown_error, 4)
    (0.0561, 0.0667)
    """
    check_choice(method, BOOTSTRAPS, "method")
    level = as_level(ci_prob)
    points = np.linspace(0, 1, 201) if grid is None else as_scores(grid, "grid")
    rng = random_generator(random_state)
    cases = read(y_true, y_prob, sample_weight, replicates=False).counted()
    error = estimator_interval(
        cases,
        estimator="smooth_ece",
        method=method,
        ci_prob=level,
        n_resamples=n_resamples,
        random_state=rng,
    )
    sigma = max(error.estimate, SMOOTH_NARROWEST)
    outcomes, scores, share = cases.outcomes[0], cases.scores, cases.weight / cases.mass
    outcome, density = local_mean(scores, outcomes, share, points, sigma, mirrors=True)
    lower, upper = _range(cases, points, sigma, level, n_resamples, rng)
    return SmoothReliability(
        points,
        outcome,
        lower,
        upper,
        density,
        outcome * density,
        (1 - outcome) * density,
        sigma,
        error,
        _shown(scores, outcomes, share, sigma),
        level,
    )


def _range(
    cases: Cases,
    points: Floats,
    sigma: float,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Central range of the curve over resamples of the cases."""
    cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
    curves = np.concatenate(
        [
            local_means(cells.scores, cells.outcomes, weights, points, sigma, mirrors=True)
            for weights in draw(cells, replicates, rng)
        ]
    )
    tail = (1 - level) / 2
    lower, upper = np.quantile(curves, [tail, 1 - tail], axis=0)
    return lower, upper


def _shown(scores: Floats, outcomes: Floats, share: Floats, sigma: float) -> float:
    """Integral of |outcome - t| density over t, by the trapezoidal rule."""
    line = Line(scores, 1.0)
    masses = np.stack([share * outcomes, share])
    coefs = cosines(line.position, masses, line.cells(sigma))
    wave = np.pi * sigma * np.arange(coefs.shape[1])
    intervals = int(np.ceil(DIAGRAM_NODES / sigma))
    intervals = max(intervals, coefs.shape[1])
    events, density = series(coefs * np.exp(-0.5 * wave**2), intervals)
    gap = np.abs(events - np.linspace(0, 1, intervals + 1) * density)
    return float(np.trapezoid(gap, dx=1 / intervals))
