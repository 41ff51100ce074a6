"""Proper scores: in expectation, the truth is the best prediction.

All are losses: less is better. Scores of one event take replicates of the outcomes too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.read import Outcomes, read_cases
from bayescal.data.validate import is_matrix
from bayescal.scores import _core
from bayescal.scores._classes import mean_loss
from bayescal.scores._rules import (
    brier,
    contradiction,
    dawid_sebastiani,
    half_brier,
    log,
    spherical,
    squared_error,
)

__all__ = [
    "brier_score",
    "dawid_sebastiani_score",
    "log_score",
    "root_brier_score",
    "scaled_brier_score",
    "spherical_score",
]


@documented
def brier_score(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    scale_by_half: bool | str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Brier score: the mean squared difference of probability and outcome.

    For an event, mean (score - outcome)^2. For k classes, mean sum_k (p_k - [class is k])^2,
    which for two classes is twice the former.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table replaces `y_true`, `y_prob` and
        `sample_weight`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class.
    scale_by_half : bool or "auto"
        Whether to halve the sum over classes, so that the score lies between 0 and 1. "auto" does
        for an event, and does not for a matrix.
    %(counts)s

    Returns
    -------
    float or ndarray
        From 0 to 1 when halved, else from 0 to 2; one for each replicate when `y_true` has leading
        dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if the rows of a matrix
        do not sum to 1.

    Notes
    -----
    With Gruber & Buettner's released code two columns give something else: the outcome of the
    second class is taken for both.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review
    78, 1950.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.brier_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.075
    >>> round(scores.brier_score([0, 2], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 3)
    0.2
    """
    halves = _halves(scale_by_half, is_matrix(y_prob))
    two, many = (squared_error, half_brier) if halves else (brier, brier)
    return mean_loss(y_true, y_prob, sample_weight, two, many)


@documented
def root_brier_score(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    scale_by_half: bool | str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Root Brier score: an upper bound of the L2 calibration error.

    The Brier score is the squared calibration error E |p - P(class | p)|^2 plus what remains
    uncertain when p is known, E sum_k P(k | p) (1 - P(k | p)), so its root is at least the error.
    For an event, halved, it bounds the true calibration error of order 2.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        As in `brier_score`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        As in `brier_score`.
    scale_by_half : bool or "auto"
        As in `brier_score`. The paper's bound, RBS, sums over classes also when there are two:
        pass False.
    %(counts)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `brier_score`.

    Notes
    -----
    It needs no bins, but is far above the error unless the scores are nearly certain. What can
    be read off it is a gain: a recalibration that merges no scores changes the mean of its square
    by exactly the change in squared calibration error (Proposition 4.5).

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Theorem 3.1.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.root_brier_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.274
    """
    square = brier_score(y_true, y_prob, scale_by_half=scale_by_half, sample_weight=sample_weight)
    return square**0.5


@documented
def log_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Log score: the mean of -log of the probability given to what happened, in nats.

    Also called log loss, cross-entropy and ignorance. Its excess over the entropy of what happens,
    E KL(P(class | p) || p), is a calibration error, of which the score is an upper bound.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table replaces `y_true`, `y_prob` and
        `sample_weight`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class.
    %(counts)s

    Returns
    -------
    float or ndarray
        At least 0, and infinite when anything happened that had been given probability 0.

    Raises
    ------
    InputError
        As `brier_score`.

    References
    ----------
    Good, "Rational decisions", Journal of the Royal Statistical Society B 14, 1952.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.log_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.299
    >>> scores.log_score([0, 1], [1.0, 1.0])
    inf
    """
    return mean_loss(y_true, y_prob, sample_weight, log, log)


@documented
def spherical_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Spherical score: the mean of 1 - (probability given to what happened) / |p|.

    |p| is the Euclidean length of the vector of class probabilities: (score, 1 - score) for an
    event.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table replaces `y_true`, `y_prob` and
        `sample_weight`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class.
    %(counts)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `brier_score`.

    Notes
    -----
    Where it is meant as a reward it is written without the "1 -".

    References
    ----------
    Gneiting & Raftery, "Strictly proper scoring rules, prediction, and estimation", Journal of
    the American Statistical Association 102, 2007, section 3.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.spherical_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.071
    """
    return mean_loss(y_true, y_prob, sample_weight, spherical, spherical)


@documented
def dawid_sebastiani_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Dawid-Sebastiani score: of the mean and variance that the prediction implies.

    For an event of score s, mean log v + (y - s)^2 / v with v = s (1 - s). For k classes, the
    indicators of all but one have mean p and a covariance with determinant prod_k p_k, and the
    score is mean sum_k log p_k + 1 / p_c - 1, with c the class that happened.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table replaces `y_true`, `y_prob` and
        `sample_weight`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class.
    %(counts)s

    Returns
    -------
    float or ndarray
        Any number: certainty that proves right is rewarded without limit, so a probability of
        exactly 0 gives minus infinity; or infinity, if what was ruled out happens even once.

    Raises
    ------
    InputError
        As `brier_score`.

    Notes
    -----
    It has no least value, so that it bounds no calibration error from above.

    References
    ----------
    Dawid & Sebastiani, "Coherent dispersion criteria for optimal experimental design", Annals of
    Statistics 27, 1999.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.dawid_sebastiani_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    -1.443
    """
    total = mean_loss(y_true, y_prob, sample_weight, dawid_sebastiani, dawid_sebastiani)
    wrong = mean_loss(y_true, y_prob, sample_weight, contradiction, contradiction)
    if isinstance(total, float):
        return np.inf if wrong else total
    return np.where(np.asarray(wrong) > 0, np.inf, total)


@documented
def scaled_brier_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Scaled Brier score: the share of the base rate's Brier score that the scores save.

    1 - mean (score - y)^2 / (r (1 - r)), with r the mean outcome. Also called Brier skill score
    and index of prediction accuracy.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        1 for certainty that proves right, 0 for the base rate, below 0 for worse than that. One
        for each replicate when `y_true` has leading dimensions, NaN where there is but one class.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if all outcomes are
        the same.

    References
    ----------
    Kattan & Gerds, "The index of prediction accuracy: an intuitive measure useful for evaluating
    risk prediction models", Diagnostic and Prognostic Research 2, 2018.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.scaled_brier_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.7
    """
    cases = read_cases(y_true, y_prob, sample_weight).counted()
    rate = _core.base_rate(cases)
    variance = np.where(cases.has_both, rate * (1 - rate), np.nan)
    return cases.result(
        1 - _core.mean(cases, squared_error) / variance,
        "y_true holds one class only, so the base rate is certain and its Brier score is 0: "
        "nothing can be a share of it. Use brier_score.",
    )


def _halves(scale_by_half: bool | str, matrix: bool) -> bool:
    if isinstance(scale_by_half, str) and scale_by_half == "auto":
        return not matrix
    if not isinstance(scale_by_half, (bool, np.bool_)):
        given = shortened(repr(scale_by_half))
        raise InputError(f"scale_by_half must be True, False or 'auto', got {given}.")
    return bool(scale_by_half)
