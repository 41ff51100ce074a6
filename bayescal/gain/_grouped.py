"""Paired predictions of cases in groups: of several sites, periods or subgroups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.cases import as_weights
from bayescal.data.doors import Given
from bayescal.data.roles import Structure, as_roles, read_groups
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.gain.paired import PairedPredictions, as_paired

__all__ = ["GroupedPairs", "as_grouped"]


@dataclass(frozen=True)
class GroupedPairs:
    """Cases with both predictions, and the group of each.

    Attributes
    ----------
    pairs : PairedPredictions
        Of all cases.
    group : ndarray of str of shape (n,)
        Name of the group of each case, as tables name it.
    structure : Structure
        The levels that the groups are combinations of.
    """

    pairs: PairedPredictions
    group: NDArray[Any]
    structure: Structure
    _kept: dict[str, PairedPredictions] = field(default_factory=dict, repr=False)

    @cached_property
    def before(self) -> CalibrationData:
        """The table of the predictions before, with the levels of the groups."""
        return self._table(self.pairs.before)

    @cached_property
    def after(self) -> CalibrationData:
        """The table of those after."""
        return self._table(self.pairs.after[0])

    @cached_property
    def has_maps(self) -> bool:
        """Whether `after` is a map of `before`, maybe rounded: for all groups, or in each."""
        if self.pairs.is_rounded_map:
            return True
        names = np.unique(self.group)
        return all(
            self.at(self.structure.named(self.structure.cell(str(name)))).is_rounded_map
            for name in names
        )

    def at(self, levels: Mapping[str, str]) -> PairedPredictions:
        """The pairs of the cases that have these levels; all, if there are none."""
        name = repr(sorted(levels.items()))
        if name not in self._kept:
            self._kept[name] = self.pairs.of(self._have(levels))
        return self._kept[name]

    def _have(self, levels: Mapping[str, str]) -> NDArray[np.bool_]:
        """Which cases have these levels."""
        have = np.ones(self.group.size, dtype=bool)
        for role, level in levels.items():
            have &= self._column(role) == level
        return have

    def _column(self, role: str) -> NDArray[Any]:
        """The level of each case in one role."""
        level = {name: self.structure.named(name)[role] for name in set(self.group.tolist())}
        return np.array([level[name] for name in self.group.tolist()])

    def _table(self, score: Floats) -> CalibrationData:
        pairs, columns = self.pairs, {role: self._column(role) for role in self.structure.levels}
        of_groups = [role for role in ("site", "period") if role in columns]
        roles: dict[str, Any] = {role: columns.pop(role) for role in of_groups}
        if columns:
            roles["subgroup"] = columns
        options: dict[str, Any] = {"weight_type": pairs.weight_type, **pairs.labels, **roles}
        return pairs.table(score, sample_weight=pairs.weight, **options)


def as_grouped(given: Given, after: Any) -> GroupedPairs:
    """Check that outcomes, both predictions and groups describe the same cases.

    Parameters
    ----------
    given : Given
        The cases, with the predictions before and the columns of groups; or a table, which has
        them, and `after` is then a map.
    after
        As `as_paired` takes it.
    """
    y_true = given.y_true
    if isinstance(y_true, CalibrationData):
        data = y_true.complete(takes_times=True)
        parts = [_of_group(data, name, after) for name in data.groups]
        group = np.repeat(data.groups, [part.outcome.size for part in parts])
        return GroupedPairs(_together(parts), group, Structure(data.levels, data.periods))
    pairs = as_paired(given, after)
    roles = as_roles(**given.beside("site", "period", "subgroup"))
    size = len(y_true)
    groups = read_groups(roles, size)
    weight = as_weights(given.roles.get("sample_weight"), size)
    kept = slice(None) if weight is None else weight > 0
    group = np.array(groups.labels)[groups.code][kept]
    return GroupedPairs(pairs, group, groups.structure)


def _of_group(data: CalibrationData, name: str, after: Any) -> PairedPredictions:
    """The pairs of one group of a table, whose weights are on the scale of all groups."""
    own = data.select(name)
    pairs = as_paired(Given(own, None), after)
    return replace(pairs, weight=pairs.weight * (data.weight_scale / own.weight_scale))


def _together(parts: list[PairedPredictions]) -> PairedPredictions:
    """The cases of several groups, one group after the other."""
    labels = {
        role: np.concatenate([part.labels[role] for part in parts]) for role in parts[0].labels
    }
    if parts[0].after.shape[0] > 1:
        raise InputError(
            "after has several rows for each case. With sites, periods or subgroups give one "
            "prediction after for each case, or the map."
        )
    times = [part.times for part in parts if part.times is not None]
    return PairedPredictions(
        np.concatenate([part.outcome for part in parts]),
        np.concatenate([part.before for part in parts]),
        np.concatenate([part.after for part in parts], axis=1),
        np.concatenate([part.weight for part in parts]),
        parts[0].weight_type,
        labels=labels,
        times=Survival.joined(times) if times else None,
        horizon=parts[0].horizon,
        of_function=parts[0].of_function,
    )
