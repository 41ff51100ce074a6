"""What is done with one file: look at its columns, assess it, write the report.

Nothing here needs a server, a thread or another process: `work` alone speaks with one.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields, replace
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError
from bayescal.data.columns import Columns, Door, Request
from bayescal.data.files import Upload

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import pandas as pd

    from bayescal.core.page import Page
    from bayescal.data.reading import Cases
    from bayescal.report import Assessment

__all__ = ["ROLE_WORDS", "Answer", "Desk", "columns_of", "work"]

# What a column may be, as the page calls it.
ROLE_WORDS = {
    "": "Not used",
    "outcome": "Outcome",
    "prob": "Prediction, 0 to 1",
    "percent": "Prediction, per cent",
    "logit": "Prediction, log-odds",
    "survival": "Survival, 0 to 1",
    "site": "Hospital or site",
    "period": "Date or period",
    "cluster": "Patient id",
    "subgroup": "Subgroup",
    "sample_weight": "Weight",
    "imputation": "Imputation number",
    "time": "Time",
    "event": "What ended the time",
    "entry": "Time of entry",
}
SCALE_WORDS = {
    "prob": "probability",
    "percent": "percent",
    "logit": "logit",
    "survival": "survival",
}
SEVERAL = ("subgroup", "ignore")
# What else the page asks, as it calls it.
FIELDS = {
    "independent": "Rows are independent, though ids repeat",
    "drop_missing": "Leave out rows with a missing value",
    "every": "Dates are taken by",
    "weight_type": "Weights are",
    "horizon": "Predictions are for the time until",
    "cause": "Code of the event",
    "censored": "Code of leaving",
    "encoding": "Encoding of the text",
    "sheet": "Sheet of the workbook",
}
# Columns on the page; those with a role come first, and each other can be asked for.
MOST_PREVIEWED = 30
ROWS_SHOWN = 10
LONGEST_CELL = 40
# Values of an outcome, of which one is chosen as the event.
MOST_EVENTS = 10


class Answer(NamedTuple):
    """What an assessment gave: the report as HTML, all numbers as JSON, and what the page shows."""

    page: str
    record: str
    told: dict[str, Any]


def work(connection: Connection) -> None:
    """Do what is asked, one thing after the other, until nobody asks any more."""
    import_module("bayescal.report")  # now, so that the first answer does not wait for it

    desk = Desk()
    while True:
        try:
            asked, of = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                told = desk.open(*of) if asked == "open" else getattr(desk, asked)(of)
        except InputError as error:
            connection.send(("error", str(error)))
        except MemoryError:
            connection.send(("ends", "This table needs more memory than there is."))
            return  # an allocator gives nothing back; a new process starts small
        except Exception as error:  # the page says so; a worker that ends says nothing
            connection.send(("error", f"This is a fault of bayescal, please report it: {error!r}."))
        else:
            connection.send(("told", told))


@dataclass
class Desk:
    """One file with the answers that were given of it.

    What is said of the file is a mapping: `columns`, the role of each column that a person has
    chosen; `positive`, the value that is the event; the further fields of the page; `limit`, and
    `thresholds`.
    """

    upload: Upload | None = None
    _first: tuple[float | None] | None = None
    """The limit with which the file was assessed first; each other one was set after a result."""
    _made: tuple[dict[str, Any], Assessment, Cases] | None = None

    def open(
        self, name: str, content: bytes, first: tuple[float | None] | None = None
    ) -> dict[str, Any]:
        """Take a file, and look at its columns."""
        self.upload, self._first, self._made = Upload(name, content), first, None
        return columns_of(self.upload)

    def look(self, choices: Mapping[str, Any]) -> dict[str, Any]:
        """What the columns may be, and all that is open."""
        return columns_of(self._file, choices)

    def answer(self, choices: Mapping[str, Any]) -> Answer:
        """The page of the assessment."""
        from bayescal.report.render import html, json_of

        page, cases = self._page(choices)
        asked = {"limit": _number(choices, "limit"), "thresholds": _risks(choices)}
        line = as_python(cases, {name: value for name, value in asked.items() if value})
        record = json.dumps(json_of(page), indent=2, allow_nan=False) + "\n"
        return Answer(html(page), record, {"headline": page.answer[0], "python": line})

    def word(self, choices: Mapping[str, Any]) -> bytes:
        """The same as a Word document."""
        from bayescal.report.word import word

        return word(self._page(choices)[0])

    @property
    def _file(self) -> Upload:
        if self.upload is None:
            raise InputError("there is no file yet. Choose one first.")
        return self.upload

    def _page(self, choices: Mapping[str, Any]) -> tuple[Page, Cases]:
        limit = _number(choices, "limit")
        rest = {name: choice for name, choice in choices.items() if name != "limit"}
        first = self._first or (limit,)
        if self._made is None or self._made[0] != rest:
            self._made = rest, *self._assessed(rest, first[0])
            self._first = first
        _, assessment, cases = self._made
        if limit != first[0]:
            assessment = assessment.with_limit(limit)
        told = {"Probability": cases.columns.prob} | cases.told
        source = {name.replace("_", " ").capitalize(): each for name, each in told.items()}
        page = assessment.page(source=source)
        return replace(page, notes=(*page.notes, *cases.remarks)), cases

    def _assessed(
        self, choices: Mapping[str, Any], limit: float | None
    ) -> tuple[Assessment, Cases]:
        """The assessment of a file, of which all is known."""
        from bayescal.data.reading import read_cases
        from bayescal.report import assess

        thresholds = _risks(choices)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = read_cases(_request(self._file, choices))
            return assess(cases.data, limit=limit, thresholds=thresholds), cases


def columns_of(upload: Upload, choices: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The first rows of a file, what each column may be and why, and all that is open."""
    from bayescal.data.reading import look

    _, made = look(_request(upload, choices or {}))
    frame, request, columns = made.frame, made.request, made.columns
    roles = {name: role for role, name in columns.named}
    if columns.prob is not None:
        roles[columns.prob] = {scale: role for role, scale in SCALE_WORDS.items()}[request.scale]
    reasons = {name: made.reasons.get(role, "") for role, name in columns.named}
    names = [str(name) for name in frame.columns]
    first = {*roles, _text(choices or {}, "shown")}
    shown = sorted(range(len(names)), key=lambda at: names[at] not in first)[:MOST_PREVIEWED]
    return {
        "file": upload.name,
        "roles": ROLE_WORDS,
        "rows": len(frame),
        "names": names,
        "columns": [
            {
                "name": names[at],
                "role": roles.get(names[at], ""),
                "reason": reasons.get(names[at], ""),
                "cells": [_cell(value) for value in frame.iloc[:ROWS_SHOWN, at].tolist()],
            }
            for at in sorted(shown)
        ],
        "events": _values(frame, columns.outcome),
        "positive": request.pos_label or "",
        "questions": [*made.questions, *_lacking(frame, request)],
    }


