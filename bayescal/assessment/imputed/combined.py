"""Estimates of several imputations, averaged; their intervals by Rubin's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bayescal.validation.consistency import RARE

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["combined_estimates"]

LARGER_ON_AVERAGE = "larger than calibrated models give, on average over the imputations"
WITHIN_ON_AVERAGE = "within what calibrated models give, on average over the imputations"


def combined_estimates(tables: Sequence[pd.DataFrame], ci_prob: float) -> pd.DataFrame:
    """The mean of estimates over imputations; intervals, if there are any, know how these differ.

    Either arm of an interval is the root of the mean squared arm within an imputation and
    z^2 (1 + 1 / m) B, with z the normal quantile and B the variance of the estimates. Tables have
    the columns title and estimate, and others that are averaged; one alone is returned as it is.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.1.
    """
    first = tables[0]
    if len(tables) == 1:
        return first
    table = first.copy()
    for column in first.columns.drop(["title", "verdict"], errors="ignore"):
        table[column] = np.mean([one[column].to_numpy(dtype=np.float64) for one in tables], axis=0)
    estimates = np.array([one["estimate"].to_numpy(dtype=np.float64) for one in tables])
    extra = ndtri((1 + ci_prob) / 2) ** 2 * (1 + 1 / len(tables)) * estimates.var(axis=0, ddof=1)
    for end, sign in (("lower", -1), ("upper", 1)):
        if end in table:
            arms = [(one[end] - one["estimate"]).to_numpy(dtype=np.float64) for one in tables]
            arm = np.sqrt(np.mean(np.square(arms), axis=0) + extra)
            table[end] = table["estimate"] + sign * arm
    if "verdict" in table:
        exceeds = table["prob_exceeds"]
        known = exceeds.notna()
        table.loc[known, "verdict"] = np.where(
            exceeds[known] < RARE, LARGER_ON_AVERAGE, WITHIN_ON_AVERAGE
        )
    return table
