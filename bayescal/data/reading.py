"""From a file to cases: each column is read as its role says, and a fault is told by its place.

`bayescal.read`, the command line and the app read by this alone.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    CaseError,
    GuessWarning,
    InputError,
    LabelWarning,
    WeightWarning,
    as_flag,
    as_items,
    warn,
)
from bayescal.core.files import as_path
from bayescal.core.text import count, shortened
from bayescal.data.cases import OF_CLASSES, are_binary_integers, check_scores, without_rounding
from bayescal.data.columns import (
    CALENDAR,
    OF_TABLE,
    PERCENT,
    PROBABILITY,
    ROLES,
    ColumnRoles,
    Columns,
    Encoded,
    Request,
    WeightType,
    check_columns,
    spelt_out,
)
from bayescal.data.contents import Reader
from bayescal.data.files import Source, TableFile, is_text, is_workbook, open_table
from bayescal.data.guesses import Guess, as_code, guess, stripped
from bayescal.data.table import CalibrationData
from bayescal.data.times import Ends, Survival
from bayescal.data.weights import WEIGHT_TYPES

if TYPE_CHECKING:
    import pandas as pd

# Between fields whose decimals may have a comma.
DECIMAL_COMMAS = (";", "\t")
DECIMAL_COMMA = r"[-+]?\d+,\d+\s*%?"
THOUSANDS = r"[-+]?[1-9]\d{0,2}(,\d{3})+"
# How a language model writes a percent sign.
SAID = r"\s*(?:percent|per cent)$"
# The number under which mice keeps the data as they were before imputation.
ORIGINAL = "0"
NUMBERS = [name for name, role in (ROLES | OF_TABLE).items() if role.kind == "numbers"]
CLASSES = 2
# Distinct outcomes beyond which no codes of missing ones are looked for.
MOST_LABELS = 10
NO_NUMBER = "Write only numbers in this column, and leave a cell empty where the value is missing."
NO_SIGN = "Pass percentages as numbers without the sign, / 100."
# How dates may be written: 2024-03-31 with or without a time, 20240331, 31.03.2024, 2024/03/31.
#
# Of dates such as 3/4/2024 it is not known which number is the month.
DATE_FORMS = ("ISO8601", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d")


@dataclass(frozen=True)
class Cases:
    """Rows of a file in which nothing is missing but, where they are taken, outcomes.

    `probs` has the predictions by column; `roles` are those of `CalibrationData`; `at` says where
    each case stands in the file. Rows as they were before imputation, the `original` ones, are
    neither among those read nor those dropped.
    """

    request: Request
    source: Source
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
    """What the reader should bear in mind."""

    @property
    def columns(self) -> Columns:
        """Which hold what; those that were guessed among them."""
        return self.request.columns

    @property
    def prob(self) -> Any:
        """The first predictions."""
        return self.probs[str(self.columns.prob)]

    @property
    def given(self) -> dict[str, Any]:
        """The cases, by the arguments of `CalibrationData`."""
        given = {"y_true": self.outcome, "y_prob": self.prob, "sample_weight": self.weight}
        return {name: each for name, each in given.items() if each is not None} | self.roles

    @cached_property
    def data(self) -> CalibrationData:
        """The table of the cases."""
        with self.worded():
            return CalibrationData(**self.given, **self.request.of_table)

    def labels(self, role: str) -> Any:
        """The label of each case in a role; None without it."""
        labels = self.roles.get(role)
        return None if labels is None else labels.values()

    @property
    def event(self) -> str:
        """What counts as the event, and by when: `2 by 5 years`."""
        request = self.request
        if request.horizon is None:
            return str(request.pos_label or "1")
        return f"{request.cause or 1} {request.by}"

    @property
    def title(self) -> str:
        """Of what it is told: the score, the file and the outcome."""
        of = self.columns.outcome or self.columns.event
        title = f"{shortened(str(self.columns.prob))} in {shortened(self.request.path.name)}, "
        title += f"outcome {shortened(str(of))}"
        return title if self.event == "1" else f"{title} is {shortened(self.event)}"

    @property
    def told(self) -> dict[str, Any]:
        """Where the data came from, for the record."""
        request, data = self.request, self.data
        told = {
            "file": str(request.path),
            "event": self.event,
            "rows_read": self.rows,
            "rows_dropped": self.dropped,
            **self.columns.told,
            "weight_type": self.columns.sample_weight and data.weight_type,
        }
        if data.imputations:
            told["imputations"] = len(data.imputations)
        if data.follow_up is not None:
            told["horizon"] = data.follow_up.horizon
        return told | request.told

    @contextmanager
    def worded(self, prob: str | None = None, **others: str | None) -> Iterator[None]:
        """Tell faults in the cases by the column, the place in the file, and the door's options.

        They are of the predictions in `prob`, and of others by the arguments that they are. A door
        that asks is told what weights can be, and one of the two classes may be absent.
        """
        option = self.request.door.option
        columns = self.columns if prob is None else self.columns._replace(prob=prob)
        named = {argument: f"column {name!r}" for argument, name in others.items() if name}
        try:
            with warnings.catch_warnings():
                if self.request.door.asks:
                    warnings.simplefilter("error", WeightWarning)
                    warnings.simplefilter("ignore", LabelWarning)
                yield
        except WeightWarning as warning:
            ways = " or ".join(option("weight_type", each) for each in WEIGHT_TYPES)
            raise InputError(
                f"column {columns.sample_weight!r} holds whole numbers that can be "
                f"{warning.types}. Say which they are with {ways}."
            ) from None
        except CaseError as error:
            raise InputError(
                _in_scale(error, self.request).worded(
                    lambda argument: named.get(argument) or columns.called(argument),
                    lambda row: self.source.located(int(self.at[row])),
                    _cures(self.request),
                )
            ) from error


def _cures(request: Request) -> dict[str, str]:
    """What to do about a fault, in the words of a door."""
    option = request.door.option
    percent = f"If these are percentages, read them with {option('scale', 'percent')}."
    one_class = (
        "Make a column that is 1 for the event and 0 for all else, or name another with "
        f"{option('outcome')}."
    )
    return {
        "percent": "" if request.as_written is PERCENT else percent,
        "logit": f"If these are log-odds, read them with {option('scale', 'logit')}.",
        "pos_label": f"Say which label is the event with {option('pos_label')}.",
        "labels": "Outcomes are 0/1 or boolean; for other labels say which is the event with "
        f"{option('pos_label')}.",
        "several labels": one_class,
        OF_CLASSES: one_class,
        "percent sign": NO_SIGN,
        "months": f"Use longer ones, such as months, with {option('every', 'month')}.",
        "periods": "Give months as '2024-03', days as '2024-03-31', quarters as '2024-Q1', or "
        "numbers, all in one form.",
        "numbers": NO_NUMBER,
        "sampling": "If the weights correct for how cases were sampled, say "
        f"{option('weight_type', 'sampling')}.",
        "codes": f"If these are such, add {option('cause', 2)} {option('censored', 1)}. If they "
        "are two causes and no case left, name the one that scores are risks of with "
        f"{option('cause')}.",
    }


def _in_scale(error: CaseError, request: Request) -> CaseError:
    """A fault of a score on the scale that it was written on."""
    scale = request.as_written
    if scale is PROBABILITY or error.value is None or error.fault != "is outside [0, 1]":
        return error
    written = float(scale.from_probability(np.asarray(float(error.value))))
    return error.changed(
        value=f"{written:.12g}",
        fault=f"is outside [{scale.lowest:g}, {scale.highest:g}]",
        more=error.more.replace("probabilities", scale.name),
    )


@dataclass(frozen=True)
class _Part:
    """Some rows of a file, of which the columns are known; they begin at row `start`."""

    request: Request
    source: Source
    frame: pd.DataFrame
    start: int = 0

    @property
    def columns(self) -> Columns:
        """Which hold what."""
        return self.request.columns

    def cases(self, reasons: dict[str, str]) -> Cases:
        """The cases, each column read as its role says."""
        part, request, columns = self._imputed(), self.request, self.columns
        frame, original = part.frame, len(self.frame) - len(part.frame)
        names = list(dict.fromkeys([str(columns.prob), *request.others]))
        for name in names:
            part._refuse_coded_scores(frame[name])
        scores = {name: part._probabilities(frame[name]) for name in names}
        of_numbers = {role: name for role, name in columns.named if role in NUMBERS}
        numbers = {role: part.numbers(frame[name]) for role, name in of_numbers.items()}
        labels = {
            name: part._times(frame[name]) if name == columns.period else _labels(frame[name])
            for name in columns.labelled
        }
        lacks = {name: np.isnan(each) for name, each in scores.items()}
        lacks |= {of_numbers[role]: np.isnan(each) for role, each in numbers.items()}
        lacks |= {name: each.row < 0 for name, each in labels.items()}
        ended = columns.event or columns.outcome
        if ended is not None and not request.keeps_unknown:
            lacks[ended] = frame[ended].isna().to_numpy(dtype=bool)
        missing: NDArray[np.bool_] = np.any([*lacks.values()], axis=0)
        if missing.any():
            part._refuse_missing(lacks, missing)
            known = np.flatnonzero(~missing)
            scores, numbers = (
                {name: each[known] for name, each in values.items()} for values in (scores, numbers)
            )
            labels = {name: each._replace(row=each.row[known]) for name, each in labels.items()}
            part = replace(part, frame=frame.iloc[known])
        cases = Cases(
            request,
            self.source,
            reasons,
            None if ended is None or columns.time is not None else part._outcomes(),
            scores,
            numbers.get("sample_weight"),
            columns.values(labels.__getitem__, labels_alone=True),
            self.start + np.asarray(part.frame.index, np.intp),
            len(frame),
            int(missing.sum()),
            original,
        )
        for name in names:
            with cases.worded(name):
                check_scores(scores[name])
        return part._timed(cases, numbers) if columns.time is not None else cases

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
            self._refuse_thousands(column, ",")
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
        has_commas = texts.str.fullmatch(DECIMAL_COMMA).all()
        clause, cure = "is not a number", NO_NUMBER
        if texts.iloc[0].endswith("%"):
            clause = "is a percentage" if has_commas else clause
            is_score = column.name in (self.columns.prob, *self.request.others)
            percent = f"with or without the sign, are read with {option('scale', 'percent')}"
            cure = f"Percentages, {percent}." if is_score else NO_SIGN
        elif has_commas:
            clause = "has a decimal comma, which is read only where semicolons or tabs separate the"
            clause, cure = f"{clause} fields", "Save the table so, or write decimals with a point."
        elif self.source.is_said:
            drop = option("drop_missing", True)
            cure = f"Write null where there is none, and leave such lines out with {drop}."
        raise self._fault(column, wrong, clause, cure)

    def _fault(
        self, column: pd.Series, wrong: NDArray[np.bool_], clause: str, cure: str
    ) -> InputError:
        """What to say of values that are read in no way, or in two, by the first."""
        at = int(wrong.argmax())
        given = shortened(repr(str(column.iloc[at]).strip()))
        where = self.source.located(self.start + int(column.index[at]))
        return InputError(f"column {column.name!r}: {given} on {where} {clause}. {cure}")

    def _refuse_thousands(self, column: pd.Series, mark: str) -> None:
        """Refuse 1,000 or 1.000 between semicolons, one or a thousand, unless others show which."""
        texts = column.astype("string").str.strip()
        marked = texts.str.contains(mark, regex=False).fillna(False).to_numpy(dtype=bool)
        if marked.any() and texts[marked].str.replace(".", ",").str.fullmatch(THOUSANDS).all():
            cure = "Write all decimals alike, and numbers without marks of thousands."
            clause = "can be a thousand or a number with decimals"
            raise self._fault(column, marked, clause, cure)

    def _refuse_points(self, column: pd.Series) -> None:
        """Refuse 1.000 beside columns with decimal commas, unless others show that it is one."""
        if self.source.separator not in DECIMAL_COMMAS or column.dtype.kind != "f":
            return
        others = [self.frame[name] for name in self.columns.needed if name != column.name]
        if any(
            other.dtype.kind not in "biufmM"
            and other.name not in self.columns.labelled
            and other.iloc[:100].astype("string").str.fullmatch(DECIMAL_COMMA).any()
            for other in others
        ):
            self._refuse_thousands(self.source.load(verbatim=True)[column.name], ".")

    def _refuse_mixed(self, column: pd.Series, signed: NDArray[np.bool_], numbers: Floats) -> None:
        """Refuse percentages with the sign beside numbers that look like probabilities."""
        unsigned = ~signed & ~np.isnan(numbers)
        if not numbers[unsigned].any() or (numbers[unsigned] > 1).any():
            return
        clause = (
            f"has no percent sign, and {shortened(str(column.iloc[int(signed.argmax())]))} has one."
            f" All {count(int(unsigned.sum()), 'number')} without the sign are at most 1, so that "
            "they look like probabilities, which "
            f"{self.request.door.option('scale', 'percent')} would read as less than one percent"
        )
        cure = "Write all scores as percentages."
        raise self._fault(column, unsigned & (numbers > 0), clause, cure)

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
        values = column if column.dtype.kind in "if" else column.map(stripped)
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

    def _refuse_missing(
        self, lacks: Mapping[str, NDArray[np.bool_]], missing: NDArray[np.bool_]
    ) -> None:
        """Refuse rows that lack a value, unless they are left out and others stay."""
        columns, request = self.columns, self.request
        if request.drop_missing and not missing.all():
            return
        drop = request.door.option("drop_missing", True)
        cure = f"Fill them in, or leave them out with {drop}."
        outcome = lacks.get(str(columns.outcome))
        if request.keeps_unknown and columns.outcome is not None:
            cure = f"Outcomes may be missing here, and nothing else. {cure[:-1]}, and the rows "
            cure += "without an outcome too."
        elif request.needs_outcomes and outcome is not None and (outcome == missing).all():
            cure += " An assessment keeps the scores of those without an outcome."
        at = self._located(int(missing.argmax()))
        raise InputError(f"{lacking(lacks)}, the first on {at}. {cure}")

    def _imputed(self) -> _Part:
        """All rows but those of imputation 0, when scores or outcomes are missing there."""
        columns = self.columns
        if columns.imputation is None:
            return self
        told = [str(columns.prob), *self.request.others, str(columns.event or columns.outcome)]
        missing = self.frame[told].isna().any(axis=1)
        text = self.frame[columns.imputation].astype("string").str.strip()
        original = text.isin([ORIGINAL, f"{ORIGINAL}.0"])
        is_left = missing[original].any() and not original.all()
        return replace(self, frame=self.frame[~original]) if is_left else self

    # Outcomes and times

    def _outcomes(self) -> NDArray[Any]:
        """Outcomes as they are, but for the event, which is called as it was said to be."""
        import pandas as pd

        column, event = self.frame[str(self.columns.outcome)], self.request.pos_label
        values = column.to_numpy() if isinstance(column.dtype, np.dtype) else None
        if event is None and values is not None and are_binary_integers(values):
            return values
        codes, values_of = pd.factorize(column)
        labels = [stripped(label) for label in values_of.tolist()]
        several = sorted({*labels}, key=str)
        coded = [each for each in several if as_code(each) is not None]
        option = self.request.door.option
        if CLASSES < len(several) <= MOST_LABELS and coded and len(several) - len(coded) <= CLASSES:
            raise self._coded(
                column, coded, f", and {self.request.door.unknown} keeps their scores"
            )
        if event is None and {*labels} <= {0, 1}:
            return np.array([*map(float, labels), np.nan])[codes]
        matches = [label for label in several if _is_label(label, event)]
        if len(several) > 1 and event is not None and not matches:  # one class may be absent
            shown = ", ".join(shortened(repr(label)) for label in several[:4])
            raise InputError(
                f"column {self.columns.outcome!r} holds {shown}{', ...' * (len(several) > 4)}, "
                f"which are not two classes with the event {shortened(repr(event))}. Name the "
                f"event with {option('pos_label')}, or another column with {option('outcome')}."
            )
        distinct: NDArray[Any] = np.empty(len(labels) + 1, dtype=object)
        distinct[:] = [*(event if label in matches else label for label in labels), None]
        return distinct[codes]

    def _timed(self, read: Cases, numbers: Mapping[str, Floats]) -> Cases:
        """The cases with their times, in place of an outcome."""
        import pandas as pd

        request, columns, time = self.request, self.columns, numbers["time"]
        column = self.frame[str(columns.event)]
        if column.dtype.kind in "biuf":
            values: NDArray[Any] = column.to_numpy(dtype=np.float64)
        else:
            values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
            if np.isnan(values).any():
                values = column.astype(object).map(stripped).to_numpy()
        ends = Ends.of(str(columns.event), values, request.cause, request.censored, request.door)
        with read.worded():
            outcome = Survival(time, ends.codes, numbers.get("entry"), cause=ends.cause)
        remarks, option, event = [], request.door.option, outcome.event
        if outcome.other.any():
            told = request.cause is not None
            remarks.append(ends.in_words(outcome, is_told=told, door=request.door))
        last = max(request.horizon) if isinstance(request.horizon, tuple) else request.horizon
        if event.any() and (time > last).all():
            remarks.append(
                f"no event comes by {last:g}, and {count(int(event.sum()), 'event')} later; times "
                f"in column {shortened(str(columns.time))} run from {time.min():g} to "
                f"{time.max():g}. {option('horizon')} is in the units of these times: if they are "
                f"days, 5 years are {option('horizon', 1826)}."
            )
        return replace(read, outcome=outcome, remarks=tuple(remarks))

    def _times(self, column: pd.Series) -> Encoded:
        """Periods: numbers and dates as a typed file has them, texts verbatim, or by calendar."""
        import pandas as pd

        if self.request.every is None and column.dtype.kind not in "iufM":
            return _labels(column)
        row, distinct = pd.factorize(column)
        if self.request.every is None:
            return Encoded(row, np.asarray(distinct, dtype=object))
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
            wrong = (column == distinct[best.isna()].iloc[0]).to_numpy(dtype=bool)
            clause = f"is no date that {self.request.door.option('every')} can read"
            raise self._fault(column, wrong, clause, "Write all dates as 2024-03-31.")
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


def lacking(lacks: Mapping[str, NDArray[np.bool_]]) -> str:
    """How many rows lack a value, and in which columns."""
    missing = np.any([*lacks.values()], axis=0)
    each = ", ".join(f"{n:,} in {name!r}" for name, mask in lacks.items() if (n := mask.sum()))
    return f"{missing.sum():,} of {missing.size:,} rows lack a value: {each}"


def _is_label(label: object, event: Any) -> bool:
    """Whether a value in the table is what was said: 2 is "2" and "2.0", True is "true"."""
    if isinstance(label, (bool, np.bool_)):
        return str(label).lower() == str(event).lower()
    if isinstance(label, (int, float, np.number)):
        try:
            return float(event) == label
        except (TypeError, ValueError, OverflowError):
            return False
    return str(label) == str(event)


def open_as(request: Request, path: TableFile | None = None) -> Source:
    """Look at the file, or at another one that is written alike."""
    other = request.path if path is None else path
    option = request.door.option
    for value, argument, fits, what in (
        (request.encoding, "encoding", is_text, "text"),
        (request.sheet, "sheet", is_workbook, "Excel workbooks (.xlsx)"),
    ):
        if value is not None and not any(map(fits, (request.path, other))):
            raise InputError(
                f"{option(argument)} goes with {what}, and {request.path} is none by its name."
            )
    encoding = request.encoding if is_text(other) else None
    return open_table(other, encoding, request.sheet if is_workbook(other) else None, request.door)


def read_scores(request: Request, path: TableFile, name: str) -> Floats:
    """The probabilities in a column of another file, NaN where they are missing and may be."""
    source = open_as(request, path)
    check_columns([(path.name, name)], source.names, shortened)
    only = replace(request, columns=Columns(prob=name), others={}, weight_type=None, every=None)
    (part,) = _parts(only, source, source.load(), at_once=True)
    read = part.cases({})
    scores = np.full(len(part.frame), np.nan)
    scores[read.at] = read.prob
    return scores


def _parts(
    request: Request, source: Source, first: pd.DataFrame, *, at_once: bool
) -> Iterator[_Part]:
    """The rows of a file, all at once or some at a time."""
    columns = request.columns
    needed = list(dict.fromkeys([*columns.needed, *request.others]))
    frames = source.parts(needed, columns.labelled, first)
    if at_once:
        import pandas as pd

        several = [*frames]
        frames = iter(several if len(several) < 2 else [pd.concat(several, ignore_index=True)])
    start = 0
    for frame in frames:
        yield _Part(request, source, frame, start)
        start += len(frame)


def look(request: Request) -> tuple[Source, Guess]:
    """A file, and what is known of its columns by its first rows."""
    source = open_as(request)
    return source, guess(source.load(request.columns.labelled), request)


def parts_of(request: Request, *, at_once: bool = False) -> Iterator[Cases]:
    """The cases of a file, some at a time where it is of Parquet."""
    source, made = look(request)
    request = made.answered()
    at_once = at_once or request.columns.imputation is not None
    for part in _parts(request, source, made.frame, at_once=at_once):
        yield part.cases(made.reasons)


def read_cases(request: Request) -> Cases:
    """All cases of a file at once."""
    (cases,) = parts_of(request, at_once=True)
    return cases


@spelt_out(ColumnRoles)
def read(
    path: str | os.PathLike[str],
    *,
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
    **roles: Unpack[ColumnRoles],
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
    request = Request(
        as_path(path),
        Columns.given(**roles),
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
    parts = parts_of(request)
    first = next(parts)
    if first.reasons:
        told = "; ".join(
            f"{role}={getattr(first.columns, role)!r} ({reason})"
            for role, reason in first.reasons.items()
        )
        warn(f"columns of {path} were guessed: {told}.", GuessWarning)
    for remark in first.remarks:
        warn(remark, GuessWarning)
    second = next(parts, None)
    if second is None:
        return first.data
    reader = Reader(**request.of_table)
    for part in chain((first, second), parts):
        with part.worded():
            reader.add(part.given, str(path))
    return CalibrationData._new(reader.finished())
