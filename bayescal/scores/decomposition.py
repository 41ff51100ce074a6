"""What a proper score is made of: calibration, refinement, and bounds of the calibration error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats, power_mean
from bayescal.core.errors import InputError, as_flag, as_order, check_choice
from bayescal.core.text import documented, shortened
from bayescal.data.cases import aligned, as_weights, is_matrix
from bayescal.data.read import Needs, Outcomes, read_cases
from bayescal.scores import proper
from bayescal.scores.proper import (
    BINARY,
    MULTICLASS,
    Loss,
    as_groups,
    expected_loss,
    mean_loss,
    pooled_groups,
    read_classes,
)


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
    return _decompose(y_true, y_prob, score, sample_weight, proper.isotonic_groups, "rows")


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
        happened, prob, mass = read_classes(y_true, y_prob, sample_weight)
        return _of_groups(loss, happened.astype(np.float64), prob, mass)
    return _decompose(y_true, y_prob, score, sample_weight, lambda *alone: alone, "scores")


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


def _decompose(
    y_true: Outcomes,
    y_prob: ArrayLike | None,
    score: str,
    sample_weight: ArrayLike | None,
    pool: proper.Pool,
    needs: Needs,
) -> Decomposition:
    loss = BINARY[check_choice(score, BINARY, "score")]
    cases = read_cases(y_true, y_prob, sample_weight, needs=needs).counted()
    return Decomposition(*map(cases.result, proper.decompose(cases, loss, pool)))


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


@documented
def calibration_upper_bound(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str | Callable[[Any, Any], ArrayLike] = "brier",
    least: float | None = None,
    root: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Upper bound of the calibration error that belongs to a proper score.

    U_S = E S(P, Y) - inf_Q g(Q), with g(Q) = E S(Q, Y) for Y from Q, the entropy of the score. It
    is at least `proper_calibration_error`, and near it where predictions are nearly certain and
    right.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table stands for `y_true`, `y_prob` and
        `sample_weight`. With a function for `score`, whatever that takes.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class; with a function for `score`,
        whatever that takes.
    score : {"brier", "log", "spherical"} or callable
        As `brier_score` with `scale_by_half=False`, also for an event; `log_score`;
        `spherical_score`. Or `score(y_true, y_prob)`, which gives the loss of each case, of shape
        (n_samples,), and must be proper: in expectation, the truth is the best prediction.
    least : float, optional
        The infimum of the entropy, for a function. The known ones have 0.
    root : bool
        Whether to take the root: of the Brier score, an upper bound of
        `canonical_calibration_error` of order 2, the root Brier score.
    %(counts)s

    Returns
    -------
    float or ndarray
        At least 0 for the known scores; infinite for "log" where what was given probability 0
        happened. One for each replicate when `y_true` has leading dimensions.

    %(refuses)s
        Also if a function comes without `least`, or the root is negative.

    Notes
    -----
    It is the mean of one number a case, and so unbiased, without bins; the root is not. A score
    whose entropy has no infimum, such as `dawid_sebastiani_score`, gives no bound.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Theorem 4.3.

    Examples
    --------
    >>> from bayescal import scores
    >>> y_true, y_prob = [0, 2], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> round(scores.calibration_upper_bound(y_true, y_prob), 3)
    0.2
    >>> round(scores.calibration_upper_bound(y_true, y_prob, score="log"), 3)
    0.434

    Of a score of one's own, here the absolute error of a predicted median:

    >>> import numpy as np
    >>> def absolute_error(y_true, median):
    ...     return abs(y_true - median)
    >>> y_true, median = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    >>> scores.calibration_upper_bound(y_true, median, score=absolute_error, least=0)
    0.5
    """
    bound: float | Floats
    if callable(score):
        bound = _mean_of(score, y_true, y_prob, sample_weight) - _as_least(least)
    else:
        loss = MULTICLASS[check_choice(score, MULTICLASS, "score")]
        if least is not None:
            raise InputError(f"least is for a function; of {score!r} it is 0. Leave it out.")
        bound = mean_loss(y_true, y_prob, sample_weight, loss, loss)
    if not as_flag(root, "root"):
        return bound
    if np.any(np.asarray(bound) < 0):
        raise InputError("the bound is negative and has no root: least is not the infimum.")
    rooted: float | Floats = bound**0.5
    return rooted


def _mean_of(
    score: Callable[[Any, Any], ArrayLike], y_true: Any, y_prob: Any, sample_weight: Any
) -> float:
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    try:
        losses = np.asarray(score(y_true, y_prob), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"score does not take these y_true and y_prob: {error}") from error
    if losses.ndim != 1 or not losses.size or np.isnan(losses).any():
        raise InputError(
            f"score must give one number for each case, of shape (n_samples,); its shape is "
            f"{losses.shape}."
        )
    weights = as_weights(sample_weight, losses.size)
    return float(np.average(losses, weights=weights))


def _as_least(least: Any) -> float:
    number = isinstance(least, (int, float, np.integer, np.floating))
    if not number or isinstance(least, bool) or not -1e300 < least < 1e300:
        raise InputError(
            "least must be the infimum of the entropy of this score, a finite number, got "
            f"{shortened(repr(least))}. Without one the score bounds nothing."
        )
    return float(least)
