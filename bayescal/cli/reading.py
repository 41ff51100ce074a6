"""Options that say what a file holds, made from the declared roles, and what is read by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

import typer

from bayescal.core.errors import InputError, LabelWarning, WeightWarning
from bayescal.core.text import count, shortened
from bayescal.data.columns import OF_TABLE, ROLES

if TYPE_CHECKING:
    from rich.console import Console

    from bayescal.data.columns import Columns, Request, Scale
    from bayescal.data.reading import Cases
    from bayescal.data.table import CalibrationData
    from bayescal.data.times import Survival

__all__ = [
    "CLUSTERS", "GROUPS", "OF_TIMES", "Predictions", "Reading", "Times", "about_weights", "checked",
    "read_from", "read_predictions", "reads",
]  # fmt: skip

CLUSTERS = ("cluster", "stratum")
OF_ROWS = (*CLUSTERS, "imputation", "independent", "ignore_column")
GROUPS = ("site", "period", "every", "subgroup", *OF_ROWS)
OF_TIMES = ("time", "event", "entry", "horizon", "cause", "censored", "survival")
UNITS_OF_TIME = ("second", "minute", "hour", "day", "week", "month", "year")
"""Words that a column of times may be called by; in the plural, too."""

FILE = Annotated[
    Path,
    typer.Argument(
        help="Predictions: CSV (also .tsv, .txt, .gz), Excel (.xlsx), SPSS (.sav), Stata (.dta), "
        "SAS (.sas7bdat, .xpt), JSON lines (.jsonl), Parquet, or a folder of Parquet files."
    ),
]


TYPED = {"pos_label": "positive", "ignore": "ignore-column"}
"""Options that are spelt differently from the argument in Python."""


def _typed(name: str, value: Any = None) -> str:
    """An option as it is typed, perhaps with its value."""
    if name == "scale":
        return f"--{value}"
    option = f"--{TYPED.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return option
    from bayescal.cli._terminal import as_command

    return f"{option} {as_command([str(value)])}"


def _column(name: str) -> Any:
    """The option that names the column of a role; of labels a second one is not overlooked."""
    role = {**ROLES, **OF_TABLE}[name]
    text = f"Column: {role.line[0].lower()}{role.line[1:]}{MORE.get(name, '')}"
    kind: Any = list[str] | None if name in ROLES else str | None
    return Annotated[kind, typer.Option(_typed(name), metavar="COLUMN", help=text)]


def _value(text: str) -> Any:
    return Annotated[str | None, typer.Option(help=text)]


def _flag(name: str, text: str, *, hidden: bool = False) -> Any:
    return Annotated[bool, typer.Option(name, metavar=" ", help=text, hidden=hidden)]


GUESSED = " Not needed if only one column fits."
MORE = {
    "outcome": GUESSED,
    "prob": GUESSED,
    "subgroup": " Repeat it: --subgroup sex --subgroup age.",
    "time": " Needs --event and --horizon.",
}
ROLE_OPTIONS: dict[str, Any] = {
    name: _column(name) for name in dict.fromkeys(("outcome", "prob", *ROLES, *OF_TABLE))
} | {
    "positive": _value("Value of the outcome that is the event, if outcomes are not 0 and 1."),
    "weight_type": _value(
        "counts: weights are numbers of cases. sampling: they correct for how cases were sampled. "
        "Needed if the type is not clear from the data."
    ),
    "every": _value("With --period, dates: take them by week, month, quarter or year."),
    "horizon": _value(
        "With --time: by when the scores are risks of the event, in its units. Several are typed "
        "as 1,3,5, beside --prob r1,r3,r5, a column for each."
    ),
    "cause": _value("With --time: code or word of the event in --event, if it is not 1."),
    "censored": _value(
        "With --time: code or word in --event of a case that left, if it is not 0. Of two words, "
        "the one that --cause does not name."
    ),
    "survival": _flag(
        "--survival",
        "With --time: scores are probabilities of survival to the horizon, one minus the risk.",
    ),
    "drop_missing": _flag("--drop-missing", "Leave out rows with a missing value."),
    "independent": _flag("--independent", "Cases are independent, though ids repeat."),
    "ignore_column": Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of hospitals, dates or ids that does not matter, so that nobody asks what "
            "it means. Repeat it for several.",
        ),
    ],
    "logit": _flag("--logit", "Scores are log-odds."),
    "percent": _flag("--percent", "Scores are percentages, with or without the sign."),
    "encoding": _value(
        "Encoding of text files, such as latin-1 or cp1252. By default UTF-8, or UTF-16 if the "
        "file starts with its byte order mark."
    ),
    "sheet": _value("Sheet of an Excel workbook. By default the only one that is not empty."),
}
ALWAYS = (
    "outcome", "prob", "positive", "sample_weight", "weight_type", "drop_missing", "logit",
    "percent", "encoding", "sheet",
)  # fmt: skip
"""Options of every command that reads predictions."""


def _missing(path: Any, columns: Columns) -> str:
    from bayescal.cli._terminal import as_command

    named = ["--outcome", str(columns.outcome), "--prob", str(columns.prob)]
    return as_command(["bayescal", "missing", str(path), *named])


COMMAND_LINE = (_typed, "bayescal compare-models", "bayescal missing", _missing)
"""A `Door` of the reader."""


def reads(
    *takes: str, hides: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command whose first parameter is a `Reading` the options of it that it takes.

    Parameters
    ----------
    hides : sequence of str
        Flags that its help does not show, since it refuses them.
    """
    options = ROLE_OPTIONS | {name: _flag(_typed(name), "", hidden=True) for name in hides}
    names = [name for name in ROLE_OPTIONS if name in (*ALWAYS, *takes)]

    def given_to(command: Callable[..., None]) -> Callable[..., None]:
        first, *others = signature(command).parameters
        hints = get_type_hints(command, include_extras=True)
        own = signature(command).parameters

        @wraps(command)
        def run(**given: Any) -> None:
            typed = {name: given.pop(name) for name in names}
            command(**{first: Reading(given.pop("file"), typed, takes)}, **given)

        def shown(name: str, kind: Any, default: Any) -> Parameter:
            return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)

        parameters = [shown("file", FILE, Parameter.empty)]
        parameters += [
            shown(name, options[name], False if name in FLAGS else None) for name in names
        ]
        parameters += [shown(name, hints[name], own[name].default) for name in others]
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return given_to


