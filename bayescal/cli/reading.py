"""What was typed of a file: which column holds what, and how it is read by that."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal.core.errors import InputError, LabelWarning, WeightWarning
from bayescal.core.text import count, shortened
from bayescal.data.columns import OF_TABLE, ROLES

if TYPE_CHECKING:
    from bayescal.data.columns import Columns, Request, Scale
    from bayescal.data.reading import Cases
    from bayescal.data.table import CalibrationData
    from bayescal.data.times import Survival

__all__ = [
    "Predictions",
    "Reading",
    "Times",
    "checked",
    "labels_of",
    "predictions_of",
    "read_from",
    "read_predictions",
]

UNITS_OF_TIME = ("second", "minute", "hour", "day", "week", "month", "year")
"""Words that a column of times may be called by; in the plural, too."""
TYPED = {"pos_label": "positive", "cause": "positive", "ignore": "ignore-column"}
"""Options that are spelt differently from the argument in Python."""


def _typed(name: str, value: Any = None) -> str:
    """An option as it is typed, perhaps with its value."""
    from bayescal.cli.terminal import as_command

    option = f"--{TYPED.get(name, name).replace('_', '-')}"
    return option if value is None or value is True else f"{option} {as_command([str(value)])}"


def _keeping(path: Any, columns: Columns) -> str:
    from bayescal.cli.terminal import as_command

    named = ["--outcome", str(columns.outcome), "--prob", str(columns.prob)]
    return as_command(["bayescal", str(path), *named])


COMMAND_LINE = (_typed, "bayescal compare", "an empty cell", _keeping)
"""A `Door` of the reader."""


@dataclass(frozen=True)
class Reading:
    """What was typed of a file of predictions; checked before the file is opened.

    Attributes
    ----------
    typed : mapping
        By option.
    takes : tuple of str
        Options that the command has.
    """

    file: Any
    typed: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = (*ROLES, "independent")

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        for name in ROLES:
            given = self.typed.get(name)
            if name != "subgroup" and isinstance(given, (list, tuple)) and len(given) > 1:
                several = " Name several subgroups with --subgroup." * (name == "site")
                raise InputError(f"{_typed(name)} is one column, and was given twice.{several}")
        if self["cluster"] is not None and self.typed.get("independent"):
            raise InputError("--cluster and --independent contradict each other. Leave one out.")
        self.request(prob=None)

    def __getitem__(self, name: str) -> Any:
        """What was typed behind an option; of a role its one column."""
        given = self.typed.get(name)
        if isinstance(given, (list, tuple)) and name not in ("subgroup", "ignore_column"):
            return given[0] if given else None
        return given

    @property
    def positive(self) -> str | None:
        """Value of the outcome that is the event."""
        value: str | None = self["positive"]
        return value

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Columns of subgroups."""
        return tuple(self["subgroup"] or ())

    @property
    def roles(self) -> dict[str, str]:
        """Columns of labels that were named, but for subgroups."""
        named = {name: self[name] for name in ROLES if name not in ("subgroup", "sample_weight")}
        return {name: column for name, column in named.items() if column is not None}

    @property
    def groups(self) -> dict[str, bool]:
        """The options that give a table its groups, and whether each was given."""
        names = [name for name, role in ROLES.items() if role.groups and name != "imputation"]
        return {_typed(name): bool(self[name]) for name in names}

    @property
    def scale(self) -> Scale:
        """What scores are written as."""
        return self.request().as_written

    def request(
        self, *, others: Sequence[tuple[str, str]] = (), needs_outcomes: bool = True, **columns: Any
    ) -> Request:
        """What was said of the file, for its reader.

        Parameters
        ----------
        others : sequence of (str, str)
            Columns of several predictions, each behind the option that named it.
        **columns : str or None
            Columns in place of those that were typed.
        """
        from bayescal.data.columns import Columns, Door, Request

        names = (*ROLES, *OF_TABLE)
        named = {name: self[name] for name in names if name != "subgroup"} | columns
        of_times = self["time"] is not None
        return Request(
            self.file,
            Columns(**named, subgroup=self.subgroups),
            others={name: option for option, name in others},
            pos_label=None if of_times else self.positive,
            weight_type=self["weight_type"],
            cause=self.positive if of_times else None,
            censored=self["censored"],
            every=self["every"],
            scale=self["scale"] or "probability",
            drop_missing=bool(self["drop_missing"]),
            needs_outcomes=needs_outcomes,
            ignore=tuple(self["ignore_column"] or ()),
            independent=bool(self["independent"]) or "independent" not in self.takes,
            encoding=self["encoding"],
            sheet=self["sheet"],
            asks=tuple(name for name in ROLES if name in self.takes),
            door=Door(*COMMAND_LINE),
        )

    @property
    def source(self) -> dict[str, str]:
        """What scores are written as, for the record; nothing for probabilities."""
        return {"scale": self.scale.name} if self["scale"] is not None else {}


