"""The law of outcomes that a judge recorded who is not always right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.judged import Judged
from bayescal.model.curve import expit_in_place
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.share import Beta

__all__ = ["JudgedOutcomes", "refuse_judged"]


@dataclass(frozen=True)
class JudgedOutcomes(Likelihood):
    """hits ~ Binomial(trials, 1 - specificity + (sensitivity + specificity - 1) g(score)).

    The curve g is of the true outcomes; sensitivity and specificity are nuisance coordinates.
    """

    judge: Judged

    name: ClassVar[str] = "judged"

    @property
    def priors(self) -> tuple[tuple[str, Beta], ...]:
        """Of sensitivity and specificity."""
        return tuple((name, Beta(*counts)) for name, counts in self.judge.beta_counts.items())

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.log_density`."""
        sensitivity, specificity = nuisance[:, :1], nuisance[:, 1:]
        better = sensitivity + specificity - 1
        recorded = expit_in_place(log_odds)
        recorded *= better
        other = better - recorded
        recorded += 1 - specificity
        other += 1 - sensitivity
        for cases, chance in ((hits, recorded), (trials - hits, other)):
            some = cases > 0
            np.log(chance, out=chance, where=some)
            chance *= cases
        recorded += other
        return recorded

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `Likelihood.derivatives`."""
        sensitivity, specificity = nuisance
        better = sensitivity + specificity - 1
        curve, rest = expit(log_odds), expit(-log_odds)
        rise = curve * rest
        recorded, other = 1 - specificity + better * curve, 1 - sensitivity + better * rest
        misses = trials - hits
        slope = hits / recorded - misses / other
        bend = -hits / recorded**2 - misses / other**2
        by = np.stack([better * rise, curve, -rest])
        hessian = bend * by[:, None] * by
        hessian[0, 0] += slope * better * rise * (rest - curve)
        hessian[0, 1:] += slope * rise
        hessian[1:, 0] += slope * rise
        value = hits * np.log(recorded) + misses * np.log(other)
        return value, slope * by, hessian

    def information(self, log_odds: Floats, trials: Floats, hits: Floats, at: Floats) -> Floats:
        """As `Likelihood.information`, expected."""
        sensitivity, specificity = at
        curve, rest = expit(log_odds), expit(-log_odds)
        better = sensitivity + specificity - 1
        recorded, other = 1 - specificity + better * curve, 1 - sensitivity + better * rest
        return np.asarray(trials * (better * curve * rest) ** 2 / (recorded * other))

    def draw(
        self, generator: np.random.Generator, trials: Any, probability: Floats, nuisance: Floats
    ) -> Any:
        """As `Likelihood.draw`."""
        return generator.binomial(trials, self.recorded(probability, nuisance))

    def recorded(self, probability: Floats, nuisance: Floats) -> Floats:
        """As `Likelihood.recorded`."""
        sensitivity, specificity = nuisance[:, :1], nuisance[:, 1:]
        return np.clip(1 - specificity + (sensitivity + specificity - 1) * probability, 0, 1)

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, *nuisance: Any) -> Any:
        """As `Likelihood.pymc_log_density`."""
        import pytensor.tensor as pt

        sensitivity, specificity = nuisance
        better = sensitivity + specificity - 1
        recorded = 1 - specificity + better * pt.sigmoid(log_odds)
        other = 1 - sensitivity + better * pt.sigmoid(-log_odds)
        return hits * pt.log(recorded) + (trials - hits) * pt.log(other)

    def to_dict(self) -> dict[str, Any]:
        """As `Likelihood.to_dict`."""
        return {"name": self.name} | self.judge.to_dict()

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> JudgedOutcomes:
        """As `Likelihood.from_dict`."""
        return cls(Judged.from_dict(described))

    def described(self) -> str:
        """As `Likelihood.described`."""
        return self.judge.described()


def refuse_judged(data: CalibrationData, **beside: Any) -> None:
    """Refuse judged outcomes of cases with roles, which are fitted to outcomes that are known."""
    given = [*data.roles, *(name for name, value in beside.items() if value is not None)]
    given += ["times to an event"] * (data.follow_up is not None)
    if data.judged is not None and given:
        raise InputError(
            f"judged was given beside {given[0]}, which is fitted to outcomes that are known. "
            "Leave out one of the two."
        )
