"""One row of a table of several curves: estimates that borrow from the others, beside raw ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.optimise import clipped, logistic_mle, maximise
from bayescal.model.curves import as_curve
from bayescal.model.problem import Problem
from bayescal.model.times import entries_of, steps_of
from bayescal.model.times_rows import rows_given_steps
from bayescal.multilevel.compared import off_by, shares_of_worst
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RATIO_AND_SLOPE", "known_of", "raw_estimates", "raw_of", "size_of", "table_of_curves"]

RATIO_AND_SLOPE = ("observed_expected", "calibration_slope")
RAW = ("tce", *RATIO_AND_SLOPE)
# A coefficient beyond it is of outcomes that scores separate, where there is no maximum.
NEAR_RAW, MOST_RAW = 1e-10, 20.0


def table_of_curves(post: Any, by: Any, delta: float, ci_prob: float) -> pd.DataFrame:
    """The table of `MultilevelPosterior.table`.

    Parameters
    ----------
    post : MultilevelPosterior
    by, delta, ci_prob
        As of that method.
    """
    import pandas as pd

    several, kind = len(post.levels) > 1, post.problem.kind
    parts = post.parts(by)
    if by is None and several:
        parts = parts + post.parts(list(post.levels))
    rows, off = [], []
    for part in parts:
        # Of one axis there can be 2000 levels, whose evaluations are not kept.
        view = post.at(part.levels) if several else post._view_alone({"at": part.levels})
        row = _row(post.problem, part.level, view, ci_prob)
        rows.append(row | {"prob_off": 1 - view.prob_below(delta)})
        if kind == "sites":
            rows[-1]["prob_differs"] = _share_off_average(view, delta)
        off.append(off_by(view.values_of("tce"), "tce"))
    names, keys = post._index(parts)
    index = pd.MultiIndex.from_tuples(keys, names=names) if len(names) > 1 else None
    table = pd.DataFrame(rows, pd.Index(keys, name=names[0]) if index is None else index)
    worst = np.zeros(len(parts))
    for factor in dict.fromkeys(part.factor for part in parts):
        own = [k for k, part in enumerate(parts) if part.factor == factor]
        worst[own] = shares_of_worst(np.stack([off[k] for k in own]))
    table["prob_worst"] = worst
    term = post.problem.robust_term
    if term is not None and post._free.unlike is not None:
        unlike = post.prob_unlike()
        table["prob_unlike"] = [
            unlike[part.level] if part.factor == term.name else np.nan for part in parts
        ]
    return table


def _row(
    problem: MultilevelProblem, label: str, view: CalibrationPosterior, ci_prob: float
) -> dict[str, float]:
    """Cases and events; each functional with `_raw`, `_lower` and `_upper`.

    What is not known, or has no estimate, is not a number.
    """
    row, raw = known_of(problem, label, view)
    rows = view._rows_of_summary(RAW, ci_prob)
    for name in RAW:
        row[f"{name}_raw"] = raw.get(name, np.nan)
        estimate, *_, lower, upper = rows.get(name, (np.nan,) * 3)
        row[name], row[f"{name}_lower"], row[f"{name}_upper"] = estimate, lower, upper
    return row


def known_of(
    problem: MultilevelProblem, label: str, view: CalibrationPosterior
) -> tuple[dict[str, float], dict[str, float]]:
    """Cases and events of a group, and what it says by itself; not a number if not known."""
    known = problem.summaries.get(label)
    if known is None:
        return size_of(view), raw_of(view)
    size = {"cases": known.site.n, "events": known.site.observed}
    return {name: np.nan if x is None else x for name, x in size.items()}, dict(known.site.raw)


def _share_off_average(view: CalibrationPosterior, limit: float) -> float:
    """Share of the draws in which a site's curve is further than a limit from the average's."""
    shares = []
    for part, own in zip(view._parts, view.tables, strict=True):
        assert part.one_of is not None
        average, site = part.one_of.several.drawn.average, part.problem
        curves, share = site.curves_at(), site.trials / site.trials.sum()
        distance = np.empty(len(average))
        for some in blocks(len(average), share.size):
            apart = own.observed[some] - curves.probability(average[some])
            distance[some] = np.abs(apart) @ share
        shares.append(np.mean(distance > limit))
    return float(np.mean(shares))


def size_of(view: CalibrationPosterior) -> dict[str, float]:
    """Cases and events: those of any imputation."""
    table = view.tables[0].problem.table
    return {"cases": float(table.trials.sum()), "events": float(table.hits.sum())}


def raw_of(view: CalibrationPosterior) -> dict[str, float]:
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
