"""Fits of several related curves: the engine that serves, and the posterior it gives."""

from __future__ import annotations

import warnings

from bayescal.core.errors import DiagnosticWarning, InputError, OutOfTimeError
from bayescal.inference.nuts import Sampler
from bayescal.multilevel.changes import draw_terms
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.nuts import sample_terms_nuts
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MultilevelProblem

__all__ = ["fit_problem"]


def fit_problem(
    problem: MultilevelProblem, draws: int, engine: str, sampler: Sampler
) -> MultilevelPosterior:
    """The posterior of several curves, by whichever engine serves.

    Parameters
    ----------
    engine : {"auto", "importance", "nuts"}
    sampler : Sampler
        Options of NUTS.

    Returns
    -------
    MultilevelPosterior
    """
    return MultilevelPosterior([Curves(_draws(problem, draws, engine, sampler))])


def _draws(
    problem: MultilevelProblem, draws: int, engine: str, sampler: Sampler
) -> MultilevelDraws:
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
    if engine == "nuts":
        drawn = sample_terms_nuts(problem, draws, sampler)
    else:
        drawn = draw_terms(problem, draws)
        if drawn.verdict == "ok":
            return drawn
        if engine == "importance" or problem.is_walk:
            _warn(f"{drawn.verdict}.")
            return drawn
        sampler, clause = sampler.taking_over()
        _warn(f"{drawn.verdict}; {clause}.")
        try:
            drawn = sample_terms_nuts(problem, draws, sampler)
        except OutOfTimeError as error:
            _warn(f"{error} The draws are those of importance sampling.")
            return drawn
    if drawn.verdict != "ok":
        _warn(f"NUTS reports {drawn.verdict}.")
    return drawn


def _warn(told: str) -> None:
    """Warn whoever called the door, which called `fit_problem`."""
    warnings.warn(told, DiagnosticWarning, stacklevel=5)
