"""What was typed of a file: which column holds what, and how it is read by that."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal.core.errors import InputError, LabelWarning, WeightWarning
from bayescal.core.text import count, shortened
from bayescal.data.columns import OF_TABLE, ROLES

if TYPE_CHECKING:
    from bayescal.data.columns import Columns, Request
    from bayescal.data.reading import Cases
    from bayescal.data.table import CalibrationData
    from bayescal.data.times import Survival

__all__ = [
    "Predictions",
    "by",
    "checked",
    "labels_of",
    "read_from",
    "read_predictions",
    "request_of",
    "written",
]

# Words that a column of times may be called by; in the plural, too.
UNITS_OF_TIME = ("second", "minute", "hour", "day", "week", "month", "year")
# Options that may be given several times.
REPEATED = ("subgroup", "ignore_column")
OPTIONS = (
    *("positive", "weight_type", "horizon", "censored", "every", "scale", "drop_missing"),
    *("ignore_column", "independent", "encoding", "sheet"),
)
# Options that are spelt differently from the argument in Python.
TYPED = {"pos_label": "positive", "cause": "positive", "ignore": "ignore-column"}


def _typed(name: str, value: Any = None) -> str:
    """An option as it is typed, perhaps with its value."""
    from bayescal.cli.terminal import as_command

    option = f"--{TYPED.get(name, name).replace('_', '-')}"
    return option if value is None or value is True else f"{option} {as_command([str(value)])}"


def _keeping(path: Any, columns: Columns) -> str:
    from bayescal.cli.terminal import as_command

    named = ["--outcome", str(columns.outcome), "--prob", str(columns.prob)]
    return as_command(["bayescal", str(path), *named])


# A `Door` of the reader.
COMMAND_LINE = (_typed, "bayescal compare", "an empty cell", _keeping)


def request_of(
    file: Any,
    typed: Mapping[str, Any] | None = None,
    takes: tuple[str, ...] = (*ROLES, "independent"),
    *,
    several_horizons: bool = False,
) -> Request:
    """What was typed of a file of predictions; checked before the file is opened.

    Parameters
    ----------
    typed : mapping
        By option.
    takes : tuple of str
        Options that the command has.
    several_horizons : bool
        Whether it takes several horizons.
    """
    from bayescal.data.columns import Columns, Door, Request

    told: dict[str, Any] = dict.fromkeys([*ROLES, *OF_TABLE, *OPTIONS]) | dict(typed or {})
    for name, given in told.items():
        if isinstance(given, (list, tuple)) and name not in REPEATED:
            if len(given) > 1 and name in ROLES:
                several = " Name several subgroups with --subgroup." * (name == "site")
                raise InputError(f"{_typed(name)} is one column, and was given twice.{several}")
            told[name] = given[0] if given else None
    if told["cluster"] is not None and told["independent"]:
        raise InputError("--cluster and --independent contradict each other. Leave one out.")
    is_timed = told["time"] is not None
    horizons = _horizons(told, several_horizons=several_horizons) if is_timed else ()
    if not is_timed:
        _refuse_times(told)
    probs = _columns_of(told["prob"], horizons) if len(horizons) > 1 else (told["prob"],)
    named = {name: told[name] for name in (*ROLES, *OF_TABLE)} | {"prob": probs[0]}
    return Request(
        file,
        Columns(**named | {"subgroup": tuple(told["subgroup"] or ())}),
        others=dict.fromkeys(probs, "prob") if len(probs) > 1 else {},
        pos_label=None if is_timed else told["positive"],
        weight_type=told["weight_type"],
        horizon=horizons if len(horizons) > 1 else (*horizons, None)[0],
        cause=told["positive"] if is_timed else None,
        censored=told["censored"],
        every=told["every"],
        scale=told["scale"] or "probability",
        drop_missing=bool(told["drop_missing"]),
        needs_outcomes=True,
        ignore=tuple(told["ignore_column"] or ()),
        independent=bool(told["independent"]) or "independent" not in takes,
        encoding=told["encoding"],
        sheet=told["sheet"],
        asks=tuple(name for name in ROLES if name in takes),
        door=Door(*COMMAND_LINE),
    )


def by(request: Request, at: float) -> str:
    """By when the event came: `by 5 years`, or `by 5 (column t)` if its name is no unit."""
    column = str(request.columns.time)
    unit = column.strip().lower().removesuffix("s")
    if unit not in UNITS_OF_TIME:
        return f"by {at:g} (column {shortened(column)})"
    return f"by {at:g} {unit}{'' if at == 1 else 's'}"


def _refuse_times(told: Mapping[str, Any]) -> None:
    """Refuse options that go with times to an event."""
    if told["event"] is not None:
        raise InputError(
            "--event goes with --time: it is the column of what ended the time. The value "
            f"of the outcome that is the event is named with --positive {told['event']}."
        )
    for name in ("entry", "horizon", "censored"):
        if told[name]:
            raise InputError(f"--{name} goes with --time, the column of times to an event.")
    if told["scale"] == "survival":
        raise InputError("--scale survival goes with --time, the column of times.")


def _horizons(told: Mapping[str, Any], *, several_horizons: bool) -> tuple[float, ...]:
    """The horizons as they were typed, such as 5 or 1,3,5."""
    if told["event"] is None:
        raise InputError(
            "--event is missing: with --time it names the column of what ended the time: 1 the "
            "event, 0 the case left, 2, 3, ... a competing event, or words."
        )
    typed, horizons = told["horizon"], []
    if typed is None:
        raise InputError(
            "--horizon is missing: with --time the scores are risks of the event by some time. "
            "Name it in the units of the times, such as --horizon 5."
        )
    if told["outcome"] is not None:
        raise InputError("--outcome does not go with --time. Leave it out.")
    for part in typed.split(","):
        try:
            horizons.append(float(part))
        except ValueError:
            raise InputError(
                f"--horizon {typed}: {part.strip()!r} is no number. Type one time, such as "
                "--horizon 5, or several with commas between, such as --horizon 1,3,5."
            ) from None
    if len(horizons) == 1:
        return tuple(horizons)
    if not several_horizons:
        raise InputError(
            f"--horizon names {len(horizons)} horizons, and an assessment alone takes several. "
            "Name one."
        )
    for name, role in ROLES.items():
        if role.groups and told[name]:
            raise InputError(
                f"{_typed(name)} does not go with several horizons. Name one, such as "
                f"--horizon {horizons[0]:g}."
            )
    return tuple(horizons)


def _late(request: Request, outcome: Survival) -> list[str]:
    """What may be wrong where everything happens after the horizon."""
    several = isinstance(request.horizon, tuple)
    last = max(request.horizon) if several else request.horizon
    if not outcome.event.any() or not (outcome.time > last).all():
        return []
    return [
        f"no event comes by {last:g}, and {count(int(outcome.event.sum()), 'event')} later; times "
        f"in column {shortened(str(request.columns.time))} run from {outcome.time.min():g} to "
        f"{outcome.time.max():g}. --horizon is in the units of these times: if they are days, 5 "
        "years are --horizon 1826."
    ]


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

    @property
    def columns(self) -> Columns:
        """Which column holds what."""
        return self.cases.columns

    @property
    def request(self) -> Request:
        """What was typed."""
        return self.cases.request

    @property
    def path(self) -> Any:
        """The file."""
        return self.request.path

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
        cases, columns, scale = self.cases, self.columns, self.request.as_written
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
        return told | written(self.request)


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


def written(request: Request) -> dict[str, str]:
    """What scores are written as, for the record; nothing for probabilities."""
    return {} if request.scale == "probability" else {"scale": request.as_written.name}


def read_from(request: Request) -> Cases:
    """The cases of a file."""
    from bayescal.cli.terminal import working
    from bayescal.data.reading import read_cases

    with working(f"Reading {request.path}"):
        cases = read_cases(request)
    if request.columns.time is None:
        return cases
    return replace(cases, remarks=(*cases.remarks, *_late(request, cases.outcome)))


def read_predictions(request: Request) -> Predictions:
    """Read a file of one row per case."""
    cases = read_from(request)
    with checked(cases):
        data = cases.table()
    event = request.pos_label or "1"
    if request.horizon is not None:
        event = f"{request.cause or 1} {by(request, request.horizon)}"
    return Predictions(data, cases, event)


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
