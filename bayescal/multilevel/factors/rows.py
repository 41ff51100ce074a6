"""The table of subgroups: estimates that borrow from the others, beside raw ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from bayescal._base.errors import InputError
from bayescal._base.logistic import logistic_mle
from bayescal.data.table import Rows
from bayescal.multilevel.factors.answers import Subgroup
from bayescal.multilevel.posterior.view import SiteView
from bayescal.multilevel.posterior.worst import shares_of_worst

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["raw_estimates", "subgroup_table"]

MEASURED = ("tce", "observed_expected", "calibration_slope")


def subgroup_table(
    subgroups: Sequence[Subgroup], views: Sequence[SiteView], limit: float, ci_prob: float
) -> pd.DataFrame:
    """One row a subgroup; see `SubgroupPosterior.subgroups`.

    Parameters
    ----------
    subgroups : sequence of Subgroup
    views : sequence of SiteView
        The posterior of each.
    limit : float
        Of the true calibration error, for `prob_off`.
    ci_prob : float in (0, 1)

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    worst = _prob_worst(subgroups, views)
    rows = []
    for view, prob_worst in zip(views, worst, strict=True):
        table, raw = view.problem.table, raw_estimates(view.problem.table)
        row = {"cases": table.trials.sum(), "events": table.hits.sum()}
        summary = view.summary(ci_prob, names=MEASURED).reindex(MEASURED)
        for name in MEASURED:
            row |= {
                f"{name}_raw": raw[name],
                name: summary.loc[name, "estimate"],
                f"{name}_lower": summary.loc[name, "lower"],
                f"{name}_upper": summary.loc[name, "upper"],
            }
        rows.append(row | {"prob_off": view.prob_tce_above(limit), "prob_worst": prob_worst})
    keys = [(each.factor, each.level) for each in subgroups]
    return pd.DataFrame(rows, pd.MultiIndex.from_tuples(keys, names=["factor", "level"]))


def raw_estimates(table: Rows) -> dict[str, float]:
    """What the cases of one subgroup say by themselves.

    Parameters
    ----------
    table : Rows
        Scores inside (0, 1).

    Returns
    -------
    dict of str to float
        observed_expected; calibration_slope by maximum likelihood, and tce, the mean distance of
        that logistic curve from the diagonal, which are not numbers where there is no maximum.
    """
    observed = float(table.hits.sum() / (table.trials @ table.score))
    try:
        intercept, slope = logistic_mle(table.score, table.trials, table.hits)[0]
    except InputError:
        return {"observed_expected": observed, "calibration_slope": np.nan, "tce": np.nan}
    curve = expit(intercept + slope * logit(table.score))
    distance = np.abs(curve - table.score) @ table.trials / table.trials.sum()
    return {
        "observed_expected": observed,
        "calibration_slope": float(slope),
        "tce": float(distance),
    }


def _prob_worst(subgroups: Sequence[Subgroup], views: Sequence[SiteView]) -> list[float]:
    """Probability that each has the largest calibration error of its factor."""
    errors = np.stack([view.tce().to_numpy().ravel() for view in views])
    worst = np.empty(len(views))
    for factor in dict.fromkeys(each.factor for each in subgroups):
        mine = [k for k, each in enumerate(subgroups) if each.factor == factor]
        worst[mine] = shares_of_worst(errors[mine])
    return [float(share) for share in worst]
