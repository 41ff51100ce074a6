"""Errors and warnings, and the checks of options, which raise errors that name them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from numbers import Integral, Real
from typing import Any, Self, TypeVar

from bayescal.core.text import shortened


class InputError(ValueError):
    """Bad input: the message names the argument, what was given, where, and what to do."""


# What to do about a fault, in Python; a door can have other words for the same.
CURES_IN_PYTHON = {
    "percent": "If these are percentages, divide by 100.",
    "percent sign": "Pass percentages as numbers without the sign, / 100.",
    "logit": "If these are log-odds, pass scipy.special.expit(values).",
    "drop": "Drop or impute it first.",
    "months": "Use longer ones, such as months: period=dates.astype('datetime64[M]').",
    "pos_label": "Say which label is the event with pos_label=.",
    "labels": "Outcomes are 0/1 or boolean, or shares in between; for other labels say which is "
    "the event with pos_label=.",
    "several labels": "Outcomes are 0/1 or boolean, or shares in between; labels of several "
    "classes are taken beside the matrix of their probabilities, fit(labels, matrix), or one as "
    "the event against the rest, pos_label=.",
    "numbers": "Convert the column to numbers, and drop or impute missing values, first.",
    "sampling": "If the weights correct for how cases were sampled, say weight_type='sampling'.",
    "codes": "If these are such, pass event == 2. If they are two causes and no case left, name "
    "the one that scores are risks of: bc.Survival(time, event, cause=1).",
    "periods": "Give months as '2024-03', days as '2024-03-31', quarters as '2024-Q1', or numbers, "
    "all in one form, or an ordered categorical: pandas.Categorical(period, categories=[...], "
    "ordered=True).",
}


class CaseError(InputError):
    """A fault in cases, as data: each door words it in its own terms."""

    def __init__(
        self,
        argument: str,
        fault: str,
        *,
        row: int | None = None,
        value: str | None = None,
        more: str = "",
        cure: str = "",
        others: Mapping[str, str] | None = None,
        part: str = "",
    ) -> None:
        super().__init__(argument, fault)
        self.argument, self.fault, self.more, self.cure = argument, fault, more, cure
        self.row, self.value, self.part, self.others = row, value, part, dict(others or {})

    def changed(self, **fields: Any) -> Self:
        """The same fault with another argument, row, cure or the like."""
        other = copy(self)
        vars(other).update(fields)
        return other

    def __str__(self) -> str:
        subject = self.argument
        if self.row is not None:
            subject += f"[{self.row}]"
        if self.value is not None:
            subject += f"{' is' if self.fault.startswith(',') else ' ='} {self.value}"
        told = self.fault if self.fault.startswith(",") else f" {self.fault}"
        told += "".join(f", {name}[{self.row}] = {value}" for name, value in self.others.items())
        text = f"{subject}{told}{self.more}. {CURES_IN_PYTHON.get(self.cure, self.cure)}".rstrip()
        return f"{self.part}: {text}" if self.part else text

    def worded(
        self,
        name: Callable[[str], str],
        where: Callable[[int], str],
        cures: Mapping[str, str] | None = None,
    ) -> str:
        """The fault in the words of a door."""
        cure = (CURES_IN_PYTHON | dict(cures or {})).get(self.cure, self.cure)
        fault = self.fault.removeprefix(", which ")
        fault += "".join(f" ({value} in {name(other)})" for other, value in self.others.items())
        if self.row is None:
            return f"{name(self.argument)} {fault}{self.more}. {cure}".rstrip()
        value = "" if self.value is None else f"{self.value} "
        at = f"on {where(self.row)}"
        return f"{name(self.argument)}: {value}{fault} {at}{self.more}. {cure}".rstrip()


class KeywordError(InputError, TypeError):
    """A keyword that a function does not have; the message names the one that may be meant."""


class SeparationError(InputError):
    """The outcomes are perfectly separated, so a maximum-likelihood estimate does not exist."""


class OutOfTimeError(InputError):
    """Sampling took longer than it was given; the message says how to give it more."""


class DiagnosticWarning(UserWarning):
    """A diagnostic says that a posterior should not be trusted as it stands."""


class EdgeWarning(UserWarning):
    """Every score is exactly 0 or 1, so how far from certainty they are was assumed."""


class GroupWarning(UserWarning):
    """A table has a column of hospitals or dates, and nothing says what it means."""


class GuessWarning(UserWarning):
    """Columns of a file were taken that nobody named."""


class ImputationWarning(UserWarning):
    """Outcomes were imputed too few times for intervals to know how uncertain they are."""


class LabelWarning(UserWarning):
    """The label of the event does not occur among the outcomes, so that no case has the event."""


class RepeatWarning(UserWarning):
    """Files hold the same rows more than once, so that their cases count more than once."""


class ScoreWarning(UserWarning):
    """Scores were set to 0 or 1 where rounding led beyond; or fall where events rise."""


class SpellingWarning(UserWarning):
    """Two labels look alike and are told apart, or are of two types and taken as one."""


class WeightWarning(UserWarning):
    """Whole-number weights were read as counts, but can be sampling weights as well.

    Attributes
    ----------
    types : str
        What they can be, in words.
    """

    types = ""


def warn(told: str, category: type[Warning], **attributes: Any) -> None:
    """Warn of the user's line: the first that is called from outside this package."""
    warning, frame, level = category(told), sys._getframe(1), 2
    vars(warning).update(attributes)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bayescal."):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


