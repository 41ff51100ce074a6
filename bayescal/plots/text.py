"""Numbers and names as figures show them, and what they call the quantities."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bayescal.core.text import Measured, capitalised, shortened
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["axis_label", "ideal", "label", "minus", "numbers", "scale_of", "short_name"]

LONGEST = 36


class Coordinate(NamedTuple):
    """A working coordinate of a curve: its name in a row or a title, and at an axis."""

    short: str
    axis: str


COORDINATE_NAMES = {
    "shift": Coordinate("Shift", "Shift (log-odds)"),
    "log_slope": Coordinate("Log slope", "Log slope (negative: overconfident)"),
    "asymmetry": Coordinate("Asymmetry", "Asymmetry, log(alpha / beta)"),
    "guess": Coordinate("Floor", "Floor (risk at a score of 0)"),
    "lapse": Coordinate("One minus ceiling", "One minus ceiling"),
}


def label(name: object) -> str:
    """A user's name for something, which matplotlib shows as it is: no formula, never hidden."""
    shown = re.sub(r"(?<!\\)\$", r"\\$", shortened(name, LONGEST))
    return f" {shown}" if shown.startswith("_") else shown


def minus(numbers: str) -> str:
    """Numbers with the sign that axes use."""
    return numbers.replace("-", "−")


def numbers(middle: float, lower: float, upper: float, apart: float | None = None) -> str:
    """An estimate and its interval beside a row; without an interval, the estimate.

    No end is rounded onto `apart` if the interval excludes it.
    """
    if lower != lower:
        return minus(f"{middle:.3f}")
    return minus(Measured(middle, lower, upper).told(apart))


def short_name(name: str, **options: Any) -> str:
    """A few letters for titles and rows: `TCE`, or `TCE (p = 2)`."""
    plain, _, where = name.partition("@")  # a range of thresholds, or one, as "0.1 to 0.2"
    known = FUNCTIONALS.get(plain) or COORDINATE_NAMES.get(plain)
    short = name if known is None else capitalised(known.short)
    if known is not None and where:
        short += f" at {where}"
    return short if options.get("p", 1) == 1 else f"{short} (p = {options['p']:g})"


def axis_label(name: str) -> str:
    """The label of an axis, with its unit if it has one."""
    if name in FUNCTIONALS:
        return FUNCTIONALS[name].title
    return COORDINATE_NAMES[name].axis if name in COORDINATE_NAMES else name


def ideal(name: str) -> float:
    """The value of a functional at perfect calibration; 0 for a working coordinate."""
    return FUNCTIONALS[name].ideal if name in FUNCTIONALS else 0.0


def scale_of(name: str) -> str:
    """The unit of a functional; an estimator of another name is an error."""
    return FUNCTIONALS[name].unit if name in FUNCTIONALS else "probability"
