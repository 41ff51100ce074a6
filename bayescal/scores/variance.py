"""The proper score of a number that is predicted with a mean and a variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.docstrings import documented
from bayescal.data.read import read_variance_cases

__all__ = ["dawid_sebastiani_score"]


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
