"""Which columns of a table hold the outcomes, scores, weights and groups."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.errors import InputError
from bayescal._base.text import shortened

__all__ = ["Columns", "Encoded", "listed"]

ARGUMENTS = {"y_true": 0, "y_prob": 1, "sample_weight": 2, "groups": 3}
"""Position among the columns of what the checks of arrays call by these names."""

COLUMNS_SHOWN = 8


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
    """The columns of a table that matter.

    Attributes
    ----------
    outcome, score : str
    weight, group : str or None
    factors : tuple of str
        Columns of several factors, instead of one group.
    """

    outcome: str
    score: str
    weight: str | None = None
    group: str | None = None
    factors: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The columns to read, each once."""
        single = (self.outcome, self.score, self.weight, self.group)
        return list(dict.fromkeys(name for name in (*single, *self.factors) if name is not None))

    @property
    def roles(self) -> dict[str, Any]:
        """The columns by what they hold; factors only if there are any."""
        return {role: name for role, name in self._asdict().items() if role != "factors" or name}

    def check(self, names: Collection[str], source: str) -> None:
        """Refuse a table that lacks a column, or has two of one name.

        Parameters
        ----------
        names : collection of str
            The columns that there are.
        source : str
            What the user calls the table.

        Raises
        ------
        InputError
        """
        for role, name in self._asdict().items():
            if role == "factors" or (name is None and role in ("weight", "group")):
                continue
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

    def named_in(self, message: str) -> str:
        """A message on arrays in terms of columns: "y_prob[2] is ..." as "column 'p'[2] is ..."."""
        return re.sub(
            rf"(?<=: )({'|'.join(ARGUMENTS)})(?=\[| )",
            lambda match: f"column {self[ARGUMENTS[match[0]]]!r}",
            message,
            count=1,
        )


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
