"""One row of a table of sites or periods: their own estimates beside those of a joint fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.errors import InputError
from bayescal._base.logistic import logistic_mle
from bayescal.posterior.sites.view import SiteView

__all__ = ["ROW_FUNCTIONALS", "beside_raw", "logistic_slope"]

ROW_FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")


def beside_raw(view: SiteView) -> dict[str, float]:
    """Estimates and 95 % intervals of one curve, and raw ones where the cases alone give one.

    Parameters
    ----------
    view : SiteView

    Returns
    -------
    dict of str to float
        cases, events; observed_expected, calibration_slope and tce, each with `_lower` and
        `_upper`, and the first two with `_raw` before, not a number where there is none.
    """
    data = view.problem.table
    row: dict[str, float] = {"cases": data.trials.sum(), "events": data.hits.sum()}
    raw = {
        "observed_expected": data.hits.sum() / (data.trials @ data.score),
        "calibration_slope": logistic_slope(data),
    }
    summary = view.summary(names=ROW_FUNCTIONALS).reindex(ROW_FUNCTIONALS)
    for name, values in summary[["estimate", "lower", "upper"]].iterrows():
        if name in raw:
            row[f"{name}_raw"] = raw[str(name)]
        row[str(name)], row[f"{name}_lower"], row[f"{name}_upper"] = values
    return row


def logistic_slope(data: Any) -> float:
    """Maximum-likelihood calibration slope of one table's rows; not a number if there is none."""
    try:
        return float(logistic_mle(data.score, data.trials, data.hits)[0][1])
    except InputError:
        return np.nan
