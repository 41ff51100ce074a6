"""Fits of several related curves: the engine that serves, and the posterior it gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayescal.core.errors import DiagnosticWarning, InputError, OutOfTimeError
from bayescal.data.table import CalibrationData
from bayescal.inference.nuts import Sampler, as_sampler
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.engine import draw_terms
from bayescal.multilevel.factors import SubgroupPosterior
from bayescal.multilevel.nuts import sample_terms_nuts
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.term import VaryBy
from bayescal.multilevel.tree import read_draws
from bayescal.multilevel.view import ALL_CURVES, CurveView, key_of_view

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "fit_problem",
    "fit_terms",
    "posterior_of_draws",
    "posterior_of_tree",
]


def fit_terms(
    data: CalibrationData,
    vary: VaryBy,
    *,
    draws: int = 4000,
    engine: str = "auto",
    sampler: Mapping[str, Any] | None = None,
    **options: Any,
) -> MultilevelPosterior:
    """The posterior of curves that vary by some terms.

    Parameters
    ----------
    data : CalibrationData
        With the roles that curves vary by.
    vary : str, Vary, or sequence of them
        The terms.
    engine : {"auto", "importance", "nuts"}
    sampler : mapping, optional
        Options of NUTS.
    """
    problem, how = prepare_terms(data, vary, **options), as_sampler(sampler)
    post: MultilevelPosterior = _posterior(problem, draws, engine, how)
    return post


def fit_problem(problem: MultilevelProblem, draws: int, engine: str, sampler: Sampler) -> Any:
    """The posterior of several curves, by whichever engine serves.

    Parameters
    ----------
    engine : {"auto", "importance", "nuts"}
    sampler : Sampler
        Options of NUTS.

    Returns
    -------
    HierarchicalPosterior, SubgroupPosterior, DriftPosterior or MultilevelPosterior
        Of one exchangeable term, of several, of a walk, and of a walk beside others.
    """
    return _posterior(problem, draws, engine, sampler)


def posterior_of_tree(tree: xr.DataTree) -> MultilevelPosterior | CurveView:
    """The posterior that a tree holds, or the view on one."""
    key = key_of_view(tree)
    if key is None:
        return _face(read_draws(tree).problem)(tree)
    all_curves = tree.children[ALL_CURVES].copy()
    all_curves.name = None
    post = posterior_of_tree(all_curves)
    assert isinstance(post, MultilevelPosterior)
    return post._view_of(key)


def posterior_of_draws(drawn: MultilevelDraws) -> Any:
    """The posterior of several curves of which these are draws."""
    return _face(drawn.problem).of_draws(drawn)


def _posterior(problem: MultilevelProblem, draws: int, engine: str, sampler: Sampler) -> Any:
    """By the fast engine, or by NUTS where it was asked for or takes over."""
    if problem.is_walk and engine == "nuts":
        raise InputError(
            "engine='nuts' cannot be used with period=: explanations of a change are averaged by "
            "their evidence, which NUTS does not compute. Use engine='auto'."
        )
    beyond = problem.pooled.prior.beyond_fast_engines(problem.pooled.curve.coordinates)
    if beyond and (engine == "importance" or problem.is_walk):
        cure = "" if problem.is_walk else ", or use engine='nuts'"
        raise InputError(f"{beyond}. Give it a Normal or StudentT of bayescal.priors{cure}.")
    if beyond and engine == "auto":
        _warn(f"{beyond}, and does here.")
        engine = "nuts"
    of_draws = _face(problem).of_draws
    if engine == "nuts":
        drawn = sample_terms_nuts(problem, draws, sampler)
    else:
        drawn = draw_terms(problem, draws)
        if drawn.verdict == "ok":
            return of_draws(drawn)
        if engine == "importance" or problem.is_walk:
            _warn(f"{drawn.verdict}.")
            return of_draws(drawn)
        sampler, clause = sampler.taking_over()
        _warn(f"{drawn.verdict}; {clause}.")
        try:
            drawn = sample_terms_nuts(problem, draws, sampler)
        except OutOfTimeError as error:
            _warn(f"{error} The draws are those of importance sampling.")
            return of_draws(drawn)
    if drawn.verdict != "ok":
        _warn(f"NUTS reports {drawn.verdict}.")
    return of_draws(drawn)


def _warn(told: str) -> None:
    """Warn whoever called the door, which called `fit_problem` or `fit_terms`."""
    warnings.warn(told, DiagnosticWarning, stacklevel=5)


def _face(problem: MultilevelProblem) -> type[MultilevelPosterior]:
    """The posterior of one exchangeable term, of several, of a walk, or of both kinds."""
    faces = (HierarchicalPosterior, SubgroupPosterior, DriftPosterior, MultilevelPosterior)
    return next(face for face in faces if face._serves(problem))
