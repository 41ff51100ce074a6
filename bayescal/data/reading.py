"""From a file to cases: each column is read as its role says, and a fault is told by its place.

`bayescal.read`, the command line and the app read by this alone.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError, as_flag, as_items, check_choice
from bayescal.core.text import count, shortened
from bayescal.data.cases import (
    OF_CLASSES,
    are_binary_integers,
    as_scores,
    check_scores,
    without_rounding,
)
from bayescal.data.columns import PYTHON, Columns, Door, Encoded, Guess, Told, as_code, guess
from bayescal.data.contents import Reader
from bayescal.data.ends import Ends
from bayescal.data.files import Source, TableFile, is_text, is_workbook
from bayescal.data.formats import open_table
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.data.weights import WeightType

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PERCENT", "PROBABILITY", "SCALES", "Cases", "Request", "Scale", "read", "read_cases"]

DECIMAL_COMMAS = (";", "\t")
"""Between fields whose decimals may have a comma."""
DECIMAL_COMMA = r"[-+]?\d+,\d+\s*%?"
THOUSANDS = r"[-+]?[1-9]\d{0,2}(,\d{3})+"
SAID = r"\s*(?:percent|per cent)$"
"""How a language model writes a percent sign."""
ORIGINAL = "0"
"""The number under which mice keeps the data as they were before imputation."""
CLASSES = 2
MOST_LABELS = 10
"""Distinct outcomes beyond which no codes of missing ones are looked for."""
DATE_FORMS = ("ISO8601", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d")
"""How dates may be written: 2024-03-31 with or without a time, 20240331, 31.03.2024, 2024/03/31.

