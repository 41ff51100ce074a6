"""Roles: what the columns beside outcome and score say of each case, and a table's groups.

Site, period and subgroups, and outermost the imputation, give a table its groups: one for each
combination of levels that occurs. Clusters and strata say which cases depend on each other.
"""

from __future__ import annotations

import json
import math
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.errors import CaseError, InputError, SpellingWarning
from bayescal.core.text import in_natural_order, shortened
from bayescal.data.cases import as_vector, check_same_length, is_missing
from bayescal.data.columns import Encoded
from bayescal.data.declared import ROLES
from bayescal.data.periods import Periods, read_periods
from bayescal.data.rows import numbered
from bayescal.data.sources.alignment import aligned

if TYPE_CHECKING:
    import pandas as pd


IMPUTATION = "imputation"
STRUCTURE = (IMPUTATION, "site", "period")
"""Roles that give a table its groups, outermost first; the subgroups, by their names, follow."""
DEPENDENCE = ("cluster", "stratum")

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
FEW_LABELS = 10_000
"""Up to so many labels are numbered by a dictionary, which needs no pandas."""

Cell: TypeAlias = tuple[str, ...]
"""The level of each role of a group, in their order."""


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
        return values[: len(cases)], Roles(columns)

    def of_groups(self) -> dict[str, tuple[Any, str]]:
        """The columns that give a table its groups, with what the user calls each, in order."""
        columns = {role: (self.columns[role], role) for role in STRUCTURE if role in self.columns}
        for name, column in _subgroups(self.columns.get("subgroup")).items():
            columns[name] = column, f"subgroup[{shortened(name)!r}]"
        return columns


def as_roles(**columns: Any) -> Roles:
    """The roles that were given, each None or as in `ROLES`."""
    given = {role: values for role, values in columns.items() if values is not None}
    if are_columns(given.get("site")):
        raise InputError(
            "site is a table of columns. Pass one column, the site of each case; columns such as "
            "sex and age group are subgroup=."
        )
    subgroup = given.get("subgroup")
    if subgroup is not None and not are_columns(subgroup):
        raise InputError(
            "subgroup must be a data frame, or a mapping of names to labels, such as "
            "subgroup={'sex': sex}."
        )
    _subgroups(subgroup)
    if "stratum" in given and "cluster" not in given:
        raise InputError(
            "stratum was given without cluster: strata are of clusters. Say which cluster each "
            "case is of with cluster=; where cases were drawn one by one, number them: "
            "cluster=range(n)."
        )
    return Roles(given)