SCALES = ("logit", "percent", "survival")
FLAGS = ("drop_missing", "independent", *SCALES)


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
    takes: tuple[str, ...] = GROUPS

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        for name in ROLES:
            given = self.typed.get(name)
            if name != "subgroup" and isinstance(given, (list, tuple)) and len(given) > 1:
                several = " Name several subgroups with --subgroup." * (name == "site")
                raise InputError(f"{_typed(name)} is one column, and was given twice.{several}")
        scales = [name for name in SCALES if self.typed.get(name)]
        if len(scales) > 1:
            raise InputError(
                f"--{scales[0]} and --{scales[1]} exclude each other: name one scale of scores."
            )
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
        self, *, others: Sequence[tuple[str, str]] = (), keeps_unknown: bool = False, **columns: Any
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

        named = {name: self[name] for name in (*ROLES, *OF_TABLE)} | {"subgroup": self.subgroups}
        as_typed = ("weight_type", "cause", "censored", "every", "encoding", "sheet")
        scales = [name for name in SCALES if self.typed.get(name)]
        return Request(
            self.file,
            Columns(**(named | columns)),
            others={name: option for option, name in others},
            pos_label=self.positive,
            scale=scales[0] if scales else "probability",
            drop_missing=bool(self["drop_missing"]),
            keeps_unknown=keeps_unknown,
            ignore=tuple(self["ignore_column"] or ()),
            independent=bool(self["independent"]) or "independent" not in self.takes,
            asks=tuple(name for name in ROLES if name in self.takes),
            door=Door(*COMMAND_LINE),
            **{name: self[name] for name in as_typed},
        )

    @property
    def words(self) -> list[str]:
        """The options that say how the file is written, as they are typed."""
        named = [name for name in ("encoding", "sheet") if self[name] is not None]
        words = [word for name in named for word in (f"--{name}", self[name])]
        return [*words, *(f"--{name}" for name in SCALES if self[name])]

    @property
    def source(self) -> dict[str, str]:
        """What scores are written as, for the record; nothing for probabilities."""
        name = self.scale.name
        return {"scale": name} if name != "probabilities" else {}


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
    def of(
        cls, reading: Reading, update: Path | None = None, *, takes_several: bool = False
    ) -> Times | None:
        """The options as they were typed; None without times.

        Parameters
        ----------
        update : Path, optional
            A running table, which has no times.
        takes_several : bool
            Whether the command takes several horizons.
        """
        if reading["time"] is None:
            if reading["event"] is not None:
                raise InputError(
                    "--event goes with --time: it is the column of what ended the time. The value "
                    f"of the outcome that is the event is named with --positive {reading['event']}."
                )
            for name in ("entry", "horizon", "cause", "censored", "survival"):
                if reading[name]:
                    raise InputError(f"--{name} goes with --time, the column of times to an event.")
            return None
        for name, why in NEEDED_WITH_TIME.items():
            if reading[name] is None:
                raise InputError(f"--{name} is missing: with --time {why}")
        others = {"--outcome": reading["outcome"], "--update": update}
        others["--positive"] = reading.positive
        for name, value in others.items():
            if value:
                cause = " Name the event with --cause." * (name == "--positive")
                raise InputError(f"{name} does not go with --time.{cause}")
        horizons = _as_horizons(reading["horizon"])
        if len(horizons) > 1:
            if not takes_several:
                raise InputError(
                    f"--horizon names {len(horizons)} horizons, and bayescal assess alone takes "
                    "several. Name one."
                )
            for name, given in (reading.groups | {"--imputation": reading["imputation"]}).items():
                if given:
                    raise InputError(
                        f"{name} does not go with several horizons. Name one, such as "
                        f"--horizon {horizons[0]:g}."
                    )
        probs = _columns_of(reading["prob"], horizons) if len(horizons) > 1 else ()
        used = (reading["time"], reading["event"], reading["entry"])
        return cls(*used, horizons, probs, reading["cause"])

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


