"""Kernel calibration errors: residuals of cases whose scores are alike, multiplied in pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.table import tabulate
from bayescal.data.validate import as_count, check_choice, is_matrix
from bayescal.estimators.classes import read_classes
from bayescal.estimators.door import Cases, OutcomesLike, Statistic, evaluate, read, read_ranked
from bayescal.estimators.kernel._form import as_width, form_of, kernel_at
from bayescal.estimators.kernel._pairs import PairSums, pairs_of_hits, pairs_of_weights
from bayescal.estimators.kernel.classes import (
    ClassKernel,
    block_mean_of_classes,
    pairs_of_classes,
)
from bayescal.estimators.registry import estimator

__all__ = ["kce", "mmce", "skce"]

SUMMARIES = {"biased": PairSums.biased, "unbiased": PairSums.unbiased}
FORMS = (*SUMMARIES, "block")


def _pairs_core(
    scores: Floats,
    weights: Floats | None,
    *,
    summary: Callable[[PairSums], Floats],
    kernel: str,
    bandwidth: float,
) -> Statistic:
    """A summary of the sums over pairs."""
    table = tabulate(scores, weights)
    if summary is PairSums.unbiased and not table.total > 1:
        raise _too_few(table.total)
    form = form_of(table.score, kernel, bandwidth)
    return lambda outcomes: summary(pairs_of_hits(table, form, table.hits(outcomes)))


_mmce_core = partial(_pairs_core, summary=PairSums.root, kernel="laplace")
_kce_core = partial(_pairs_core, summary=PairSums.root_both)


KERNEL_DEAR = "Kernels of every distinct score, its residual and their running sums."


@estimator(
    "Maximum mean calibration error",
    prepare=_mmce_core,
    paper="Kumar, Sarawagi & Jain 2018",
    estimates="kernel calibration error of residuals, with a Laplace kernel",
    span=(0, 1),
    bound="below TCE of order 1 in the population; biased upwards in a sample",
    weighted=lambda s, y, w, *, bandwidth: pairs_of_weights(
        s, y, w, kernel="laplace", bandwidth=bandwidth
    ).root(),
    dear=KERNEL_DEAR,
)
def mmce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    bandwidth: float = 0.4,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """MMCE of the event's scores: how alike the residuals of cases with similar scores are.

    sqrt(sum_ij r_i r_j exp(-|s_i - s_j| / h)) / n, with r the outcome minus the score and h the
    bandwidth. It is the largest mean of r f(s) over functions f of unit norm in the kernel's space.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    bandwidth : float
        Of the kernel, from 1e-9 to 1e9. The authors' is 0.4.
    %(weights_by_kish)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or `bandwidth` is out of
        range.

    Notes
    -----
    It is `kce` over the square root of 2, which counts both classes. Pairs of a case with itself
    are in the sum, so that a calibrated model with n cases gets about
    sqrt(mean of s (1 - s) / n); see `skce` for one without that bias.

    The sum over pairs takes a sort and one pass over the cases, and is exact.

    The authors compare the confidence in the top label with its being correct. Of one column of
    scores netcal 1.4 takes (score > 0.5) == outcome for the outcome, which is neither this nor
    theirs: on 731 solar flare forecasts it prints .440 where this is .0438.

    References
    ----------
    Kumar, Sarawagi & Jain, "Trainable Calibration Measures for Neural Networks from Kernel Mean
    Embeddings", ICML 2018, section 3.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.mmce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 4)
    0.1264
    """
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_mmce_core, cases, bandwidth=as_width(bandwidth, "laplace"))


@estimator(
    "Kernel calibration error",
    prepare=_kce_core,
    paper="Widmann, Lindsten & Zachariah 2019",
    estimates="kernel calibration error of both classes",
    span=(0, math.sqrt(2)),
    bound="below sqrt(2) times TCE of order 1 in the population; biased upwards in a sample",
    weighted=lambda s, y, w, **options: pairs_of_weights(s, y, w, **options).root_both(),
    dear=KERNEL_DEAR,
)
def kce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    kernel: ClassKernel = "laplace",
    bandwidth: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Kernel calibration error: the root of the biased `skce`.

    sqrt(2 sum_ij r_i r_j k(s_i, s_j)) / n, with r the outcome minus the score. For several classes
    it is sqrt(sum_ij r_i' k(p_i, p_j) r_j) / n, with r a vector.

    Parameters
    ----------
    y_true, y_prob
        As in `skce`.
    kernel : {"laplace", "gaussian"} or callable
        As in `skce`.
    bandwidth : float
        As in `skce`.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From 0 to sqrt(2); one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `skce`.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration Tests in Multi-class Classification: A Unifying
    Framework", NeurIPS 2019.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.kce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 4)
    0.1419
    """
    if is_matrix(y_prob):
        classes = read_classes(y_true, y_prob, sample_weight, "y_prob")
        return classes.result(pairs_of_classes(classes, kernel, bandwidth).root_both())
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_kce_core, cases, kernel=kernel, bandwidth=_as_width(bandwidth, kernel))


