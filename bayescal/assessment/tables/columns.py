"""Columns that several tables have."""

from __future__ import annotations

import math
from typing import Any

from bayescal.assessment.words import with_interval
from bayescal.core.table import Column, Row
from bayescal.core.text import chance, count
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["chances", "counts", "fixed", "intervals", "measured", "words"]


def fixed(name: str, head: str, **options: Any) -> Column:
    """A number to the decimals of its row."""
    return Column(name, head, lambda row: as_fixed(row[name], row.decimals), **options)


def intervals(
    head: str, lower: str = "lower", upper: str = "upper", *, why: str = "why", **options: Any
) -> Column:
    """Both ends to the decimals of the row; of a row that is not defined, why."""

    def shown(row: Row) -> str:
        if math.isnan(row[lower]):
            return str(row.values.get(why, ""))
        return " to ".join(as_fixed(row[end], row.decimals) for end in (lower, upper))

    return Column("interval", head, shown, **options)


def measured(name: str, head: str, estimate: str = "{}_estimate", **options: Any) -> Column:
    """An estimate and its interval, to the decimals that the interval deserves.

    The row has the numbers as `estimate` says, and with `_lower` and `_upper` in its place.
    """

    def shown(row: Row) -> str:
        numbers = {end: row[f"{name}_{end}"] for end in ("lower", "upper")}
        numbers["estimate"] = row[estimate.format(name)]
        if math.isnan(numbers["estimate"]):
            return NOT_DEFINED
        apart = FUNCTIONALS[name].apart if name in FUNCTIONALS else None
        return with_interval(numbers, apart=apart)

    return Column(name, head, shown, **options)


def counts(name: str, head: str, **options: Any) -> Column:
    """A number of cases."""
    return Column(name, head, lambda row: count(row[name]), **options)


def chances(name: str, head: str, **options: Any) -> Column:
    """A probability."""
    return Column(name, head, lambda row: chance(float(row[name])), **options)


def words(name: str, head: str, **options: Any) -> Column:
    """A text as it is."""
    return Column(name, head, lambda row: str(row[name]), is_text=True, **options)


def as_fixed(value: float, places: int) -> str:
    """A number to some decimals, nought without a sign; `NOT_DEFINED` of NaN."""
    return NOT_DEFINED if math.isnan(value) else f"{round(value, places) + 0.0:.{places}f}"
