"""How far scores are from the mean outcome of their bin or cell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, power_mean
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.validate import as_order
from bayescal.estimators.binned.bins import as_cut
from bayescal.estimators.binned.labels import bins_or_cells, read_with_cells
from bayescal.estimators.door import Cases, OutcomesLike, Statistic, evaluate
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
        Partition probability deviation (PPD): mean |score - rate| over the cases of the cell.
    """

    cases: Floats
    score: Floats
    rate: Floats
    deviation: Floats


def _core(scores: Floats, weights: Floats | None, *, p: float, **options: Any) -> Statistic:
    """Core of `pde`."""
    bins = bins_or_cells(scores, weights, **{"ties": "together"} | options)
    share = bins.mass / bins.total

    def statistic(outcomes: NDArray[Any]) -> Floats:
        deviation = np.array([bins.deviation(rate) for rate in bins.rate(outcomes)])
        return power_mean(deviation, p, lambda power: power @ share)

    return statistic


@estimator(
    "Probability deviation error",
    prepare=_core,
    paper="Torabian & Urner 2024",
    estimates="how far cases' own scores are, on average, from the mean outcome of their bin",
    span=(0, 1),
    bound="above ECE of the same order and bins",
    by_case=("cells",),
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

    (sum_b w_b PPD(b)^p)^(1/p), with w_b the share of the cases in bin b and PPD(b) the mean over
    its cases of |s_i - mean outcome of b|. `ece` puts the mean score of the bin in the place of
    s_i, so that errors within a bin cancel there, and here they do not. The power is taken across
    bins alone.

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
    It is never below `ece` of the same order and bins, and equal to it where the cases of a bin
    share one score: over the level sets of the scores (`cells=y_prob`) both are the calibration
    error CE_p of the sample. A calibrated model has a positive value unless its bins are narrow.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5 and appendix B.

    Examples
    --------
    A bin of scores too low and too high, which the mean score hides (appendix B):

    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 0, 1], [0.35, 0.35, 0.65, 0.65]
    >>> round(estimators.pde(y_true, y_prob, n_bins=1), 3)
    0.15
    >>> round(estimators.ece(y_true, y_prob, n_bins=1), 3)
    0.0

    Cells by name in the place of bins:

    >>> y_true, y_prob = [0, 1, 0, 1], [0.3, 0.7, 0.4, 0.9]
    >>> round(estimators.pde(y_true, y_prob, cells=["a", "b", "a", "b"]), 3)
    0.275
    """
    cases, options = _read(y_true, y_prob, sample_weight, n_bins, binning, cells)
    return evaluate(_core, cases, p=as_order(p), **options)


@documented
def pde_bins(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CellTable:
    """The bins or cells of `pde`: cases, mean score, mean outcome and deviation of each.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    n_bins, binning, cells
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
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 5.

    Examples
    --------
    >>> from bayescal import estimators
    >>> table = estimators.pde_bins([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], n_bins=2)
    >>> table.score, table.rate, table.deviation.round(2)
    (array([0.3, 0.8]), array([0., 1.]), array([0.3, 0.2]))
    """
    cases, options = _read(y_true, y_prob, sample_weight, n_bins, binning, cells)
    if cases.shape:
        shape = (*cases.shape, cases.scores.size)
        raise InputError(f"y_true must be one-dimensional, but has shape {shape}.")
    bins = bins_or_cells(cases.scores, cases.weights, **options)
    rate = bins.rate(cases.outcomes)[0]
    deviation = bins.deviation(rate)
    filled = np.flatnonzero(bins.mass > 0)
    row = filled[np.argsort(bins.score[filled], kind="stable")]
    return CellTable(bins.mass[row], bins.score[row], rate[row], deviation[row])


def _read(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_bins: int,
    binning: str,
    cells: ArrayLike | None,
) -> tuple[Cases, dict[str, Any]]:
    """The cases, and how they are put into bins or cells."""
    options: dict[str, Any] = as_cut(n_bins, binning, "together")
    cases, labels = read_with_cells(y_true, y_prob, sample_weight, cells)
    return cases, options | {"cells": labels}
