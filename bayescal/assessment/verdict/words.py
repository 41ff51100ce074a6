"""The verdict in sentences, in the order of a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.text import chance, count, decimals, percent, shortened
from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import close_enough
from bayescal.assessment.verdict.off import CANNOT_SAY, NO_SIGN, STATES, YES
from bayescal.assessment.verdict.settle import MOST_TIMES, PROBABLY
from bayescal.assessment.words import where, with_interval
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = [
    "at_thresholds",
    "first_answer",
    "headline",
    "limit_reason",
    "ranges",
    "settling",
    "size",
    "title",
    "to_do",
    "whom",
]

TITLES = {
    (YES, "close enough"): "Off, but within the limit",
    (YES, "miscalibrated"): "Off by more than the limit",
    (YES, "cannot tell"): "Off; whether by more than the limit is not settled",
    (NO_SIGN, "close enough"): "No sign that it is off; within the limit",
    (NO_SIGN, "cannot tell"): "No sign that it is off; the size is not settled",
    (CANNOT_SAY, "close enough"): "Within the limit; whether it is off at all, the data cannot say",
    (CANNOT_SAY, "miscalibrated"): "Probably off by more than the limit",
    (CANNOT_SAY, "cannot tell"): "The data cannot say",
}
"""The two answers in a few words: is it off, and by more than the limit?"""

CLEAR = {
    "observed_expected": ("there were fewer events than predicted", "there were more events than predicted"),
    "calibration_slope": (
        "its risks are too extreme (over-confident)",
        "its risks are too moderate (under-confident)",
    ),
}
MOST_NAMED, MOST_SITES, MOST_PLACES = 3, 60, 6


def title(f: Findings) -> str:
    """The two answers in a few words."""
    return TITLES[f.off.answer, f.verdict]


def headline(f: Findings) -> str:
    """Whether the model is off and which way, by how much, and whether that is above the limit."""
    return f"{first_answer(f)} {size(f)}"


def first_answer(f: Findings) -> str:
    """Whether the model is off, and which way, with the intervals that say so."""
    if f.off.answer == YES:
        clear = _clear(f)
        if clear:
            return f"Yes, the model is off: {' and '.join(clear)}."
        if any("range" in way for way in f.off.ways):
            return f"Yes, the model is off, though {_both(f)}: its risks are {f.off.ways[0]}."
        return f"Yes, the model is off in level and slope taken together: {_both(f)}."
    if f.off.answer == NO_SIGN:
        return f"No sign that the model is off: {_both(f)}."
    return f"These data cannot say whether the model is off, since {f.off.why}: {_both(f)}."


def _clear(f: Findings) -> list[str]:
    """Clauses on O/E and on the slope, where their own interval is clear."""
    clauses = []
    for name, (below, above) in CLEAR.items():
        if name not in f.table.index:
            continue
        row, ideal = f.table.loc[name], FUNCTIONALS[name].calibrated
        if row["lower"] <= ideal <= row["upper"]:
            continue
        way = below if row["upper"] < ideal else above
        if name == "calibration_slope" and row["upper"] < 0:
            way = "its risks are reversed: where they are higher, events are rarer"
        counts = f", {_counts(f)}" if name == "observed_expected" and _counts(f) else ""
        clauses.append(f"{way}{counts} ({_labelled(f, name)})")
    return clauses


def _both(f: Findings) -> str:
    """Level and spread beside each other, whatever they say."""
    ratio = _labelled(f, "observed_expected")
    level = f"{_counts(f)} ({ratio})" if _counts(f) else ratio
    why = f.table.attrs["undefined"].get("calibration_slope")
    if why:
        return f"{level}; the slope is {NOT_DEFINED}, since {why}"
    slope = _labelled(f, "calibration_slope")
    if f.off.answer == NO_SIGN:
        return f"{level}, and the spread of its risks fits ({slope})"
    return f"{level}; {slope}"


def _labelled(f: Findings, name: str) -> str:
    """A measure with its interval: `slope 0.73, 0.62 to 0.84`."""
    label = {"observed_expected": "O/E", "calibration_slope": "slope"}[name]
    middle, _, ends = with_interval(f.table.loc[name]).partition(" (")
    return f"{label} {middle}, {ends.rstrip(')')}"


def _counts(f: Findings) -> str:
    """Events beside what was predicted; empty of sampling weights, whose sums count no one."""
    data = f.posterior.data
    if data.is_pseudo:
        return ""
    expected = float(data.trials @ data.score)
    shown = f"{expected:,.0f}" if expected >= 20 else f"{expected:.1f}"
    was = "was" if data.events == 1 else "were"
    return f"{count(data.events, 'event')} where {shown} {was} predicted"


def ranges(f: Findings) -> str:
    """Where predictions are too high or too low; empty unless the model is off over a range."""
    off = any(part.state in STATES for part in f.stretches)
    told = where(f.stretches) if off and f.off.answer == YES else ""
    return told if told.startswith("By range") else ""


def size(f: Findings) -> str:
    """By how much risks are off on average, and whether that is above the limit."""
    row, enough = f.table.loc["tce"], percent((1 + f.ci_prob) / 2)
    limit, below = _limit(f), f.prob_tce_below(f.close)
    middle, low, high = _points(row)
    if row["lower"] > 0:
        unit = "percentage point" if middle == "1" else "percentage points"
        told = (
            f"Risks are off by {middle} {unit} on average ({percent(f.ci_prob)} interval {low} to "
            f"{high})"
        )
    else:
        told = f"Risks are off by at most {high} percentage points on average ({enough})"
    if f.verdict == "close enough":
        return f"{told}, within {limit} with probability {chance(below)}."
    if f.verdict == "miscalibrated":
        return f"{told}, more than {limit} with probability {chance(1 - below)}."
    if below > 0.5:
        side = f"within it with probability {chance(below)}"
    else:
        side = f"above it with probability {chance(1 - below)}"
    return f"{told}. Whether that is more than {limit} is not settled: {side}."


def _points(row: Any) -> tuple[str, ...]:
    """Estimate, lower and upper end in percentage points; what is above 0 is not shown as 0."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    while row["lower"] > 0 and round(100 * row["lower"], places) == 0 and places < MOST_PLACES:
        places += 1
    return tuple(f"{100 * row[part]:.{places}f}" for part in ("estimate", "lower", "upper"))


