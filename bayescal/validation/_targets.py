"""What coverage is measured of: a number with an interval, and its true value in a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bayescal._base.errors import InputError, as_items
from bayescal._base.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_level
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.population import Population
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation.truths import Truth

__all__ = ["Interval", "Target", "as_targets", "read_intervals"]

Interval = tuple[float, float]

QUANTILES = (10, 30, 50, 70, 90)
"""Per cent of the population's scores below those at which the curve is looked at."""


class Target(Protocol):
    """A number that is printed with an interval."""

    @property
    def name(self) -> str:
        """What the dataset calls it."""
        ...

    def true_value(self, population: Truth, data: CalibrationData) -> float:
        """What an interval from these data should contain."""
        ...

    def interval(
        self, posterior: CalibrationPosterior, population: Truth, ci_prob: float
    ) -> Interval:
        """The interval that a posterior prints."""
        ...


@dataclass(frozen=True)
class FunctionalTarget:
    """A functional of the curve and the scores.

    Attributes
    ----------
    functional : str
        Its name in the registry.
    """

    name: str
    functional: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def true_value(self, population: Truth, data: CalibrationData) -> float:
        """Its population value; for what is defined on the observed scores, its value there."""
        known = FUNCTIONALS[self.functional]
        if not known.on_sample:
            return population.functional(self.functional, **self.options)
        observed = Population(data.score, data.trials / data.n, data.trials)
        draws = CurveDraws(population.curve(data.score)[None], observed)
        return float(known.compute(draws, **self.options)[0])

    def interval(
        self, posterior: CalibrationPosterior, population: Truth, ci_prob: float
    ) -> Interval:
        """As `CalibrationPosterior.interval` gives it."""
        return posterior.interval(self.functional, ci_prob, **self.options)


@dataclass(frozen=True)
class CurveTarget:
    """The curve at a quantile of the population's scores.

    Attributes
    ----------
    prob : float in (0, 1)
        Share of the population with a smaller score.
    """

    name: str
    prob: float

    def true_value(self, population: Truth, data: CalibrationData) -> float:
        """The population's curve there."""
        return float(population.curve([population.score_quantile(self.prob)])[0])

    def interval(
        self, posterior: CalibrationPosterior, population: Truth, ci_prob: float
    ) -> Interval:
        """Equal-tailed, as the pointwise band of a figure."""
        at = [population.score_quantile(self.prob)]
        return equal_tailed(posterior.curve(at).to_numpy().ravel(), ci_prob)


@dataclass(frozen=True)
class NetBenefitTarget:
    """Net benefit of the model at a threshold."""

    name: str
    threshold: float

    def true_value(self, population: Truth, data: CalibrationData) -> float:
        """Its population value."""
        return float(population.net_benefit([self.threshold])[0])

    def interval(
        self, posterior: CalibrationPosterior, population: Truth, ci_prob: float
    ) -> Interval:
        """Equal-tailed."""
        draws = posterior.net_benefit([self.threshold])["model"]
        return equal_tailed(draws.to_numpy().ravel(), ci_prob)


def as_targets(target: str | Sequence[str]) -> list[Target]:
    """Targets by name; "curve" stands for five of them."""
    names = as_items(target, "target")
    expanded = [
        each
        for name in names
        for each in ([f"curve@{percent}%" for percent in QUANTILES] if name == "curve" else [name])
    ]
    return [_as_target(name) for name in expanded]


def read_intervals(
    posterior: CalibrationPosterior,
    targets: Sequence[Target],
    population: Truth,
    ci_prob: float,
) -> list[Interval]:
    """The intervals that a posterior prints, one a target."""
    if sum(isinstance(target, FunctionalTarget) for target in targets) > 1:
        posterior.summary(ci_prob)  # one pass over the draws computes every functional
    return [target.interval(posterior, population, ci_prob) for target in targets]


def _as_target(name: Any) -> Target:
    if isinstance(name, str) and name in FUNCTIONALS:
        return FunctionalTarget(name, name)
    kind, _, number = str(name).replace("tce_", "tce@").partition("@")
    try:
        value = float(number.removesuffix("%") if kind == "curve" else number)
    except ValueError:
        kind = ""
    if kind == "tce" and value >= 1:
        return FunctionalTarget(name, "tce", {"p": value})
    if kind == "curve" and number.endswith("%"):
        return CurveTarget(name, as_level(value / 100, f"target {name!r}: the share of scores"))
    if kind == "net_benefit":
        return NetBenefitTarget(name, as_level(value, f"target {name!r}: the threshold"))
    raise InputError(
        f"target must be among {', '.join(FUNCTIONALS)}, 'tce_2' (its order at least 1), 'curve', "
        f"'curve@25%' and 'net_benefit@0.2', got {shortened(repr(name))}."
    )
