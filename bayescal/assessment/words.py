"""An assessment in words. Every verdict has one wording, which is defined here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bayescal._base.arrays import Floats
from bayescal._base.text import chance, decimals, percent, rounded
from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import observed_expected
from bayescal.assessment.stretches import FEWEST_CASES, LIKELY, Stretch
from bayescal.data.data import CalibrationData
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.validation.consistency import RARE

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AS_IF_CALIBRATED",
    "LARGER",
    "SIDES",
    "UNDEFINED",
    "WITHIN_CHANCE",
    "EstimatorRow",
    "curve_rows",
    "directions",
    "estimator_row",
    "exactness",
    "first_words",
    "in_the_data",
    "numbers",
    "of_group",
    "side",
    "where",
    "with_interval",
]

SIDES = {
    "observed_expected": (
        "events are rarer than predicted",
        "events are more frequent than predicted",
        "events are not clearly rarer or more frequent than predicted",
    ),
    "calibration_in_the_large": (
        "risks are too high on average",
        "risks are too low on average",
        "risks are not clearly too high or too low on average",
    ),
    "calibration_slope": (
        "predictions are too extreme (over-confident)",
        "predictions are too moderate (under-confident)",
        "predictions are not clearly too extreme or too moderate",
    ),
    "calibration_intercept": (
        "events are rarer than predicted at one half",
        "events are more frequent than predicted at one half",
        "events are not clearly rarer or more frequent at one half",
    ),
}
"""What a measure says when its interval is below its ideal value, above it, or around it."""

AS_IF_CALIBRATED, LARGER, UNDEFINED = "within chance", "larger than chance explains", "undefined"
"""The verdicts on an estimate."""

WITHIN_CHANCE = {AS_IF_CALIBRATED: "yes", LARGER: "no", UNDEFINED: UNDEFINED}
"""The same in a word, for columns headed "within chance"."""

TITLES = {"Integrated calibration index (Eavg)": "ICI (Eavg) of a loess curve"}
"""Titles that say how an estimator differs from a measure of the posterior of the same name."""

STATES = {"on": "calibrated", "high": "too high", "low": "too low"}
MOST_STRETCHES = 4
LEAST_PLACES, MOST_PLACES = 2, 4


class EstimatorRow(NamedTuple):
    """An estimator as a row of text.

    Attributes
    ----------
    title : str
    estimate, if_calibrated : str
        Empty where the estimate is undefined.
    verdict : str
        "within chance", "larger than chance explains" or "undefined".
    """

    title: str
    estimate: str
    if_calibrated: str
    verdict: str


def first_words(f: Findings) -> list[str]:
    """What must be known before any number: reversed scores, and labels in place of scores.

    Parameters
    ----------
    f : Findings

    Returns
    -------
    list of str
        Empty for most data.
    """
    told = []
    if f.posterior.problem.edges.assumed:
        told.append(
            "The scores are labels, not probabilities: every score is exactly 0 or 1. Calibration "
            "is a property of probabilities; pass those that the model gives before it decides, "
            "such as predict_proba of scikit-learn."
        )
    judge = f.posterior.problem.likelihood.described()
    if judge:
        told.append(
            f"The outcomes were recorded by {judge}. What is read off the curve (errors, O/E, "
            "slope, net benefit) is of the true outcomes. Numbers of events, the C-statistic, "
            "the Brier score, estimators and points in figures are of the outcomes as they were "
            "recorded."
        )
    row = f.performance.loc["c_statistic"]
    if row["estimate"] < 0.5:
        middle, low, high = numbers(row)
        shown = f"C-statistic {middle}, {percent(f.ci_prob)} interval {low} to {high}"
        told.append(
            f"The scores seem to be reversed: cases with the event have lower scores than cases "
            f"without it ({shown}). Check that the score is the probability of the event, and not "
            "of its opposite."
            if row["upper"] < 0.5
            else f"The scores do not separate the cases with the event from the others ({shown}). "
            "Check that the score is the probability of the event."
        )
    return told


def exactness(f: Findings) -> str:
    """The probability of exact calibration, and how much it depends on the prior."""
    even = f.comparison.prob_by_prior["average"].dropna()
    shown = {name: chance(value) for name, value in even.items()}
    if len(set(shown.values())) == 1:
        by_prior = f"At even prior odds it is {next(iter(shown.values()))} under each prior."
    else:
        told = ", ".join(f"{value} ({name} prior)" for name, value in shown.items())
        by_prior = f"At even prior odds it is {told}."
    return (
        f"Exact calibration has probability {chance(f.prob_calibrated)}, from a prior of "
        f"{f.comparison.prior_prob['identity']:g}. {by_prior}"
    )


def directions(table: pd.DataFrame, data: CalibrationData) -> str:
    """Which way predictions err, as far as the intervals of O/E and slope say.

    Parameters
    ----------
    table : pandas.DataFrame
        A summary of functionals.
    data : CalibrationData
        Whose own O/E stands beside that of the posterior.

    Returns
    -------
    str
    """
    own = in_the_data(data, table.loc["observed_expected"])
    sentences = [_direction(table, "observed_expected", "O/E", own)]
    if "calibration_slope" in table.index:
        sentences.append(_direction(table, "calibration_slope", "slope"))
    elif "calibration_slope" in table.attrs["undefined"]:
        why = table.attrs["undefined"]["calibration_slope"]
        sentences.append(f"The slope is {NOT_DEFINED}: {why}.")
    return " ".join(sentences)


def _direction(table: pd.DataFrame, name: str, label: str, beside: str = "") -> str:
    row = table.loc[name]
    told = side(name, row)
    return f"{told[:1].upper()}{told[1:]}: {label} {with_interval(row, beside)}."


def side(name: str, row: Any) -> str:
    """On which side of its ideal value a measure lies, as far as its interval says.

    Parameters
    ----------
    name : str
        One of the keys of `SIDES`.
    row : mapping
        With the keys lower and upper.

    Returns
    -------
    str
        A clause without a full stop.
    """
    below, above, neither = SIDES[name]
    ideal = FUNCTIONALS[name].calibrated
    if name == "calibration_slope" and row["upper"] < 0:
        return "predictions are reversed: where they are higher, events are rarer"
    if row["upper"] < ideal:
        return below
    return above if row["lower"] > ideal else neither


def in_the_data(data: CalibrationData, row: Any) -> str:
    """O/E of the data, to stand beside that of the posterior; empty where no event is expected.

    Parameters
    ----------
    data : CalibrationData
    row : mapping
        O/E of the posterior, whose decimals are used.

    Returns
    -------
    str
    """
    ratio = observed_expected(data)
    if ratio is None:
        return ""
    (shown,) = rounded((ratio,), row["lower"], row["upper"])
    return f"; {shown} in the data"


def numbers(row: Any) -> tuple[str, ...]:
    """Estimate, lower and upper end of a row, as far as its interval says they are known."""
    return rounded((row["estimate"], row["lower"], row["upper"]), row["lower"], row["upper"])


def with_interval(row: Any, beside: str = "") -> str:
    """Estimate and interval, `0.04 (0.02 to 0.07)`, with `beside` within the brackets."""
    middle, low, high = numbers(row)
    return f"{middle} ({low} to {high}{beside})"


def curve_rows(f: Findings, scores: Floats) -> list[tuple[str, ...]]:
    """The curve at some scores: mean, lower and upper end, all to one number of decimals."""
    rows = f.curve_at(scores)
    places = max(decimals(lower, upper) for _, lower, upper in rows)
    places = min(max(places, LEAST_PLACES), MOST_PLACES)
    return [tuple(f"{value:.{places}f}" for value in row) for row in rows]


def of_group(row: Any, functional: str) -> str:
    """A functional of one group and its interval; empty where the group does not define it.

    Parameters
    ----------
    row : mapping
        A row of `Findings.by_group`.
    functional : str

    Returns
    -------
    str
    """
    parts = {part: row[f"{functional}_{part}"] for part in ("estimate", "lower", "upper")}
    return "" if math.isnan(parts["estimate"]) else with_interval(parts)


def estimator_row(row: Any) -> EstimatorRow:
    """An estimate beside what calibrated models give, and the verdict on it.

    Parameters
    ----------
    row : mapping
        A row of `Findings.estimators`.

    Returns
    -------
    EstimatorRow
    """
    title = TITLES.get(str(row["title"]), str(row["title"]))
    if math.isnan(row["estimate"]):
        return EstimatorRow(title, "", "", UNDEFINED)
    names = ("estimate", "calibrated_lower", "calibrated_upper")
    middle, lower, upper = (f"{round(row[name], 3) + 0.0:.3f}" for name in names)
    return EstimatorRow(
        title,
        middle,
        f"{lower} to {upper}",
        LARGER if row["prob_exceeds"] < RARE else AS_IF_CALIBRATED,
    )


def where(parts: Sequence[Stretch]) -> str:
    """Where predictions are calibrated, and where they are too high or too low, in a sentence.

    Parameters
    ----------
    parts : sequence of Stretch

    Returns
    -------
    str
        Such as "By range, predicted risks are calibrated below 0.6 (probability 0.93), too high
        above 0.62 (probability > 0.99)."
    """
    told = [part for part in parts if part.cases >= FEWEST_CASES and part.probability >= LIKELY]
    if not any(part.state in ("high", "low") for part in told):
        return "There is no range in which predictions are clearly too high or too low."
    if len(told) > MOST_STRETCHES:
        told = sorted(told, key=lambda part: -part.cases)[:MOST_STRETCHES]
        told.sort(key=lambda part: part.start)
    clauses = [_told(part, parts) for part in told]
    return f"By range, predicted risks are {', '.join(clauses)}."


def _told(part: Stretch, parts: Sequence[Stretch]) -> str:
    """A stretch as a clause: its state, its range and its probability."""
    from_start, to_end = part == parts[0], part == parts[-1]
    if from_start and to_end:
        at = "throughout"
    elif part.start == part.stop:
        at = f"at {_shown(part.start)}"
    elif from_start:
        at = f"below {_shown(part.stop)}"
    elif to_end:
        at = f"above {_shown(part.start)}"
    else:
        at = f"between {_shown(part.start)} and {_shown(part.stop)}"
    return f"{STATES[part.state]} {at} (probability {chance(part.probability)})"


def _shown(score: float) -> str:
    """A score to two digits; near 1, two digits of its distance from 1."""
    if score <= 0.99 or score == 1:
        return f"{score:.2g}"
    return f"{score:.{1 - math.floor(math.log10(1 - score))}f}"
