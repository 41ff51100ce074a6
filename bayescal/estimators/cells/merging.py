"""Models as cells: sets of cases that share a prediction, and what merging and averaging do.

A cell is any set of cases that a reader can name, such as a leaf of a decision tree. Where cells
are not given they are the level sets of the model: the cases with equal scores.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.read import Needs
from bayescal.data.sources.alignment import aligned
from bayescal.estimators.binned.bins import Bins
from bayescal.estimators.binned.labels import as_labels, bins_of_labels
from bayescal.estimators.door import OutcomesLike, read, read_scores

__all__ = ["average_labels", "merge_cells", "probabilistic_count"]


@documented
def average_labels(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Floats:
    """Give every case the mean outcome of its cell: the calibrated model with the same cells.

    The average label assignment of section 4.2, with these cases for the population.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        Outcomes, 0 or 1. Leading dimensions are replicates.
    %(scores)s
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    %(weights)s

    Returns
    -------
    ndarray
        Of the shape of `y_true`.

    Raises
    ------
    InputError
        As `pde`; also if a cell has no weight.

    Notes
    -----
    On these cases no model that is constant on the cells has a lower Brier score or makes fewer
    errors at a threshold of 1/2, and none with calibrated cells differs from it (Theorem 8).
    `probabilistic_kendall_tau` with the probabilities of the events can rise or fall
    (Observation 9), since they may differ within a cell.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.average_labels([0, 1, 1, 1], [0.2, 0.2, 0.7, 0.7])
    array([0.5, 0.5, 1. , 1. ])
    """
    y_true, y_prob, sample_weight, cells = aligned(
        y_true=y_true,
        y_prob=y_prob,
        sample_weight=sample_weight,
        cells=cells,
        across={"y_true"},
    )
    cases = read(y_true, y_prob, sample_weight, needs="order")
    labels = cases.scores if cells is None else cells
    bins = bins_of_labels(cases.scores, cases.weights, as_labels(labels, cases.scores.size))
    averaged = cases.result(_by_case(bins, bins.rate(cases.outcomes)))
    assert not isinstance(averaged, float)
    return averaged


@documented
def merge_cells(
    y_prob: ArrayLike, cells: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Make one cell of the cases with one label: each gets the mean score of its cell.

    The cell merge with score averaging of Definition 4.1, for any number of cells at once.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    cells : array-like of shape (n_samples,)
        Label of the merged cell that each case is in.
    %(weights)s

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    InputError
        As `average_labels`.

    Notes
    -----
    Merging never raises the calibration error over cells, of any order, since gaps of opposite
    sign cancel (Theorem 6); it keeps a calibrated model calibrated, and never raises
    `probabilistic_count` (Theorem 5). Brier score, errors at a threshold and
    `probabilistic_kendall_tau` can rise or fall (Observation 7).

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4.

    Examples
    --------
    >>> from bayescal import estimators
    >>> estimators.merge_cells([0.1, 0.2, 0.3, 0.8], ["low", "low", "low", "high"])
    array([0.2, 0.2, 0.2, 0.8])
    """
    y_prob, cells, sample_weight = aligned(y_prob=y_prob, cells=cells, sample_weight=sample_weight)
    scores, weights = read_scores(y_prob, sample_weight, needs="order")
    bins = bins_of_labels(scores, weights, as_labels(cells, scores.size))
    merged: Floats = _by_case(bins, bins.score[None])[0]
    return merged


@documented
def probabilistic_count(
    y_prob: ArrayLike | CalibrationData,
    *,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Effective number of cells of a model.

    1 / sum_c w_c^2, with w_c the share of the cases in cell c: one over the probability that two
    cases drawn at random, with replacement, are in one cell. It is at most the number of cells,
    and equal to it where all hold equally many (Theorem 10).

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,), or CalibrationData
        Predicted probabilities.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in. By default the cells are the cases with equal
        scores.
    %(weights)s

    Returns
    -------
    float
        From 1 to the number of cells.

    Raises
    ------
    InputError
        As `pde`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4 and appendix A.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.probabilistic_count([0.1, 0.1, 0.1, 0.7]), 2)
    1.6
    """
    y_prob, cells, sample_weight = aligned(y_prob=y_prob, cells=cells, sample_weight=sample_weight)
    needs: Needs = "scores" if cells is None else "order"
    scores, weights = read_scores(y_prob, sample_weight, needs=needs)
    labels = scores if cells is None else cells
    mass = bins_of_labels(scores, weights, as_labels(labels, scores.size)).mass
    share = mass / mass.sum()
    return float(1 / (share @ share))


def _by_case(bins: Bins, means: Floats) -> Floats:
    """The mean of each case's own cell, of shape (replicates, cases)."""
    if not bins.mass.all():
        at = int((bins.mass[bins.shares.index] == 0).argmax())
        raise InputError(
            f"the cell of case {at} has no weight in sample_weight, and so no mean. Drop its "
            "cases first."
        )
    own: Floats = means[:, bins.shares.index]
    return own