def _request(upload: Upload, choices: Mapping[str, Any]) -> Request:
    """What a person has said, as the reader takes it."""
    chosen = choices.get("columns") or {}
    if not isinstance(chosen, dict):
        raise InputError("columns must be an object.")
    named: dict[str, Any] = {name: [] for name in SEVERAL}
    scale = "probability"
    for column, role in chosen.items():
        if role not in list(ROLE_WORDS):
            raise InputError(f"column {column!r}: there is no role {role!r}.")
        if role in SCALE_WORDS:
            scale, role = SCALE_WORDS[role], "prob"
        if (role or "ignore") in SEVERAL:
            named[role or "ignore"].append(column)
        elif role in named:
            raise InputError(f"two columns are chosen as “{ROLE_WORDS[role]}”. Choose one.")
        else:
            named[role] = column
    ignored, subgroups = (tuple(named.pop(name)) for name in ("ignore", "subgroup"))
    texts = ("every", "weight_type", "cause", "censored", "encoding", "sheet")
    text: dict[str, Any] = {name: _text(choices, name) for name in texts}
    return Request(
        upload,
        Columns(**named, subgroup=subgroups),
        pos_label=_text(choices, "positive"),
        horizon=_number(choices, "horizon"),
        scale=scale,
        drop_missing=bool(choices.get("drop_missing")),
        independent=bool(choices.get("independent")),
        ignore=ignored,
        door=PAGE,
        **text,
    )


def _choice(name: str, value: Any = None) -> str:
    """What is chosen on the page, in its words."""
    if name == "pos_label":
        return "the event beneath “Outcome”" if value is None else f"“{value}”"
    if name in FIELDS:
        chosen = "" if value is None or value is True else f": {value}"
        return f"“{FIELDS[name]}”{chosen}"
    role = {"ignore": "", "scale": value}.get(name, name)
    above = "" if value is None or name == "scale" else f" above {value!r}"
    return f"“{ROLE_WORDS.get(role, role)}”{above}"


PAGE = Door(
    _choice, "In Python, bayescal.compare_models", "bayescal.fit_known, in Python,", shows=True
)


def _lacking(frame: pd.DataFrame, request: Request) -> list[str]:
    """Of rows that lack a value, what would be refused when the file is read."""
    from bayescal.data.reading import lacking

    kept = {request.columns.outcome} if request.keeps_unknown else set()
    needed = [name for name in request.columns.needed if name not in kept]
    lacks = {name: frame[name].isna().to_numpy(bool) for name in needed}
    if request.drop_missing or request.columns.imputation or not np.any([*lacks.values()]):
        return []
    return [f"{lacking(lacks)}. Fill them in, or choose {_choice('drop_missing')}."]


def _values(frame: pd.DataFrame, outcome: str | None) -> list[str]:
    """The values of the outcome, if they are few."""
    if outcome is None:
        return []
    few = frame[outcome].dropna().drop_duplicates().head(MOST_EVENTS + 1).tolist()
    return sorted({_cell(value).strip() for value in few}) if len(few) <= MOST_EVENTS else []


def _cell(value: Any) -> str:
    """A value as the table shows it."""
    if value is None or value != value:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def _text(choices: Mapping[str, Any], name: str) -> str | None:
    return str(choices.get(name) or "") or None


def _number(choices: Mapping[str, Any], name: str) -> float | None:
    typed = _text(choices, name)
    try:
        return None if typed is None else float(typed)
    except ValueError:
        raise InputError(f"{FIELDS.get(name, name)} must be a number, got {typed!r}.") from None


def _risks(choices: Mapping[str, Any]) -> list[Any]:
    """Risks from which a patient is treated, as they were typed: 0.1, 0.2."""
    typed = (_text(choices, "thresholds") or "").split(",")
    return [_number({"thresholds": each}, "thresholds") for each in typed if each.strip()]


def as_python(cases: Cases, options: Mapping[str, Any]) -> str:
    """The line of Python that gives the same numbers, in the folder of the file."""
    request, columns = cases.request, cases.columns
    choices: dict[str, Any] = {role: name for role, name in columns.named if role != "subgroup"}
    choices |= {"subgroup": columns.subgroup} if columns.subgroup else {}
    for option in fields(request):
        given = getattr(request, option.name)
        if option.name not in ("path", "columns", "others", "asks", "door"):
            choices |= {option.name: given} if given != option.default else {}
    read = "".join(f", {name}={value!r}" for name, value in choices.items())
    more = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"bc.assess(bc.read({str(request.path)!r}{read}){more})"
