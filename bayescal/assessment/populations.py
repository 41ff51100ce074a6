"""Whom a statement is true of: the patients of these groups, the average group, the next group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayescal.multilevel.populations import clearly_off_of, views_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.functionals import main_functionals
from bayescal.posterior.intervals import equal_tailed, share_below, verdict_of

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.core.arrays import Floats

__all__ = ["error_row", "population_names", "populations_of", "verdict_beside"]


def population_names(post: MultilevelPosterior) -> dict[str, str]:
    """What tables call the populations of `views_of`."""
    these = {"these": "All patients"}
    if post.problem.kind == "periods":
        return these | {"now": "Last period", "next": "Next period"}
    if post.problem.kind == "sites":
        return these | {"average": "Average group", "next": "Next group"}
    return these | {"average": "Mean subgroup"}


def error_row(error: Floats, ci_prob: float) -> dict[str, float]:
    """Estimate, lower and upper end of draws of an error."""
    lower, upper = equal_tailed(error, ci_prob)
    return {"estimate": float(error.mean()), "lower": lower, "upper": upper}


def verdict_beside(below: float, ci_prob: float, off: object) -> str:
    """The verdict on a mean error, which is not close enough while single groups are clearly off.

    Parameters
    ----------
    below : float
        Probability that the error is below the limit.
    off : object
        What is clearly off; false if nothing is.
    """
    verdict = verdict_of(below, ci_prob)
    return "cannot tell" if off and verdict == "close enough" else verdict


def populations_of(post: MultilevelPosterior, close: float, ci_prob: float) -> pd.DataFrame:
    """One row a population, all of one fit, each with a verdict of its own.

    The error of these patients is that against the curve of their own group.

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
        below = view.prob_below(close)
        rows[name] = row | {
            "prob_close": below,
            "prob_miscalibrated": 1 - view.prob_below(close),
            "verdict": verdict_of(below, ci_prob),
        }
    error = post.own().values_of("tce")
    below = share_below(error, close)
    rows["these"] |= {f"tce_{end}": value for end, value in error_row(error, ci_prob).items()} | {
        "prob_close": below,
        "prob_miscalibrated": 1 - below,
        "verdict": verdict_beside(below, ci_prob, clearly_off_of(post, ci_prob)),
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "population"
    return table