NEEDED_WITH_TIME = {
    "event": "it names the column of what ended the time: 1 the event, 0 the case left, 2, 3, ... "
    "a competing event, or words.",
    "horizon": "the scores are risks of the event by some time. Name it in the units of the times, "
    "such as --horizon 5.",
}


def _as_horizons(typed: str) -> tuple[float, ...]:
    """The horizons as they were typed, such as 5 or 1,3,5."""
    parts = [part.strip() for part in typed.split(",")]
    for part in parts:
        try:
            float(part)
        except ValueError:
            raise InputError(
                f"--horizon {typed}: {part!r} is no number. Type one time, such as "
                "--horizon 5, or several with commas between, such as --horizon 1,3,5."
            ) from None
    return tuple(map(float, parts))


def _columns_of(typed: str | None, horizons: tuple[float, ...]) -> tuple[str, ...]:
    """The columns of the risks by several horizons."""
    size, names = len(horizons), tuple(part.strip() for part in (typed or "").split(","))
    example = f"such as --prob {','.join(f'r{at:g}' for at in horizons)}"
    if typed is None:
        raise InputError(
            f"--prob is missing: with {size} horizons it names a column of risks for each, in "
            f"their order, {example}."
        )
    if len(names) != size:
        told = ", ".join(f"{at:g}" for at in horizons)
        raise InputError(
            f"--prob names {count(len(names), 'column')} and --horizon {size} times ({told}). "
            f"Name a column for each time, in their order, {example}."
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

    def introduce(self, console: Console, what: str) -> None:
        """Say what is assessed, why these columns were taken, and what was left out."""
        from bayescal.cli._terminal import say

        cases, columns, scale = self.cases, self.columns, self.reading.scale
        of, m = shortened(columns.outcome or columns.event), len(self.data.imputations)
        say(
            console,
            f"{what} of {shortened(columns.prob)} as the probability that {of} is "
            f"{shortened(self.event)} ({shortened(self.path.name)})",
            "bold",
        )
        if cases.reasons:
            told = "; ".join(
                f"{shortened(getattr(columns, role))} as the {OF_WORDS[role]} ({reason})"
                for role, reason in cases.reasons.items()
            )
            say(console, f"Taken without being named: {told}.", "dim")
        lines = []
        if cases.dropped:
            lines += [f"{cases.dropped} of {cases.rows} rows left out: a value is missing."]
        if scale.name != "probabilities":
            least, most = self.data.score.min(), self.data.score.max()
            lines += [
                f"Scores are read as {scale.name}; as probabilities they run from {least:.3g} to "
                f"{most:.3g}."
            ]
        if columns.sample_weight is not None:
            lines += [about_weights(self.data, len(cases.at) // max(1, m))]
        if m:
            named = f"column {shortened(str(columns.imputation))}"
            lines += [f"{m} imputations of {count(round(self.data.n), 'case')} ({named})."]
        if cases.original:
            lines += [
                f"{count(cases.original, 'row')} of imputation 0 left out: values are missing "
                "there, as in the data before imputation."
            ]
        for line in lines:
            say(console, line)

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
    """The cases of a file, with notes on what was read; options as of `Reading.request`."""
    from bayescal.cli._notes import noted
    from bayescal.cli._progress import working
    from bayescal.cli._terminal import STDOUT, note, output
    from bayescal.data.reading import read_cases

    if times is not None and times.probs:
        options |= {"prob": times.probs[0], "others": [("prob", name) for name in times.probs]}
    request = reading.request(**options)
    if times is not None and len(times.horizons) == 1:
        request = replace(request, horizon=times.one_horizon)

    def remark(text: str) -> None:
        note(output(STDOUT), text)

    with working(f"Reading {reading.file}"), noted(remark):
        cases = read_cases(request)
    for text in cases.remarks:
        remark(text)
    if times is not None:
        for text in times.remarks(cases.outcome):
            remark(text)
    return cases


def read_predictions(reading: Reading, times: Times | None = None) -> Predictions:
    """Read a file of one row per case."""
    from bayescal.data.table import CalibrationData

    cases = read_from(reading, times)
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
    from bayescal.cli._notes import noted
    from bayescal.cli._terminal import STDOUT, note, output

    with warnings.catch_warnings(), cases.worded(prob, **others):
        warnings.simplefilter("error", WeightWarning)
        warnings.simplefilter("ignore", LabelWarning)  # one of the two classes may be absent
        try:
            with noted(lambda text: note(output(STDOUT), text)):
                yield
        except WeightWarning as warning:
            raise InputError(
                f"{cases.columns.called('sample_weight')} holds whole numbers that can be "
                f"{warning.types}. Say which they are with --weight-type counts or --weight-type "
                "sampling."
            ) from None
