"""Overall performance: discrimination and the Brier score, which calibration is but a part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal import scores
from bayescal._base.errors import InputError
from bayescal.assessment.panel import resamples_for
from bayescal.data.data import CalibrationData
from bayescal.estimators.uncertainty.intervals import estimator_interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["performance_of"]

MEASURES = {
    "c_statistic": ("C-statistic (AUC)", scores.c_statistic),
    "brier_score": ("Brier score", scores.brier_score),
    "scaled_brier_score": ("Scaled Brier score", scores.scaled_brier_score),
}


def performance_of(data: CalibrationData, ci_prob: float, seed: int) -> pd.DataFrame:
    """C-statistic and Brier scores with percentile bootstrap intervals.

    Parameters
    ----------
    data : CalibrationData
    ci_prob : float
    seed : int

    Returns
    -------
    pandas.DataFrame
        Index: names in `bayescal.scores`. Columns: title, estimate, lower, upper; NaN where the
        data do not define them, as with one class only.
    """
    import pandas as pd

    y_true, y_prob, weight = data.to_arrays()
    rows = {}
    for name, (title, function) in MEASURES.items():
        try:
            found = estimator_interval(
                y_true,
                y_prob,
                function,
                ci_prob=ci_prob,
                resamples=resamples_for(data),
                sample_weight=weight,
                random_state=seed,
            )
            numbers = (found.estimate, found.lower, found.upper)
        except InputError:
            numbers = (np.nan, np.nan, np.nan)
        rows[name] = dict(
            zip(("title", "estimate", "lower", "upper"), (title, *numbers), strict=True)
        )
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "measure"
    return table
