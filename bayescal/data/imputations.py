"""Several imputations of the scores of the same cases: a matrix of them, and their tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import ImputationWarning, InputError, as_items
from bayescal.core.text import count
from bayescal.data.cases import as_scores, as_vector

__all__ = [
    "FEW_IMPUTATIONS",
    "as_imputations",
    "as_imputed_outcomes",
    "check_alike",
    "warn_of_few_outcomes",
]

FEW_IMPUTATIONS = 20
"""Imputations below which the variance between them is not well known."""
FEWEST_IMPUTATIONS, MOST_IMPUTATIONS = 2, 1000
SAME_CASES = 1e-9
"""Relative difference of two sums of weights of the same cases."""


def as_imputations(
    imputation: Any, y_true: Any, name: str = "imputation", outcomes: str = "y_true"
) -> Floats:
    """Scores of the same cases, once for each imputation.

    Parameters
    ----------
    imputation : array-like of shape (m, n)
        A matrix, or a list of m vectors.
    y_true : array-like of shape (n,)
        Outcomes, of which only the number is used.
    name, outcomes : str
        What the user calls them.

    Returns
    -------
    ndarray of shape (m, n)
    """
    rows = _rows(imputation, name)
    if len(rows) < FEWEST_IMPUTATIONS:
        raise InputError(
            f"{name} must hold at least {FEWEST_IMPUTATIONS} imputations, one a row, got "
            f"{len(rows)}. Pass the scores of a single data set as y_prob."
        )
    if len(rows) > MOST_IMPUTATIONS:
        turned = len(rows) == as_vector(y_true, outcomes).size
        step = -(-len(rows) // 50)
        cure = f"Pass every {step}th, {name}[::{step}]: 50 draws of a posterior are enough."
        if turned:
            cure = f"Transpose it: one row an imputation, {name}.T."
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


def as_imputed_outcomes(y_true: Any, y_prob: Any, name: str = "y_prob") -> list[Any]:
    """Outcomes of the same cases, once for each imputation.

    Parameters
    ----------
    y_true : array-like of shape (m, n)
        A matrix, or a list of m vectors.
    y_prob : array-like of shape (n,)
        Scores, of which only the number is used.
    name : str
        What the user calls the scores.

    Returns
    -------
    list of array-like of shape (n,)
    """
    rows, cases = _rows(y_true, "y_true"), as_vector(y_prob, name).size
    m, size = len(rows), np.size(rows[0])
    if size != cases:
        cure = "Transpose imputed outcomes: y_true.T." if m == cases else "Pass one of them."
        raise InputError(
            "y_true must be one-dimensional, or have a row for each imputation of the outcomes of "
            f"{count(cases, 'case')}, but has shape {np.shape(y_true)}. {cure}"
        )
    if not FEWEST_IMPUTATIONS <= m <= MOST_IMPUTATIONS:
        raise InputError(
            f"y_true has {count(m, 'row')}, one for each imputation of the outcomes. Pass "
            f"{FEWEST_IMPUTATIONS} to {MOST_IMPUTATIONS:,}, or one vector of outcomes."
        )
    return rows


def warn_of_few_outcomes(m: int, stacklevel: int = 3) -> None:
    """Warn the caller of a public function if outcomes were imputed fewer than 20 times."""
    if m < FEW_IMPUTATIONS:
        warnings.warn(
            f"outcomes were imputed {m} times, which is too few for intervals to know how "
            f"uncertain they are. Impute them at least {FEW_IMPUTATIONS} times.",
            ImputationWarning,
            stacklevel=stacklevel,
        )


def check_alike(labels: Sequence[str], tables: Sequence[Any]) -> None:
    """Refuse tables of several imputations that are not of the same cases."""
    if len(tables) < FEWEST_IMPUTATIONS:
        raise InputError(
            f"imputation holds one imputation, {labels[0]!r}, and at least {FEWEST_IMPUTATIONS} "
            "are needed. Leave it out if the scores were not imputed."
        )
    if len(tables) > MOST_IMPUTATIONS:
        raise InputError(
            f"imputation has {len(tables):,} labels, and at most {MOST_IMPUTATIONS:,} imputations "
            "are fitted. Pass fewer."
        )
    for label, table in zip(labels[1:], tables[1:], strict=True):
        for what, name in (("cases", "n"), ("effective", "effective_size")):
            one, two = getattr(tables[0], name), getattr(table, name)
            if not np.isclose(one, two, SAME_CASES, 0):
                raise InputError(
                    f"imputation {labels[0]!r} has {one:g} {what} and imputation {label!r} has "
                    f"{two:g}. Every imputation must hold the same cases, with the same weights."
                )


def _rows(matrix: Any, name: str) -> list[Any]:
    """The rows of a matrix or data frame, or the entries of a list."""
    return as_items(matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix, name)
