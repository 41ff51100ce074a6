"""Groups by number: each name once, whatever the type of the labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.errors import InputError
from bayescal.data.validate import as_vector, check_same_length

__all__ = ["GroupNames", "in_order"]

FEW = 10_000
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

    def codes(self, groups: Any, size: int) -> NDArray[np.int64]:
        """The number of each case's group.

        Parameters
        ----------
        groups : array-like of shape (size,)
            Labels of any type; their names are their texts.
        size : int
            Number of cases.

        Returns
        -------
        ndarray of int of shape (size,)

        Raises
        ------
        InputError
            If a label is missing, or there are more or fewer than cases.
        """
        values = as_vector(groups, "groups")
        check_same_length(size, "y_true", values.size, "groups")
        rows, labels = _factorised(values)
        of_label = np.array([self.code(str(label)) for label in labels], dtype=np.int64)
        codes: NDArray[np.int64] = of_label[rows]
        return codes


def in_order(names: Iterable[str]) -> list[str]:
    """Names in alphabetical order, or by value if all are numbers."""
    listed = sorted(names)
    try:
        return sorted(listed, key=float)
    except ValueError:
        return listed


def _factorised(values: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """The position of each value among the distinct ones, and these."""
    if values.dtype.kind in "iub":
        return _integers(values)
    missing = values != values
    if missing.any():
        _refuse(int(missing.argmax()))
    if values.dtype.kind == "f":
        distinct, rows = np.unique(values, return_inverse=True)
        return rows, distinct.tolist()
    if values.size > FEW and values.dtype.kind in "OUT":
        return _strings(values)
    return _any(values)


def _integers(values: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    low, high = int(values.min()), int(values.max())
    if high - low > 2 * values.size + FEW:
        distinct, rows = np.unique(values, return_inverse=True)
        return rows, distinct.tolist()
    offset = values.astype(np.int64) - low
    present = np.bincount(offset) > 0
    rows = (np.cumsum(present) - 1)[offset]
    labels = np.flatnonzero(present) + low
    return rows, labels.astype(values.dtype).tolist()


def _strings(values: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    import pandas as pd

    boxed = values.astype(object)
    if values.dtype == object and pd.api.types.infer_dtype(boxed, skipna=False) != "string":
        return _any(values)
    rows, distinct = pd.factorize(boxed)
    return rows, distinct.tolist()


def _any(values: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    of_name: dict[str, int] = {}
    rows = np.empty(values.size, dtype=np.intp)
    for at, value in enumerate(values.tolist()):
        if value is None or value != value:
            _refuse(at)
        rows[at] = of_name.setdefault(str(value), len(of_name))
    return rows, list(of_name)


def _refuse(at: int) -> None:
    raise InputError(f"groups[{at}] is missing. Name every case's group, or drop the case.")