def skce_core(
    scores: Floats,
    weights: Floats | None,
    *,
    form: str,
    kernel: str,
    bandwidth: float,
    block_size: int,
) -> Statistic:
    """Core of `skce`."""
    if form != "block":
        return _pairs_core(
            scores, weights, summary=_summary(form), kernel=kernel, bandwidth=bandwidth
        )
    if weights is not None:
        raise _block_without_weights()
    return _block_mean(scores, kernel, bandwidth, block_size)


def _summary(form: str) -> Callable[[PairSums], Floats]:
    if form == "block":
        raise _block_without_weights()
    return SUMMARIES[form]


def _skce_of_classes(
    cases: Cases, form: str, kernel: ClassKernel, bandwidth: float, block_size: int
) -> Floats:
    """Each replicate's value, for labels and a matrix of probabilities."""
    if form == "block":
        if cases.weights is not None:
            raise _block_without_weights()
        most = cases.scores.shape[1]
        size = as_count(block_size, "block_size", 2, most, limit="the number of cases")
        return block_mean_of_classes(cases, kernel, bandwidth, size)
    sums = pairs_of_classes(cases, kernel, bandwidth)
    if form == "unbiased" and not sums.cases > 1:
        raise _too_few(sums.cases)
    return SUMMARIES[form](sums)


def _as_width(width: Any, kernel: Any) -> float:
    if callable(kernel):
        raise InputError(
            "kernel is a function, which needs a matrix of probabilities as y_prob: pass the "
            "columns 1 - score and score, or the name of a kernel."
        )
    return as_width(width, kernel)


def _too_few(cases: float) -> InputError:
    return InputError(f"y_prob has {cases:.3g} cases, and a pair takes two.")


def _block_without_weights() -> InputError:
    return InputError(
        "form='block' takes cases one by one in the order given, and so no sample_weight. "
        "Use form='unbiased'."
    )


def _block_mean(scores: Floats, kernel: str, bandwidth: float, size: int) -> Statistic:
    kept = scores.size // size * size
    blocks = scores[:kept].reshape(-1, size)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        residual = (outcomes[:, :kept] - scores[:kept]).reshape(-1, *blocks.shape)
        total = np.zeros(outcomes.shape[0])
        for lag in range(1, size):
            like = kernel_at(np.abs(blocks[:, lag:] - blocks[:, :-lag]), kernel, bandwidth)
            total += np.einsum("rbi,rbi,bi->r", residual[..., lag:], residual[..., :-lag], like)
        return 4 * total / (kept * (size - 1))

    return statistic


