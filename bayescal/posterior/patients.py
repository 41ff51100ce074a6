"""The risk of single patients, and whether it changes a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats, is_single
from bayescal.core.decision import least_treated
from bayescal.core.errors import as_level, as_levels
from bayescal.data.cases import as_vector

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["risk_table"]


def risk_table(draws: Floats, scores: Floats, thresholds: Any, ci_prob: float) -> pd.DataFrame:
    """One row a patient: score, risk with its interval, and how probably a decision is another.

    Parameters
    ----------
    draws : ndarray of shape (draws, patients)
        Of the risk.
    scores : ndarray of shape (patients,)
    thresholds : float or array-like of shape (k,)
        Risks from which a patient is treated.
    ci_prob : float in (0, 1)
    """
    import pandas as pd

    level = as_level(ci_prob)
    values = [thresholds] if is_single(thresholds) else thresholds
    at = as_levels(as_vector(values, "thresholds"), "thresholds") if len(values) else ()
    lower, upper = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    columns = {"score": scores, "risk": draws.mean(axis=0), "lower": lower, "upper": upper}
    for threshold in at:
        least = least_treated(threshold)
        is_other = (draws >= least) != (scores >= least)
        columns[f"flips@{threshold:g}"] = is_other.mean(axis=0)
    return pd.DataFrame(columns, pd.RangeIndex(scores.size, name="patient"))
