"""Crossed factors: the table of the combinations of their levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.data.roles import IMPUTATION, LONGEST_FIT, MOST_COMBINATIONS

__all__ = ["CrossedTable"]


@dataclass(frozen=True)
class CrossedTable:
    """A table with a group for each combination of levels of its factors, called a cell.

    Attributes
    ----------
    data : CalibrationData
        With two or more factors, and no other role that makes groups but the imputation.
    """

    data: CalibrationData

    def __post_init__(self) -> None:
        for name, each in self.levels.items():
            if len(each) < 2:
                raise InputError(
                    f"the factor {shortened(name)!r} has one level, {shortened(each[0])!r}, so "
                    "that there is nothing to compare. Leave this factor out."
                )
        if len(self.cells) > MOST_COMBINATIONS:
            counted = ", ".join(
                f"{shortened(name)} has {len(each)} levels" for name, each in self.levels.items()
            )
            raise InputError(
                f"there are {len(self.cells):,} combinations of levels, and at most "
                f"{MOST_COMBINATIONS:,} can be fitted, in {LONGEST_FIT}: {counted}. Leave a factor "
                "out, or join levels."
            )

    @cached_property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor, in order."""
        return {name: of for name, of in self.data.levels.items() if name != IMPUTATION}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(self.levels)

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The levels of each cell, in the order of the table's groups."""
        return tuple(tuple(cell.values()) for cell in self.data.cells)

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
