"""Several curves compared: which there are, how much they differ, and a table of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.core.optimise import clipped, logistic_mle, maximise
from bayescal.core.text import shortened
from bayescal.core.versions import one_blas_thread
from bayescal.inference.loo import (
    DRAWS,
    CasesOfClusters,
    FollowedCases,
    LeaveOneOut,
    LikelihoodParts,
    clusters_left_out,
    leave_one_out,
)
from bayescal.model.curves import as_curve
from bayescal.model.draws import at_centre
from bayescal.model.problem import Problem
from bayescal.model.rows import every_row
from bayescal.model.times import Steps, entries_of, steps_of
from bayescal.model.times_rows import rows_given_steps
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import JOINED
from bayescal.posterior.functionals import FUNCTIONALS, undefined_measures
from bayescal.posterior.imputed import in_turn, mixed
from bayescal.posterior.intervals import equal_tailed, share_below
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Part"]

# A difference, or a distance from perfect calibration, that is counted by default.
OFF_BY = 0.05
# Which side of the value at perfect calibration counts.
Side: TypeAlias = Literal["both", "above", "below"]
COMPARED_SIDES = ("both", "above", "below")


class Part(NamedTuple):
    """A level of one axis, such as a site or a sex, or a combination of levels of several.

    Of a combination `factor` names its axes, and `level` its level of each; `levels` are by axis.
    """

    factor: str
    level: str
    levels: dict[str, str]


def parts_of(
    axes: Mapping[str, Sequence[str]], cells: Sequence[tuple[str, ...]], by: Any = None
) -> list[Part]:
    """The levels of one axis, or of every one; or the combinations of levels that occur."""
    names = list(axes)
    given = names if by is None else [by] if isinstance(by, str) else as_items(by, "by")
    chosen = [check_choice(name, names, "by") for name in given]
    if not chosen:
        raise InputError("by is empty. Name what curves are compared by, such as by='site'.")
    if by is None or len(chosen) == 1:
        return [Part(name, level, {name: level}) for name in chosen for level in axes[name]]
    at = [names.index(name) for name in chosen]
    occurring = {tuple(cell[k] for k in at) for cell in cells}
    order = [{level: k for k, level in enumerate(axes[name])} for name in chosen]
    ordered = sorted(occurring, key=lambda cell: [of[x] for of, x in zip(order, cell, strict=True)])
    joint = JOINED.join(chosen)
    return [Part(joint, ", ".join(cell), dict(zip(chosen, cell, strict=True))) for cell in ordered]


def check_levels(
    problem: MultilevelProblem, given: Mapping[str, Any], name: str = ""
) -> dict[str, str]:
    """Levels by axis as text, in the order of the axes; `name` is the argument that has them."""
    axes, levels = problem.axes, {}
    for axis, level in given.items():
        known = axes[check_choice(axis, axes, "the role of a level")]
        levels[axis] = check_choice(str(level), known, name or f"level of {axis}")
    levels = {axis: levels[axis] for axis in axes if axis in levels}
    if not problem.groups_with(levels):
        told = ", ".join(f"{axis}={level!r}" for axis, level in levels.items())
        raise InputError(
            f"no case has {told}. Ask for fewer levels: the subgroup of some is all cases that "
            "have these."
        )
    return levels


def two_of(parts: Sequence[Part], first: Any, second: Any) -> list[Part]:
    """The parts of two levels; all of them, if no level is given."""
    if first is None and second is None:
        return list(parts)
    if first is None or second is None:
        raise InputError(
            "first and second go together, and only one was given, "
            f"{shortened(repr(second if first is None else first))}. Give two levels of "
            f"{shortened(parts[0].factor)}, or none for any two."
        )
    known = [each.level for each in parts]
    return [
        parts[known.index(check_choice(str(level), known, argument))]
        for level, argument in ((first, "first"), (second, "second"))
    ]


def off_by(values: Floats, name: str, side: Side = "both") -> Floats:
    """How far draws of a functional are from its value at perfect calibration, in its units.

    `side` "both" takes the distance; "above" how far above that value, negative below it; "below"
    the opposite.
    """
    functional = FUNCTIONALS[check_choice(name, FUNCTIONALS, "name")]
    check_choice(side, COMPARED_SIDES, "side")
    if side == "below" and functional.is_distance:
        raise InputError(
            f"side='below' was given for {name!r}, which is a distance and never below its value "
            "at perfect calibration, 0. Leave side= out, or choose a functional that has two "
            "sides, such as 'observed_expected'."
        )
    off: Floats = values - functional.ideal
    if side == "both":
        return np.abs(off)
    return off if side == "above" else -off


def shares_of_worst(off: Floats) -> Floats:
    """Share of the draws in which each curve is furthest off; equal ones divide a draw.

    For `off` of shape (curves, draws); the shares, one a curve, sum to one.
    """
    largest = off == off.max(axis=0)
    return np.asarray((largest / largest.sum(axis=0)).mean(axis=1))


# Largest correlation whose Fisher's z is taken.
NEAR_ONE = 1 - 1e-9


def heterogeneity(each: Sequence[MultilevelDraws]) -> pd.DataFrame:
    """The table of `MultilevelPosterior.heterogeneity`, of the draws of each imputation.

    Logarithms of scales and Fisher's z of correlations are moved apart.
    """
    import pandas as pd

    problem = each[0].problem
    scales = _scales(each)
    rows: dict[Any, dict[str, float]] = {}
    several = scales.shape[1] > 1
    for k, term in enumerate(problem.terms):
        for column, name in enumerate(problem.varying):
            row = _described(scales[:, k, column])
            if several:
                row["prob_largest"] = float((scales[:, :, column].argmax(axis=1) == k).mean())
            rows[(term.name, name) if several else name] = row
    known = [drawn.correlation for drawn in each if drawn.correlation is not None]
    if known and len(problem.varying) > 1:
        z = mixed([np.arctanh(np.clip(one, -NEAR_ONE, NEAR_ONE)) for one in known])
        rows["correlation"] = _described(known[0] if len(known) == 1 else np.tanh(z))
    table = pd.DataFrame.from_dict(rows, orient="index")
    if several:
        table.index = pd.MultiIndex.from_tuples(list(rows), names=["term", "coordinate"])
    return table


def _scales(each: Sequence[MultilevelDraws]) -> Floats:
    """Of shape (draws, terms, coordinates); of ordered periods, their standard deviation."""
    if not each[0].problem.is_walk:
        scales = [drawn.scales.swapaxes(0, 1) for drawn in each]
        return scales[0] if len(scales) == 1 else np.exp(mixed([np.log(one) for one in scales]))
    centre, spreads = each[0].problem.pooled.frame.centre, []
    for drawn in each:
        names = drawn.problem.pooled.curve.coordinates
        named = dict(zip(names, np.moveaxis(drawn.groups, -1, 0), strict=True))
        moved = at_centre(named, drawn.problem.pooled.frame.centre, centre)
        varying = [moved[name].std(axis=0) for name in drawn.problem.varying]
        spreads.append(np.stack(varying, axis=-1)[:, None])
    return in_turn(np.stack(spreads))


def prob_unlike(each: Sequence[MultilevelDraws]) -> pd.Series:
    """The table of `MultilevelPosterior.prob_unlike`, the mean over imputations."""
    import pandas as pd

    problem = each[0].problem
    term, known = problem.robust_term, [drawn.unlike for drawn in each if drawn.unlike is not None]
    if term is None or not known:
        if problem.kind == "periods":
            raise InputError(
                "no period is unlike the others: curves change with time. Ask when_changed()."
            )
        walk = None if problem.walk is None else problem.walk.name
        names = [repr(axis) for axis in problem.axes if axis != walk]
        raise InputError(
            f"the effects of {' and '.join(problem.axes)} are normal, so that no level has a "
            "probability to be unlike the others. Fit with a robust term in vary=, such as "
            f"bc.by({', '.join(names)}, robust=True)."
        )
    parts = parts_of(problem.axes, problem.cells, term.axes)
    groups = [problem.groups_with(part.levels)[0] for part in parts]
    shares = np.mean([unlike[groups].mean(axis=1) for unlike in known], axis=0)
    return pd.Series(
        shares, pd.Index([part.level for part in parts], name=term.name), name="prob_unlike"
    )


def _described(values: Floats) -> dict[str, Any]:
    lower, upper = equal_tailed(values, 0.95)
    named = {"mean": values.mean(), "median": np.median(values), "lower": lower, "upper": upper}
    return {name: float(value) for name, value in named.items()}


RATIO_AND_SLOPE = ("observed_expected", "calibration_slope")
RAW = ("tce", *RATIO_AND_SLOPE)
# A coefficient beyond it is of outcomes that scores separate, where there is no maximum.
NEAR_RAW, MOST_RAW = 1e-10, 20.0


@one_blas_thread
def table_of_curves(post: Any, by: Any, delta: float, ci_prob: float) -> pd.DataFrame:
    """The table of `MultilevelPosterior.table`."""
    import pandas as pd

    several, kind = len(post.levels) > 1, post.problem.kind
    parts = post.parts(by)
    if by is None and several:
        parts = parts + post.parts(list(post.levels))
    rows, off = [], []
    for part in parts:
        view = post.at(part.levels)
        row, tce = _row(post.problem, part.level, view, ci_prob), view.values_of("tce")
        rows.append(row | {"prob_off": 1 - share_below(tce, delta)})
        if kind == "sites":
            rows[-1]["prob_differs"] = _share_off_average(view, delta)
        off.append(off_by(tce, "tce"))
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
    undefined = undefined_measures([own.problem for own in view._parts])
    defined = [name for name in RAW if name not in undefined]
    known = view._rows([(name, {}) for name in defined], ci_prob)
    rows = dict(zip(defined, known.tolist(), strict=True))
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
    table, stated = problem.table, clipped(problem.data.score)
    expected, raw, likeliest = float(table.trials @ stated), dict.fromkeys(RAW, np.nan), None
    if not problem.of_times:
        raw["observed_expected"] = float(table.hits.sum()) / expected
        likeliest = _likeliest(problem)
    elif entries_of(problem).events.any():
        likeliest = _likeliest_of_times(problem)
        if likeliest is not None:
            raw["observed_expected"] = float(table.trials @ likeliest[0]) / expected
    else:
        raw["observed_expected"] = 0.0
    if likeliest is not None:
        curve, slope = likeliest
        distance = float(np.abs(curve - stated) @ table.trials / table.trials.sum())
        raw |= {"calibration_slope": slope, "tce": distance}
    return raw


def _likeliest(problem: Problem) -> tuple[Floats, float] | None:
    """The logistic curve of maximum likelihood at the scores, and its slope."""
    table = problem.table
    try:
        intercept, slope = logistic_mle(table.score, table.trials, table.hits)[0]
    except InputError:
        return None
    return np.asarray(expit(intercept + slope * logit(table.score))), float(slope)


def _likeliest_of_times(problem: Problem) -> tuple[Floats, float] | None:
    """The same of times to an event; when events come is that of the cases of this table alone."""
    logistic = problem.of_family(as_curve("logistic"))
    rows = rows_given_steps(logistic, entries_of(problem).partial, steps_of(problem))

    def objective(at: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, information = rows.derivatives(at)
        return value, gradient, -information

    best = maximise(objective, np.array([0.0, 1.0]), tolerance=NEAR_RAW, longest=1.0)
    if not best.converged or np.abs(best.point).max() > MOST_RAW:
        return None
    offset, basis = logistic.curve.basis(problem.table.score, logistic.frame)
    return np.asarray(expit(offset + basis @ best.point)), float(best.point[1])


def left_out(drawn: MultilevelDraws) -> LeaveOneOut:
    """PSIS-LOO of several curves: of the cases of one group after the other, or of clusters.

    Given the draws of all curves, what is left out enters the curves of its own groups alone, so
    that the weights of the draws without it follow from these. What it says of the average and of
    the other groups goes with it. 1000 of the draws are used.
    """
    problem = drawn.problem
    if not problem.has_outcomes:
        raise InputError(
            "loo leaves out cases, and all sites are known by their summaries alone. Fit the cases "
            "of one site at least."
        )
    taken = np.linspace(0, drawn.size - 1, min(drawn.size, DRAWS)).astype(np.intp)
    steps = problem.shared_steps.steps if problem.pooled.of_times else None
    if problem.adjustments:
        return clusters_left_out(list(_parts_of_groups(drawn, taken, steps)))
    groups = [
        leave_one_out(table, drawn.groups[problem.labels.index(label)][taken], steps)
        for label, table in problem.tables.items()
    ]
    return LeaveOneOut(
        sum(one.elpd for one in groups),
        np.concatenate([one.pointwise for one in groups]),
        np.concatenate([one.count for one in groups]),
        max(one.pareto_k for one in groups),
    )


def _parts_of_groups(
    drawn: MultilevelDraws, taken: NDArray[np.intp], steps: Steps | None
) -> Iterator[LikelihoodParts]:
    from bayescal.multilevel.clusters import clusters_by_group  # loads sparse matrices

    problem, data = drawn.problem, drawn.problem.data
    clusters = data.clusters if steps is None else data.followed_clusters
    assert clusters is not None
    tables = [table.data for table in problem.tables.values()]
    each = zip(problem.tables.items(), clusters_by_group(clusters, data, tables), strict=True)
    for (label, table), own in each:
        at = problem.labels.index(label)
        cases = CasesOfClusters(own) if steps is None else FollowedCases(table, own, steps)
        coefficients = problem.pooled.curve.with_offset(drawn.groups[at][taken])
        change = problem.adjustments[at]
        yield LikelihoodParts.flattened(cases, every_row(table), coefficients, change)
