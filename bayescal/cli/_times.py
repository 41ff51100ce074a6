"""Times to an event in a file: columns of time, event and entry, and the horizon."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.cli._cases import about_missing, as_numbers, as_probabilities, check_weight_type
from bayescal.cli._columns import check_column, choose_columns
from bayescal.cli._predictions import Predictions
from bayescal.cli._progress import working
from bayescal.cli.form import Form
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
    """

    time: str
    event: str
    entry: str | None
    horizon: float

    @classmethod
    def of(
        cls, *, time: str | None, event: str | None, entry: str | None, horizon: float | None,
        **others: Any,
    ) -> TimeColumns | None:  # fmt: skip
        """The columns as they were typed; None without times.

        Parameters
        ----------
        **others
            Options that do not go with times, by their names.
        """
        if time is None:
            for name, value in (("--entry", entry), ("--horizon", horizon)):
                if value is not None:
                    raise InputError(f"{name} goes with --time, the column of times to an event.")
            return None
        if event is None:
            raise InputError(
                "--event is missing: with --time it names the column that says whether the event "
                "(1) ended the time, or the case left (0)."
            )
        if horizon is None:
            raise InputError(
                "--horizon is missing: with --time the scores are risks of the event by some time. "
                "Name it in the units of the times, such as --horizon 5."
            )
        for name, value in others.items():
            if value:
                raise InputError(f"{name} does not go with --time.")
        return cls(time, event, entry, horizon)


def read_times(
    path: Path,
    columns: TimeColumns,
    *,
    score: str | None,
    weight: str | None,
    weight_type: str | None,
    drop_missing: bool,
    form: Form,
) -> Predictions:
    """Read a file of one row per case, with times to an event.

    Parameters
    ----------
    score, weight : str, optional
        Columns; the score is guessed where there is only one way to read them.
    weight_type : {"counts", "sampling"}, optional
    form : Form
        How the file is to be read.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder, and times to an event are read from one file.")
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        names = [str(name) for name in frame.columns]
        for option in ("time", "event", "entry"):
            named = getattr(columns, option)
            if named is not None:
                check_column(named, names, option)
        others = [name for name in (columns.time, columns.entry) if name is not None]
        chosen = choose_columns(
            frame.drop(columns=others), columns.event, score, weight, scale=form.scale
        )
        used = {"event": columns.event, "time": columns.time, "entry": columns.entry}
        used["weight"] = chosen.weight
        read = {
            what: as_numbers(frame[name], name, source)
            for what, name in used.items()
            if name is not None
        }
        risk = as_probabilities(frame[chosen.score], chosen.score, source, form.scale)
        missing = np.any([np.isnan(values) for values in (*read.values(), risk)], axis=0)
        if missing.any() and not drop_missing:
            needed = f"a value of {' or '.join(map(shortened, [*others, columns.event]))}, a score"
            raise InputError(about_missing(missing, f"{needed} or a weight", source))
        if missing.all():
            raise InputError(f"every row of {source.path} lacks a value.")
        kept = {what: values[~missing] for what, values in read.items()}
        told: Any = check_weight_type(weight, weight_type)
        outcome = Survival(kept["time"], kept["event"], kept.get("entry"))
        data = CalibrationData(
            outcome,
            risk[~missing],
            kept.get("weight"),
            horizon=columns.horizon,
            weight_type=told,
        )
    event = f"1 by {columns.time} {columns.horizon:g}"
    return Predictions(data, chosen, event, int(missing.sum()), len(frame), path, form)
