"""Kernel calibration errors of several classes: vectors of residuals, multiplied in pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal.estimators.door import Cases
from bayescal.estimators.kernel._form import as_width, kernel_at
from bayescal.estimators.kernel._pairs import PairSums

__all__ = ["ClassKernel", "block_mean_of_classes", "pairs_of_classes"]

ClassKernel: TypeAlias = str | Callable[[Floats, Floats], Any]
"""The name of a kernel, or a function of two matrices of predictions."""

Matrices = Callable[[Floats, Floats], Floats]
"""Predictions (a, classes) and (b, classes) to (a, b), or to matrices, (a, b, classes, classes)."""

DISTANCES = {"laplace": "cityblock", "gaussian": "euclidean"}
CLASS_SCALES = {"laplace": 0.5, "gaussian": 0.5**0.5}
"""Of the distances, so that of two classes both are the difference of the scores."""
CLASSES_BLOCK = 1 << 21


def pairs_of_classes(cases: Cases, kernel: ClassKernel, bandwidth: float) -> PairSums:
    """Sums over pairs of cases of r' k r, halved, since `PairSums` counts one class of two.

    Parameters
    ----------
    cases : Cases
        Classes as outcomes; probabilities of shape (classes, n) as scores.
    kernel : {"laplace", "gaussian"} or callable
    """
    matrices = _matrices(kernel, bandwidth)
    prob = np.ascontiguousarray(cases.scores.T)
    size, classes = prob.shape
    weight = np.ones(size) if cases.weights is None else cases.weights
    every, own = np.zeros((2, len(cases.outcomes)))
    for part in blocks(size, size * _width(matrices, prob), CLASSES_BLOCK):
        similar = matrices(prob[part], prob)
        itself = similar[np.arange(part.stop - part.start), np.arange(size)[part]]
        for row, labels in enumerate(cases.outcomes):
            residual = (labels[:, None] == np.arange(classes)) - prob
            weighed = weight[:, None] * residual
            if similar.ndim == 2:
                every[row] += np.sum(weighed[part] * (similar @ weighed))
                own[row] += weight[part] @ (itself * np.sum(residual[part] ** 2, axis=1))
            else:
                with_others = np.einsum("abkl,bl->ak", similar, weighed)
                every[row] += np.sum(weighed[part] * with_others)
                alone = np.einsum("ak,akl,al->a", residual[part], itself, residual[part])
                own[row] += weight[part] @ alone
    return PairSums(np.maximum(every, 0) / 2, own / 2, float(weight.sum()))


def block_mean_of_classes(cases: Cases, kernel: ClassKernel, bandwidth: float, size: int) -> Floats:
    """Mean of r' k r over pairs within blocks of consecutive cases, for each replicate."""
    matrices = _matrices(kernel, bandwidth)
    kept = cases.scores.shape[1] // size * size
    prob = cases.scores.T[:kept]
    total = np.zeros(len(cases.outcomes))
    for part in _consecutive(kept, size):
        similar = matrices(prob[part], prob[part])
        happened = cases.outcomes[:, part, None] == np.arange(prob.shape[1])
        residual = happened - prob[part]
        form = "rik,ij,rjk->rij" if similar.ndim == 2 else "rik,ijkl,rjl->rij"
        products = np.einsum(form, residual, similar, residual)
        total += products.sum(axis=(1, 2)) - np.einsum("rii->r", products)
    mean: Floats = total / (kept * (size - 1))
    return mean


def _consecutive(kept: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, kept, size))


def _matrices(kernel: Any, bandwidth: float) -> Matrices:
    """The kernel as a function of two matrices of predictions, whose values are checked."""
    if callable(kernel):
        return lambda first, second: _checked(kernel, first, second)
    width = as_width(bandwidth, kernel)
    metric, scale = DISTANCES[kernel], CLASS_SCALES[kernel]

    def similar(first: Floats, second: Floats) -> Floats:
        return kernel_at(scale * cdist(first, second, metric), kernel, width)

    return similar


def _checked(kernel: Callable[[Floats, Floats], Any], first: Floats, second: Floats) -> Floats:
    try:
        values = np.asarray(kernel(first, second), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"kernel does not take two matrices of predictions: {error}") from error
    classes = first.shape[1]
    pairs = (len(first), len(second))
    if values.shape not in (pairs, (*pairs, classes, classes)) or not np.isfinite(values).all():
        raise InputError(
            f"kernel must give a finite number for each pair of predictions, of shape {pairs}, or "
            f"a matrix for each, of shape {(*pairs, classes, classes)}; its shape is "
            f"{values.shape}."
        )
    return values


def _width(matrices: Matrices, prob: Floats) -> int:
    """Numbers that the kernel has for one pair."""
    return int(matrices(prob[:1], prob[:1]).size)
