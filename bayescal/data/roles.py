"""Roles: what the columns beside outcome and score say of each case, and a table's groups.

Site, period and subgroups, and outermost the imputation, give a table its groups: one for each
combination of levels that occurs. Clusters and strata say which cases depend on each other.
"""

from __future__ import annotations

import datetime
import json
import math
import numbers
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError, SpellingWarning, warn
from bayescal.core.text import in_natural_order, shortened
from bayescal.data.cases import aligned, as_vector, check_same_length, is_missing
from bayescal.data.columns import ROLES, Encoded
from bayescal.data.rows import numbered

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["Periods"]

IMPUTATION = "imputation"
# Roles that give a table its groups, outermost first; the subgroups, by their names, follow.
STRUCTURE = (IMPUTATION, "site", "period")
DEPENDENCE = ("cluster", "stratum")

# Columns of subgroups as they are given.
Crossed: TypeAlias = "pd.DataFrame | Mapping[str, ArrayLike]"
# One label a case, or of a data frame the name of their column, which is array-like, too.
Labels: TypeAlias = ArrayLike | None


class LabelRoles(TypedDict, total=False):
    """The roles of labels, as arrays."""

    site: Labels
    period: Labels
    subgroup: Crossed | str | Sequence[str] | None
    cluster: Labels
    stratum: Labels
    imputation: Labels


# Most columns of subgroups that are crossed: seven of two levels already have 128 combinations.
MOST_COLUMNS = 20
# Most combinations of levels that are fitted at once: 500 sites over 24 periods.
MOST_COMBINATIONS = 12_000
# Expected time of a fit of as many combinations.
LONGEST_FIT = "about three minutes"
# Most groups of a table of several roles: 2000 sites over 60 periods.
MOST_CROSSED = 120_000  # Up to so many labels are numbered by a dictionary, which needs no pandas.
FEW_LABELS = 10_000

# The level of each role of a group, in their order.
Cell: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """Columns of roles as they were given, by role; `subgroup` has several, by name."""

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
    if not given:
        return Roles()
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
    """The roles by whose levels a table has its groups, and the order of the periods.

    Levels are in order: of time for periods; of a categorical column its own; else as people count.
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
    """The groups of some cases: the levels of each, in order of their names; and the cases'."""

    structure: Structure
    cells: tuple[Cell, ...]
    code: NDArray[np.intp]

    @property
    def labels(self) -> list[str]:
        """The names of the groups."""
        return [str(self.structure.label(cell)) for cell in self.cells]


def read_groups(roles: Roles, size: int) -> Groups:
    """The levels of all roles that make groups, and the group of each case; one without any."""
    if not roles.columns:
        return Groups(NO_STRUCTURE, ((),), np.zeros(size, np.intp))
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
    return tuple(map(label_of.__getitem__, in_order(label_of)))


def labels_of(values: Any, size: int | None, name: str) -> tuple[NDArray[np.intp], list[str]]:
    """The number of each case's label, and the text of each number: labels of one text are one."""
    row, labels = _distinct_of(values, name)
    check_same_length(row.size if size is None else size, "y_true", row.size, name)
    code_of: dict[str, int] = {}
    code = np.array([code_of.setdefault(str(label), len(code_of)) for label in labels], np.intp)
    for at, text in enumerate(code_of):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise CaseError(
                name,
                "has half of a surrogate pair",
                row=int(np.argmax(code[row] == at)),
                value=shortened(repr(text)),
                more=", which is no text and cannot be stored",
                cure="Read the labels again with the right encoding, or rename this one.",
            ) from None
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


