"""Calibration errors of a classifier whose true class probabilities are known, and their order.

A calibration error sees all of a prediction, one class of it, or its largest entry. Groups that
look the same to it are taken together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats, power_mean
from bayescal.data.validate import as_order, check_choice
from bayescal.scores._classes import as_groups, expected_loss, pooled_groups
from bayescal.scores._rules import MULTICLASS

__all__ = [
    "canonical_calibration_error",
    "class_wise_calibration_error",
    "proper_calibration_error",
    "top_label_calibration_error",
]


def canonical_calibration_error(
    truth: ArrayLike, y_prob: ArrayLike, *, p: float = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Calibration error of the whole prediction: (E sum_k |f_k - P(class k | f)|^p)^(1/p).

    It is zero exactly when, among all groups given the prediction f, the classes occur with the
    probabilities f.

    Parameters
    ----------
    truth : array-like of shape (n_groups, n_classes)
        The true probability of each class in each group.
    y_prob : array-like of shape (n_groups, n_classes)
        What is predicted for the group. For a binary classifier, both columns.
    p : float
        Order of the norm, at least 1.
    sample_weight : array-like of shape (n_groups,), optional
        Size of each group.

    Returns
    -------
    float
        From 0 to 2^(1/p).

    Raises
    ------
    InputError
        If either is not a matrix of class probabilities, their shapes differ, or `p` is below 1.

    Notes
    -----
    For every model with k classes, and 1 <= p <= q (Theorem 3.1):

    - it is at least `top_label_calibration_error` and `class_wise_calibration_error` of the same
      order, and with two classes equals the latter. With three, either of those two may be zero
      when the other is not;
    - the error of order p is at most k^(1/p - 1/q) times that of order q;
    - of order 2 it is at most `root_brier_score` with `scale_by_half=False`.

    With two classes it is 2^(1/p) times the calibration error of the event,
    (E |f - P(event | f)|^p)^(1/p), which of a sample is `bayescal.estimators.ece` with
    `cells=y_prob`.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 3.

    Examples
    --------
    >>> from bayescal import scores
    >>> truth, predicted = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    >>> round(scores.canonical_calibration_error(truth, predicted), 3)
    0.1
    """
    order = as_order(p)
    known, prob, mass = as_groups(truth, y_prob, sample_weight)
    return _norm(known, prob, mass, order)


def class_wise_calibration_error(
    truth: ArrayLike, y_prob: ArrayLike, *, p: float = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Calibration error class by class: (sum_k E |f_k - P(class k | f_k)|^p)^(1/p).

    Parameters
    ----------
    truth : array-like of shape (n_groups, n_classes)
        The true probability of each class in each group.
    y_prob : array-like of shape (n_groups, n_classes)
        What is predicted for the group.
    p : float
        Order of the norm, at least 1.
    sample_weight : array-like of shape (n_groups,), optional
        Size of each group.

    Returns
    -------
    float
        From 0 to 2^(1/p).

    Raises
    ------
    InputError
        As `canonical_calibration_error`.

    Notes
    -----
    It is summed over classes, as in the paper; its authors' code leaves out the root. Others
    average: divide by n_classes^(1/p).

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 3.

    Examples
    --------
    >>> from bayescal import scores
    >>> truth, predicted = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    >>> round(scores.class_wise_calibration_error(truth, predicted), 3)
    0.1
    """
    order = as_order(p)
    known, prob, mass = as_groups(truth, y_prob, sample_weight)
    classes = zip(known.T, prob.T, strict=True)
    norms = [_norm(true[:, None], seen[:, None], mass, order) for true, seen in classes]
    return float(power_mean(np.array(norms), order, np.sum))


def top_label_calibration_error(
    truth: ArrayLike, y_prob: ArrayLike, *, p: float = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Calibration error of the largest probability: (E |c - P(right | c)|^p)^(1/p), c = max f.

    Parameters
    ----------
    truth : array-like of shape (n_groups, n_classes)
        The true probability of each class in each group.
    y_prob : array-like of shape (n_groups, n_classes)
        What is predicted for the group. The predicted class is the first of the largest.
    p : float
        Order of the norm, at least 1.
    sample_weight : array-like of shape (n_groups,), optional
        Size of each group.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    InputError
        As `canonical_calibration_error`.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 3.

    Examples
    --------
    >>> from bayescal import scores
    >>> truth, predicted = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    >>> round(scores.top_label_calibration_error(truth, predicted), 3)
    0.05
    """
    order = as_order(p)
    known, prob, mass = as_groups(truth, y_prob, sample_weight)
    top = prob.argmax(axis=1)[:, None]
    right, confidence = (np.take_along_axis(values, top, axis=1) for values in (known, prob))
    return _norm(right, confidence, mass, order)


def proper_calibration_error(
    truth: ArrayLike,
    y_prob: ArrayLike,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Calibration error that belongs to a proper score: E D(f, P(class | f)).

    D(f, q) = S(f, q) - S(q, q), with S(f, q) the expected score of predicting f when q is true:
    the squared distance for "brier", the Kullback-Leibler divergence of f from q for "log".

    Parameters
    ----------
    truth : array-like of shape (n_groups, n_classes)
        The true probability of each class in each group.
    y_prob : array-like of shape (n_groups, n_classes)
        What is predicted for the group.
    score : {"brier", "log", "spherical"}
        Summed over classes, as `brier_score`, `log_score` and `spherical_score` are for a matrix.
    sample_weight : array-like of shape (n_groups,), optional
        Size of each group.

    Returns
    -------
    float
        At least 0, and zero exactly when the prediction is calibrated as a whole. For "log" it is
        infinite when what was given probability 0 can happen.

    Raises
    ------
    InputError
        As `canonical_calibration_error`, or if the score is not known.

    Notes
    -----
    The mean score is this error plus E S(q, q) with q = P(class | f), which is what remains
    uncertain when f is known. That is at least the least entropy a prediction can have, which is 0
    for these three: so the mean score itself is an upper bound of the error, without bins and
    without bias. A recalibration that merges no predictions leaves q as it was, so that it changes
    mean score and error by the same amount (Proposition 4.5).

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, section 4.

    Examples
    --------
    >>> from bayescal import scores
    >>> truth, predicted = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    >>> round(scores.proper_calibration_error(truth, predicted), 3)
    0.01
    """
    loss = MULTICLASS[check_choice(score, MULTICLASS, "score")]
    seen, pooled, share = pooled_groups(*as_groups(truth, y_prob, sample_weight))
    excess = expected_loss(loss, pooled, seen) - expected_loss(loss, pooled, pooled)
    return float(share @ np.maximum(excess, 0))


def _norm(truth: Floats, seen: Floats, mass: Floats, order: float) -> float:
    """(E sum |seen - P(truth | seen)|^order)^(1/order)."""
    level, pooled, share = pooled_groups(truth, seen, mass)
    each = np.repeat(share, level.shape[1])
    return float(power_mean((level - pooled).ravel(), order, lambda power: power @ each))
