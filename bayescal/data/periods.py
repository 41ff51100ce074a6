"""Periods: labels in order of time, and how much time is between them."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import shortened
from bayescal.data.cases import as_vector, is_missing
from bayescal.data.columns import Encoded

__all__ = ["Periods"]

LARGEST_PERIOD = 1e15
"""Numbers beyond it are no times of anything; differences of one are still seen below."""

SHORTEST_STEP = 1e-9
"""Least time between two periods, as a share of the time from the first to the last.

From 1e-10 on the variance of what changes in such a step is lost beside that of the whole.
"""
MOST_PERIODS = 60
MONTHS = 12
EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class Periods:
    """Labels of periods with their positions in time.

    Attributes
    ----------
    kind : {"numbers", "months", "days", "categories"}
        Unit of the positions.
    position : dict of str to float
        Of each label, ascending.
    """

    kind: str
    position: dict[str, float]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in order of time."""
        return tuple(self.position)

    @property
    def elapsed(self) -> Floats:
        """Time from each period to the next, as shares of the time from the first to the last."""
        steps = np.diff(list(self.position.values()))
        return np.asarray(steps / steps.sum())

    @classmethod
    def of(cls, kind: str, position: dict[str, float]) -> Periods:
        """Periods in order of their positions."""
        return cls(kind, dict(sorted(position.items(), key=lambda pair: pair[1])))

    def among(self, labels: Collection[str]) -> Periods:
        """Those of the periods that have these labels."""
        kept = {label: at for label, at in self.position.items() if label in labels}
        return Periods(self.kind, kept)

    def joined(self, more: Periods, name: str = "period") -> Periods:
        """These periods and more of the same kind; `name` is what the user calls them."""
        if more.kind != self.kind:
            raise CaseError(
                name,
                f"holds {more.kind}, such as {more.labels[0]!r}, but those before are {self.kind}, "
                f"such as {self.labels[0]!r}",
                cure="Give both in one form.",
            )
        joined = self.position | more.position
        for label, position in self.position.items():
            if joined[label] != position:
                raise CaseError(
                    name,
                    f"holds {label!r} as category {joined[label] + 1:g} of its order, but it was "
                    f"category {position + 1:g}",
                    cure="Add new categories after the last one.",
                )
        label_at: dict[float, str] = {}
        for label, position in joined.items():
            other = label_at.setdefault(position, label)
            if other != label:
                raise CaseError(
                    name,
                    f"holds {label!r}, and those before have {other!r}, which is the same time",
                    cure="Give both in one form.",
                )
        return Periods.of(self.kind, joined)

    def checked(self) -> Periods:
        """The periods themselves, refused if there are too few or too many to compare."""
        size = len(self.position)
        if size < 2:
            raise InputError(
                f"there is one period only, {self.labels[0]!r}: nothing can have changed. Fit "
                "without periods, and add the next period with bayescal.update."
            )
        _check_few(size, "period")
        if self.elapsed.min() < SHORTEST_STEP:
            at = int(self.elapsed.argmin())
            raise InputError(
                f"from period {self.labels[at]} to {self.labels[at + 1]} is too short a time, "
                f"beside that from {self.labels[0]} to {self.labels[-1]}, to be told from none. "
                "Check the periods that lie far from the others."
            )
        return self


def _check_few(periods: int, name: str) -> None:
    if periods > MOST_PERIODS:
        raise CaseError(
            name,
            f"holds {periods:,} periods, but at most {MOST_PERIODS} are compared, in about ten "
            "seconds",
            cure="months",
        )


def read_periods(values: Any, name: str = "period") -> tuple[NDArray[np.intp], list[str], Periods]:
    """The period of each case, and the order of the periods.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers, dates, texts of dates or whole numbers, or an ordered pandas Categorical. Numbers
        such as 202403, 20240331 and 2024.03 are months and days, if all of them can be.
    name : str
        What the user calls them.

    Returns
    -------
    row : ndarray of int of shape (n,)
        Index of each case's label.

    Examples
    --------
    >>> from bayescal.data.periods import read_periods
    >>> row, labels, periods = read_periods(["2024-03", "2024-01", "2024-03"])
    >>> periods.labels, periods.elapsed
    (('2024-01', '2024-03'), array([1.]))
    """
    kind = getattr(values, "dtype", None)
    if getattr(kind, "ordered", None):
        return _categories(values, name)
    if isinstance(values, Encoded):
        present, row = np.unique(values.row, return_inverse=True)
        distinct = values.labels[present].tolist()
        _check_few(len(distinct), name)
    else:
        row, distinct = _distinct(values, name)
    if isinstance(distinct, np.ndarray):
        labels, positions, unit = _of_datetimes(distinct)
    else:
        labels, positions, unit = _named(distinct, name)
    order = Periods.of(unit, {})
    for label, position in zip(labels, positions, strict=True):
        order = order.joined(Periods(unit, {label: position}), name)
    return row, labels, order