class Times(NamedTuple):
    """Times to an event, as they were typed.

    Attributes
    ----------
    time, event : str
        Their columns.
    entry : str or None
    horizons : tuple of float
    probs : tuple of str
        Columns of the risks by several horizons; empty of one.
    cause : str or None
        What the event is written as.
    """

    time: str
    event: str
    entry: str | None
    horizons: tuple[float, ...]
    probs: tuple[str, ...]
    cause: str | None

    @property
    def one_horizon(self) -> float:
        """The horizon, for a command that takes one."""
        (at,) = self.horizons
        return at

    def by(self, at: float) -> str:
        """By when the event came: `by 5 years`, or `by 5 (column t)` if its name is no unit."""
        unit = self.time.strip().lower().removesuffix("s")
        if unit not in UNITS_OF_TIME:
            return f"by {at:g} (column {shortened(self.time)})"
        return f"by {at:g} {unit}{'' if at == 1 else 's'}"

    @classmethod
    def of(cls, reading: Reading, *, takes_several: bool = False) -> Times | None:
        """The options as they were typed; None without times.

        Parameters
        ----------
        takes_several : bool
            Whether the command takes several horizons.
        """
        if reading["time"] is None:
            if reading["event"] is not None:
                raise InputError(
                    "--event goes with --time: it is the column of what ended the time. The value "
                    f"of the outcome that is the event is named with --positive {reading['event']}."
                )
            for name in ("entry", "horizon", "censored"):
                if reading[name]:
                    raise InputError(f"--{name} goes with --time, the column of times to an event.")
            if reading["scale"] == "survival":
                raise InputError("--scale survival goes with --time, the column of times.")
            return None
        if reading["event"] is None:
            raise InputError(
                "--event is missing: with --time it names the column of what ended the time: 1 the "
                "event, 0 the case left, 2, 3, ... a competing event, or words."
            )
        if reading["horizon"] is None:
            raise InputError(
                "--horizon is missing: with --time the scores are risks of the event by some time. "
                "Name it in the units of the times, such as --horizon 5."
            )
        if reading["outcome"] is not None:
            raise InputError("--outcome does not go with --time. Leave it out.")
        horizons = _as_horizons(reading["horizon"])
        if len(horizons) > 1 and not takes_several:
            raise InputError(
                f"--horizon names {len(horizons)} horizons, and an assessment alone takes several. "
                "Name one."
            )
        for name, given in (reading.groups | {"--imputation": reading["imputation"]}).items():
            if given and len(horizons) > 1:
                raise InputError(
                    f"{name} does not go with several horizons. Name one, such as "
                    f"--horizon {horizons[0]:g}."
                )
        probs = _columns_of(reading["prob"], horizons) if len(horizons) > 1 else ()
        used = (reading["time"], reading["event"], reading["entry"])
        return cls(*used, horizons, probs, reading.positive)

    def remarks(self, outcome: Survival) -> list[str]:
        """What may be wrong where everything happens after the horizon."""
        late = outcome.event.any() and (outcome.time > max(self.horizons)).all()
        first, last = outcome.time.min(), outcome.time.max()
        told = (
            f"no event comes by {max(self.horizons):g}, and "
            f"{count(int(outcome.event.sum()), 'event')} later; times in column "
            f"{shortened(self.time)} run from {first:g} to {last:g}. --horizon is in the units of "
            "these times: if they are days, 5 years are --horizon 1826."
        )
        return [told] if late else []


def _as_horizons(typed: str) -> tuple[float, ...]:
    """The horizons as they were typed, such as 5 or 1,3,5."""
    horizons = []
    for part in typed.split(","):
        try:
            horizons.append(float(part))
        except ValueError:
            raise InputError(
                f"--horizon {typed}: {part.strip()!r} is no number. Type one time, such as "
                "--horizon 5, or several with commas between, such as --horizon 1,3,5."
            ) from None
    return tuple(horizons)


def _columns_of(typed: str | None, horizons: tuple[float, ...]) -> tuple[str, ...]:
    """The columns of the risks by several horizons."""
    size = len(horizons)
    example = ",".join(f"r{at:g}" for at in horizons)
    if typed is None:
        raise InputError(
            f"--prob is missing: with {size} horizons it names a column of risks for each, in "
            f"their order, such as --prob {example}."
        )
    names = tuple(part.strip() for part in typed.split(","))
    if len(names) != size:
        told = ", ".join(f"{at:g}" for at in horizons)
        raise InputError(
            f"--prob names {count(len(names), 'column')} and --horizon {size} times ({told}). "
            f"Name a column for each time, in their order, such as --prob {example}."
        )
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--prob names the column {name!r} twice. Name one for each time.")
    return names


