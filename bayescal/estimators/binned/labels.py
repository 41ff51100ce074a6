"""Labels of cells, and the bins that they make."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.read import Cases
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import as_vector, check_same_length
from bayescal.estimators.binned.bins import Bins, Members, bins_of
from bayescal.estimators.door import OutcomesLike, read

__all__ = ["Labels", "as_labels", "bins_of_labels", "bins_or_cells", "read_with_cells"]

Labels = NDArray[np.int32]
"""The cell of each case, counted from 0."""


def as_labels(cells: ArrayLike, size: int) -> Labels:
    """Labels of any kind as numbers from 0, in ascending order of the labels."""
    labels = as_vector(cells, "cells")
    check_same_length(labels.size, "cells", size, "y_prob")
    try:
        names, index = np.unique(labels, return_inverse=True)
        missing = bool((names != names).any())
    except TypeError:
        missing = True
    if missing:
        raise InputError(
            "cells has missing labels, or labels of several kinds that have no order. "
            "Pass one number or one name for each case."
        )
    return index.astype(np.int32)


def read_with_cells(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    cells: ArrayLike | None,
) -> tuple[Cases, Labels | None]:
    """Cases, and the cell of each where cells are given: of a table, which has no order, none."""
    if cells is None:
        return read(y_true, y_prob, sample_weight, single=True), None
    y_true, y_prob, sample_weight, cells = aligned(
        y_true=y_true,
        y_prob=y_prob,
        sample_weight=sample_weight,
        cells=cells,
        across={"y_true"},
    )
    cases = read(y_true, y_prob, sample_weight, needs="order", single=True)
    return cases, as_labels(cells, cases.scores.size)


def bins_of_labels(scores: NDArray[Any], weights: Floats | None, cells: Labels) -> Bins:
    """A bin for each cell."""
    return Bins(scores, weights, Members.of(cells, int(cells.max()) + 1, weights))


def bins_or_cells(
    scores: NDArray[Any], weights: Floats | None, *, cells: Labels | None = None, **cut: Any
) -> Bins:
    """Cells where they are given, else bins of the scores."""
    if cells is None:
        return bins_of(scores, weights, **cut)
    return bins_of_labels(scores, weights, cells)