def _distinct(values: Any, name: str) -> tuple[NDArray[np.intp], NDArray[Any] | list[Any]]:
    """The distinct values, as datetimes of NumPy or else as a list, and which each case has."""
    if str(getattr(values, "dtype", "")).startswith("period["):
        values = values.astype(str)
    listed = isinstance(values, (list, tuple))
    given = as_vector(np.array(values, dtype=object) if listed else values, name)
    is_missing_at = [at for at, value in enumerate(given.tolist()) if is_missing(value)]
    if is_missing_at:
        raise _missing(is_missing_at[0], name)
    texts = [str(value) for value in given.tolist()] if given.dtype == object else given
    _check_few(len(set(texts if given.dtype == object else given.tolist())), name)
    distinct, row = np.unique(texts, return_inverse=True)
    if given.dtype == object:
        first = {str(value): value for value in given.tolist()}
        return row, [first[text] for text in distinct.tolist()]
    return row, distinct if given.dtype.kind == "M" else distinct.tolist()


def _missing(at: int, name: str) -> CaseError:
    cure = "Say when every case was, or drop the case."
    return CaseError(name, "is missing", row=at, cure=cure)


Named = tuple[list[str], list[float], str]


def _categories(values: Any, name: str) -> tuple[NDArray[np.intp], list[str], Periods]:
    categorical = getattr(values, "cat", values)
    labels, codes = [str(each) for each in categorical.categories], np.asarray(categorical.codes)
    if (codes < 0).any():
        raise _missing(int((codes < 0).argmax()), name)
    present = np.unique(codes)
    _check_few(present.size, name)
    position = {labels[code]: float(code) for code in present.tolist()}
    return codes.astype(np.intp), labels, Periods.of("categories", position)


def _named(values: list[Any], name: str) -> Named:
    """Labels, positions and unit of distinct values of one type."""
    if all(isinstance(value, str) for value in values):
        return _of_texts(values, name)
    if all(isinstance(value, datetime.date) for value in values):
        if any(getattr(value, "tzinfo", None) for value in values):
            raise CaseError(
                name,
                "holds times of a time zone",
                cure=f"Give dates, or times without zone, such as {name}.dt.tz_localize(None).",
            )
        return _of_datetimes(np.array(values, dtype="datetime64[s]"))
    if all(isinstance(value, np.datetime64) for value in values):
        return _of_datetimes(np.array(values))
    numeric = all(
        isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        for value in values
    )
    if numeric and all(abs(value) <= LARGEST_PERIOD for value in values):
        return _of_numbers([float(value) for value in values], name)
    raise _no_order(values, name)


def _of_numbers(values: list[float], name: str) -> Named:
    """Months or days, if all are written as 202403, 20240331 or 2024.03 are; else numbers."""
    labels = [f"{value:.15g}" for value in values]
    with_months = [f"{value:.2f}" for value in values]  # October is 2023.10, and not 2023.1
    for texts in (labels, with_months):
        if list(map(float, texts)) == values and (read := _in_time(texts, DATES)):
            return (texts, *read)
    return labels, values, "numbers"


def _of_datetimes(values: NDArray[Any]) -> Named:
    unit = np.datetime_data(values.dtype)[0]
    if unit == "Y":
        return _of_texts([str(value) for value in values], "period")
    if unit == "M":
        months = values.astype(np.int64).astype(np.float64)
        return [str(value) for value in values], months.tolist(), "months"
    days = values.astype("datetime64[s]").astype(np.int64) / 86_400
    dates = values.astype("datetime64[D]")
    shown = dates if (dates == values).all() else values.astype("datetime64[s]")
    return [str(value) for value in shown], days.tolist(), "days"


