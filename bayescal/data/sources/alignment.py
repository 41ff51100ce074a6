"""The labels of what users pass: one rule for which cases of several arguments belong together.

Arrays are read by position, and labels say when that is wrong. Whatever reads several arguments
with one entry for each case takes them through `aligned`, all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.text import shortened

__all__ = ["Index", "aligned", "column_names", "columns_in_order", "common_labels"]

Index: TypeAlias = Any
"""An index of pandas, of the rows or columns of a frame or of a dimension of xarray."""
NUMBERS = {"integer", "floating", "mixed-integer-float"}
"""What pandas calls labels that are numbers."""
UNLABELLED = {np.ndarray, type(None)}
"""Types that never have labels."""


class Labelled(NamedTuple):
    """An argument, or a part of one, that has labels."""

    name: str
    index: Index


def aligned(*, across: Collection[str] = (), **arguments: Any) -> tuple[Any, ...]:
    """Arguments of the same cases without their labels, after these were compared.

    An argument without labels (an array, a list, a series of polars) pairs with any other by
    position. So does an argument with the default labels 0, 1, ..., n - 1, but only beside labels
    that are not numbers. Any other two must have the same labels in the same order.

    Parameters
    ----------
    across : collection of str
        Names of arguments whose last axis runs over the cases, such as a matrix with a row for each
        imputation, or a list of series.

    Returns
    -------
    tuple
        The arguments in their order. A series or array of numbers is a NumPy array; whatever else
        has types or names that say more than its values comes back as it is.
    """
    if UNLABELLED.issuperset(map(type, arguments.values())):
        return tuple(arguments.values())
    known: list[Labelled] = []
    for name, values in arguments.items():
        for one in _labelled(name, values, name in across):
            if not any(one.index is other.index for other in known):
                known.append(one)
    for first, second in combinations(known, 2):
        _check(first, second)
    return tuple(_plain(values) for values in arguments.values())


def common_labels(*arguments: Any) -> Index | None:
    """The labels of the cases of several arguments that are aligned; None where none has any."""
    known = [index for each in arguments if (index := _index_of(each, False)) is not None]
    return next((index for index in known if not _is_default(index)), known[0] if known else None)


def column_names(matrix: Any) -> list[Any] | None:
    """Names of the columns of a frame or of an array of xarray; None where they are only numbered.

    Returns
    -------
    list or None
        None also of fewer than two columns.
    """
    columns = getattr(matrix, "column_names", None)  # of pyarrow, whose columns are arrays
    if columns is None:
        columns = getattr(matrix, "columns", None)
    if columns is None and hasattr(matrix, "indexes") and np.ndim(matrix) == 2:
        columns = matrix.indexes.get(matrix.dims[1])
    if columns is None or callable(columns) or hasattr(columns, "dims"):
        return None
    names = list(columns)
    return None if len(names) < 2 or names == list(range(len(names))) else names


def columns_in_order(matrix: Any, names: Any) -> Any:
    """A matrix with its columns in the order of some names, if these are what they are called.

    Parameters
    ----------
    matrix : object
        A frame, an array of xarray, or anything without names of columns, which comes back.

    Returns
    -------
    object
        Of the same type. Columns with other names, or without, stay where they are.
    """
    columns = column_names(matrix)
    wanted = None if names is None else list(names)
    if columns is None or wanted is None or columns == wanted:
        return matrix
    if len(columns) != len(wanted) or set(columns) != set(wanted):
        return matrix
    order = [columns.index(name) for name in wanted]
    if hasattr(matrix, "iloc"):
        return matrix.iloc[:, order]
    return matrix.select(order) if hasattr(matrix, "column_names") else matrix[:, order]


def _labelled(name: str, values: Any, across: bool) -> list[Labelled]:
    """The labels of an argument, or of each of its parts."""
    if values is None or type(values) is np.ndarray:
        return []
    if isinstance(values, Mapping):
        parts = {f"{name}[{shortened(str(key))!r}]": one for key, one in values.items()}
        return [labelled for part, one in parts.items() for labelled in _labelled(part, one, False)]
    if across and isinstance(values, (list, tuple)) and values and not np.isscalar(values[0]):
        rows = enumerate(values)
        return [labelled for at, one in rows for labelled in _labelled(f"{name}[{at}]", one, False)]
    index = _index_of(values, across)
    return [] if index is None else [Labelled(name, index)]


def _index_of(values: Any, across: bool) -> Index | None:
    """The labels of the cases, if there are any."""
    if isinstance(values, type):
        return None
    values = values.to_native() if hasattr(values, "to_native") else values  # of narwhals
    if hasattr(values, "indexes") and isinstance(values.dims, tuple):  # of xarray
        return values.indexes.get(values.dims[-1 if across else 0]) if values.ndim else None
    index: Any = getattr(values, "index", None)
    if hasattr(index, "compute"):  # of Dask
        index = index.compute()
    if not hasattr(index, "equals"):
        return None
    if across and len(getattr(values, "columns", ())) > 1:
        return values.columns
    return index


def _check(first: Labelled, second: Labelled) -> None:
    one, other = first.index, second.index
    if one.dtype == other.dtype and one.equals(other):
        return
    for default, labels in ((one, other), (other, one)):
        if getattr(labels, "inferred_type", "") not in NUMBERS and _is_default(default):
            return
    if len(one) == len(other) and one.equals(other):  # of several types
        return
    if len(one) != len(other):
        _refuse(
            first,
            second,
            f"{first.name} has {len(one):,} observations but {second.name} has {len(other):,}, and "
            f"{_others(one, other)} of the labels of {second.name} "
            f"are not among those of {first.name}",
            _common(first, second),
        )
    mine, theirs = _values(one), _values(other)
    if mine == theirs:
        return
    if Counter(mine) == Counter(theirs):
        at = next(k for k, pair in enumerate(zip(mine, theirs, strict=True)) if pair[0] != pair[1])
        cure = f"for example {second.name}.loc[{first.name}.index]"
        if len(set(mine)) < len(mine):
            cure = "by a label that no two cases share, since some are repeated"
        problem = (
            f"{first.name} and {second.name} have the same index labels in different orders, the "
            f"first at position {at}"
        )
        _refuse(first, second, problem, cure)
    _refuse(
        first,
        second,
        f"{first.name} and {second.name} are not of the same cases: {_others(one, other)} of the "
        f"{len(other):,} index labels of {second.name} are not among those of {first.name}",
        _common(first, second),
    )


def _others(one: Index, other: Index) -> str:
    """How many labels the second has that the first has not."""
    return f"{(Counter(_values(other)) - Counter(_values(one))).total():,}"


def _values(index: Index) -> list[Any]:
    """Labels that can be compared: of those that are missing, one is as another."""
    return [value if _is_known(value) else None for value in index]


def _is_known(value: Any) -> bool:
    try:
        return bool(value == value)
    except TypeError:  # of pandas.NA
        return False


def _common(first: Labelled, second: Labelled) -> str:
    return (
        f"for example {second.name}.reindex({first.name}.index), which shows what is missing, and "
        "drop the same cases from both"
    )


def _refuse(first: Labelled, second: Labelled, problem: str, cure: str) -> None:
    raise InputError(
        f"{problem}. Arrays are read by position. Align them first, {cure}. If the positions do "
        f"match, pass {first.name}.to_numpy() and {second.name}.to_numpy()."
    )


def _is_default(index: Index) -> bool:
    """Whether labels are 0, 1, ..., n - 1, as pandas gives them where nobody says otherwise."""
    return index.inferred_type == "integer" and np.array_equal(index, np.arange(len(index)))


def _plain(values: Any) -> Any:
    """A series or array of numbers without its labels; anything else as it is."""
    dtype = getattr(values, "dtype", None)
    if type(values) is np.ndarray or not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
        return values
    is_labelled = values.ndim == 1 and _index_of(values, False) is not None
    return np.asarray(values) if is_labelled else values
