"""From columns to cases: what is missing, and in which words of the file a fault is told.

Cases are checked by whoever takes them, as everywhere; `in_file` says where in the file a fault is.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.cli._codes import refuse_coded_outcomes, refuse_coded_scores, refuse_texts
from bayescal.cli._notes import as_typed, noted
from bayescal.cli._read import Source
from bayescal.cli._terminal import STDOUT, as_command, note, output
from bayescal.cli.form import PERCENT, Scale
from bayescal.core.errors import InputError, LabelWarning, WeightWarning
from bayescal.core.text import count, shortened
from bayescal.data.cases import are_binary_integers, without_rounding
from bayescal.data.sources.columns import Columns

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.table import CalibrationData

__all__ = [
    "Cases",
    "about_missing",
    "about_weights",
    "as_numbers",
    "as_probabilities",
    "in_file",
    "read_cases",
    "role_of",
]


DECIMAL_COMMAS = (";", "\t")
"""Between fields whose decimals may have a comma."""


FIRST_CLAUSE = r" ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+) .*?(?=[;:] |, and | \(|\. |\.$)"
"""Of what is wrong with a value: the value, and the words until the sense may pause."""


class Cases(NamedTuple):
    """The rows of a table in which nothing is missing.

    Attributes
    ----------
    given : dict
        Outcomes, scores, weights and roles, by the arguments of `CalibrationData`.
    others : dict of str to ndarray of shape (n,)
        Further columns of scores, by their argument.
    rows : sequence of int of length n
        Where each case stands in the table.
    dropped : int
        Rows left out because a value was missing.
    """

    given: dict[str, Any]
    others: dict[str, Any]
    rows: NDArray[np.intp] | range
    dropped: int

    def location(self, source: Source) -> Callable[[int], str]:
        """Where each case stands in the file."""
        return lambda case: f"{source.where(int(self.rows[case]))} of {source.path}"


def read_cases(
    frame: pd.DataFrame,
    columns: Columns,
    source: Source,
    scale: Scale,
    *,
    event: str | None = None,
    drop_missing: bool = False,
    others: Mapping[str, str] = MappingProxyType({}),
) -> Cases:
    """Take the cases out of a table.

    Parameters
    ----------
    source : Source
        The file, to say where a value is missing.
    scale : Scale
        What the scores are written as.
    event : str, optional
        The label of the event as it was typed.
    others : mapping of str to str
        Further columns of scores, by their arguments.
    """
    for name in (columns.prob, *others.values()):
        refuse_coded_scores(frame[name], source, scale)
    refuse_coded_outcomes(frame[str(columns.outcome)], source)
    numbers = {"y_prob": as_probabilities(frame[columns.prob], source, scale)}
    for name, column in others.items():
        numbers[name] = as_probabilities(frame[column], source, scale)
    if columns.sample_weight is not None:
        numbers["sample_weight"] = as_numbers(frame[columns.sample_weight], source)
    outcome = str(columns.outcome)
    missing = frame[[outcome, *columns.labelled]].isna().to_numpy(dtype=bool).any(axis=1)
    for values in numbers.values():
        missing |= values != values
    needed = "an outcome, a score or a weight"
    if columns.labelled:
        names = " or ".join(map(shortened, columns.labelled))
        needed = f"an outcome, a score, a weight or a value of {names}"
    if missing.any() and not drop_missing:
        told = about_missing(np.asarray(missing), needed, source)
        if not others and (frame[outcome].isna().to_numpy(dtype=bool) | ~missing).all():
            named = ["--outcome", outcome, "--prob", columns.prob]
            command = as_command(["bayescal", "missing", str(source.path), *named])
            told += f" To keep the scores of those without an outcome: {command}"
        raise InputError(told)
    if missing.all():
        raise InputError(f"every row of {source.path} lacks {needed}.")
    kept, given = frame, dict(numbers)
    rows: NDArray[np.intp] | range = range(missing.size)
    if missing.any():  # else nothing is copied
        rows = np.flatnonzero(~missing)
        kept = frame.iloc[rows]
        given = {name: values[rows] for name, values in numbers.items()}
    given["y_true"] = _labels(kept[outcome], event)
    given |= columns.roles(lambda name: role_of(kept[name], is_time=name == columns.period))
    further = {name: given.pop(name) for name in others}
    return Cases(given, further, rows, missing.size - len(rows))


def as_numbers(column: pd.Series, source: Source, scale: Scale | None = None) -> NDArray[Any]:
    """The column as floats, NaN where it is missing; decimal commas between semicolons or tabs.

    Scores become probabilities. What holds something else comes back with it, to be refused.
    """
    import pandas as pd

    to_probability = (lambda score: score) if scale is None else scale.to_probability
    if column.dtype.kind in "biuf":
        return to_probability(column.to_numpy(dtype=np.float64, na_value=np.nan))
    text = column.astype("string").str.strip()
    text = text.mask(text == "")
    if source.separator in DECIMAL_COMMAS:
        text = text.str.replace(",", ".", regex=False)
    signed = text.str.endswith("%").fillna(False).to_numpy(dtype=bool)
    if scale is PERCENT:
        text = text.str.removesuffix("%").str.strip()
    numbers = pd.to_numeric(text, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if scale is PERCENT:
        _refuse_mixed(signed, numbers, column, source)
    wrong = np.isnan(numbers) & text.notna().to_numpy(dtype=bool)
    if wrong.any():
        refuse_texts(column, wrong, source)
        return np.where(wrong, column.to_numpy(dtype=object), numbers)
    return to_probability(numbers)


def as_probabilities(column: pd.Series, source: Source, scale: Scale) -> NDArray[Any]:
    """Scores as probabilities; what is beyond 0 or 1 by rounding is set to the end, with a note."""
    scores = as_numbers(column, source, scale)
    if scores.dtype.kind != "f":
        return scores
    with noted(lambda text: note(output(STDOUT), text)):
        return without_rounding(scores, f"column {str(column.name)!r}")


def _refuse_mixed(
    signed: NDArray[np.bool_], numbers: NDArray[Any], column: pd.Series, source: Source
) -> None:
    """Refuse percentages with the sign beside numbers that look like probabilities."""
    unsigned = ~signed & ~np.isnan(numbers)
    if not signed.any() or not numbers[unsigned].any() or (numbers[unsigned] > 1).any():
        return
    at, other = int(np.argmax(unsigned & (numbers > 0))), int(signed.argmax())
    raise InputError(
        f"column {column.name!r}: {shortened(str(column.iloc[at]))} on {source.where(at)} of "
        f"{source.path} has no percent sign, and {shortened(str(column.iloc[other]))} on "
        f"{source.where(other)} has one. All {count(int(unsigned.sum()), 'number')} without the "
        "sign are at most 1, so that they look like probabilities, which --percent would read as "
        "less than one percent. Write all scores as percentages."
    )


def _labels(column: pd.Series, event: str | None) -> NDArray[Any]:
    """Outcomes as they are, but for the event, which is called as it was typed."""
    import pandas as pd

    if event is None and len(column) and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        if are_binary_integers(values):
            return values
    codes, labels = pd.factorize(column)
    distinct = np.empty(len(labels), dtype=object)
    distinct[:] = labels.tolist()
    if event is None and {*distinct} <= {0, 1}:
        return distinct.astype(np.float64)[codes]
    if event is not None:
        distinct[:] = [event if _is_label(label, event) else label for label in distinct]
    return distinct[codes]


def _is_label(label: object, event: str) -> bool:
    """Whether a value in the table is what was typed: 2 is "2" and "2.0", True is "true"."""
    if isinstance(label, (bool, np.bool_)):
        return str(label).lower() == event.lower()
    if isinstance(label, (int, float, np.number)):
        try:
            return float(event) == label
        except ValueError:
            return False
    return str(label) == event


def role_of(column: pd.Series, *, is_time: bool = False) -> NDArray[Any]:
    """Labels as texts, whole numbers as typed; numbers and dates of periods stay as they are."""
    if is_time and column.dtype.kind in "iufM":
        return column.to_numpy()
    texts = np.empty(len(column), dtype=object)
    texts[:] = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in column.tolist()
    ]
    return texts


@contextmanager
def in_file(
    columns: Columns, location: Callable[[int], str], scale: Scale, **others: str | None
) -> Iterator[None]:
    """Say what is wrong with cases by the column, the place in the file, and the options.

    Parameters
    ----------
    location : callable
        Of the position of a case: where it stands, as "line 12 of a.csv".
    **others : str or None
        Further columns of scores, by their arguments.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", WeightWarning)
        warnings.simplefilter("ignore", LabelWarning)  # one of the two classes may be absent
        try:
            yield
        except (InputError, WeightWarning) as error:
            scores = {"y_prob": columns.prob} | others
            raise InputError(_by_column(str(error), columns, scores, location, scale)) from error


