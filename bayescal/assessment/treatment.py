"""At the thresholds that were given: net benefit, and what it is worth to know more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.posterior.decisions.information import best_now
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["information_table", "net_benefit_table"]


def net_benefit_table(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Net benefit per patient of treating by the model, everyone, or no one (which is 0).

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


def information_table(post: CalibrationPosterior, thresholds: Sequence[float]) -> pd.DataFrame:
    """Value of information per patient, by the posterior of the curve; empty of imputed scores.

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
    if len(post.imputations) == 1 and thresholds:
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
