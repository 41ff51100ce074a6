"""Predictions of several classes: what each estimator reads of them, top label and class-wise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, power_mean
from bayescal.core.errors import InputError, as_flag, as_order
from bayescal.core.text import exact
from bayescal.data.cases import aligned, as_weights, check_same_length, check_scores, is_matrix
from bayescal.data.matrices import as_class_matrix
from bayescal.data.table import CalibrationData
from bayescal.data.weights import effective_cases
from bayescal.estimators.binned import ece_core
from bayescal.estimators.bins import as_cut
from bayescal.estimators.registry import Cases, OutcomesLike, Statistic, estimator, evaluate


def columns_of(scores: Floats) -> Floats:
    """Class probabilities, (classes, n_samples); one row of scores is that of class 1 of two."""
    if scores.ndim == 2:
        return scores
    columns = np.empty((2, scores.size))
    columns[1] = scores
    np.subtract(1, columns[1], out=columns[0])
    return columns


def read_classes(
    y_true: OutcomesLike,
    y_proba: ArrayLike | None,
    sample_weight: ArrayLike | None,
    name: str = "y_proba",
) -> Cases:
    """Classes as outcomes, and class probabilities of shape (classes, n_samples) as scores.

    `name` is what the user calls the probabilities.
    """
    if isinstance(y_true, Cases):
        return y_true
    if isinstance(y_true, CalibrationData):
        raise InputError(
            "a CalibrationData holds one score for each case, and this needs the probability of "
            "every class. Pass y_true and y_proba, or reduce the classes with "
            "CalibrationData(y_true, y_proba, mode=...) and pass the table to ece."
        )
    if y_proba is None:
        raise InputError(f"{name} is missing: pass the class probabilities after y_true.")
    y_true, y_proba, sample_weight = aligned(
        **{"y_true": y_true, name: y_proba, "sample_weight": sample_weight}, across={"y_true"}
    )
    if is_matrix(y_proba):
        columns = as_class_matrix(y_proba, name).T
    else:
        columns = columns_of(check_scores(y_proba, name))
    number, size = columns.shape
    classes = _as_classes(y_true, number, size, name)
    weights = as_weights(sample_weight, size)
    cases = None if weights is None else effective_cases(weights)
    return Cases(classes.reshape(-1, size), columns, cases, classes.shape[:-1])


def _as_classes(y_true: Any, number: int, size: int, name: str) -> NDArray[Any]:
    """True classes as columns, the last axis running over the cases."""
    labels = _as_array(y_true, "y_true")
    if labels.shape[1:] == (1,) and size != 1:
        labels = labels[:, 0]
    if labels.ndim == 0 or labels.dtype.kind not in "biuf":
        raise InputError(
            f"y_true must hold columns of {name}, 0 to {number - 1}, but holds {labels.dtype} "
            "values. Turn names of classes into positions, in the order of the columns."
        )
    check_same_length(labels.shape[-1], "y_true", size, name)
    wrong = (labels < 0) | (labels >= number) | (labels % 1 != 0)
    if wrong.any():
        at = np.unravel_index(int(wrong.argmax()), labels.shape)
        where = ", ".join(map(str, at))
        raise InputError(
            f"y_true[{where}] = {exact(labels[at])} is no column of {name}, which are 0 to "
            f"{number - 1}. Labels that start at 1 need 1 taken away."
        )
    return labels


def _as_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} is not an array of numbers: a value is none, or rows differ in length."
        ) from error


def _top_label_core(scores: Floats, weights: Floats | None, **options: Any) -> Statistic:
    """Core of `top_label_ece`, on scores of shape (n_samples,) or (classes, n_samples)."""
    columns = columns_of(scores)
    top = columns.argmax(axis=0)
    error = ece_core(columns.max(axis=0), weights, **options)
    return lambda classes: error(classes == top)


@estimator(
    "Top-label calibration error",
    prepare=_top_label_core,
    paper="Guo, Pleiss, Sun & Weinberger 2017",
    estimates="binned calibration error of the largest probability as that of being right",
    span=(0, 1),
    bound="below top-label TCE of the same order in the population; biased upwards in a sample",
    dear="Both columns and the largest probability of each case are arrays of their own.",
)
def top_label_ece(
    y_true: OutcomesLike,
    y_proba: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    p: float = 1,
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Top-label calibration error: `ece` of the largest probability against being right.

    The score of a case is max_k y_proba[k], also called its confidence, and its outcome is
    whether that class is the true one. Of equal largest probabilities the first counts.

    Parameters
    ----------
    y_true : array-like of int of shape (n_samples,) or (..., n_samples)
        True classes, as columns of `y_proba`: 0, 1, ..., n_classes - 1. Leading dimensions are
        replicates.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Class probabilities; every row sums to 1 within 0.001. One dimension: the probability of
        class 1 of two.
    n_bins, binning, p, ties
        As in `ece`.
    %(weights)s

    %(returns_share)s

    Raises
    ------
    InputError
        If the rows do not sum to 1, a true class has no column, or as `ece`.

    Notes
    -----
    Of two classes it is another quantity than `ece`: scores below 1/2 are turned round. It says
    nothing of the probabilities of the classes that are not the largest; see `class_wise_ece`.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]
    >>> round(estimators.top_label_ece([0, 1, 1], y_proba), 3)
    0.467
    """
    cases = read_classes(y_true, y_proba, sample_weight)
    return evaluate(_top_label_core, cases, p=as_order(p), **as_cut(n_bins, binning, ties))


