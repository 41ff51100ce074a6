"""Roles: what the columns beside outcome and score say of each case, and a table's groups.

Site, period and subgroups, and outermost the imputation, give a table its groups: one for each
combination of levels that occurs. Clusters and strata say which cases depend on each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import in_natural_order, shortened
from bayescal.data.build.labels import GroupNames, in_order
from bayescal.data.periods import Periods, read_periods
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import check_same_length

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEPENDENCE",
    "IMPUTATION",
    "MOST_COMBINATIONS",
    "NAMED",
    "NO_STRUCTURE",
    "OF_TABLE",
    "ROLES",
    "Crossed",
    "Role",
    "RoleReader",
    "Roles",
    "Structure",
    "as_roles",
    "is_several",
]


class Role(NamedTuple):
    """What a column says of each case, declared once for every door.

    Attributes
    ----------
    name : str
        The word for it, of arrays, of columns and of options.
    kind : {"outcomes", "probabilities", "numbers", "labels", "times"}
        How a column is read. Labels are taken verbatim; times are dates, numbers or texts in order.
    line : str
        What it is, in one sentence for documentation.
    missing : {"refused", "unknown"}
        What a missing value means: a mistake, or that it is not known of this case.
    several : bool
        Whether several columns may have it, by name.
    groups : bool
        Whether its levels are told apart: a curve may differ between them.
    """

    name: str
    kind: Literal["outcomes", "probabilities", "numbers", "labels", "times"]
    line: str
    missing: Literal["refused", "unknown"] = "refused"
    several: bool = False
    groups: bool = False

    @property
    def option(self) -> str:
        """Its option on a command line."""
        return f"--{self.name.replace('_', '-')}"


ROLES = {
    role.name: role
    for role in (
        Role("site", "labels", "The site of each case, such as its hospital.", groups=True),
        Role(
            "period",
            "times",
            "When each case was, such as its month: numbers, dates, texts such as '2024-03', or an "
            "ordered categorical; at most 60 periods.",
            groups=True,
        ),
        Role(
            "subgroup",
            "labels",
            "The subgroup of each case, such as sex; several are given by name.",
            several=True,
            groups=True,
        ),
        Role(
            "cluster",
            "labels",
            "The cluster of each case, such as a patient seen several times, when cases of one "
            "cluster are not independent and clusters are of no interest themselves.",
        ),
        Role("stratum", "labels", "The stratum from which the cluster of each case was drawn."),
        Role(
            "imputation",
            "labels",
            "The imputation that each row is of, one row a case and imputation; of arrays also a "
            "matrix in place of the scores, with a row for each imputation or draw of them.",
            groups=True,
        ),
        Role("sample_weight", "numbers", "Counts of cases, or sampling weights."),
    )
}
"""Roles by name, in the order of every door."""

OF_TABLE = {
    role.name: role
    for role in (
        Role(
            "outcome",
            "outcomes",
            "Whether each case had the event: 0/1 or boolean, shares in between, or labels with "
            "pos_label.",
            missing="unknown",
        ),
        Role("prob", "probabilities", "The predicted probability of the event, in [0, 1]."),
        Role("time", "numbers", "How long each case was followed, in place of an outcome."),
        Role("event", "labels", "What ended that time: 0 if the case left, 1 if by the event."),
        Role("entry", "numbers", "When each case came under observation, if after time 0."),
    )
}
"""What a frame or a file has beside: columns that arrays pass by position, or as a Survival."""

IMPUTATION = "imputation"
STRUCTURE = (IMPUTATION, "site", "period")
"""Roles that give a table its groups, outermost first; the subgroups, by their names, follow."""
DEPENDENCE = ("cluster", "stratum")
NAMED = (*STRUCTURE, *DEPENDENCE)

Crossed: TypeAlias = "pd.DataFrame | Mapping[str, ArrayLike]"
"""Columns of subgroups as they are given."""

MOST_COLUMNS = 20
"""Most columns of subgroups that are crossed: seven of two levels already have 128 combinations."""
MOST_COMBINATIONS = 12_000
"""Most combinations of levels that are fitted at once: 500 sites over 24 periods."""
LONGEST_FIT = "about three minutes"
"""Expected time of a fit of as many combinations."""
MOST_CROSSED = 120_000
"""Most groups of a table of several roles: 2000 sites over 60 periods."""


@dataclass(frozen=True)
class Roles:
    """Columns of roles as they were given.

    Attributes
    ----------
    columns : dict of str to array-like of shape (n,)
        By role; `subgroup` has several, by name.
    """

    columns: dict[str, Any] = field(default_factory=dict)

    def aligned(
        self, *, across: Collection[str] = (), **cases: Any
    ) -> tuple[tuple[Any, ...], Roles]:
        """Arguments of the same cases, and the roles, after their labels were compared."""
        values = aligned(across=across, **cases, **self.columns)
        columns = dict(zip(self.columns, values[len(cases) :], strict=True))
        return values[: len(cases)], replace(self, columns=columns)

    def structural(self) -> dict[str, tuple[Any, str]]:
        """The columns that give a table its groups, with what the user calls each, in order."""
        columns = {role: (self.columns[role], role) for role in STRUCTURE if role in self.columns}
        for name, column in _subgroups(self.columns.get("subgroup")).items():
            columns[name] = column, f"subgroup[{shortened(name)!r}]"
        return columns


def as_roles(*, subgroup: Any = None, **columns: Any) -> Roles:
    """The roles that were given.

    Parameters
    ----------
    subgroup : data frame or mapping of str to array-like of shape (n,), optional
    **columns : array-like of shape (n,), optional
        Of the other roles.
    """
    for name, labels in columns.items():
        if name == "site" and is_several(labels):
            raise InputError(
                "site is a table of columns. Pass one column, the site of each case; columns such "
                "as sex and age group are subgroup=."
            )
    if subgroup is not None:
        if not is_several(subgroup):
            raise InputError(
                "subgroup must be a data frame, or a mapping of names to labels, such as "
                "subgroup={'sex': sex}."
            )
        columns["subgroup"] = subgroup
    given = {role: values for role, values in columns.items() if values is not None}
    _subgroups(subgroup)
    if "stratum" in given and "cluster" not in given:
        raise InputError(
            "stratum was given without cluster: strata are of clusters. Say which cluster each "
            "case is of with cluster=; where cases were drawn one by one, number them: "
            "cluster=range(n)."
        )
    return Roles(given)


def is_several(groups: Any) -> bool:
    """Whether labels are the columns of a data frame, or a mapping of names to labels."""
    return isinstance(groups, Mapping) or (
        hasattr(groups, "columns") and hasattr(groups, "__getitem__")
    )


@dataclass(frozen=True)
class Structure:
    """The roles by whose levels a table has its groups.

    Attributes
    ----------
    levels : dict of str to tuple of str
        The levels of each role, in order: of time for periods; of a categorical column its own;
        else as people count.
    periods : Periods, optional
        The order of the levels of `period`, and the time between them.
    """

    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    periods: Periods | None = None

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Names of the columns of subgroups."""
        return tuple(name for name in self.levels if name not in STRUCTURE)

    def label(self, cell: Sequence[str]) -> str | None:
        """The name of the group that has these levels, one of each role; None without roles."""
        if not cell:
            return None
        return cell[0] if len(cell) == 1 else json.dumps(list(cell))

    def cell(self, label: str) -> tuple[str, ...]:
        """The level of each role of a group, in their order."""
        return (label,) if len(self.levels) == 1 else tuple(json.loads(label))

    def named(self, label: str | None) -> dict[str, str]:
        """The level of each role of a group, by role."""
        return {} if label is None else dict(zip(self.levels, self.cell(label), strict=True))

    def without(self, roles: Collection[str]) -> Structure:
        """The structure that remains where these roles have one level, or are forgotten."""
        levels = {name: each for name, each in self.levels.items() if name not in roles}
        return Structure(levels, self.periods if "period" in levels else None)

    def among(self, labels: Iterable[str]) -> Structure:
        """The structure with the levels that some groups have."""
        present = [set(levels) for levels in zip(*map(self.cell, labels), strict=True)]
        levels = {
            name: tuple(level for level in each if level in kept)
            for (name, each), kept in zip(self.levels.items(), present, strict=True)
        }
        periods = None if self.periods is None else self.periods.among(levels["period"])
        return Structure(levels, periods)

    def joined(self, more: Structure) -> Structure:
        """The structure of two tables together."""
        for here, there in ((self, more), (more, self)):
            for name in here.levels:
                if name not in there.levels:
                    raise InputError(
                        f"one table has groups by {name} and the other has none: give both "
                        f"{name}, or pool the grouped one with .pooled() first."
                    )
        if list(self.levels) != list(more.levels):
            more = Structure({name: more.levels[name] for name in self.levels}, more.periods)
        if self == more:
            return self
        periods = self.periods
        if periods is not None and more.periods is not None:
            periods = periods.joined(more.periods)
        levels = {name: _united(name, own, more.levels[name]) for name, own in self.levels.items()}
        if periods is not None:
            levels["period"] = periods.labels
        return Structure(levels, periods)

    def to_json(self) -> str:
        """As text, for a file."""
        described: dict[str, Any] = {"levels": self.levels}
        if self.periods is not None:
            described["periods"] = {"kind": self.periods.kind, "position": self.periods.position}
        return json.dumps(described)

    @classmethod
    def of_json(cls, text: str) -> Structure:
        """Read back what `to_json` wrote."""
        read = json.loads(text)
        periods = Periods(**read["periods"]) if "periods" in read else None
        return cls({name: tuple(each) for name, each in read["levels"].items()}, periods)


