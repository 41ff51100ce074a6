"""Which columns of a table hold the outcomes, scores, weights and roles."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import shortened

__all__ = ["Columns", "Encoded", "listed", "may_be_groups", "may_be_sites"]

ARGUMENTS = {"y_true": "outcome", "y_prob": "prob", "sample_weight": "sample_weight"}
"""What the checks of arrays call by these names; a role is called by its own."""
TIME_COLUMNS = ("time", "event", "entry")
ONE_COLUMN = ("site", "period", "cluster", "stratum", "imputation")

COLUMNS_SHOWN = 8
SITE_NAMES = {
    "center", "centers", "centre", "centres", "clinic", "clinics", "cluster", "clusters",
    "hospital", "hospitals", "region", "regions", "site", "sites", "studies", "study",
}  # fmt: skip
PERIOD_NAMES = {"date", "dates", "month", "months"}


class Encoded(NamedTuple):
    """Labels, each kept once.

    Attributes
    ----------
    row : ndarray of int of shape (n,)
        Index of the label of each case.
    labels : ndarray of shape (labels,)
        Of which not all need occur.
    """

    row: NDArray[np.intp]
    labels: NDArray[np.object_]

    def values(self) -> NDArray[np.object_]:
        """The label of each case."""
        return self.labels[self.row]


class Columns(NamedTuple):
    """The columns of a table that matter; of times to an event there is no outcome."""

    outcome: str | None
    prob: str
    sample_weight: str | None = None
    site: str | None = None
    period: str | None = None
    cluster: str | None = None
    stratum: str | None = None
    imputation: str | None = None
    subgroup: tuple[str, ...] = ()
    time: str | None = None
    event: str | None = None
    entry: str | None = None

    @property
    def needed(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys([*self.given.values(), *self.subgroup]))

    @property
    def given(self) -> dict[str, str]:
        """The columns that are named, by what each holds; but for those of subgroups."""
        named = {role: name for role, name in self._asdict().items() if role != "subgroup"}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def told(self) -> dict[str, Any]:
        """The columns by what they hold, for a record; of roles those that are named."""
        always = {
            role: getattr(self, role) for role in ("outcome", "prob", "sample_weight", "site")
        }
        return always | self.given | ({"subgroup": self.subgroup} if self.subgroup else {})

    @property
    def labelled(self) -> list[str]:
        """The columns of roles, those of subgroups among them."""
        return [*(self.given[role] for role in ONE_COLUMN if role in self.given), *self.subgroup]

    def chunk(self, values_of: Callable[[str], Any]) -> dict[str, Any]:
        """The columns by the names of the constructor's arguments."""
        of_cases = {name: getattr(self, column) for name, column in ARGUMENTS.items()}
        of_cases |= {name: getattr(self, name) for name in TIME_COLUMNS}
        chunk = {name: values_of(each) for name, each in of_cases.items() if each is not None}
        return chunk | self.roles(values_of)

    def roles(self, values_of: Callable[[str], Any]) -> dict[str, Any]:
        """The columns of roles, by the names of the constructor's arguments."""
        given = self.given
        roles = {role: values_of(given[role]) for role in ONE_COLUMN if role in given}
        if self.subgroup:
            roles["subgroup"] = {name: values_of(name) for name in self.subgroup}
        return roles

    def check(self, names: Collection[str], source: str) -> None:
        """Refuse a table that lacks a column, or has two of one name.

        Parameters
        ----------
        names : collection of str
            The columns that there are.
        source : str
            What the user calls the table.
        """
        timed = any(getattr(self, role) is not None for role in TIME_COLUMNS)
        if timed and self.outcome is not None:
            raise InputError("outcome was given beside time, event or entry. Leave one out.")
        for role in (*(("time", "event") if timed else ("outcome",)), "prob"):
            if getattr(self, role) is None:
                raise InputError(f"{role} must be the name of a column, got None.")
        for role, name in [*self.given.items(), *(("subgroup", name) for name in self.subgroup)]:
            same = _count(names, name)
            if not same:
                given = shortened(repr(name))
                raise InputError(
                    f"{source} has no column {given}, which is to hold the {role}. "
                    f"There are {listed(names)}."
                )
            if same > 1:
                raise InputError(
                    f"{source} has {same} columns called {shortened(repr(name))}. Rename all but "
                    "one."
                )

    def called(self, argument: str) -> str:
        """What a message on arrays calls a column here: "y_prob" is "column 'p'"."""
        name_of = {name: getattr(self, column) for name, column in ARGUMENTS.items()}
        name_of |= self.given | {f"subgroup[{name!r}]": name for name in self.subgroup}
        return f"column {name_of[argument]!r}" if argument in name_of else argument


def _count(names: Collection[Any], name: Any) -> int:
    """How often a name occurs; what cannot be compared is no name."""
    try:
        return list(names).count(name)
    except (TypeError, ValueError):
        return 0


def listed(names: Collection[str]) -> str:
    """The first names of columns, and how many more there are."""
    shown = ", ".join(repr(name) for name in list(names)[:COLUMNS_SHOWN])
    return shown + (f" and {len(names) - COLUMNS_SHOWN} more" if len(names) > COLUMNS_SHOWN else "")


def may_be_groups(names: Collection[str], taken: Collection[str]) -> list[str]:
    """Columns that by their names may be of hospitals or dates.

    Parameters
    ----------
    taken : collection of str
        Columns that mean something else, or were said not to matter.
    """
    known = SITE_NAMES | PERIOD_NAMES
    return [name for name in names if name not in taken and _plain(name) in known]


def may_be_sites(name: str) -> bool:
    """Whether a column may be of hospitals by its name, rather than of dates."""
    return _plain(name) in SITE_NAMES


def _plain(name: str) -> str:
    return str(name).strip().lower().replace(" ", "_").replace(".", "_")
