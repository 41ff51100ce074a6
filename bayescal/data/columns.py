"""What was said of a table: the roles of its columns, declared once, and how a file is written.

Nothing heavy is imported, since options of the command line are made of the roles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, TypeVar, cast

from bayescal.core.errors import InputError, KeywordError, as_items, check_choice, check_type
from bayescal.core.text import shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayescal.core.arrays import Floats

# What weights are: numbers of cases, or corrections for how cases were sampled.
WeightType = Literal["counts", "sampling"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Role(NamedTuple):
    """What a column says of each case, declared once for every door, with a line on what it is.

    Labels are taken verbatim; times are dates, numbers or texts in order. Levels of groups are told
    apart: a curve may differ between them.
    """

    name: str
    kind: Literal["outcomes", "probabilities", "numbers", "labels", "times"]
    line: str
    groups: bool = False


# Roles by name, in the order of every door.
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

# What a frame or a file has beside: columns that arrays pass by position, or as a Survival.
OF_TABLE = {
    role.name: role
    for role in (
        Role(
            "outcome",
            "outcomes",
            "Whether each case had the event: 0/1 or boolean, shares in between, or labels with "
            "pos_label.",
        ),
        Role("prob", "probabilities", "The predicted probability of the event, in [0, 1]."),
        Role("time", "numbers", "How long each case was followed, in place of an outcome."),
        Role("event", "labels", "What ended that time: 0 if the case left, 1 if by the event."),
        Role("entry", "numbers", "When each case came under observation, if after time 0."),
    )
}

# Roles that the checks of arrays call by another name.
ARGUMENTS = {"y_true": "outcome", "y_prob": "prob"}
ARGUMENT_OF = {role: argument for argument, role in ARGUMENTS.items()}
TIME_COLUMNS = ("time", "event", "entry")
OF_LABELS = [name for name, role in ROLES.items() if role.kind in ("labels", "times")]
COLUMNS_SHOWN = 8
# Words that a column of times may be called by; in the plural, too.
UNITS_OF_TIME = ("second", "minute", "hour", "day", "week", "month", "year")
# By what dates of periods are taken, and how that is written.
CALENDAR = {"week": "%G-W%V", "month": "%Y-%m", "quarter": "%Y-Q", "year": "%Y"}


class Encoded(NamedTuple):
    """Labels, each kept once, of which not all need occur; and which of them each case has."""

    row: NDArray[np.intp]
    labels: NDArray[np.object_]

    def values(self) -> NDArray[np.object_]:
        """The label of each case."""
        return self.labels[self.row]


class ColumnRoles(TypedDict, total=False):
    """The roles as columns of a data frame or of a file, by their names."""

    outcome: str | None
    prob: str | None
    sample_weight: str | None
    site: str | None
    period: str | None
    cluster: str | None
    stratum: str | None
    imputation: str | None
    subgroup: str | Collection[str]
    time: str | None
    event: str | None
    entry: str | None


class Columns(NamedTuple):
    """The columns of a table that matter; of times to an event there is no outcome."""

    outcome: str | None = None
    prob: str | None = None
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

    @classmethod
    def given(cls, subgroup: Any = None, **one: Any) -> Columns:
        """The columns as they were named: several subgroups, and of all other roles one."""
        for role, name in one.items():
            if name is not None:
                check_type(name, str, role, "Pass the name of a column.")
        return cls(
            **one, subgroup=tuple(as_items(() if subgroup is None else subgroup, "subgroup"))
        )

    @property
    def needed(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(name for _, name in self.named))

    @property
    def named(self) -> list[tuple[str, str]]:
        """Roles with the columns that hold them, in order."""
        one = [(role, name) for role, name in self._asdict().items() if role != "subgroup"]
        given = [(role, name) for role, name in one if name is not None]
        return [*given, *(("subgroup", name) for name in self.subgroup)]

    @property
    def told(self) -> dict[str, Any]:
        """The columns by what they hold, for a record; of roles those that are named."""
        always = {role: getattr(self, role) for role in ("outcome", "prob", "sample_weight")}
        told = always | {role: name for role, name in self.named if role != "subgroup"}
        return told | ({"subgroup": self.subgroup} if self.subgroup else {})

    @property
    def labelled(self) -> list[str]:
        """The columns of labels."""
        return [name for role, name in self.named if role in OF_LABELS]

    def values(
        self, values_of: Callable[[str], Any], *, labels_alone: bool = False
    ) -> dict[str, Any]:
        """The columns, or those of labels alone, by the names of the constructor's arguments."""
        taken = [(role, name) for role, name in self.named if not labels_alone or role in OF_LABELS]
        read = {name: values_of(name) for _, name in taken}
        values = {ARGUMENT_OF.get(role, role): read[name] for role, name in taken}
        if self.subgroup:
            values["subgroup"] = {name: read[name] for name in self.subgroup}
        return values

    def called(self, argument: str) -> str:
        """What a fault of arrays is about: of "y_prob" it is "column 'p'"."""
        role = ARGUMENTS.get(argument, argument)
        names = dict(self.named) | {f"subgroup[{name!r}]": name for name in self.subgroup}
        return f"column {names[role]!r}" if role in names else argument

    def check(self, names: Collection[str]) -> None:
        """Refuse a data frame that lacks a column, or has two of one name."""
        timed = any(getattr(self, role) is not None for role in TIME_COLUMNS)
        if timed and self.outcome is not None:
            raise InputError("outcome was given beside time, event or entry. Leave one out.")
        for role in (*(("time", "event") if timed else ("outcome",)), "prob"):
            if getattr(self, role) is None:
                raise InputError(f"{role} must be the name of a column, got None.")
        check_columns(self.named, names, _keyword)


