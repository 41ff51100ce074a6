"""Net benefit at a threshold, and scores of predicted means and variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats, blocks, is_single
from bayescal.core.errors import InputError, as_flag, as_number
from bayescal.core.text import count, documented
from bayescal.data.cases import as_scores
from bayescal.data.read import Cases, Outcomes, read_cases, read_variance_cases
from bayescal.scores import proper

NO_EVENTS = "y_true holds no events, so there is no net benefit to have, and no share of it."


class DecisionCurve(NamedTuple):
    """Net benefit at each threshold: of acting on the scores, on all cases, and on none.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
    model : ndarray of shape (..., n_thresholds)
    treat_all : ndarray of shape (..., n_thresholds)
    treat_none : ndarray of shape (n_thresholds,)
        Zero.
    """

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


@documented
def net_benefit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Net benefit of treating the cases whose score reaches a threshold.

    (events treated - non-events treated * t / (1 - t)) / cases: the true positives per case, less
    the false positives at the price that whoever treats from risk t on is willing to pay.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities; None with a table. A case is treated when its score is at least
        the threshold, less a relative 1e-12 for rounding.
    thresholds : float or array-like of shape (n_thresholds,)
        At least 0 and below 1, in any order.
    %(counts)s

    Returns
    -------
    float or ndarray
        At most the mean outcome. With an array of thresholds the last axis runs over them; leading
        dimensions are those of `y_true`.

    %(refuses)s
        Also if a table was compressed to the grid, where which cases reach a threshold is lost.

    Notes
    -----
    Treating none has net benefit 0. Treating all is what scores of 1 do; `decision_curve` has all
    three.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.

    Examples
    --------
    >>> from bayescal import scores
    >>> y_true, y_prob = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
    >>> scores.net_benefit(y_true, y_prob, 0.5)
    0.5
    >>> scores.net_benefit(y_true, y_prob, [0.2, 0.5, 0.8])
    array([0.375, 0.5  , 0.25 ])
    """
    cases = _read(y_true, y_prob, sample_weight)
    benefit = proper.net_benefit(cases, _as_thresholds(thresholds))
    return cases.result(benefit[:, 0] if is_single(thresholds) else benefit)


@documented
def standardised_net_benefit(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Net benefit as a share of the most that any prediction could reach, the mean outcome.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities; None with a table. A case is treated when its score is at least
        the threshold, less a relative 1e-12 for rounding.
    thresholds : float or array-like of shape (n_thresholds,)
        At least 0 and below 1, in any order.
    %(counts)s

    Returns
    -------
    float or ndarray
        At most 1; shaped as `net_benefit` is, and NaN for replicates without events.

    Raises
    ------
    InputError
        As `net_benefit`; also if there are no events.

    References
    ----------
    Kerr, Brown, Zhu & Janes, "Assessing the clinical impact of risk prediction models with
    decision curves", Journal of Clinical Oncology 34, 2016.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.standardised_net_benefit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], [0.5, 0.8])
    array([1. , 0.5])
    """
    cases = _read(y_true, y_prob, sample_weight)
    share = proper.net_benefit(cases, _as_thresholds(thresholds)) / _prevalence(cases)
    return cases.result(share[:, 0] if is_single(thresholds) else share, NO_EVENTS)


@documented
def decision_curve(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    thresholds: ArrayLike | None = None,
    *,
    standardised: bool = False,
    sample_weight: ArrayLike | None = None,
) -> DecisionCurve:
    """Net benefit over thresholds, beside that of treating all cases and none.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    thresholds : float or array-like of shape (n_thresholds,), optional
        As in `net_benefit`; 0.01, 0.02, ..., 0.99 by default.
    standardised : bool
        Divide by the mean outcome.
    %(counts)s

    Returns
    -------
    DecisionCurve
        A named tuple (threshold, model, treat_all, treat_none).

    Raises
    ------
    InputError
        As `net_benefit`; when standardised, also if there are no events.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
    Medical Decision Making 26, 2006.

    Examples
    --------
    >>> from bayescal import scores
    >>> curve = scores.decision_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], [0.25, 0.5])
    >>> curve.model.round(3), curve.treat_all.round(3)
    (array([0.417, 0.5  ]), array([0.333, 0.   ]))
    """
    grid = _as_thresholds(np.arange(1, 100) / 100 if thresholds is None else thresholds)
    cases = _read(y_true, y_prob, sample_weight)
    everyone = Cases(cases.outcomes, np.ones(cases.scores.size), cases.weights, cases.shape)
    unit = _prevalence(cases) if as_flag(standardised, "standardised") else 1.0
    model, treat_all = (
        np.asarray(cases.result(proper.net_benefit(who, grid) / unit, NO_EVENTS))
        for who in (cases, everyone)
    )
    return DecisionCurve(grid, model, treat_all, np.zeros(grid.size))


def _read(y_true: Outcomes, y_prob: ArrayLike | None, sample_weight: ArrayLike | None) -> Cases:
    return read_cases(y_true, y_prob, sample_weight, needs="scores").counted()


def _prevalence(cases: Cases) -> Floats:
    """Mean outcome of each replicate, as a column; NaN where there are no events."""
    rate = proper.base_rate(cases)[:, None]
    return np.where(rate > 0, rate, np.nan)


def _as_thresholds(values: ArrayLike | None) -> Floats:
    if values is None:
        raise InputError("thresholds is missing: pass the risks from which cases are treated.")
    grid = as_scores([values] if is_single(values) else values, "thresholds")
    if grid.max() == 1:
        raise InputError(
            f"thresholds[{int(grid.argmax())}] is 1: whoever treats only from certainty on pays "
            "without limit for a non-event. Thresholds must be below 1."
        )
    return grid


@documented
def dawid_sebastiani_score(
    y_true: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Dawid-Sebastiani score of predicted means and variances: less is better.

    The mean over cases of (y - mean)^2 / variance + log variance. Up to constants it is minus twice
    the log score of normal predictions; but it is proper for outcomes of any law, since it is
    smallest in expectation where mean and variance are those of the outcome.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Outcomes: finite numbers.
    mean : array-like of shape (n_samples,)
        Predicted means, in the unit of `y_true`.
    variance : array-like of shape (n_samples,)
        Predicted variances, positive, in that unit squared.
    %(counts)s

    Returns
    -------
    float
        Any number. In another unit, c times as small, it is 2 log c greater; differences of two
        scores have no unit.

    Raises
    ------
    InputError
        If the arrays are not numbers, means and positive variances of the same cases.

    See Also
    --------
    bernoulli_dawid_sebastiani_score : The score of the mean and variance that a probability has.
    bayescal.recalibrate.VarianceRecalibrator : Variance scaling, by the least of this score.
    bayescal.variance_gain : What a recalibration of variances gained in it, as a posterior.

    Notes
    -----
    It has no least value, so that it bounds no calibration error from above. Its fall under a map
    of the variance that merges no predictions is the fall of the calibration error that belongs to
    it (Proposition 4.5 of Gruber & Buettner).

    References
    ----------
    Dawid & Sebastiani, "Coherent dispersion criteria for optimal experimental design", Annals of
    Statistics 27, 1999.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 2.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.dawid_sebastiani_score([1.0, 3.0], mean=[0.0, 3.0], variance=[2.0, 1.0]), 3)
    0.597
    """
    cases = read_variance_cases(y_true, mean, sample_weight, variance=variance)
    (predicted,) = cases.variances
    losses = cases.squared_error / predicted + np.log(predicted)
    return float(cases.weight @ losses / cases.weight.sum())


