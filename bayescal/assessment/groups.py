"""Groups of cases, each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_few_groups", "group_table"]

MOST_GROUPS = 200
COLUMNS_OF_GROUPS = ("tce", "observed_expected", "calibration_slope")


def as_few_groups(data: CalibrationData) -> CalibrationData:
    """The table itself. An error if it has more than 200 groups."""
    if len(data.groups) > MOST_GROUPS:
        raise InputError(
            f"groups holds {len(data.groups)} distinct labels for {data.n:g} cases, and at most "
            f"{MOST_GROUPS} can be assessed one by one. Give a label that many cases share, such "
            "as their hospital."
        )
    return data


def group_table(
    groups: Mapping[str, CalibrationPosterior], close: float, ci_prob: float
) -> pd.DataFrame:
    """One row a group; see `Assessment.by_group`. What a group does not define is NaN."""
    import pandas as pd

    rows = {}
    for name, post in groups.items():
        summary = post.summary(ci_prob).reindex(COLUMNS_OF_GROUPS)
        row = {"cases": post.data.n, "events": post.data.events}
        for functional in COLUMNS_OF_GROUPS:
            for column in ("estimate", "lower", "upper"):
                row[f"{functional}_{column}"] = float(summary[column][functional])
        rows[name] = row | {
            "prob_close": post.prob_tce_below(close),
            "prob_miscalibrated": post.prob_tce_above(close),
            "prob_calibrated": post.prob_calibrated or 0.0,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").astype(np.float64)
    table.index.name = "group"
    return table