class Door(NamedTuple):
    """Where a file is read, and how what is asked is spelt there."""

    option: Callable[..., str]
    """Of an argument in Python's words, and perhaps its value: how it is given."""
    several: str
    """What compares several predictions."""
    unknown: str
    """What takes cases whose outcome is not known."""
    asks: bool = True
    """Whether it asks what weights are, of which others warn."""
    shows: bool = False
    """Whether a likely answer is taken, since it is shown to be corrected."""


def _keyword(name: str, value: Any = None) -> str:
    return f"{name}=" if value is None else f"{name}={value!r}"


PYTHON = Door(_keyword, "bayescal.compare_models", "bayescal.fit_known", asks=False)


class Scale(NamedTuple):
    """What scores are written as: its name, in the plural, and where they can lie."""

    name: str
    lowest: float
    highest: float
    to_probability: Callable[[Floats], Floats]
    from_probability: Callable[[Floats], Floats]


def _special() -> Any:
    import scipy.special

    return scipy.special


PROBABILITY = Scale("probabilities", 0, 1, lambda score: score, lambda probability: probability)
LOG_ODDS = Scale(
    "log-odds", -math.inf, math.inf, lambda x: _special().expit(x), lambda p: _special().logit(p)
)
PERCENT = Scale(
    "percentages", 0, 100, lambda score: score / 100, lambda probability: 100 * probability
)
SCALES = {
    "probability": PROBABILITY,
    "logit": LOG_ODDS,
    "percent": PERCENT,
    "survival": Scale("probabilities of survival", 0, 1, lambda x: 1 - x, lambda p: 1 - p),
}


