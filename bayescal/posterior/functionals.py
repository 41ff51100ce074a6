"""What is computed from a draw: functionals of a calibration curve and a score distribution.

Each takes draws of the curve and of the population and returns one number a draw, so its
posterior, and its interval, come for free. To add one, write it here and add its line to the
registry at the foot of the file. Net benefit stands outside the registry: it needs a threshold, and
has no value that perfect calibration would give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal._base import decision
from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.newton import maximise
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

FLOOR = 1e-15
WEIGHT_FLOOR = 1e-12  # keeps a line defined in a draw that gives all its weight to one score


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
    def ranked(self) -> tuple[Floats, Floats]:
        """Absolute errors in ascending order, and the cases or weight up to each."""
        error = np.abs(self.error)
        order = np.argsort(error, axis=1)
        population = self.population
        if population.trials is not None:
            counted = population.trials[order]
        else:
            weight = np.broadcast_to(population.weight, error.shape)
            counted = np.take_along_axis(weight, order, axis=1)
        return np.take_along_axis(error, order, axis=1), np.cumsum(counted, axis=1)

    @cached_property
    def line(self) -> tuple[Floats, Floats]:
        """Intercept and slope of the line in log-odds nearest to each draw."""
        return _nearest_line(self)

    def mean(self, values: Floats) -> Floats:
        """Average over the population, one number a draw."""
        weight = self.population.weight
        if weight.ndim == 1:
            return np.asarray(np.broadcast_to(values, self.curve.shape) @ weight)
        return np.asarray(np.einsum("ij,ij->i", np.broadcast_to(values, self.curve.shape), weight))


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
    if not p >= 1:
        raise InputError(f"p must be at least 1 (inf is the largest error), got {p!r}.")
    error = np.abs(draws.error)
    if np.isinf(p):
        return np.asarray(np.where(draws.population.weight > 0, error, 0).max(axis=1))
    if p == 1:
        return draws.mean(error)
    return np.asarray(draws.mean(error**p) ** (1 / p))


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
    return np.asarray(np.abs(draws.error).max(axis=1))


def signed_error(draws: CurveDraws) -> Floats:
    """E_w (g - s): positive when events are more frequent than predicted."""
    return draws.mean(draws.error)


def observed_expected(draws: CurveDraws) -> Floats:
    """Observed over expected events: E_w g / E_w s."""
    return draws.mean(draws.curve) / draws.mean(draws.population.score)


def calibration_in_the_large(draws: CurveDraws) -> Floats:
    """The shift a that makes E_w expit(logit s + a) = E_w g: the intercept with slope fixed at 1.

    Zero when the average prediction is right. Not the
    `calibration_intercept`, which is fitted with the slope.
    """
    log_odds = logit(draws.population.score)
    target = np.clip(draws.mean(draws.curve), FLOOR, 1 - FLOOR)
    shift = np.zeros(target.size)
    for _ in range(100):
        predicted = expit(log_odds + shift[:, None])
        mean = np.clip(draws.mean(predicted), FLOOR, 1 - FLOOR)
        slope = np.maximum(draws.mean(predicted * (1 - predicted)), 1e-300)
        step = (logit(target) - logit(mean)) * mean * (1 - mean) / slope
        shift += np.clip(step, -5, 5)
        if np.abs(step).max(initial=0) < 1e-12:
            break
    return shift


def calibration_intercept(draws: CurveDraws) -> Floats:
    """Intercept a of the line a + b logit s nearest to the curve, fitted jointly with b.

    What a logistic regression of the outcomes on the log-odds tends to. It is the log-odds of an
    event at score one half, not calibration-in-the-large.
    """
    return draws.line[0]


def calibration_slope(draws: CurveDraws) -> Floats:
    """Slope b of the line a + b logit s nearest to the curve: below 1 is overconfident."""
    return draws.line[1]


def net_benefit(draws: CurveDraws, thresholds: Floats, share: Floats | None = None) -> Floats:
    """Net benefit of treating whoever has a score of at least t, for each threshold t.

    E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: events treated, less the non-events treated, each
    of which counts as much as the threshold says.

    Parameters
    ----------
    draws : CurveDraws
    thresholds : ndarray of shape (thresholds,)
        In (0, 1).
    share : ndarray of shape (rows, thresholds), optional
        Share of the cases of each row whose score reaches the threshold, where that is not read
        off the scores of the population.

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
        share = (score[:, None] >= thresholds).astype(np.float64)
    if share is not None:
        events, cases = (weight * draws.curve) @ share, weight @ share
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
    return np.stack([np.sum(spread, axis=1, where=score >= t) for t in thresholds], axis=1)


