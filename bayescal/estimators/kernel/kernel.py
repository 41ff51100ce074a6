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
from bayescal.data.validate import as_count, check_choice
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read, read_ranked
from bayescal.estimators.kernel._form import as_width, form_of, kernel_at
from bayescal.estimators.kernel._pairs import PairSums, pairs_of_hits, pairs_of_weights
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
        raise InputError(f"y_prob has {table.total:.3g} cases, and a pair takes two.")
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
    kernel: str = "laplace",
    bandwidth: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Kernel calibration error: the root of the biased `skce`.

    sqrt(2 sum_ij r_i r_j k(s_i, s_j)) / n, with r the outcome minus the score.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    kernel : {"laplace", "gaussian"}
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
    cases = read_ranked(y_true, y_prob, sample_weight)
    return evaluate(_kce_core, cases, kernel=kernel, bandwidth=as_width(bandwidth, kernel))


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
    kernel: str = "laplace",
    bandwidth: float = 1.0,
    block_size: int = 2,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Squared kernel calibration error of both classes: unbiased, biased, or by blocks.

    The mean over pairs of cases of 2 r r' k(s, s'), with r the outcome minus the score: with the
    kernel k between scores, and classes alike only if equal, this is the definition of the paper.
    It is 0 in the population if and only if the model is calibrated.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    form : {"unbiased", "biased", "block"}
        "unbiased": over pairs of two different cases; may be negative. "biased": each case is
        paired with itself too; never negative. "block": over pairs within blocks of consecutive
        cases, in the order given, the rest of less than a block left out; unbiased, noisier.
    kernel : {"laplace", "gaussian"}
        exp(-|s - s'| / bandwidth), or exp(-(s - s')^2 / (2 bandwidth^2)).
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
    The sum over pairs is exact, and takes no visit to the pairs: with the Laplace kernel a sort and
    one pass over the cases, with the Gaussian kernel 1.4 (1 + 9 bandwidth) / bandwidth passes.

    Of vectors (1 - s, s) the Euclidean distance is sqrt(2) |s - s'|. To match a program that takes
    such vectors, divide the bandwidth by the square root of 2.

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
    """
    check_choice(form, FORMS, "form")
    scale = as_width(bandwidth, kernel)
    if form != "block":
        cases = read_ranked(y_true, y_prob, sample_weight)
    else:
        cases = read(y_true, y_prob, sample_weight, needs="order")
        as_count(block_size, "block_size", 2, cases.scores.size, limit="the number of cases")
    return evaluate(
        skce_core, cases, form=form, kernel=kernel, bandwidth=scale, block_size=block_size
    )