@estimator(
    "Squared kernel calibration error",
    prepare=skce_core,
    paper="Widmann, Lindsten & Zachariah 2019",
    estimates="squared kernel calibration error of both classes",
    span=(-2, 2),
    weighted=lambda s, y, w, *, form, block_size, **options: _summary(form)(
        pairs_of_weights(s, y, w, **options)
    ),
    dear=KERNEL_DEAR,
)
def skce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    form: str = "unbiased",
    kernel: ClassKernel = "laplace",
    bandwidth: float = 1.0,
    block_size: int = 2,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Squared kernel calibration error of all classes: unbiased, biased, or by blocks.

    The mean over pairs of cases of (e - p)' k(p, p') (e' - p'), with e the corner of the class that
    happened, p the prediction and k a kernel whose values are matrices, k(p, p') times the identity
    for those known by name. For an event it is 2 r r' k(s, s'), with r the outcome minus the score.
    It is 0 in the population if and only if the model is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; with a matrix of probabilities, column numbers. Leading dimensions are
        replicates. A table stands for outcomes, scores and weights.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predicted probabilities of the event, or of each class.
    form : {"unbiased", "biased", "block"}
        "unbiased": over pairs of two different cases; may be negative. "biased": each case is
        paired with itself too; never negative. "block": over pairs within blocks of consecutive
        cases, in the order given, the rest of less than a block left out; unbiased, noisier.
    kernel : {"laplace", "gaussian"} or callable
        exp(-d / bandwidth), or exp(-d^2 / (2 bandwidth^2)), with d = |s - s'|. Of classes d is the
        total variation distance, half the sum of |p_k - p'_k|, for the Laplace kernel, and the
        Euclidean one over the square root of 2 for the Gaussian kernel; both are |s - s'| if there
        are two. With a matrix of probabilities it may be a function of two matrices, of shapes
        (a, n_classes) and (b, n_classes), that gives a positive definite kernel, of shape (a, b),
        or one whose values are matrices, of shape (a, b, n_classes, n_classes).
    bandwidth : float
        From 1e-9, or 1e-3 for the Gaussian kernel, to 1e9.
    block_size : int
        Cases in a block, at least 2; for "block" only.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers they are sampling weights, and are rescaled to
        Kish's effective sample size. "block" takes none.

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, an option is out of
        range, or there is no pair of cases.

    Notes
    -----
    The sum over pairs is exact. Of an event it takes no visit to the pairs: with the Laplace kernel
    a sort and one pass over the cases, with the Gaussian kernel 1.4 (1 + 9 bandwidth) / bandwidth
    passes. Of a matrix of probabilities all pairs are visited.

    Of vectors (1 - s, s) the Euclidean distance is sqrt(2) |s - s'|. To match a program that takes
    such vectors, divide the bandwidth by the square root of 2.

    Widmann et al. write unbiased, biased and block for what they call SKCE_uq, SKCE_b and SKCE_ul.

    References
    ----------
    Widmann, Lindsten & Zachariah, "Calibration Tests in Multi-class Classification: A Unifying
    Framework", NeurIPS 2019, section 4.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> for form in ("unbiased", "biased", "block"):
    ...     print(form, round(estimators.skce(y_true, y_prob, form=form), 5))
    unbiased -0.00035
    biased 3e-05
    block 0.00096
    >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]
    >>> round(estimators.skce([0, 1, 1], y_prob), 4)
    0.0894
    """
    check_choice(form, FORMS, "form")
    if is_matrix(y_prob):
        classes = read_classes(y_true, y_prob, sample_weight, "y_prob")
        return classes.result(_skce_of_classes(classes, form, kernel, bandwidth, block_size))
    scale = _as_width(bandwidth, kernel)
    if form != "block":
        cases = read_ranked(y_true, y_prob, sample_weight)
    else:
        cases = read(y_true, y_prob, sample_weight, needs="order")
        as_count(block_size, "block_size", 2, cases.scores.size, limit="the number of cases")
    return evaluate(
        skce_core, cases, form=form, kernel=kernel, bandwidth=scale, block_size=block_size
    )
