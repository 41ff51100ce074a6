"""Numbers and names as people read them, shared paragraphs of docstrings, and cards of results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from os.path import commonprefix
from typing import Any, NamedTuple, TypeVar

LONGEST_NAME = 60
# Digits are printed to a quarter of an interval's length: over ten seeds, .907 of 324 rows differ
# by at most one unit of the last digit.
MOST_PLACES, UNKNOWN_PLACES, SHORTEST = 6, 3, 1e-6
# What is said of a gain that is exactly 0.
NO_CHANGE = "unchanged"
SIGNS = "<>≤≥= "
RUN_OF_DIGITS = re.compile(r"(\d{1,15})")


def decimals(lower: float, upper: float, apart: float | None = None) -> int:
    """Decimal places that show an interval's standard error to one significant digit.

    That is a quarter of its length, for one of 95 %: with another seed the ends move by a tenth of
    it. Intervals shorter than 1 have two places at least, and others one. No end is rounded onto
    the value `apart` that the interval excludes.
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return UNKNOWN_PLACES
    length = abs(upper - lower)
    if length <= SHORTEST:
        return UNKNOWN_PLACES
    least = 2 if length < 1 else 1
    places = min(max(-math.floor(math.log10(length / 4)), least), MOST_PLACES)
    if apart is not None and excludes(lower, upper, apart):
        nearest = min((lower, upper), key=lambda end: abs(end - apart))
        while round(nearest, places) == round(apart, places) and places < MOST_PLACES:
            places += 1
    return places


def exact(value: Any) -> str:
    """A number in at most six digits where that is all of it, else in every digit that it has."""
    short = f"{value:g}"
    return short if float(short) == value or value != value else str(value)


def rounded(
    values: tuple[float, ...], lower: float, upper: float, apart: float | None = None
) -> tuple[str, ...]:
    """Values of one quantity, all to the decimal places that its interval deserves."""
    places = decimals(lower, upper, apart)
    return tuple(f"{round(value, places) + 0.0:.{places}f}" for value in values)


class Measured(NamedTuple):
    """An estimate and its interval; ends are NaN where there is none."""

    estimate: float
    lower: float
    upper: float

    @classmethod
    def of(cls, row: Any, names: str = "{}") -> Measured:
        """The numbers of a row of a table or of a mapping, by names such as `tce_{}`."""
        return cls(*[float(row[names.format(end)]) for end in cls._fields])

    def told(self, apart: float | None = None, beside: str = "", of: str = "") -> str:
        """As text, `0.75 (0.64 to 0.84)`; within the brackets `of` stands first, `beside` last.

        No end is rounded onto `apart` if the interval excludes it.
        """
        if math.isnan(self.lower) and not math.isnan(self.estimate):
            return f"{self.estimate:.2f}"
        middle, low, high = rounded(self, self.lower, self.upper, apart)
        return f"{middle} ({of}{low} to {high}{beside})"


def signed(value: float, places: int = 4) -> str:
    """A difference with its sign: `+0.0021`, or `minus infinity`."""
    if math.isinf(value):
        return "infinity" if value > 0 else "minus infinity"
    return f"{round(value, places) + 0.0:+.{places}f}"


def interval(
    estimate: float, lower: float, upper: float, ci_prob: float, apart: float | None = None
) -> str:
    """An estimate and its credible interval: `0.043 (95 % CrI 0.031 to 0.052)`."""
    return Measured(estimate, lower, upper).told(apart, of=f"{percent(ci_prob)} CrI ")


def percent(probability: float) -> str:
    """A probability as a percentage: `95 %`."""
    return f"{100 * probability:.4g} %"


