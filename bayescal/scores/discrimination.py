"""Discrimination: do events have higher scores than non-events?"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.data.read import Outcomes, read_cases
from bayescal.scores import _core

__all__ = ["c_statistic", "somers_dxy"]


@documented
def c_statistic(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """C-statistic: how often an event has a higher score than a non-event. Also called AUC.

    The share of pairs of an event and a non-event in which the event has the higher score; a pair
    with equal scores counts half. It does not mind whether the scores are calibrated.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        From 0 to 1, and 1/2 when scores say nothing. One for each replicate when `y_true` has
        leading dimensions, NaN where there is but one class.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if all outcomes are
        the same; if a table was compressed to the grid, where the ranks of the scores are lost.

    References
    ----------
    Harrell, Califf, Pryor, Lee & Rosati, "Evaluating the yield of medical tests", JAMA 247, 1982.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.c_statistic([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    0.875
    """
    return (1 + somers_dxy(y_true, y_prob, sample_weight=sample_weight)) / 2


@documented
def somers_dxy(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Somers' Dxy: 2 C - 1, the rank correlation of score and outcome.

    Pairs of an event and a non-event that the scores order rightly, less those that they order
    wrongly, as a share of all.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        From -1 to 1. One for each replicate when `y_true` has leading dimensions, NaN where there
        is but one class.

    Raises
    ------
    InputError
        As `c_statistic`.

    Notes
    -----
    With m_i the weight below case i plus half of that at its score, less half of the total, Dxy is
    2 sum over events of w_i m_i / (weight of events times weight of non-events). Pairs of two
    events cancel.

    References
    ----------
    Somers, "A new asymmetric measure of association for ordinal variables", American Sociological
    Review 27, 1962.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.somers_dxy([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    0.75
    """
    cases = read_cases(y_true, y_prob, sample_weight, needs="scores").counted().ranked()
    return cases.result(
        _core.somers(cases),
        "y_true holds one class only, so there is no pair of an event and a non-event to compare.",
    )
