"""What is computed from a draw: functionals of a calibration curve and a score distribution.

Each takes draws of the curve and of the population and returns one number per draw, which gives
its posterior and its interval. To add one, write it here and add its line to the
registry at the end of the file. Net benefit is not in the registry: it needs a threshold, and
has no ideal value at perfect calibration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from bayescal._base import decision
from bayescal._base.arrays import Floats, power_mean
from bayescal.data.validate import as_order
from bayescal.posterior.line import Totals, nearest_line, nearest_shift
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

ERROR_LEVELS = (0.5, 0.9)  # of E50 and E90


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
    """

    curve: Floats
    population: Population

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
        """Weight, or cases where they are whole, up to each row in that order, itself included."""
        order, population = self.order, self.population
        counted = population.weight if population.trials is None else population.trials
        if counted.ndim == 1:
            ranked = counted[order]
        elif len(order) == 1:
            ranked = counted[:, order[0]]
        else:
            ranked = counted.ravel().take(order + counted.shape[1] * np.arange(len(order))[:, None])
        return np.cumsum(ranked, axis=1)

    @cached_property
    def error_quantiles(self) -> Floats:
        """The quantiles `ERROR_LEVELS` of the absolute error, of shape (levels, draws).

        Of type 7 over patients for a sample, else the weighted inverse CDF. Where the cases of a
        row differ they are interpolated between rows.
        """
        total, share = self.below[:, -1], np.array(ERROR_LEVELS)[:, None]
        if self.population.merged:
            quantiles = self._interpolated(share * total)
        elif self.population.trials is None:
            quantiles = self._error_at(self._reaching(share * total))
        else:
            position = (total - 1) * share
            floor = np.floor(position)
            lower, upper = (self._error_at(self._reaching(floor + k)) for k in (1, 2))
            quantiles = lower + (position - floor) * (upper - lower)
        return np.array(np.broadcast_to(quantiles, (len(share), len(self.curve))))

    def _interpolated(self, level: Floats) -> Floats:
        """The errors at which the weight below is `level`, half the weight of a row below its own.

        Beyond the middles of the outer rows it is the least or the largest.
        """
        draw = np.arange(len(self.below))

        def middle(row: NDArray[np.intp]) -> Floats:
            before = np.where(row > 0, self.below[draw, row - 1], 0)
            return np.asarray(before + self.below[draw, row]) / 2

        row = self._reaching(level)
        row += middle(row) < level
        lower, upper = np.maximum(row - 1, 0), np.minimum(row, self.below.shape[1] - 1)
        start = middle(lower)
        gap = middle(upper) - start
        share = np.clip((level - start) / np.where(gap > 0, gap, 1), 0, 1)
        first, last = self._error_at(lower), self._error_at(upper)
        return np.asarray(first + share * (last - first))

    def _reaching(self, level: Floats) -> NDArray[np.intp]:
        """The first of the ordered rows with which the weight reaches each level."""
        return np.stack([(self.below >= each[:, None]).argmax(axis=1) for each in level])

    def _error_at(self, row: NDArray[np.intp]) -> Floats:
        """The absolute errors at ordered rows, of shape (levels, draws)."""
        draw = np.arange(row.shape[1]) if len(self.order) > 1 else 0
        return np.asarray(self.distance[draw, self.order[draw, row]])

    @cached_property
    def events(self) -> Floats:
        """Expected events a case, E_w g, of shape (draws,)."""
        return self.mean(self.curve)

    @cached_property
    def predicted(self) -> Floats:
        """Predicted events a case, E_w s, of shape (draws,)."""
        return self.mean(self.population.score)

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        population = self.population
        inside = population.score if population.inside is None else population.inside
        return nearest_line(self.curve, population.weight, inside)

    @cached_property
    def shift(self) -> Floats:
        """The shift in log-odds that gives each draw its expected events."""
        return nearest_shift(self.events, self.population.weight, self.population.score)

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
    return np.asarray(draws.error_quantiles[0])


