"""Whom a statement is true of: the patients of these groups, the average group, the next group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.populations import views_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.intervals import verdict_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["population_names", "populations_of"]


def population_names(post: MultilevelPosterior) -> dict[str, str]:
    """What tables call the populations of `views_of`."""
    these = {"these": "All patients"}
    if isinstance(post, DriftPosterior):
        return these | {"now": "Last period", "next": "Next period"}
    if isinstance(post, HierarchicalPosterior):
        return these | {"average": "Average group", "next": "Next group"}
    return these | {"average": "Mean subgroup"}


def populations_of(post: MultilevelPosterior, close: float, ci_prob: float) -> pd.DataFrame:
    """One row a population, all of one fit, each with a verdict of its own.

    Returns
    -------
    pandas.DataFrame
        Index: as `views_of`. Columns: the estimate of each main functional with its lower and upper
        end, prob_close, prob_miscalibrated and verdict.
    """
    import pandas as pd

    shown, rows = main_functionals(), {}
    for name, view in views_of(post).items():
        summary = view.summary(ci_prob, names=shown).reindex(shown)
        row: dict[str, float | str] = {}
        for functional in shown:
            for column in ("estimate", "lower", "upper"):
                row[f"{functional}_{column}"] = float(summary[column][functional])
        below = view.prob_tce_below(close)
        rows[name] = row | {
            "prob_close": below,
            "prob_miscalibrated": view.prob_tce_above(close),
            "verdict": verdict_of(below, ci_prob),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "population"
    return table
