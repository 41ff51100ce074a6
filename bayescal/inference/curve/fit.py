"""Fits of one curve, by whichever engine serves."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from bayescal._base.errors import DiagnosticWarning, InputError, OutOfTimeError
from bayescal._base.sampling.pareto import BAD_K
from bayescal.inference.density import sample_importance
from bayescal.inference.nuts import sample_curve_nuts, taking_over
from bayescal.model.clusters.design import cluster_design, is_separated
from bayescal.model.problem import Problem
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import CHAINS, Drawn, fit_tree

__all__ = ["fit_curve"]


def fit_curve(
    problem: Problem, draws: int, engine: str, sampler: Mapping[str, Any]
) -> CalibrationPosterior:
    """The posterior of one curve.

    Parameters
    ----------
    engine : {"auto", "importance", "nuts"}
    sampler : mapping
        Options of NUTS.
    """
    independent = problem.clusters is None
    if engine == "nuts" and not independent:
        raise InputError(
            "engine='nuts' samples the PyMC model, whose cases are independent. With cluster= use "
            "engine='importance'."
        )
    if engine == "nuts" and problem.curve.size:
        return _by_nuts(problem, draws, sampler)
    sample = sample_importance(problem, draws)
    if not independent and is_separated(problem.table):
        told = cluster_design(problem).verdict
        if told != "ok":
            _warn(f"{told}. Intervals are rough.")
    if sample.pareto_k > BAD_K:
        message = (
            f"importance sampling is unreliable here (Pareto k-hat {sample.pareto_k:.2f} > 0.7)"
        )
        if engine == "auto" and independent:
            options, clause = taking_over(sampler)
            _warn(f"{message}; {clause}.")
            try:
                return _by_nuts(problem, draws, options)
            except OutOfTimeError as error:
                _warn(f"{error} The draws are those of importance sampling.")
        else:
            cure = (
                "use engine='nuts', or engine='auto' to have it chosen"
                if independent
                else "fit a simpler curve, such as 'logistic'"
            )
            _warn(f"{message}; {cure}.")
    return CalibrationPosterior.of_draws(Drawn.of_sample(problem, sample))


def _by_nuts(problem: Problem, draws: int, sampler: Mapping[str, Any]) -> CalibrationPosterior:
    coordinates, stats = sample_curve_nuts(problem, draws, sampler)
    tree = fit_tree(
        problem, coordinates, stats, engine="nuts", chains=CHAINS, draws=draws // CHAINS
    )
    posterior = CalibrationPosterior(tree)
    verdict = posterior.diagnostics["verdict"]
    if verdict != "ok":
        warnings.warn(f"NUTS reports {verdict}.", DiagnosticWarning, stacklevel=4)
    return posterior


def _warn(message: str) -> None:
    warnings.warn(message, DiagnosticWarning, stacklevel=4)
