"""The one PyMC model, and what it observes: cases, rows of equal scores, or times to an event."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import EDGE
from bayescal.core.symbolic import is_symbolic, logit_of
from bayescal.data.cases import as_vector
from bayescal.data.rows import Edges
from bayescal.data.table import CalibrationData
from bayescal.model.curve import RATES, Curve, Frame
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.times import entries_of, joined, law_of

if TYPE_CHECKING:
    import pymc as pm

# Most cases that stand in a model, or in the tree of a posterior, one by one.
MOST_CASES = 5000


class Observations(NamedTuple):
    """What a PyMC model observes."""

    score: Floats  # (n,): scores as they were stated or moved inside (0, 1), cases and events
    trials: Floats  # (n,)
    hits: Floats  # (n,)
    weight: Floats | None = None  # (n,): by which the log likelihood of each is multiplied
    offset: Any = None  # (n,): added to the log-odds
    group: NDArray[np.intp] | None = None  # (n,): of several curves, whose it is


def cases_of_table(data: CalibrationData) -> tuple[NDArray[np.intp], NDArray[np.int8]] | None:
    """Row and outcome of each case of a table, events first in a row; None of rows that stay.

    Rows stay rows where they are of weights, of times, or of more than `MOST_CASES` cases.
    """
    if data.is_pseudo or data.follow_up is not None or data.n > MOST_CASES:
        return None
    trials, hits = data.trials.astype(np.int64), data.hits.astype(np.int64)
    row = np.repeat(np.arange(trials.size), trials)
    start = np.cumsum(trials) - trials
    return row, (np.arange(row.size) - start[row] < hits[row]).astype(np.int8)


def joined_rows(tables: Sequence[Any], groups: Sequence[int]) -> Observations:
    """The rows of several tables, one after the other, each of a group."""
    score, trials, hits = (
        np.concatenate([np.empty(0), *(getattr(table, name) for table in tables)])
        for name in ("score", "trials", "hits")
    )
    group = np.repeat(np.array(groups, np.intp), [table.score.size for table in tables])
    return Observations(score, trials, hits, group=group)


def weighted(rows: Observations, weight: Floats, tables: Sequence[CalibrationData]) -> Observations:
    """Cases that count as several, or with sampling weights, on the scale of effective cases.

    `tables`: that of each group, or one.
    """
    if not any(data.is_pseudo for data in tables):
        return rows._replace(trials=weight, hits=weight * rows.hits)
    scale = np.array([data.weight_scale for data in tables])
    return rows._replace(weight=weight * scale[0 if rows.group is None else rows.group])


def checked_offset(offset: Any, size: int, each: str) -> Any:
    """An offset of numbers, one for each observation; a variable is taken as it is."""
    if offset is None or is_symbolic(offset):
        return offset
    values = as_vector(offset, "offset")
    try:
        numbers = values.astype(np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise InputError(
            "offset is not an array of numbers: a value is none, or rows differ in length."
        ) from error
    if numbers.size != size:
        raise InputError(f"offset has {numbers.size} numbers; it takes one a {each}, {size}.")
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"offset[{at}] = {numbers[at]} is not a finite number.")
    return numbers


# Coordinates of the steps of events, and of competing ones.
STEP_NAMES = ("step", "competing_step")


def observe_times(problems: Sequence[Problem], score: Any, log_odds: Any) -> None:
    """Add the steps of Q and the likelihood to the open model.

    `problems`: one, or those of several groups that have their steps in common; `score`, `log_odds`
    (rows,): scores inside (0, 1), and log-odds of the curve, at the rows of the problems' tables,
    one table after the other.
    """
    import pymc as pm
    import pytensor.tensor as pt

    entries, law = joined([entries_of(problem) for problem in problems]), law_of(problems[0])
    model = pm.modelcontext(None)
    z = law.standardised(logit_of(score))
    partial, shares = entries.partial, []
    own = law.standardised(partial.x)
    trials = entries.events + entries.free
    total = (entries.events * log_odds - trials * pt.softplus(log_odds)).sum()
    for name, counted in zip(STEP_NAMES, entries.in_interval, strict=False):
        size = counted.shape[1]
        dims = "interval" if size == law.size else "interval_or_none"
        model.add_coord(dims, np.arange(1, size + 1))  # the last of these: no event of any kind
        centre, precision = law.prior_of_steps(size)
        a = pm.Normal(name, centre[:size], precision[:size] ** -0.5, dims=dims)
        c = pm.Normal(f"{name}_by_score", centre[size:], precision[size:] ** -0.5, dims=dims)
        some = counted.sum(axis=1) > 0
        q = pt.special.softmax(a + z[some, None] * c, axis=1)
        total += (counted[some] * pt.log(q)).sum()
        passed = law.passed(partial.step, size)
        steps = pt.special.softmax(a + own[:, None] * c, axis=1)
        shares.append((passed * steps).sum(axis=1))
    if partial.size:
        event = pt.sigmoid(log_odds[partial.row])
        without = sum(risk * share for risk, share in zip((event, 1 - event), shares, strict=False))
        total += (partial.weight * pt.log1p(-without)).sum()
    pm.Potential("followed", total)


class SeveralCurves(Protocol):
    """Curves whose coordinates differ, as `model_of` asks for them."""

    @property
    def dim(self) -> str:
        """What a curve is of, as the model names its dimension."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the curves."""

    @property
    def tables(self) -> dict[str, Problem]:
        """The problem of each curve with patients."""

    def moved(self, average: dict[str, Any]) -> dict[str, Any]:
        """The coordinates that differ, by curve, added to the open model."""

    def flattened(self, coefficients: list[Any]) -> list[Any]:
        """Coefficients by curve at which the likelihood of independent cases is read."""

    @property
    def is_flattened(self) -> bool:
        """Whether they are other ones."""