NO_STRUCTURE = Structure()


class RoleReader:
    """Numbers the groups of cases, and knows the levels of their roles, part after part."""

    def __init__(self) -> None:
        self._cells = GroupNames()
        self._levels: dict[str, GroupNames] = {}
        self._order: dict[str, dict[str, None]] = {}
        self._periods: Periods | None = None

    @property
    def groups(self) -> GroupNames:
        """The name of each group: the level of one role, or the levels of several as JSON."""
        return next(iter(self._levels.values())) if len(self._levels) == 1 else self._cells

    def codes(self, roles: Roles, size: int) -> NDArray[np.int64] | None:
        """The number of each case's group; None without roles that make groups."""
        columns = roles.structural()
        if not columns:
            return None
        each = [self._of_role(role, *column, size) for role, column in columns.items()]
        if len(each) == 1:
            return each[0]
        numbers = [len(self._levels[role].names) for role in columns]
        if math.prod(numbers) > 2**62:
            raise self._too_many(columns, "far more than")
        together = each[0]
        for codes, number in zip(each[1:], numbers[1:], strict=True):
            together = together * number + codes
        cells, row = np.unique(together, return_inverse=True)
        if cells.size > MOST_CROSSED:
            raise self._too_many(columns, f"{cells.size:,}, and at most")
        names = [self._levels[role].names for role in columns]
        labels = [
            json.dumps([of[k] for of, k in zip(names, cell, strict=True)])
            for cell in zip(*np.unravel_index(cells, numbers), strict=True)
        ]
        return np.array([self._cells.code(label) for label in labels])[row]

    def structure(self) -> Structure:
        """The levels of all roles."""
        levels = {role: self._ordered(role, names.names) for role, names in self._levels.items()}
        return Structure(levels, self._periods)

    def _of_role(self, role: str, values: Any, called: str, size: int) -> NDArray[np.int64]:
        names = self._levels.setdefault(role, GroupNames())
        if role == "period":
            row, labels, periods = read_periods(values, called)
            check_same_length(size, "y_true", row.size, called)
            known = self._periods
            self._periods = periods if known is None else known.joined(periods, called)
            present = np.flatnonzero(np.bincount(row, minlength=len(labels)))
            code_of = np.zeros(len(labels), np.int64)
            code_of[present] = [names.code(labels[k]) for k in present.tolist()]
            return code_of[row]
        codes = names.codes(values, size, called)
        if role not in STRUCTURE:
            order = self._order.setdefault(role, {})
            order.update(dict.fromkeys(_categories(values)))
            if len(names.names) > MOST_COMBINATIONS:
                raise CaseError(
                    called,
                    f"has {len(names.names):,} levels, and at most {MOST_COMBINATIONS:,} "
                    f"combinations of levels can be fitted, in {LONGEST_FIT}",
                    cure="Leave this column out, or join levels.",
                )
        return codes

    def _ordered(self, role: str, names: list[str]) -> tuple[str, ...]:
        if role == "period" and self._periods is not None:
            return self._periods.labels
        if role in STRUCTURE:
            return tuple(in_order(names))
        first = [name for name in self._order[role] if name in set(names)]
        return (*first, *in_natural_order(set(names) - set(first)))

    def _too_many(self, columns: Mapping[str, Any], told: str) -> InputError:
        counted = ", ".join(
            f"{shortened(role)} has {len(self._levels[role].names):,} levels" for role in columns
        )
        return InputError(
            f"the combinations of levels are {told} {MOST_CROSSED:,}: {counted}. Leave one out, or "
            "join levels."
        )


