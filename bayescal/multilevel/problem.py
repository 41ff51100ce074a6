"""EffectsProblem: tables of several groups, and the terms that their curves are summed from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayescal.data.data import CalibrationData
from bayescal.model.problem import Problem
from bayescal.multilevel.sites_problem import SitesProblem, prepare_sites
from bayescal.multilevel.term import Term

__all__ = ["EffectsProblem", "prepare_effects"]


@dataclass(frozen=True)
class EffectsProblem:
    """Groups whose coordinates are those of an average, and of the terms' effects, summed.

    Attributes
    ----------
    tables : SitesProblem
        The table of each group, with one family of curves, one centre, and the prior of the
        average.
    terms : tuple of Term
    """

    tables: SitesProblem
    terms: tuple[Term, ...]

    @property
    def data(self) -> CalibrationData:
        """The table, with its groups."""
        return self.tables.data

    @property
    def pooled(self) -> Problem:
        """All groups as one table; its prior is that of the average."""
        return self.tables.pooled

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the groups, in order."""
        return self.tables.labels

    @property
    def groups(self) -> dict[str, Problem]:
        """The problem of each group, by label."""
        return self.tables.sites

    @property
    def varying(self) -> tuple[str, ...]:
        """Coordinates that effects move; any other is common to all groups."""
        return self.tables.varying

    @property
    def columns(self) -> list[int]:
        """Columns of the coordinates that effects move."""
        return self.tables.columns

    def to_attributes(self) -> dict[str, str]:
        """All but the tables as JSON strings."""
        terms = json.dumps([term.to_dict() for term in self.terms])
        return self.tables.to_attributes() | {"terms": terms}

    @classmethod
    def from_attributes(
        cls, attributes: Mapping[Any, Any], data: CalibrationData
    ) -> EffectsProblem:
        """Read back what `to_attributes` wrote, for the tables it was written of."""
        terms = tuple(Term.from_dict(each) for each in json.loads(attributes["terms"]))
        return cls(SitesProblem.from_attributes(attributes, data), terms)


def prepare_effects(data: CalibrationData, terms: Sequence[Term], **options: Any) -> EffectsProblem:
    """Make the problem that a fit of groups with effects starts from.

    Parameters
    ----------
    data : CalibrationData
        With groups.
    terms : sequence of Term
        With the level of every group of the table.
    **options
        As of `prepare_sites`: `prior` and `centre` of the average, `curve`, `edge` and
        `random_state`; and `heterogeneity`, which nothing here depends on, since each term has a
        prior of its own.

    Returns
    -------
    EffectsProblem

    Raises
    ------
    InputError
        As `prepare_sites`.
    """
    return EffectsProblem(prepare_sites(data, **options), tuple(terms))
