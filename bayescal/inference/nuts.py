"""The reference engine: the same curve as a PyMC model, sampled by NUTS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, as_count, as_number, check_choice
from bayescal.core.text import shortened
from bayescal.core.versions import NUTS_SAMPLERS, sample_nuts
from bayescal.model.draws import CHAINS, Part
from bayescal.model.problem import Problem
from bayescal.model.pymc import model_of
from bayescal.posterior.stored import coordinates_of

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


TUNE = 1000
TARGET_ACCEPT = 0.95
# Of sampling, where NUTS takes over from the fast engine and nobody asked for it.
NUTS_SECONDS = 120.0


@dataclass(frozen=True)
class Sampler:
    """Options of NUTS, by the names that `pymc.sample` gives them, and `seconds`.

    By default nutpie where it is installed, else PyMC's own. `draws` are of a chain, by default
    those of the fit, shared by the chains; after `seconds` sampling ends with an error.
    """

    nuts_sampler: str | None = None
    chains: int = CHAINS
    tune: int = TUNE
    draws: int | None = None
    target_accept: float = TARGET_ACCEPT
    init: str | None = None
    cores: int | None = None
    progressbar: bool = False
    seconds: float | None = None

    def taking_over(self) -> tuple[Sampler, str]:
        """NUTS in place of the fast engine, with an end to its time, and a clause that says so."""
        limited = replace(self, seconds=self.seconds or NUTS_SECONDS)
        longer = f"NUTS samples instead, which takes longer: at most {limited.seconds:g} s"
        return limited, longer


SAMPLER_OPTIONS = tuple(Sampler.__dataclass_fields__)


def as_sampler(sampler: Mapping[str, Any] | None) -> Sampler:
    """Options of NUTS, those that were not given by default."""
    if sampler is not None and not isinstance(sampler, Mapping):
        raise InputError(
            f"sampler must be a dictionary of options, got {shortened(repr(sampler))}."
        )
    given = {name: value for name, value in (sampler or {}).items() if value is not None}
    for name in given:
        check_choice(name, SAMPLER_OPTIONS, "an option of sampler")
    if "init" in given:
        given.setdefault("nuts_sampler", "pymc")
    named = given.get("nuts_sampler")
    if named is not None:
        check_choice(named, NUTS_SAMPLERS, "sampler['nuts_sampler']")
    if "init" in given and named != "pymc":
        raise InputError(
            f"sampler has init beside nuts_sampler={named!r}, and init is an option of PyMC's own "
            "sampler. Leave it out, or say nuts_sampler='pymc'."
        )
    if "seconds" in given and named in ("numpyro", "blackjax"):
        raise InputError(
            f"sampler has seconds beside nuts_sampler={named!r}, which cannot be stopped. Leave it "
            "out, or say nuts_sampler='pymc'."
        )
    for name in ("chains", "tune", "draws", "cores"):
        if name in given:
            given[name] = as_count(given[name], f"sampler[{name!r}]")
    accept = given.get("target_accept", TARGET_ACCEPT)
    if isinstance(accept, bool) or not isinstance(accept, (int, float)) or not 0 < accept < 1:
        raise InputError(
            f"sampler['target_accept'] is {accept!r}, but a share of accepted steps is between 0 "
            "and 1. Values nearer to 1 mean smaller steps: try 0.99."
        )
    seconds = given.get("seconds")
    if seconds is not None and as_number(seconds, "sampler['seconds']") <= 0:
        raise InputError(f"sampler['seconds'] must be above 0, got {shortened(repr(seconds))}.")
    return Sampler(**given)


def sample_model(
    model: pm.Model, draws: int, seed: int, sampler: Sampler
) -> tuple[xr.Dataset, xr.Dataset]:
    """Posterior and statistics of a PyMC model, whose data are taken as constant, for speed."""
    from pymc.model.transform.optimization import freeze_dims_and_data

    each = sampler.draws or -(-draws // sampler.chains)
    return sample_nuts(freeze_dims_and_data(model), seed=seed, sampler=replace(sampler, draws=each))


def sample_curve_nuts(problem: Problem, draws: int, sampler: Sampler) -> Part:
    """Posterior draws of the working coordinates; so many in all, over the chains."""
    seed = int(problem.rng("nuts").integers(2**31))
    return part_of_trace(problem, *sample_model(model_of(problem), draws, seed, sampler))


def part_of_trace(problem: Problem, posterior: xr.Dataset, stats: xr.Dataset) -> Part:
    """The draws of a curve that a trace of its PyMC model holds, with the sampler's statistics."""
    u = [values.ravel() for values in coordinates_of(posterior, problem.curve).values()]
    told = {
        str(name): values.to_numpy()
        for name, values in stats.reset_coords(drop=True).data_vars.items()
        if values.dims == ("chain", "draw")
    }
    return Part(problem, np.stack(u, axis=1), posterior.sizes["chain"], "nuts", told)
