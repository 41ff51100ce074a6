"""The reference engine of several sites: their PyMC model, sampled by NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.versions import sample_nuts
from bayescal.inference.nuts import as_sampler
from bayescal.multilevel.posterior.tree import DrawnSites
from bayescal.multilevel.pymc_sites import sites_model
from bayescal.multilevel.sites_problem import SitesProblem
from bayescal.posterior.checks.verdict import convergence
from bayescal.posterior.tree import CHAINS

__all__ = ["sample_sites_nuts"]


def sample_sites_nuts(
    problem: SitesProblem, draws: int, sampler: Mapping[str, Any] | None = None
) -> DrawnSites:
    """Posterior draws of a hierarchical fit from four chains.

    Parameters
    ----------
    problem : SitesProblem
    draws : int
        In all, over the chains.
    sampler : mapping, optional

    Returns
    -------
    DrawnSites
    """
    posterior, stats, _ = sample_nuts(
        sites_model(problem),
        draws=draws // CHAINS,
        chains=CHAINS,
        seed=int(problem.pooled.rng("nuts").integers(2**31)),
        **as_sampler(sampler),
    )
    names, varying = problem.pooled.curve.coordinates, problem.varying

    def values(name: str) -> Floats:
        drawn = posterior[name].transpose("chain", "draw", ...).to_numpy()
        return np.asarray(drawn.reshape(-1, *drawn.shape[2:]), np.float64)

    average = np.column_stack([values(name) for name in names])
    sites = np.repeat(average[None], len(problem.labels), axis=0)
    for name, column in zip(varying, problem.columns, strict=True):
        sites[:, :, column] = values(f"site_{name}").T
    scales = np.column_stack([values(f"sd_{name}") for name in varying])
    correlation = values("correlation") if len(varying) > 1 else np.zeros(len(average))
    kept = [str(name) for name in posterior.data_vars if not str(name).startswith("standard_")]
    numbers = convergence(posterior[kept]) | {"divergences": float(stats["diverging"].sum())}
    return DrawnSites(problem, average, scales, correlation, sites, CHAINS, "nuts", numbers)
