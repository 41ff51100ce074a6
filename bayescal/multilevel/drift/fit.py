"""Fits of ordered periods: three explanations, averaged by their evidence."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from bayescal._base.errors import DiagnosticWarning, InputError
from bayescal._base.sampling.importance import Sample, mix_samples
from bayescal.inference.density import sample_importance
from bayescal.multilevel.blocks.fit import draw_effects
from bayescal.multilevel.drift.change import sample_changes
from bayescal.multilevel.drift.draws import DrawnDrift, paths
from bayescal.multilevel.drift.posterior import DriftPosterior
from bayescal.multilevel.drift.problem import DriftProblem
from bayescal.posterior.tree import CHAINS, SAMPLE_STATS

__all__ = ["fit_drift"]


def fit_drift(problem: DriftProblem, draws: int, engine: str) -> DriftPosterior:
    """The posterior of ordered periods.

    Parameters
    ----------
    problem : DriftProblem
    draws : int
    engine : {"auto", "importance", "nuts"}

    Returns
    -------
    DriftPosterior

    Raises
    ------
    InputError
        For NUTS, which has no evidence.

    Warns
    -----
    DiagnosticWarning
        When the draws should not be trusted.
    """
    if engine == "nuts":
        raise InputError(
            "engine='nuts' cannot be used with periods=: explanations of a change are averaged by "
            "their evidence, which NUTS does not compute. Use engine='auto'."
        )
    drawn = draw_drift(problem, draws)
    if drawn.verdict != "ok":
        warnings.warn(f"{drawn.verdict}.", DiagnosticWarning, stacklevel=3)
    return DriftPosterior.of_draws(drawn)


def draw_drift(problem: DriftProblem, draws: int) -> DrawnDrift:
    """Draws of no change, of each sudden change and of a walk, in proportion to their posterior.

    Parameters
    ----------
    problem : DriftProblem
    draws : int

    Returns
    -------
    DrawnDrift
    """
    single = sample_importance(problem.pooled, draws)
    changes = sample_changes(problem, draws)
    walk = draw_effects(problem.walk, draws)
    numbered = np.arange(draws)[:, None].astype(np.float64)
    pareto_k, ess, log_evidence, error = (walk.stats[name] for name in SAMPLE_STATS)
    of_walk = Sample(numbered, log_evidence, error, pareto_k, ess)
    indexed = [replace(each, draws=numbered) for each in (single, *changes)]
    parts = [*indexed, of_walk]
    mixed, explanation = mix_samples(
        parts, np.log(problem.explanation_prior), draws, problem.pooled.rng("explanations")
    )
    index = mixed.draws[:, 0].astype(np.intp)
    before, after = single.draws[index], single.draws[index]
    d = before.shape[1]
    for period, sample in enumerate(changes, 1):
        rows = np.flatnonzero(explanation == period)
        pair = sample.draws[index[rows]]
        before[rows], after[rows] = pair[:, :d], pair[:, d:]
    periods, following = paths(problem, explanation, before, after, walk, index)
    return DrawnDrift(
        problem,
        periods,
        following,
        single.draws,
        explanation,
        np.array([part.log_evidence for part in parts]),
        CHAINS,
        "importance",
        {name: float(getattr(mixed, name)) for name in SAMPLE_STATS},
    )
