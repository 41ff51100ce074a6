"""What was said of a file of predictions: which columns hold what, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayescal.cli import _options as option
from bayescal.core.errors import InputError

if TYPE_CHECKING:
    from bayescal.cli.form import Form
    from bayescal.data.sources.columns import Columns

__all__ = [
    "AssessReading",
    "ClusterReading",
    "GroupReading",
    "MissingReading",
    "PeriodReading",
    "Reading",
    "RowReading",
    "TimeReading",
    "TimedRowReading",
]

CALENDAR_UNITS = ("week", "month", "quarter", "year")
ROLE_OPTIONS = ("site", "period", "cluster", "stratum", "imputation")


@dataclass(frozen=True)
class Reading:
    """Options of a command that reads predictions; checked before the file is opened."""

    file: option.File
    outcome: option.Outcome = None
    prob: option.Prob = None
    positive: option.Positive = None
    sample_weight: option.SampleWeight = None
    weight_type: option.WeightType = None
    drop_missing: option.DropMissing = False
    logit: option.Logit = False
    percent: option.Percent = False
    encoding: option.Encoding = None
    sheet: option.Sheet = None

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        from bayescal.core.errors import check_choice
        from bayescal.data.weights import WEIGHT_TYPES

        if self.weight_type is not None:
            check_choice(self.weight_type, WEIGHT_TYPES, "--weight-type")
            if self.sample_weight is None:
                raise InputError(
                    "--weight-type goes with --sample-weight, the column of the weights."
                )
        if len(self._role("site") or ()) > 1:
            raise InputError("--site is one column. Name several subgroups with --subgroup.")
        for name in self.subgroups:
            if self.subgroups.count(name) > 1:
                raise InputError(f"--subgroup {name!r} was given twice. Name each column once.")
        if self._role("stratum") is not None and self._role("cluster") is None:
            raise InputError("--stratum goes with --cluster, the column of the clusters.")
        if self._role("cluster") is not None and self._role("independent"):
            raise InputError("--cluster and --independent contradict each other. Leave one out.")
        if self._role("every") is not None:
            check_choice(self._role("every"), CALENDAR_UNITS, "--every")
            if "period" not in self.roles:
                raise InputError("--every goes with --period, the column of the dates.")
        for name in ("site", "period"):
            if name in self.roles and self.roles[name] == self.roles.get("cluster"):
                raise InputError(
                    f"--cluster and --{name} name the same column, {self.roles[name]!r}, so that "
                    f"each {name} would be one cluster. Leave one of the two out."
                )

    def _role(self, name: str) -> Any:
        """An option of roles; None where the command has none."""
        return getattr(self, name, None)

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Columns of subgroups."""
        return tuple(self._role("subgroup") or ())

    @property
    def roles(self) -> dict[str, str]:
        """Columns of the other roles that were named."""
        named = {name: self._role(name) for name in ROLE_OPTIONS}
        named["site"] = (named["site"] or [None])[0]
        return {name: column for name, column in named.items() if column is not None}

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns whose fields are names, and never numbers."""
        numbers = (self.outcome, self.prob, self.sample_weight)
        return tuple(
            name for name in (*self.roles.values(), *self.subgroups) if name not in numbers
        )

    @property
    def calendar(self) -> str | None:
        """By what dates of periods are taken: week, month, quarter or year."""
        every: str | None = self._role("every")
        return every

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that do not matter."""
        return tuple(self._role("ignore_column") or ())

    @property
    def told(self) -> list[tuple[str, str]]:
        """Options and columns, in order."""
        of_cases = {name: getattr(self, name) for name in ("outcome", "prob", "sample_weight")}
        one = [
            (name.replace("_", "-"), column)
            for name, column in of_cases.items()
            if column is not None
        ]
        return [*one, *self.roles.items(), *self._repeated]

    @property
    def _repeated(self) -> list[tuple[str, str]]:
        several = {"subgroup": self.subgroups, "ignore-column": self.ignored}
        return [(option, name) for option, names in several.items() for name in names]

    @property
    def asks_about_groups(self) -> list[str]:
        """The options that say what a column of hospitals or dates means, where none is given."""
        ways = [name for name in ("site", "period", "cluster") if hasattr(self, name)]
        return ways if self.asks_about_ids and not any(self.groups.values()) else []

    @property
    def asks_about_ids(self) -> bool:
        """Whether an option could say why ids repeat, and none does."""
        return self._role("independent") is False and not {"cluster", "imputation"} & {*self.roles}

    @property
    def groups(self) -> dict[str, bool]:
        """The options that give a table its groups, and whether each was given."""
        return {
            "--site": "site" in self.roles,
            "--period": "period" in self.roles,
            "--subgroup": bool(self.subgroups),
        }

    def columns(self, outcome: str, score: str) -> Columns:
        """All columns that matter."""
        from bayescal.data.sources.columns import Columns

        return Columns(outcome, score, self.sample_weight, subgroup=self.subgroups, **self.roles)

    @property
    def of_outcomes(self) -> dict[str, Any]:
        """Further arguments of `CalibrationData`: what weights and outcomes are."""
        return {"weight_type": self.weight_type, "pos_label": self.positive}

    def form(self, other: Path | None = None) -> Form:
        """How the file is written, and another one that is written alike."""
        from bayescal.cli.form import Form

        return Form.of(
            self.file,
            other,
            encoding=self.encoding,
            sheet=self.sheet,
            logit=self.logit,
            percent=self.percent,
            survival=bool(self._role("survival")),
        )


@dataclass(frozen=True)
class _Times:
    """The columns of times to an event, if the outcomes are such."""

    time: option.Time = None
    event: option.Event = None
    entry: option.Entry = None
    horizon: option.Horizon = None
    cause: option.Cause = None
    censored: option.Censored = None
    survival: option.Survival = False


@dataclass(frozen=True)
class MissingReading(Reading):
    """Of cases of which some outcomes are missing, so that none may be left out for that."""

    drop_missing: Annotated[bool, typer.Option("--drop-missing", hidden=True)] = False


@dataclass(frozen=True)
class RowReading(Reading):
    """Of one file, in which there may be sites and clusters."""

    file: option.File
    site: option.Site = None
    cluster: option.Cluster = None
    stratum: option.Stratum = None


@dataclass(frozen=True)
class TimedRowReading(_Times, RowReading):
    """Of one file with several predictions, whose outcomes may be times to an event."""


@dataclass(frozen=True)
class ClusterReading(Reading):
    """Of cases that may depend on each other, or have several imputations."""

    imputation: option.Imputation = None
    cluster: option.Cluster = None
    stratum: option.Stratum = None
    independent: option.Independent = False
    ignore_column: option.IgnoreColumn = None


@dataclass(frozen=True)
class GroupReading(ClusterReading):
    """Of cases that may also have a site, a period or subgroups."""

    site: option.Site = None
    period: option.Period = None
    every: option.Every = None
    subgroup: option.Subgroup = None


@dataclass(frozen=True)
class TimeReading(_Times, ClusterReading):
    """Of cases whose outcomes may be times to an event."""


@dataclass(frozen=True)
class PeriodReading(TimeReading):
    """Of cases with a period, whose outcomes may be times to an event."""

    period: option.Period = None
    every: option.Every = None


@dataclass(frozen=True)
class AssessReading(TimeReading, GroupReading):
    """Of cases in groups, whose outcomes may be times to an event."""
