"""What is computed from a draw: functionals of a calibration curve and a score distribution.

Each takes draws of the curve and of the population and returns one number per draw, which gives
its posterior and its interval. To add one, write it here and add its line to the
registry at the end of the file. Net benefit is not in the registry: it needs a threshold, and
has no ideal value at perfect calibration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescal._base import decision
from bayescal._base.arrays import Floats, power_mean
from bayescal.data.validate import as_order
from bayescal.posterior.line import Expansion, nearest_line, nearest_shift
from bayescal.posterior.population import Population

__all__ = [
    "FUNCTIONALS",
    "CurveDraws",
    "Functional",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "e50",
    "e90",
    "emax",
    "ici",
    "net_benefit",
    "net_benefit_of_all",
    "observed_expected",
    "signed_error",
    "tce",
]


@dataclass(frozen=True)
class CurveDraws:
    """Draws of a calibration curve at the scores of a population.

    What several functionals need is worked out once and kept.

    Attributes
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    population : Population
        The scores and their weights.
    expand : callable, optional
        Returns the expansion of lines and shifts round a curve near the draws, at scores that are
        common to them.
    """

    curve: Floats
    population: Population
    expand: Callable[[], Expansion] | None = None

    @cached_property
    def error(self) -> Floats:
        """The curve minus the score, of shape (draws, rows)."""
        return self.curve - self.population.score

    @cached_property
    def distance(self) -> Floats:
        """Absolute errors, of shape (draws, rows), or (1, rows) where all draws are one curve."""
        one_curve = self.curve.strides[0] == 0 and self.population.score.ndim == 1
        error = (self.curve[:1] if one_curve else self.curve) - self.population.score
        return np.abs(error, out=error)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Rows in ascending order of absolute error, of shape (draws, rows) or (1, rows)."""
        return np.argsort(self.distance, axis=1)

    @cached_property
    def below(self) -> Floats:
        """Weight, or cases where they are whole, up to each row in that order, itself included.

        Of a row whose cases differ, half its weight.
        """
        order, population = self.order, self.population
        counted = population.weight if population.trials is None else population.trials
        if counted.ndim == 1:
            ranked = counted[order]
        elif len(order) == 1:
            ranked = counted[:, order[0]]
        else:
            ranked = counted.ravel().take(order + counted.shape[1] * np.arange(len(order))[:, None])
        below = np.cumsum(ranked, axis=1)
        if population.merged:
            below -= ranked / 2
        return below

    @cached_property
    def events(self) -> Floats:
        """Expected events a case, E_w g, of shape (draws,)."""
        return self.mean(self.curve)

    @cached_property
    def predicted(self) -> Floats:
        """Predicted events a case, E_w s, of shape (draws,)."""
        return self.mean(self.population.score)

    @cached_property
    def expansion(self) -> Expansion | None:
        """Of lines and shifts; None where every draw has scores of its own."""
        return None if self.expand is None else self.expand()

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        score, weight = self.population.score, self.population.weight
        return nearest_line(self.curve, weight, score, self.expansion)

    def mean(self, values: Floats) -> Floats:
        """Average over the population, one number a draw."""
        weight = self.population.weight
        if values.ndim == 1:
            return self.each(weight @ values)
        if weight.ndim == 1:
            return np.asarray(np.broadcast_to(values, self.curve.shape) @ weight)
        return np.asarray(np.vecdot(np.broadcast_to(values, self.curve.shape), weight))

    def each(self, values: Floats) -> Floats:
        """One number a draw, of numbers that may be the same for all."""
        return np.array(np.broadcast_to(values, self.curve.shape[:1]))


def tce(draws: CurveDraws, p: float = 1) -> Floats:
    """True calibration error: (E_w |g - s|^p)^(1/p), the root taken inside each draw.

    Parameters
    ----------
    draws : CurveDraws
    p : float, at least 1
        The norm; `inf` is the largest error.

    Returns
    -------
    ndarray of shape (draws,)
        In [0, 1].

    Raises
    ------
    InputError
        If `p` is below 1.

    References
    ----------
    Dong et al. (2025), Combining priors with experience: confidence calibration based on binomial
    process modeling, AAAI, Algorithm 2.
    """
    order = as_order(p, infinite=True)
    if order == 1:
        return draws.mean(draws.distance)
    error = np.where(draws.population.weight > 0, draws.distance, 0)
    if np.isinf(order):
        return draws.each(error.max(axis=1))
    return draws.each(power_mean(error, order, draws.mean))