def _of_texts(values: list[str], name: str) -> Named:
    texts = [re.sub(r"\.0+$", "", value.strip()) for value in values]  # 202403.0, beside gaps
    read = _in_time(_months_with_points(texts) or texts, (*DATES, *OTHERS))
    if read is None:
        raise _no_order(values, name)
    return (values, *read)


def _months_with_points(values: list[str]) -> list[str] | None:
    """Months such as 1.2023, 01/2023 and 2023.1 as 2023-01 is, unless one is none.

    A number loses the last digit of 2023.10. So 2023.1 is October, unless another text shows that
    no noughts are written: 2023.2, or 2023.10 itself.
    """
    first = [re.fullmatch(rf"(\d\d?)[./-]({CENTURY})", value) for value in values]
    last = [re.fullmatch(rf"({CENTURY})\.(\d\d?)", value) for value in values]
    if all(first):
        parts = [(each[2], each[1].zfill(2)) for each in first if each]
    elif all(last):
        parts = [(each[1], each[2]) for each in last if each]
        is_bare = any(month in {*"23456789", "10"} for _, month in parts)
        parts = [(year, f"{m:0>2}" if is_bare else f"{m:0<2}") for year, m in parts]
    else:
        return None
    if not all(1 <= int(month) <= MONTHS for _, month in parts):
        return None
    return [f"{year}-{month}" for year, month in parts]


def _in_time(texts: list[str], forms: Sequence[Form]) -> tuple[list[float], str] | None:
    """Positions and unit of texts that all are written in one of these forms."""
    for pattern, unit, position in forms:
        matches = [re.fullmatch(pattern, text) for text in texts]
        try:
            if all(matches):
                return [position(match.groupdict()) for match in matches if match], unit
        except ValueError:  # no date: 20230231
            continue
    return None


def _day(date: dict[str, str]) -> float:
    day = datetime.date(int(date["y"]), int(date["m"]), int(date["d"]))
    return float(day.toordinal() - EPOCH.toordinal())


def _month(date: dict[str, str]) -> float:
    first = datetime.date(int(date["y"]), int(date["m"]), 1)
    return float(MONTHS * (first.year - EPOCH.year) + first.month - 1)


def _quarter(date: dict[str, str]) -> float:
    return MONTHS * (float(date["y"]) - EPOCH.year) + 3 * (float(date["q"]) - 1)


def _week(date: dict[str, str]) -> float:
    monday = datetime.date.fromisocalendar(int(date["y"]), int(date["w"]), 1)
    return float(monday.toordinal() - EPOCH.toordinal())


Form: TypeAlias = tuple[str, str, Callable[[dict[str, str]], float]]
CENTURY = r"(?:19|20)\d\d"
MIDNIGHT = r"(?:[ T]00:00(?::00(?:\.0+)?)?)?"
DATES: tuple[Form, ...] = (
    (rf"(?P<y>{CENTURY})\.?(?P<m>0[1-9]|1[0-2])", "months", _month),
    (r"(?P<y>\d{4})/(?P<m>\d{1,2})", "months", _month),
    (rf"(?P<y>{CENTURY})(?P<m>\d\d)(?P<d>\d\d)", "days", _day),
    (rf"(?P<y>\d{{4}})([-/.])(?P<m>\d\d?)\2(?P<d>\d\d?){MIDNIGHT}", "days", _day),
)
"""Dates, also those that are plain numbers, of which 202312 and 202401 would lie far apart."""
OTHERS: tuple[Form, ...] = (
    (r"(?P<number>[+-]?\d+(?:\.\d*)?)", "numbers", lambda text: float(text["number"])),
    (r"(?P<y>\d{4})-(?P<m>\d{2})", "months", _month),
    (r"(?P<y>\d{4})-?Q(?P<q>[1-4])", "months", _quarter),
    (r"(?P<y>\d{4})-?W(?P<w>\d{2})", "days", _week),
)


def _no_order(values: list[Any], name: str) -> CaseError:
    shown = ", ".join(shortened(repr(value)) for value in values[:3])
    return CaseError(
        name,
        f"holds {shown}{', ...' * (len(values) > 3)}, whose order is not plain",
        cure="periods",
    )