def model_of(
    problem: Problem,
    rows: Observations | None = None,
    several: SeveralCurves | None = None,
    *,
    named: bool = False,
) -> pm.Model:
    """The PyMC model of a problem, or of several curves.

    `problem`: of several curves, that of all patients; `rows`: what is observed; by default the
    rows of the problem; `named`: whether it is one to look at: with `log_odds` and `event_prob` as
    deterministic variables, and in the model whose context is open, if there is one.
    """
    _refuse_without_density(problem.curve)
    import pymc as pm
    import pytensor.tensor as pt

    if rows is None:
        of = problem.table if problem.of_times else problem
        rows = Observations(of.score, of.trials, of.hits)
    opened = pm.Model.get_context(error_if_none=False) if named else None
    if is_symbolic(rows.offset) and opened is None:
        raise InputError(
            "offset is a PyMC variable of no open model: call build_model inside the `with` block "
            "of the model that the variable belongs to."
        )
    curve, frame = problem.curve, problem.frame
    with pm.Model(model=None) if opened is None else opened as model:
        model.add_coord("obs", np.arange(rows.score.size))
        for name, dim in curve.dims.items():
            model.add_coord(dim, np.arange(1, len(curve.variables[name]) + 1))
        score = _inside(problem.edges, pm.Data("score", rows.score, dims="obs"))
        each = dict(zip(curve.coordinates, _coordinates(problem), strict=True))
        for name, value in curve.derived(each, frame, pt.exp).items():
            pm.Deterministic(name, value)
        own = each
        if several is not None:
            model.add_coord(several.dim, list(several.labels))
            moved = several.moved(each)
            if not rows.score.size:
                return model
            of_obs = pm.Data(f"{several.dim}_of_obs", rows.group, dims="obs")
            own = each | {name: by_curve[of_obs] for name, by_curve in moved.items()}
        if several is not None and several.is_flattened:
            everywhere = np.zeros(len(several.labels))
            of_curves = [u + everywhere for u in (each | moved).values()]
            read = several.flattened(curve.coefficients(of_curves, pt.exp))
            coefficients = [by_curve[of_obs] for by_curve in read]
        else:
            coefficients = curve.coefficients([own[name] for name in curve.coordinates], pt.exp)
        offset, basis = _basis(curve, score, frame)
        log_odds = offset
        if coefficients:
            log_odds = offset + (basis * pt.stack(coefficients, axis=-1)).sum(axis=-1)
        if curve.is_bounded:
            log_odds = _bounded(log_odds, *(own[name] for name in RATES))
        if rows.offset is not None:
            more = rows.offset
            log_odds += more if is_symbolic(more) else pm.Data("offset", more, dims="obs")
        if named:
            log_odds = pm.Deterministic("log_odds", log_odds, dims="obs")
            pm.Deterministic("event_prob", pm.math.sigmoid(log_odds), dims="obs")
        if problem.of_times:
            tables: Sequence[Problem] = [problem]
            if several is not None:
                tables = list(several.tables.values())
            observe_times(tables, score, log_odds)
            return model
        seen: list[Any] = [pm.Data("trials", rows.trials, dims="obs"), log_odds]
        if rows.weight is not None:
            seen.append(pm.Data("weight", rows.weight, dims="obs"))
        BINOMIAL.observe("y", seen, rows.hits, dims="obs")
    return model