def _class_wise_core(
    scores: Floats, weights: Floats | None, *, p: float, average: bool, **cut: Any
) -> Statistic:
    """Core of `class_wise_ece`, on scores of shape (n_samples,) or (classes, n_samples)."""
    errors = [ece_core(column, weights, p=p, **cut) for column in columns_of(scores)]
    over_classes = np.mean if average else np.sum

    def statistic(classes: NDArray[Any]) -> Floats:
        each = np.stack([error(classes == k) for k, error in enumerate(errors)], axis=-1)
        return power_mean(each, p, lambda power: over_classes(power, axis=-1))

    return statistic


@estimator(
    "Class-wise calibration error",
    prepare=_class_wise_core,
    paper="Kull et al. 2019; Kumar, Liang & Ma 2019",
    estimates="binned calibration error of every class against the rest, averaged over classes",
    span=(0, 1),
    bound="below class-wise TCE of the same order in the population; biased upwards in a sample",
)
def class_wise_ece(
    y_true: OutcomesLike,
    y_proba: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    p: float = 1,
    ties: str = "together",
    average: bool = True,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Class-wise calibration error: `ece` of every class against the rest, averaged over classes.

    (1/K sum_k ECE_k^p)^(1/p), with ECE_k the `ece` of order p of column k against whether class k
    is the true one. For p = 1 it is the mean over classes of Kull et al.; for p = 2 the marginal
    calibration error of Kumar et al. with equal weight for every class. Gruber & Buettner sum over
    classes, without the 1/K: `average=False`.

    Parameters
    ----------
    y_true : array-like of int of shape (n_samples,) or (..., n_samples)
        True classes, as columns of `y_proba`: 0, 1, ..., n_classes - 1. Leading dimensions are
        replicates.
    y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
        Class probabilities; every row sums to 1 within 0.001. One dimension: the probability of
        class 1 of two.
    n_bins, binning, p, ties
        As in `ece`.
    average : bool
        Whether to average over classes. If not, errors to the power p are summed, CWCE_p of
        definition C.1 of Gruber & Buettner: K^(1/p) times the average, and at most 2^(1/p).
    %(weights)s

    Returns
    -------
    float or ndarray
        From 0 to 1, or with `average=False` to 2^(1/p); one for each replicate when `y_true` has
        leading dimensions.

    Raises
    ------
    InputError
        As `top_label_ece`; also if `average` is neither True nor False.

    Notes
    -----
    With many classes nearly every probability is near 0, and so are the errors there: values
    shrink as classes are added. Compare models on one set of classes only.

    References
    ----------
    Kull, Perello-Nieto, Kaengsepp, Silva Filho, Song & Flach, "Beyond temperature scaling",
    NeurIPS 2019, section 2.
    Kumar, Liang & Ma, "Verified Uncertainty Calibration", NeurIPS 2019, definition 2.2.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, definition C.1.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]
    >>> round(estimators.class_wise_ece([0, 1, 1], y_proba), 3)
    0.333
    >>> round(estimators.class_wise_ece([0, 1, 1], y_proba, average=False), 3)
    1.0
    """
    cases = read_classes(y_true, y_proba, sample_weight)
    options: dict[str, Any] = {"p": as_order(p), "average": as_flag(average, "average")}
    return evaluate(_class_wise_core, cases, **options, **as_cut(n_bins, binning, ties))
