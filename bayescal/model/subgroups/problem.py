"""SubgroupsProblem: tables of crossed subgroups, and what was fixed before curves are fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.data.data import CalibrationData
from bayescal.data.subgroups.crossed import CrossedTable
from bayescal.model.problem import Problem
from bayescal.model.sites.problem import SitesProblem, prepare_sites
from bayescal.model.subgroups.mixture import mixture_of, shares_of

__all__ = ["INTERACTION", "SubgroupsProblem", "prepare_subgroups"]

INTERACTION = " x "
"""Joins the names of the factors to that of their interaction."""


@dataclass(frozen=True)
class SubgroupsProblem:
    """Tables of the cells of crossed factors, with one family of curves, one centre and one prior.

    Attributes
    ----------
    table : CrossedTable
    of_cells : SitesProblem
        The cells as sites: their tables, the family, the prior and that of their differences.
    """

    table: CrossedTable
    of_cells: SitesProblem

    @property
    def pooled(self) -> Problem:
        """All cases as one table; its prior is that of the average cell."""
        return self.of_cells.pooled

    @cached_property
    def cells(self) -> tuple[Problem, ...]:
        """The problem of each cell, in the order of the table's cells."""
        return tuple(self.of_cells.sites.values())

    @cached_property
    def terms(self) -> dict[str, NDArray[np.intp]]:
        """Index of the level of each cell, of shape (cells,), in each term of its curve.

        The terms are the factors and their interaction, whose levels are the cells.
        """
        codes = self.table.codes
        by_factor = dict(zip(self.table.names, codes.T, strict=True))
        return by_factor | {INTERACTION.join(self.table.names): np.arange(len(codes))}

    def subgroup(self, name: str, cells: Sequence[int]) -> Problem:
        """The problem of some cells together, whose curve is the mixture of theirs.

        Parameters
        ----------
        name : str
            Of the subgroup: its stream of random numbers is its own.
        cells : sequence of int

        Returns
        -------
        Problem
        """
        parts = [self.cells[k] for k in cells]
        if len(parts) == 1:
            return parts[0]
        data: CalibrationData = reduce(add, [part.data for part in parts])
        seed = int(self.pooled.rng(f"subgroup {name}").integers(2**63))
        together = replace(self.pooled, data=data, seed=seed)
        shares = shares_of(together.table, [part.table for part in parts])
        return replace(together, curve=mixture_of(self.pooled.curve, shares))

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        return self.of_cells.to_attributes() | {"factors": json.dumps(self.table.levels)}

    @classmethod
    def from_attributes(
        cls, attributes: Mapping[Any, Any], data: CalibrationData
    ) -> SubgroupsProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        levels = {name: tuple(each) for name, each in json.loads(attributes["factors"]).items()}
        return cls(CrossedTable(levels, data), SitesProblem.from_attributes(attributes, data))


def prepare_subgroups(table: CrossedTable, **options: Any) -> SubgroupsProblem:
    """Make the problem that a fit of crossed subgroups starts from.

    Parameters
    ----------
    table : CrossedTable
    **options
        As in `prepare_sites`.

    Returns
    -------
    SubgroupsProblem

    Raises
    ------
    InputError
        If the family of curves has no shift or slope that can differ.
    """
    return SubgroupsProblem(table, prepare_sites(table.data, **options))