class Source(NamedTuple):
    """What a model was built of."""

    problem: Any
    rows: Observations | None  # what it observes; None of times to an event


def remembered(model: pm.Model, problem: Any, rows: Observations | None) -> pm.Model:
    """The model, which knows what it was built of."""
    model._bayescal = Source(problem, rows)
    return model


def source_of(model: Any) -> Source | None:
    """What a model was built of; None of one that was written by hand."""
    source: Source | None = getattr(model, "_bayescal", None)
    return source


def _refuse_without_density(curve: Curve) -> None:
    if curve.per_score:
        raise InputError(
            f"curve={curve.name!r} has no PyMC model: a risk that is exactly its score has "
            "no density. Its posterior is known in closed form: use bayescal.fit with "
            "engine='auto'."
        )
    if curve.in_cells:
        raise InputError(
            f"curve={curve.name!r} has no PyMC model: its posterior is an exact sum over "
            "partitions of the scores, whose edges no gradient reaches. Use bayescal.fit with "
            "engine='auto', or curve='spline' for a flexible curve in PyMC."
        )


def _inside(edges: Edges, score: Any) -> Any:
    """Scores strictly inside (0, 1), as `Edges.inside` reads them."""
    import pytensor.tensor as pt

    if edges.given:
        return pt.clip(score, edges.low, edges.high)
    low, high = (EDGE, 1 - EDGE) if edges.moved else (0.0, 1.0)
    return pt.switch(score <= low, edges.low, pt.switch(score >= high, edges.high, score))


def _basis(curve: Curve, score: Any, frame: Frame) -> tuple[Any, Any]:
    """Offset and basis of a family at scores that are data of a model.

    A family of the user's may be written for arrays alone: it is then called as it is whenever the
    data change, since no gradient goes through the scores.
    """
    offset: Any = None
    basis: Any = None
    with suppress(Exception):  # whatever NumPy and SciPy raise where they meet a variable
        offset, basis = curve.basis(score, frame)
    if is_symbolic(offset) and is_symbolic(basis):
        return offset, basis
    made: tuple[Any, Any] = _array_basis()(curve, frame)(score)
    return made


@cache
def _array_basis() -> Any:
    """The operation of PyTensor that calls the basis of a family on arrays."""
    import pytensor.tensor as pt
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    class ArrayBasis(Op):  # type: ignore[misc]
        __props__ = ("curve", "frame")

        def __init__(self, curve: Curve, frame: Frame) -> None:
            self.curve, self.frame = curve, frame

        def make_node(self, score: Any) -> Any:
            return Apply(self, [pt.as_tensor(score)], [pt.dvector(), pt.dmatrix()])

        def perform(self, node: Any, inputs: list[Floats], outputs: list[list[Any]]) -> None:
            offset, basis = self.curve.basis(inputs[0], self.frame)
            outputs[0][0], outputs[1][0] = np.asarray(offset), np.asarray(basis)

    return ArrayBasis


def _bounded(log_odds: Any, guess: Any, lapse: Any) -> Any:
    """Log-odds of a curve between its floor and its ceiling, from those of the curve inside."""
    import pytensor.tensor as pt

    event = pt.logaddexp(pt.log(guess), pt.log1p(-lapse) + log_odds)
    other = pt.logaddexp(pt.log1p(-guess), pt.log(lapse) + log_odds)
    return event - other


def _coordinates(problem: Problem) -> list[Any]:
    """The working coordinates as PyMC variables, tau of the deviations summed out."""
    names = problem.curve.coordinates
    rough = [name for name in names if name.startswith("deviation")]
    u = [problem.prior.of(name).to_pymc(name) for name in names if name not in rough]
    return u + _deviations(problem, len(rough)) if rough else u


def _deviations(problem: Problem, size: int) -> list[Any]:
    """The deviations as a direction and a length, whose scale tau is summed out.

    Given tau they are independent and normal: the direction is uniform and the squared length is
    tau^2 times a chi-square. As normals of many scales they would have a funnel at zero.
    """
    import pymc as pm

    dim = problem.curve.dims["deviation"]
    taus, weights = zip(*problem.prior.roughness, strict=True)
    direction = pm.Normal("direction", dims=dim)
    lengths = [pm.Gamma.dist(alpha=size / 2, beta=1 / (2 * tau**2)) for tau in taus]
    squared_length = pm.Mixture("squared_length", np.array(weights), lengths)
    scale = (squared_length / (direction**2).sum()) ** 0.5
    deviations = pm.Deterministic("deviation", scale * direction, dims=dim)
    return [deviations[k] for k in range(size)]
