"""Net benefit: what treating by the model is worth at the thresholds that were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal._base.text import chance
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BenefitRow", "benefit_rows", "net_benefit_table"]


class BenefitRow(NamedTuple):
    """Net benefit at a threshold as text, per 1000 patients.

    Attributes
    ----------
    threshold, model, treat_all, prob_best : str
        The model's with its interval; the probability is that of being better than treating
        everyone and than treating no one.
    """

    threshold: str
    model: str
    treat_all: str
    prob_best: str


def net_benefit_table(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Net benefit per patient of treating by the model, everyone, or no one (which is 0).

    Parameters
    ----------
    post : CalibrationPosterior
    thresholds : sequence of float in (0, 1)
    ci_prob : float in (0, 1)

    Returns
    -------
    pandas.DataFrame
        Index: thresholds. Columns: estimate (posterior median), lower, upper, treat_all (median)
        and prob_best, the probability that the model is better than everyone and than no one.
    """
    import pandas as pd

    columns = ("estimate", "lower", "upper", "treat_all", "prob_best")
    rows = {}
    if thresholds:
        benefit = post.net_benefit(list(thresholds))
        ends = [0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2]
        own = np.quantile(benefit["model"].to_numpy(), ends, axis=(0, 1))
        everyone = np.median(benefit["treat_all"].to_numpy(), axis=(0, 1))
        best = benefit["prob_best"].to_numpy()
        for index, threshold in enumerate(thresholds):
            numbers = (*own[:, index], everyone[index], best[index])
            rows[float(threshold)] = dict(zip(columns, map(float, numbers), strict=True))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    table.index.name = "threshold"
    return table


def benefit_rows(table: pd.DataFrame) -> list[BenefitRow]:
    """What `net_benefit_table` gave, per 1000 patients and to whole numbers.

    Parameters
    ----------
    table : pandas.DataFrame

    Returns
    -------
    list of BenefitRow
    """
    return [
        BenefitRow(
            f"{threshold:g}",
            f"{_of_1000(row['estimate'])} ({_of_1000(row['lower'])} to {_of_1000(row['upper'])})",
            _of_1000(row["treat_all"]),
            chance(float(row["prob_best"])),
        )
        for threshold, row in table.iterrows()
    ]


def _of_1000(value: float) -> str:
    """Patients of 1000, without a minus before nought."""
    return f"{round(1000 * value) + 0:d}"