def _united(role: str, own: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """The levels of two tables: in order, where each is; else those of the first, then others."""
    if set(more) <= set(own):
        return own
    sort = in_order if role in STRUCTURE else in_natural_order
    if list(own) == list(sort(own)) and list(more) == list(sort(more)):
        return tuple(sort({*own, *more}))
    return (*own, *(level for level in more if level not in own))


def _subgroups(subgroup: Any) -> dict[str, Any]:
    """The columns of subgroups by name."""
    if subgroup is None:
        return {}
    columns = _named_columns(subgroup)
    if not columns:
        raise InputError("subgroup has no columns. Give a column for each property, such as sex.")
    for name in columns:
        if not name.strip():
            raise InputError("subgroup has a column without a name. Name every column.")
        if name in (*NAMED, "subgroup"):
            raise InputError(
                f"subgroup has a column called {name!r}, which is a role of its own. Pass it as "
                f"{name}=, or rename the column."
            )
    return columns


def _named_columns(frame: Any) -> dict[str, Any]:
    keys = list(frame if isinstance(frame, Mapping) else frame.columns)
    if len(keys) > MOST_COLUMNS:
        raise InputError(
            f"subgroup has {len(keys):,} columns, and at most {MOST_COLUMNS} can be crossed. "
            "Pass those that matter."
        )
    names = [str(key) for key in keys]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"subgroup has {names.count(name)} columns called {shortened(name)!r}. Rename all "
                "but one."
            )
    return {name: frame[key] for name, key in zip(names, keys, strict=True)}


def _categories(column: Any) -> list[str]:
    """The categories of a categorical column, in order; none of any other."""
    categories = getattr(getattr(column, "cat", column), "categories", None)
    return [] if categories is None or callable(categories) else [str(each) for each in categories]
