"""The verdict in sentences, in the order of a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import observed_words
from bayescal.assessment.performance import CLOSE, close_enough
from bayescal.assessment.verdict.off import (
    CANNOT_SAY,
    LEVEL_AND_SLOPE,
    NO_SIGN,
    OVER_A_RANGE,
    SOME_GROUPS,
    YES,
)
from bayescal.assessment.verdict.settle import MOST_TIMES, PROBABLY
from bayescal.assessment.words import (
    counted,
    in_the_data,
    is_reversed,
    kind_of,
    numbers,
    where,
    with_interval,
)
from bayescal.core.text import chance, count, decimals, percent, shortened
from bayescal.gain.updates.recommendation import FEWEST
from bayescal.multilevel.populations import LEAST_OF_NEXT
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = [
    "advice",
    "advice_of_whom",
    "at_thresholds",
    "first_answer",
    "headline",
    "limit_reason",
    "lost_at_thresholds",
    "of_draws",
    "ranges",
    "settling",
    "size",
    "title",
    "to_do",
    "whom",
]

TWO_ANSWERS = {
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

MOST_NAMED, MOST_PLACES = 3, 6
LEAST_WHOLE = 20  # events from which predicted ones are shown as whole numbers


def title(f: Findings) -> str:
    """The two answers in a few words."""
    told = TWO_ANSWERS[f.off.answer, f.verdict]
    if _groups_lead(f) and f.verdict != "miscalibrated":
        return _how_many_off(f)
    return told if f.several is None else f"{told} (patients of these {counted(f.several)})"


def headline(f: Findings) -> str:
    """Whether the model is off and which way, by how much, and whether that is above the limit."""
    return f"{first_answer(f)} {size(f)}"


def first_answer(f: Findings) -> str:
    """Whether the model is off, and which way, with the intervals that say so."""
    answer, ways, why = f.off
    if answer == NO_SIGN:
        return f"No sign that the model is off{_for_whom(f)}: {_all_fits(f)}."
    off = f"the model is off{_for_whom(f)}"
    if answer != YES:
        return f"These data cannot say whether {off}, since {why} ({_numbers(f)})."
    if _groups_lead(f):
        return f"Yes, {_how_many_off(f)}, by {_named_off(f)}. All together: {_numbers(f)}."
    if clear := _clear(f):
        return f"Yes, {off}: {' and '.join(clear)}.{_without_slope(f)}"
    if not ways:
        return f"Yes, {off}, though no single way is clear ({_numbers(f)})."
    if ways == (LEVEL_AND_SLOPE,):
        return f"Yes, {off} in level and slope taken together ({_numbers(f)})."
    return f"Yes, {off}: its risks are {' and '.join(ways)} ({_numbers(f)})."


def _groups_lead(f: Findings) -> bool:
    """Whether groups are clearly off on either side, or O/E and slope of all are not clear."""
    sides = {row["estimate"] > 1 for row in f.clearly_off.values()}
    return SOME_GROUPS in f.off.ways and (len(sides) > 1 or not _clear(f))


def _how_many_off(f: Findings) -> str:
    """How many groups are clearly off, or which subgroups, as a clause."""
    number, kind = len(f.clearly_off), kind_of(f)
    be = "is" if number == 1 else "are"
    if f.crossed is not None:
        return f"{count(number, kind)} {be} clearly off"
    labels = f.data.groups if f.several is None else f.several.labels
    return f"{number} of {len(labels)} {kind}s {be} clearly off"


def _for_whom(f: Findings) -> str:
    """The patients that the answer is of, where there are several populations; else empty."""
    return "" if f.several is None else f" for the patients of these {counted(f.several)}"


def _clear(f: Findings) -> list[str]:
    """Clauses on O/E and on the slope, where their own interval is clear."""
    clauses = []
    for name, each in FUNCTIONALS.items():
        if name not in f.table.index:
            continue
        side = each.side(float(f.table["lower"][name]), float(f.table["upper"][name]))
        if side is None or not side.verdict:
            continue
        counts = _counts(f, ", {} for {}") if name == "observed_expected" else ""
        clauses.append(f"{side.verdict}{counts} ({_told(f, name)})")
    return clauses


def _all_fits(f: Findings) -> str:
    """Events beside what was predicted, and the spread of risks, of which none stands out."""
    events = "" if f.posterior.problem.of_times else " events"
    counts = _counts(f, f"{{}}{events} for {{}} predicted")
    level = f"{counts} ({_ratio(f)})" if counts else _ratio(f)
    why = f.table.attrs["undefined"].get("calibration_slope")
    if why:
        return f"{level}; the slope is {NOT_DEFINED}, since {why}"
    return f"{level}, and the spread of its risks fits ({_slope(f)})"


def _numbers(f: Findings) -> str:
    """O/E and slope, whatever they say."""
    why = f.table.attrs["undefined"].get("calibration_slope")
    return f"{_ratio(f)}; {f'slope {NOT_DEFINED}, since {why}' if why else _slope(f)}"


def _without_slope(f: Findings) -> str:
    """That the slope is not defined, after other ways that are clear."""
    why = f.table.attrs["undefined"].get("calibration_slope")
    return f" The slope is {NOT_DEFINED}: {why}." if why else ""


def _counts(f: Findings, pattern: str) -> str:
    """Events and the number predicted; empty where the data do not count who had the event.

    Sums of sampling weights count no one.
    """
    data = f.posterior.data
    if data.follow_up is not None:
        observed, predicted = observed_words(f.posterior, f.table)
        return pattern.format(f"{observed} with the event by {data.follow_up.horizon:g}", predicted)
    if data.is_pseudo:
        return ""
    expected = float(data.trials @ data.score)
    shown = f"{expected:,.0f}" if expected >= LEAST_WHOLE else f"{expected:.1f}"
    return pattern.format(count(data.events), shown)


def _ratio(f: Findings) -> str:
    return _told(f, "observed_expected")


def _slope(f: Findings) -> str:
    return _told(f, "calibration_slope")


def _told(f: Findings, name: str) -> str:
    """A measure with its interval, and beside it O/E of the data, where it is another number."""
    row: Any = f.table.loc[name]
    middle, low, high = numbers(row, FUNCTIONALS[name].apart)
    own = in_the_data(f.posterior.data, name, row)
    beside = "" if own == f"; {middle} in the data" else own
    return f"{FUNCTIONALS[name].short} {middle}, {low} to {high}{beside}"


def ranges(f: Findings) -> str:
    """Where predictions are too high or too low; empty unless the model is off over a range."""
    off = any(part.state in OVER_A_RANGE for part in f.stretches)
    is_told = off and f.off.answer == YES and not _groups_lead(f)
    told = where(f.stretches) if is_told else ""
    return told if told.startswith("By range") else ""


def size(f: Findings) -> str:
    """By how much risks are off on average, and whether that is above the limit."""
    row, enough = f.error, f"{(1 + f.ci_prob) / 2:g}"
    limit, below = _limit(f), f.prob_tce_below(f.close)
    middle, low, high = _points(row)
    if row["lower"] > 0:
        unit = "percentage point" if middle == "1" else "percentage points"
        told = f"{middle} {unit} on average ({percent(f.ci_prob)} interval {low} to {high})"
    else:
        told = f"at most {high} percentage points on average (probability {enough})"
    whose = f" against the patients' own {kind_of(f)}s" if f.has_own_curves else ""
    told = f"Risks are off by {told}{whose}"
    if f.verdict == "close enough":
        return f"{told}, within {limit} with probability {chance(below)}."
    if f.verdict == "miscalibrated":
        return f"{told}, more than {limit} with probability {chance(1 - below)}."
    if f.clearly_off and below >= (1 + f.ci_prob) / 2:
        return (
            f"{told}. This mean is below {limit} with probability {chance(below)}, which says "
            f"nothing of single {kind_of(f)}s."
        )
    side, probability = ("within", below) if below > 0.5 else ("above", 1 - below)
    return (
        f"{told}. Whether the error is {side} {limit} is not settled: the probability is "
        f"{chance(probability)}, and {(1 + f.ci_prob) / 2:g} would settle it."
    )


def _points(row: Any) -> tuple[str, ...]:
    """Estimate, lower and upper end in percentage points; what is above 0 is not shown as 0."""
    places = max(decimals(row["lower"], row["upper"]) - 2, 0)
    while row["lower"] > 0 and round(100 * row["lower"], places) == 0 and places < MOST_PLACES:
        places += 1
    return tuple(f"{100 * row[part]:.{places}f}" for part in ("estimate", "lower", "upper"))


def _limit(f: Findings) -> str:
    return f"{'the default' if _is_default(f) else 'your'} limit of {_in_points(f)}"


def _in_points(f: Findings) -> str:
    shown = f"{100 * f.close:.3g}"
    return f"{shown} {'point' if shown == '1' else 'points'}"


def _is_default(f: Findings) -> bool:
    return f.close == close_enough(f.posterior.data)


def limit_reason(f: Findings) -> str:
    """What the limit is, where it comes from, and how to set another."""
    if not _is_default(f):
        return (
            f"Your limit is an average error of {_in_points(f)}: a model with less counts as "
            "close enough to calibrated."
        )
    why = (
        ""
        if f.close == CLOSE
        else ": a quarter of the mean risk (or of one minus it), since this is less than 3 points"
    )
    return (
        f"The default limit is an average error of {_in_points(f)}{why}. It is a convention: "
        "choose the largest error that would change no decision, before you look at the data, and "
        "set it with close= or --close."
    )


def at_thresholds(f: Findings) -> str:
    """What the limit, and what is known of the error, mean for decisions; empty without thresholds.

    With no risk off by more than the limit L, whoever is treated wrongly from a risk of t on has a
    predicted risk s within L of t, and an actual risk within L - |s - t| of it; treating such a
    patient costs at most that, over 1 - t, in net benefit.
    """
    if not f.thresholds:
        return ""
    data = f.posterior.data
    costs = [
        1000
        * float(data.trials @ np.maximum(f.close - np.abs(data.score - t), 0))
        / data.n
        / (1 - t)
        for t in f.thresholds
    ]
    told = " and ".join(
        f"{cost:.2g} where patients are treated from a risk of {t:g} on"
        for t, cost in zip(f.thresholds, costs, strict=True)
    )
    return (
        "In net benefit: if no risk were off by more than the limit, decisions by the model would "
        f"lose, per 1000 patients, at most {told}. {lost_at_thresholds(f)}"
    )


def lost_at_thresholds(f: Findings) -> str:
    """What miscalibration costs in decisions, at its most; empty without thresholds."""
    if f.net_benefit_lost.empty:
        return ""
    first, last = f.thresholds[0], f.thresholds[-1]
    risks = f"of {first:g}" if first == last else f"between {first:g} and {last:g}"
    most = f.net_benefit_lost.iloc[-1]
    return (
        f"If patients are treated from a risk {risks} on, miscalibration costs at most "
        f"{per_1000(most['upper'])} in net benefit per 1000 patients (with probability "
        f"{(1 + f.ci_prob) / 2:g}; estimate {per_1000(most['estimate'])})."
    )


def per_1000(value: float) -> str:
    """Net benefit per patient, of 1000 patients, to one decimal."""
    return f"{1000 * value:.1f}"


def to_do(f: Findings) -> str:
    """The recommendation, with the equation of the update."""
    if is_reversed(f):
        return (
            "No update is recommended until it is checked whether the scores are probabilities of "
            "the opposite outcome: an update would only hide that."
        )
    return f"{_advised(f)}{advice_of_whom(f)}"


def advice_of_whom(f: Findings) -> str:
    """Whose patients the recommendation is for; empty without several groups."""
    if f.several is None or f.recommendation.choice is None or _updates_hide(f):
        return ""
    told = f" This is one update for all, and for the patients of these {counted(f.several)}"
    if f.prob_better_elsewhere is None:
        return f"{told}."
    kind = "group" if f.sites is not None else "period"
    chances = chance(f.prob_better_elsewhere)
    return f"{told}; in the next {kind} it is better than no update with probability {chances}."


def advice(f: Findings) -> str:
    """The recommendation; that no update for all helps is no advice to leave groups as they are."""
    if not _updates_hide(f):
        return str(f.recommendation)
    kind = kind_of(f)
    return (
        f"No one update for all {kind}s is recommended: look at the {kind}s that are clearly off, "
        f"one by one. {f.recommendation}"
    )


def _updates_hide(f: Findings) -> bool:
    """Whether no update for all patients is better than none, and yet groups are clearly off."""
    return bool(f.clearly_off) and f.recommendation.choice == "identity"


def _advised(f: Findings) -> str:
    """The recommendation, and its equation."""
    chosen, told = f.recommendation.choice, advice(f)
    if chosen is None and f.off.answer == YES:
        return f"Do not use these risks as they are; follow more patients first. {told}"
    if chosen in (None, "identity"):
        return told
    score = np.unique(f.posterior.data.score)
    if score.size == 1:
        return (
            f"{told} All scores are {score[0]:.3g}, so this is one risk for all patients: the "
            f"observed share of patients with the event, {_observed_share(f):.3g}."
        )
    if f.equation is None:
        return (
            f"{told} It has no short equation: apply it with "
            f"bayescal.recalibrate.BayesianRecalibrator(curve='{chosen}'). On the command "
            "line, bayescal recalibrate writes risks recalibrated by the average of all curves."
        )
    terms = ["expit(x) = 1 / (1 + exp(-x))"]
    if "logit" in str(f.equation):
        terms.insert(0, "logit(p) = ln(p / (1 - p))")
    meaning = " and ".join(terms)
    return f"{told} The equation: {f.equation}, with {meaning}. Check it on new patients."


def _observed_share(f: Findings) -> float:
    """Share of the patients with the event; of times to an event, by the curve at all scores."""
    data = f.posterior.data
    if data.follow_up is None:
        return float(data.events / data.n)
    return float(f.curve_at(data.score)[:, 0].mean())


def whom(f: Findings) -> str:
    """Of whom the verdict is true, and what is said of others."""
    if f.several is not None:
        told = f"This is of the patients of these {counted(f.several)} taken together"
        return " ".join([f"{told}{_elsewhere(f)}", *_groups_apart(f), _cancelled(f)])
    post = f.posterior
    if tuple(f.data.levels) == ("period",) and len(f.data.groups) == 1:
        return (
            f"This is of one period, {shortened(f.data.groups[0])}, of which no drift can be seen. "
            "Add the next period, and ask again whether the model has changed."
        )
    if len(f.data.groups) == 1:
        return f"This is of one group, {shortened(f.data.groups[0])}; {_NOTHING_OF_NEXT}"
    if f.data.groups:
        told = f"This is of the patients of {count(len(f.data.groups), 'group')} taken together"
        return " ".join([f"{told}; {_NOTHING_OF_NEXT}", *_groups_apart(f), _cancelled(f)])
    if post.data.is_pseudo:
        who = "the population that the sampling weights stand for"
    elif post.design is not None:
        who = "patients like these, in clusters like these"
    else:
        who = "patients like these"
    return f"This holds for {who}: at another place or time the model may do better or worse."


_NOTHING_OF_NEXT = f"with fewer than {LEAST_OF_NEXT} groups nothing can be said of a next one."


def _elsewhere(f: Findings) -> str:
    """The last period, and the group or period to come, as the rest of a sentence."""
    assert f.several is not None and f.populations is not None
    told = ""
    if "now" in f.populations.index:
        row: Any = f.populations.loc["now"]
        ratio = with_interval(_ends_of(row, "observed_expected"), apart=1)
        below = chance(float(row["prob_close"]))
        told = (
            f". In the last period, {shortened(f.several.labels[-1])}, O/E is {ratio}, and the "
            f"error is within the limit with probability {below}"
        )
    if "next" not in f.populations.index:
        if f.sites is None:
            return f"{told}; what is true of each stands below."
        return f"; {_NOTHING_OF_NEXT}"
    row = f.populations.loc["next"]
    lower, upper = (100 * float(row[f"observed_expected_{end}"]) for end in ("lower", "upper"))
    within = float(row["prob_close"])
    kind = "group" if f.sites is not None else "period"
    told += (
        f". In the next {kind} expect between {lower:.0f} and {upper:.0f} events for 100 predicted "
        f"({percent(f.ci_prob)}); its error is within the limit with probability {chance(within)}"
    )
    if within >= (1 + f.ci_prob) / 2:
        return f"{told}."
    there = "there before it is used" if kind == "group" else "again then"
    return f"{told}, so check the model {there}."


def _ends_of(row: Any, name: str) -> dict[str, float]:
    """Estimate and interval of a measure in a row that has several."""
    return {part: float(row[f"{name}_{part}"]) for part in ("estimate", "lower", "upper")}


def _groups_apart(f: Findings) -> list[str]:
    """Groups that are clearly off, where the first answer does not name them."""
    if not f.clearly_off or _groups_lead(f):
        return []
    return [f"{kind_of(f).capitalize()}s that are clearly off, by {_named_off(f)}."]


def _named_off(f: Findings) -> str:
    """Groups whose own O/E, drawn towards the others, is clear of 1, the furthest first."""
    off, kind = f.clearly_off, kind_of(f)
    named = ", ".join(
        "{} {estimate:.0f} ({lower:.0f} to {upper:.0f})".format(
            shortened(label), **{end: 100 * value for end, value in row.items()}
        )
        for label, row in list(off.items())[:MOST_NAMED]
    )
    more = count(len(off) - MOST_NAMED, f"other {kind}") if len(off) > MOST_NAMED else ""
    rest = f"; as clear in {more}" if more else ""
    return f"events for 100 predicted: {named}{rest}"


def _cancelled(f: Findings) -> str:
    """What is left of the error in the curve of all patients, in which errors of groups cancel."""
    row = f.table.loc["tce"]
    middle, low, high = _points(row)
    told = f"{middle} ({low} to {high})" if row["lower"] > 0 else f"at most {high}"
    return (
        f"In O/E, slope and curve of all together, errors of {kind_of(f)}s cancel: risks are off "
        f"by {told} percentage points against that pooled curve."
    )


def _only(too_few: str) -> str:
    """Events or non-events that are too few: "only 3 events", or "no events"."""
    number, _, what = too_few.partition(" ")
    return f"only {too_few}" if float(number) > 0 else f"no {what}"


def of_draws(f: Findings) -> str:
    """What the histogram of the error is, and what its mark at 0 is."""
    no_error = float((f.error_draws == 0).mean())
    text = "Size, interval and probabilities of the error are all read from this distribution."
    if no_error > 0:
        return (
            f"{text} The mark at 0 is the share of its draws without error, {chance(no_error)}; it "
            "is not the probability of exact calibration."
        )
    return text


def settling(f: Findings) -> str:
    """How many more patients would settle the verdict on the limit; empty if it is settled."""
    more, too_few = f.more_to_settle, f.recommendation.too_few
    if more == 0 or is_reversed(f):
        return ""
    if too_few:
        return (
            f"How many more patients would settle it cannot be said with {_only(too_few)}: at "
            f"least {FEWEST} events and {FEWEST} non-events are needed to estimate it."
        )
    if not np.isfinite(more):
        return (
            f"Even {MOST_TIMES} times as many patients would probably not settle it: the error is "
            "about as large as the limit."
        )
    return (
        f"About {more:,.0f} more patients like these would settle, with probability {PROBABLY:g}, "
        "whether the error is within the limit."
    )
