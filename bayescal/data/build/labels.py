"""Groups by number: each name once, whatever the type of the labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import CaseError
from bayescal.core.text import shortened
from bayescal.data.columns import Encoded
from bayescal.data.validate import as_vector, check_same_length

Factorised = tuple[NDArray[np.intp], NDArray[np.intp], list[Any]]
"""The row of each value, the rows that there are, ascending, and the label of each of these."""
FEW_LABELS = 10_000
"""Up to so many labels are numbered by a dictionary, which needs no pandas."""


class GroupNames:
    """The names of groups, numbered as they come."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The name of each number."""
        return list(self._code)

    def code(self, name: str) -> int:
        """The number of a name."""
        return self._code.setdefault(name, len(self._code))

    def codes(
        self, groups: Any, size: int | None, name: str = "site", first: str = "y_true"
    ) -> NDArray[np.int64]:
        """The number of each case's group.

        Parameters
        ----------
        groups : array-like of shape (size,), or Encoded
            Labels of any type; their names are their texts.
        size : int or None
            Number of cases; None to take that of the labels.
        name, first : str
            What the user calls the labels, and that which has the number of cases.

        Returns
        -------
        ndarray of int of shape (size,)
        """
        if isinstance(groups, Encoded):
            rows = np.flatnonzero(np.bincount(groups.row))
            row, labels = groups.row, groups.labels[rows].tolist()
        else:
            listed = isinstance(groups, (list, tuple))
            values = as_vector(np.array(groups, dtype=object) if listed else groups, name)
            check_same_length(values.size if size is None else size, first, values.size, name)
            row, rows, labels = _factorised(values, name)
        code_of = np.zeros(rows[-1] + 1, dtype=np.int64)
        texts = [str(label) for label in labels]
        for at, text in zip(rows, texts, strict=True):
            if not _is_text(text):
                raise CaseError(
                    name,
                    "has half of a surrogate pair",
                    row=int(np.argmax(row == at)),
                    value=shortened(repr(text)),
                    more=", which is no text and cannot be stored",
                    cure="Read the labels again with the right encoding, or rename this one.",
                )
        code_of[rows] = [self.code(text) for text in texts]
        codes: NDArray[np.int64] = code_of[row]
        return codes


def count_labels(labels: Any, name: str) -> int:
    """Number of distinct labels, in one pass: for limits, before anything else is computed.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Labels of any type; those of one text are one.
    name : str
        What the user calls them.
    """
    names = GroupNames()
    names.codes(labels, None, name)
    return len(names.names)


def in_order(names: Iterable[str]) -> list[str]:
    """Names in alphabetical order, or by value if all are numbers."""
    listed = sorted(names)
    try:
        return sorted(listed, key=float)
    except ValueError:
        return listed


def _factorised(values: NDArray[Any], name: str) -> Factorised:
    if values.dtype.kind in "iub":
        return _integers(values)
    if values.dtype.kind in "fmM":
        missing = values != values
        if missing.any():
            _refuse(int(missing.argmax()), name)
        return _sorted(values)
    if values.size > FEW_LABELS and values.dtype.kind in "OUT":
        return _strings(values, name)
    return _any(values, name)


def _integers(values: NDArray[Any]) -> Factorised:
    low, high = int(values.min()), int(values.max())
    if high - low > 2 * values.size + FEW_LABELS:
        return _sorted(values)
    row = values.astype(np.int64) - low
    rows = np.flatnonzero(np.bincount(row))
    return row, rows, (rows + low).astype(values.dtype).tolist()


def _sorted(labels: NDArray[Any]) -> Factorised:
    distinct, row = np.unique(labels, return_inverse=True)
    return row, np.arange(distinct.size), distinct.tolist()


def _strings(values: NDArray[Any], name: str) -> Factorised:
    import pandas as pd

    boxed = values.astype(object)
    if values.dtype == object and pd.api.types.infer_dtype(boxed, skipna=False) != "string":
        return _any(values, name)
    row, distinct = pd.factorize(boxed)
    return row, np.arange(distinct.size), distinct.tolist()


def _any(values: NDArray[Any], name: str) -> Factorised:
    row_of: dict[str, int] = {}
    row = np.empty(values.size, dtype=np.intp)
    for at, value in enumerate(values.tolist()):
        if is_missing(value):
            _refuse(at, name)
        row[at] = row_of.setdefault(str(value), len(row_of))
    return row, np.arange(len(row_of)), list(row_of)


def _is_text(text: str) -> bool:
    """Whether a text can be encoded: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """None, not a number, not a time, or a value that pandas cannot compare."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _refuse(at: int, name: str) -> None:
    cure = f"Name every case's {name}, or drop the case."
    raise CaseError(name, "is missing", row=at, cure=cure)