@dataclass(frozen=True)
class Request:
    """What is known of a file: what was said, and then what was guessed.

    `others` has columns of several predictions, each with what it was named by: of several horizons
    one for each. `asks` has the roles that are taken.
    """

    path: Any
    columns: Columns = field(default_factory=Columns)
    others: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    weight_type: WeightType | None = None
    horizon: Any = None
    cause: str | None = None
    censored: str | None = None
    every: str | None = None
    scale: str = "probability"
    drop_missing: bool = False
    needs_outcomes: bool = False
    ignore: tuple[str, ...] = ()
    independent: bool = False
    encoding: str | None = None
    sheet: str | None = None
    asks: tuple[str, ...] = ("site", "period", "cluster", "imputation")
    door: Door = PYTHON

    @property
    def keeps_unknown(self) -> bool:
        """Whether cases without an outcome are taken, as some of a population."""
        columns = self.columns
        told = columns.imputation, *(getattr(columns, role) for role in TIME_COLUMNS)
        return not (self.needs_outcomes or self.drop_missing) and told == (None,) * len(told)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, before the file is opened."""
        option, columns = self.door.option, self.columns
        check_choice(self.scale, SCALES, "scale")
        if self.every is not None:
            check_choice(self.every, CALENDAR, option("every"))
        for given, name, needed, what in (
            (self.every, "every", "period", "dates"),
            (columns.stratum, "stratum", "cluster", "clusters"),
            (self.weight_type, "weight_type", "sample_weight", "weights"),
        ):
            if given is not None and getattr(columns, needed) is None:
                raise InputError(
                    f"{option(name)} goes with {option(needed)}, the column of the {what}."
                )
        for name in columns.subgroup:
            if columns.subgroup.count(name) > 1:
                raise InputError(
                    f"{option('subgroup', name)} was given twice. Name each column once."
                )
        for (role, name), (other, same) in combinations(self.named, 2):
            if name != same:
                continue
            if other == "cluster" and role in ("site", "period"):
                raise InputError(
                    f"{option('cluster')} and {option(role)} name the same column, {name!r}, so "
                    f"that each {role} would be one cluster. Leave one of the two out."
                )
            if role != other and {role, other} & {*TIME_COLUMNS}:
                first, second = sorted((role, other), key=lambda each: each not in TIME_COLUMNS)
                raise InputError(
                    f"{option(first)} and {option(second)} name the same column, {name!r}. Name "
                    "one for each."
                )

    @property
    def named(self) -> list[tuple[str, str]]:
        """Columns, each behind what it was named by."""
        return [*self.columns.named, *((by, name) for name, by in self.others.items())]

    @property
    def of_table(self) -> dict[str, Any]:
        """What was said of the table, by the arguments of `CalibrationData`."""
        of_outcomes = {"pos_label": self.pos_label, "weight_type": self.weight_type}
        return of_outcomes | ({} if self.columns.time is None else {"horizon": self.horizon})

    @property
    def by(self) -> str:
        """By when the event came: `by 5 years`, or `by 5 (column t)` if its name is no unit."""
        column, at = str(self.columns.time), self.horizon
        unit = column.strip().lower().removesuffix("s")
        if unit not in UNITS_OF_TIME:
            return f"by {at:g} (column {shortened(column)})"
        return f"by {at:g} {unit}{'' if at == 1 else 's'}"

    @property
    def told(self) -> dict[str, str]:
        """What scores are written as, for a record; nothing of probabilities."""
        return {} if self.scale == "probability" else {"scale": self.as_written.name}

    @property
    def as_written(self) -> Scale:
        """What scores are written as."""
        return SCALES[self.scale]


def listed(names: Collection[str]) -> str:
    """The first names of columns, and how many more there are."""
    shown = ", ".join(repr(name) for name in [*names][:COLUMNS_SHOWN])
    more = len(names) - COLUMNS_SHOWN
    return shown + f" and {more} more" * (more > 0)


def check_columns(
    named: Iterable[tuple[str, Any]], names: Collection[str], option: Callable[[str], str]
) -> None:
    """Refuse a column that was named and is not there, or is there twice."""
    often = Counter(names)
    for role, name in named:
        if not isinstance(name, str) or not often[name]:
            near = get_close_matches(str(name), [str(each) for each in names][:1000], 1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"{option(role)}: there is no column {shortened(repr(name))}. There are "
                f"{listed(names)}.{meant}"
            )
        if often[name] > 1:
            raise InputError(
                f"{option(role)}: {often[name]} columns are called {shortened(repr(name))}. Rename "
                "all but one."
            )


# Words of other packages that no spelling is near to.
MEANT = {
    "y_pred": "y_prob", "y_score": "y_prob", "y_proba": "y_prob", "score": "prob", "risk": "prob",
    "groups": "site", "group": "site", "hospital": "site", "factors": "subgroup",
    "draws_of_score": "imputation", "weight": "sample_weight", "weights": "sample_weight",
    "seed": "random_state", "n_draws": "draws", "level": "ci_prob",
}  # fmt: skip


def spelt_out(roles: Any) -> Callable[[Function], Function]:
    """Show the keywords of a function's `**roles`, a TypedDict, and refuse others by name."""

    def made(function: Function) -> Function:
        own = signature(function)
        plain = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        at = sum(each.kind is not each.KEYWORD_ONLY for each in plain)
        shown = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind.__forward_arg__)
            for name, kind in roles.__annotations__.items()
        ]
        every = [*plain[:at], *shown, *plain[at:]]
        known = [each.name for each in every]
        called = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def run(*args: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in known:
                    raise KeywordError(_did_you_mean(called, name, known))
            return function(*args, **keywords)

        run.__signature__ = own.replace(parameters=every)  # type: ignore[attr-defined]
        return cast(Function, run)

    return made


def _did_you_mean(door: str, name: str, known: Sequence[str]) -> str:
    """What to say of a keyword that a door does not have."""
    near = get_close_matches(name, known, n=1, cutoff=0.7)
    meant = MEANT.get(name) or (near[0] if near else None)
    if meant in known:
        also = ", or subgroup= for columns by name" if name == "groups" else ""
        return f"{door} has no keyword {name}=. Did you mean {meant}={also}?"
    return f"{door} has no keyword {name}=. It has {', '.join(known)}."