def _distinct_of(given: Any, name: str) -> tuple[NDArray[np.intp], list[Any]]:
    """The number of each value, and the values by number, none of which may be missing."""
    if isinstance(given, Encoded):
        present, row = numbered(given.row)
        return row, given.labels[present].tolist()
    is_listed = isinstance(given, (list, tuple))
    values = as_vector(np.array(given, dtype=object) if is_listed else given, name)
    if values.dtype.kind in "iubfmM":
        missing = values != values
        if missing.any():
            _refuse(int(missing.argmax()), name)
        if values.dtype.kind in "iu" and values.dtype != np.uint64:
            low = int(values.min())
            present, row = numbered(values.astype(np.int64) - low)
            return row, (present + low).tolist()
        distinct, row = np.unique(values, return_inverse=True)
        return row, list(distinct)
    if values.size > FEW_LABELS:
        import pandas as pd

        boxed = values.astype(object)
        if values.dtype != object or pd.api.types.infer_dtype(boxed, skipna=False) == "string":
            row, distinct = pd.factorize(boxed)
            return row, distinct.tolist()
    labels = values.tolist()
    if {*map(type, labels)} == {str}:
        number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        return np.fromiter(map(number.__getitem__, labels), np.intp, len(labels)), [*number]
    row_of: dict[str, int] = {}
    first: list[Any] = []
    typed: set[tuple[str, bool]] = set()
    row = np.empty(values.size, dtype=np.intp)
    for at, value in enumerate(labels):
        if is_missing(value):
            _refuse(at, name)
        each = abs(value) if isinstance(value, float) and value == 0 else value  # -0.0 is 0.0
        text = str(each)
        row[at] = row_of.setdefault(text, len(row_of))
        if len(row_of) > len(first):
            first.append(each)
        typed.add((text, isinstance(value, str)))
    if len(typed) > len(row_of):
        both = next(text for text, is_text in typed if is_text and (text, False) in typed)
        warn(
            f"{name} holds {shortened(repr(both))} as a text and as a value of another type, which "
            "are taken as the same label. Rename one of them if they are two.",
            SpellingWarning,
        )
    return row, first


def _warn_of_spellings(name: str, labels: Iterable[str]) -> None:
    """Warn of two labels that differ by small letters, spaces or how accents are encoded."""
    alike: dict[str, str] = {}
    for label in labels:
        plain = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
        other = alike.setdefault(plain, label)
        if other != label:
            warn(
                f"{name} holds {shortened(repr(other))} and {shortened(repr(label))}, which look "
                "alike and are told apart. If they are the same, spell them alike.",
                SpellingWarning,
            )
            return


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
        told, cure = "", "Rename all but one."
        if not name.strip():
            told, cure = "a column without a name", "Name every column."
        elif names.count(name) > 1:
            told = f"{names.count(name)} columns called {shortened(name)!r}"
        elif name in ROLES:
            told = f"a column called {name!r}, which is a role of its own"
            cure = f"Pass it as {name}=, or rename the column."
        if told:
            raise InputError(f"subgroup has {told}. {cure}")
    return {name: subgroup[key] for name, key in zip(names, keys, strict=True)}


# Numbers beyond it are no times of anything; differences of one are still seen below.
LARGEST_PERIOD = 1e15