def capitalised(text: str) -> str:
    """A text with a capital first letter; the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def count(number: float, noun: str = "") -> str:
    """A number of things, with thousands apart; weighted counts may have a fraction."""
    shown = f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"
    plural = "" if number == 1 else "s"
    return f"{shown} {noun}{plural}" if noun else shown


def only(number: float, noun: str) -> str:
    """A number of things that is small, as a clause."""
    verb = "is" if number == 1 else "are"
    return f"there {verb} only {count(number, noun)}"


def cases_and_events(n: float, events: float, effective: float, joint: str = ", ") -> str:
    """How many cases and events there are; of sampling weights, what they are worth."""
    rate = f"{100 * events / n:.3g} %"
    if effective == n:
        return f"{count(n, 'case')}{joint}{count(events, 'event')} ({rate})"
    return f"sampling weights worth {effective:,.1f} cases, {rate} of them with the event"


THE_SAME = "the same"


def chance_of_better(lower: float, upper: float, probability: float) -> str:
    """The probability of being better; of what is the same in every draw, that it is."""
    return THE_SAME if lower == upper == 0 else chance(float(probability))


def chance(probability: float) -> str:
    """A probability from a few thousand draws, which tell no more than two decimals."""
    if math.isnan(probability):
        return "not known"
    if probability < 0.005:
        return "< 0.01"
    return "> 0.99" if probability > 0.995 else f"{probability:.2f}"


def ratio(value: float) -> str:
    """A ratio of any size to two digits: `0.29`, `8.7`, `870`; beyond 1000 its power, `10^8`."""
    if math.isnan(value):
        return "undefined"
    if not 1e-300 < value < 1e300:
        return "0" if value <= 0 else "< 10^-300" if value < 1 else "> 10^300"
    power = math.floor(math.log10(value))
    if -3 <= power <= 2:
        return f"{round(value, 1 - power):.{max(1 - power, 0)}f}"
    return f"10^{round(math.log10(value))}"


def per_thousand(value: float, lower: float, upper: float) -> tuple[str, ...]:
    """A gain per patient and its interval, of 1000 patients: `6.7`, `4.8`, `8.6`."""
    numbers = (1000 * value, 1000 * lower, 1000 * upper)
    return rounded(numbers, *numbers[1:])


def plain(text: object) -> str:
    """Text that cannot steer a terminal or a page: what does not print becomes an escape."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in str(text)
    )


def shortened(text: object, longest: int = LONGEST_NAME) -> str:
    """A name of any length, as plain text: its beginning, and how long it is in all."""
    shown = plain(text)
    if len(shown) <= longest:
        return shown
    told = f"… ({len(str(text)):,} characters)"
    return shown[: max(longest - len(told), 1)] + told


def told_apart(names: Iterable[object], longest: int) -> tuple[dict[str, str], str]:
    """Names short enough for a table, no two of them alike."""
    texts = {str(name): plain(name) for name in names}
    if all(len(text) <= longest for text in texts.values()):
        return texts, ""
    omitted = _shared_words(list(texts.values()), longest)
    shown: dict[str, str] = {}
    for name, text in texts.items():
        rest = text[len(omitted) :]
        short, number = _without_middle(rest, longest), 0
        while not short or short in shown.values():
            number += 1
            short = _without_middle(f"{number}: {rest}", longest)
        shown[name] = short
    return shown, omitted


def in_natural_order(names: Iterable[str]) -> list[str]:
    """Names in the order of their numbers, as a person counts: site 2 before site 10.

    Signs before a number do not count, so that "<60" stands before "60-79".
    """

    def key(name: str) -> list[tuple[int, str]]:
        parts = RUN_OF_DIGITS.split(name.lstrip(SIGNS))
        return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]

    return sorted(names, key=key)


def _shared_words(texts: list[str], longest: int) -> str:
    """Words that all begin with, but the last of them if what remains is short enough with it."""
    if len(texts) < 2:
        return ""
    shared = commonprefix(texts)  # noqa: RUF071 (of characters, as these are no paths)
    cuts = [match.end() for match in re.finditer(r"\W+(?=\w|$)", shared)]
    widest = max(map(len, texts))
    before = [cut for cut in cuts[-2:] if widest - cut <= longest]
    return texts[0][: (before or cuts[-1:] or [0])[0]]


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


# Share of its length by which an interval must miss a value.
#
# With another seed its ends move by many times as much; and where a share of the draws is exactly
# at the value, an end lies on it but for rounding.
SLACK = 1e-3


def excludes(lower: float, upper: float, value: float) -> bool:
    """Whether the value lies outside the interval, by more than a thousandth of its length."""
    slack = SLACK * (upper - lower)
    return value < lower - slack or value > upper + slack


Function = TypeVar("Function", bound=Callable[..., Any])

