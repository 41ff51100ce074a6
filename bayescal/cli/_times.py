"""Times to an event in a file: columns of time, event and entry, and the horizon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.cli._calendar import by_calendar
from bayescal.cli._cases import (
    Cases,
    about_missing,
    as_numbers,
    as_probabilities,
    in_file,
    role_of,
)
from bayescal.cli._codes import refuse_coded_scores
from bayescal.cli._columns import ask_about_ids, check_column, choose_columns
from bayescal.cli._ends import Ends
from bayescal.cli._notes import noted
from bayescal.cli._pairs import Pairs
from bayescal.cli._predictions import Predictions, Selected, without_original
from bayescal.cli._progress import working
from bayescal.cli._read import Source, TableFile
from bayescal.cli._terminal import STDOUT, note, output
from bayescal.cli.reading import TimedRowReading, TimeReading
from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.data.cases import check_scores
from bayescal.data.sources.columns import Columns
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival

__all__ = [
    "TimeColumns",
    "TimesRead",
    "read_horizons",
    "read_models_of_times",
    "read_timed_pairs",
    "read_times",
]

AnyTimeReading: TypeAlias = TimeReading | TimedRowReading
UNITS_OF_TIME = ("second", "minute", "hour", "day", "week", "month", "year")
"""Words that a column of times may be called by; in the plural, too."""


class TimeColumns(NamedTuple):
    """Columns of times to an event.

    Attributes
    ----------
    time, event : str
    entry : str or None
    horizons : tuple of float
    scores : tuple of str
        Columns of the risks by several horizons; empty of one.
    cause, censored : str or None
        What the event and a case that left are written as, as typed.
    options : tuple of str
        By which options the scores were named, where that is not --prob.
    """

    time: str
    event: str
    entry: str | None
    horizons: tuple[float, ...]
    scores: tuple[str, ...]
    cause: str | None
    censored: str | None = None
    options: tuple[str, ...] = ()

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
        cls, reading: AnyTimeReading, update: Path | None = None, *, takes_several: bool = False
    ) -> TimeColumns | None:
        """The columns as they were typed; None without times.

        Parameters
        ----------
        update : Path, optional
            A running table, which has no times.
        takes_several : bool
            Whether the command takes several horizons.
        """
        if reading.time is None:
            if reading.event is not None:
                raise InputError(
                    "--event goes with --time: it is the column of what ended the time. The value "
                    "of the outcome that is the event is named with --positive "
                    f"{reading.event}."
                )
            for name in ("entry", "horizon", "cause", "censored", "survival"):
                if getattr(reading, name) not in (None, False):
                    raise InputError(f"--{name} goes with --time, the column of times to an event.")
            return None
        if reading.event is None:
            raise InputError(
                "--event is missing: with --time it names the column of what ended the time: 1 the "
                "event, 0 the case left, 2, 3, ... a competing event, or words."
            )
        if reading.horizon is None:
            raise InputError(
                "--horizon is missing: with --time the scores are risks of the event by some time. "
                "Name it in the units of the times, such as --horizon 5."
            )
        others = {
            "--outcome": reading.outcome,
            "--positive": reading.positive,
            "--update": update,
        }
        for name, value in others.items():
            if value:
                cause = " Name the event with --cause." * (name == "--positive")
                raise InputError(f"{name} does not go with --time.{cause}")
        horizons = _as_horizons(reading.horizon)
        if len(horizons) > 1 and not takes_several:
            raise InputError(
                f"--horizon names {len(horizons)} horizons, and bayescal assess alone takes "
                "several. Name one."
            )
        of_cases: dict[str, Any] = dict(reading.groups)
        of_cases["--imputation"] = "imputation" in reading.roles
        for name, value in of_cases.items():
            if value and len(horizons) > 1:
                raise InputError(
                    f"{name} does not go with several horizons. Name one, such as "
                    f"--horizon {horizons[0]:g}."
                )
        scores = _score_columns(reading.prob, horizons) if len(horizons) > 1 else ()
        used = (reading.time, reading.event, reading.entry)
        return cls(*used, horizons, scores, reading.cause, reading.censored)


class TimesRead(NamedTuple):
    """Rows of a file in which nothing is missing.

    Attributes
    ----------
    outcome : Survival
    risks : list of ndarray
        One for each horizon.
    weight : ndarray or None
    columns : Columns
        With the first column of risks as score.
    roles : dict
        What the cases belong to.
    dropped, rows, original : int
        Rows left out, rows in all, and rows as they were before imputation, which are in neither.
    source : Source
    at : ndarray of int of shape (n,)
        Where each case stands in the file.
    """

    outcome: Survival
    risks: list[Any]
    weight: Any
    columns: Columns
    roles: dict[str, Any]
    dropped: int
    rows: int
    original: int
    source: Source
    at: NDArray[np.intp]


def read_times(reading: TimeReading, times: TimeColumns) -> Predictions:
    """Read a file of one row per case, with times to an event and risks by one horizon."""
    at = times.one_horizon
    made: list[CalibrationData] = []

    def make(read: TimesRead) -> None:
        told: Any = reading.weight_type
        cases = (read.outcome, read.risks[0], read.weight)
        made.append(CalibrationData(*cases, horizon=at, weight_type=told, **read.roles))

    read = _read(reading, times, make)
    event = f"{times.cause or 1} {times.by(at)}"
    data, form, path = made[0], reading.form(), reading.file
    size = (read.dropped, read.rows)
    columns = read.columns._replace(time=times.time, entry=times.entry)
    return Predictions(data, columns, event, *size, path, form, read.original)


def read_models_of_times(
    reading: TimedRowReading,
    times: TimeColumns,
    models: Sequence[str],
    use: Callable[[TimesRead], None],
) -> TimesRead:
    """Read a file with risks by several models by one horizon, and use its cases."""
    assert len(times.horizons) == 1
    return _read(reading, times._replace(scores=tuple(models)), use)


def read_horizons(
    reading: TimeReading, times: TimeColumns, use: Callable[[TimesRead], None]
) -> TimesRead:
    """Read a file with risks by several horizons, and use its cases.

    Parameters
    ----------
    use : callable
        What it says of the cases is told by column, line of the file and option.
    """
    return _read(reading, times, use)


def read_timed_pairs(
    reading: TimedRowReading, times: TimeColumns, before: str, after: str
) -> Pairs:
    """Read a file of one row per case, with times to an event and two columns of predictions."""
    if before == after:
        raise InputError(f"--before and --after name the same column, {before!r}. Name two.")
    at = times.one_horizon

    def check(read: TimesRead) -> None:
        told: Any = reading.weight_type
        for risks in read.risks:
            cases = (read.outcome, risks, read.weight)
            CalibrationData(*cases, horizon=at, weight_type=told, **read.roles)

    scores = {"before": before, "after": after}
    of_pairs = times._replace(scores=tuple(scores.values()), options=tuple(scores))
    read = _read(reading, of_pairs, check)
    given = {"y_true": read.outcome, "y_prob": read.risks[0], "sample_weight": read.weight}
    cases = Cases({**given, **read.roles}, {"after": read.risks[1]}, read.at, read.dropped)
    return Pairs(cases, read.columns, dict(scores), read.rows, read.source, reading)


def _read(
    reading: AnyTimeReading, times: TimeColumns, use: Callable[[TimesRead], None]
) -> TimesRead:
    path: TableFile = reading.file
    form = reading.form()
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load(labels=reading.labels)
    names = [str(name) for name in frame.columns]
    used = {"time": times.time, "event": times.event, "entry": times.entry}
    options = times.options or ("prob",) * len(times.scores)
    named_scores = [*zip(options, times.scores, strict=True)]
    for option, name in [*used.items(), *named_scores]:
        if name is not None:
            check_column(name, names, option)
    _refuse_shared(used, named_scores, reading)
    others = [name for name in (times.time, times.entry) if name is not None]
    of_event = replace(reading, outcome=times.event)
    if times.scores:
        of_event = replace(of_event, prob=times.scores[0])
    columns = choose_columns(frame.drop(columns=others), of_event, form.scale)
    scores = times.scores or (columns.prob,)
    ask_about_ids(frame, reading, [*columns.needed, *others, *scores])
    frame = by_calendar(frame, columns, reading, source)
    size, original = len(frame), 0
    if columns.imputation is not None:
        imputed = np.flatnonzero(without_original(frame, columns, source, form))
        original = size - imputed.size
        source, frame = Selected.of(source, imputed), frame.iloc[imputed]
    named = {what: name for what, name in used.items() if name is not None}
    if columns.sample_weight is not None:
        named["weight"] = columns.sample_weight
    read = {what: as_numbers(frame[name], source) for what, name in named.items()}
    for name in scores:
        refuse_coded_scores(frame[name], source, form.scale)
    risks = [as_probabilities(frame[name], source, form.scale) for name in scores]
    missing = frame[columns.labelled].isna().to_numpy(dtype=bool).any(axis=1)
    missing |= np.any([values != values for values in (*read.values(), *risks)], axis=0)
    if missing.any() and not reading.drop_missing:
        valued = [*others, times.event, *columns.labelled]
        needed = f"a value of {' or '.join(map(shortened, valued))}, a score"
        raise InputError(about_missing(missing, f"{needed} or a weight", source))
    if missing.all():
        raise InputError(f"every row of {source.path} lacks a value.")
    kept = {what: values[~missing] for what, values in read.items()}
    rows, of_cases = np.flatnonzero(~missing), frame[~missing]
    roles = columns.roles(lambda name: role_of(of_cases[name], is_time=name == columns.period))

    def about(score: str) -> AbstractContextManager[None]:
        told = columns._replace(
            prob=score, outcome=None, time=times.time, event=times.event, entry=times.entry
        )
        return in_file(told, lambda row: _line_of(source, int(rows[row])), form.scale)

    each = [values[~missing] for values in risks]
    for name, values in zip(scores, each, strict=True):
        with about(name):
            check_scores(values)
    ends = Ends.of(times.event, kept["event"], times.cause, times.censored)
    with about(scores[0]), noted(lambda text: note(output(STDOUT), text)):
        outcome = Survival(kept["time"], ends.codes, kept.get("entry"), cause=ends.cause)
        rows_told = (int(missing.sum()), size - original, original)
        cases = (outcome, each, kept.get("weight"), columns, roles)
        told = TimesRead(*cases, *rows_told, source, rows)
        use(told)
    if outcome.other.any():
        note(output(STDOUT), ends.in_words(outcome, is_told=times.cause is not None))
    if _all_late(outcome, max(times.horizons)):
        note(output(STDOUT), _about_units(outcome, times))
    return told


def _refuse_shared(
    used: dict[str, str | None], scores: list[tuple[str, str]], reading: AnyTimeReading
) -> None:
    """Refuse a column of times that is named for something else too, and a score named twice."""
    told = [each for each in (*scores, *reading.told) if each[0] != "ignore-column"]
    of_times = [(option, name) for option, name in used.items() if name is not None]
    for k, (option, name) in enumerate(of_times):
        for other, theirs in (*of_times[k + 1 :], *told):
            if name == theirs:
                raise InputError(
                    f"--{option} and --{other} name the same column, {name!r}. Name one for each."
                )
    risks = [name for _, name in scores]
    for option, name in scores:
        if risks.count(name) > 1:
            raise InputError(f"--{option} names the column {name!r} twice. Name one for each time.")


def _as_horizons(typed: str) -> tuple[float, ...]:
    """The horizons as they were typed, such as 5 or 1,3,5."""
    parts = [part.strip() for part in typed.split(",")]
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        raise InputError(
            f"--horizon {typed}: {next(part for part in parts if not _is_number(part))!r} is no "
            "number. Type one time, such as --horizon 5, or several with commas between, such as "
            "--horizon 1,3,5."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _score_columns(typed: str | None, horizons: tuple[float, ...]) -> tuple[str, ...]:
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
    return names


def _all_late(outcome: Survival, horizon: float) -> bool:
    """Whether all events come after the horizon, and nobody leaves before it."""
    return bool(outcome.event.any() and (outcome.time > horizon).all())


def _about_units(outcome: Survival, times: TimeColumns) -> str:
    """What may be wrong where everything happens after the horizon."""
    first, last = outcome.time.min(), outcome.time.max()
    return (
        f"no event comes by {max(times.horizons):g}, and "
        f"{count(int(outcome.event.sum()), 'event')} later; times in column "
        f"{shortened(times.time)} run from {first:g} to {last:g}. --horizon is in the units of "
        "these times: if they are days, 5 years are --horizon 1826."
    )


def _line_of(source: Source, row: int) -> str:
    return f"{source.where(row)} of {source.path}"