@documented
def gaussian_skce(
    y_true: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    bandwidth: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Squared kernel calibration error of normal predictions, unbiased.

    The mean of h over pairs of different cases, with P = N(m, v) and P' = N(m', v') predicted and y
    and y' observed:

        h = k(P, P') [G_0(y - y') - G_v(m - y') - G_v'(y - m') + G_{v+v'}(m - m')]
        G_c(d) = exp(-d^2 / (2 (1 + c))) / sqrt(1 + c)
        k(P, P') = exp(-sqrt((m - m')^2 + (sqrt v - sqrt v')^2))

    so k is exp(-Wasserstein distance), and G_c the mean of the kernel exp(-(y - y')^2 / 2) under
    the predictions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Outcomes: finite numbers.
    mean : array-like of shape (n_samples,)
        Predicted means, in the unit of `y_true`.
    variance : array-like of shape (n_samples,)
        Predicted variances, positive, in that unit squared.
    bandwidth : float
        The length, in the unit of `y_true`, that distances are measured in.
    %(counts)s

    Returns
    -------
    float
        Near 0 for calibrated predictions, and below 0 by chance; at most 2.

    Raises
    ------
    InputError
        If the arrays are not numbers, means and positive variances of the same cases, if there are
        fewer than two cases, or if `bandwidth` is not a positive number.

    See Also
    --------
    dawid_sebastiani_score : Proper, and sensitive to the variance.
    bayescal.estimators.skce : The same of probabilities of an event.

    Notes
    -----
    Its time is proportional to the square of the number of cases. Gruber & Buettner observe that it
    answers to errors of the mean more than to those of the variance.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration tests beyond classification", ICLR 2021.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 5 and appendix F.

    Examples
    --------
    >>> from bayescal import scores, simulate
    >>> _, y, mean, variance = simulate.friedman_1(500, random_state=1)
    >>> round(scores.gaussian_skce(y, mean, variance), 4)
    -0.0001
    >>> round(scores.gaussian_skce(y, mean + 1, variance), 4)
    0.0104
    """
    unit = as_number(bandwidth, "bandwidth")
    if not 1e-60 <= unit <= 1e60:
        raise InputError(f"bandwidth must be a positive number, 1e-60 to 1e60, got {bandwidth!r}.")
    cases = read_variance_cases(y_true, mean, sample_weight, variance=variance)
    total = cases.weight.sum()
    if total <= 1:
        raise InputError(f"y_true stands for {count(total, 'case')}, and pairs need more than one.")
    y, m, v = cases.outcome / unit, cases.mean / unit, cases.variances[0] / unit**2
    spread, weight, pairs = np.sqrt(v), cases.weight, 0.0
    for part in blocks(y.size, y.size):
        row = part, None
        kernel = np.exp(-np.hypot(m[row] - m, spread[row] - spread))
        kernel *= (
            _smoothed(y[row] - y, 0.0)
            - _smoothed(m[row] - y, v[row])
            - _smoothed(y[row] - m, v)
            + _smoothed(m[row] - m, v[row] + v)
        )
        pairs += float(weight[part] @ kernel @ weight)
    own = 1 - 2 * _smoothed(m - y, v) + _smoothed(np.zeros_like(m), 2 * v)
    return float((pairs - weight @ own) / (total * (total - 1)))


def _smoothed(distance: Floats, variance: Floats | float) -> Floats:
    """Mean of exp(-(d + e)^2 / 2) for e of this variance, normal about 0."""
    spread = 1 + np.asarray(variance)
    return np.asarray(np.exp(-(distance**2) / (2 * spread)) / np.sqrt(spread))