MOST_DRAWS = 1_000_000
MOST_LEVELS = 1000
LARGEST_COUNT = 2**63 - 1

T = TypeVar("T")


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def as_level(value: Any, name: str = "ci_prob") -> float:
    """A probability strictly between 0 and 1."""
    level = _as_float(value)
    if not 0 < level < 1:
        hint = " If you meant a percentage, divide by 100." if level > 1 else ""
        given = shortened(repr(value))
        raise InputError(f"{name} must lie strictly between 0 and 1, got {given}.{hint}")
    return level


def as_levels(values: Any, name: str) -> list[float]:
    """Probabilities strictly between 0 and 1, at most 1000: each takes a pass over all draws."""
    given = as_items(values, name)
    if len(given) > MOST_LEVELS:
        raise InputError(
            f"{name} holds {len(given):,} values, and at most {MOST_LEVELS:,} can be computed at "
            "once. Pass fewer, such as numpy.linspace(0.01, 0.5, 50)."
        )
    return [as_level(value, name) for value in given]


def as_number(value: Any, name: str) -> float:
    """A finite number."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {shortened(repr(value))}.")
    return number


def as_order(p: Any, *, infinite: bool = False) -> float:
    """The order of a norm: a number of at least 1, finite unless `infinite` is allowed."""
    is_number = isinstance(p, Real)
    order = as_number(p, "p") if is_number and abs(p) < math.inf else p if is_number else math.nan
    if order >= 1 and (infinite or order < math.inf):
        return order
    finite = "a finite number of at least 1"
    allowed = "at least 1 (inf is the largest error)" if infinite else finite
    raise InputError(f"p must be {allowed}, got {shortened(repr(p))}.")


def as_count(
    value: Any, name: str, minimum: int = 1, maximum: float | None = None, *, limit: str = ""
) -> int:
    """An integer in a range, or an `InputError`."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    most = LARGEST_COUNT if maximum is None else maximum
    if is_integer and minimum <= value <= most:
        return int(value)
    allowed = f"of at least {minimum:,}"
    if maximum is not None:
        allowed = f"from {minimum:,} to {maximum:,.12g}" + (f", {limit}" if limit else "")
    raise InputError(f"{name} must be a whole number {allowed}, got {shortened(repr(value))}.")


def as_draws(draws: Any) -> int:
    """A number of draws, rounded up to a multiple of four chains."""
    return -(-as_count(draws, "draws", 100, MOST_DRAWS) // 4) * 4


def as_flag(value: Any, name: str) -> bool:
    """True or False, of Python or of NumPy; a number or a text is neither."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{name} must be True or False, got {shortened(repr(value))}.")
    return bool(value)


def as_items(values: Any, name: str) -> list[Any]:
    """What was asked for, several at once: a list of anything that can be walked through."""
    try:
        return [values] if isinstance(values, (str, bytes)) else list(values)
    except TypeError:
        given = shortened(repr(values))
        raise InputError(f"{name} must be a list, got the single value {given}.") from None


def check_choice(value: Any, choices: Iterable[str], name: str) -> str:
    """One of a few names."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        given, names = shortened(repr(value)), ", ".join(map(repr, sorted(known)))
        raise InputError(f"{name} must be one of {names}, got {given}.")
    return value


def check_callable(value: Any, name: str, what: str) -> None:
    """A function or None; `what` says of which arguments."""
    if value is not None and not callable(value):
        given = shortened(repr(value))
        raise InputError(f"{name} must be a function of {what}, or None, got {given}.")


def check_type(value: Any, kind: type[T], name: str, cure: str) -> T:
    """An object of one class."""
    if isinstance(value, kind):
        return value
    given = type(value).__name__
    if value is None or isinstance(value, type):
        given = shortened(repr(value))
    elif isinstance(value, (str, bytes, Real)):
        given += f" {shortened(repr(value))}"
    raise InputError(f"{name} must be a {kind.__name__}, got {given}. {cure}")
