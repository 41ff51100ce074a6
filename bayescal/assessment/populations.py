"""Whom a statement is true of: the patients of these groups, the average group, the next group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.view import CurveView
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.intervals import verdict_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEAST_OF_NEXT", "POPULATION_NAMES", "populations_of"]

LEAST_OF_NEXT = 5
"""Groups from which on something is said of one that has not been seen."""

POPULATION_NAMES = {
    "these": "All patients",
    "average": "Average group",
    "next": "Next group",
}


def populations_of(sites: HierarchicalPosterior, close: float, ci_prob: float) -> pd.DataFrame:
    """One row a population, all of one hierarchical fit, each with a verdict of its own.

    Returns
    -------
    pandas.DataFrame
        Index: these, average, and with five groups or more next. Columns: the estimate of each
        main functional with its lower and upper end, prob_close, prob_miscalibrated and verdict.
    """
    import pandas as pd

    views: dict[str, CurveView] = {"these": sites.at(), "average": sites.average()}
    if len(sites.labels) >= LEAST_OF_NEXT:
        views["next"] = sites.new()
    shown, rows = main_functionals(), {}
    for name, view in views.items():
        defined = view.summary(ci_prob, names=shown).index
        row: dict[str, float | str] = {}
        for functional in shown:
            numbers = (np.nan, np.nan, np.nan)
            if functional in defined:
                estimate = view.estimate(functional, ci_prob)
                numbers = (estimate, *view.interval(functional, ci_prob))
            for column, number in zip(("estimate", "lower", "upper"), numbers, strict=True):
                row[f"{functional}_{column}"] = number
        below, above = view.prob_tce_below(close), view.prob_tce_above(close)
        verdict = verdict_of(below, ci_prob)
        if verdict == "miscalibrated" and verdict_of(1 - above, ci_prob) != verdict:
            verdict = "cannot tell"  # exact calibration has its share of what is not above
        rows[name] = row | {
            "prob_close": below,
            "prob_miscalibrated": above,
            "verdict": verdict,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "population"
    return table
