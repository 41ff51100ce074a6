"""Times to an event: who was censored before the horizon, and what is assumed of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import capitalised, cases_and_events, count, only
from bayescal.assessment.performance import mean_score
from bayescal.data.data import CalibrationData
from bayescal.data.follow_up import EARLY_SHARE, LEFT
from bayescal.estimators.survival.censoring import censoring_depends_on_score
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "cases_and_events_of",
    "censoring_by_fifth",
    "followed_words",
    "observed_words",
    "quarters",
]

SAME_OUTLOOK = (
    "This holds if those who left had the same outlook as others with the same predicted risk."
)
FEW_AT_RISK = 20
BY_SCORE = 0.01
"""P-value below which leaving is said to depend on the score."""


def cases_and_events_of(data: CalibrationData, joint: str = ", ") -> str:
    """How many cases and events there are; of times to an event also how many left before."""
    followed = data.follow_up
    if followed is None:
        return cases_and_events(data.n, data.events, data.effective_size, joint)
    cases = count(data.n, "case")
    if data.is_pseudo:
        cases = f"sampling weights worth {data.effective_size:,.1f} cases"
    events = f"{100 * data.events / data.n:.3g} % with the event by {followed.horizon:g}"
    if followed.competing:
        events += f", {100 * followed.competing / data.n:.3g} % with a competing event"
    left = f"{100 * followed.censored / data.n:.3g} % censored before"
    return f"{cases}{joint}{events} and {left}"


def censoring_by_fifth(data: CalibrationData) -> pd.DataFrame:
    """Cases by fifth of the score, and what was seen of them by the horizon.

    Returns
    -------
    pandas.DataFrame
        One row for each fifth. Columns: lowest, highest (scores), cases, events and competing (by
        the horizon), censored (before it, without any event), at_risk (followed to the horizon
        without one), and at_risk_1, at_risk_2 and at_risk_3: under observation, without any event,
        just before a quarter, a half and three quarters of the horizon.
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


def followed_words(data: CalibrationData) -> list[str]:
    """How many were censored before the horizon, where, and what is assumed of them."""
    followed = data.follow_up
    if followed is None:
        return []
    at, table = followed.horizon, censoring_by_fifth(data)
    told = []
    if followed.censored:
        shares = 100 * table["censored"] / table["cases"]
        by_fifth = ", ".join(f"{share:.0f}" for share in shares)
        told.append(
            f"{100 * followed.censored / data.n:.0f} % left before {at:g} without the event "
            f"({by_fifth} % by fifth of the score, from low to high). They count up to the time at "
            f"which they left. {SAME_OUTLOOK}"
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
        which = " and ".join(
            f"{table.loc[k, 'lowest']:.2g} to {table.loc[k, 'highest']:.2g}" for k in empty
        )
        told.append(
            f"Of those with predicted risks of {which} nobody was followed to {at:g} without an "
            "event: there the curve leans on the prior and on other risks."
        )
    if followed.is_delayed:
        told.append(
            "Some came under observation later than at time 0. They count from then on, and what "
            "is averaged over cases is of those who came under observation."
        )
        early = float(followed.at_risk(np.array([at * EARLY_SHARE]))[0])
        if early < FEW_AT_RISK:
            told.append(
                f"{capitalised(only(early, 'case'))} under observation at {at * EARLY_SHARE:g}: "
                "what happens before then is hardly known."
            )
    followed_to = float(table["at_risk"].sum())
    if followed.censored and followed_to < FEW_AT_RISK:
        told.append(
            f"{capitalised(only(followed_to, 'case'))} followed to {at:g} without the event: what "
            "happens shortly before it is hardly known."
        )
    return told


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


def observed_words(post: CalibrationPosterior, table: pd.DataFrame) -> tuple[str, str]:
    """Share of the cases with the event by the horizon, by the curve, and the share predicted."""
    expected = mean_score(post.data)
    ratio = float(table["estimate"].to_numpy()[table.index.get_loc("observed_expected")])
    return f"{100 * ratio * expected:#.3g} %", f"{100 * expected:#.3g} %"
