"""One row of a table of several curves: estimates that borrow from the others, beside raw ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import expit, logit

from bayescal._base.errors import InputError
from bayescal._base.log_odds import clipped
from bayescal._base.logistic import logistic_mle
from bayescal.model.problem import Problem
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.view import CurveView

__all__ = ["RATIO_AND_SLOPE", "beside_raw", "known_of_group", "raw_estimates", "raw_of", "size_of"]

RATIO_AND_SLOPE = ("observed_expected", "calibration_slope")


def beside_raw(
    view: CurveView,
    size: Mapping[str, float],
    raw: Mapping[str, float],
    names: Sequence[str],
    ci_prob: float = 0.95,
) -> dict[str, float]:
    """Cases and events; each functional with `_lower`, `_upper`, and first `_raw` if it has one."""
    row = dict(size)
    summary = view.summary(ci_prob, names=names).reindex(list(names))
    for name, values in summary[["estimate", "lower", "upper"]].iterrows():
        if name in raw:
            row[f"{name}_raw"] = raw[str(name)]
        row[str(name)], row[f"{name}_lower"], row[f"{name}_upper"] = values
    return row


def known_of_group(
    problem: MultilevelProblem, label: str, view: CurveView
) -> tuple[dict[str, float], dict[str, float]]:
    """Cases and events of a group, of which there is a view, and what they alone say.

    What is not known, or has no estimate, is not a number.
    """
    if label in problem.summaries:
        site = problem.summaries[label].site
        known = {"cases": site.n, "events": site.observed}
        return {name: np.nan if x is None else x for name, x in known.items()}, site.raw
    raw = raw_of(view)
    return size_of(view), {name: raw[name] for name in RATIO_AND_SLOPE}


def size_of(view: CurveView) -> dict[str, float]:
    """Cases and events: those of any imputation."""
    table = view._posterior.parts[0].problem.table
    return {"cases": float(table.trials.sum()), "events": float(table.hits.sum())}


def raw_of(view: CurveView) -> dict[str, float]:
    """What the cases of a view say by themselves: of several imputations, on average."""
    each = [raw_estimates(part.problem) for part in view._posterior.parts]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def raw_estimates(problem: Problem) -> dict[str, float]:
    """What the cases of one table say by themselves.

    The calibration slope is that of maximum likelihood, and tce the mean distance of that logistic
    curve from the diagonal; they are not numbers where there is no maximum. The curve is fitted to
    scores inside (0, 1), and errors are measured from the scores as they came in.
    """
    table, stated = problem.table, clipped(problem.data.score)
    observed = float(table.hits.sum() / (table.trials @ stated))
    try:
        intercept, slope = logistic_mle(table.score, table.trials, table.hits)[0]
    except InputError:
        return {"observed_expected": observed, "calibration_slope": np.nan, "tce": np.nan}
    curve = expit(intercept + slope * logit(table.score))
    distance = np.abs(curve - stated) @ table.trials / table.trials.sum()
    return {
        "observed_expected": observed,
        "calibration_slope": float(slope),
        "tce": float(distance),
    }
