"""Logs of evaluations of language models: was the answer right, and how sure was the model."""

from __future__ import annotations

import gzip
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from bayescal._base.errors import InputError, as_flag, as_items
from bayescal._base.text import shortened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["inspect", "jsonl", "lm_eval"]

Paths: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
Field: TypeAlias = "str | Callable[[dict[str, Any]], Any]"
"""Where a value is: a field, such as "score.confidence" within others, or a function of the line
or sample."""
RIGHT = {"c": True, "i": False, "true": True, "false": False, "correct": True, "incorrect": False}
"""Verdicts of scorers, in lower case."""
METRICS = ("acc", "exact_match", "exact_match,none", "em", "mc1")
"""Metrics of lm-evaluation-harness that are 0 or 1 of each sample, the first one before others."""


class Answer(NamedTuple):
    """One answer of a model."""

    correct: bool
    confidence: float
    task: str
    question: str


class Sample(NamedTuple):
    """A line of a file, or a sample of a log, and where it stands."""

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


def lm_eval(
    path: Paths,
    *,
    metric: str | None = None,
    confidence: Field | None = None,
    filter_name: str | None = None,
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read samples that lm-evaluation-harness wrote with ``--log_samples``.

    Parameters
    ----------
    path : path-like or iterable of path-like
        Files such as ``samples_arc_easy_2026-01-31T10-00-00.jsonl``, whose names say the task.
    metric : str, optional
        The metric that says whether an answer was right, 0 or 1 of each sample; by default "acc" or
        "exact_match".
    confidence : str or callable, optional
        The field with the confidence, or a function of the sample, as in `jsonl`. By default that
        of multiple choice: the probability of the chosen answer among the choices, which is the
        softmax of their log-likelihoods. It goes with "acc", and not with "acc_norm", by which
        another answer can be chosen.
    filter_name : str, optional
        Which filter of the answers, where samples were logged with several.
    drop_missing : bool
        As in `jsonl`.

    Returns
    -------
    pandas.DataFrame
        One row a sample: correct (bool), confidence, task and question (task and `doc_id`), as in
        `jsonl`.

    Raises
    ------
    InputError
        If a file or a line cannot be read, there are several filters, or a sample has no
        log-likelihoods and `confidence` is not given.

    References
    ----------
    Gao et al. (2024), The language model evaluation harness, Zenodo.

    Examples
    --------
    >>> import bayescal as bc
    >>> answers = bc.readers.lm_eval(["samples_arc_easy.jsonl"])  # doctest: +SKIP
    """
    keep, of_choices = not as_flag(drop_missing, "drop_missing"), confidence is None
    sure: Field = _of_choices if confidence is None else confidence
    if of_choices and metric not in (None, "acc"):
        raise InputError(
            f"metric={metric!r} was given without confidence. The probability among the choices "
            "goes with metric='acc'. For other metrics say where the confidence is: confidence= "
            "takes a field, or a function of a sample."
        )

    def answers() -> Iterator[Answer | None]:
        for file in _files(path):
            task, seen = _task_of(file), set()
            for line in _lines(file):
                kind = line.content.get("filter", "none")
                if filter_name is not None and kind != filter_name:
                    continue
                seen.add(str(kind))
                if len(seen) > 1:
                    raise InputError(
                        f"{file} has samples of the filters {', '.join(sorted(seen))}, each answer "
                        "once for each. Name one, filter_name='...'."
                    )
                names = METRICS if metric is None else (metric,)
                known = [name for name in names if name in line.content]
                if not known:
                    raise InputError(
                        f"{line.where} has no metric {' or '.join(map(repr, names[:2]))}. Name the "
                        f"one that is 0 or 1 with metric=. It has {_fields(line)}."
                    )
                question = f"{task}/{_value(line, 'doc_id')}"
                yield _answer(line, known[0], sure, task, question, keep)

    return _frame(answers())


def inspect(
    path: Paths,
    *,
    scorer: str | None = None,
    confidence: Field = "confidence",
    drop_missing: bool = False,
) -> pd.DataFrame:
    """Read logs of Inspect, the evaluation framework of the UK AI Security Institute.

    Parameters
    ----------
    path : path-like or iterable of path-like
        Logs: .eval, or .json.
    scorer : str, optional
        Which scorer says whether an answer was right, where samples have several.
    confidence : str or callable
        The field in the metadata of the score, or else of the sample; or a function of the sample.
    drop_missing : bool
        As in `jsonl`.

    Returns
    -------
    pandas.DataFrame
        One row a sample and epoch: correct (bool), confidence, task and question (task and the id
        of the sample), as in `jsonl`. Epochs of a sample are answers to one question.

    Raises
    ------
    InputError
        If a log cannot be read or has no samples, there are several scorers, or a value is missing
        or not valid: with the sample.

    References
    ----------
    UK AI Security Institute (2024), Inspect AI: framework for large language model evaluations.

    Examples
    --------
    >>> import bayescal as bc
    >>> answers = bc.readers.inspect("logs/2026-01-31_arc.eval")  # doctest: +SKIP
    """
    keep = not as_flag(drop_missing, "drop_missing")

    def answers() -> Iterator[Answer | None]:
        for file in _files(path):
            task, samples = _log(file)
            for sample in samples:
                scores = sample.content.get("scores") or {}
                if scorer is None and len(scores) > 1:
                    raise InputError(
                        f"{sample.where} has the scorers {', '.join(sorted(scores))}. Name one, "
                        "scorer='...'."
                    )
                name = next(iter(scores), None) if scorer is None else scorer
                score = scores.get(name) or {}
                told = {**(sample.content.get("metadata") or {}), **(score.get("metadata") or {})}
                own = Sample({**told, "_verdict": score.get("value")}, sample.where)
                sure: Field = confidence
                if callable(confidence):
                    value = confidence(sample.content)
                    own.content["_sure"], sure = value, "_sure"
                question = f"{task}/{_value(sample, 'id')}"
                yield _answer(own, "_verdict", sure, task, question, keep)

    return _frame(answers())


def _frame(answers: Iterator[Answer | None]) -> pd.DataFrame:
    """The answers that were kept, one a row."""
    import pandas as pd

    rows = [answer for answer in answers if answer is not None]
    if not rows:
        raise InputError("the files hold no answers with a verdict and a confidence: at least one.")
    return pd.DataFrame(rows)


def _answer(
    line: Sample, correct: Field, confidence: Field, task: str, question: str, keep: bool
) -> Answer | None:
    """An answer; None if its verdict or confidence is missing and such are left out."""
    optional = not keep
    verdict, sure = _value(line, correct, optional), _value(line, confidence, optional)
    if optional and (_is_missing(verdict) or _is_missing(sure)):
        return None
    return Answer(_right(verdict, line.where), _probability(sure, line.where), task, question)


def _value(line: Sample, field: Field, optional: bool = False) -> Any:
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


def _fields(line: Sample) -> str:
    named = [name for name in line.content if not name.startswith("_")]
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


def _of_choices(sample: dict[str, Any]) -> float:
    """The probability of the chosen answer among the choices."""
    answers = sample.get("filtered_resps")
    try:
        likelihoods = np.array([float(one[0]) for one in answers or ()])
    except (TypeError, ValueError, IndexError, KeyError):
        likelihoods = np.empty(0)
    if likelihoods.size < 2 or not np.isfinite(likelihoods.max()):
        raise InputError(
            "a sample has no log-likelihoods of several choices in filtered_resps: it is not of "
            "multiple choice. Say where the confidence is: confidence= takes a field, or a "
            "function of a sample."
        )
    return float(1 / np.exp(likelihoods - likelihoods.max()).sum())


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


def _task_of(file: Path) -> str:
    """The task of a file of samples, which is in its name between the word and the date."""
    name = _stem(file).removeprefix("samples_")
    return re.sub(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$", "", name)


def _lines(file: Path) -> Iterator[Sample]:
    """The object of each line that is not blank."""
    with _understood(file), _open(file) as lines:
        for number, text in enumerate(lines, 1):
            if text.strip():
                where = f"line {number} of {file}"
                yield Sample(_object(text, where), where)


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


def _log(file: Path) -> tuple[str, list[Sample]]:
    """The task of a log of Inspect, and its samples."""
    with _understood(file):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as log:
                names = [name for name in log.namelist() if name.endswith(".json")]
                samples = sorted(name for name in names if name.startswith("samples/"))
                header = next((n for n in ("header.json", "_journal/start.json") if n in names), "")
                told = _object(log.read(header), f"{header} of {file}") if header else {}
                each = [
                    Sample(_object(log.read(name), f"{name} of {file}"), f"{name} of {file}")
                    for name in samples
                ]
        else:
            told = _object(file.read_bytes(), str(file))
            each = [
                Sample(sample, f"sample {number} of {file}")
                for number, sample in enumerate(told.get("samples") or (), 1)
                if isinstance(sample, dict)
            ]
    if not each:
        raise InputError(f"{file} has no samples. Is it a log of Inspect, with its samples?")
    of = told.get("eval")
    task = of.get("task") if isinstance(of, dict) else None
    return str(task or _stem(file)), each


@contextmanager
def _understood(file: Path) -> Iterator[None]:
    """Say which file is broken, rather than how a library stumbled over it."""
    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, UnicodeError, NotImplementedError, zipfile.BadZipFile) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error
