"""At the thresholds that were given: net benefit, and what it is worth to know more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal._base.text import chance
from bayescal.fitting.imputed.posterior import by_imputation
from bayescal.posterior.decisions.information import best_now
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BenefitRow",
    "InformationRow",
    "benefit_rows",
    "information_rows",
    "information_table",
    "net_benefit_table",
]

IN_WORDS = {
    "treat_none": "treat no one",
    "treat_all": "treat everyone",
    "model": "the model",
    "updated_model": "the updated model",
}
SMALLEST = 0.05  # per 1000 patients


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


class InformationRow(NamedTuple):
    """The value of information at a threshold as text, per 1000 patients.

    Attributes
    ----------
    threshold, best, evpi, of_recalibrating : str
        The strategy with the highest expected net benefit now, with the probability that it is
        best; and what perfect information is worth, of the choice among the strategies and of
        recalibrating.
    """

    threshold: str
    best: str
    evpi: str
    of_recalibrating: str


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


def information_table(post: CalibrationPosterior, thresholds: Sequence[float]) -> pd.DataFrame:
    """Value of information per patient, by the posterior of the curve; empty of imputed scores.

    Parameters
    ----------
    post : CalibrationPosterior
    thresholds : sequence of float in (0, 1)

    Returns
    -------
    pandas.DataFrame
        Index: thresholds. Columns: best (name of the strategy with the highest expected net
        benefit), prob_best (that it is best), evpi, evpi_error and evpi_of_recalibrating; see
        `CalibrationPosterior.value_of_information`.
    """
    import pandas as pd

    columns = ["best", "prob_best", "evpi", "evpi_error", "evpi_of_recalibrating"]
    rows = {}
    if len(by_imputation(post)) == 1 and thresholds:
        worth = post.value_of_information(list(thresholds))
        for index, threshold in enumerate(thresholds):
            here = worth.isel(threshold=index)
            best = best_now(here["net_benefit"].to_numpy())
            rows[float(threshold)] = {
                "best": str(here["strategy"].to_numpy()[best]),
                "prob_best": float(here["prob_best"][best]),
                **{name: float(here[name]) for name in columns[2:]},
            }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    table.index.name = "threshold"
    return table


def information_rows(table: pd.DataFrame) -> list[InformationRow]:
    """What `information_table` gave, per 1000 patients.

    Parameters
    ----------
    table : pandas.DataFrame

    Returns
    -------
    list of InformationRow
    """
    return [
        InformationRow(
            f"{threshold:g}",
            f"{IN_WORDS[row['best']]} ({chance(float(row['prob_best']))})",
            _tenths(row["evpi"]),
            _tenths(row["evpi_of_recalibrating"]),
        )
        for threshold, row in table.iterrows()
    ]


def _of_1000(value: float) -> str:
    """Patients of 1000, without a minus before nought."""
    return f"{round(1000 * value) + 0:d}"


def _tenths(value: float) -> str:
    """Patients of 1000, to one decimal."""
    return f"{1000 * value:.1f}" if 1000 * value >= SMALLEST else f"< {SMALLEST:g}"
