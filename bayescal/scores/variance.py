"""Scores of a number that is predicted with a mean and a variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats, blocks
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import count
from bayescal.data.read import read_variance_cases
from bayescal.data.validate import as_number

__all__ = ["dawid_sebastiani_score", "gaussian_skce"]


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
    mean: Floats = np.exp(-(distance**2) / (2 * spread)) / np.sqrt(spread)
    return mean
