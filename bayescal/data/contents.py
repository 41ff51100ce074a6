"""What a table holds, and how it is selected, pooled and added."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.data.build.builder import TableBuilder, sum_rows
from bayescal.data.build.labels import GroupNames, in_order
from bayescal.data.follow_up import FollowUp
from bayescal.data.members import Members
from bayescal.data.roles import IMPUTATION, NO_STRUCTURE, Structure
from bayescal.data.table import Rows, Tables, locate
from bayescal.data.weights import WeightType

__all__ = [
    "Contents",
    "added",
    "in_groups",
    "one_table",
    "pooled",
    "selected",
    "split",
    "stacked_times",
]


class Contents(NamedTuple):
    """What a table holds.

    Attributes
    ----------
    tables : dict of str to Rows
        The rows of each group, by its name; by None without groups.
    weight_type : {"counts", "sampling"} or None
    structure : Structure
        The roles of the groups.
    members : Members, optional
        The clusters of the cases.
    follow_up : FollowUp, optional
        How long the cases were followed, of times to an event.
    """

    tables: Tables
    weight_type: WeightType | None = None
    structure: Structure = NO_STRUCTURE
    members: Members | None = None
    follow_up: FollowUp | None = None

    def renamed(self, name_of: Mapping[str | None, str | None], structure: Structure) -> Contents:
        """Some of the groups under other names, in order."""
        renamed = {new: self.tables[old] for old, new in name_of.items()}
        order = list(renamed) if None in renamed else in_order(map(str, renamed))
        tables = {name: renamed[name] for name in order}
        return Contents(tables, self.weight_type, structure, *self.moved(name_of, tables))

    def moved(
        self, name_of: Mapping[str | None, str | None], tables: Tables
    ) -> tuple[Members | None, FollowUp | None]:
        """Clusters and follow-up in the rows of other tables, with the name there of each group."""
        if self.members is None and self.follow_up is None:
            return None, None
        start = dict(zip(tables, _starts(tables), strict=True))
        row = [
            start[name_of[old]] + _rows_in(rows, tables[name_of[old]])
            if old in name_of
            else np.full(rows.score.size, -1)
            for old, rows in self.tables.items()
        ]
        moved = np.concatenate(row)
        members = None if self.members is None else self.members.in_rows(moved)
        return members, None if self.follow_up is None else self.follow_up.in_rows(moved)


def in_groups(builder: TableBuilder, groups: GroupNames | None) -> Tables:
    """The rows of each group by its name, in order; by None without groups."""
    rows = dict(builder.rows())
    if groups is None:
        return {None: rows[0]}
    code_of = {name: code for code, name in enumerate(groups.names)}
    return {name: rows[code_of[name]] for name in in_order(code_of) if code_of[name] in rows}


def selected(contents: Contents, levels: Mapping[str, str]) -> Contents:
    """The groups that have these levels, with the other roles."""
    structure = contents.structure
    rest = structure.without(levels)
    name_of: dict[str | None, str | None] = {}
    for old in contents.tables:
        cell = structure.named(str(old))
        if all(cell[role] == level for role, level in levels.items()):
            name_of[old] = rest.label([cell[role] for role in rest.levels])
    if not name_of:
        told = ", ".join(f"{role}={level!r}" for role, level in levels.items())
        raise InputError(f"no case has {told}. The combinations that occur are in data.cells.")
    return contents.renamed(name_of, rest)


def pooled(contents: Contents) -> Contents:
    """All groups as one."""
    return forgotten(contents, list(contents.structure.levels))


def forgotten(contents: Contents, roles: Collection[str]) -> Contents:
    """The same cases with some roles forgotten; with clusters, their strata."""
    structure = contents.structure.without(roles)
    if "cluster" in roles:
        followed = contents.follow_up
        alone = None if followed is None else followed.without_clusters()
        contents = contents._replace(members=None, follow_up=alone)
    elif "stratum" in roles and contents.members is not None:
        contents = contents._replace(members=replace(contents.members, layer=None))
    if structure == contents.structure:
        return contents
    name_of = {old: _name_in(structure, contents.structure, old) for old in contents.tables}
    parts: dict[str | None, list[Rows]] = {}
    for old, rows in contents.tables.items():
        parts.setdefault(name_of[old], []).append(rows)
    order = list(parts) if None in parts else in_order(map(str, parts))
    tables = {name: sum_rows(parts[name]) for name in order}
    return Contents(tables, contents.weight_type, structure, *contents.moved(name_of, tables))


def added(first: Contents, second: Contents) -> Contents:
    """The cases of two tables; groups and clusters of one name are one."""
    structure = first.structure.joined(second.structure)
    if (first.members is None) != (second.members is None):
        raise InputError(
            "one table has clusters and the other has none. Make both with cluster=, where every "
            "case that stands alone is a cluster of its own."
        )
    if (first.follow_up is None) != (second.follow_up is None):
        raise InputError(
            "one table has times to an event and the other has outcomes. Make both of one kind."
        )
    builder, names = TableBuilder(), GroupNames()
    new_names = []
    for part in (first, second):
        name_of = {old: _name_in(structure, part.structure, old) for old in part.tables}
        builder.add_tables(
            (names.code(name_of[old] or ""), rows) for old, rows in part.tables.items()
        )
        new_names.append(name_of)
    tables = in_groups(builder, names if structure.levels else None)
    both = [part.moved(of, tables) for part, of in zip((first, second), new_names, strict=True)]
    members = [each for each, _ in both if each is not None]
    followed = [each for _, each in both if each is not None]
    together = Members.joined(members) if members else None
    times = FollowUp.joined(followed) if followed else None
    return Contents(tables, _common_weight_type(first, second), structure, together, times)


def split(contents: Contents) -> list[Contents]:
    """What the table of each imputation holds, in the order of their labels."""
    levels = contents.structure.levels[IMPUTATION]
    return [selected(contents, {IMPUTATION: level}) for level in levels]


def one_table(each: Sequence[Contents], structure: Structure) -> Contents:
    """What the table of all imputations holds: the groups of each, one after the other."""
    tables: Tables = {}
    shifted, followed, start = [], [], 0
    for label, part in zip(structure.levels[IMPUTATION], each, strict=True):
        for name, rows in part.tables.items():
            cell = part.structure.named(name) | {IMPUTATION: label}
            tables[structure.label([cell[role] for role in structure.levels])] = rows
        if part.members is not None:
            shifted.append(replace(part.members, row=part.members.row + start))
        if part.follow_up is not None:
            followed.append(replace(part.follow_up, row=part.follow_up.row + start))
        start += sum(rows.score.size for rows in part.tables.values())
    members = Members.joined(shifted) if shifted else None
    times = FollowUp.joined(followed) if followed else None
    return Contents(tables, each[0].weight_type, structure, members, times)


def stacked_times(each: Sequence[Contents], tables: Tables) -> FollowUp | None:
    """The follow-up of several tables of the same cases in rows of all, each case counted once."""
    followed = []
    for part in each:
        names = {name: name for name in part.tables}
        alone = part._replace(members=None).moved(names, tables)[1]
        if alone is not None:
            kept = alone.without_clusters()
            followed.append(replace(kept, weight=kept.weight / len(each)))
    return FollowUp.joined(followed) if followed else None


def _name_in(structure: Structure, own: Structure, name: str | None) -> str | None:
    cell = own.named(name)
    return structure.label([cell[role] for role in structure.levels])


def _starts(tables: Tables) -> list[int]:
    """Where the rows of each group begin."""
    return list(accumulate((rows.score.size for rows in tables.values()), initial=0))[:-1]


def _rows_in(old: Rows, new: Rows) -> NDArray[np.intp]:
    """The row of a table that holds the cases of each row of a part of it."""
    if new.cell is None:
        return np.searchsorted(new.score, old.score)
    cell = locate(old.score)[0] if old.cell is None else old.cell
    return np.searchsorted(new.cell, cell)


def _common_weight_type(first: Contents, second: Contents) -> WeightType | None:
    """How the weights of a sum are read; what nothing was said of follows the other table."""
    types = {part.weight_type for part in (first, second) if part.weight_type is not None}
    if len(types) > 1:
        raise InputError(
            "one table holds counts of cases and the other sampling weights, which have no common "
            "scale. Make both with the same weight_type=; a case that was sampled for certain has "
            "the sampling weight 1."
        )
    return types.pop() if types else None
