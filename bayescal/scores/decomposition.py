"""A mean score as miscalibration - discrimination + uncertainty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.data.read import Needs, Outcomes, read_cases
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import (
    as_class_matrix,
    check_choice,
    check_same_length,
    is_matrix,
)
from bayescal.scores import _core
from bayescal.scores._classes import as_groups, as_labels, expected_loss, pooled_groups
from bayescal.scores._rules import BINARY, MULTICLASS, Loss

__all__ = [
    "Decomposition",
    "corp_decomposition",
    "murphy_decomposition",
    "proper_decomposition",
]


class Decomposition(NamedTuple):
    """score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float or ndarray
        The mean score.
    miscalibration : float or ndarray
        What recalibration would save. Also called reliability.
    discrimination : float or ndarray
        What the recalibrated scores save over the base rate. Also called resolution.
    uncertainty : float or ndarray
        The score of the base rate.
    """

    score: float | Floats
    miscalibration: float | Floats
    discrimination: float | Floats
    uncertainty: float | Floats


@documented
def corp_decomposition(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """CORP decomposition: recalibrated by isotonic regression, without bins.

    miscalibration = S - S(isotonic) and discrimination = S(base rate) - S(isotonic), where the
    isotonic fit of the outcomes on the scores is the best monotone recalibration for every
    proper score at once. Neither is negative.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities. Cases with equal scores are fitted by one value.
    score : {"brier", "log", "spherical"}
        As `brier_score`, `log_score` and `spherical_score` define them.
    %(counts)s

    Returns
    -------
    Decomposition
        A named tuple (score, miscalibration, discrimination, uncertainty), of floats, or of arrays
        with one for each replicate when `y_true` has leading dimensions. The log score and its
        miscalibration are infinite when a score of 0 or 1 is contradicted.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or the score is not
        known.

    Notes
    -----
    The isotonic fit follows the outcomes closely, so that with few cases a calibrated model has a
    miscalibration well above 0. See `bayescal.check_consistency`.

    References
    ----------
    Dimitriadis, Gneiting & Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 118, 2021.

    Examples
    --------
    >>> from bayescal import scores
    >>> parts = scores.corp_decomposition([0, 1, 0, 1], [0.2, 0.4, 0.7, 0.9])
    >>> [round(part, 4) for part in parts]
    [0.225, 0.1, 0.125, 0.25]
    """
    return _decompose(y_true, y_prob, score, sample_weight, _core.isotonic_groups, "rows")


@documented
def murphy_decomposition(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """Murphy's decomposition over the distinct scores: reliability, resolution, uncertainty.

    For the Brier score, miscalibration = sum_j w_j (s_j - r_j)^2 and discrimination
    = sum_j w_j (r_j - r)^2, with r_j the mean outcome of the cases at score s_j, w_j their share,
    and r the mean outcome. Of several classes s_j, r_j and r are vectors, and squares are summed.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table stands for `y_true`, `y_prob` and
        `sample_weight`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class, of few distinct values or rows. To
        decompose over bins, replace each score by the mean of its bin first.
    score : {"brier", "log", "spherical"}
        As in `corp_decomposition`.
    %(counts)s

    Returns
    -------
    Decomposition
        As `corp_decomposition` returns it.

    Raises
    ------
    InputError
        As `corp_decomposition`; if a table was compressed to the grid, where the distinct scores
        are lost.

    Notes
    -----
    When all scores differ, every outcome explains itself: discrimination is all of the uncertainty
    and miscalibration all of the score. `corp_decomposition` has no such limit.

    It is `proper_decomposition` with the classes that happened for the truth.

    References
    ----------
    Murphy, "A new vector partition of the probability score", Journal of Applied Meteorology 12,
    1973. Broecker, "Reliability, sufficiency, and the decomposition of proper scores", Quarterly
    Journal of the Royal Meteorological Society 135, 2009.

    Examples
    --------
    >>> from bayescal import scores
    >>> parts = scores.murphy_decomposition([0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8])
    >>> [round(part, 4) for part in parts]
    [0.16, 0.0267, 0.1067, 0.24]
    """
    if is_matrix(y_prob):
        loss = MULTICLASS[check_choice(score, MULTICLASS, "score")]
        y_true, y_prob, sample_weight = aligned(
            y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
        )
        prob = as_class_matrix(y_prob, "y_prob")
        labels = as_labels(y_true, prob.shape[1])
        check_same_length(labels.size, "y_true", prob.shape[0], "y_prob")
        happened = (labels[:, None] == np.arange(prob.shape[1])).astype(np.float64)
        return _of_groups(loss, *as_groups(happened, prob, sample_weight))
    return _decompose(y_true, y_prob, score, sample_weight, _alone, "scores")


def proper_decomposition(
    truth: ArrayLike,
    y_prob: ArrayLike,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """Entropy, calibration and sharpness of a classifier whose true probabilities are known.

    E S(Q, Y) = g(P_Y) + E d(Q, P_Y|Q) - E d(P_Y, P_Y|Q), with Q the prediction, S(Q, Y) its score,
    g(P) = S(P, P) the entropy and d(Q, P) = S(Q, P) - S(P, P) the divergence of the score (Lemma
    4.1). The second term is the calibration error, the third the sharpness.

    Parameters
    ----------
    truth : array-like of shape (n_groups, n_classes)
        The true probability of each class in each group.
    y_prob : array-like of shape (n_groups, n_classes)
        What is predicted for the group. Groups with equal predictions are taken together.
    score : {"brier", "log", "spherical"}
        Summed over classes, as `brier_score`, `log_score` and `spherical_score` are for a matrix.
    sample_weight : array-like of shape (n_groups,), optional
        Size of each group.

    Returns
    -------
    Decomposition
        A named tuple of floats: the mean score, the calibration error as `miscalibration`, the
        sharpness as `discrimination`, the entropy as `uncertainty`. For "log" the first two are
        infinite when what was given probability 0 can happen.

    Raises
    ------
    InputError
        If either is not a matrix of class probabilities, their shapes differ, or the score is not
        known.

    Notes
    -----
    `proper_calibration_error` is its second term. `murphy_decomposition` estimates all of them from
    classes that happened.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Lemma 4.1. Broecker, "Reliability, sufficiency, and the decomposition of
    proper scores", Quarterly Journal of the Royal Meteorological Society 135, 2009.

    Examples
    --------
    >>> from bayescal import scores
    >>> truth, predicted = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]
    >>> [round(part, 4) for part in scores.proper_decomposition(truth, predicted)]
    [0.6, 0.01, 0.065, 0.655]
    """
    loss = MULTICLASS[check_choice(score, MULTICLASS, "score")]
    return _of_groups(loss, *as_groups(truth, y_prob, sample_weight))


def _of_groups(loss: Loss, truth: Floats, prob: Floats, mass: Floats) -> Decomposition:
    seen, actual, share = pooled_groups(truth, prob, mass)
    overall = (share @ actual)[None]
    mean, within, base = (
        float(weight @ expected_loss(loss, happens, predicted))
        for weight, happens, predicted in (
            (share, actual, seen),
            (share, actual, actual),
            (np.ones(1), overall, overall),
        )
    )
    return Decomposition(mean, max(mean - within, 0.0), max(base - within, 0.0), base)


def _alone(mass: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Every distinct score is a group."""
    return mass, hits


def _decompose(
    y_true: Outcomes,
    y_prob: ArrayLike | None,
    score: str,
    sample_weight: ArrayLike | None,
    pool: _core.Pool,
    needs: Needs,
) -> Decomposition:
    loss = BINARY[check_choice(score, BINARY, "score")]
    cases = read_cases(y_true, y_prob, sample_weight, needs=needs).counted()
    return Decomposition(*map(cases.result, _core.decompose(cases, loss, pool)))
