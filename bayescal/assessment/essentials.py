"""What STRATOS asks to report beside the calibration curve: discrimination and clinical utility.

The four essentials are the C-statistic, a smoothed calibration plot, net benefit with a decision
curve, and the distribution of the risks by outcome (Van Calster et al., 2025).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal.assessment.performance import mean_score
from bayescal.assessment.treatment import net_benefit_table
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CLASSIFIED",
    "DecisionRange",
    "classification_table",
    "decision_range",
    "part_row",
]

LEAST_RISK, MOST_RISK = 0.01, 0.99
CLASSIFIED = ("treated", "sensitivity", "specificity", "ppv", "npv")
"""Measures at a threshold that describe whom it selects, by their names in `performance`."""


class DecisionRange(NamedTuple):
    """Thresholds over which the decision curve is drawn.

    Attributes
    ----------
    lowest, highest : float
    thresholds : tuple of float
        At which numbers are given.
    is_default : bool
        Whether nobody gave thresholds: then they only describe, and decide nothing.
    """

    lowest: float
    highest: float
    thresholds: tuple[float, ...]
    is_default: bool


def decision_range(post: CalibrationPosterior, given: Sequence[float]) -> DecisionRange:
    """From half to twice the prevalence, within [0.01, 0.99], and as far as given thresholds lie.

    Parameters
    ----------
    given : sequence of float
        Thresholds of the user. Without any, numbers are given at the prevalence and both ends.
    """
    prevalence = _prevalence(post)
    lowest, middle, highest = (_capped(share * prevalence) for share in (0.5, 1, 2))
    if highest <= lowest:  # events are rarer than the cap
        highest = 2 * lowest
    if not given:
        return DecisionRange(lowest, highest, tuple(sorted({lowest, middle, highest})), True)
    return DecisionRange(min(lowest, *given), max(highest, *given), tuple(given), False)


def _prevalence(post: CalibrationPosterior) -> float:
    """The share of events; of times to an event, the share by the horizon as the curve has it."""
    data = post.data
    if data.follow_up is None:
        return data.events / data.n
    return float(post.estimate("observed_expected")) * mean_score(data)


def _capped(risk: float) -> float:
    return float(f"{min(max(risk, LEAST_RISK), MOST_RISK):.2g}")


def classification_table(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Whom a threshold selects, from draws of the curve and of the population.

    Returns
    -------
    pandas.DataFrame
        Index: thresholds. Of each name in `CLASSIFIED` the columns `_estimate` (mean), `_lower` and
        `_upper`; NaN where it is not defined, such as the PPV of a threshold that nobody reaches.
    """
    import pandas as pd

    drawn = post.performance(list(thresholds))
    columns = {name: drawn[name].to_numpy().reshape(-1, len(thresholds)) for name in CLASSIFIED}
    rows = {}
    for at, threshold in enumerate(thresholds):
        row = {}
        for name, by_threshold in columns.items():
            values = by_threshold[:, at]
            known = values[~np.isnan(values)]
            ends = (known.mean(), *equal_tailed(known, ci_prob)) if known.size else [np.nan] * 3
            for part, number in zip(("estimate", "lower", "upper"), ends, strict=True):
                row[f"{name}_{part}"] = float(number)
        rows[float(threshold)] = row
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "threshold"
    return table


def part_row(
    post: CalibrationPosterior, overall: pd.DataFrame, thresholds: Sequence[float], ci_prob: float
) -> dict[str, float]:
    """Cases, C-statistic, and net benefit by the curve of a group or level.

    Parameters
    ----------
    post : CalibrationPosterior
        Its own, or its view of a fit of all.
    overall : pandas.DataFrame
        Its C-statistic, as `performance_of` has it.

    Returns
    -------
    dict
        `cases`, `events`; `c_statistic_estimate`, `_lower` and `_upper`; at each threshold t
        `net_benefit@t_estimate`, `_lower`, `_upper` (of 1 patient) and `treat_all@t`.
    """
    parts = ("estimate", "lower", "upper")
    row = post.data.counted()
    row |= {f"c_statistic_{part}": float(overall[part]["c_statistic"]) for part in parts}
    for threshold, worth in net_benefit_table(post, thresholds, ci_prob).iterrows():
        row |= {f"net_benefit@{threshold:g}_{part}": float(worth[part]) for part in parts}
        row[f"treat_all@{threshold:g}"] = float(worth["treat_all"])
    return row
