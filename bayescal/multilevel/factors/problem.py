"""SubgroupsProblem: tables of crossed subgroups, and what was fixed before curves are fitted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

from bayescal.data.crossed import CrossedTable
from bayescal.data.data import CalibrationData
from bayescal.model.heterogeneity import Heterogeneity, as_heterogeneity
from bayescal.model.problem import Problem
from bayescal.multilevel.factors.mixture import mixture_of, shares_of
from bayescal.multilevel.problem import EffectsProblem, prepare_effects
from bayescal.multilevel.term import Term

__all__ = ["INTERACTION", "SubgroupsProblem", "prepare_subgroups"]

INTERACTION = " x "
"""Joins the names of the factors to that of their interaction."""
INTERACTION_SHARE = 0.5
"""Expected size of the effects of single cells, relative to those of the levels of a factor."""


@dataclass(frozen=True)
class SubgroupsProblem:
    """Tables of the cells of crossed factors, whose curves are sums of effects.

    Attributes
    ----------
    table : CrossedTable
    effects : EffectsProblem
        The tables of the cells, with a term for each factor and one for their interaction, whose
        levels are the cells.
    """

    table: CrossedTable
    effects: EffectsProblem

    @property
    def pooled(self) -> Problem:
        """All cases as one table; its prior is that of the average cell."""
        return self.effects.pooled

    @property
    def varying(self) -> tuple[str, ...]:
        """Coordinates that differ between cells."""
        return self.effects.varying

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the factors and of their interaction."""
        return tuple(term.name for term in self.effects.terms)

    @cached_property
    def cells(self) -> tuple[Problem, ...]:
        """The problem of each cell, in the order of the table's cells."""
        return tuple(self.effects.groups.values())

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
        weighted = [replace(part.table, trials=part.data.trials) for part in parts]
        shares = shares_of(together.table, weighted)
        return replace(together, curve=mixture_of(self.pooled.curve, shares))

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        return self.effects.to_attributes() | {"factors": json.dumps(self.table.levels)}

    @classmethod
    def from_attributes(
        cls, attributes: Mapping[Any, Any], data: CalibrationData
    ) -> SubgroupsProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        return cls(CrossedTable(data), EffectsProblem.from_attributes(attributes, data))


def prepare_subgroups(
    table: CrossedTable,
    *,
    heterogeneity: Heterogeneity | Mapping[str, Any] | None = None,
    **options: Any,
) -> SubgroupsProblem:
    """Make the problem that a fit of crossed subgroups starts from.

    Parameters
    ----------
    table : CrossedTable
    heterogeneity : Heterogeneity or mapping, optional
        Of the effects of each factor. Those of the interaction are expected to be half as large.
    **options
        As in `prepare_effects`.

    Returns
    -------
    SubgroupsProblem

    Raises
    ------
    InputError
        If the family of curves has no shift or slope that can differ.
    """
    prior = as_heterogeneity(heterogeneity)
    by_factor = zip(table.levels.items(), table.codes.T, strict=True)
    terms = [
        Term(name, "exchangeable", levels, tuple(codes.tolist()), prior)
        for (name, levels), codes in by_factor
    ]
    labels = table.data.groups
    joint = INTERACTION.join(table.names)
    own = prior.scaled(INTERACTION_SHARE)
    terms.append(Term(joint, "exchangeable", labels, tuple(range(len(labels))), own))
    return SubgroupsProblem(table, prepare_effects(table.data, terms, **options))
