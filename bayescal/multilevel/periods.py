"""Periods: labels in order of time, and how much time is between them."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.validate import as_vector

__all__ = ["MOST_PERIODS", "Periods", "periods_of_labels", "read_periods"]

LARGEST_PERIOD = 1e15
"""Numbers beyond it are no times of anything; differences of one are still seen below."""

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

    def joined(self, more: Periods) -> Periods:
        """These periods and more of the same kind.

        Raises
        ------
        InputError
            If they are of another kind, or a category is at another position in the order.
        """
        if more.kind != self.kind:
            raise InputError(
                f"periods has {more.kind}, such as {more.labels[0]!r}, but those before are "
                f"{self.kind}, such as {self.labels[0]!r}. Give both in one form."
            )
        joined = self.position | more.position
        for label, position in self.position.items():
            if joined[label] != position:
                raise InputError(
                    f"periods has {label!r} as category {joined[label] + 1:g} of its order, but it "
                    f"was category {position + 1:g}. Add new categories after the last one."
                )
        return Periods.of(self.kind, joined)

    def checked(self) -> Periods:
        """The periods themselves, refused if there are too few or too many to compare.

        Raises
        ------
        InputError
        """
        size = len(self.position)
        if size < 2:
            raise InputError(
                f"periods has one period only, {self.labels[0]!r}: nothing can have changed. Fit "
                "without periods=, and add the next period with bayescal.update."
            )
        _check_few(size)
        return self


def _check_few(periods: int) -> None:
    if periods > MOST_PERIODS:
        raise InputError(
            f"periods has {periods:,} periods, but at most {MOST_PERIODS} are compared. Use longer "
            "ones, such as months: periods=dates.astype('datetime64[M]')."
        )


def read_periods(values: Any) -> tuple[NDArray[np.str_], Periods]:
    """The label of each case's period, and the order of the labels.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers, dates, texts of dates or whole numbers, or an ordered pandas Categorical.

    Returns
    -------
    labels : ndarray of str of shape (n,)
    periods : Periods

    Raises
    ------
    InputError
        If a period is missing, there are more than 60, or they have no plain order.

    Examples
    --------
    >>> from bayescal.multilevel.periods import read_periods
    >>> labels, periods = read_periods(["2024-03", "2024-01", "2024-03"])
    >>> periods.labels, periods.elapsed
    (('2024-01', '2024-03'), array([1.]))
    """
    kind = getattr(values, "dtype", None)
    if getattr(kind, "ordered", None):
        return _categories(values)
    if str(kind).startswith("period["):
        values = values.astype(str)
    listed = isinstance(values, (list, tuple))
    given = as_vector(np.array(values, dtype=object) if listed else values, "periods")
    missing = [at for at, value in enumerate(given.tolist()) if _is_missing(value)]
    if missing:
        raise InputError(
            f"periods[{missing[0]}] is missing. Say when every case was, or drop the case."
        )
    texts = [str(value) for value in given.tolist()] if given.dtype == object else given
    _check_few(len(set(texts if given.dtype == object else given.tolist())))
    distinct, row = np.unique(texts, return_inverse=True)
    if given.dtype == object:
        first = {str(value): value for value in given.tolist()}
        named = _named([first[text] for text in distinct.tolist()])
    elif given.dtype.kind == "M":
        named = _of_datetimes(distinct)
    else:
        named = _named(distinct.tolist())
    labels, positions, unit = named
    return np.array(labels)[row], Periods.of(unit, dict(zip(labels, positions, strict=True)))


def periods_of_labels(labels: tuple[str, ...]) -> Periods:
    """The order of the groups of a table, whose names are texts.

    Raises
    ------
    InputError
        If the names are not plain numbers or dates.
    """
    _check_few(len(labels))
    named, positions, kind = _named(list(labels))
    return Periods.of(kind, dict(zip(named, positions, strict=True)))


Named = tuple[list[str], list[float], str]


def _categories(values: Any) -> tuple[NDArray[np.str_], Periods]:
    categorical = getattr(values, "cat", values)
    names, codes = [str(name) for name in categorical.categories], np.asarray(categorical.codes)
    if (codes < 0).any():
        raise InputError(
            f"periods[{int((codes < 0).argmax())}] is missing. Say when every case was, or drop "
            "the case."
        )
    present = np.unique(codes)
    _check_few(present.size)
    position = {names[code]: float(code) for code in present.tolist()}
    return np.array(names)[codes], Periods.of("categories", position)


def _named(values: list[Any]) -> Named:
    """Labels, positions and unit of distinct values of one type."""
    if all(isinstance(value, str) for value in values):
        return _of_texts(values)
    if all(isinstance(value, datetime.date) for value in values):
        if any(getattr(value, "tzinfo", None) for value in values):
            raise InputError(
                "periods has times of a time zone. Give dates, or times without zone, such as "
                "periods.dt.tz_localize(None)."
            )
        return _of_datetimes(np.array(values, dtype="datetime64[s]"))
    if all(isinstance(value, np.datetime64) for value in values):
        return _of_datetimes(np.array(values))
    numeric = all(
        isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        for value in values
    )
    if numeric and all(abs(value) <= LARGEST_PERIOD for value in values):
        numbers_ = [float(value) for value in values]
        return [f"{value:.15g}" for value in numbers_], numbers_, "numbers"
    raise _no_order(values)


def _of_datetimes(values: NDArray[Any]) -> Named:
    unit = np.datetime_data(values.dtype)[0]
    if unit == "Y":
        return _of_texts([str(value) for value in values])
    if unit == "M":
        months = values.astype(np.int64).astype(np.float64)
        return [str(value) for value in values], months.tolist(), "months"
    days = values.astype("datetime64[s]").astype(np.int64) / 86_400
    dates = values.astype("datetime64[D]")
    shown = dates if (dates == values).all() else values.astype("datetime64[s]")
    return [str(value) for value in shown], days.tolist(), "days"


def _of_texts(values: list[str]) -> Named:
    for pattern, unit, position in TEXTS:
        matches = [re.fullmatch(pattern, value.strip()) for value in values]
        if all(matches):
            try:
                return values, [position(match.groups()) for match in matches if match], unit
            except ValueError:
                break
    raise _no_order(values)


def _day(parts: tuple[str, ...]) -> float:
    return float(datetime.date(*map(int, parts)).toordinal() - EPOCH.toordinal())


def _week(parts: tuple[str, ...]) -> float:
    monday = datetime.date.fromisocalendar(int(parts[0]), int(parts[1]), 1)
    return float(monday.toordinal() - EPOCH.toordinal())


def _month(parts: tuple[str, ...]) -> float:
    first = datetime.date(int(parts[0]), int(parts[1]), 1)
    return float(MONTHS * (first.year - EPOCH.year) + first.month - 1)


def _quarter(parts: tuple[str, ...]) -> float:
    return MONTHS * (float(parts[0]) - EPOCH.year) + 3 * (float(parts[1]) - 1)


TEXTS: tuple[tuple[str, str, Callable[[Any], float]], ...] = (
    (r"([+-]?\d+)", "numbers", lambda parts: float(parts[0])),
    (r"(\d{4})-(\d{2})-(\d{2})", "days", _day),
    (r"(\d{4})-(\d{2})", "months", _month),
    (r"(\d{4})-?Q([1-4])", "months", _quarter),
    (r"(\d{4})-?W(\d{2})", "days", _week),
)
"""Texts whose order is plain: their pattern, unit, and position in it."""


def _no_order(values: list[Any]) -> InputError:
    shown = ", ".join(shortened(repr(value)) for value in values[:3])
    return InputError(
        f"periods has {shown}{', ...' * (len(values) > 3)}, whose order is not plain. Give "
        "numbers, dates, texts such as '2024-03', '2024-Q1' or '2024-03-31', all of one form, "
        "or an ordered categorical: pandas.Categorical(periods, categories=[...], ordered=True)."
    )


def _is_missing(value: Any) -> bool:
    """None, not a number or not a time."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True
