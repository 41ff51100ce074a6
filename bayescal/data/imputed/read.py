"""A matrix of imputed scores, one row an imputation."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, as_items
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_scores, as_vector

__all__ = ["as_imputations", "imputed_tables", "scores_of_imputations"]

FEWEST_IMPUTATIONS, MOST_IMPUTATIONS = 2, 1000


def as_imputations(
    imputations: Any, y_true: Any, name: str = "imputations", outcomes: str = "y_true"
) -> Floats:
    """Scores of the same cases, once for each imputation.

    Parameters
    ----------
    imputations : array-like of shape (m, n)
        A matrix, or a list of m vectors.
    y_true : array-like of shape (n,)
        Outcomes, of which only the number is used.
    name, outcomes : str
        What the user calls them.

    Returns
    -------
    ndarray of shape (m, n)

    Raises
    ------
    InputError
        If there are fewer than two imputations, they differ in length from each other or from the
        outcomes, or a score is missing or not in [0, 1].
    """
    if isinstance(y_true, CalibrationData):
        raise InputError(
            f"{name} was given beside a CalibrationData, which no longer knows which case is "
            f"which. Pass the outcomes as an array, {outcomes}=, with {name}=."
        )
    rows = _rows(imputations, name)
    if len(rows) < FEWEST_IMPUTATIONS:
        raise InputError(
            f"{name} must hold at least {FEWEST_IMPUTATIONS} imputations, one a row, got "
            f"{len(rows)}. Pass the scores of a single data set as y_prob."
        )
    if len(rows) > MOST_IMPUTATIONS:
        turned = len(rows) == as_vector(y_true, outcomes).size
        cure = f"Transpose it: one row an imputation, {name}.T." if turned else "Pass fewer."
        raise InputError(
            f"{name} has {len(rows):,} rows, one for each imputation, and at most "
            f"{MOST_IMPUTATIONS:,} are fitted. {cure}"
        )
    scores = [as_scores(row, f"{name}[{index}]") for index, row in enumerate(rows)]
    cases, sizes = as_vector(y_true, outcomes).size, [row.size for row in scores]
    if len(set(sizes)) > 1:
        other = next(index for index, size in enumerate(sizes) if size != sizes[0])
        raise InputError(
            f"{name}[0] has {sizes[0]} scores and {name}[{other}] has {sizes[other]}. Every "
            "imputation must hold the same cases, in the same order."
        )
    if sizes[0] != cases:
        turned = len(rows) == cases
        cure = (
            f"Transpose it: one row an imputation, {name}.T."
            if turned
            else ("Every imputation must hold the cases of the outcomes, in the same order.")
        )
        raise InputError(
            f"{name} has {len(rows)} rows of {sizes[0]} scores, and {outcomes} has {cases} "
            f"outcomes. {cure}"
        )
    return np.stack(scores)


def scores_of_imputations(y_true: Any, y_prob: Any, imputations: Any, groups: Any = None) -> Floats:
    """Scores of the same cases, once for each imputation, in place of any other scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_prob : None
        Refused: the imputations are the scores.
    imputations : array-like of shape (m, n)
    groups : None
        Refused: several sites cannot be fitted to imputations.

    Returns
    -------
    ndarray of shape (m, n)

    Raises
    ------
    InputError
    """
    if y_prob is not None:
        raise InputError(
            "imputations was given beside y_prob. Pass one of them: y_prob for one score a case, "
            "imputations for several."
        )
    scores = as_imputations(imputations, y_true)
    if groups is not None:
        raise InputError(
            "groups was given beside imputations, and several groups cannot be combined over "
            "imputations. Fit the cases of each group with its own imputations=."
        )
    return scores


def imputed_tables(
    y_true: Any, y_prob: Any, imputations: Any, groups: Any = None, **options: Any
) -> list[CalibrationData]:
    """One table for each imputation; arguments as of `scores_of_imputations`.

    Parameters
    ----------
    y_true, y_prob, imputations, groups
    **options
        Of `CalibrationData`: sample_weight, weight_type and pos_label.

    Returns
    -------
    list of CalibrationData
    """
    scores = scores_of_imputations(y_true, y_prob, imputations, groups)
    return [CalibrationData(y_true, row, **options) for row in scores]


def _rows(imputations: Any, name: str) -> list[Any]:
    """The rows of a matrix or data frame, or the entries of a list."""
    matrix = imputations.to_numpy() if hasattr(imputations, "to_numpy") else imputations
    return as_items(matrix, name)