# Least time between two periods, as a share of the time from the first to the last.
#
# From 1e-10 on the variance of what changes in such a step is lost beside that of the whole.
SHORTEST_STEP = 1e-9
MOST_PERIODS = 60
MONTHS = 12
EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Periods:
    """Labels of periods with their positions in time, ascending.

    `kind` is the unit of the positions: numbers, months, days or categories.
    """

    kind: str
    position: dict[str, float]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in order of time."""
        return tuple(self.position)

    @property
    def elapsed(self) -> Floats:
        """Time from each period to the next, as shares of the time from the first to the last."""
        steps = np.diff(list(self.position.values()))
        return np.asarray(steps / steps.sum())

    @classmethod
    def of(cls, kind: str, position: dict[str, float]) -> Periods:
        """Periods in order of their positions."""
        return cls(kind, dict(sorted(position.items(), key=lambda pair: pair[1])))

    def among(self, labels: Collection[str]) -> Periods:
        """Those of the periods that have these labels."""
        kept = {label: at for label, at in self.position.items() if label in labels}
        return Periods(self.kind, kept)

    def joined(self, more: Periods, name: str = "period") -> Periods:
        """These periods and more of the same kind; `name` is what the user calls them."""
        if more.kind != self.kind:
            raise CaseError(
                name,
                f"holds {more.kind}, such as {more.labels[0]!r}, but those before are {self.kind}, "
                f"such as {self.labels[0]!r}",
                cure="Give both in one form.",
            )
        joined = self.position | more.position
        label_at: dict[float, str] = {}
        for label, position in joined.items():
            was = self.position.get(label, position)
            other = label_at.setdefault(position, label)
            fault, cure = "", "Give both in one form."
            if was != position:
                fault = f"holds {label!r} as category {position + 1:g} of its order, but it was "
                fault += f"category {was + 1:g}"
                cure = "Add new categories after the last one."
            elif other != label:
                fault = f"holds {label!r}, and those before have {other!r}, which is the same time"
            if fault:
                raise CaseError(name, fault, cure=cure)
        return Periods.of(self.kind, joined)

    def checked(self) -> Periods:
        """The periods themselves, refused if there are too few or too many to compare."""
        size = len(self.position)
        if size < 2:
            raise InputError(
                f"there is one period only, {self.labels[0]!r}: nothing can have changed. Fit "
                "without periods, and add the next period with bayescal.update."
            )
        _check_few(size, "period")
        if self.elapsed.min() < SHORTEST_STEP:
            at = int(self.elapsed.argmin())
            raise InputError(
                f"from period {self.labels[at]} to {self.labels[at + 1]} is too short a time, "
                f"beside that from {self.labels[0]} to {self.labels[-1]}, to be told from none. "
                "Check the periods that lie far from the others."
            )
        return self


def _check_few(periods: int, name: str) -> None:
    if periods > MOST_PERIODS:
        raise CaseError(
            name,
            f"holds {periods:,} periods, but at most {MOST_PERIODS} are compared, in about ten "
            "seconds",
            cure="months",
        )


def read_periods(values: Any, name: str = "period") -> tuple[NDArray[np.intp], list[str], Periods]:
    """The period of each case, as an index of its label; the labels; and the order of the periods.

    Numbers such as 202403, 20240331 and 2024.03 are months and days, if all of them can be.
    """
    kind = getattr(values, "dtype", None)
    if getattr(kind, "ordered", None):
        return _categories(values, name)
    row, distinct = _distinct_of(
        values.astype(str) if str(kind).startswith("period[") else values, name
    )
    _check_few(len(distinct), name)
    labels, positions, unit = _named(distinct, name)
    order = Periods.of(unit, {})
    for label, position in zip(labels, positions, strict=True):
        order = order.joined(Periods(unit, {label: position}), name)
    return row, labels, order


Named = tuple[list[str], list[float], str]


def _categories(values: Any, name: str) -> tuple[NDArray[np.intp], list[str], Periods]:
    categorical = getattr(values, "cat", values)
    labels, codes = [str(each) for each in categorical.categories], np.asarray(categorical.codes)
    if (codes < 0).any():
        _refuse(int((codes < 0).argmax()), name)
    present = np.unique(codes)
    _check_few(present.size, name)
    position = {labels[code]: float(code) for code in present.tolist()}
    return codes.astype(np.intp), labels, Periods.of("categories", position)


def _named(values: list[Any], name: str) -> Named:
    """Labels, positions and unit of distinct values of one type."""
    if all(isinstance(value, str) for value in values):
        return _of_texts(values, name)
    if all(isinstance(value, datetime.date) for value in values):
        if any(getattr(value, "tzinfo", None) for value in values):
            raise CaseError(
                name,
                "holds times of a time zone",
                cure=f"Give dates, or times without zone, such as {name}.dt.tz_localize(None).",
            )
        return _of_datetimes(np.array(values, dtype="datetime64[s]"))
    if all(isinstance(value, np.datetime64) for value in values):
        return _of_datetimes(np.array(values))
    numeric = all(
        isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        for value in values
    )
    if numeric and all(abs(value) <= LARGEST_PERIOD for value in values):
        return _of_numbers([float(value) for value in values], name)
    raise _no_order(values, name)


def _of_numbers(values: list[float], name: str) -> Named:
    """Months or days, if all are written as 202403, 20240331 or 2024.03 are; else numbers."""
    labels = [f"{value:.15g}" for value in values]
    with_months = [f"{value:.2f}" for value in values]  # October is 2023.10, and not 2023.1
    for texts in (labels, with_months):
        if list(map(float, texts)) == values and (read := _in_time(texts, DATES)):
            return (texts, *read)
    return labels, values, "numbers"


def _of_datetimes(values: NDArray[Any]) -> Named:
    unit = np.datetime_data(values.dtype)[0]
    if unit == "Y":
        return _of_texts([str(value) for value in values], "period")
    if unit == "M":
        months = values.astype(np.int64).astype(np.float64)
        return [str(value) for value in values], months.tolist(), "months"
    days = values.astype("datetime64[s]").astype(np.int64) / 86_400
    dates = values.astype("datetime64[D]")
    shown = dates if (dates == values).all() else values.astype("datetime64[s]")
    return [str(value) for value in shown], days.tolist(), "days"


def _of_texts(values: list[str], name: str) -> Named:
    texts = [re.sub(r"\.0+$", "", value.strip()) for value in values]  # 202403.0, beside gaps
    read = _in_time(_months_with_points(texts) or texts, (*DATES, *OTHERS))
    if read is None:
        raise _no_order(values, name)
    return (values, *read)


def _months_with_points(values: list[str]) -> list[str] | None:
    """Months such as 1.2023, 01/2023 and 2023.1 as 2023-01 is, unless one is none.

    A number loses the last digit of 2023.10. So 2023.1 is October, unless another text shows that
    no noughts are written: 2023.2, or 2023.10 itself.
    """
    first = [re.fullmatch(rf"(\d\d?)[./-]({CENTURY})", value) for value in values]
    last = [re.fullmatch(rf"({CENTURY})\.(\d\d?)", value) for value in values]
    if all(first):
        parts = [(each[2], each[1].zfill(2)) for each in first if each]
    elif all(last):
        parts = [(each[1], each[2]) for each in last if each]
        is_bare = any(month in {*"23456789", "10"} for _, month in parts)
        parts = [(year, f"{m:0>2}" if is_bare else f"{m:0<2}") for year, m in parts]
    else:
        return None
    if not all(1 <= int(month) <= MONTHS for _, month in parts):
        return None
    return [f"{year}-{month}" for year, month in parts]


def _in_time(texts: list[str], forms: Sequence[Form]) -> tuple[list[float], str] | None:
    """Positions and unit of texts that all are written in one of these forms."""
    for pattern, unit, position in forms:
        matches = [re.fullmatch(pattern, text) for text in texts]
        try:
            if all(matches):
                return [position(match.groupdict()) for match in matches if match], unit
        except ValueError:  # no date: 20230231
            continue
    return None


def _day(date: dict[str, str]) -> float:
    day = datetime.date(int(date["y"]), int(date["m"]), int(date["d"]))
    return float(day.toordinal() - EPOCH.toordinal())


def _month(date: dict[str, str]) -> float:
    first = datetime.date(int(date["y"]), int(date["m"]), 1)
    return float(MONTHS * (first.year - EPOCH.year) + first.month - 1)


def _quarter(date: dict[str, str]) -> float:
    return MONTHS * (float(date["y"]) - EPOCH.year) + 3 * (float(date["q"]) - 1)


def _week(date: dict[str, str]) -> float:
    monday = datetime.date.fromisocalendar(int(date["y"]), int(date["w"]), 1)
    return float(monday.toordinal() - EPOCH.toordinal())


Form: TypeAlias = tuple[str, str, Callable[[dict[str, str]], float]]
CENTURY = r"(?:19|20)\d\d"
MIDNIGHT = r"(?:[ T]00:00(?::00(?:\.0+)?)?)?"
# Dates, also those that are plain numbers, of which 202312 and 202401 would lie far apart.
DATES: tuple[Form, ...] = (
    (rf"(?P<y>{CENTURY})\.?(?P<m>0[1-9]|1[0-2])", "months", _month),
    (r"(?P<y>\d{4})/(?P<m>\d{1,2})", "months", _month),
    (rf"(?P<y>{CENTURY})(?P<m>\d\d)(?P<d>\d\d)", "days", _day),
    (rf"(?P<y>\d{{4}})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?){MIDNIGHT}", "days", _day),
)
OTHERS: tuple[Form, ...] = (
    (r"(?P<number>[+-]?\d+(?:\.\d*)?)", "numbers", lambda text: float(text["number"])),
    (r"(?P<y>\d{4})-(?P<m>\d{2})", "months", _month),
    (r"(?P<y>\d{4})-?Q(?P<q>[1-4])", "months", _quarter),
    (r"(?P<y>\d{4})-?W(?P<w>\d{2})", "days", _week),
)


def _no_order(values: list[Any], name: str) -> CaseError:
    shown = ", ".join(shortened(repr(value)) for value in values[:3])
    return CaseError(
        name,
        f"holds {shown}{', ...' * (len(values) > 3)}, whose order is not plain",
        cure="periods",
    )