def _by_column(
    text: str,
    columns: Columns,
    scores: dict[str, str | None],
    location: Callable[[int], str],
    scale: Scale,
) -> str:
    """What the checks of arrays say, such as "y_prob[2] = 1.2 is outside", of a file."""
    name_of = (
        {"y_true": columns.outcome, "sample_weight": columns.sample_weight} | columns.given | scores
    )
    text = re.sub(r"^chunk \d+: | They are taken as counts.*?narrow\.", "", as_typed(text))
    named = "|".join(map(re.escape, name_of))
    match = re.match(rf"({named})(?:\[(\d+)\](?: =| is)?| (?=holds|must|is))", text)
    if match is None:
        return text
    fault, name = text[match.end() :], f"column {name_of[match[1]]!r}"
    if match[1] in scores:
        fault = scale.in_words(fault)
    if match[2] is None:
        return f"{name} {fault}"
    fault = fault.replace(", which is not a number", " is not a number")
    fault = re.sub(
        rf", ({named})\[\d+\] = ([^:]+)",
        lambda other: f" ({other[2]} in column {name_of[other[1]]!r})",
        fault,
    )
    split = re.match(FIRST_CLAUSE, fault, re.DOTALL)
    end = split.end() if split else 0
    return f"{name}:{fault[:end]} on {location(int(match[2]))}{fault[end:]}"


def about_missing(missing: NDArray[np.bool_], needed: str, source: Source) -> str:
    """What to say of rows that lack something."""
    return (
        f"{missing.sum()} of {missing.size} rows lack {needed}, the first on "
        f"{source.where(int(missing.argmax()))} of {source.path}. Fill them in, or leave them "
        "out with --drop-missing."
    )


def about_weights(data: CalibrationData, rows: int) -> str:
    """How the weights of a table are read, which had so many rows, in a sentence."""
    if data.weight_type != "sampling":
        return f"The weights are counts, {count(data.n, 'case')} in all."
    return (
        f"The weights are sampling weights of {count(rows, 'case')}, worth "
        f"{data.sampling_size:,.1f} (Kish's effective size)."
    )
