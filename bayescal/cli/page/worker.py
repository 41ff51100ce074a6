"""What one tab's process does: read the table, and assess it with the options of the page."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal.cli.page.upload import Upload
from bayescal.core.errors import InputError, as_count

if TYPE_CHECKING:
    from bayescal.assessment import Assessment
    from bayescal.cli.reading import Reading

__all__ = ["Result", "work"]

COLUMN_FIELDS = ("outcome", "prob", "sample_weight", "site", "cluster")
CHOSEN_FROM = {"scale": ("", "logit", "percent"), "weight_type": ("", "counts", "sampling")}
TEXT_FIELDS = (*COLUMN_FIELDS, "positive", "prior", "encoding", "sheet")
NUMBER_FIELDS = ("close", "ci_prob", "seed")
TICKED = ("drop_missing", "independent")


@dataclass(frozen=True)
class Result:
    """What an assessment gave.

    Attributes
    ----------
    page : str
        The report.
    record : str
        All numbers, as JSON.
    words : dict
        What the page shows of it: headline, command and seed.
    """

    page: str
    record: str
    words: dict[str, Any]


class Assessed(NamedTuple):
    """The last assessment, from which a Word document is written when it is asked for."""

    assessment: Assessment
    source: dict[str, Any]


def work(connection: Connection) -> None:
    """Do what is asked, one thing after the other, until nobody asks any more."""
    import_module("bayescal.assessment")  # now, so that the first answer does not wait for it
    import_module("bayescal.data.reading")

    upload: Upload | None = None
    last: Assessed | None = None
    answer: tuple[str, Any]

    def doing(what: str) -> None:
        connection.send(("doing", what))

    while True:
        try:
            asked, of = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            with _silent():
                if asked in {"keep", "open"}:
                    upload, last = Upload(*of), None
                if asked == "keep":
                    continue
                if asked == "word":
                    answer = "word", word_of(last)
                else:
                    assert upload is not None
                    if asked == "open":
                        answer = "columns", columns_of(upload)
                    else:
                        result, last = analysed(upload, of, doing)
                        answer = "result", result
        except InputError as error:
            answer = ("error", str(error))
        except MemoryError:
            answer = ("error", "This table needs more memory than there is.")
        except Exception as error:  # the page says so; a worker that ends says nothing
            answer = ("error", f"This is a fault of bayescal, please report it: {error!r}.")
        connection.send(answer)


@contextmanager
def _silent() -> Iterator[None]:
    """The terminal belongs to whoever started the server."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