def e90(draws: CurveDraws) -> Floats:
    """90th percentile of |g - s| over the population."""
    return np.asarray(draws.error_quantiles[1])


def emax(draws: CurveDraws) -> Floats:
    """Largest |g - s| over the observed scores."""
    return draws.each(draws.distance.max(axis=1))


def signed_error(draws: CurveDraws | Totals) -> Floats:
    """E_w (g - s): positive when events are more frequent than predicted."""
    return draws.events - draws.predicted


def observed_expected(draws: CurveDraws | Totals) -> Floats:
    """Observed over expected events: E_w g / E_w s."""
    return draws.events / draws.predicted


def calibration_in_the_large(draws: CurveDraws | Totals) -> Floats:
    """The shift a that makes E_w expit(logit s + a) = E_w g: the intercept with slope fixed at 1.

    Zero when the average prediction is right. Not the
    `calibration_intercept`, which is fitted with the slope.
    """
    return draws.shift


def calibration_intercept(draws: CurveDraws | Totals) -> Floats:
    """Intercept a of the line a + b logit s nearest to the curve, fitted jointly with b.

    What a logistic regression of the outcomes on the log-odds tends to. It is the log-odds of an
    event at score one half, not calibration-in-the-large.
    """
    return draws.line[0]


def calibration_slope(draws: CurveDraws | Totals) -> Floats:
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


@dataclass(frozen=True)
class Functional:
    """A functional as the registry knows it.

    Attributes
    ----------
    compute : callable
        From CurveDraws, or Totals, and options to an array of shape (draws,).
    label : str
        What tables call it.
    calibrated : float
        Its value when the model is perfectly calibrated.
    on_sample : bool
        Whether it depends on the observed scores alone, whatever the population and its weights.
    by_totals : bool
        Whether `Totals` know it too, of all draws at once.
    is_distance : bool
        Whether it is never negative, and zero only at calibration.
    is_floored : bool
        Whether it is at least the size of the signed error, whatever the curve; then no quantile
        of it in an average lies below that of the signed error's size.
    caution : str
        What a reader must know of its interval; empty where it covers as it should.
    same_as : str
        The functional that it equals at that one's default options; a summary has that row only.
    """

    compute: Callable[..., Floats]
    label: str
    calibrated: float
    on_sample: bool = False
    by_totals: bool = False
    is_distance: bool = False
    is_floored: bool = False
    caution: str = ""
    same_as: str = ""


_distance = partial(Functional, calibrated=0.0, is_distance=True)

FUNCTIONALS: dict[str, Functional] = {
    "tce": _distance(tce, "true calibration error (TCE)", is_floored=True),
    "ici": _distance(ici, "integrated calibration index (ICI)", is_floored=True, same_as="tce"),
    "e50": _distance(e50, "median error (E50)"),
    "e90": _distance(e90, "90th percentile of error (E90)"),
    "emax": _distance(
        emax,
        "largest error over observed scores (Emax)",
        on_sample=True,
        is_floored=True,
        caution="the interval of Emax is too short where the curve jumps or bends quickly; it "
        "contained the true value in 32 to 100 % of simulated data sets",
    ),
    "signed_error": Functional(
        signed_error, "mean signed error (curve minus score)", 0.0, by_totals=True
    ),
    "observed_expected": Functional(
        observed_expected, "observed / expected events (O/E)", 1.0, by_totals=True
    ),
    "calibration_in_the_large": Functional(
        calibration_in_the_large, "calibration-in-the-large (at slope 1)", 0.0, by_totals=True
    ),
    "calibration_intercept": Functional(
        calibration_intercept, "intercept, fitted jointly with the slope", 0.0, by_totals=True
    ),
    "calibration_slope": Functional(
        calibration_slope, "slope, fitted jointly with the intercept", 1.0, by_totals=True
    ),
}
"""The functionals by name."""
