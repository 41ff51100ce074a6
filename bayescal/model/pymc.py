"""The curve and the data as a PyMC model: the reference, and the place to extend from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData, as_data
from bayescal.data.weights import WeightType
from bayescal.model.curves import Curve, as_curve
from bayescal.model.priors import Prior, as_prior
from bayescal.model.problem import Settings

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["build_model", "model_from_settings"]


def build_model(
    y_true: Any,
    y_prob: Any = None,
    *,
    curve: str | Curve = "beta",
    prior: str | Prior | Mapping[str, Any] = "neutral",
    sample_weight: Any = None,
    weight_type: WeightType | None = None,
    edge: float | None = None,
    pos_label: Any = None,
) -> pm.Model:
    """Build the PyMC model that `bayescal.fit(engine="nuts")` samples.

    Working coordinates are free variables named as the family names them; alpha, beta and c (or
    slope) are deterministic; `hits` is observed, one element a row of the table. Its log likelihood
    is that of the single cases, without binomial coefficients.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0/1 or boolean, or a table.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities in [0, 1].
    curve : str or Curve
        Family of the calibration curve.
    prior : {"neutral", "clinical"}, Prior, or mapping
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
        With coordinates `row` and data `trials`, `score`.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, or the family is `pieces`,
        which has no PyMC form.

    Examples
    --------
    >>> import bayescal as bc
    >>> model = bc.build_model([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])  # doctest: +SKIP
    >>> [variable.name for variable in model.free_RVs]  # doctest: +SKIP
    ['shift', 'log_slope', 'asymmetry']
    """
    data = as_data(
        y_true, y_prob, sample_weight=sample_weight, weight_type=weight_type, pos_label=pos_label
    )
    settings = Settings.at_fit(data, as_curve(curve), as_prior(prior), edge=edge)
    return model_from_settings(settings, data)


def model_from_settings(settings: Settings, data: CalibrationData) -> pm.Model:
    """The PyMC model of a table under settings already fixed."""
    if settings.curve.in_cells:
        raise InputError(
            f"curve={settings.curve.name!r} has no PyMC model: its posterior is an exact sum over "
            "partitions of the scores, whose edges no gradient reaches. Use bayescal.fit with "
            "engine='auto', or curve='spline' for a flexible curve in PyMC."
        )
    import pymc as pm
    import pytensor.tensor as pt

    curve, frame = settings.curve, settings.frame
    score = settings.edges.inside(data.score)
    trials, hits = data.trials * data.weight_scale, data.hits * data.weight_scale
    offset, basis = curve.basis(score, frame)
    axes = {dim: np.arange(1, len(curve.variables[name]) + 1) for name, dim in curve.dims.items()}
    with pm.Model(coords={"row": np.arange(score.size)} | axes) as model:
        pm.Data("score", score, dims="row")
        u = _coordinates(settings)
        named = dict(zip(curve.coordinates, u, strict=True))
        for name, value in curve.derived(named, frame, pt.exp).items():
            pm.Deterministic(name, value)
        log_odds = offset + sum(
            coefficient * column
            for coefficient, column in zip(curve.coefficients(u, pt.exp), basis.T, strict=True)
        )
        pm.CustomDist(
            "hits",
            pm.Data("trials", trials, dims="row"),
            log_odds,
            logp=_cases_log_likelihood,
            random=_draw_hits,
            observed=hits,
            dims="row",
        )
    return model


def _coordinates(settings: Settings) -> list[Any]:
    """The working coordinates as PyMC variables, tau of the deviations summed out."""
    names = settings.curve.coordinates
    rough = [name for name in names if name.startswith("deviation")]
    u = [settings.prior.of(name).to_pymc(name) for name in names if name not in rough]
    return u + _deviations(settings, len(rough)) if rough else u


def _deviations(settings: Settings, size: int) -> list[Any]:
    """The deviations as a direction and a length, whose scale tau is summed out.

    Given tau they are independent and normal: the direction is uniform and the squared length is
    tau^2 times a chi-square. As normals of many scales they would have a funnel at zero.
    """
    import pymc as pm

    taus, weights = zip(*settings.prior.roughness, strict=True)
    direction = pm.Normal("direction", shape=size)
    lengths = [pm.Gamma.dist(alpha=size / 2, beta=1 / (2 * tau**2)) for tau in taus]
    squared_length = pm.Mixture("squared_length", np.array(weights), lengths)
    scale = (squared_length / (direction**2).sum()) ** 0.5
    dim = settings.curve.dims["deviation"]
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
