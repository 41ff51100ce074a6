"""Logs of answers, a JSON object a line: was the answer right, and how sure was the model."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from bayescal.core.errors import InputError, as_flag, as_items
from bayescal.core.text import shortened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["jsonl"]

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
Field: TypeAlias = "str | Callable[[dict[str, Any]], Any]"
"""Where a value is: a field, such as "score.confidence" within others, or a function."""
RIGHT = {"c": True, "i": False, "true": True, "false": False, "correct": True, "incorrect": False}
"""Verdicts of scorers, in lower case."""


class Answer(NamedTuple):
    """One answer of a model."""

    correct: bool
    confidence: float
    task: str
    question: str


class Line(NamedTuple):
    """A line of a file, and where it stands."""

    content: dict[str, Any]
    where: str


def jsonl(
    path: Paths,
    *,
    correct: Field = "correct",
    confidence: Field = "confidence",
    task: Field | None = None,
    question: Field | None = None,
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read files with one JSON object a line.

    Parameters
    ----------
    path : path-like or iterable of path-like
        Text files, plain or .gz.
    correct, confidence : str or callable
        The field of each, or a function of the object that a line holds. A field within others is
        written with points, such as "scores.confidence". Verdicts are true and false, 1 and 0, "C"
        and "I", or "correct" and "incorrect"; confidences numbers in [0, 1], or texts such as
        "85%".
    task, question : str or callable, optional
        The same. By default "task" and "question" where lines have them; else the task is the name
        of the file, and each line is a question of its own.
    drop_missing : bool
        Leave out lines without a confidence or a verdict, which are refused otherwise.

    Returns
    -------
    pandas.DataFrame
        One row a line: correct (bool), confidence, task and question.

    Raises
    ------
    InputError
        If there is no such file, a line is no JSON object, or a value is missing or not valid: with
        the line.

    Examples
    --------
    >>> import bayescal as bc
    >>> answers = bc.readers.jsonl("answers.jsonl")  # doctest: +SKIP
    >>> bc.assess(answers.correct, answers.confidence)  # doctest: +SKIP
    """

    def answers() -> Iterator[Answer | None]:
        for file in _files(path):
            for number, line in enumerate(_lines(file), 1):
                tasks = "task" if task is None and "task" in line.content else task
                asked = "question" if question is None and "question" in line.content else question
                of_task = _stem(file) if tasks is None else str(_value(line, tasks))
                of = number if asked is None else _value(line, asked)
                yield _answer(line, correct, confidence, of_task, f"{of_task}/{of}", keep)

    keep = not as_flag(drop_missing, "drop_missing")
    return _frame(answers())


def _frame(answers: Iterator[Answer | None]) -> pd.DataFrame:
    """The answers that were kept, one a row."""
    import pandas as pd

    rows = [answer for answer in answers if answer is not None]
    if not rows:
        raise InputError("the files hold no answers with a verdict and a confidence: at least one.")
    return pd.DataFrame(rows)


def _answer(
    line: Line, correct: Field, confidence: Field, task: str, question: str, keep: bool
) -> Answer | None:
    """An answer; None if its verdict or confidence is missing and such are left out."""
    optional = not keep
    verdict, sure = _value(line, correct, optional), _value(line, confidence, optional)
    if optional and (_is_missing(verdict) or _is_missing(sure)):
        return None
    return Answer(_right(verdict, line.where), _probability(sure, line.where), task, question)


def _value(line: Line, field: Field, optional: bool = False) -> Any:
    """A value of a line, by its field or function."""
    if callable(field):
        try:
            value = field(line.content)
        except InputError as error:
            raise InputError(f"{line.where}: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{line.where}: the function of a line failed with {type(error).__name__}: {error}."
            ) from error
    else:
        value = line.content
        for name in [field] if field in line.content else str(field).split("."):
            value = value.get(name) if isinstance(value, dict) else None
    if value is None and not optional:
        told = "the function returned None" if callable(field) else f"there is no {field!r}"
        raise InputError(
            f"{line.where}: {told}. It has {_fields(line)}. Name the field, or leave such answers "
            "out with drop_missing=True."
        )
    return value


def _fields(line: Line) -> str:
    named = list(line.content)
    return "the fields " + shortened(", ".join(named)) if named else "no fields"


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _right(value: Any, where: str) -> bool:
    known = RIGHT.get(value.strip().lower()) if isinstance(value, str) else None
    if known is not None:
        return known
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number in (0, 1):
        return bool(number)
    raise InputError(
        f"{where}: the verdict is {shortened(repr(value))}, which says neither right nor wrong. "
        "Verdicts are true or false, 1 or 0, or 'C' or 'I'. Partial credit has no calibration: "
        "decide from which value on an answer counts as right."
    )


def _probability(value: Any, where: str) -> float:
    text = value.strip() if isinstance(value, str) else value
    share = isinstance(text, str) and text.endswith("%")
    try:
        number = float(text[:-1]) / 100 if share else float(text)
    except (TypeError, ValueError):
        number = float("nan")
    if 0 <= number <= 1:
        return number
    cure = "Divide percentages by 100." if 1 < number <= 100 else "Pass one in [0, 1], or '85%'."
    raise InputError(f"{where}: the confidence is {shortened(repr(value))}. {cure}")


def _files(path: Paths) -> list[Path]:
    given = [path] if isinstance(path, (str, os.PathLike)) else as_items(path, "path")
    try:
        files = [Path(one) for one in given]
    except TypeError:
        raise InputError(f"path must name files, got {shortened(repr(path))}.") from None
    if not files:
        raise InputError("path names no file: pass one at least.")
    for file in files:
        if not file.is_file():
            raise InputError(f"there is no file {shortened(str(file))}.")
    return files


def _stem(file: Path) -> str:
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _lines(file: Path) -> Iterator[Line]:
    """The object of each line that is not blank."""
    with _understood(file), _open(file) as lines:
        for number, text in enumerate(lines, 1):
            if text.strip():
                where = f"line {number} of {file}"
                yield Line(_object(text, where), where)


def _open(file: Path) -> IO[str]:
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig")
    return file.open(encoding="utf-8-sig")


def _object(text: str | bytes, where: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise InputError(f"{where} holds no JSON object, such as {{'correct': true}}.")
    return content


@contextmanager
def _understood(file: Path) -> Iterator[None]:
    """Say which file is broken, rather than how a library stumbled over it."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, UnicodeError, NotImplementedError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error