def _error_quantile(draws: CurveDraws, q: float) -> Floats:
    """Quantile of |g - s|: type 7 over patients for a sample, else the weighted inverse CDF."""
    ranked, below = draws.ranked
    if draws.population.trials is None:
        return _first_at(ranked, below >= q * below[:, -1:])
    place = (below[0, -1] - 1) * q
    lower = _first_at(ranked, below > np.floor(place))
    upper = _first_at(ranked, below > np.ceil(place))
    return np.asarray(lower + (place - np.floor(place)) * (upper - lower))


def _first_at(values: Floats, reached: NDArray[np.bool_]) -> Floats:
    return np.asarray(np.take_along_axis(values, reached.argmax(axis=1)[:, None], axis=1)[:, 0])


def _nearest_line(draws: CurveDraws) -> tuple[Floats, Floats]:
    """(a, b) minimising E_w KL(g || expit(a + b logit s)), one pair a draw."""
    x = logit(np.broadcast_to(draws.population.score, draws.curve.shape))
    if np.ptp(x, axis=1).min() == 0:
        raise InputError(
            "intercept and slope need at least two distinct scores; every score here is the same. "
            "calibration_in_the_large is still defined."
        )
    g = draws.curve
    weight = np.maximum(np.broadcast_to(draws.population.weight, g.shape), WEIGHT_FLOOR)
    centre = np.sum(weight * x, axis=1, keepdims=True)
    scale = x.std(axis=1, keepdims=True)
    z = (x - centre) / scale
    y = logit(np.clip(g, FLOOR, 1 - FLOOR))
    line = np.stack(_weighted_line(z, y, weight * np.maximum(g * (1 - g), FLOOR)))
    unsettled = np.ones(g.shape[0], dtype=bool)
    for _ in range(25):
        fitted = expit(line[0][:, None] + line[1][:, None] * z)
        residual, information = weight * (g - fitted), weight * fitted * (1 - fitted)
        step = _solve_two(z, information, residual)
        line += np.where(unsettled, step, 0)
        unsettled &= ~(np.abs(step).max(axis=0) < 1e-10)
        if not unsettled.any():
            break
    for row in np.flatnonzero(unsettled | ~np.isfinite(line).all(axis=0)):
        line[:, row] = _one_line(z[row], g[row], weight[row])
    b = line[1] / scale[:, 0]
    return line[0] - b * centre[:, 0], b


def _weighted_line(z: Floats, y: Floats, weight: Floats) -> tuple[Floats, Floats]:
    total = weight.sum(axis=1)
    mean_z, mean_y = np.sum(weight * z, axis=1) / total, np.sum(weight * y, axis=1) / total
    dz = z - mean_z[:, None]
    b = np.sum(weight * dz * y, axis=1) / np.maximum(np.sum(weight * dz**2, axis=1), 1e-300)
    return mean_y - b * mean_z, b


def _solve_two(z: Floats, information: Floats, residual: Floats) -> Floats:
    """Newton step of a two-parameter regression for every draw at once."""
    i0, i1, i2 = (np.sum(information * z**k, axis=1) for k in range(3))
    r0, r1 = residual.sum(axis=1), np.sum(residual * z, axis=1)
    determinant = np.maximum(i0 * i2 - i1**2, 1e-300)
    step = np.stack([(i2 * r0 - i1 * r1) / determinant, (i0 * r1 - i1 * r0) / determinant])
    return np.asarray(np.clip(step, -3, 3))


def _one_line(z: Floats, g: Floats, weight: Floats) -> Floats:
    basis = np.column_stack([np.ones_like(z), z])

    def negative_divergence(line: Floats) -> tuple[float, Floats, Floats]:
        eta = basis @ line
        fitted = expit(eta)
        value = weight @ (g * eta - np.logaddexp(0, eta))
        hessian = -(basis.T * (weight * fitted * (1 - fitted))) @ basis
        return float(value), basis.T @ (weight * (g - fitted)), hessian

    return maximise(negative_divergence, np.zeros(2), tolerance=1e-20).point


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
        Whether it is defined on the observed scores, whatever the population.
    is_distance : bool
        Whether it is never negative, and zero only at calibration.
    caution : str
        What a reader must know of its interval; empty where it covers as it should.
    """

    compute: Callable[..., Floats]
    label: str
    calibrated: float
    on_sample: bool = False
    is_distance: bool = False
    caution: str = ""


FUNCTIONALS: dict[str, Functional] = {
    "tce": Functional(tce, "true calibration error (TCE)", 0.0, is_distance=True),
    "ici": Functional(ici, "integrated calibration index (ICI)", 0.0, is_distance=True),
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
