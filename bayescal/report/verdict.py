"""The verdict: rules from numbers to sentences. `_first` says what may be said first, and when.

How often each is said when it is true, and when it is not, is counted on simulated truths
(`tests/truths/words.py`); absence of evidence is never told as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from bayescal.core.sampling import BAD_K
from bayescal.core.text import (
    Measured,
    capitalised,
    chance,
    count,
    decimals,
    excludes,
    percent,
    shortened,
)
from bayescal.model.reversed import Reversed
from bayescal.report.facts import RIGHT_SPREAD, Facts, Limit
from bayescal.report.performance import mean_score


class Parts(NamedTuple):
    """Sites, periods or subgroups, each with a curve of its own.

    `off` has O/E of those whose interval excludes 1, the furthest first; `differ` and `changed` are
    NaN where not known; `next` is of 100 predicted events; in `pooled_error` errors of parts
    cancel.
    """

    kind: str
    number: int
    off: Mapping[str, Measured]
    differ: float
    next: tuple[float, float] | None
    last: tuple[str, Measured] | None
    pooled_error: Measured
    changed: float = float("nan")
    subgroups_off: Mapping[str, Measured] = MappingProxyType({})
    own: str = ""


@dataclass(frozen=True)
class Seen:
    """Numbers of an assessment, as few as the first lines need.

    The error is against their own group, where there are groups. In draws without any error O/E and
    slope are 1; `exact` is the probability of these. `alone` is what the data say without a prior.
    """

    ratio: Measured
    ratio_below: float
    ratio_above: float
    error: Measured
    slope: Measured | None = None
    slope_below: float = 0.5
    slope_above: float = 0.5
    slope_right: float = 0.0
    no_slope: str = ""
    exact: float = 0.0
    mean: float = 0.5
    ci_prob: float = 0.95
    alone: Mapping[str, Measured] = field(default_factory=dict)
    runs_wrong_way: Reversed | None = None
    are_labels: bool = False
    pareto_k: float = 0.0
    limit: Limit | None = None
    below_limit: float = 0.0
    parts: Parts | None = None

    @property
    def sure(self) -> float:
        """What is said without "perhaps" has this probability."""
        return (1 + self.ci_prob) / 2

    @property
    def may_be_exact(self) -> bool:
        """Whether exact calibration is not ruled out, and the error is from 0."""
        return self.exact > 1 - self.sure

    @property
    def is_untrusted(self) -> bool:
        """Whether draws cannot be trusted."""
        return self.pareto_k > BAD_K


def seen(f: Facts) -> Seen:
    """The numbers of an assessment that its first lines are read from."""
    infinity = float("inf")
    of_slope: dict[str, Any] = {}
    if "calibration_slope" in f.table.index:
        of_slope = {
            "slope": Measured.of(f.table.loc["calibration_slope"]),
            "slope_below": f.prob_within("calibration_slope", -infinity, 1),
            "slope_above": f.prob_within("calibration_slope", 1, infinity),
            "slope_right": f.prob_within("calibration_slope", *RIGHT_SPREAD),
        }
    return Seen(
        ratio=Measured.of(f.table.loc["observed_expected"]),
        ratio_below=f.prob_within("observed_expected", -infinity, 1),
        ratio_above=f.prob_within("observed_expected", 1, infinity),
        error=Measured.of(f.error),
        no_slope=f.table.attrs["undefined"].get("calibration_slope", ""),
        exact=float((f.error_draws == 0).mean()),
        mean=mean_score(f.posterior.data),
        ci_prob=f.ci_prob,
        alone={name: Measured.of(row) for name, row in f.alone.items()},
        runs_wrong_way=f.runs_wrong_way,
        are_labels=f.posterior.problem.edges.assumed,
        pareto_k=float(f.posterior.diagnostics.get("pareto_k", 0)),
        limit=f.limit,
        below_limit=0.0 if f.limit is None else f.prob_below_limit,
        parts=_parts(f),
        **of_slope,
    )


def _parts(f: Facts) -> Parts | None:
    if not f.has_own_curves:
        return None
    last = None
    if f.periods is not None and f.populations is not None:
        ratio = Measured.of(f.populations.loc["now"], "observed_expected_{}")
        last = f.periods.levels["period"][-1], ratio
    number = len(f.data.groups)
    if f.several is not None:
        number = sum(len(f.several.levels[axis]) for axis in f.axes)
    return Parts(
        f.kind,
        number,
        {label: Measured.of(row) for label, row in f.clearly_off.items()},
        f.prob_differ,
        f.next_events,
        last,
        Measured.of(f.table.loc["tce"]),
        f.prob_changed,
        {label: Measured.of(row) for label, row in f.subgroups_off.items()},
        f.own,
    )


# Of the first line; numbers with their intervals.
MOST_WORDS, MOST_NUMBERS = 20, 2
INTERVAL = re.compile(r"\d to -?\d| at most ")
# Probability from which "perhaps too extreme" is said, and groups that differ lead.
PROBABLY = 0.9
# Probability that the slope is between 0.8 and 1.25 from which the spread is about right.
ABOUT_RIGHT = 0.95
# Probability of a difference up to which groups are called alike.
ALIKE = 0.1
MOST_NAMED_OFF, LONGEST_LABEL = 6, 24
# Average risk below which an error is told as a share of it, too.
RARE_EVENTS = 0.1
# What the odds of an error below the limit are divided and multiplied by.
#
# As measured by kinds of models: of those made from few patients, or by a machine, errors are
# larger than the prior says, and of those that were validated before smaller.
BAND = 5.0


class Verdict(NamedTuple):
    """What is said first: at most 20 words and two numbers; then the limit, if one was chosen.

    `alarm` is what to check before anything else, and empty for most data.
    """

    name: str
    first: str
    limit: str
    more: tuple[str, ...]
    alarm: str
    tone: str


def verdict_of(s: Seen) -> Verdict:
    """What is told first, and what follows from the numbers that it did not tell."""
    name, (first, *rest) = _first(s)
    alike = _alike(s)
    if alike and is_short(f"{alike}; {lowered(first)}."):
        first = f"{alike}; {lowered(first)}"
    while rest and is_short(f"{first}; {rest[0]}."):
        first = f"{first}; {rest.pop(0)}"
    more = [f"{capitalised(text)}." for text in rest]
    alarm = _alarm(s)
    more += [] if alarm else [*_of_parts(s), *_of_rare_events(s), *_of_data_alone(s)]
    limit, tone = ("", "bad") if alarm else _of_limit(s)
    return Verdict(name, f"{first}.", limit, tuple(more), alarm, tone)


def lowered(text: str) -> str:
    """A sentence as it goes on within another; abbreviations keep their capitals."""
    return text if text[:3] == "O/E" else f"{text[:1].lower()}{text[1:]}"


def is_short(text: str) -> bool:
    """Whether a text has at most 20 words, and two numbers with their intervals."""
    return len(text.split()) <= MOST_WORDS and len(INTERVAL.findall(text)) <= MOST_NUMBERS


# Clauses


def points(row: Measured) -> tuple[str, ...]:
    """Estimate and both ends in percentage points; what is above 0 is not shown as 0."""
    places = max(decimals(row.lower, row.upper) - 2, 0)
    while row.lower > 0 and round(100 * row.lower, places) == 0 and places < 6:
        places += 1
    return tuple(f"{100 * value:.{places}f}" for value in row)


def off_by(error: Measured, may_be_exact: bool) -> str:
    """By how much risks are off; where they may not be off at all, by how much at most."""
    middle, low, high = points(error)
    if may_be_exact or error.lower <= 0:
        return f"off by at most {high} {'point' if high == '1' else 'points'}"
    return f"off by {middle} {'point' if middle == '1' else 'points'} ({low} to {high})"


def _ratio(s: Seen, name: str = "O/E", row: Measured | None = None) -> str:
    """A ratio; that it is given an error, where its interval excludes 1 and there may be none."""
    of = row or s.ratio
    clear = excludes(of.lower, of.upper, 1)
    return f"{name} {of.told(1, ' if it is off at all' if s.may_be_exact and clear else '')}"


def _slope(s: Seen) -> str:
    if s.slope is None:
        return f"the slope is not defined, since {s.no_slope}"
    return _ratio(s, "slope", s.slope)


def level_of(s: Seen) -> str:
    """That risks are too high or too low on average; empty unless that is sure."""
    if s.ratio_below >= s.sure:
        return "too high"
    return "too low" if s.ratio_above >= s.sure else ""


def spread_of(s: Seen) -> str:
    """What is known of the spread of the risks: the first of these that holds."""
    if s.slope is None:
        return ""
    if s.slope_right >= ABOUT_RIGHT:
        for side, word in ((s.slope_below, "extreme"), (s.slope_above, "moderate")):
            if side >= s.sure:
                return f"about right, slightly too {word}"
        return "about right"
    for side, word in ((s.slope_below, "too extreme"), (s.slope_above, "too moderate")):
        if side >= s.sure:
            return word
        if side >= PROBABLY:
            return f"perhaps {word}"
    return "unknown"


def _spread_clause(s: Seen) -> str:
    """The spread and the slope, as a clause."""
    spread = spread_of(s)
    if not spread:
        return _slope(s)
    if spread == "unknown":
        return f"these data cannot say whether the spread is right: {_slope(s)}"
    if spread.startswith("about right"):
        return f"spread {spread}: {_slope(s)}"
    if spread.startswith("perhaps"):
        side = s.slope_below if spread.endswith("extreme") else s.slope_above
        return f"{spread} (P {chance(side)}): {_slope(s)}"
    return f"{spread}: {_slope(s)}"


# Rules


def _leads(s: Seen) -> bool:
    """Whether parts lead, or what has changed over time."""
    return s.parts is not None and (_parts_lead(s, s.parts) or bool(_changed(s.parts)))


def _parts_lead(s: Seen, parts: Parts) -> bool:
    """Whether parts differ, or are clearly off where the pooled O/E does not say so."""
    sides = {row.estimate > 1 for row in parts.off.values()}
    pooled = {"too low": {True}, "too high": {False}}.get(level_of(s), set())
    return parts.differ >= PROBABLY or bool(sides - pooled)


def _alike(s: Seen) -> str:
    """That parts are alike, as a clause; empty where that is not probable."""
    parts = s.parts
    if parts is None or parts.off or not parts.differ <= ALIKE:
        return ""
    return f"{parts.number} {parts.kind}s alike"


def _parts_first(s: Seen) -> list[str]:
    parts = s.parts
    assert parts is not None
    number, kinds = len(parts.off), f"{parts.kind}s"
    changed = _changed(parts)
    if changed and (parts.kind == "period" or not _parts_lead(s, parts)):
        return changed
    if not number:
        first = f"The {parts.number} {kinds} differ (P {chance(parts.differ)})"
    else:
        first = f"{number} of {parts.number} {kinds} {'is' if number == 1 else 'are'} clearly off"
    if parts.next is not None:
        low, high = parts.next
        at = "at" if parts.kind == "site" else "in"
        expect = f"{at} the next expect {low:.0f} to {high:.0f} events for 100 predicted"
        return [first, expect]
    named = list(parts.off.items())
    if named:
        return [first, f"{_events(*named[0])} events for 100 predicted"]
    return [first, _ratio(s)]


def _changed(parts: Parts) -> list[str]:
    """That curves have changed over time, and how they are now; nothing unless it is probable."""
    changed = parts.differ if parts.kind == "period" else parts.changed
    if parts.last is None or not changed >= PROBABLY:
        return []
    label, ratio = parts.last
    now = f"now, in {shortened(label, LONGEST_LABEL)}, O/E is {ratio.told(1)}"
    return [f"The model has changed (P {chance(changed)})", now]


def _first(s: Seen) -> tuple[str, list[str]]:
    """What the first line is, by name, and its clauses, of which as many as fit are told.

    The first of these that holds.
    """
    if s.are_labels:
        return "labels", ["These are labels, not probabilities: every score is exactly 0 or 1"]
    if s.runs_wrong_way is not None:
        return "wrong way", [s.runs_wrong_way.first.rstrip(".")]
    if s.is_untrusted:
        return "untrusted", ["The computation cannot be trusted here", _ratio(s)]
    if _leads(s):
        return "parts", _parts_first(s)
    level, spread, size = level_of(s), spread_of(s), off_by(s.error, s.may_be_exact)
    if level and spread.startswith("too"):
        both = f"Risks are {level} and {spread}: {_ratio(s)}, {_slope(s)}"
        return "level and spread", [both, size]
    if level:
        return "level", [f"Risks are {level}: {_ratio(s)}", size, _spread_clause(s)]
    if s.slope is not None:
        return "spread", [capitalised(_spread_clause(s)), size, _ratio(s)]
    return "no slope", [_ratio(s), size, _slope(s)]


def _alarm(s: Seen) -> str:
    """What to check before anything else."""
    if s.are_labels:
        return (
            "Calibration is a property of probabilities: pass those that the model gives before "
            "it decides, such as predict_proba of scikit-learn."
        )
    if s.runs_wrong_way is not None:
        return s.runs_wrong_way.advice
    return ""


# What follows


def _of_parts(s: Seen) -> Iterator[str]:
    """Which parts are off, and that their errors cancel; or whether they are alike."""
    parts = s.parts
    if parts is None:
        return
    if parts.off:
        named = "; ".join(_events(*each) for each in list(parts.off.items())[:MOST_NAMED_OFF])
        left = len(parts.off) - MOST_NAMED_OFF
        rest = f"; and {count(left, f'other {parts.kind}')}" if left > 0 else ""
        yield f"{parts.kind.capitalize()}s clearly off, in events for 100 predicted: {named}{rest}."
    elif parts.differ <= ALIKE:
        yield f"The {parts.number} {parts.kind}s are alike (P {chance(1 - parts.differ)})."
    elif parts.differ < PROBABLY:
        yield (
            f"Whether the {parts.number} {parts.kind}s differ, these data cannot say "
            f"(P that they do {chance(parts.differ)})."
        )
    if parts.subgroups_off:
        named = "; ".join(
            _events(*each) for each in list(parts.subgroups_off.items())[:MOST_NAMED_OFF]
        )
        yield f"Subgroups clearly off, in events for 100 predicted: {named}."
    if parts.last is not None and parts.kind != "period":
        yield from _over_time(s, parts)
    if _leads(s):
        together = [_ratio(s), *([] if s.slope is None else [_slope(s)])]
        yield (
            f"All together: {', '.join(together)}; in these, errors of {parts.kind}s cancel. "
            f"Against their own {parts.own} risks are {off_by(s.error, s.may_be_exact)}; against "
            f"the curve of all, {off_by(parts.pooled_error, False)}."
        )
    if parts.next is not None and not _leads(s):
        low, high = parts.next
        yield (
            f"In the next {parts.kind} expect {low:.0f} to {high:.0f} events for 100 predicted "
            f"({percent(s.ci_prob)})."
        )


def _over_time(s: Seen, parts: Parts) -> Iterator[str]:
    """Whether curves have changed over time, beside the parts that lead."""
    changed = _changed(parts)
    if changed:
        if _parts_first(s) != changed:
            yield f"{'; '.join(changed)}."
    elif parts.changed <= ALIKE:
        yield f"Over time nothing has changed (P {chance(1 - parts.changed)})."
    elif parts.changed < PROBABLY:
        yield (
            "Whether anything has changed over time, these data cannot say "
            f"(P {chance(parts.changed)})."
        )


def _events(label: str, ratio: Measured) -> str:
    """Events for 100 predicted, by name."""
    estimate, low, high = (f"{100 * value:.0f}" for value in ratio)
    return f"{shortened(label, LONGEST_LABEL)} {estimate} ({low} to {high})"


def _of_rare_events(s: Seen) -> Iterator[str]:
    """The error as a share of the average risk, where events are rare."""
    if s.mean < RARE_EVENTS:
        value = s.error.upper if s.may_be_exact else s.error.estimate
        most = "at most " if s.may_be_exact else ""
        share = f"{100 * value / s.mean:.2g}" if value < s.mean else f"{100 * value / s.mean:.0f}"
        yield f"That is {most}{share} % of the average risk of {100 * s.mean:.2g} %."


def _of_data_alone(s: Seen) -> Iterator[str]:
    """What the data say without a prior, where that is another answer."""
    told = []
    for name, short in (("observed_expected", "O/E"), ("calibration_slope", "slope")):
        mine = s.ratio if name == "observed_expected" else s.slope
        if mine is None or name not in s.alone:
            continue
        own = s.alone[name]
        if differs(own, mine, 1):
            told.append(f"{short} {own.told(1)}")
    if told:
        yield f"The data alone, without a prior, say {' and '.join(told)}."


def differs(alone: Measured, posterior: Measured, ideal: float) -> bool:
    """Whether estimates are more than half a standard error apart, or intervals disagree."""
    error = (posterior.upper - posterior.lower) / 3.92
    if abs(alone.estimate - posterior.estimate) > error / 2:
        return True
    if not np.isfinite(alone.lower):
        return False
    clear = [excludes(each.lower, each.upper, ideal) for each in (alone, posterior)]
    return clear[0] != clear[1]


def _of_limit(s: Seen) -> tuple[str, str]:
    """Whether the error is within the limit that the user chose, and the tone of the answer."""
    if s.limit is None:
        return "", "open"
    limit = f"the limit of {100 * s.limit.value:.3g} points"
    off = len(s.parts.off) if s.parts is not None else 0
    is_open = s.is_untrusted or off > 0
    if s.below_limit >= s.sure:
        told = f"On average the error is within {limit} (probability {chance(s.below_limit)})"
        if s.parts is not None and off:
            told += f"; {count(off, s.parts.kind)} {'is' if off == 1 else 'are'} clearly off"
        return f"{told}.", "open" if is_open else "good"
    if 1 - s.below_limit >= s.sure:
        told = f"The error is above {limit} (probability {chance(1 - s.below_limit)})."
        return told, "open" if is_open else "bad"
    told = f"Whether the error is within {limit} is open: the probability is "
    return f"{told}{chance(s.below_limit)}.", "open"


def band(below: float) -> tuple[float, float]:
    """P(error < limit) of a model of few patients or by a machine, and of a validated one."""
    if below in (0, 1):
        return below, below
    odds = below / (1 - below)
    new, validated = odds / BAND, odds * BAND
    return new / (1 + new), validated / (1 + validated)
