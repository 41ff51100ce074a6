"""The curve and the data as a PyMC model: the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError
from bayescal.model.lapse.bounds import RATES
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.pymc import observe_times
from bayescal.model.problem import Problem
from bayescal.model.pymc.rows import ModelRows

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["coordinates_of_model", "model_of"]


def model_of(problem: Problem, rows: ModelRows | None = None, *, by_row: bool = False) -> pm.Model:
    """The PyMC model of a problem.

    Parameters
    ----------
    rows : ModelRows, optional
        By default those of the problem.
    by_row : bool
        Whether to keep the curve by row as deterministic variables.
    """
    if problem.curve.per_score:
        raise InputError(
            f"curve={problem.curve.name!r} has no PyMC model: a risk that is exactly its score has "
            "no density. Its posterior is known in closed form: use bayescal.fit with "
            "engine='auto'."
        )
    if problem.curve.in_cells:
        raise InputError(
            f"curve={problem.curve.name!r} has no PyMC model: its posterior is an exact sum over "
            "partitions of the scores, whose edges no gradient reaches. Use bayescal.fit with "
            "engine='auto', or curve='spline' for a flexible curve in PyMC."
        )
    import pymc as pm
    import pytensor.tensor as pt

    if problem.of_times:
        rows = _rows_of_times(problem, rows)
    curve, frame = problem.curve, problem.frame
    rows = ModelRows(problem.score, problem.trials, problem.hits) if rows is None else rows
    offset, basis = curve.basis(rows.score, frame)
    if rows.is_symbolic and pm.Model.get_context(error_if_none=False) is None:
        raise InputError(
            "offset is a PyMC variable of no open model: call build_model inside the `with` block "
            "of the model that the variable belongs to."
        )
    with pm.modelcontext(None) if rows.is_symbolic else pm.Model() as model:
        model.add_coord("row", np.arange(rows.score.size))
        for name, dim in curve.dims.items():
            model.add_coord(dim, np.arange(1, len(curve.variables[name]) + 1))
        pm.Data("score", rows.score, dims="row")
        u = coordinates_of_model(problem)
        named = dict(zip(curve.coordinates, u, strict=True))
        for name, value in curve.derived(named, frame, pt.exp).items():
            pm.Deterministic(name, value)
        log_odds = offset + sum(
            coefficient * column
            for coefficient, column in zip(curve.coefficients(u, pt.exp), basis.T, strict=True)
        )
        if curve.is_bounded:
            log_odds = _bounded(log_odds, *(named[name] for name in RATES))
        if rows.is_symbolic:
            log_odds = log_odds + rows.offset
        elif rows.offset is not None:
            log_odds = log_odds + pm.Data("offset", rows.offset, dims="row")
        if by_row:
            log_odds = pm.Deterministic("log_odds", pt.as_tensor(log_odds), dims="row")
            pm.Deterministic("event_prob", pm.math.sigmoid(log_odds), dims="row")
        if rows.of_obs is not None:
            model.add_coord("obs", np.arange(rows.of_obs.size))
            pm.Data("row_of_obs", rows.of_obs, dims="obs")
        trials = pm.Data("trials", rows.trials, dims="row")
        if problem.of_times:
            observe_times([problem], log_odds)
        else:
            BINOMIAL.observe("hits", (trials, log_odds, rows.hits), dims="row")
    return model


def _rows_of_times(problem: Problem, rows: ModelRows | None) -> ModelRows:
    """Every row of the table, of times to an event."""
    if rows is not None and rows.offset is not None:
        raise InputError(
            "offset was given beside times to an event, whose model has no offset. Leave it out."
        )
    table = problem.table
    return ModelRows(table.score, table.trials, table.hits)


def _bounded(log_odds: Any, guess: Any, lapse: Any) -> Any:
    """Log-odds of a curve between its floor and its ceiling, from those of the curve inside."""
    import pytensor.tensor as pt

    event = pt.logaddexp(pt.log(guess), pt.log1p(-lapse) + log_odds)
    other = pt.logaddexp(pt.log1p(-guess), pt.log(lapse) + log_odds)
    return event - other


def coordinates_of_model(problem: Problem) -> list[Any]:
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

    taus, weights = zip(*problem.prior.roughness, strict=True)
    direction = pm.Normal("direction", shape=size)
    lengths = [pm.Gamma.dist(alpha=size / 2, beta=1 / (2 * tau**2)) for tau in taus]
    squared_length = pm.Mixture("squared_length", np.array(weights), lengths)
    scale = (squared_length / (direction**2).sum()) ** 0.5
    dim = problem.curve.dims["deviation"]
    deviations = pm.Deterministic("deviation", scale * direction, dims=dim)
    return [deviations[k] for k in range(size)]
