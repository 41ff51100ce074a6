"""How far scores are from the mean outcome of their bin or cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, power_mean
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.read import Needs
from bayescal.data.validate import as_order
from bayescal.estimators.binned.bins import Bins, as_cut, bins_of
from bayescal.estimators.cells._labels import Labels, as_labels, bins_of_labels
from bayescal.estimators.door import Cases, OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = ["CellTable", "pde", "pde_bins"]


class CellTable(NamedTuple):
    """Cases, mean score, mean outcome and deviation of bins or cells, by ascending score.

    Attributes
    ----------
    cases : ndarray of shape (cells,)
        Total weight.
    score, rate : ndarray of shape (cells,)
        Mean score and mean outcome.
    deviation : ndarray of shape (cells,)
        (mean |score - rate|^p)^(1/p) over the cases of the cell.
    """

    cases: Floats
    score: Floats
    rate: Floats
    deviation: Floats


def _bins(scores: Floats, weights: Floats | None, *, cells: Labels | None, **cut: Any) -> Bins:
    """Cells where they are given, else bins of the scores."""
    if cells is None:
        return bins_of(scores, weights, **cut)
    return bins_of_labels(scores, weights, cells)


def _core(scores: Floats, weights: Floats | None, *, p: float, **options: Any) -> Statistic:
    """Core of `pde`."""
    bins = _bins(scores, weights, **{"ties": "together"} | options)
    index = bins.shares.index
    share = (np.ones(scores.size) if weights is None else weights) / bins.total

    def statistic(outcomes: NDArray[Any]) -> Floats:
        gap = np.where(share > 0, bins.rate(outcomes)[:, index] - scores, 0)
        return power_mean(gap, p, lambda power: power @ share)

    return statistic


@estimator(
    "Probability deviation error",
    prepare=_core,
    paper="Torabian & Urner 2024",
    estimates="how far each case's own score is from the mean outcome of its bin or cell",
    span=(0, 1),
    bound="above ECE of the same order and bins",
    by_case=("cells",),
    dear="Every case is compared with the mean outcome of its bin, so the bin of each is stored.",
)
def pde(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: float = 1,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Probability deviation error: how far scores are from the mean outcome of their bin.

    (1/n sum_b sum_{i in b} |s_i - mean outcome of b|^p)^(1/p). `ece` puts the mean score of the
    bin in the place of s_i, so that errors within a bin cancel there, and here they do not.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_bins : int
        Number of bins.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`; equal scores stay together.
    p : float
        Order of the norm, at least 1.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its leaf of a tree; in place of bins.
    %(weights)s

    Returns
    -------
    %(share_of_each_replicate)s

    Raises
    ------
    InputError
        As `ece`; also if `cells` does not give one label to each case.

    Notes
    -----
    It is never below `ece` with the same bins, and equal to it where the cases of a bin share one
    score. With p = 2 its square is that of `ece` plus the mean variance of the scores within
    bins. A calibrated model has a positive value unless its bins are narrow.

    The authors published no code. The definition here follows summaries of their paper, and is
    this package's reading of them.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 0, 1], [0.3, 0.7, 0.4, 0.9]
    >>> round(estimators.pde(y_true, y_prob, n_bins=1), 3)
    0.225
    >>> round(estimators.ece(y_true, y_prob, n_bins=1), 3)
    0.075
    >>> round(estimators.pde(y_true, y_prob, cells=["a", "b", "a", "b"]), 3)
    0.275
    """
    cases, options = _read(y_true, y_prob, sample_weight, n_bins, binning, p, cells)
    return evaluate(_core, cases, **options)


@documented
def pde_bins(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: float = 1,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CellTable:
    """The bins or cells of `pde`: cases, mean score, mean outcome and deviation of each.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    n_bins, binning, p, cells
        As in `pde`.
    %(weights)s

    Returns
    -------
    CellTable
        In ascending order of mean score, without those that hold no case.

    Raises
    ------
    InputError
        As `pde`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> table = estimators.pde_bins([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_bins=2)
    >>> table.score, table.rate, table.deviation.round(2)
    (array([0.3, 0.8]), array([0., 1.]), array([0.3, 0.2]))
    """
    cases, options = _read(y_true, y_prob, sample_weight, n_bins, binning, p, cells)
    if cases.shape:
        shape = (*cases.shape, cases.scores.size)
        raise InputError(f"y_true must be one-dimensional, but has shape {shape}.")
    order = options.pop("p")
    bins = _bins(cases.scores, cases.weights, **options)
    rate = bins.rate(cases.outcomes)[0]
    index = bins.shares.index
    counted = 1 if cases.weights is None else cases.weights > 0
    gap = np.abs(cases.scores - rate[index]) * counted
    largest = np.full(bins.mass.size, np.finfo(np.float64).tiny)
    np.maximum.at(largest, index, gap)
    deviation = largest * bins.mean((gap / largest[index]) ** order) ** (1 / order)
    filled = np.flatnonzero(bins.mass > 0)
    row = filled[np.argsort(bins.score[filled], kind="stable")]
    return CellTable(bins.mass[row], bins.score[row], rate[row], deviation[row])


def _read(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_bins: int,
    binning: str,
    p: float,
    cells: ArrayLike | None,
) -> tuple[Cases, dict[str, Any]]:
    """The cases, and options of the core, each valid."""
    options: dict[str, Any] = as_cut(n_bins, binning, "together")
    needs: Needs = "rows" if cells is None else "order"
    cases = read(y_true, y_prob, sample_weight, needs=needs, single=True)
    if cells is not None:
        cells = as_labels(cells, cases.scores.size)
    return cases, options | {"p": as_order(p), "cells": cells}
