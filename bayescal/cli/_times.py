"""Times to an event in a file: columns of time, event and entry, and the horizon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayescal._base.errors import InputError
from bayescal._base.text import count, shortened
from bayescal.cli._cases import about_missing, as_numbers, in_file, role_labels
from bayescal.cli._columns import ask_about_ids, check_column, choose_columns
from bayescal.cli._notes import noted
from bayescal.cli._predictions import Predictions
from bayescal.cli._progress import working
from bayescal.cli._read import Source, TableFile
from bayescal.cli._terminal import note, output
from bayescal.cli.reading import TimeReading
from bayescal.data.data import CalibrationData
from bayescal.data.survival import Survival

__all__ = ["TimeColumns", "read_times"]


class TimeColumns(NamedTuple):
    """Columns of times to an event.

    Attributes
    ----------
    time, event : str
    entry : str or None
    horizon : float
    cause : int or None
        The code of the event among several.
    """

    time: str
    event: str
    entry: str | None
    horizon: float
    cause: int | None

    @classmethod
    def of(cls, reading: TimeReading, update: Path | None = None) -> TimeColumns | None:
        """The columns as they were typed; None without times.

        Parameters
        ----------
        update : Path, optional
            A running table, which has no times.
        """
        if reading.time is None:
            for name in ("entry", "horizon", "cause", "survival"):
                if getattr(reading, name) not in (None, False):
                    raise InputError(f"--{name} goes with --time, the column of times to an event.")
            return None
        if reading.event is None:
            raise InputError(
                "--event is missing: with --time it names the column of what ended the time: 1 the "
                "event, 0 the case left, 2, 3, ... a competing event."
            )
        if reading.horizon is None:
            raise InputError(
                "--horizon is missing: with --time the scores are risks of the event by some time. "
                "Name it in the units of the times, such as --horizon 5."
            )
        others: dict[str, Any] = {
            f"--{role}": role in reading.roles for role in ("cluster", "imputation")
        }
        others |= {"--outcome": reading.outcome, "--update": update, "--judged": reading.judged}
        for name, value in others.items():
            if value:
                raise InputError(f"{name} does not go with --time.")
        return cls(reading.time, reading.event, reading.entry, reading.horizon, reading.cause)


def read_times(reading: TimeReading, times: TimeColumns) -> Predictions:
    """Read a file of one row per case, with times to an event."""
    path: TableFile = reading.file
    form = reading.form()
    if path.is_dir():
        raise InputError(f"{path} is a folder, and times to an event are read from one file.")
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        names = [str(name) for name in frame.columns]
        used = {"time": times.time, "event": times.event, "entry": times.entry}
        for option, name in used.items():
            if name is not None:
                check_column(name, names, option)
        others = [name for name in (times.time, times.entry) if name is not None]
        of_event = replace(reading, outcome=times.event, event=None)
        columns = choose_columns(frame.drop(columns=others), of_event, form.scale)
        ask_about_ids(frame, reading, [*columns.needed, *others])
        named = {what: name for what, name in used.items() if name is not None}
        if columns.weight is not None:
            named["weight"] = columns.weight
        read = {what: as_numbers(frame[name], source) for what, name in named.items()}
        read["risk"] = as_numbers(frame[columns.score], source, form.scale)
        missing = np.any([values != values for values in read.values()], axis=0)
        missing |= frame[columns.labelled].isna().to_numpy(dtype=bool).any(axis=1)
        if missing.any() and not reading.drop_missing:
            named_columns = map(shortened, [*others, times.event, *columns.labelled])
            needed = f"a value of {' or '.join(named_columns)}, a score"
            raise InputError(about_missing(missing, f"{needed} or a weight", source))
        if missing.all():
            raise InputError(f"every row of {source.path} lacks a value.")
        kept = {what: values[~missing] for what, values in read.items()}
        rows, of_cases = np.flatnonzero(~missing), frame[~missing]
        roles = columns.roles(
            lambda name: role_labels(of_cases[name], is_time=name == columns.period)
        )
        about = in_file(columns, lambda row: _line_of(source, int(rows[row])), form.scale)
        with about, noted(lambda text: note(output(), text)):
            outcome = Survival(kept["time"], kept["event"], kept.get("entry"), cause=times.cause)
            told: Any = reading.weight_type
            data = CalibrationData(
                *(outcome, kept["risk"], kept.get("weight")),
                horizon=times.horizon,
                weight_type=told,
                **roles,
            )
    if outcome.other.any():
        note(output(), _about_codes(outcome, times))
    event = f"{times.cause or 1} by {times.time} {times.horizon:g}"
    return Predictions(data, columns, event, int(missing.sum()), len(frame), path, form)


def _about_codes(outcome: Survival, times: TimeColumns) -> str:
    """What the codes of the events mean."""
    own = times.cause or 1
    cure = "" if times.cause else " If the event has another code, name it with --cause."
    return (
        f"{shortened(times.event)} holds codes: {own} is the event "
        f"({count(int(outcome.event.sum()), 'case')}), 0 a case that left, and any other number a "
        f"competing event, after which the event cannot come ({int(outcome.other.sum()):,}).{cure}"
    )


def _line_of(source: Source, row: int) -> str:
    return f"{source.where(row)} of {source.path}"