Of dates such as 3/4/2024 it is not known which number is the month.
"""
CALENDAR = {"week": "%G-W%V", "month": "%Y-%m", "quarter": "%Y-Q", "year": "%Y"}


@dataclass(frozen=True)
class Scale:
    """What scores are written as.

    Attributes
    ----------
    name : str
        In the plural: "log-odds".
    lowest, highest : float
        Of the scores that there can be.
    to_probability, from_probability : callable
        From scores to probabilities, and back.
    """

    name: str
    lowest: float
    highest: float
    to_probability: Callable[[Floats], Floats]
    from_probability: Callable[[Floats], Floats]


PROBABILITY = Scale("probabilities", 0, 1, lambda score: score, lambda probability: probability)
LOGIT = Scale("log-odds", -math.inf, math.inf, expit, logit)
PERCENT = Scale(
    "percentages", 0, 100, lambda score: score / 100, lambda probability: 100 * probability
)
SURVIVAL = Scale(
    "probabilities of survival", 0, 1, lambda score: 1 - score, lambda probability: 1 - probability
)
SCALES = {"probability": PROBABILITY, "logit": LOGIT, "percent": PERCENT, "survival": SURVIVAL}


@dataclass(frozen=True)
class Request:
    """What was said of a file.

    Attributes
    ----------
    columns : Columns
        Those that were named.
    others : mapping of str to str
        Columns of several predictions, and what each was named by.
    cause, censored : str or None
        What the event, and a case that left, are written as in the column of events.
    every : str or None
        By what dates of periods are taken: week, month, quarter or year.
    keeps_unknown : bool
        Whether cases without an outcome are taken.
    asks : tuple of str
        Roles that the door takes.
    """

    path: TableFile
    columns: Columns = field(default_factory=Columns)
    others: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    weight_type: WeightType | None = None
    horizon: float | None = None
    cause: str | None = None
    censored: str | None = None
    every: str | None = None
    scale: str = "probability"
    drop_missing: bool = False
    keeps_unknown: bool = False
    ignore: tuple[str, ...] = ()
    independent: bool = False
    encoding: str | None = None
    sheet: str | None = None
    asks: tuple[str, ...] = ("site", "period", "cluster", "imputation")
    door: Door = PYTHON

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, before the file is opened."""
        option, columns = self.door.option, self.columns
        check_choice(self.scale, SCALES, "scale")
        if self.every is not None:
            check_choice(self.every, CALENDAR, option("every"))
            if columns.period is None:
                raise InputError(
                    f"{option('every')} goes with {option('period')}, the column of the dates."
                )
        if columns.stratum is not None and columns.cluster is None:
            raise InputError(
                f"{option('stratum')} goes with {option('cluster')}, the column of the clusters."
            )
        for role in ("site", "period"):
            name = getattr(columns, role)
            if name is not None and name == columns.cluster:
                raise InputError(
                    f"{option('cluster')} and {option(role)} name the same column, {name!r}, so "
                    f"that each {role} would be one cluster. Leave one of the two out."
                )
        if self.weight_type is not None and columns.sample_weight is None:
            raise InputError(
                f"{option('weight_type')} goes with {option('sample_weight')}, the column of the "
                "weights."
            )
        for name in columns.subgroup:
            if columns.subgroup.count(name) > 1:
                raise InputError(
                    f"{option('subgroup', name)} was given twice. Name each column once."
                )
        used = [(role, getattr(columns, role)) for role in ("time", "event", "entry")]
        told = [*columns.named, *((by, name) for name, by in self.others.items())]
        for at, (role, name) in enumerate(used):
            for other, theirs in (*used[at + 1 :], *told):
                if name is not None and name == theirs and role != other:
                    raise InputError(
                        f"{option(role)} and {option(other)} name the same column, {name!r}. Name "
                        "one for each."
                    )

    @property
    def of_table(self) -> dict[str, Any]:
        """What was said of the table, by the arguments of `CalibrationData`."""
        of_outcomes = {"pos_label": self.pos_label, "weight_type": self.weight_type}
        return of_outcomes | ({} if self.columns.time is None else {"horizon": self.horizon})

    @property
    def as_written(self) -> Scale:
        """What scores are written as."""
        return SCALES[self.scale]

    def open(self, path: TableFile | None = None) -> Source:
        """Look at the file, or at another one that is written alike."""
        other = self.path if path is None else path
        option = self.door.option
        if self.encoding is not None and not any(map(is_text, (self.path, other))):
            raise InputError(
                f"{option('encoding')} goes with text, and {self.path} is none by its name."
            )
        if self.sheet is not None and not any(map(is_workbook, (self.path, other))):
            raise InputError(
                f"{option('sheet')} goes with Excel workbooks (.xlsx), and {self.path} is none by "
                "its name."
            )
        encoding = self.encoding if is_text(other) else None
        return open_table(other, encoding, self.sheet if is_workbook(other) else None, self.door)

    def guess(self, frame: pd.DataFrame) -> Guess:
        """All columns, why those were taken that were not named, and what is open."""
        scale = self.as_written
        told = Told(
            self.columns,
            self.others,
            self.pos_label,
            scale.lowest,
            scale.highest,
            scale is PROBABILITY,
            self.ignore,
            self.independent,
            self.asks,
            self.door,
        )
        return guess(frame, told)

    def scores(self, path: TableFile, name: str, cure: str, *, drop: bool = False) -> Floats:
        """The probabilities in a column of another file, NaN where they are missing.

        Parameters
        ----------
        cure : str
            What to do about missing ones.
        drop : bool
            Whether they may be missing.
        """
        source = self.open(path)
        if name not in source.names:
            raise InputError(
                f"{path} has no column {name!r}, which holds the scores of the other file."
            )
        if source.names.count(name) > 1:
            raise InputError(
                f"{source.names.count(name)} columns of {path} are called {name!r}. Rename all but "
                "one."
            )
        columns = Columns(prob=name)
        (frame,) = self._frames(source, columns, source.load())
        part = _Part(self, source, columns, frame, 0)
        part._refuse_coded_scores(frame[name])
        scores = part._probabilities(frame[name])
        missing = np.isnan(scores)
        if missing.all():
            raise InputError(f"every row of {path} lacks a score in column {name!r}.")
        if missing.any() and not drop:
            raise InputError(
                f"column {name!r}: {count(int(missing.sum()), 'score')} of {missing.size} missing, "
                f"the first on {source.located(int(missing.argmax()))}. {cure}"
            )
        known = np.flatnonzero(~missing)
        scores = scores.copy()
        try:
            scores[known] = as_scores(scores[known])
        except CaseError as error:
            raise InputError(
                told_of(error, columns.called, lambda row: source.located(int(known[row])), self)
            ) from error
        return scores

    def _frames(
        self, source: Source, columns: Columns, first: pd.DataFrame, *, at_once: bool = True
    ) -> Iterator[pd.DataFrame]:
        """The rows of a file, all at once if `at_once`."""
        needed = list(dict.fromkeys([*columns.needed, *self.others]))
        frames = source.parts(needed, columns.labelled, first)
        if not at_once:
            return frames
        import pandas as pd

        several = [*frames]
        return iter([several[0] if len(several) == 1 else pd.concat(several, ignore_index=True)])

    def parts(self, *, at_once: bool = False) -> Iterator[Cases]:
        """The cases of the file, some at a time where it is of Parquet; `at_once` all at once."""
        source = self.open()
        first = source.load(self.columns.labelled)
        guessed = self.guess(first)
        columns, reasons = guessed.answered()
        start = 0
        at_once = at_once or columns.imputation is not None
        for frame in self._frames(source, columns, first, at_once=at_once):
            yield _Part(self, source, columns, frame, start).cases(reasons)
            start += len(frame)