class Predictions(NamedTuple):
    """Predictions and outcomes, read from a file.

    Attributes
    ----------
    event : str
        The label that counts as the event.
    """

    data: CalibrationData
    cases: Cases
    event: str
    reading: Reading

    @property
    def columns(self) -> Columns:
        """Which column holds what."""
        return self.cases.columns

    @property
    def path(self) -> Any:
        """The file."""
        return self.reading.file

    @property
    def title(self) -> str:
        """Of what it is told: the score, the file and the outcome."""
        of = self.columns.outcome or self.columns.event
        title = f"{shortened(self.columns.prob)} in {shortened(self.path.name)}, "
        title += f"outcome {shortened(of)}"
        return title if self.event == "1" else f"{title} is {shortened(self.event)}"

    @property
    def lines(self) -> Iterator[str]:
        """Why these columns were taken, how they were read, and what was left out."""
        cases, columns, scale = self.cases, self.columns, self.reading.scale
        if cases.reasons:
            told = "; ".join(
                f"{shortened(getattr(columns, role))} as the {OF_WORDS[role]} ({reason})"
                for role, reason in cases.reasons.items()
            )
            yield f"Taken without being named: {told}."
        if cases.dropped:
            yield f"{cases.dropped} of {cases.rows} rows left out: a value is missing."
        if scale.name != "probabilities":
            scores = self.data.score
            yield (
                f"Scores are read as {scale.name}; as probabilities they run from "
                f"{scores.min():.3g} to {scores.max():.3g}."
            )
        m = len(self.data.imputations)
        if columns.sample_weight is not None:
            yield about_weights(self.data, len(cases.at) // max(1, m))
        if m:
            of = shortened(str(columns.imputation))
            yield f"{m} imputations of {count(round(self.data.n), 'case')} (column {of})."
        if cases.original:
            yield (
                f"{count(cases.original, 'row')} of imputation 0 left out: values are missing "
                "there, as in the data before imputation."
            )

    @property
    def source(self) -> dict[str, Any]:
        """Where the data came from, for the record."""
        told = {
            "file": str(self.path),
            "event": self.event,
            "rows_read": self.cases.rows,
            "rows_dropped": self.cases.dropped,
            **self.columns.told,
            "weight_type": self.columns.sample_weight and self.data.weight_type,
        }
        if self.data.imputations:
            told["imputations"] = len(self.data.imputations)
        if self.data.follow_up is not None:
            told["horizon"] = self.data.follow_up.horizon
        return told | self.reading.source


OF_WORDS = {"outcome": "outcome", "prob": "score"}


def labels_of(cases: Cases, role: str) -> Any:
    """The labels of a role, one of each case; None without it."""
    labels = cases.roles.get(role)
    values: Callable[[], Any] | None = getattr(labels, "values", None)
    return labels if values is None else values()


def about_weights(data: CalibrationData, rows: int) -> str:
    """How the weights of a table are read, which had so many rows, in a sentence."""
    if data.weight_type != "sampling":
        return f"The weights are counts, {count(data.n, 'case')} in all."
    return (
        f"The weights are sampling weights of {count(rows, 'case')}, worth "
        f"{data.sampling_size:,.1f} (Kish's effective size)."
    )


def read_from(reading: Reading, times: Times | None = None, **options: Any) -> Cases:
    """The cases of a file; options as of `Reading.request`."""
    from bayescal.cli.terminal import working
    from bayescal.data.reading import read_cases

    if times is not None and times.probs:
        options |= {"prob": times.probs[0], "others": [("prob", name) for name in times.probs]}
    request = reading.request(**options)
    if times is not None and len(times.horizons) == 1:
        request = replace(request, horizon=times.one_horizon)
    with working(f"Reading {reading.file}"):
        cases = read_cases(request)
    if times is not None:
        cases = replace(cases, remarks=(*cases.remarks, *times.remarks(cases.outcome)))
    return cases


def read_predictions(reading: Reading, times: Times | None = None) -> Predictions:
    """Read a file of one row per case."""
    return predictions_of(read_from(reading, times), reading, times)


def predictions_of(cases: Cases, reading: Reading, times: Times | None = None) -> Predictions:
    """The table of cases that were read."""
    from bayescal.data.table import CalibrationData

    with checked(cases):
        data = CalibrationData(**cases.given, **cases.request.of_table)
    event = reading.positive or "1"
    if times is not None:
        event = f"{times.cause or 1} {times.by(times.one_horizon)}"
    return Predictions(data, cases, event, reading)


@contextmanager
def checked(cases: Cases, prob: str | None = None, **others: str | None) -> Iterator[None]:
    """Tell faults in cases by the column and the place; ask what weights are, where it matters.

    Parameters as of `Cases.worded`.
    """
    with warnings.catch_warnings(), cases.worded(prob, **others):
        warnings.simplefilter("error", WeightWarning)
        warnings.simplefilter("ignore", LabelWarning)  # one of the two classes may be absent
        try:
            yield
        except WeightWarning as warning:
            raise InputError(
                f"{cases.columns.called('sample_weight')} holds whole numbers that can be "
                f"{warning.types}. Say which they are with --weight-type counts or --weight-type "
                "sampling."
            ) from None
