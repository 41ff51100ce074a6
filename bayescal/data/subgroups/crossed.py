"""Crossed factors: the levels of each case, and the table of their combinations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.errors import InputError
from bayescal._base.text import in_natural_order, shortened
from bayescal.data.build.labels import GroupNames
from bayescal.data.data import CalibrationData
from bayescal.data.sources.alignment import aligned

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MOST_COMBINATIONS",
    "Crossed",
    "CrossedTable",
    "Factors",
    "as_factors",
    "cell_label",
    "check_few_cells",
    "is_several",
]

Crossed: TypeAlias = "pd.DataFrame | Mapping[str, ArrayLike]"
"""Several factors as they are given."""

MOST_FACTORS = 20
"""Most factors that are crossed: seven of two levels already have 128 combinations."""

MOST_COMBINATIONS = 200
"""Most combinations of levels that are fitted at once."""


@dataclass(frozen=True)
class Factors:
    """Several factors, and the combination of their levels that each case has.

    Attributes
    ----------
    levels : dict of str to tuple of str
        The levels of each factor, in order: of a categorical column its own, else as people count.
    cells : ndarray of str of shape (n,)
        The combination of each case, as JSON.
    """

    levels: dict[str, tuple[str, ...]]
    cells: NDArray[np.object_]


@dataclass(frozen=True)
class CrossedTable:
    """A table with a group for each combination of levels that occurs, called a cell.

    Attributes
    ----------
    levels : dict of str to tuple of str
        The levels of each factor, in order.
    data : CalibrationData
        With a group for each cell, named by the levels as JSON.
    """

    levels: dict[str, tuple[str, ...]]
    data: CalibrationData

    @classmethod
    def of_names(cls, names: Sequence[str], data: CalibrationData) -> CrossedTable:
        """A table whose groups are cells of these factors; their levels are in natural order.

        Raises
        ------
        InputError
            If a factor has one level, or there are more than 200 cells.
        """
        cells = [json.loads(label) for label in data.groups]
        by_factor = [set(levels) for levels in zip(*cells, strict=True)]
        check_few_cells(dict(zip(names, map(list, by_factor), strict=True)), len(cells))
        ordered = [tuple(in_natural_order(levels)) for levels in by_factor]
        return cls(dict(zip(names, ordered, strict=True)), data)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(self.levels)

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The levels of each cell, in the order of the table's groups."""
        return tuple(tuple(json.loads(label)) for label in self.data.groups)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Index of the level of each cell in each factor, of shape (cells, factors)."""
        index = [{level: k for k, level in enumerate(each)} for each in self.levels.values()]
        rows = [[of[level] for of, level in zip(index, cell, strict=True)] for cell in self.cells]
        return np.array(rows, dtype=np.intp)

    def cells_with(self, levels: Mapping[str, str]) -> list[int]:
        """Indices of the cells that have all of these levels; of every cell, if there are none."""
        wanted = [(self.names.index(name), level) for name, level in levels.items()]
        return [
            k for k, cell in enumerate(self.cells) if all(cell[at] == level for at, level in wanted)
        ]


def is_several(groups: Any) -> bool:
    """Whether groups are the columns of a data frame, or labels by the name of a factor."""
    return isinstance(groups, Mapping) or (
        hasattr(groups, "columns") and hasattr(groups, "__getitem__")
    )


def as_factors(groups: Any) -> Any:
    """Several factors, or what serves as the labels of one.

    Parameters
    ----------
    groups : data frame, mapping of str to array-like of shape (n,), or array-like of shape (n,)
        A column, or an item, for each factor.

    Returns
    -------
    Factors, or the labels of the one factor that was given

    Raises
    ------
    InputError
        If there is no factor, two have one name, a label is missing, lengths differ, a factor has
        one level, or more than 200 combinations occur.
    """
    if not is_several(groups):
        return groups
    names = [str(name) for name in (groups if isinstance(groups, Mapping) else groups.columns)]
    _check_names(names)
    columns = [groups[name] for name in (groups if isinstance(groups, Mapping) else groups.columns)]
    if len(names) == 1:
        return columns[0]
    aligned(groups=groups)
    return _crossed(names, columns)


def cell_label(levels: Iterable[str]) -> str:
    """The name of a group whose cases have these levels, of every factor in order."""
    return json.dumps(list(levels))


def check_few_cells(levels: Mapping[str, Sequence[str]], cells: int) -> None:
    """Refuse factors of one level, and more cells than can be fitted."""
    for name, each in levels.items():
        if len(each) < 2:
            raise InputError(
                f"{_called(name)} has one level, {shortened(each[0])!r}, so that there is "
                "nothing to compare. Leave this factor out."
            )
    if cells > MOST_COMBINATIONS:
        counted = ", ".join(
            f"{shortened(name)} has {len(each)} levels" for name, each in levels.items()
        )
        raise InputError(
            f"groups has {cells:,} combinations of levels, and at most {MOST_COMBINATIONS} can be "
            f"fitted: {counted}. Leave a factor out, or join levels."
        )


def _check_names(names: list[str]) -> None:
    if not names:
        raise InputError("groups has no columns. Give a column for each factor, such as sex.")
    if len(names) > MOST_FACTORS:
        raise InputError(
            f"groups has {len(names):,} factors, and at most {MOST_FACTORS} can be crossed. Pass "
            "the columns of those that matter."
        )
    for name in names:
        if not name.strip():
            raise InputError("groups has a factor without a name. Name every column.")
        if names.count(name) > 1:
            raise InputError(
                f"groups has {names.count(name)} factors called {shortened(name)!r}. Rename all "
                "but one."
            )


def _crossed(names: list[str], columns: list[Any]) -> Factors:
    levels: list[list[str]] = []
    codes: list[NDArray[np.int64]] = []
    for name, column in zip(names, columns, strict=True):
        known = GroupNames()
        size = codes[0].size if codes else None
        codes.append(known.codes(column, size, _called(name), _called(names[0])))
        levels.append(known.names)
        if len(known.names) > MOST_COMBINATIONS:
            raise InputError(
                f"{_called(name)} has {len(known.names):,} levels, and at most {MOST_COMBINATIONS} "
                "combinations of levels can be fitted. Leave this factor out, or join levels."
            )
    combined, cell = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    check_few_cells(dict(zip(names, levels, strict=True)), len(combined))
    ordered = [_in_order(of, column) for of, column in zip(levels, columns, strict=True)]
    texts = np.array(
        [cell_label(of[k] for of, k in zip(levels, row, strict=True)) for row in combined],
        dtype=object,
    )
    return Factors(dict(zip(names, ordered, strict=True)), texts[cell.ravel()])


def _in_order(levels: list[str], column: Any) -> tuple[str, ...]:
    """Levels in the order of a categorical column, or else in natural order."""
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is None or callable(categories):
        return tuple(in_natural_order(levels))
    present = set(levels)
    return tuple(name for name in map(str, categories) if name in present)


def _called(name: str) -> str:
    return f"groups[{shortened(name)!r}]"