@dataclass(frozen=True)
class Cases:
    """Rows of a file in which nothing is missing.

    Attributes
    ----------
    columns : Columns
        Those that were guessed among them.
    reasons : dict of str to str
        Why a column was taken that was not named, by role.
    outcome : ndarray of shape (n,) or Survival
        Of cases without one, where they are taken, None.
    probs : dict of str to ndarray of shape (n,)
        Probabilities of the event, by column.
    weight : ndarray or None
    roles : dict
        By the arguments of `CalibrationData`.
    at : ndarray of int of shape (n,)
        Where each case stands in the file.
    rows, dropped, original : int
        Rows in all, rows left out, and rows as they were before imputation, which are in neither.
    remarks : tuple of str
        What the reader should bear in mind.
    """

    request: Request
    source: Source
    columns: Columns
    reasons: dict[str, str]
    outcome: Any
    probs: dict[str, Any]
    weight: Any
    roles: dict[str, Any]
    at: NDArray[np.intp]
    rows: int
    dropped: int
    original: int
    remarks: tuple[str, ...] = ()

    @property
    def prob(self) -> Any:
        """The first predictions."""
        return self.probs[str(self.columns.prob)]

    @property
    def given(self) -> dict[str, Any]:
        """The cases, by the arguments of `CalibrationData`."""
        given = {"y_true": self.outcome, "y_prob": self.prob, "sample_weight": self.weight}
        return {name: each for name, each in given.items() if each is not None} | self.roles

    def table(self) -> CalibrationData:
        """The table of the cases."""
        with self.worded():
            return CalibrationData(**self.given, **self.request.of_table)

    @contextmanager
    def worded(self, prob: str | None = None, **others: str | None) -> Iterator[None]:
        """Tell faults in the cases by the column, the place in the file, and the door's options.

        Parameters
        ----------
        prob : str, optional
            The column of the predictions that are checked.
        **others : str or None
            Columns of further predictions, by the arguments that they are.
        """
        columns = self.columns if prob is None else self.columns._replace(prob=prob)
        named = {argument: f"column {name!r}" for argument, name in others.items() if name}
        try:
            yield
        except CaseError as error:
            raise InputError(
                told_of(
                    error,
                    lambda argument: named.get(argument) or columns.called(argument),
                    lambda row: self.source.located(int(self.at[row])),
                    self.request,
                )
            ) from error


def told_of(
    error: CaseError, name: Callable[[str], str], where: Callable[[int], str], request: Request
) -> str:
    """A fault in the words of a file, of a score on the scale that it was written on."""
    scale, option = request.as_written, request.door.option
    percent = f"If these are percentages, read them with {option('scale', 'percent')}."
    one_class = (
        "Make a column that is 1 for the event and 0 for all else, or name another with "
        f"{option('outcome')}."
    )
    cures = {
        "percent": "" if scale is PERCENT else percent,
        "logit": f"If these are log-odds, read them with {option('scale', 'logit')}.",
        "pos_label": f"Say which label is the event with {option('pos_label')}.",
        "months": f"Use longer ones, such as months, with {option('every', 'month')}.",
        "percent sign": "Write percentages as numbers without the sign, / 100.",
        OF_CLASSES: one_class,
        "Outcomes are 0/1 or boolean; labels of several classes are taken beside the matrix of "
        "their probabilities, fit(labels, matrix).": one_class,
        "Outcomes are 0/1 or boolean; for other labels say which is the event with pos_label=.": (
            "Outcomes are 0/1 or boolean; for other labels say which is the event with "
            f"{option('pos_label')}."
        ),
        "Give months as '2024-03', days as '2024-03-31', quarters as '2024-Q1', or numbers, all in "
        "one form, or an ordered categorical: pandas.Categorical(period, categories=[...], "
        "ordered=True).": "Give months as '2024-03', days as '2024-03-31', quarters as '2024-Q1', "
        "or numbers, all in one form.",
        "If the weights correct for how cases were sampled, say weight_type='sampling'.": (
            "If the weights correct for how cases were sampled, say "
            f"{option('weight_type', 'sampling')}."
        ),
    }
    if scale is not PROBABILITY and error.value is not None and error.fault == "is outside [0, 1]":
        written = float(scale.from_probability(np.asarray(float(error.value))))
        error = error.changed(
            value=f"{written:.12g}",
            fault=f"is outside [{scale.lowest:g}, {scale.highest:g}]",
            more=error.more.replace("probabilities", scale.name),
        )
    return error.worded(name, where, cures)


