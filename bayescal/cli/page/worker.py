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

from bayescal.cli.page.upload import Upload
from bayescal.core.errors import InputError, WeightWarning

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import pandas as pd

    from bayescal.core.page import Page
    from bayescal.data.columns import Request
    from bayescal.data.guesses import Guess
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
    """What an assessment gave.

    Attributes
    ----------
    page : str
        The report as HTML.
    record : str
        All numbers as JSON.
    told : dict
        What the page shows of it: the headline and the line of Python.
    """

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
        self.upload, self._first, self._made = None, first, None
        self.upload = Upload(name, content)
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
            self._made = rest, *_assessed(self._file, rest, first[0])
            self._first = first
        _, assessment, cases = self._made
        if limit != first[0]:
            assessment = assessment.with_limit(limit)
        columns = cases.columns
        source = {
            "File": self._file.name,
            "Probability": columns.prob,
            "Outcome": columns.outcome or columns.event,
            "Event": cases.request.pos_label or cases.request.cause or "1",
            "Rows read": cases.rows,
            "Rows dropped": cases.dropped,
        }
        page = assessment.page(source=source)
        return replace(page, notes=(*page.notes, *cases.remarks)), cases


def _assessed(
    upload: Upload, choices: Mapping[str, Any], limit: float | None
) -> tuple[Assessment, Cases]:
    """The assessment of a file, of which all is known."""
    from bayescal.data.reading import read_cases
    from bayescal.report import assess

    thresholds = _risks(choices)
    _, made, request = _guessed(upload, choices)
    made.answered()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", WeightWarning)
        try:
            cases = read_cases(request)
            data = cases.table()
        except WeightWarning as warning:
            raise InputError(
                f"column {request.columns.sample_weight!r} holds whole numbers that can be "
                f"{warning.types}. Say which with {_choice('weight_type')}."
            ) from None
        return assess(data, limit=limit, thresholds=thresholds), cases


def columns_of(upload: Upload, choices: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The first rows of a file, what each column may be and why, and all that is open.

    Returns
    -------
    dict
        names of all columns; columns, those that are shown, each with name, role, reason and
        cells; events, values of the outcome, with the one that is taken and why; questions.
    """
    frame, made, request = _guessed(upload, choices or {})
    columns = request.columns
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
        "questions": made.questions,
    }


def _guessed(upload: Upload, choices: Mapping[str, Any]) -> tuple[pd.DataFrame, Guess, Request]:
    """The table, what was guessed of it, and all that is then known.

    What a guess only proposes is taken here, since the page shows it to be corrected.
    """
    from bayescal.data.guesses import guess
    from bayescal.data.reading import open_as

    request = _request(upload, choices)
    frame = open_as(request).load(request.columns.labelled)
    first = guess(frame, request)
    proposed: dict[str, Any] = {role: value for role, (value, _) in first.proposed.items()}
    if request.scale != "probability" or request.columns.prob is not None:
        proposed.pop("scale", None)
    columns = {role: name for role, name in proposed.items() if role in first.columns._fields}
    others = {name: value for name, value in proposed.items() if name not in columns}
    request = replace(request, columns=first.columns._replace(**columns), **others)
    made = guess(frame, request) if proposed else first
    made.reasons |= first.reasons | {role: first.proposed[role][1] for role in proposed}
    for role, more in (("prob", "scale"), ("outcome", "pos_label")):
        if more in made.reasons and role in made.reasons:
            made.reasons[role] += f"; {made.reasons[more]}"
    request = replace(request, columns=made.columns)
    made.questions += _unanswered(frame, request)
    return frame, made, request


def _request(upload: Upload, choices: Mapping[str, Any]) -> Request:
    """What a person has said, as the reader takes it."""
    from bayescal.data.columns import Columns, Door, Request

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
        door=Door(
            _choice,
            "In Python, bayescal.compare_models",
            "bayescal.fit_known, in Python,",
            lambda path, columns: "bayescal.fit_known, in Python.",
        ),
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


def _unanswered(frame: pd.DataFrame, request: Request) -> list[str]:
    """What else would be refused when the file is read."""
    columns = request.columns
    parts = {"time": columns.time, "event": columns.event, "horizon": request.horizon}
    lacks = [name for name, given in parts.items() if given is None]
    questions = [f"times to an event need {_choice(name)}, too." for name in lacks]
    if columns.time is columns.event is columns.entry is None:
        questions = []
    kept = {columns.outcome} if request.keeps_unknown else set()
    lacking = frame[[name for name in columns.needed if name not in kept]].isna()
    rows = int(lacking.any(axis=1).sum())
    if rows and columns.imputation is None and not request.drop_missing:
        each = ", ".join(f"{int(n):,} in {name!r}" for name, n in lacking.sum().items() if n)
        questions.append(
            f"{rows:,} of {len(frame):,} rows lack a value: {each}. Fill them in, or choose "
            f"{_choice('drop_missing')}."
        )
    return questions


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
