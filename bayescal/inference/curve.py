"""Fits of one curve, by whichever engine serves, and of the average over families."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayescal.core.errors import (
    DiagnosticWarning,
    InputError,
    OutOfTimeError,
    as_items,
    as_level,
    check_choice,
)
from bayescal.core.sampling import BAD_K
from bayescal.inference.averaging import (
    PRIOR_CALIBRATED,
    FamilySamples,
    Mixture,
    in_order,
    prior_probabilities,
)
from bayescal.inference.density import sample_importance
from bayescal.inference.nuts import Sampler, sample_curve_nuts
from bayescal.model.clusters import cluster_design, is_separated
from bayescal.model.curves import AVERAGE, CURVES, FAMILY_OF_SEVERAL, Curve, average_of
from bayescal.model.draws import Part
from bayescal.model.problem import Problem
from bayescal.posterior.posterior import CalibrationPosterior


def fit_curve(problem: Problem, draws: int, engine: str, sampler: Sampler) -> CalibrationPosterior:
    """The posterior of one curve, by whichever engine serves."""
    independent = problem.clusters is None
    beyond = problem.prior.beyond_fast_engines(problem.curve.coordinates)
    if beyond and (engine == "importance" or not independent):
        raise InputError(
            f"{beyond}. Give it a Normal or StudentT of bayescal.priors"
            + (", or use engine='nuts'." if independent else ", as cases are in clusters.")
        )
    if beyond and engine == "auto":
        _warn(f"{beyond}, and does here.")
        engine = "nuts"
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
            options, clause = sampler.taking_over()
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
    return CalibrationPosterior([Part.of_sample(problem, sample)])


def _by_nuts(problem: Problem, draws: int, sampler: Sampler) -> CalibrationPosterior:
    posterior = CalibrationPosterior([sample_curve_nuts(problem, draws, sampler)])
    verdict = posterior.diagnostics["verdict"]
    if verdict != "ok":
        warnings.warn(f"NUTS reports {verdict}.", DiagnosticWarning, stacklevel=4)
    return posterior


def _warn(message: str) -> None:
    warnings.warn(message, DiagnosticWarning, stacklevel=4)


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
        asked = {
            "a curve of several families": self.curves is not None,
            "prior_calibrated": self.prior_calibrated != PRIOR_CALIBRATED,
        }
        for name in (name for name, given in asked.items() if given):
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