def _limit(f: Findings) -> str:
    shown = f"{100 * f.close:.3g}"
    whose = "the default limit" if _is_default(f) else "your limit"
    return f"{whose} of {shown} {'point' if shown == '1' else 'points'}"


def _is_default(f: Findings) -> bool:
    return f.close == close_enough(f.posterior.data)


def limit_reason(f: Findings) -> str:
    """What the limit is, where it comes from, and how to set another."""
    if not _is_default(f):
        return (
            f"Your limit is an average error of {f.close:g}: a model with less counts as close "
            "enough to calibrated."
        )
    return (
        f"The default limit is an average error of {f.close:g}: 3 percentage points, or a quarter "
        "of the mean risk (or of one minus it) where that is less, since the same error weighs "
        "more where risks are low. It is a convention: choose the largest error that would change "
        "no decision, before you look at the data, and set it with close= or --close."
    )


def at_thresholds(f: Findings) -> str:
    """What the limit means for decisions at the thresholds; empty without thresholds.

    With no risk off by more than the limit L, whoever is treated wrongly from a risk of t on has a
    predicted risk s within L of t, and an actual risk within L - |s - t| of it; treating such a
    patient costs at most that, over 1 - t, in net benefit.
    """
    if not f.thresholds:
        return ""
    data = f.posterior.data
    costs = [
        1000 * float(data.trials @ np.maximum(f.close - np.abs(data.score - t), 0)) / data.n / (1 - t)
        for t in f.thresholds
    ]
    told = " and ".join(
        f"{cost:.2g} where patients are treated from a risk of {t:g} on"
        for t, cost in zip(f.thresholds, costs, strict=True)
    )
    return (
        "In net benefit: if no risk were off by more than the limit, decisions by the model would "
        f"lose, per 1000 patients, at most {told}."
    )


def to_do(f: Findings) -> str:
    """The recommendation, with the equation of the update."""
    advice = f.recommendation
    if advice.choice in (None, "identity"):
        return str(advice)
    if f.equation is None:
        return (
            f"{advice} It has no short equation: apply it with "
            f"bayescal.recalibrate.BayesianRecalibrator(curve='{advice.choice}')."
        )
    terms = [
        text for text, part in (("logit(p) = ln(p / (1 - p))", "logit"),) if part in str(f.equation)
    ]
    terms.append("expit(x) = 1 / (1 + exp(-x))")
    return f"{advice} The equation: {f.equation}, with {' and '.join(terms)}. Check it on new patients."


def whom(f: Findings) -> str:
    """Of whom the verdict is true."""
    if f.sites is not None:
        return " ".join([_next_group(f), *_groups_apart(f)])
    post = f.posterior
    if f.data.groups or f.crossed is not None:
        kind = "groups" if f.data.groups else "subgroups"
        return f"This is of all {kind} taken together; what is true of each stands below."
    if post.data.is_pseudo:
        who = "the population that the sampling weights stand for"
    elif post.design is not None:
        who = "patients like these, in clusters like these"
    else:
        who = "patients like these"
    return f"This holds for {who}: at another place or time the model may do better or worse."


def _next_group(f: Findings) -> str:
    new = f.sites.new_site() if f.sites is not None else f.posterior
    lower, upper = new.interval("observed_expected", f.ci_prob)
    below = new.prob_tce_below(f.close)
    told = (
        "This is of all groups taken together. In the next group expect between "
        f"{100 * lower:.0f} and {100 * upper:.0f} events for 100 predicted ({percent(f.ci_prob)}); "
        f"it is within the limit with probability {chance(below)}"
    )
    if below >= (1 + f.ci_prob) / 2:
        return f"{told}."
    return f"{told}, so check the model there before it is used."


def _groups_apart(f: Findings) -> list[str]:
    """Groups whose own O/E, drawn towards the others, is clear of 1, the furthest first."""
    if f.sites is None or len(f.sites.labels) > MOST_SITES:
        return []
    apart = []
    for label in f.sites.labels:
        view = f.sites.site(label)
        lower, upper = view.interval("observed_expected", f.ci_prob)
        if not lower <= 1 <= upper:
            apart.append((view.estimate("observed_expected"), lower, upper, label))
    if not apart:
        return []
    apart.sort(key=lambda row: -abs(np.log(row[0])))
    named = "; ".join(
        f"{shortened(label)} {100 * middle:.0f} ({100 * lower:.0f} to {100 * upper:.0f})"
        for middle, lower, upper, label in apart[:MOST_NAMED]
    )
    more = len(apart) - MOST_NAMED
    rest = f", and {more} more" if more > 0 else ""
    return [f"Events for 100 predicted, where not 100: {named}{rest}."]


def settling(f: Findings) -> str:
    """How many more patients would settle the verdict on the limit; empty if it is settled."""
    more = f.more_to_settle
    if more == 0:
        return ""
    if not np.isfinite(more):
        return (
            f"Even {MOST_TIMES} times as many patients would probably not settle it: the error is "
            "about as large as the limit."
        )
    return (
        f"What would settle it: with about {more:,.0f} more patients like these, the error is "
        f"found to be within the limit, or above it, with probability {PROBABLY:g}."
    )