def are_columns(labels: Any) -> bool:
    """Whether labels are the columns of a data frame, or a mapping of names to labels."""
    return isinstance(labels, Mapping) or (
        hasattr(labels, "columns") and hasattr(labels, "__getitem__")
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

    @staticmethod
    def label(cell: Sequence[str]) -> str | None:
        """The name of the group that has these levels, one of each role; None without roles."""
        if not cell:
            return None
        return cell[0] if len(cell) == 1 else json.dumps(list(cell))

    def cell(self, label: str | None) -> Cell:
        """The level of each role of a group, in their order."""
        if label is None:
            return ()
        return (label,) if len(self.levels) == 1 else tuple(json.loads(label))

    def named(self, cell: Cell) -> dict[str, str]:
        """The level of each role of a group, by role."""
        return dict(zip(self.levels, cell, strict=True))

    def without(self, roles: Collection[str]) -> Structure:
        """The structure that remains where these roles have one level, or are forgotten."""
        levels = {name: each for name, each in self.levels.items() if name not in roles}
        return Structure(levels, self.periods if "period" in levels else None)

    def among(self, cells: Iterable[Cell]) -> Structure:
        """The structure with the levels that some groups have."""
        present = [set(levels) for levels in zip(*cells, strict=True)]
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
        if self == more and list(self.levels) == list(more.levels):
            return self
        levels = {name: _united(name, own, more.levels[name]) for name, own in self.levels.items()}
        periods = self.periods
        if periods is not None and more.periods is not None:
            periods = periods.joined(more.periods)
            levels["period"] = periods.labels
        for name, each in levels.items():
            check_levels(name, len(each))
        return Structure(levels, periods)

    def too_many(self, told: str) -> InputError:
        """What to do about too many combinations."""
        counted = ", ".join(
            f"{shortened(role)} has {len(each):,} levels" for role, each in self.levels.items()
        )
        return InputError(
            f"the combinations of levels are {told} {MOST_CROSSED:,}: {counted}. Leave one out, or "
            "join levels."
        )

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


def check_levels(role: str, number: int) -> None:
    """Refuse a column of subgroups that has too many levels."""
    if role not in STRUCTURE and number > MOST_COMBINATIONS:
        raise CaseError(
            f"subgroup[{shortened(role)!r}]",
            f"has {number:,} levels, and at most {MOST_COMBINATIONS:,} combinations of levels can "
            f"be fitted, in {LONGEST_FIT}",
            cure="Leave this column out, or join levels.",
        )


class Groups(NamedTuple):
    """The groups of some cases.

    Attributes
    ----------
    structure : Structure
    cells : tuple of tuple of str
        The levels of each group, in the order of their names.
    code : ndarray of int of shape (n,)
        The group of each case.
    """

    structure: Structure
    cells: tuple[Cell, ...]
    code: NDArray[np.intp]

    @property
    def labels(self) -> list[str]:
        """The names of the groups."""
        return [str(self.structure.label(cell)) for cell in self.cells]


def read_groups(roles: Roles, size: int) -> Groups:
    """The levels of all roles that make groups, and the group of each case; one without any."""
    levels, columns, periods = {}, [], None
    for role, (values, called) in roles.of_groups().items():
        if role == "period":
            code, names, periods = read_periods(values, called)
            check_same_length(size, "y_true", code.size, called)
            levels[role] = periods.labels
        else:
            code, names = labels_of(values, size, called)
            check_levels(role, len(names))
            if role != IMPUTATION:
                _warn_of_spellings(called, names)
            levels[role] = _in_order_of(role, names, values)
        columns.append((code, names))
    structure = Structure(levels, periods)
    if not columns:
        return Groups(structure, ((),), np.zeros(size, np.intp))
    sizes = [len(names) for _, names in columns]
    if math.prod(sizes) > 2**62:
        raise structure.too_many("far more than")
    together = np.zeros(size, np.int64)
    for (code, _), number in zip(columns, sizes, strict=True):
        together = together * number + code
    present, code = numbered(together)
    if present.size > MOST_CROSSED and len(columns) > 1:
        raise structure.too_many(f"{present.size:,}, and at most")
    at = np.unravel_index(present, sizes)
    texts = ([names[k] for k in each] for (_, names), each in zip(columns, at, strict=True))
    present_cells = list(zip(*texts, strict=True))
    cells = ordered_cells(present_cells)
    position = {cell: k for k, cell in enumerate(cells)}
    return Groups(structure, cells, np.array([position[cell] for cell in present_cells])[code])


def ordered_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Cells in the order of the names of their groups: as numbers if all are, else by letters."""
    label_of = {str(Structure.label(cell)): cell for cell in cells}
    return tuple(label_of[label] for label in in_order(label_of))


def labels_of(
    values: Any, size: int | None, name: str, first: str = "y_true"
) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each case's label, and the text of each number.

    Parameters
    ----------
    values : array-like of shape (size,), or Encoded
        Labels of any type; those of one text are one.
    size : int or None
        Number of cases; None to take that of the labels.
    name, first : str
        What the user calls the labels, and that which has the number of cases.
    """
    if isinstance(values, Encoded):
        present, row = numbered(values.row)
        labels = values.labels[present].tolist()
    else:
        listed = isinstance(values, (list, tuple))
        vector = as_vector(np.array(values, dtype=object) if listed else values, name)
        check_same_length(vector.size if size is None else size, first, vector.size, name)
        row, labels = _distinct(vector, name)
    code_of: dict[str, int] = {}
    code = np.array([code_of.setdefault(str(label), len(code_of)) for label in labels], np.intp)
    for at, text in enumerate(code_of):
        if not _is_text(text):
            raise CaseError(
                name,
                "has half of a surrogate pair",
                row=int(np.argmax(code[row] == at)),
                value=shortened(repr(text)),
                more=", which is no text and cannot be stored",
                cure="Read the labels again with the right encoding, or rename this one.",
            )
    return code[row], list(code_of)


def count_labels(labels: Any, name: str) -> int:
    """Number of distinct labels, in one pass: for limits, before anything else is computed."""
    return len(labels_of(labels, None, name)[1])


def in_order(names: Iterable[str]) -> list[str]:
    """Names in alphabetical order, or by value if all are numbers."""
    listed = sorted(names)
    try:
        return sorted(listed, key=float)
    except ValueError:
        return listed


def _distinct(values: NDArray[Any], name: str) -> tuple[NDArray[np.intp], list[Any]]:
    """The number of each value, and the values by number."""
    if values.dtype.kind in "iubfmM":
        missing = values != values
        if missing.any():
            _refuse(int(missing.argmax()), name)
        if values.dtype.kind in "iu" and values.dtype != np.uint64:
            low = int(values.min())
            present, row = numbered(values.astype(np.int64) - low)
            return row, (present + low).tolist()
        distinct, row = np.unique(values, return_inverse=True)
        return row, distinct.tolist()
    if values.size > FEW_LABELS:
        import pandas as pd

        boxed = values.astype(object)
        if values.dtype != object or pd.api.types.infer_dtype(boxed, skipna=False) == "string":
            row, distinct = pd.factorize(boxed)
            return row, distinct.tolist()
    row_of: dict[str, int] = {}
    typed: set[tuple[str, bool]] = set()
    row = np.empty(values.size, dtype=np.intp)
    for at, value in enumerate(values.tolist()):
        if is_missing(value):
            _refuse(at, name)
        text = str(abs(value) if isinstance(value, float) and value == 0 else value)  # -0.0 is 0.0
        row[at] = row_of.setdefault(text, len(row_of))
        typed.add((text, isinstance(value, str)))
    if len(typed) > len(row_of):
        both = next(text for text, is_text in typed if is_text and (text, False) in typed)
        warnings.warn(
            f"{name} holds {shortened(repr(both))} as a text and as a value of another type, which "
            "are taken as the same label. Rename one of them if they are two.",
            SpellingWarning,
            stacklevel=2,
        )
    return row, list(row_of)


def _warn_of_spellings(name: str, labels: Iterable[str]) -> None:
    """Warn of two labels that differ by small letters, spaces or how accents are encoded."""
    alike: dict[str, str] = {}
    for label in labels:
        plain = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
        other = alike.setdefault(plain, label)
        if other != label:
            warnings.warn(
                f"{name} holds {shortened(repr(other))} and {shortened(repr(label))}, which look "
                "alike and are told apart. If they are the same, spell them alike.",
                SpellingWarning,
                stacklevel=2,
            )
            return


def _is_text(text: str) -> bool:
    """Whether a text can be encoded: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(at: int, name: str) -> None:
    cure = f"Name every case's {name}, or drop the case."
    raise CaseError(name, "is missing", row=at, cure=cure)


def _in_order_of(role: str, names: list[str], values: Any) -> tuple[str, ...]:
    """Levels in order: categories in their own, of which not all need occur; others as counted."""
    if role in STRUCTURE:
        return tuple(in_order(names))
    categories = getattr(getattr(values, "cat", values), "categories", None)
    first = [] if categories is None or callable(categories) else [str(each) for each in categories]
    return (*dict.fromkeys(first), *in_natural_order(set(names) - set(first)))


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
    keys = list(subgroup if isinstance(subgroup, Mapping) else subgroup.columns)
    if len(keys) > MOST_COLUMNS:
        raise InputError(
            f"subgroup has {len(keys):,} columns, and at most {MOST_COLUMNS} can be crossed. "
            "Pass those that matter."
        )
    names = [str(key) for key in keys]
    if not names:
        raise InputError("subgroup has no columns. Give a column for each property, such as sex.")
    for name in names:
        if not name.strip():
            raise InputError("subgroup has a column without a name. Name every column.")
        if names.count(name) > 1:
            raise InputError(
                f"subgroup has {names.count(name)} columns called {shortened(name)!r}. Rename all "
                "but one."
            )
        if name in ROLES:
            raise InputError(
                f"subgroup has a column called {name!r}, which is a role of its own. Pass it as "
                f"{name}=, or rename the column."
            )
    return {name: subgroup[key] for name, key in zip(names, keys, strict=True)}
