"""from_pymc(): the trace of a PyMC model as a posterior."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.core.versions import group_of
from bayescal.data.table import CalibrationData
from bayescal.inference.nuts import part_of_trace
from bayescal.model.curves import Frame
from bayescal.model.draws import Part
from bayescal.model.problem import Problem, prepare
from bayescal.model.pymc.model import Source, source_of
from bayescal.model.pymc.rows import Observations
from bayescal.model.traced import TRACED, mean_errors
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.nuts import draws_of_trace
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["from_pymc"]

PROB = "event_prob"
"""The variable of a model with the probability of the event of each observation."""


def from_pymc(idata: Any, model: pm.Model) -> CalibrationPosterior | MultilevelPosterior:
    """Make a posterior of the trace of a PyMC model.

    Parameters
    ----------
    idata : arviz.InferenceData or xarray.DataTree
        What `pymc.sample` returns.
    model : pymc.Model
        The model that was sampled: one of `bayescal.build_model`, as it is or extended; or one of
        your own with data `score` and the deterministic `event_prob`, of one element for each
        observation, and one observed variable, the events.

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        As of `bayescal.fit(engine="nuts")`, and of several curves if the model has them. Where the
        log-odds have an offset, and of a model of your own, it is of the curve that cases have on
        average: the mean of `event_prob` at each score.

    Raises
    ------
    InputError
        If the trace has neither the curve's coordinates nor `event_prob`, or the model no scores
        and outcomes.

    Notes
    -----
    A covariate or a hospital's effect gives patients with one score different risks. Calibration
    is of P(event | score), so these risks are averaged: at each score if there are at most 40, else
    by a regression of risk less score on smooth functions of the score, in every draw. It leaves
    the sum of the risks, and of risks times log-odds, as they are, so that observed over expected
    and the calibration slope are exactly those of `event_prob`.

    Examples
    --------
    >>> import bayescal as bc
    >>> import pymc as pm  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     by_age = pm.Normal("by_age", 0, 0.5)
    ...     bc.build_model(y_true, y_prob, curve="beta", offset=by_age * age)
    ...     trace = pm.sample()
    >>> post = bc.from_pymc(trace, model)  # doctest: +SKIP
    >>> post.summary()  # doctest: +SKIP
    """
    if not hasattr(model, "observed_RVs"):
        raise InputError(
            f"model must be the pymc.Model that was sampled, got {shortened(repr(model))}."
        )
    posterior, stats = _trace(idata)
    source = source_of(model)
    if source is not None and (source.rows is None or source.rows.offset is None):
        several = isinstance(source.problem, MultilevelProblem)
        pooled = source.problem.pooled if several else source.problem
        if _has(posterior, pooled.curve.variables) and not (several and source.problem.is_walk):
            if several:
                drawn = draws_of_trace(source.problem, posterior, stats)
                return MultilevelPosterior([Curves(drawn)])
            return CalibrationPosterior([part_of_trace(pooled, posterior, stats)])
    if PROB not in posterior:
        raise InputError(
            f"idata has no {PROB}, the probability of the event of each observation, but "
            f"{shortened(', '.join(map(str, posterior.data_vars)), 200)}. Keep it when sampling; "
            f"in a model of your own add pm.Deterministic({PROB!r}, probability)."
        )
    seen, problem = _observed(idata, model, source)
    prob = posterior[PROB].transpose("chain", "draw", ...).to_numpy()
    risk = np.asarray(prob, np.float64).reshape(-1, *prob.shape[2:])
    if risk.ndim != 2 or risk.shape[1] != seen.score.size:
        raise InputError(
            f"{PROB} has the shape {risk.shape[1:]} in each draw, and there are "
            f"{seen.score.size} scores. It must be one probability for each observation."
        )
    if not ((risk >= 0) & (risk <= 1)).all():
        raise InputError(f"{PROB} has values outside [0, 1]. Pass probabilities, not log-odds.")
    weight = seen.trials if seen.weight is None else seen.trials * seen.weight
    points, errors = mean_errors(problem.inside(seen.score), risk, weight)
    frame = Frame(problem.frame.centre, knots=tuple(logit(points).tolist()))
    traced = replace(problem, frame=frame, curve=TRACED.at(frame))
    told = {"diverging": stats["diverging"].transpose("chain", "draw").to_numpy()}
    return CalibrationPosterior([Part(traced, errors, posterior.sizes["chain"], "nuts", told)])


def _trace(idata: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """Draws, and the sampler's statistics; samplers other than NUTS know no divergences."""
    import xarray as xr

    try:
        posterior = group_of(idata, "posterior")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"idata has no group posterior: it is {shortened(repr(type(idata).__name__))}. Pass "
            "what pm.sample returned."
        ) from None
    try:
        stats = group_of(idata, "sample_stats")
    except KeyError:
        stats = xr.Dataset()
    if "diverging" not in stats:
        shape = posterior.sizes["chain"], posterior.sizes["draw"]
        stats = stats.assign(diverging=(("chain", "draw"), np.zeros(shape, bool)))
    return posterior, stats


def _has(posterior: xr.Dataset, variables: dict[str, list[str]]) -> bool:
    return all(stem in posterior or set(of) <= set(posterior) for stem, of in variables.items())


def _observed(idata: Any, model: Any, source: Source | None) -> tuple[Observations, Problem]:
    """What the model observed, and the problem of its table."""
    if source is not None and source.rows is not None:
        problem = source.problem
        pooled = problem.pooled if isinstance(problem, MultilevelProblem) else problem
        return source.rows, pooled
    if source is not None:
        raise InputError(
            "of times to an event the trace must have the coordinates of the curve. Keep "
            f"{', '.join(source.problem.curve.variables)} when sampling."
        )
    score, trials = _data(idata, model, "score"), _data(idata, model, "trials")
    if score is None:
        raise InputError(
            "the model has no data 'score', the predicted probability of each observation. Add "
            "pm.Data('score', scores)."
        )
    if len(model.observed_RVs) != 1:
        names = [variable.name for variable in model.observed_RVs]
        raise InputError(
            f"the model has {len(names)} observed variables, {names}, and one is taken: the events."
        )
    (variable,) = model.observed_RVs
    events = np.asarray(model.rvs_to_values[variable].eval(), np.float64).ravel()
    cases = np.ones(score.size) if trials is None else trials
    if events.size != score.size:
        raise InputError(
            f"{variable.name} has {events.size} elements, and score {score.size}. Each observation "
            "needs both."
        )
    data = CalibrationData.from_counts(score, cases, events)
    seen = Observations(score, cases, events)
    return seen, prepare(data, curve="logistic", random_state=0)


def _data(idata: Any, model: Any, name: str) -> Floats | None:
    """Data of the model as they were when it was sampled, where the trace has them."""
    with suppress(KeyError):
        return np.asarray(group_of(idata, "constant_data")[name], np.float64).ravel()
    if name in model.named_vars:
        return np.asarray(model[name].eval(), np.float64).ravel()
    return None
