"""One row of a table of several curves: estimates that borrow from the others, beside raw ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import clipped, logistic_mle, maximise
from bayescal.model.curves import as_curve
from bayescal.model.likelihood.times.entries import entries_of
from bayescal.model.likelihood.times.given import rows_given_steps
from bayescal.model.likelihood.times.steps import steps_of
from bayescal.model.problem import Problem
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.view import CurveView

__all__ = ["RATIO_AND_SLOPE", "beside_raw", "known_of_group", "raw_estimates", "raw_of", "size_of"]

RATIO_AND_SLOPE = ("observed_expected", "calibration_slope")
RAW = (*RATIO_AND_SLOPE, "tce")
NEAR_RAW, MOST_RAW = 1e-10, 20.0
"""A coefficient beyond it is of outcomes that scores separate, where there is no maximum."""


def beside_raw(
    view: CurveView,
    size: Mapping[str, float],
    raw: Mapping[str, float],
    names: Sequence[str],
    ci_prob: float = 0.95,
) -> dict[str, float]:
    """Cases and events; each functional with `_lower`, `_upper`, and first `_raw` if it has one."""
    row, rows = dict(size), view._rows_of_summary(names, ci_prob)
    for name in names:
        if name in raw:
            row[f"{name}_raw"] = raw[name]
        estimate, *_, lower, upper = rows.get(name, (np.nan,) * 3)
        row[name], row[f"{name}_lower"], row[f"{name}_upper"] = estimate, lower, upper
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
    table = view.tables[0].problem.table
    return {"cases": float(table.trials.sum()), "events": float(table.hits.sum())}


def raw_of(view: CurveView) -> dict[str, float]:
    """What the cases of a view say by themselves: of several imputations, on average."""
    each = [raw_estimates(part.problem) for part in view.tables]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


def raw_estimates(problem: Problem) -> dict[str, float]:
    """What the cases of one table say by themselves.

    The calibration slope is that of maximum likelihood, and tce the mean distance of that logistic
    curve from the diagonal; they are not numbers where there is no maximum. The curve is fitted to
    scores inside (0, 1), and errors are measured from the scores as they came in.
    """
    if problem.of_times:
        return _raw_of_times(problem)
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


def _raw_of_times(problem: Problem) -> dict[str, float]:
    """The same of times to an event: all of them of the logistic curve of maximum likelihood.

    When events come is that of the cases of this table alone.
    """
    events, none = entries_of(problem).events, dict.fromkeys(RAW, np.nan)
    if not events.any():
        return none | {"observed_expected": 0.0}
    logistic = problem.of_family(as_curve("logistic"))
    rows = rows_given_steps(logistic, entries_of(problem).partial, steps_of(problem))

    def objective(at: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, information = rows.derivatives(at)
        return value, gradient, -information

    best = maximise(objective, np.array([0.0, 1.0]), tolerance=NEAR_RAW, longest=1.0)
    if not best.converged or np.abs(best.point).max() > MOST_RAW:
        return none
    table, stated = problem.table, clipped(problem.data.score)
    offset, basis = logistic.curve.basis(table.score, logistic.frame)
    curve = expit(offset + basis @ best.point)
    return {
        "observed_expected": float(table.trials @ curve / (table.trials @ stated)),
        "calibration_slope": float(best.point[1]),
        "tce": float(np.abs(curve - stated) @ table.trials / table.trials.sum()),
    }