@dataclass(frozen=True)
class _Part:
    """Some rows of a file, of which the columns are known; they begin at row `start`."""

    request: Request
    source: Source
    columns: Columns
    frame: pd.DataFrame
    start: int

    def cases(self, reasons: dict[str, str]) -> Cases:
        """The cases, each column read as its role says."""
        import pandas as pd

        request, columns = self.request, self.columns
        scores = [str(columns.prob), *(name for name in request.others if name != columns.prob)]
        for name in scores:
            self._refuse_coded_scores(self.frame[name])
        probs = {name: self._probabilities(self.frame[name]) for name in scores}
        kept = self._imputed(probs)
        part = self if kept is None else self._of(kept)
        if kept is not None:
            probs = {name: values[kept] for name, values in probs.items()}
        frame, rows = (
            part.frame,
            np.arange(len(self.frame)) if kept is None else np.flatnonzero(kept),
        )
        numbers = {
            role: part.numbers(frame[name])
            for role, name in columns.named
            if role in ("sample_weight", "time", "entry")
        }
        labels: dict[str, Encoded | NDArray[Any]]
        labels = {name: _labels(frame[name]) for name in columns.labelled if name != columns.period}
        if columns.period is not None:
            labels[columns.period] = part._times(frame[columns.period])
        missing = np.zeros(len(frame), dtype=bool)
        for values in (*probs.values(), *numbers.values()):
            missing |= np.isnan(values)
        for each in labels.values():
            missing |= each.row < 0 if isinstance(each, Encoded) else pd.isna(each)
        ended = columns.event or columns.outcome
        assert ended is not None
        unknown = frame[ended].isna().to_numpy(dtype=bool)
        if not request.keeps_unknown:
            missing |= unknown
        if missing.any():
            part._refuse_missing(missing, unknown)
            known = np.flatnonzero(~missing)
            probs = {name: values[known] for name, values in probs.items()}
            numbers = {role: values[known] for role, values in numbers.items()}
            labels = {name: _taken(each, known) for name, each in labels.items()}
            part, rows = part._of(known), rows[known]
        told = (len(frame), int(missing.sum()), len(self.frame) - len(frame))
        weight = numbers.pop("sample_weight", None)
        roles = columns.roles(lambda name: labels[name])
        read = Cases(
            *(request, self.source, columns, reasons, None, probs, weight, roles),
            *(self.start + rows, *told),
        )
        for name in scores:
            with read.worded(name):
                check_scores(probs[name])
        if columns.time is None:
            return replace(read, outcome=part._outcomes())
        return part._timed(read, numbers)

    def _of(self, kept: NDArray[Any]) -> _Part:
        return replace(
            self, frame=self.frame.iloc[kept] if kept.dtype != bool else self.frame[kept]
        )

    def _located(self, at: int) -> str:
        """Where a row of this part stands; its labels are its positions in the part."""
        return self.source.located(self.start + int(self.frame.index[at]))

    # Numbers

    def numbers(self, column: pd.Series, *, of_scores: bool = False) -> Floats:
        """A column as floats, NaN where it is missing; scores on the scale that they have.

        Decimals may have a comma where semicolons or tabs separate the fields.
        """
        import pandas as pd

        if column.dtype.kind in "biuf":
            if not of_scores:
                self._refuse_points(column)
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        row, distinct = pd.factorize(column)  # texts repeat, and each is read once
        text = pd.Series(distinct, dtype="object").astype("string").str.strip()
        text = text.mask(text == "")
        if of_scores and self.source.is_said:
            text = text.str.replace(SAID, "%", case=False, regex=True)
        commas = self.source.separator in DECIMAL_COMMAS
        if commas and not of_scores:
            self._refuse_thousands(column, text[row[row >= 0]])
        plain = text.str.replace(",", ".", regex=False) if commas else text
        percent = of_scores and self.request.as_written is PERCENT
        signed = plain.str.endswith("%").fillna(False).to_numpy(dtype=bool)
        shares = of_scores and self.source.is_said and self.request.as_written is PROBABILITY
        if percent or shares:
            plain = plain.str.removesuffix("%").str.strip()
        each = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        if shares:
            each = np.where(signed, each / 100, each)
        numbers = np.append(each, np.nan)[row]
        if percent and signed.any():
            self._refuse_mixed(column, np.append(signed, False)[row], numbers)
        wrong = np.append(np.isnan(each) & text.notna().to_numpy(dtype=bool), False)[row]
        if wrong.any():
            self._refuse_texts(column, wrong)
        return numbers

    def _probabilities(self, column: pd.Series) -> Floats:
        """Scores as probabilities; what is beyond 0 or 1 by rounding is set to the end."""
        scores = self.request.as_written.to_probability(self.numbers(column, of_scores=True))
        return without_rounding(scores, f"column {str(column.name)!r}")

    def _refuse_texts(self, column: pd.Series, wrong: NDArray[np.bool_]) -> None:
        """Refuse texts among numbers: codes of missing values, decimal commas, and others."""
        option = self.request.door.option
        texts = column[wrong].astype("string").str.strip()
        codes = [each for each in texts.unique().tolist() if as_code(each) is not None]
        if codes and len(codes) == texts.nunique():
            raise self._coded(column, codes)
        at, first = int(wrong.argmax()), texts.iloc[0]
        where = f"column {column.name!r}: {first!r} on {self._located(at)}"
        if texts.str.fullmatch(DECIMAL_COMMA).all():
            if first.endswith("%"):
                raise InputError(
                    f"{where} is a percentage. Percentages are read with "
                    f"{option('scale', 'percent')}."
                )
            raise InputError(
                f"{where} has a decimal comma, which is read only where semicolons or tabs "
                "separate the fields. Save the table so, or write decimals with a point."
            )
        cure = (
            "Write only numbers in this column, and leave a cell empty where the value is missing."
        )
        if self.source.is_said:
            cure = "Write null where there is none, and leave such lines out with "
            cure += f"{option('drop_missing', True)}."
        if first.endswith("%"):
            cure = "Pass percentages as numbers without the sign, / 100."
            if column.name in (self.columns.prob, *self.request.others):
                cure = (
                    "Percentages, with or without the sign, are read with "
                    f"{option('scale', 'percent')}."
                )
        given = shortened(repr(str(column.iloc[at])))
        raise InputError(
            f"column {column.name!r}: {given} is not a number on {self._located(at)}. {cure}"
        )

    def _refuse_thousands(self, column: pd.Series, texts: pd.Series) -> None:
        """Refuse 1,000 between semicolons, which is one or a thousand, unless others show which."""
        comma = texts.str.contains(",", regex=False).fillna(False)
        if comma.any() and texts[comma].str.fullmatch(THOUSANDS).all():
            at = int(column.astype("string").str.contains(",", regex=False).fillna(False).argmax())
            raise InputError(
                f"column {column.name!r}: {str(column.iloc[at])!r} on {self._located(at)} can be a "
                "thousand or a decimal comma. Write numbers without marks of thousands."
            )

    def _refuse_points(self, column: pd.Series) -> None:
        """Refuse 1.000 beside columns with decimal commas, unless others show that it is one."""
        if self.source.separator not in DECIMAL_COMMAS or column.dtype.kind != "f":
            return
        others = [self.frame[name] for name in self.columns.needed if name != column.name]
        if not any(
            other.dtype.kind not in "biufmM"
            and other.name not in self.columns.labelled
            and other.iloc[:100].astype("string").str.fullmatch(DECIMAL_COMMA).any()
            for other in others
        ):
            return
        written = self.source.load(verbatim=True)[column.name]
        points = written.str.contains(".", regex=False)
        if points.any() and written[points].str.replace(".", ",").str.fullmatch(THOUSANDS).all():
            at = int(points.argmax())
            raise InputError(
                f"column {column.name!r}: {written.iloc[at]!r} on {self.source.located(at)} has a "
                "point, and other columns have decimal commas, so that it can be a thousand. Write "
                "all decimals alike, and numbers without marks of thousands."
            )

    def _refuse_mixed(self, column: pd.Series, signed: NDArray[np.bool_], numbers: Floats) -> None:
        """Refuse percentages with the sign beside numbers that look like probabilities."""
        unsigned = ~signed & ~np.isnan(numbers)
        if not numbers[unsigned].any() or (numbers[unsigned] > 1).any():
            return
        at, other = int(np.argmax(unsigned & (numbers > 0))), int(signed.argmax())
        raise InputError(
            f"column {column.name!r}: {shortened(str(column.iloc[at]))} on {self._located(at)} has "
            f"no percent sign, and {shortened(str(column.iloc[other]))} on "
            f"{self.source.where(self.start + other)} has one. All "
            f"{count(int(unsigned.sum()), 'number')} without the sign are at most 1, so that they "
            f"look like probabilities, which {self.request.door.option('scale', 'percent')} would "
            "read as less than one percent. Write all scores as percentages."
        )

    # Missing values

    def _refuse_coded_scores(self, column: pd.Series) -> None:
        """Refuse numbers that all are scores but for codes of missing ones."""
        if column.dtype.kind not in "if":
            return
        values, scale = column.to_numpy(), self.request.as_written
        outside = np.unique(values[(values < scale.lowest) | (values > scale.highest)])
        codes = [each for each in outside.tolist() if as_code(each) is not None]
        if codes and len(codes) == outside.size:
            raise self._coded(column, codes)

    def _coded(self, column: pd.Series, codes: list[Any], kept: str = "") -> InputError:
        """What to say of codes of missing values."""
        values = column if column.dtype.kind in "if" else column.map(_stripped)
        is_code = values.isin(codes).to_numpy(dtype=bool)
        shown = " and ".join(
            shortened(repr(code) if isinstance(code, str) else f"{code:g}") for code in codes
        )
        drop = self.request.door.option("drop_missing", True)
        return InputError(
            f"column {column.name!r} holds {shown} in {count(int(is_code.sum()), 'row')}, the "
            f"first on {self._located(int(is_code.argmax()))}: this looks like a code of missing "
            f"values. Make these cells empty; then {drop} leaves their rows out{kept}."
        )

    def _refuse_missing(self, missing: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> None:
        columns, door = self.columns, self.request.door
        of_time = [name for role, name in columns.named if role in ("time", "event", "entry")]
        needed = (
            "a score or a weight"
            if self.request.keeps_unknown
            else "an outcome, a score or a weight"
        )
        if of_time or columns.labelled:
            named = " or ".join(map(shortened, [*of_time, *columns.labelled]))
            needed = f"an outcome, a score, a weight or a value of {named}"
            if of_time:
                needed = f"a value of {named}, a score or a weight"
        if missing.all():
            raise InputError(f"every row of {self.source.path} lacks {needed}.")
        if self.request.drop_missing:
            return
        at = int(missing.argmax())
        empty = self.frame.iloc[at][columns.needed].isna()
        column = f" (column {empty.idxmax()!r})" if empty.any() else ""
        if self.request.keeps_unknown:
            raise InputError(
                f"{missing.sum():,} of {missing.size:,} rows lack {needed}, the first on "
                f"{self._located(at)}{column}. Outcomes may be missing here, scores may "
                "not: fill them in, or remove these rows from the file and say in the report how "
                "many."
            )
        more = ""
        if not of_time and not self.request.others and (unknown | ~missing).all():
            command = door.command(self.source.path, columns)
            more = f" To keep the scores of those without an outcome: {command}"
        raise InputError(
            f"{missing.sum():,} of {missing.size:,} rows lack {needed}, the first on "
            f"{self._located(at)}{column}. Fill them in, or leave them out with "
            f"{door.option('drop_missing', True)}.{more}"
        )

    def _imputed(self, probs: dict[str, Floats]) -> NDArray[np.bool_] | None:
        """All rows but those of imputation 0 when scores or outcomes are missing there."""
        columns = self.columns
        if columns.imputation is None:
            return None
        missing = np.any([np.isnan(values) for values in probs.values()], axis=0)
        missing |= self.frame[str(columns.event or columns.outcome)].isna().to_numpy(dtype=bool)
        text = self.frame[columns.imputation].astype("string").str.strip()
        original = text.isin([ORIGINAL, f"{ORIGINAL}.0"]).to_numpy(dtype=bool)
        return ~original if missing[original].any() and not original.all() else None

    # Outcomes and times

    def _outcomes(self) -> NDArray[Any]:
        """Outcomes as they are, but for the event, which is called as it was said to be."""
        import pandas as pd

        column, event = self.frame[str(self.columns.outcome)], self.request.pos_label
        values = column.to_numpy() if isinstance(column.dtype, np.dtype) else None
        if event is None and values is not None and are_binary_integers(values):
            return values
        codes, values_of = pd.factorize(column)
        labels = [_stripped(label) for label in values_of.tolist()]
        several = sorted({*labels}, key=str)
        coded = [each for each in several if as_code(each) is not None]
        if CLASSES < len(several) <= MOST_LABELS and coded and len(several) - len(coded) <= CLASSES:
            kept = f", and {self.request.door.unknown} keeps their scores"
            raise self._coded(column, coded, kept)
        distinct: NDArray[Any] = np.empty(len(labels) + 1, dtype=object)
        if event is None and {*labels} <= {0, 1}:
            distinct = np.array([*map(float, labels), np.nan])
        else:
            matches = [label for label in several if _is_label(label, event)]
            if several and event is not None and not matches:
                self._refuse_classes(several)
            named = [event if label in matches else label for label in labels]
            distinct[:] = [*named, None]
        return distinct[codes]

    def _refuse_classes(self, labels: list[Any]) -> None:
        option = self.request.door.option
        if len(labels) == 1:
            return  # one of the two classes may be absent
        shown = ", ".join(shortened(repr(label)) for label in labels[:4])
        cure = f"Name one of these with {option('pos_label')}, or another column with "
        cure += f"{option('outcome')}."
        raise InputError(
            f"column {self.columns.outcome!r} holds {shown}{', ...' * (len(labels) > 4)}, which "
            f"are not two classes with the event {shortened(repr(self.request.pos_label))}. {cure}"
        )

    def _timed(self, read: Cases, numbers: dict[str, Floats]) -> Cases:
        """The cases with their times, in place of an outcome."""
        import pandas as pd

        request, columns = self.request, self.columns
        column = self.frame[str(columns.event)]
        if column.dtype.kind in "biuf":
            values: NDArray[Any] = column.to_numpy(dtype=np.float64)
        else:
            values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
            if np.isnan(values).any():
                values = column.astype(object).map(_stripped).to_numpy()
        ends = Ends.of(str(columns.event), values, request.cause, request.censored, request.door)
        with read.worded():
            outcome = Survival(numbers["time"], ends.codes, numbers.get("entry"), cause=ends.cause)
        remarks = []
        if outcome.other.any():
            told = request.cause is not None
            remarks.append(ends.in_words(outcome, is_told=told, door=request.door))
        return replace(read, outcome=outcome, remarks=tuple(remarks))

    def _times(self, column: pd.Series) -> Encoded | NDArray[Any]:
        """Periods: numbers and dates as a typed file has them, texts verbatim, or by calendar."""
        if self.request.every is None:
            return column.to_numpy() if column.dtype.kind in "iufM" else _labels(column)
        import pandas as pd

        row, distinct = pd.factorize(column)
        dates = self._dates(column, pd.Series(distinct))
        texts = dates.dt.strftime(CALENDAR[self.request.every])
        if self.request.every == "quarter":
            texts = texts + dates.dt.quarter.astype("string")
        of_date, labels = pd.factorize(texts)
        return Encoded(np.append(of_date, -1)[row], np.asarray(labels, dtype=object))

    def _dates(self, column: pd.Series, distinct: pd.Series) -> pd.Series:
        """Dates, which may be texts, whole numbers such as 20240331, or dates already."""
        import pandas as pd

        if distinct.dtype.kind == "M":
            return distinct
        texts = distinct.astype(str).str.strip().str.removesuffix(".0")
        each = [pd.to_datetime(texts, format=form, errors="coerce") for form in DATE_FORMS]
        best = min(each, key=lambda dates: int(dates.isna().sum()))
        if best.isna().any():
            wrong = distinct[best.isna()].iloc[0]
            at = int((column == wrong).to_numpy(dtype=bool).argmax())
            raise InputError(
                f"column {column.name!r}: {shortened(str(wrong))!r} on {self._located(at)} is no "
                f"date that {self.request.door.option('every')} can read. Write all dates as "
                "2024-03-31."
            )
        return best


def _labels(column: pd.Series) -> Encoded:
    """Labels as they are written; numbers of typed files without a point where they are whole."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        row, distinct = column.cat.codes.to_numpy(), column.cat.categories
    else:
        row, distinct = pd.factorize(column)
    labels = np.empty(len(distinct), dtype=object)
    labels[:] = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in distinct.tolist()
    ]
    return Encoded(row.astype(np.intp, copy=False), labels)


def _taken(labels: Any, rows: NDArray[np.intp]) -> Any:
    return labels._replace(row=labels.row[rows]) if isinstance(labels, Encoded) else labels[rows]


def _is_label(label: object, event: Any) -> bool:
    """Whether a value in the table is what was said: 2 is "2" and "2.0", True is "true"."""
    if isinstance(label, (bool, np.bool_)):
        return str(label).lower() == str(event).lower()
    if isinstance(label, (int, float, np.number)):
        try:
            return float(event) == label
        except (TypeError, ValueError):
            return False
    return str(label) == str(event)


def _stripped(value: Any) -> Any:
    """A text without spaces around it, anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def read_cases(request: Request) -> Cases:
    """All cases of a file at once."""
    (cases,) = request.parts(at_once=True)
    return cases


def read(
    path: str | os.PathLike[str],
    *,
    outcome: str | None = None,
    prob: str | None = None,
    site: str | None = None,
    period: str | None = None,
    subgroup: str | Sequence[str] = (),
    cluster: str | None = None,
    stratum: str | None = None,
    imputation: str | None = None,
    sample_weight: str | None = None,
    time: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    horizon: float | None = None,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
    ignore: str | Collection[str] = (),
    every: Literal["week", "month", "quarter", "year"] | None = None,
    scale: Literal["probability", "percent", "logit", "survival"] = "probability",
    drop_missing: bool = False,
    independent: bool = False,
    cause: str | None = None,
    censored: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> CalibrationData:
    """Read a file with a row for each case.

    Parameters
    ----------
    path : path-like
        CSV (also .tsv, .txt, .gz), Excel (.xlsx), SPSS (.sav), Stata (.dta), SAS (.sas7bdat, .xpt),
        JSON lines (.jsonl; a field within others is called "scores.confidence"), Parquet, or a
        folder of Parquet files, of which some rows are in memory at a time.
    outcome, prob : str, optional
        Columns of outcomes and of predicted probabilities. By default the only ones that can be,
        of which a warning says why.
    site, period, cluster, stratum, imputation, sample_weight : str, optional
    subgroup : str or sequence of str
        Columns of these roles, as in `CalibrationData`. Labels are what is written: 007 is not 7.
    time, event, entry : str, optional
        In place of `outcome`, columns of times to an event and of what ended them, as in
        `Survival`; words are named by `cause` and `censored`.
    horizon : float, optional
        Of times: by when the scores are risks of the event.
    weight_type, pos_label
        As in `CalibrationData`.
    ignore : sequence of str
        Columns of hospitals or dates that do not matter, so that nobody asks.
    every : {"week", "month", "quarter", "year"}, optional
        Of a period with dates: by what they are taken.
    scale : {"probability", "percent", "logit", "survival"}
        What scores are written as.
    drop_missing : bool
        Leave out rows with a missing value, which are refused otherwise.
    independent : bool
        Cases are independent, though ids repeat.
    cause, censored : str, optional
        Code or word in `event` of the event (1), and of a case that left (0).
    encoding : str, optional
        Of text. By default UTF-8, or UTF-16 if the file begins with its mark.
    sheet : str, optional
        Of a workbook. By default the only one that is not empty.

    Returns
    -------
    CalibrationData

    Raises
    ------
    InputError
        With the column, the line and what to do; or with all that must be said of the file.

    Warns
    -----
    GuessWarning
        Which columns were taken that were not named, and why.

    Examples
    --------
    >>> import bayescal as bc
    >>> data = bc.read("cases.csv", outcome="died", prob="risk", site="ward")  # doctest: +SKIP
    """
    from bayescal.core.errors import GuessWarning

    columns = Columns(
        *(outcome, prob, sample_weight, site, period, cluster, stratum, imputation),
        *(tuple(as_items(subgroup, "subgroup")), time, event, entry),
    )
    request = Request(
        Path(path),
        columns,
        pos_label=pos_label,
        weight_type=weight_type,
        horizon=horizon,
        cause=cause,
        censored=censored,
        every=every,
        scale=scale,
        drop_missing=as_flag(drop_missing, "drop_missing"),
        ignore=tuple(as_items(ignore, "ignore")),
        independent=as_flag(independent, "independent"),
        encoding=encoding,
        sheet=sheet,
    )
    parts = request.parts()
    first = next(parts)
    if first.reasons:
        told = "; ".join(
            f"{role}={getattr(first.columns, role)!r} ({reason})"
            for role, reason in first.reasons.items()
        )
        warnings.warn(f"columns of {path} were guessed: {told}.", GuessWarning, stacklevel=2)
    for remark in first.remarks:
        warnings.warn(remark, GuessWarning, stacklevel=2)
    second = next(parts, None)
    if second is None:
        return first.table()
    reader = Reader(**request.of_table)
    for part in chain((first, second), parts):
        with part.worded():
            reader.add(part.given, str(path))
    return CalibrationData._new(reader.finished())