def ici(draws: CurveDraws) -> Floats:
    """Integrated calibration index: E_w |g - s|, which is `tce` at p = 1."""
    return tce(draws, 1)


def e50(draws: CurveDraws) -> Floats:
    """Median of |g - s| over the population."""
    return _error_quantile(draws, 0.5)


def e90(draws: CurveDraws) -> Floats:
    """90th percentile of |g - s| over the population."""
    return _error_quantile(draws, 0.9)


def emax(draws: CurveDraws) -> Floats:
    """Largest |g - s| over the observed scores."""
    return draws.each(draws.distance.max(axis=1))


def signed_error(draws: CurveDraws) -> Floats:
    """E_w (g - s): positive when events are more frequent than predicted."""
    return draws.events - draws.predicted


def observed_expected(draws: CurveDraws) -> Floats:
    """Observed over expected events: E_w g / E_w s."""
    return draws.events / draws.predicted


def calibration_in_the_large(draws: CurveDraws) -> Floats:
    """The shift a that makes E_w expit(logit s + a) = E_w g: the intercept with slope fixed at 1.

    Zero when the average prediction is right. Not the
    `calibration_intercept`, which is fitted with the slope.
    """
    score, weight = draws.population.score, draws.population.weight
    return nearest_shift(draws.events, weight, score, draws.expansion)


def calibration_intercept(draws: CurveDraws) -> Floats:
    """Intercept a of the line a + b logit s nearest to the curve, fitted jointly with b.

    What a logistic regression of the outcomes on the log-odds tends to. It is the log-odds of an
    event at score one half, not calibration-in-the-large.
    """
    return draws.line[0]


def calibration_slope(draws: CurveDraws) -> Floats:
    """Slope b of the line a + b logit s nearest to the curve: below 1 is overconfident."""
    return draws.line[1]


def net_benefit(
    draws: CurveDraws,
    thresholds: Floats,
    share: Floats | None = None,
    excess: Floats | None = None,
) -> Floats:
    """Net benefit of treating whoever has a score of at least t, for each threshold t.

    E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: events treated, less the non-events treated, each
    of which counts as much as the threshold says. A score within a relative 1e-12 below t reaches
    it, so that rounding decides nothing.

    Parameters
    ----------
    draws : CurveDraws
    thresholds : ndarray of shape (thresholds,)
        In (0, 1).
    share : ndarray of shape (rows, thresholds), optional
        Share of the cases of each row whose score reaches the threshold, where that is not read
        off the scores of the population.
    excess : ndarray of shape (rows, thresholds), optional
        Where cases of several scores share a row: what their scores add to the sum over those that
        reach the threshold. Inside a row the curve runs parallel to the diagonal.

    Returns
    -------
    ndarray of shape (draws, thresholds)

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.
    """
    weight = np.atleast_2d(draws.population.weight)
    score = draws.population.score
    if share is None and score.ndim == 1:
        share = (score[:, None] >= decision.least_treated(thresholds)).astype(np.float64)
    if share is not None:
        events, cases = (weight * draws.curve) @ share, weight @ share
        if excess is not None:
            events = events + weight @ excess
    else:
        events = _above(score, weight * draws.curve, thresholds)
        cases = _above(score, weight, thresholds)
    return decision.net_benefit(events, cases, thresholds)


def net_benefit_of_all(draws: CurveDraws, thresholds: Floats) -> Floats:
    """Net benefit of treating everyone: E_w [g - (1 - g) t / (1 - t)] for each threshold t.

    Parameters
    ----------
    draws : CurveDraws
    thresholds : ndarray of shape (thresholds,)

    Returns
    -------
    ndarray of shape (draws, thresholds)
    """
    return net_benefit(draws, thresholds, np.ones((draws.curve.shape[1], thresholds.size)))


