"""Times to an event: who was censored before the horizon, and measures read off the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.text import capitalised, cases_and_events, count, only
from bayescal.assessment.performance import OVERALL, mean_score
from bayescal.data.data import CalibrationData
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "cases_and_events_of",
    "censoring_by_fifth",
    "followed_words",
    "observed_words",
    "performance_at",
]

SAME_OUTLOOK = (
    "This holds if those who left had the same outlook as others with the same predicted risk."
)
FEW_AT_RISK, EARLY_SHARE = 20, 0.05


def performance_at(post: CalibrationPosterior, ci_prob: float) -> pd.DataFrame:
    """C-statistic and Brier scores at the horizon, read off the curve and its population.

    Of cases that left before the horizon nobody knows the outcome, but the curve says its
    probability. The C-statistic is that of a case with the event by the horizon and one without;
    intervals are those of the posterior.

    Returns
    -------
    pandas.DataFrame
        As `performance_of`.
    """
    import pandas as pd

    values: dict[str, list[Floats]] = {name: [] for name in OVERALL}
    for _, draws in post.curves_of_draws.parts[0].draws("bootstrap"):
        g, score, weight = draws.curve, draws.population.score, draws.population.weight
        event, other = weight * g, weight * (1 - g)
        below = np.cumsum(other, axis=1) - other / 2
        total = event.sum(axis=1)
        values["c_statistic"].append((event * below).sum(axis=1) / (total * other.sum(axis=1)))
        brier = (weight * (g * (1 - score) ** 2 + (1 - g) * score**2)).sum(axis=1)
        values["brier_score"].append(brier)
        values["scaled_brier_score"].append(1 - brier / (total * (1 - total)))
    rows = {}
    for name, each in OVERALL.items():
        drawn = np.concatenate(values[name])
        lower, upper = np.quantile(drawn, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        numbers = {"estimate": drawn.mean(), "lower": lower, "upper": upper}
        rows[name] = {"title": each.label} | {key: float(value) for key, value in numbers.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "measure"
    return table


def cases_and_events_of(data: CalibrationData, joint: str = ", ") -> str:
    """How many cases and events there are; of times to an event also how many left before."""
    followed = data.follow_up
    if followed is None:
        return cases_and_events(data.n, data.events, data.effective_size, joint)
    cases = count(data.n, "case")
    if data.is_pseudo:
        cases = f"sampling weights worth {data.effective_size:,.1f} cases"
    events = f"{100 * data.events / data.n:.3g} % with the event by {followed.horizon:g}"
    left = f"{100 * followed.censored / data.n:.3g} % censored before"
    return f"{cases}{joint}{events} and {left}"


def censoring_by_fifth(data: CalibrationData) -> pd.DataFrame:
    """Cases by fifth of the score, and what was seen of them by the horizon.

    Returns
    -------
    pandas.DataFrame
        One row for each fifth. Columns: lowest, highest (scores), cases, events (by the horizon),
        censored (before it, without the event) and at_risk (followed to the horizon).
    """
    import pandas as pd

    followed = data.follow_up
    assert followed is not None
    share = (np.cumsum(data.trials) - data.trials / 2) / data.n
    fifth = np.minimum((5 * share).astype(int), 4)
    of_entry = fifth[followed.row]
    kinds = {
        "events": followed.event,
        "censored": followed.left_early,
        "at_risk": ~followed.event & ~followed.left_early,
    }
    rows = []
    for k in np.unique(fifth):
        score = data.score[fifth == k]
        row = {"lowest": score[0], "highest": score[-1], "cases": data.trials[fifth == k].sum()}
        mine = of_entry == k
        row |= {name: followed.weight[mine & some].sum() for name, some in kinds.items()}
        rows.append(row)
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="fifth"))


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


def observed_words(post: CalibrationPosterior, table: pd.DataFrame) -> tuple[str, str]:
    """Share of the cases with the event by the horizon, by the curve, and the share predicted."""
    expected = mean_score(post.data)
    ratio = float(table["estimate"].to_numpy()[table.index.get_loc("observed_expected")])
    return f"{100 * ratio * expected:#.3g} %", f"{100 * expected:#.3g} %"
