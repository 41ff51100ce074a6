"""Fits of one curve, by whichever engine serves, and of the average over families.

The reference engine is the same curve as a PyMC model, sampled by NUTS.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayescal.core.errors import (
    DiagnosticWarning,
    InputError,
    OutOfTimeError,
    as_count,
    as_items,
    as_level,
    as_number,
    check_choice,
)
from bayescal.core.sampling import BAD_K
from bayescal.core.text import shortened
from bayescal.core.versions import NUTS_SAMPLERS, sample_nuts
from bayescal.inference.averaging import (
    PRIOR_CALIBRATED,
    FamilySamples,
    Mixture,
    in_order,
    prior_probabilities,
)
from bayescal.inference.density import sample_importance
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curves import AVERAGE, CURVES, FAMILY_OF_SEVERAL, Curve, average_of
from bayescal.model.draws import CHAINS, Part
from bayescal.model.problem import Problem
from bayescal.model.pymc import model_of
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.stored import coordinates_of

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

Drawn = TypeVar("Drawn")

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
    if sampler is None:
        return Sampler()
    if not isinstance(sampler, Mapping):
        raise InputError(
            f"sampler must be a dictionary of options, got {shortened(repr(sampler))}."
        )
    given = {name: value for name, value in sampler.items() if value is not None}
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


def by_engine(
    problem: Problem,
    engine: str,
    sampler: Sampler,
    fast: Callable[[], tuple[Drawn, str]],
    nuts: Callable[[Sampler], tuple[Drawn, str]],
    *,
    no_nuts: str = "",
    cure: str = "",
) -> Drawn:
    """Draws by the fast engine, or by NUTS where it was asked for or takes over.

    Either says beside its draws what is wrong with them, or "ok"; `no_nuts` why NUTS cannot be
    used, and `cure` what to do about draws of the fast engine that are wrong.
    """
    beyond = problem.prior.beyond_fast_engines(problem.curve.coordinates)
    if engine == "nuts" and no_nuts:
        raise InputError(no_nuts)
    if beyond and (engine == "importance" or no_nuts):
        other = "" if no_nuts else ", or use engine='nuts'"
        raise InputError(f"{beyond}. Give it a Normal or StudentT of bayescal.priors{other}.")
    if beyond and engine == "auto":
        _warn(f"{beyond}, and does here.")
        engine = "nuts"
    if engine == "nuts":
        drawn, told = nuts(sampler)
    else:
        drawn, told = fast()
        if told == "ok":
            return drawn
        if engine == "importance" or no_nuts:
            _warn(f"{told}{cure}.")
            return drawn
        sampler, clause = sampler.taking_over()
        _warn(f"{told}; {clause}.")
        try:
            drawn, told = nuts(sampler)
        except OutOfTimeError as error:
            _warn(f"{error} The draws are those of importance sampling.")
            return drawn
    if told != "ok":
        _warn(f"NUTS reports {told}.")
    return drawn


def _warn(told: str) -> None:
    """Warn whoever called the door, which called the fit, which called `by_engine`."""
    warnings.warn(told, DiagnosticWarning, stacklevel=5)


def fit_curve(problem: Problem, draws: int, engine: str, sampler: Sampler) -> CalibrationPosterior:
    """The posterior of one curve, by whichever engine serves."""
    no_nuts, cure = "", "; use engine='nuts', or engine='auto' to have it chosen"
    if problem.clusters is not None:
        cure = "; fit a simpler curve, such as 'logistic'"
        no_nuts = (
            "engine='nuts' samples the PyMC model, whose cases are independent. With cluster= use "
            "engine='importance'."
        )

    def fast() -> tuple[CalibrationPosterior, str]:
        sample, told = sample_importance(problem, draws), "ok"
        if no_nuts and is_separated(problem.table):
            design = cluster_design(problem).verdict
            if design != "ok":
                rough = f"{design}. Intervals are rough."
                warnings.warn(rough, DiagnosticWarning, stacklevel=5)
        if sample.pareto_k > BAD_K:
            k = f"Pareto k-hat {sample.pareto_k:.2f} > 0.7"
            told = f"importance sampling is unreliable here ({k})"
        return CalibrationPosterior([Part.of_sample(problem, sample)]), told

    def nuts(sampler: Sampler) -> tuple[CalibrationPosterior, str]:
        posterior = CalibrationPosterior([sample_curve_nuts(problem, draws, sampler)])
        return posterior, str(posterior.diagnostics["verdict"])

    if not (problem.curve.size or no_nuts):
        engine = "importance"
    return by_engine(problem, engine, sampler, fast, nuts, no_nuts=no_nuts, cure=cure)


@dataclass(frozen=True)
class Averaging:
    """What an average is over, as the user gave it; the parameters are those of `compare`."""

    curves: Sequence[str] | Mapping[str, float] | None = None
    prior_calibrated: float = PRIOR_CALIBRATED

    @cached_property
    def weights(self) -> dict[str, float]:
        """Prior probability of each family asked for, identity included."""
        level = as_level(self.prior_calibrated, "prior_calibrated")
        named = self.curves is not None
        chosen = self.curves if isinstance(self.curves, Mapping) else None
        names = in_order(None if self.curves is None else as_items(self.curves, "curves"))
        return prior_probabilities(names, level, chosen, are_named=named)

    @property
    def union(self) -> Curve:
        """The curve whose coordinates hold those of every family with weight."""
        weights = self.weights
        return average_of(name for name in weights if weights[name] > 0 or name == "pieces")

    def family(self, curve: str | Curve | None) -> str | Curve | None:
        """The one family that was asked for; None for the average."""
        if curve is None:
            return None
        if isinstance(curve, Curve):
            name = curve.name
        else:
            name = check_choice(curve, (AVERAGE.name, *CURVES), "curve")
        if name == AVERAGE.name:
            return None
        self._refuse(f"beside curve={name!r}", "Leave out one of the two.")
        return curve

    def family_of_several(self, curve: str | Curve | None, what: str) -> str | Curve:
        """The family of sites, factors or periods, which are not averaged over families."""
        if curve is None:
            self._refuse(f"beside {what}", "They are fitted with one family: leave it out.")
            return FAMILY_OF_SEVERAL
        family = self.family(curve)
        if family is None:
            raise InputError(
                f"curve={AVERAGE.name!r} was given beside {what}, which are fitted with one family "
                f"of curves. Name one, such as curve={FAMILY_OF_SEVERAL!r}."
            )
        return family

    def _refuse(self, beside: str, cure: str) -> None:
        if self.curves is None and self.prior_calibrated == PRIOR_CALIBRATED:
            return
        name = "prior_calibrated" if self.curves is None else "a curve of several families"
        raise InputError(f"{name} was given {beside}: it says what an average is over. {cure}")


def fit_average(
    problem: Problem,
    weights: Mapping[str, float],
    draws: int,
    engine: str = "auto",
    sampler: Any = None,
) -> CalibrationPosterior:
    """The averaged posterior, that of `bayescal.compare` with the same weights and seed.

    The curve of the problem is the union of the families; identity has a weight, too.
    """
    beyond = problem.prior.beyond_fast_engines(problem.curve.coordinates)
    if beyond:
        raise InputError(
            f"{beyond}, and it samples one family of curves. Name it, such as curve='beta', or "
            "give the prior a Normal or StudentT of bayescal.priors."
        )
    asked = {"engine='nuts'": engine == "nuts", "sampler": sampler is not None}
    for name, given in asked.items():
        if given:
            raise InputError(
                f"{name} was given without a family of curves: NUTS samples one family. Name it, "
                f"such as curve='beta', or leave {name.partition('=')[0]} out for the average."
            )
    posterior = Mixture(FamilySamples(problem, list(weights)), weights, draws).posterior()
    verdict = posterior.diagnostics["verdict"]
    if verdict != "ok":
        warnings.warn(f"{verdict}. Intervals are rough.", DiagnosticWarning, stacklevel=3)
    return posterior
