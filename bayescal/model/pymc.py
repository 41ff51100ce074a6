"""The curve and the data as a PyMC model: the reference, and a model to extend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.read import Outcomes
from bayescal.data.weights import WeightType
from bayescal.model.curves import Curve
from bayescal.model.priors import Prior
from bayescal.model.problem import Problem, prepare
from bayescal.model.rows import ModelRows, rows_of

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["build_model", "model_of"]


def build_model(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    offset: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_type: WeightType | None = None,
    edge: float | None = None,
    pos_label: Any = None,
) -> pm.Model:
    """Build the PyMC model that `bayescal.fit(engine="nuts")` samples.

    Working coordinates are free variables named as the family names them; curve_alpha, curve_beta
    and curve_c (or slope) are deterministic, and so are `log_odds` and `event_prob`, the curve by
    row. `hits` is observed, one element a row. Its log likelihood is that of the single cases,
    without binomial coefficients.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0/1 or boolean, or a table.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities in [0, 1].
    curve : str or Curve
        Family of the calibration curve.
    prior : {"neutral", "clinical"}, Prior, or mapping
    offset : array-like or PyMC variable of shape (n,), or (rows,) with a table, optional
        Added to the log-odds of the curve, such as a covariate times its coefficient, or the
        effect of a site. A PyMC variable is one of the model whose context this is called in, and
        that model is the one that is extended.
    sample_weight : array-like of shape (n,), optional
    weight_type : {"counts", "sampling"}, optional
        As in `bayescal.fit`.
    edge : float in (0, 0.5), optional
        How far inside scores of exactly 0 and 1 are moved.
    pos_label : object, optional
        The label in `y_true` that counts as the event.

    Returns
    -------
    pymc.Model
        With coordinate `row`, and data `score`, `trials` and, with an offset of numbers, `offset`
        by row. If cases were given it has the coordinate `obs` too, and data `row_of_obs`: the row
        of each case, in the order of `y_true`.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, the table holds several
        groups, the family is `pieces`, which has no PyMC form, or the offset is not one finite
        number for each case (or row).

    Notes
    -----
    Rows are in ascending order of the score. Cases with equal scores share a row; with an offset
    of numbers, those with equal scores and offsets do; with an offset that is a PyMC variable,
    every case has a row of its own, in the order given.

    Examples
    --------
    >>> import bayescal as bc
    >>> model = bc.build_model([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])  # doctest: +SKIP
    >>> [variable.name for variable in model.free_RVs]  # doctest: +SKIP
    ['shift', 'log_slope', 'asymmetry']

    Effects of three hospitals, with patients of each in an index `hospital`:

    >>> import pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     effect = pm.Normal("effect", 0, 0.5, shape=3)
    ...     bc.build_model(y_true, y_prob, offset=effect[hospital])
    """
    problem = prepare(
        y_true,
        y_prob,
        curve=curve,
        prior=prior,
        sample_weight=sample_weight,
        weight_type=weight_type,
        edge=edge,
        random_state=0,
        pos_label=pos_label,
    )
    given = None if isinstance(y_true, CalibrationData) else (y_true, y_prob, sample_weight)
    return model_of(problem, rows_of(problem, given, offset, pos_label), by_row=True)


def model_of(problem: Problem, rows: ModelRows | None = None, *, by_row: bool = False) -> pm.Model:
    """The PyMC model of a problem.

    Parameters
    ----------
    problem : Problem
    rows : ModelRows, optional
        By default those of the problem.
    by_row : bool
        Whether to keep the curve by row as deterministic variables.

    Returns
    -------
    pymc.Model
    """
    if problem.curve.in_cells:
        raise InputError(
            f"curve={problem.curve.name!r} has no PyMC model: its posterior is an exact sum over "
            "partitions of the scores, whose edges no gradient reaches. Use bayescal.fit with "
            "engine='auto', or curve='spline' for a flexible curve in PyMC."
        )
    import pymc as pm
    import pytensor.tensor as pt

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
        u = _coordinates(problem)
        named = dict(zip(curve.coordinates, u, strict=True))
        for name, value in curve.derived(named, frame, pt.exp).items():
            pm.Deterministic(name, value)
        log_odds = offset + sum(
            coefficient * column
            for coefficient, column in zip(curve.coefficients(u, pt.exp), basis.T, strict=True)
        )
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
        pm.CustomDist(
            "hits",
            pm.Data("trials", rows.trials, dims="row"),
            log_odds,
            logp=_cases_log_likelihood,
            random=_draw_hits,
            observed=rows.hits,
            dims="row",
        )
    return model


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

    taus, weights = zip(*problem.prior.roughness, strict=True)
    direction = pm.Normal("direction", shape=size)
    lengths = [pm.Gamma.dist(alpha=size / 2, beta=1 / (2 * tau**2)) for tau in taus]
    squared_length = pm.Mixture("squared_length", np.array(weights), lengths)
    scale = (squared_length / (direction**2).sum()) ** 0.5
    dim = problem.curve.dims["deviation"]
    deviations = pm.Deterministic("deviation", scale * direction, dims=dim)
    return [deviations[k] for k in range(size)]


def _cases_log_likelihood(hits: Any, trials: Any, log_odds: Any) -> Any:
    """Of the single cases, without binomial coefficients, and finite at any log-odds."""
    import pytensor.tensor as pt

    return hits * log_odds - trials * pt.softplus(log_odds)


def _draw_hits(
    trials: Floats, log_odds: Floats, rng: np.random.Generator, size: Any = None
) -> Floats:
    return rng.binomial(np.rint(trials).astype(np.int64), expit(log_odds), size).astype(float)