def _above(score: Floats, values: Floats, thresholds: Floats) -> Floats:
    """Sums over the scores that reach each threshold, where every draw has scores of its own."""
    spread = np.broadcast_to(values, score.shape)
    least = decision.least_treated(thresholds)
    return np.stack([np.sum(spread, axis=1, where=score >= low) for low in least], axis=1)


def _error_quantile(draws: CurveDraws, q: float) -> Floats:
    """Quantile of |g - s|: type 7 over patients for a sample, else the weighted inverse CDF.

    Where the cases of a row differ it is interpolated between rows.
    """
    below = draws.below
    if draws.population.merged:
        return draws.each(_interpolated(draws, q))
    if draws.population.trials is None:
        return draws.each(_error_at(draws, (below >= q * below[:, -1:]).argmax(axis=1)))
    position = (below[0, -1] - 1) * q
    lower = _error_at(draws, (below > np.floor(position)).argmax(axis=1))
    upper = _error_at(draws, (below > np.ceil(position)).argmax(axis=1))
    return draws.each(lower + (position - np.floor(position)) * (upper - lower))


def _interpolated(draws: CurveDraws, q: float) -> Floats:
    """The error at which the weight below is q; the least or largest beyond the outer rows."""
    below = draws.below
    index = (below >= q).argmax(axis=1)
    index[below[:, -1] < q] = below.shape[1] - 1
    lower = np.maximum(index - 1, 0)
    weight = np.take_along_axis(below, np.stack([lower, index], axis=1), axis=1)
    gap = weight[:, 1] - weight[:, 0]
    share = np.clip((q - weight[:, 0]) / np.where(gap > 0, gap, 1), 0, 1)
    first, last = _error_at(draws, lower), _error_at(draws, index)
    return first + share * (last - first)


def _error_at(draws: CurveDraws, index: NDArray[np.intp]) -> Floats:
    """The absolute error at one of the ordered rows of each draw."""
    shape = (index.size, draws.order.shape[1])
    order, distance = np.broadcast_to(draws.order, shape), np.broadcast_to(draws.distance, shape)
    row = np.take_along_axis(order, index[:, None], axis=1)
    return np.asarray(np.take_along_axis(distance, row, axis=1)[:, 0])


@dataclass(frozen=True)
class Functional:
    """A functional as the registry knows it.

    Attributes
    ----------
    compute : callable
        From CurveDraws (and options) to an array of shape (draws,).
    label : str
        What tables call it.
    calibrated : float
        Its value when the model is perfectly calibrated.
    on_sample : bool
        Whether it depends on the observed scores alone, whatever the population and its weights.
    is_distance : bool
        Whether it is never negative, and zero only at calibration.
    caution : str
        What a reader must know of its interval; empty where it covers as it should.
    same_as : str
        The functional that it equals at that one's default options; a summary has that row only.
    """

    compute: Callable[..., Floats]
    label: str
    calibrated: float
    on_sample: bool = False
    is_distance: bool = False
    caution: str = ""
    same_as: str = ""


FUNCTIONALS: dict[str, Functional] = {
    "tce": Functional(tce, "true calibration error (TCE)", 0.0, is_distance=True),
    "ici": Functional(
        ici, "integrated calibration index (ICI)", 0.0, is_distance=True, same_as="tce"
    ),
    "e50": Functional(e50, "median error (E50)", 0.0, is_distance=True),
    "e90": Functional(e90, "90th percentile of error (E90)", 0.0, is_distance=True),
    "emax": Functional(
        emax,
        "largest error over observed scores (Emax)",
        0.0,
        on_sample=True,
        is_distance=True,
        caution="the interval of Emax is too short where the curve jumps or bends quickly; it "
        "contained the true value in 32 to 100 % of simulated data sets",
    ),
    "signed_error": Functional(signed_error, "mean signed error (curve minus score)", 0.0),
    "observed_expected": Functional(observed_expected, "observed / expected events (O/E)", 1.0),
    "calibration_in_the_large": Functional(
        calibration_in_the_large, "calibration-in-the-large (at slope 1)", 0.0
    ),
    "calibration_intercept": Functional(
        calibration_intercept, "intercept, fitted jointly with the slope", 0.0
    ),
    "calibration_slope": Functional(
        calibration_slope, "slope, fitted jointly with the intercept", 1.0
    ),
}
"""The functionals by name."""
