"""The reference engine: the same curve as a PyMC model, sampled by NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal.core.errors import InputError, as_count, as_number, check_choice
from bayescal.core.text import shortened
from bayescal.core.versions import sample_nuts
from bayescal.model.draws import CHAINS, Part
from bayescal.model.problem import Problem
from bayescal.model.pymc.model import model_of
from bayescal.posterior.stored import coordinates_of

__all__ = ["as_sampler", "sample_curve_nuts", "taking_over"]

TUNE = 1000
TARGET_ACCEPT = 0.95
NUTS_SECONDS = 120.0
"""Of sampling, where NUTS takes over from the fast engine and nobody asked for it."""
SAMPLER_OPTIONS = ("tune", "target_accept", "cores", "progress", "seconds")


def sample_curve_nuts(
    problem: Problem, draws: int, sampler: Mapping[str, Any] | None = None
) -> Part:
    """Posterior draws of the working coordinates from four chains.

    Parameters
    ----------
    draws : int
        In all, over the chains.
    sampler : mapping, optional
        Some of `tune`, `target_accept`, `cores`, `progress` and `seconds`.

    Returns
    -------
    Part
        With the sampler's own statistics.
    """
    posterior, stats, _ = sample_nuts(
        model_of(problem),
        draws=draws // CHAINS,
        chains=CHAINS,
        seed=int(problem.rng("nuts").integers(2**31)),
        **as_sampler(sampler),
    )
    u = [values.ravel() for values in coordinates_of(posterior, problem.curve).values()]
    told = {
        str(name): values.to_numpy()
        for name, values in stats.reset_coords(drop=True).data_vars.items()
        if values.dims == ("chain", "draw")
    }
    return Part(problem, np.stack(u, axis=1), CHAINS, "nuts", told)


def as_sampler(sampler: Mapping[str, Any] | None) -> dict[str, Any]:
    """Options of NUTS, those that were not given by default."""
    if sampler is not None and not isinstance(sampler, Mapping):
        raise InputError(
            f"sampler must be a dictionary of options, got {shortened(repr(sampler))}."
        )
    given = dict(sampler or {})
    for name in given:
        check_choice(name, SAMPLER_OPTIONS, "an option of sampler")
    accept = given.get("target_accept", TARGET_ACCEPT)
    if isinstance(accept, bool) or not isinstance(accept, (int, float)) or not 0 < accept < 1:
        raise InputError(
            f"sampler['target_accept'] is {accept!r}, but a share of accepted steps is between 0 "
            "and 1. Values nearer to 1 mean smaller steps: try 0.99."
        )
    cores, seconds = given.get("cores"), given.get("seconds")
    if seconds is not None and as_number(seconds, "sampler['seconds']") <= 0:
        raise InputError(f"sampler['seconds'] must be above 0, got {shortened(repr(seconds))}.")
    return {
        "tune": as_count(given.get("tune", TUNE), "sampler['tune']"),
        "target_accept": float(accept),
        "cores": None if cores is None else as_count(cores, "sampler['cores']"),
        "progress": bool(given.get("progress", False)),
        "seconds": None if seconds is None else float(seconds),
    }


def taking_over(sampler: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Options of NUTS where it takes over from the fast engine, and a clause that says so.

    Returns
    -------
    options : dict
        With an end to its time.
    """
    options = as_sampler(sampler)
    options["seconds"] = options["seconds"] or NUTS_SECONDS
    clause = f"NUTS samples instead, which takes longer: at most {options['seconds']:g} s"
    return options, clause
