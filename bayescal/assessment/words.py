"""An assessment in words. Every verdict has one wording, which is defined here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import followed_words
from bayescal.assessment.performance import values_in_data
from bayescal.assessment.stretches import FEWEST_CASES, LIKELY, Stretch
from bayescal.core.arrays import Floats
from bayescal.core.text import capitalised, chance, percent, rounded
from bayescal.data.table import CalibrationData
from bayescal.multilevel.calibrated import prior_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "STATES",
    "alarms_of",
    "c_statistic_words",
    "counted",
    "curve_rows",
    "decision_range_words",
    "directions",
    "exactness",
    "first_words",
    "in_the_data",
    "is_reversed",
    "kind_of",
    "numbers",
    "outcome_words",
    "where",
    "whose_words",
    "with_interval",
]

STATES = {"on": "calibrated", "high": "too high", "low": "too low"}
MOST_STRETCHES = 4


def first_words(f: Findings) -> list[str]:
    """What must be known before any number.

    Returns
    -------
    list of str
        Empty for most data.
    """
    return [*alarms_of(f), *outcome_words(f)]


def alarms_of(f: Findings) -> list[str]:
    """Why the scores must be checked first: they are labels, or seem to be reversed."""
    told = []
    if f.posterior.problem.edges.assumed:
        told.append(
            "The scores are labels, not probabilities: every score is exactly 0 or 1. Calibration "
            "is a property of probabilities; pass those that the model gives before it decides, "
            "such as predict_proba of scikit-learn."
        )
    row = f.performance.loc["c_statistic"]
    if row["estimate"] < 0.5:
        middle, low, high = numbers(row, 0.5)
        shown = f"C-statistic {middle}, {percent(f.ci_prob)} interval {low} to {high}"
        told.append(
            f"The scores seem to be reversed: cases with the event have lower scores than cases "
            f"without it ({shown}). Check that the score is the probability of the event, and not "
            "of its opposite."
            if is_reversed(f)
            else f"The scores do not separate the cases with the event from the others ({shown}). "
            "Check that the score is the probability of the event."
        )
    return told


def is_reversed(f: Findings) -> bool:
    """Whether scores are clearly lower where events are: they seem to be of the opposite."""
    row = f.performance.loc["c_statistic"]
    return bool(row["upper"] < 0.5)


def outcome_words(f: Findings) -> list[str]:
    """What was seen of the outcomes, where that is not all: up to a time."""
    return followed_words(f.posterior.data, f.ratio_at_other_hazard)


def exactness(f: Findings) -> str:
    """The probability of exact calibration, and how much it depends on the prior."""
    if f.several is not None:
        return _exactness_of_several(f, f.several)
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


def _exactness_of_several(f: Findings, post: MultilevelPosterior) -> str:
    """The same of every group, period or subgroup, and of the average of them."""
    each, average = whose_words(post)
    if post.prob_calibrated is None:
        return f"The probability that {each} is exactly calibrated was not computed."
    even = chance(f.prob_calibrated_at(0.5))
    of_average = post.prob_calibrated["average_site"]
    return (
        f"That {each} is exactly calibrated has probability {chance(f.prob_calibrated)}, from a "
        f"prior of {f.prior_calibrated:g}; at even prior odds it is {even}. That {average} is "
        f"exactly calibrated has probability {chance(of_average)}, from a prior of "
        f"{prior_of(post.problem).average_site:g}."
    )


def whose_words(post: MultilevelPosterior) -> tuple[str, str]:
    """What there are several curves of, each and their average, as a clause names them."""
    if post.problem.kind == "periods":
        return "every period", "the first period"
    if post.problem.kind == "sites":
        return "every group", "the average group"
    return "every subgroup", "the average subgroup"


def counted(post: MultilevelPosterior) -> str:
    """How many curves there are, of what: "12 groups"."""
    (_, _, kind), number = whose_words(post)[0].partition(" "), len(post.problem.labels)
    return f"{number} {kind}s"


def kind_of(f: Findings) -> str:
    """What has curves of its own: "group", "period" or "subgroup"."""
    return "group" if f.several is None else whose_words(f.several)[0].removeprefix("every ")


def decision_range_words(f: Findings) -> str:
    """Over which thresholds the decision curve is drawn, and whether it decides anything."""
    over = f.decision_range
    drawn = f"from {over.lowest:g} to {over.highest:g}"
    if over.is_default:
        return (
            f"No threshold was given, so the decision curve has thresholds {drawn}: half to twice "
            "the prevalence, within 0.01 and 0.99. This range is a default, and nothing is "
            "recommended by it."
        )
    return (
        f"The decision curve has thresholds {drawn}. Dashed lines are the thresholds that were "
        "given; only these decide what is recommended."
    )


def directions(table: pd.DataFrame, data: CalibrationData) -> str:
    """Which way predictions err, as far as the intervals of O/E and slope say."""
    sentences = []
    for name, each in FUNCTIONALS.items():
        if not each.unclear:
            continue
        if name in table.index:
            row = table.loc[name]
            side = each.side(float(table["lower"][name]), float(table["upper"][name]))
            told = capitalised(each.unclear if side is None else side.clause)
            own = in_the_data(data, name, row)
            sentences.append(f"{told}: {each.short} {with_interval(row, own, each.apart)}.")
        elif name in table.attrs["undefined"]:
            why = table.attrs["undefined"][name]
            sentences.append(f"The {each.short} is {NOT_DEFINED}: {why}.")
    return " ".join(sentences)


def in_the_data(data: CalibrationData, name: str, row: Any) -> str:
    """O/E of the data, to stand beside that of the posterior; empty where no event is expected."""
    own = values_in_data(data).get(name)
    if own is None:
        return ""
    (shown,) = rounded((own,), row["lower"], row["upper"], FUNCTIONALS[name].apart)
    return f"; {shown} in the data"


def numbers(row: Any, apart: float | None = None) -> tuple[str, ...]:
    """Estimate, lower and upper end of a row, as far as its interval says they are known.

    Parameters
    ----------
    apart : float, optional
        The value that no end is rounded onto, if the interval excludes it.
    """
    ends = row["lower"], row["upper"]
    return rounded((row["estimate"], *ends), *ends, apart)


def with_interval(row: Any, beside: str = "", apart: float | None = None) -> str:
    """Estimate and interval, `0.04 (0.02 to 0.07)`, with `beside` within the brackets."""
    middle, low, high = numbers(row, apart)
    return f"{middle} ({low} to {high}{beside})"


def c_statistic_words(f: Findings) -> str:
    """The C-statistic and its interval, or that it is not defined."""
    row: Any = f.performance.loc["c_statistic"]
    if not math.isfinite(row["estimate"]):
        return NOT_DEFINED
    return f"{with_interval(row)}, {percent(f.ci_prob)} interval"


def curve_rows(f: Findings, scores: Floats) -> list[tuple[str, ...]]:
    """The curve at some scores: mean, lower and upper end."""
    return [rounded(tuple(row), row[1], row[2]) for row in f.curve_at(scores)]


def where(parts: Sequence[Stretch]) -> str:
    """Where predictions are calibrated, and where they are too high or too low, in a sentence.

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
