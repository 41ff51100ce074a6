"""One curve or several as a PyMC model: the reference of the fast engines, and one to extend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import EDGE
from bayescal.core.symbolic import is_symbolic
from bayescal.data.rows import Edges
from bayescal.model.curve import Curve, Frame
from bayescal.model.lapse.bounds import RATES
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.pymc import observe_times
from bayescal.model.problem import Problem
from bayescal.model.pymc.rows import Observations

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["SeveralCurves", "Source", "model_of", "remembered", "source_of"]


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

    Parameters
    ----------
    problem : Problem
        Of several curves, that of all patients.
    rows : Observations, optional
        What is observed; by default the rows of the problem.
    several : SeveralCurves, optional
    named : bool
        Whether it is one to look at: with `log_odds` and `event_prob` as deterministic variables,
        and in the model whose context is open, if there is one.
    """
    _refuse_without_density(problem.curve)
    import pymc as pm
    import pytensor.tensor as pt

    if rows is None:
        of = problem.table if problem.of_times else problem
        rows = Observations(of.score, of.trials, of.hits)
    if problem.of_times and rows.offset is not None:
        raise InputError(
            "offset was given beside times to an event, whose model has no offset. Leave it out."
        )
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
    """What a model was built of.

    Attributes
    ----------
    problem : Problem, or that of several curves
    rows : Observations or None
        What it observes; None of times to an event.
    """

    problem: Any
    rows: Observations | None


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