def columns_of(upload: Upload, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The columns of a table, and which of them are outcome and score, where that is clear.

    Returns
    -------
    dict
        names; outcome and score, None where there is a choice; question, what is to be chosen.
    """
    from bayescal.data.guesses import guess
    from bayescal.data.reading import open_as

    request = _reading(upload, options or {}).request()
    frame = open_as(request).load()
    told: dict[str, Any] = {"names": list(map(str, frame.columns)), "rows": len(frame)}
    made = guess(frame, request)
    chosen = {"outcome": made.columns.outcome, "prob": made.columns.prob}
    return told | chosen | {"question": made.question or None}


def word_of(last: Assessed | None) -> bytes:
    """The last report as a Word document."""
    from bayescal.assessment.word import document

    if last is None:
        raise InputError("The report is out of date. Change a setting, and it is made again.")
    return document(last.assessment, source=last.source)


def assessed(upload: Upload, options: Mapping[str, Any], doing: Callable[[str], None]) -> Result:
    """What `analysed` shows."""
    return analysed(upload, options, doing)[0]


def analysed(
    upload: Upload, options: Mapping[str, Any], doing: Callable[[str], None]
) -> tuple[Result, Assessed]:
    """Assess a table, as the command line does with the same options.

    Parameters
    ----------
    options : mapping
        From the page, by the names of the command's options.
    doing : callable
        Is told what is being done.
    """
    from bayescal.assessment import assess
    from bayescal.assessment.html import render
    from bayescal.cli.reading import read_predictions

    given = checked(options)
    doing("Reading the file")
    reading = _reading(upload, given)
    predictions = read_predictions(reading)
    doing("Fitting the families of curves")
    assessment = assess(
        predictions.data,
        prior=given["prior"] or "neutral",
        limit=given["close"],
        ci_prob=0.95 if given["ci_prob"] is None else given["ci_prob"],
        random_state=given["seed"],
        thresholds=given["thresholds"],
    )
    doing("Computing what is printed")
    headline = assessment.headline()
    source = predictions.source
    told = {"notes": assessment.notes, "source": source}
    record = json.dumps(assessment.to_dict() | told, indent=2) + "\n"
    doing("Drawing the report")
    page = render(assessment, source=source)
    shown = {
        "headline": headline,
        "seed": assessment.seed,
        "command": command(upload.name, given | {"seed": assessment.seed}, reading),
    }
    return Result(page, record, shown), Assessed(assessment, source)


def checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The page's options with their types; what is empty is None."""
    given: dict[str, Any] = {}
    for name in TEXT_FIELDS:
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a text, got {value!r}.")
        given[name] = value or None
    for name, allowed in CHOSEN_FROM.items():
        value = options.get(name) or ""
        if value not in allowed:
            raise InputError(f"{name} must be one of {', '.join(filter(None, allowed))}.")
        given[name] = value or None
    for name in NUMBER_FIELDS:
        given[name] = _number(options.get(name), name)
    seed = given["seed"]
    if seed is not None:
        given["seed"] = as_count(int(seed) if seed.is_integer() else seed, "seed", 0)
    given["ignore_column"] = list(map(str, _listed(options, "ignore_column")))
    thresholds = _listed(options, "thresholds")
    given["thresholds"] = [_number(each, "threshold") for each in thresholds]
    for name in TICKED:
        given[name] = bool(options.get(name))
    return given


def _listed(options: Mapping[str, Any], name: str) -> list[Any]:
    value = options.get(name) or []
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, got {value!r}.")
    return value


def _number(value: Any, name: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, got {value!r}.") from None
    if not abs(number) < 2**63:
        raise InputError(f"{name} must be a number, got {value!r}.")
    return number


def _reading(upload: Upload, given: Mapping[str, Any]) -> Reading:
    """The options of reading, as the command takes them."""
    from bayescal.cli.reading import Reading

    same = (
        "outcome",
        "prob",
        "positive",
        "sample_weight",
        "weight_type",
        "encoding",
        "sheet",
        "site",
        "cluster",
        "ignore_column",
    )
    options: dict[str, Any] = {name: given.get(name) for name in same}
    options |= {name: given.get(name, False) for name in TICKED}
    options["scale"] = given.get("scale")
    return Reading(upload, options)


def _typed(value: str | float) -> str:
    return value if isinstance(value, str) else repr(value)


def command(name: str, given: Mapping[str, Any], reading: Reading) -> str:
    """The command that gives the same report and the same numbers."""
    from bayescal.cli.terminal import as_command

    words = ["bayescal", "assess", name]
    fields = ("positive", "weight_type", "scale", "prior", "close", "ci_prob", "seed", "encoding")
    for name_of, value in ((field, given[field]) for field in (*COLUMN_FIELDS, *fields, "sheet")):
        if value is not None:
            option = "limit" if name_of == "close" else name_of.replace("_", "-")
            words += [f"--{option}", _typed(value)]
    for risk in given["thresholds"]:
        words += ["--threshold", _typed(risk)]
    for column in given["ignore_column"]:
        words += ["--ignore-column", column]
    words += [f"--{flag.replace('_', '-')}" for flag in TICKED if given[flag]]
    words += ["--html", "report.html", "--json", "report.json"]
    return as_command(words)
