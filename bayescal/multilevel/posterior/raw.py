"""What is known of a site from the site alone."""

from __future__ import annotations

import numpy as np

from bayescal._base.errors import InputError
from bayescal._base.logistic import logistic_mle
from bayescal.data.table import Rows
from bayescal.multilevel.sites_problem import SitesProblem

__all__ = ["raw_estimates", "raw_of_table"]


def raw_estimates(problem: SitesProblem, label: str) -> tuple[dict[str, float], dict[str, float]]:
    """Cases and events of a site, and what they alone say of its calibration.

    Parameters
    ----------
    problem : SitesProblem
    label : str

    Returns
    -------
    size, estimates : dict of str to float
        cases and events; observed_expected and calibration_slope. What is not known, or has no
        estimate, is not a number.
    """
    if label in problem.summaries:
        site = problem.summaries[label].site
        known = {"cases": site.n, "events": site.observed}
        return {name: np.nan if x is None else x for name, x in known.items()}, site.raw
    return raw_of_table(problem.sites[label].table)


def raw_of_table(table: Rows) -> tuple[dict[str, float], dict[str, float]]:
    """Cases and events of a table, and what they say of its calibration; see `raw_estimates`."""
    cases, events = float(table.trials.sum()), float(table.hits.sum())
    raw = {
        "observed_expected": events / float(table.trials @ table.score),
        "calibration_slope": _logistic_slope(table),
    }
    return {"cases": cases, "events": events}, raw


def _logistic_slope(table: Rows) -> float:
    """Maximum-likelihood calibration slope; not a number if there is none."""
    try:
        return float(logistic_mle(table.score, table.trials, table.hits)[0][1])
    except InputError:
        return np.nan
