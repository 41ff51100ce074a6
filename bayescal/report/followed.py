"""Times to an event: who was censored before the horizon, and what is assumed of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import capitalised, cases_and_events, count, only
from bayescal.data.table import CalibrationData
from bayescal.data.times import EARLY_SHARE, LEFT, TIME_STEPS, FollowUp
from bayescal.estimators.survival import censoring_depends_on_score
from bayescal.posterior.departures import other_hazard
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd


SAME_OUTLOOK = (
    "This holds if those who left had the same outlook as others with the same predicted risk"
)
# How many times as high the hazard of those who left is, in the sentence on what is assumed.
OTHER_HAZARD = 1.5
FEW_AT_RISK = 20
# P-value below which leaving is said to depend on the score.
BY_SCORE = 0.01


def cases_and_events_of(data: CalibrationData, joint: str = ", ") -> str:
    """How many cases and events there are; of times to an event also how many left before."""
    followed = data.follow_up
    if followed is None:
        return cases_and_events(data.n, data.events, data.effective_size, joint)
    cases = count(data.n, "case")
    if data.is_pseudo:
        cases = f"sampling weights worth {data.effective_size:,.1f} cases"
    seen = [_seen(data, data.events, "event", f" by {followed.horizon:g}")]
    if followed.competing:
        seen.append(_seen(data, followed.competing, "competing event"))
    seen.append(_seen(data, followed.censored, "", " censored before"))
    return f"{cases}{joint}{', '.join(seen[:-1])} and {seen[-1]}"


def _seen(data: CalibrationData, number: float, noun: str, when: str = "") -> str:
    """A number of cases and its share; of sampling weights the share alone."""
    share = f"{100 * number / data.n:.3g} %"
    if data.is_pseudo:
        return f"{share}{f' with {noun}s' if noun else ''}{when}"
    return f"{count(number, noun)}{when} ({share})"


def censoring_by_fifth(data: CalibrationData) -> pd.DataFrame:
    """Cases by fifth of the score, and what was seen of them by the horizon.

    censored: before it, without any event; at_risk: followed to it without one; at_risk_1, _2 and
    _3: under observation just before a quarter, a half and three quarters of it.
    """
    import pandas as pd

    followed = data.follow_up
    assert followed is not None
    share = (np.cumsum(data.trials) - data.trials / 2) / data.n
    fifth = np.minimum((5 * share).astype(int), 4)
    of_entry = fifth[followed.row]
    kinds = {
        "events": followed.event,
        "competing": followed.other,
        "censored": followed.left_early,
        "at_risk": (followed.kind == LEFT) & ~followed.left_early,
    }
    rows = []
    for k in np.unique(fifth):
        score = data.score[fifth == k]
        row = {"lowest": score[0], "highest": score[-1], "cases": data.trials[fifth == k].sum()}
        mine = of_entry == k
        row |= {name: followed.weight[mine & some].sum() for name, some in kinds.items()}
        under = followed.at_risk(quarters(followed.horizon), mine)
        row |= {f"at_risk_{n}": number for n, number in enumerate(under, 1)}
        rows.append(row)
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="fifth"))


def quarters(horizon: float) -> Floats:
    """A quarter, a half and three quarters of the time to a horizon."""
    return np.arange(1, 4) / 4 * horizon


def ratio_at_other_hazard(post: CalibrationPosterior) -> float:
    """O/E if the hazard of those who left was `OTHER_HAZARD` times as high; NaN if nobody left."""
    followed = post.data.follow_up
    if followed is None or not followed.censored:
        return math.nan
    each = [
        one._departing(other_hazard(one.problem, math.log(OTHER_HAZARD)))
        for one in post.imputations
    ]
    return float(np.mean([there.estimate("observed_expected") for there in each]))


def followed_words(data: CalibrationData, ratio: float = math.nan) -> list[str]:
    """How many were censored before the horizon, where, and what is assumed of them."""
    followed = data.follow_up
    if followed is None:
        return []
    at, table = followed.horizon, censoring_by_fifth(data)
    told = []
    if followed.censored:
        shares = 100 * table["censored"] / table["cases"]
        by_fifth = ", ".join(f"{share:.0f}" for share in shares)
        otherwise = (
            ""
            if math.isnan(ratio)
            else f"; if their hazard was {OTHER_HAZARD:g} times as high, O/E would be {ratio:.2f}"
        )
        told.append(
            f"{100 * followed.censored / data.n:.0f} % left before {at:g} without the event "
            f"({by_fifth} % by fifth of the score, from low to high). They count up to the time at "
            f"which they left. {SAME_OUTLOOK}{otherwise}."
        )
        told += _leaving_by_score(data)
    if followed.competing:
        told.append(
            f"{100 * followed.competing / data.n:.0f} % had a competing event by {at:g}, after "
            "which the event cannot come: they are known not to have it. Risks are of the event "
            "where competing events happen, and not of a world without them."
        )
    empty = table.index[(table["at_risk"] == 0) & (table["censored"] > 0)]
    if empty.size:
        each = [risks_words(table.loc[k, "lowest"], table.loc[k, "highest"]) for k in empty]
        risks = (
            "a predicted risk" if len(each) == 1 and " to " not in each[0] else "predicted risks"
        )
        told.append(
            f"Of those with {risks} of {' and '.join(each)} nobody was followed to {at:g} "
            "without an event: there the curve leans on the prior and on other risks."
        )
    if followed.is_delayed:
        told.append(
            "Some came under observation later than at time 0. They count from then on, and what "
            "is averaged over cases is of those who came under observation."
        )
        early = float(followed.at_risk(np.array([at * EARLY_SHARE]))[0])
        if early < FEW_AT_RISK:
            told.append(
                f"{capitalised(only(early, 'case'))} under observation at "
                f"{at * EARLY_SHARE:g}: what happens before then is hardly known."
            )
    followed_to = float(table["at_risk"].sum())
    if followed.censored and followed_to < FEW_AT_RISK:
        told.append(
            f"{capitalised(only(followed_to, 'case'))} followed to {at:g} without the event: "
            "what happens shortly before it is hardly known."
        )
    return told


def risks_words(lowest: float, highest: float) -> str:
    """A range of risks to two digits, such as "0.05 to 0.1"; one number where both ends are it."""
    ends = f"{lowest:.2g}", f"{highest:.2g}"
    return " to ".join(dict.fromkeys(ends))


def follow_up_words(data: CalibrationData) -> list[str]:
    """Median follow-up, and how many were followed to the horizon; nothing of known outcomes."""
    followed = data.follow_up
    if followed is None:
        return []
    median = median_follow_up(followed)
    late = f"more than {followed.horizon:g}, the horizon"
    told = late if math.isinf(median) else f"{median:.3g}"
    stayed = (followed.kind == LEFT) & ~followed.left_early
    share = 100 * float(followed.weight[stayed].sum()) / data.n
    return [
        f"Median follow-up was {told} (Kaplan and Meier, with leaving as the event); {share:.3g} % "
        f"were followed to {followed.horizon:g} without an event."
    ]


def median_follow_up(followed: FollowUp) -> float:
    """The time by which half would have left if no event came; infinite if past the horizon."""
    steps = TIME_STEPS + 1
    left = followed.left_early
    went = np.bincount(followed.exit[left], followed.weight[left], steps)
    gone = np.bincount(followed.exit[~left], followed.weight[~left], steps)
    came = np.bincount(followed.entry, followed.weight, steps)
    there = np.cumsum(came) - np.cumsum(gone) - (np.cumsum(went) - went)
    staying = np.cumprod(1 - went / np.maximum(there, went + np.finfo(float).tiny))
    below = np.flatnonzero(staying <= 0.5)
    return float(below[0]) * followed.horizon / TIME_STEPS if below.size else math.inf


def _leaving_by_score(data: CalibrationData) -> list[str]:
    """A warning if leaving depends on the score, for those who compare with other methods."""
    if data.is_pseudo:
        return []
    try:
        test = censoring_depends_on_score(data)
    except InputError:  # all scores are equal
        return []
    if test.pvalue >= BY_SCORE:
        return []
    shown = "p < 0.001" if test.pvalue < 0.001 else f"p = {test.pvalue:.3f}"
    which = "high" if test.statistic > 0 else "low"
    return [
        f"Cases with {which} predicted risks left earlier (score test of Cox regression, "
        f"{shown}). The curve here allows for that. Kaplan-Meier's risk of all "
        "cases, pseudo-values and weights that are the same for all scores do not, and are biased."
    ]