SEVERAL_SETS = """\
y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
    Outcomes, 0 or 1. Leading dimensions are replicates: other outcomes at the same scores. A
    table replaces outcomes, scores and weights."""
PREDICTED = """\
y_prob : array-like of shape (n_samples,), optional
    Predicted probabilities."""
PARAGRAPHS = {
    "replicates": SEVERAL_SETS,
    "scores": PREDICTED,
    "replicated_cases": f"{SEVERAL_SETS}\n{PREDICTED}",
    "outcomes": """\
y_true : array-like of shape (n_samples,), or CalibrationData
    Outcomes, 0 or 1. A table replaces outcomes, scores and weights.""",
    "outcomes_of_both_classes": """\
y_true : array-like of shape (n_samples,), or CalibrationData
    Outcomes, 0 or 1, of both classes. A table replaces outcomes, scores and weights.""",
    "cases_or_classes": """\
y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
    Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities, column
    numbers of shape (n_samples,). A table replaces outcomes, scores and weights.
y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
    Predicted probabilities of the event, or of each class.""",
    "scores_inside": """\
y_prob : array-like of shape (n_samples,), optional
    Predicted probabilities; those nearer than 1e-12 to 0 or 1 are read as 1e-12 away.""",
    "weights": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases, or sampling weights. The largest is at least 1e-50, the sum at most 1e9.""",
    "weights_by_kish": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases. Unless all are integers they are sampling weights, and are rescaled to
    Kish's effective sample size.""",
    "counts": """\
sample_weight : array-like of shape (n_samples,), optional
    Counts of cases.""",
    "recalibrated_scores": """\
X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
    Predicted probabilities.""",
    "refuses_others": """\
Raises
------
InputError
    If these are not probabilities of the classes that it was fitted to, with logits or
    features if there were such.""",
    "of_each_class": """\
classes_ : ndarray of shape (n_classes,)
    Labels, in the order of the columns of `predict_proba`; of two, the second is the event.
recalibrators_ : list
    With more than two classes, the one of each class against the rest.""",
    "returns_share": """\
Returns
-------
float or ndarray
    From 0 to 1; one for each replicate when `y_true` has leading dimensions.""",
    "returns_number": """\
Returns
-------
float or ndarray
    One for each replicate when `y_true` has leading dimensions.""",
    "refuses": """\
Raises
------
InputError
    If the arrays are not outcomes and probabilities of the same cases, or an option is out of
    range.""",
}


def documented(function: Function, more: Mapping[str, str] | None = None) -> Function:
    """Put the shared paragraphs into the docstring of a function."""
    if function.__doc__:  # python -OO leaves none
        paragraphs = PARAGRAPHS | dict(more or {})

        def filled(named: re.Match[str]) -> str:
            indent, name = named.groups()
            return "\n".join(indent + line for line in paragraphs[name].splitlines())

        function.__doc__ = re.sub(r"^( *)%\((\w+)\)s$", filled, function.__doc__, flags=re.M)
    return function


_CELL = "padding:.2em .8em .2em 0;text-align:{};border:none;vertical-align:top"


def card(
    text: str, columns: Sequence[str] = (), rows: Mapping[str, Sequence[str]] | None = None
) -> str:
    """HTML of a result for the last line of a cell, readable on light and dark pages."""
    title, *lines = text.splitlines()
    parts = [f'<div style="font-weight:600">{escape(title)}</div>']
    parts += [f"<div>{escape(line.strip())}</div>" for line in lines]
    if rows:
        head = _row("th", ["", *columns])
        body = "".join(_row("td", [label, *values]) for label, values in rows.items())
        parts.append(
            '<table style="border-collapse:collapse;margin-top:.5em">'
            f"<thead>{head}</thead><tbody>{body}</tbody></table>"
        )
    return f'<div style="max-width:46em;line-height:1.45">{"".join(parts)}</div>'


def _row(tag: str, values: Sequence[str]) -> str:
    """One row: its label to the left, numbers to the right."""
    cells = [
        f'<{tag} style="{_CELL.format("right" if column else "left")}">{escape(value)}</{tag}>'
        for column, value in enumerate(values)
    ]
    return f"<tr>{''.join(cells)}</tr>"
