"""The reference engine: the same curve as a PyMC model, sampled by NUTS."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bayescal._base.arrays import Floats
from bayescal._base.versions import sample_nuts
from bayescal.model.problem import Problem
from bayescal.model.pymc import model_of
from bayescal.posterior.tree import CHAINS, coordinates_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["sample_curve_nuts"]

TUNE = 1000


def sample_curve_nuts(problem: Problem, draws: int) -> tuple[dict[str, Floats], xr.Dataset]:
    """Posterior draws of the working coordinates from four chains.

    Parameters
    ----------
    problem : Problem
    draws : int
        In all, over the chains.

    Returns
    -------
    coordinates : dict of ndarray of shape (chain, draw)
    sample_stats : xarray.Dataset
        The sampler's own.
    """
    posterior, stats, sampler = sample_nuts(
        model_of(problem),
        draws=draws // CHAINS,
        tune=TUNE,
        chains=CHAINS,
        seed=int(problem.rng("nuts").integers(2**31)),
        progress=sys.stderr.isatty(),
    )
    coordinates = coordinates_of(posterior, problem.curve)
    stats = stats.reset_coords(drop=True)
    stats = stats[[name for name in stats.data_vars if stats[name].dims == ("chain", "draw")]]
    stats.attrs = {"sampler": sampler}
    return coordinates, stats
