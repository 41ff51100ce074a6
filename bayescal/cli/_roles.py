"""Columns of roles; and the question, where ids repeat and nobody said why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.cli._questions import ask_about_columns
from bayescal.data.sources.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NO_ROLES", "RoleColumns"]

ID_NAMES = {
    "case", "id", "ids", "mrn", "participant", "patient", "patients", "person", "pid", "psu",
    "subject", "subjects",
}  # fmt: skip


class RoleColumns(NamedTuple):
    """What was said of the columns beside outcome, score and weight.

    Attributes
    ----------
    site, period, cluster, stratum, imputation : str or None
        Columns.
    factors : tuple of str
        Columns.
    independent : bool
        Whether rows of one id were said to be independent.
    ignored : tuple of str
        Columns that were said not to matter.
    asks_of : tuple of str
        The options of a command that asks what a column of hospitals or dates means.
    """

    site: str | None = None
    period: str | None = None
    cluster: str | None = None
    stratum: str | None = None
    imputation: str | None = None
    factors: tuple[str, ...] = ()
    independent: bool = False
    ignored: tuple[str, ...] = ()
    asks_of: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        site: Sequence[str] | None = None,
        factor: Sequence[str] | None = None,
        ignored: Sequence[str] | None = None,
        **given: Any,
    ) -> RoleColumns:
        """The columns as they were typed."""
        if len(site or ()) > 1:
            raise InputError("--site is one column. Name several factors with --factor.")
        factors = tuple(factor or ())
        for name in factors:
            if factors.count(name) > 1:
                raise InputError(f"--factor {name!r} was given twice. Name each factor once.")
        roles = cls(
            site=site[0] if site else None, factors=factors, ignored=tuple(ignored or ()), **given
        )
        if roles.stratum is not None and roles.cluster is None:
            raise InputError("--stratum goes with --cluster, the column of the clusters.")
        if roles.cluster is not None and roles.independent:
            raise InputError("--cluster and --independent contradict each other. Leave one out.")
        return roles

    @property
    def told(self) -> list[tuple[str, str]]:
        """Options and columns, which must not be among those that are guessed."""
        options = ("site", "period", "cluster", "stratum", "imputation")
        given = {option: getattr(self, option) for option in options}
        one = [(option, name) for option, name in given.items() if name is not None]
        several = {"factor": self.factors, "ignore-column": self.ignored}
        return one + [(option, name) for option, names in several.items() for name in names]

    @property
    def groups(self) -> dict[str, bool]:
        """The options that give a table its groups, and whether each was given."""
        return {
            "--site (--group)": self.site is not None,
            "--period": self.period is not None,
            "--factor": bool(self.factors),
        }

    def columns(self, outcome: str, score: str, weight: str | None) -> Columns:
        """All columns that matter."""
        return Columns(outcome, score, weight, *self[:5], self.factors)

    def ask(self, frame: pd.DataFrame, taken: Sequence[str]) -> None:
        """Refuse a table with an id that repeats, when nothing says what that means.

        Parameters
        ----------
        taken : sequence of str
            Columns that mean something else.
        """
        if self.cluster is not None or self.imputation is not None or self.independent:
            return
        taken = [*taken, *self.ignored]
        for name in map(str, frame.columns):
            if name in taken or not _is_id(name):
                continue
            values = frame[name]
            if values.ndim != 1:
                continue
            ids, rows = _distinct(values), int(values.notna().sum())
            if 2 <= ids < rows:
                shown = shortened(name)
                raise InputError(
                    f"column {shown!r} repeats ({rows:,} rows, {ids:,} ids). If rows of one "
                    f"{shown} are not independent, add --cluster {shown}; if they are, add "
                    "--independent."
                )
        if self.asks_of and not any(self.groups.values()):
            ask_about_columns(frame, taken, options=self.asks_of)


NO_ROLES = RoleColumns()


def _is_id(name: str) -> bool:
    plain = name.strip().lower().replace(" ", "_").replace(".", "_")
    return plain in ID_NAMES or plain.endswith("_id")


def _distinct(values: pd.Series) -> int:
    """How many values there are; none of what cannot be compared, such as lists."""
    try:
        return int(values.nunique())
    except TypeError:
        return 0
